"""What the NumPy twins of learners that solve by SMO share."""

from __future__ import annotations

import numpy as np

from edgesvm.contract.core_ref import ReferenceCore
from edgesvm.core.status import Status

LARGEST_KERNEL = 1e37


class SmoCoreRef(ReferenceCore):
    """The arena's arrays by name; the solver's scratch stays zero."""

    def __init__(self, *common, C, kernel, tol):
        super().__init__(*common)
        self.C, self.kernel, self.tol = C, kernel, tol

    def k(self, X, Z):
        return self.kernel(np.atleast_2d(X).astype(np.float64), np.atleast_2d(Z).astype(np.float64))

    def refuses(self, x, weight):
        """UNCHANGED: it does not"""
        if not np.isfinite(x @ x) or not self.k(x, x)[0, 0] <= LARGEST_KERNEL:
            return Status.NOT_FINITE
        return Status.UNCHANGED if 0.0 < self.C * weight < np.inf else Status.BAD_WEIGHT

    @staticmethod
    def get(tiles, n):
        """The first n rows, a copy, ndarray of shape (n, n_features)."""
        return tiles.transpose(0, 2, 1).reshape(-1, tiles.shape[1])[:n].copy()
