"""SharedTwinSVM in plain NumPy; the names are those of _shared_twin_svm.pyx, where the problem is
stated.
"""

from __future__ import annotations

import numpy as np

from edgesvm.core.constants import LARGEST_NORM
from edgesvm.core.packed_factor import packed_length
from edgesvm.core.status import Status
from edgesvm.learners.twin.constants import LARGEST_SQUARE, RIDGE, TIE
from reference.kernel_core import KernelCoreRef


class SharedTwinSVMCoreRef(KernelCoreRef):
    """The arena's arrays by name; the pool holds the factor of `precision` only."""

    def __init__(self, *common, settle_after, r, kernel):
        super().__init__(*common, kernel=kernel)
        self.settle_after, self.r = settle_after, r
        self.max_twins = self.views["coef"].shape[1]

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

    def step(self, x, y, weight):
        v = self.views
        y_class = int(y) if self.is_multiclass else int(y > 0)
        if not self.is_fine(x):
            return Status.NOT_FINITE
        if v["settled_at"]:
            return self.refine(x, y_class, weight)
        status = self.gather(x, y_class, weight)
        n_learned = int(v["n_per_class"].sum()) + 1
        if n_learned >= self.settle_after:
            self.settle()
            v["settled_at"][...] = n_learned
            for q, c in zip(self.held("vectors"), self.held("twin_class"), strict=True):
                self.refine(q, int(c), 1.0)
        return status

    def is_fine(self, x):
        return float(x @ x) <= LARGEST_SQUARE and self.k(x, x)[0, 0] <= LARGEST_NORM

    # -- twins that move ---------------------------------------------------------------------------

    def gather(self, x, y_class, weight):
        """Place a sample among the twins; UNCHANGED: there is no room for it."""
        n, v = self.n, self.views
        same = self.distortions(x, y_class, weight)
        j, least = nearest(same, np.inf)
        if n < self.max_twins and least != 0:
            v["n"] += 1
            self.place(n, x, y_class, weight)
            return Status.CHANGED
        i = -1
        for k in range(1, n if least > 0 else 0):
            pair = self.distortions(v["vectors"][k], v["twin_class"][k], v["weight"][k])
            found, below = nearest(pair[:k], least)
            if found >= 0:
                i, j, least = k, found, below
        if j < 0:
            return Status.UNCHANGED
        v["n_merged"] += 1
        if i < 0:
            self.merge(j, x, weight)
        else:
            self.merge(j, v["vectors"][i], v["weight"][i])
            self.place(i, x, y_class, weight)
        return Status.CHANGED

    def distortions(self, x, y_class, weight):
        """Of a merge of x with each twin; -1 if it is of another class"""
        square = ((self.held("vectors").astype(float) - x.astype(float)) ** 2).sum(1)
        s = self.held("weight")
        cost = np.minimum(weight * s / (weight + s) * square, 1e300)
        return np.where(self.held("twin_class") == y_class, cost, -1.0)

    def place(self, i, x, y_class, weight):
        v = self.views
        v["vectors"][i], v["twin_class"][i], v["weight"][i] = x, y_class, weight

    def merge(self, j, x, weight):
        v = self.views
        v["weight"][j] += weight
        part = self.dtype.type(weight / v["weight"][j])
        v["vectors"][j] += part * (x - v["vectors"][j])

    # -- twins that stand still --------------------------------------------------------------------

    def settle(self):
        K = self.k(self.held("vectors"), self.held("vectors"))
        lift = K.diagonal().max(initial=0.0) or 1.0
        self.views["lift"][...] = lift
        self.precision = K + lift + RIDGE * lift * np.eye(self.n)

    def features(self, x):
        return self.k(x, self.held("vectors"))[0] + float(self.views["lift"])

    def refine(self, x, y_class, weight):
        v = self.views
        z = self.features(x)
        c = v["coef"][:, : self.n]
        f = c @ z
        if self.is_multiclass:
            side = np.where(np.arange(len(f)) == y_class, 1.0, -1.0)
            is_clear = f[y_class] - np.delete(f, y_class).max() >= 1
        else:
            side = np.array([1.0 if y_class else -1.0])
            is_clear = side[0] * f[0] >= 1
        if is_clear:
            return Status.UNCHANGED
        P = self.precision
        change = np.linalg.solve(P, z)
        error = np.where(side * f < 1, side - f, 0.0)
        c += np.outer(error, change) / (z @ change + self.r / weight)
        self.precision = P + weight / self.r * np.outer(z, z)
        v["n_refined"] += 1
        return Status.CHANGED

    def decide(self, x):
        v = self.views
        if not self.is_fine(x):
            return np.nan
        if v["settled_at"]:
            scores = v["coef"][:, : self.n] @ self.features(x)
            return self.unseen_last(scores) if self.is_multiclass else scores[0]
        best = np.full(len(v["n_per_class"]), -np.inf)
        for q, c in zip(self.held("vectors"), self.held("twin_class"), strict=True):
            near = float(2 * self.k(q, x)[0, 0] - self.k(q, q)[0, 0] - self.k(x, x)[0, 0])
            best[c] = max(best[c], near)
        if self.is_multiclass:
            return self.unseen_last(np.maximum(best, -1e300))
        return best[1] - best[0] if np.isfinite(best).all() else 0.0


def nearest(row, least):
    """The first of the least distortions below `least`, and which it is; -1: there is none."""
    found = -1
    for j, distortion in enumerate(row):
        if 0 <= distortion < least * (1 - TIE):
            found, least = j, float(distortion)
    return found, least
