"""A running median and a running median distance in front of a learner, in plain NumPy."""

from __future__ import annotations

import numpy as np

from reference.scaler import ScalerCoreRef

NORMAL, GAIN = 1.4826, 2.0


class RobustStandardizedCoreRef(ScalerCoreRef):
    statistics = ("center", "distance", "n_apart")

    def __init__(self, *common, inner, clip):
        super().__init__(*common, inner=inner)
        self.clip = clip

    def with_sample(self, x, n):
        center, distance, n_apart = (self.views[name] for name in self.statistics)
        d, step = np.abs(x - center), GAIN / n * distance
        apart = (d > step) & (n > 1)
        first = apart & (n_apart == 0)
        k = np.where(apart, n_apart + 1, n * np.sqrt(np.maximum(n_apart, 1)))
        more = np.where(d > 0, k + GAIN, k)
        ratio = np.where(d > distance, more, k) / np.where(d < distance, more, k)
        center = np.where(apart, center + np.copysign(step, x - center), x)
        return center, np.where(first, d, distance * ratio), n_apart + apart

    def scale(self, x, statistics, n):
        center, distance, n_apart = statistics
        scale = NORMAL * distance * np.sqrt(n_apart / n)
        scaled = np.divide(x - center, scale, out=np.zeros_like(center), where=scale > 0)
        return np.clip(scaled, -self.clip, self.clip)
