"""What a user would take instead of a kernel machine in few bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler


class RandomFeaturesSGD:
    """Random Fourier features of rows that are scaled by what was seen so far, then averaged SGD,
    in one pass over raw rows; gamma is 1 / n_features.

    Parameters
    ----------
    size : int
        Random features.
    chunk : int
        Rows that are scaled, mapped and learned at once.
    """

    def __init__(self, size: int, n_features: int, *, chunk: int = 100, seed: int = 0) -> None:
        self.chunk = chunk
        self.scaler = StandardScaler()
        sampler = RBFSampler(gamma=1 / n_features, n_components=size, random_state=seed)
        self.features = sampler.fit(np.zeros((1, n_features)))
        self.sgd = SGDClassifier(average=True, shuffle=False, random_state=seed)

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: Any) -> RandomFeaturesSGD:
        """Learn the rows in order."""
        for begin in range(0, len(X), self.chunk):
            rows = X[begin : begin + self.chunk].astype(np.float64)
            self.scaler.partial_fit(rows)
            mapped = self.features.transform(self.scaler.transform(rows))
            self.sgd.partial_fit(mapped, y[begin : begin + self.chunk], classes=classes)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        rows = self.scaler.transform(X.astype(np.float64))
        return self.sgd.predict(self.features.transform(rows))
