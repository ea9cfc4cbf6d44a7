"""FourierRLS in plain NumPy: recursive least squares by the whole covariance."""

from __future__ import annotations

import numpy as np

from edgesvm.learners.fourier.directions import Directions
from edgesvm.learners.regression.constants import FIRST_AMPLITUDES, LARGEST_SQUARE, MOST_SLOPE
from reference.regressor import RegressorCoreRef


class FourierRLSCoreRef(RegressorCoreRef):
    """The arena's arrays by name: those of the regressor, w, upper, variance; features, scratch,
    angle and mixed are not used."""

    innovates = False

    def __init__(self, *common, key, scales, forgetting, noise, **params):
        super().__init__(*common, **params)
        self.forgetting, self.noise = forgetting, noise
        n = len(self.views["angle"])
        self.directions = Directions(self, key, scales, n)
        amplitudes = np.tile(np.array(FIRST_AMPLITUDES)[np.arange(n) % 4], 2)
        waves = amplitudes[self.directions.order] ** 2 / n
        self.first = np.append(waves, np.ones(self.n_features + 1))

    def begin(self):
        super().begin()
        self.views["variance"][:] = self.first

    def features(self, x):
        """Cosines and sines block by block, x, 1."""
        return np.concatenate([self.directions.waves(x), x, [self.dtype.type(1)]])

    def overflows(self, x, weight):
        square = float(x @ x) + 1
        return not max((weight * MOST_SLOPE) ** 2 * square, square) <= LARGEST_SQUARE

    def value(self, x):
        return float(self.views["w"] @ self.features(x)) if np.isfinite(x @ x) else np.nan

    def move(self, x, g):
        """P <- (P - P f f'P / a) / forgetting by P = U D U', column by column (Bierman 1976)."""
        v, f = self.views, self.features(x).astype(np.float64)
        U, D = self.factors()
        gain, before = np.zeros(len(f)), self.noise
        for c in range(len(f)):
            h = f[c] + U[:c, c] @ f[:c]
            b = D[c] * h
            after = before + h * b
            D[c] = min(D[c] * before / (after * self.forgetting), self.first[c])
            column = U[:c, c].copy()
            U[:c, c] -= h / before * gain[:c]
            gain[:c] += b * column
            gain[c], before = b, after
        v["upper"][:], v["variance"][:] = U.T[np.tril_indices(len(f), -1)], D
        v["w"] += (g / before * gain).astype(self.dtype)

    def factors(self):
        n = len(self.first)
        U = np.zeros((n, n))
        U.T[np.tril_indices(n, -1)] = self.views["upper"]
        return U, self.views["variance"].astype(np.float64)
