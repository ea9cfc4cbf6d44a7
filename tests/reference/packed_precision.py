"""A precision matrix of which the arena holds the factor: of the references that learn by AROW."""

from __future__ import annotations

import numpy as np

from edgesvm.core.packed_factor import packed_length


class PackedPrecision:
    """For a core with `n` vectors and the array "pool"."""

    @property
    def precision(self):
        """P, (n, n); the arena holds its factor, packed by rows."""
        L = np.zeros((self.n, self.n))
        L[np.tril_indices(self.n)] = self.views["pool"][: packed_length(self.n)]
        return L @ L.T

    @precision.setter
    def precision(self, P):
        L = np.linalg.cholesky(P)
        self.views["pool"][: packed_length(self.n)] = L[np.tril_indices(self.n)]
