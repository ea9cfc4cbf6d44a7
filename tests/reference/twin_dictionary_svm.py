"""TwinDictionarySVM in plain NumPy: AROW (Crammer, Kulesza & Dredze 2009) on twins that settled.

The names are those of _twin_dictionary_svm.pyx, where the problem is stated.
"""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from edgesvm.learners.constants import FACTOR_EXISTS
from edgesvm.learners.twin.constants import EDGE, RIDGE
from reference.packed_precision import PackedPrecision
from reference.twin_vector_machine import TwinVectorMachineCoreRef


class TwinDictionarySVMCoreRef(PackedPrecision, TwinVectorMachineCoreRef):
    """The arena's arrays by name: those of the twins, settled_at, n_refined."""

    def __init__(self, *common, settle_after, r, **of_twins):
        super().__init__(*common, **of_twins)
        self.settle_after, self.r = settle_after, r

    def step(self, x, y, weight):
        if self.views["settled_at"]:
            return self.refine(x, y, weight)
        status = super().step(x, y, weight)
        n_learned = int(self.views["n_per_class"].sum()) + 1
        if status <= Status.CHANGED and n_learned >= self.settle_after:
            self.settle()
            self.views["settled_at"][...] = n_learned
        return status

    def settle(self):
        """The twins stand still: the margin becomes 1, and the precision that of the prior."""
        v = self.views
        self.held("coef")[:] /= self.mu
        v["b"] /= self.mu
        v["mu"][...], v["m"][...] = 1.0, self.n
        self.S[:], self.held("state")[:], self.held("g")[:] = np.arange(self.n), 2, 0.0
        most = self.k(self.held("vectors"), self.held("vectors")).diagonal().max()
        v["lift"][...] = most if most > 0 else 1.0
        self.precision = self.prior()

    def prior(self):
        """P at first: K + lift + RIDGE"""
        lift = float(self.views["lift"])
        K = self.k(self.held("vectors"), self.held("vectors"))
        return K + lift + RIDGE * lift * np.eye(self.n)

    def age(self, part):
        """Once the twins have settled, P keeps a part of what is not the prior."""
        if self.views["settled_at"]:
            P = part * self.precision + (1 - part) * self.prior()
            self.precision = P + FACTOR_EXISTS * np.diag(P.diagonal())
        else:
            super().age(part)

    def refine(self, x, y, weight):
        """One step of AROW; a sample of weight s has the variance r / s."""
        if not np.isfinite(self.norm(x)):
            return Status.NOT_FINITE
        f = self.g_of(x)
        if self.forgets:
            self.forget(y * f <= 0)
        if y * f >= 1 or not (abs(f) <= self.m1 * (1 + EDGE) or self.is_open(y * f)):
            return Status.UNCHANGED
        P, lift = self.precision, float(self.views["lift"])
        v = self.k(x, self.held("vectors"))[0] + lift
        change = np.linalg.solve(P, v)
        change *= y * (1 - y * f) / (v @ change + self.r / weight)
        self.held("coef")[:] += change
        self.views["b"] += lift * change.sum()
        self.precision = P + weight / self.r * np.outer(v, v)
        self.count("n_refined")
        return Status.CHANGED

    def kt_residual(self):
        """Largest violation of the KT conditions; NaN once the twins have settled."""
        return np.nan if self.views["settled_at"] else super().kt_residual()
