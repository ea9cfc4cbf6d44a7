"""PageHinkley in plain Python: the reference of `PageHinkleyCore`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from edgesvm.learners._drift import not_an_error

LEAST_VARIANCE = 0.01


def add_error(state, error, delta, least_variance):
    """n, mean, sum of squares, PH, n and mean where PH was last 0; the deviation; and PH."""
    n, mean, m2, excess, n_low, mean_low = state
    difference = error - mean
    n += 1
    mean += difference / n
    m2 += difference * (error - mean)
    s = math.sqrt(max(m2 / n, least_variance))
    excess = max(0.0, excess + error - mean - delta * s)
    if excess == 0:
        n_low, mean_low = n, mean
    return (n, mean, m2, excess, n_low, mean_low), s, excess


class PageHinkleyCoreRef:
    def __init__(self, plan: Any, arena: Any, *, delta: float, threshold: float, min_samples: int):
        self.arena = arena
        self.views = plan.cut(arena.memory)
        self.delta, self.threshold, self.min_samples = delta, threshold, min_samples

    def add(self, error: float) -> bool:
        if not 0.0 <= error <= 1.0:
            raise not_an_error(error)
        views, state = self.views, self.views["state"]
        after, s, excess = add_error(state.tolist(), float(error), self.delta, LEAST_VARIANCE)
        n, mean, _, _, n_low, mean_low = after
        is_drift = n >= self.min_samples and excess > self.threshold * s
        if is_drift:
            now = (n * mean - n_low * mean_low) / (n - n_low)
            views["before"][...], views["now"][...] = mean_low, min(now, 1.0)
        state[:] = 0 if is_drift else after
        views["n_added"][...] += 1
        views["n_drifts"][...] += is_drift
        return bool(is_drift)

    def add_many(self, errors: np.ndarray, out: np.ndarray) -> None:
        for i, error in enumerate(errors.tolist()):
            out[i] = self.add(error)

    def forget(self) -> None:
        self.views["state"][...] = 0

    def check(self) -> None:
        """Nothing: hostile bytes are the compiled core's."""
