"""Base class of the reference cores with a kernel."""

from __future__ import annotations

import numpy as np

from reference.core import ReferenceCore


class KernelCoreRef(ReferenceCore):
    """A reference core with a `kernel`, one of edgesvm.kernels."""

    def __init__(self, *common, kernel):
        super().__init__(*common)
        self.kernel = kernel

    @property
    def n(self):
        """How many vectors it holds"""
        return int(self.views["n"])

    def held(self, name):
        return self.views[name][: self.n]

    def k(self, X, Z):
        """Kernel values of rows or single vectors, ndarray of shape (n, m), float64."""
        return self.kernel(np.atleast_2d(X).astype(np.float64), np.atleast_2d(Z).astype(np.float64))

    def self_kernel(self, x):
        """k(x, x); infinite or NaN if a feature is not finite or too large to square"""
        xx = x @ x
        return float(self.k(x, x)[0, 0] if np.isfinite(xx) else xx)

    @staticmethod
    def get(tiles, n):
        """Copy of the first n rows in tiles, ndarray of shape (n, n_features)."""
        return tiles.transpose(0, 2, 1).reshape(-1, tiles.shape[1])[:n].copy()

    @staticmethod
    def put_row(tiles, t, x):
        """Set row t in tiles to x."""
        lanes = tiles.shape[2]
        tiles[t // lanes, :, t % lanes] = x
