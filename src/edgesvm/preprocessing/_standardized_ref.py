"""A running standardizer in front of a learner, in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.preprocessing._scaler_ref import ScalerCoreRef


class StandardizedCoreRef(ScalerCoreRef):
    statistics = ("mean", "spread")

    def with_sample(self, x, n):
        delta = x - self.views["mean"]
        mean = self.views["mean"] + delta / n
        return mean, self.views["spread"] + delta * (x - mean)

    def scale(self, x, statistics, n):
        mean, spread = statistics
        deviation = np.sqrt(spread / n)
        return np.divide(x - mean, deviation, out=np.zeros_like(mean), where=deviation > 0)
