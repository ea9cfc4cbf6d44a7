"""KernelPerceptron in plain NumPy."""

from __future__ import annotations

from edgesvm.core.rng import below_view, seed_view
from edgesvm.core.status import Status
from reference.expansion import ExpansionCoreRef


class KernelPerceptronCoreRef(ExpansionCoreRef):
    """The perceptron's step, and what happens when there is no room."""

    def __init__(self, *common, kernel, when_full, seed):
        super().__init__(*common, kernel=kernel)
        self.when_full = when_full
        if not self.views["rng"].any():
            self.views["rng"][:] = seed_view(seed)

    def step(self, x, y, weight):
        status = self.refuses(x, weight)
        if status > Status.CHANGED:
            return status
        if y * self.project(x) > 0:
            return Status.UNCHANGED
        v, M = self.views, len(self.views["coef"])
        i = int(v["n_held"])
        if i < M:
            v["n_held"] += 1
        elif self.when_full == "ignore":
            v["n_ignored"] += 1
            return Status.UNCHANGED
        elif self.when_full == "random":
            i = below_view(v["rng"], M)
        else:
            i = int(v["oldest"])
            v["oldest"][...] = (i + 1) % M
        self.put(i, x, y * weight)
        return Status.CHANGED
