"""What a user would take instead: of a budgeted kernel machine scikit-learn's Nystroem map, or its
random features, in front of averaged SGD, of a linear one LIBLINEAR.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from benchmarks.common.scores import float_bytes


class NystroemSGD:
    """Nystroem's map from vectors drawn at random, then one pass of averaged SGD.

    Parameters
    ----------
    size : int
        Vectors drawn.
    alpha, gamma : float
    warm : int, optional
        They are drawn from the first so many rows, which have to be held until then; by default
        from all rows, which a stream does not allow.
    chunk : int
        Rows mapped at once.
    """

    def __init__(
        self,
        size: int,
        *,
        alpha: float,
        gamma: float,
        warm: int | None = None,
        chunk: int = 100_000,
        seed: int = 0,
    ) -> None:
        self.warm, self.chunk = warm, chunk
        self.features = Nystroem(gamma=gamma, n_components=size, random_state=seed)
        self.sgd = SGDClassifier(alpha=alpha, average=True, shuffle=False, random_state=seed)

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: list[bool]) -> NystroemSGD:
        """Learn the rows in order; the first call draws the vectors."""
        if not hasattr(self.features, "components_"):
            self.features.fit(X[: self.warm])
        for begin in range(0, len(X), self.chunk):
            rows = slice(begin, begin + self.chunk)
            self.sgd.partial_fit(self.features.transform(X[rows]), y[rows], classes=classes)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.sgd.predict(self.features.transform(X))

    @property
    def nbytes(self) -> int:
        """Of vectors, normalization, weights and their average, in the dtype of the rows."""
        map_ = self.features
        return float_bytes([map_.components_, map_.normalization_, *vars(self.sgd).values()])


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


class Liblinear:
    """LIBLINEAR by its authors' own package, `liblinear-official`.

    Parameters
    ----------
    C : float
    solver : int
        Its option -s; 3 is the SVM with hinge loss, by dual coordinate descent.
    """

    def __init__(self, C: float = 1.0, solver: int = 3) -> None:
        self.options = f"-s {solver} -c {C} -B 1 -q"

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: list[bool]) -> Liblinear:
        """Fit on all rows at once."""
        from liblinear.liblinearutil import train

        self.model: Any = train(np.where(y == classes[1], 1.0, -1.0), np.float64(X), self.options)
        self.classes, self.held = np.array(classes), X.size * 8
        w, b = self.model.get_decfun()
        absent = X.shape[1] - len(w)  # it leaves out last columns that are zero in every row
        self.w = np.concatenate([w, np.zeros(absent), [b]])
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return X @ self.w[:-1] + self.w[-1]

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes[(self.decision_function(X) > 0).astype(int)]

    @property
    def nbytes(self) -> int:
        """Of the rows that it was fitted on and the weights, float64."""
        return self.held + self.w.nbytes


def vectors_within(n_bytes: int, n_features: int, itemsize: int) -> int:
    """Most Nystroem vectors m of which m D + m² + 2 m numbers fit, beside a few constants."""
    b, constants = n_features + 2, 40
    return (isqrt(b * b + 4 * ((n_bytes - constants) // itemsize)) - b) // 2
