"""A running standardizer in front of a learner, in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.core.constants import FAR, NEAR, WIDENING
from edgesvm.core.status import Status
from edgesvm.preprocessing.constants import SEEN
from reference.scaler import ScalerCoreRef


class StandardizedCoreRef(ScalerCoreRef):
    statistics = ("mean", "spread")

    def __init__(self, *common, inner, until, clip):
        super().__init__(*common, inner=inner)
        self.until, self.clip = until, clip

    @property
    def n_scaled(self):
        return super().n_scaled if self.until is None else int(self.views["n_scaled"])

    @property
    def is_settled(self):
        return self.until is not None and self.n_scaled >= self.until

    @property
    def n_with_next(self):
        return self.n_scaled + (not self.is_settled)

    def filled(self, x):
        if "complete" not in self.views:
            return x
        return np.where(np.isnan(x), self.views["mean"].astype(self.dtype), x)

    def step(self, x, y, weight):
        n_missing, x = int(np.isnan(x).sum()), self.filled(x)
        if not np.isfinite(x @ x):
            return Status.NOT_FINITE
        n, exact = self.n_with_next, x.astype(np.float64)
        is_far = bool(self.far_out(exact, n).any())
        status = super().step(exact if self.is_settled else self.counted(exact, n), y, weight)
        if status <= Status.CHANGED:
            if self.until is not None:
                self.views["n_scaled"][...] = n
            if "complete" in self.views:
                self.views["n_missing"][...] += n_missing
            if "far_out" in self.views and self.views["n_per_class"].sum() >= SEEN:
                self.views["far_out"][...] += is_far
        return status

    def bound(self, n):
        """Deviations that a value counts as at most, in statistics of n samples."""
        return self.clip * min(NEAR + n * WIDENING, FAR)

    def far_out(self, x, n):
        """Which values are further from the mean than `bound` deviations."""
        deviation = np.sqrt(self.views["spread"] / max(self.n_scaled, 1))
        return (deviation > 0) & (np.abs(x - self.views["mean"]) / self.bound(n) > deviation)

    def counted(self, x, n):
        """x, each value as it counts for the statistics."""
        mean, deviation = self.views["mean"], np.sqrt(self.views["spread"] / max(n - 1, 1))
        within = mean + np.copysign(self.bound(n) * deviation, x - mean)
        return np.where(self.far_out(x, n), within, x)

    def with_sample(self, x, n):
        mean, spread = self.views["mean"].copy(), self.views["spread"].copy()
        if self.is_settled:
            return mean, spread
        delta = x - mean
        if n == 3:  # the first two are mean +- deviation
            deviation = np.sqrt(spread / 2)
            near, apart = np.abs(np.abs(delta) - deviation), 2 * deviation
            stray = near * 12 * self.bound(n) < apart
            mean[stray], spread[stray], delta[stray] = x[stray], 0.0, 0.0
        spread += delta * (delta - delta / n)
        return mean + delta / n, spread

    def scale(self, x, statistics, n):
        mean, spread = statistics
        deviation = np.sqrt(spread / n)
        scaled = np.divide(x - mean, deviation, out=np.zeros_like(mean), where=deviation > 0)
        return np.clip(scaled, -self.clip, self.clip)
