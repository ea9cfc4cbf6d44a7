"""CoreVectorMachine in plain NumPy: Tsang, Kocsor & Kwok 2007, Algorithm 1."""

from __future__ import annotations

import numpy as np

from edgesvm.learners.batch._smo_ref import SMORef
from edgesvm.learners.enclosing._enclosing_ref import EnclosingCoreRef
from edgesvm.learners.enclosing.constants import FINEST, ITERATIONS


class CoreVectorMachineCoreRef(EnclosingCoreRef):
    """The minimum enclosing ball of the core set, by SMO from the last coefficients."""

    others = ("alpha",)

    def __init__(self, *common, **params):
        super().__init__(*common, **params)
        self.smo, self.solved = None, True

    @property
    def square_radius(self):
        return max(self.kappa - float(self.views["square"]), 0.0)

    @property
    def level(self):
        return float(self.views["square"])

    def take(self, p, f):
        if p == 0:
            self.views["alpha"][0] = 1.0
        self.was = self.threshold() if p else np.inf
        self.smo, self.solved = None, False

    def unsettle(self):
        self.solved = self.n == 0

    def settle(self):
        if self.solved:
            return False
        alpha, n = self.held("alpha"), self.n
        if self.smo is None:
            sign = self.held("sign")
            K = np.outer(sign, sign) * (self.k_row(self.rows, self.rows) + 1.0)
            K[np.diag_indices(n)] += self.held("own")
            self.smo = SMORef(K, np.ones(n), beta=alpha, shrinking=False)
        smo, before = self.smo, self.smo.n_iter
        smo.tol = max(0.5 * self.allowance, FINEST * self.square_radius)
        self.solved = smo.run(before + min(ITERATIONS, self.budget)) is not None
        self.budget -= smo.n_iter - before
        self.views["n_iter"][...] += smo.n_iter - before
        alpha[:] = smo.beta
        self.held("beta")[:] = self.held("sign") * alpha
        self.views["square"][...] = max(float(alpha @ (1.0 - smo.g)), 0.0)
        self.views["intercept"][...] = self.held("beta").sum()
        if self.solved:
            self.look_at_those_outside()
        return True

    def look_at_those_outside(self):
        for row in self.block:
            if row["f"] < self.was:
                row["f"] = row["y"] * self.output(row["x"])
            else:
                row["f"] = max(row["f"], self.threshold())

    def make_room(self):
        before, self.smo = self.n, None
        for p in range(before - 1, -1, -1):
            if self.views["alpha"][p] == 0.0:
                self.remove(p)
        return self.n < before

    def end(self):
        super().end()
        self.smo, self.solved = None, True
