"""A running standardizer in front of a learner, in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.contract.core_ref import ReferenceCore
from edgesvm.core.status import Status


class StandardizedCoreRef(ReferenceCore):
    def __init__(self, *common, inner):
        super().__init__(*common)
        self.inner = inner

    def step(self, x, y, weight):
        if not np.isfinite(x @ x):
            return Status.NOT_FINITE
        v = self.views
        n = int(v["n_per_class"].sum()) + 1
        delta = x - v["mean"]
        mean = v["mean"] + delta / n
        spread = v["spread"] + delta * (x - mean)
        if not np.isfinite(spread).all():
            return Status.NOT_FINITE
        status = self.inner.step(self.scale(x, mean, spread / n), y, weight)
        if status <= Status.CHANGED:
            v["mean"][:], v["spread"][:] = mean, spread
        return status

    def scale(self, x, mean, variance):
        deviation = np.sqrt(variance)
        scaled = np.divide(x - mean, deviation, out=np.zeros_like(mean), where=deviation > 0)
        return scaled.astype(self.dtype)

    def decide(self, x):
        if not np.isfinite(x @ x):
            return np.nan
        v = self.views
        return self.inner.decide(self.scale(x, v["mean"], v["spread"] / v["n_per_class"].sum()))
