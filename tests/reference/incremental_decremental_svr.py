"""IncrementalDecrementalSVR in plain NumPy (Ma, Theiler & Perkins 2003; Martin 2002): a sample is a
twin with the same weight on both sides, and what is measured at it is g = K coef + b - nu y."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from edgesvm.learners.twin.constants import LARGEST_TARGET, TIE
from reference.incremental_decremental_svm import IncrementalDecrementalSVMCoreRef


class IncrementalDecrementalSVRCoreRef(IncrementalDecrementalSVMCoreRef):
    """The arena's arrays by name, besides those of the SVM: targets; scalars nu = 1 / C, nu_to."""

    regresses = True

    def __init__(self, *common, C, epsilon, when_full, kernel):
        super().__init__(*common, C=C, when_full=when_full, kernel=kernel)
        self.C, self.epsilon = C, epsilon
        if self.views["nu"] == 0.0:
            self.views["nu"][...] = self.views["nu_to"][...] = 1.0 / C
            self.views["mu"][...] = epsilon / C

    def target(self):
        return self.views["nu"] * self.held("targets")

    @property
    def scale(self):
        return float(self.views["nu"])

    def step(self, x, y, weight):
        if not abs(y) <= LARGEST_TARGET:
            return Status.BAD_TARGET
        return super().step(x, y, weight)

    def take(self, x, y, weight):
        v, i = self.views, self.place(x)
        v["targets"][i] = y
        v["g"][i] -= v["nu"] * y
        v["state"][i] = self.side(v["g"][i], True, True)
        return i, weight, weight

    def drop(self, i):
        targets = self.held("targets")
        targets[i:-1] = targets[i + 1 :].copy()
        super().drop(i)

    def least_needed(self):
        """The sample whose error is smallest; the first learned of equals."""
        error, best = np.abs(self.held("g")), 0
        for i in range(1, self.n):
            if error[i] < error[best] - TIE * self.mu:
                best = i
        return best

    def set_C(self, C):
        self.views["nu_to"][...] = 1.0 / C
        if not self.follow([], self.epsilon / C):
            return False
        self.C = C
        return True

    def set_epsilon(self, epsilon):
        if not self.follow([], epsilon / self.C):
            return False
        self.epsilon = epsilon
        return True

    def begin(self, moving, mu):
        walk = super().begin(moving, mu)
        walk.d_nu = self.views["nu_to"] - self.views["nu"]
        walk.d_target = walk.d_nu * self.held("targets")
        return walk

    def advance(self, walk, length, arrived):
        super().advance(walk, length, arrived)
        v = self.views
        v["nu"][...] = v["nu_to"] if arrived else v["nu"] + length * walk.d_nu

    def solve_at(self, weights, mu):
        self.views["nu"][...] = self.views["nu_to"]
        super().solve_at(weights, mu)

    def walk_back(self, released, before, mu):
        self.views["nu_to"][...] = 1.0 / self.C
        super().walk_back(released, before, mu)
