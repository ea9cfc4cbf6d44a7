"""Base class of the online learners with a kernel in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from edgesvm.learners.papers.online.constants import LEAST_WEIGHT, MOST
from reference.kernel_core import KernelCoreRef


class ExpansionCoreRef(KernelCoreRef):
    """The arena's arrays by name: n_held, coef, vectors."""

    def held(self, *names):
        m = int(self.views["n_held"])
        return [self.views[name][:m] for name in names]

    def project(self, x):
        coef, vectors = self.held("coef", "vectors")
        return float(self.k(x, vectors)[0] @ coef) if len(coef) else 0.0

    def refuses(self, x, weight):
        """UNCHANGED if the sample can be learned, otherwise the reason why not."""
        if not self.self_kernel(x) <= MOST:
            return Status.NOT_FINITE
        return Status.UNCHANGED if LEAST_WEIGHT <= weight <= MOST else Status.BAD_WEIGHT

    def put(self, i, x, coef):
        self.views["vectors"][i], self.views["coef"][i] = x, coef

    def decide(self, x):
        return self.project(x) if self.self_kernel(x) <= MOST else np.nan
