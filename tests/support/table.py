"""An array as the source of a simulated node, without labels."""

import numpy as np

from edgesvm.data import Rows, Stream


class Table(Stream):
    n_classes, period_us = 0, 0

    def __init__(self, X):
        self.X, self.at = X, 0
        self.n_features = X.shape[1]

    def read(self, n):
        return self.taken(self.X[self.at : self.at + n])

    def taken(self, rows):
        self.at += len(rows)
        return Rows(rows, np.zeros(len(rows), np.int32))


class Endless(Table):
    """It begins again where it ends."""

    def read(self, n):
        return self.taken(self.X[np.arange(self.at, self.at + n) % len(self.X)])
