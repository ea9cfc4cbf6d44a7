"""A running standardizer in front of a learner, in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from reference.scaler import ScalerCoreRef


class StandardizedCoreRef(ScalerCoreRef):
    statistics = ("mean", "spread")

    def __init__(self, *common, inner, until):
        super().__init__(*common, inner=inner)
        self.until = until

    @property
    def n_scaled(self):
        return super().n_scaled if self.until is None else int(self.views["n_scaled"])

    @property
    def is_settled(self):
        return self.until is not None and self.n_scaled >= self.until

    @property
    def n_with_next(self):
        return self.n_scaled + (not self.is_settled)

    def step(self, x, y, weight):
        n = self.n_with_next
        status = super().step(x, y, weight)
        if status <= Status.CHANGED and self.until is not None:
            self.views["n_scaled"][...] = n
        return status

    def with_sample(self, x, n):
        if self.is_settled:
            return self.views["mean"], self.views["spread"]
        delta = x - self.views["mean"]
        mean = self.views["mean"] + delta / n
        return mean, self.views["spread"] + delta * (x - mean)

    def scale(self, x, statistics, n):
        mean, spread = statistics
        deviation = np.sqrt(spread / n)
        return np.divide(x - mean, deviation, out=np.zeros_like(mean), where=deviation > 0)
