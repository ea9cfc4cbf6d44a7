"""CoreVectorMachine in plain NumPy: Tsang, Kocsor & Kwok 2007, Algorithm 1."""

from __future__ import annotations

import numpy as np

from edgesvm.learners.papers.enclosing.constants import FAR, FINEST, IDLE, ITERATIONS, LOOSE, SHARE
from reference.enclosing import EnclosingCoreRef
from reference.smo import SMORef


class CoreVectorMachineCoreRef(EnclosingCoreRef):
    """The minimum enclosing ball of the core set, by SMO from the last coefficients."""

    others = ("alpha",)
    worst = 0.0
    largest = 1.0  # coefficient

    def __init__(self, *common, bulk, **params):
        super().__init__(*common, **params)
        self.bulk, self.smo = bulk, None
        self.settled_at(0.0)

    @property
    def square_radius(self):
        return max(self.kappa - float(self.views["square"]), 0.0)

    @property
    def level(self):
        return float(self.views["square"])

    def find_surface(self):
        """Compute the level, where it is not |c|^2."""

    def take(self, p, f):
        self.was = self.threshold() if p else np.inf
        self.smo, self.reached = None, np.inf
        self.n_new += 1
        self.worst = max(self.worst, self.level - f)
        if p == 0:
            self.stand_on_first()

    def stand_on_first(self):
        """The centre is the first core vector."""
        self.views["alpha"][0] = 1.0
        self.views["beta"][0] = self.views["intercept"][...] = self.views["sign"][0]
        self.views["square"][...] = self.length(0)
        self.find_surface()

    @property
    def in_bulk(self):
        return self.bulk and not self.streaming

    @property
    def limit(self):
        """In bulk, samples not nearly as far outside as the worst wait until the ball has moved."""
        if not self.in_bulk:
            return self.threshold()
        return min(self.threshold(), self.level - FAR * self.worst)

    def unsettle(self):
        self.settled_at(np.inf if self.n else 0.0)

    def settled_at(self, tol):
        """alpha is the solution to this tolerance."""
        self.reached = tol
        self.n_new, self.worst = 0, 0.0

    def settle(self):
        loosely = self.in_bulk and self.waits
        share = 1.0 if self.has_all else 0.5  # so that others have some room
        tol = max(share * self.allowance, FINEST * self.square_radius)
        if loosely:
            tol = max(tol, LOOSE * self.worst)
        if self.reached <= tol or (loosely and (self.reached < np.inf or self.may_wait)):
            return False
        alpha, n = self.held("alpha"), self.n
        if self.smo is None:
            sign = self.held("sign")
            K = np.outer(sign, sign) * (self.k_row(self.rows, self.rows) + 1.0)
            K[np.diag_indices(n)] += self.held("own")
            self.smo = SMORef(K, np.full(n, self.largest), beta=alpha, shrinking=False)
        smo, before = self.smo, self.smo.n_iter
        smo.tol = tol
        if smo.run(before + min(ITERATIONS, self.budget)) is not None:
            self.settled_at(tol)
        self.budget -= smo.n_iter - before
        self.views["n_iter"][...] += smo.n_iter - before
        alpha[:] = smo.beta
        self.held("beta")[:] = self.held("sign") * alpha
        self.views["square"][...] = max(float(alpha @ (1.0 - smo.g)), 0.0)
        self.views["intercept"][...] = self.held("beta").sum()
        self.find_surface()
        if self.reached < np.inf:
            self.look_at_those_outside()
            if self.in_bulk and not self.has_all:
                self.thin()
        return True

    @property
    def may_wait(self):
        """Whether new core vectors are few, and there is room for more"""
        return self.waits and 0 < SHARE * self.n_new < self.n < self.max_core

    def look_at_those_outside(self):
        for row in self.block:
            if row["f"] < self.was:
                row["f"] = row["y"] * self.output(row["x"])
            else:
                row["f"] = max(row["f"], self.threshold())

    def make_room(self):
        before = self.n
        if self.streaming:
            self.settled_at(0.0)
        self.drop_idle()
        if self.streaming:
            self.views["n_given_up"][...] += before - self.n
        return self.n < before

    def drop_idle(self):
        """Drop core vectors without a coefficient, which leaves the ball as it is."""
        self.smo = None
        for p in range(self.n - 1, -1, -1):
            if self.views["alpha"][p] == 0.0:
                self.remove(p)

    def thin(self):
        """Drop what the ball does not need, if it is much."""
        if IDLE * (self.held("alpha") == 0.0).sum() > self.n:
            self.drop_idle()

    def keep_supports(self):
        """Drop all core vectors without a coefficient."""
        self.drop_idle()

    def end(self):
        super().end()
        self.smo = None
        self.settled_at(0.0)


class OneClassCoreVectorMachineCoreRef(CoreVectorMachineCoreRef):
    """All samples are of sign 1. With `most`, no coefficient is larger."""

    one_class = True

    @property
    def level(self):
        return float(self.views["surface"])

    @property
    def margin(self):
        return self.level - 1.0

    @property
    def square_radius(self):
        return max(self.kappa + float(self.views["square"]) - 2.0 * self.level, 0.0)

    @property
    def largest(self):
        return float(self.views["most"]) or 1.0

    def find_surface(self):
        self.views["surface"][...] = self.views["square"]
        if self.smo is not None and self.largest < 1.0:
            self.views["surface"][...] = 1.0 - self.smo.intercept

    def decide(self, x):
        return super().decide(x) - self.level

    @property
    def offset(self):
        return self.level - 1.0

    def spread(self, most):
        """No coefficient is to be larger than `most`; that of each core vector is the same now."""
        self.views["most"][...] = most
        self.held("alpha")[:] = self.held("beta")[:] = 1.0 / self.n
        self.views["intercept"][...] = 1.0
