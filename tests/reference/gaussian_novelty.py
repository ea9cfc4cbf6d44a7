"""GaussianNovelty in plain NumPy, with the matrix itself where the compiled core has its factor."""

from __future__ import annotations

import numpy as np

from reference.novelty import NoveltyCoreRef


class GaussianNoveltyCoreRef(NoveltyCoreRef):
    """The arena's arrays by name: factor, packed by rows, unless the covariance is diagonal."""

    def score(self, z):
        z = z.astype(float)
        if "factor" not in self.views:
            square = z @ z
        elif self.n_fitted == 0:
            square = 0.0
        else:
            y = np.linalg.solve(self.L, z)
            square = (self.n_fitted + 1) * (y @ y)
        return float(np.sqrt(square / len(z)))

    def drops(self, z):
        z = z.astype(float)
        if "factor" not in self.views or self.n_fitted == 0:
            return z * z
        inverse = np.linalg.inv(self.L @ self.L.T)
        return (inverse @ z) ** 2 / np.diagonal(inverse)

    @property
    def L(self):
        D = self.n_features
        L = np.zeros((D, D))
        L[np.tril_indices(D)] = self.views["factor"]
        return L

    def learn_scaled(self, z):
        if "factor" in self.views:
            z = z.astype(float)
            L = self.L if self.n_fitted > 1 else np.eye(len(z))
            A = L @ L.T + np.outer(z, z)
            self.views["factor"][:] = np.linalg.cholesky(A)[np.tril_indices(len(z))]
