"""Scalers in front of a learner, in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.core.constants import FAR, NEAR, WIDENING
from edgesvm.core.status import Status
from reference.core import ReferenceCore

SEEN = 10  # samples that tell nothing of what is far out
NORMAL, GAIN = 1.4826, 2.0


class ScalerCoreRef(ReferenceCore):
    """Base of the scalers. Statistics are a tuple of arrays of shape (n_features,), the plan's
    arrays named in `statistics`. A subclass adds `with_sample`, the statistics with x, the n-th
    sample, and `scale`, x scaled by the statistics of n samples."""

    statistics: tuple[str, ...]

    def __init__(self, *common, inner, clip):
        super().__init__(*common)
        self.inner, self.clip = inner, np.inf if clip is None else clip
        self.regresses = inner.regresses

    @property
    def n_scaled(self):
        """Samples that the statistics are of."""
        return int(self.views["n_per_class"].sum())

    @property
    def n_with_next(self):
        """The same once the next sample is learned."""
        return self.n_scaled + 1

    def filled(self, x):
        """x, with numbers in place of NaN where that is asked for."""
        return x

    def step(self, x, y, weight):
        x = self.filled(x)
        if not np.isfinite(x @ x):
            return Status.NOT_FINITE
        n = self.n_with_next
        new = self.with_sample(x.astype(np.float64), n)
        if not all(np.isfinite(values).all() for values in new):
            return Status.NOT_FINITE
        status = self.inner.weighed_step(self.scale(x, new, n).astype(self.dtype), y, weight)
        if status <= Status.CHANGED:
            for name, values in zip(self.statistics, new, strict=True):
                self.views[name][:] = values
        return status

    def mapped(self, x):
        """What the inner learner gets of x."""
        statistics = tuple(self.views[name] for name in self.statistics)
        return self.scale(x, statistics, self.n_scaled).astype(self.dtype)

    def decide(self, x):
        x = self.filled(x)
        return self.inner.decide(self.mapped(x)) if np.isfinite(x @ x) else np.nan

    def forecast(self, x):
        x = self.filled(x)
        return self.inner.forecast(self.mapped(x)) if np.isfinite(x @ x) else ((np.nan,) * 3,) * 2


class StandardizedCoreRef(ScalerCoreRef):
    statistics = ("mean", "spread")

    def __init__(self, *common, inner, until, clip, missing):
        super().__init__(*common, inner=inner, clip=clip)
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


class RobustStandardizedCoreRef(ScalerCoreRef):
    statistics = ("center", "distance", "n_apart")

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
