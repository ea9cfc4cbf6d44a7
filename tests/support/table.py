"""An array as the source of a simulated node."""

import numpy as np

from edgesvm.data import Rows, Stream


class Table(Stream):
    n_classes, period_us = 0, 0

    def __init__(self, X, y=None):
        self.X, self.at = X, 0
        self.y = np.zeros(len(X), np.int32) if y is None else y
        self.n_features = X.shape[1]

    def read(self, n):
        return self.taken(slice(self.at, self.at + n))

    def taken(self, at):
        rows = Rows(self.X[at], self.y[at])
        self.at += len(rows.X)
        return rows


class Endless(Table):
    """It begins again where it ends."""

    def read(self, n):
        return self.taken(np.arange(self.at, self.at + n) % len(self.X))
