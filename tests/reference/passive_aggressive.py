"""PassiveAggressive in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from reference.linear import LinearCoreRef


class PassiveAggressiveCoreRef(LinearCoreRef):
    """The step of Crammer et al. 2006, Figure 1."""

    def __init__(self, *common, fit_intercept, C, variant):
        super().__init__(*common, fit_intercept=fit_intercept)
        self.C, self.variant = C, variant

    def step(self, x, y, weight):
        if not np.isfinite(x @ x):
            return Status.NOT_FINITE
        z, C = self.features(x), self.C * weight
        zz = np.float64(z @ z)
        loss = 1 - y * np.float64(z @ self.views["w"])
        if loss <= 0 or zz == 0:
            return Status.UNCHANGED
        tau = {"PA": loss / zz, "PA-I": min(C, loss / zz), "PA-II": loss / (zz + 0.5 / C)}
        return self.move(tau[self.variant] * y, z, weight)
