"""IncrementalDecrementalSVM in plain NumPy (Cauwenberghs & Poggio 2000): one path for each sample
learned or unlearned and each change of C."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from edgesvm.learners.twin.constants import TIE
from reference.adiabatic import AdiabaticCoreRef


class IncrementalDecrementalSVMCoreRef(AdiabaticCoreRef):
    """The arena's arrays by name: vectors, s_minus, s_plus, coef, g, state, S; scalars mu, b."""

    def __init__(self, *common, C, when_full, kernel):
        super().__init__(*common, kernel=kernel)
        self.when_full = when_full
        self.max_vectors = self.slots - 1
        if self.views["mu"] == 0.0:
            self.views["mu"][...] = 1.0 / C

    def step(self, x, y, weight):
        if not np.isfinite(self.norm(x)):
            return Status.NOT_FINITE
        full = self.n == self.max_vectors
        if full and self.when_full == "ignore":
            self.count("n_ignored")
            return Status.UNCHANGED
        moving, removed = [], None
        if full:
            removed = 0 if self.when_full == "oldest" else self.least_needed()
            moving = [(removed, 0.0, 0.0)]
        i, *weights = self.take(x, y, weight)
        if not self.follow([*moving, (i, *weights)], self.mu):
            self.drop(i)
            return Status.UNCHANGED
        if removed is not None:
            self.count("n_forgotten")
            self.drop(removed)
        return Status.CHANGED

    def take(self, x, y, weight):
        """Place a new sample: its slot, and the weights it is to get."""
        i = self.place(x)
        return (i, 0.0, weight) if y > 0 else (i, weight, 0.0)

    def least_needed(self):
        """The vector farthest on the correct side; the first learned of equals."""
        g = np.where(self.held("s_plus") > 0, 1.0, -1.0) * self.held("g")
        best = 0
        for i in range(1, self.n):
            if g[i] > g[best] + TIE * self.mu:
                best = i
        return best

    def unlearn(self, index):
        if not self.follow([(index, 0.0, 0.0)], self.mu):
            return False
        self.drop(index)
        self.count("n_unlearned")
        return True

    def set_C(self, C):
        return self.follow([], 1.0 / C)
