"""PageHinkley in plain Python: the reference of `PageHinkleyCore`."""

from __future__ import annotations

import math
from typing import Any

from reference.detector import DetectorCoreRef


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


class PageHinkleyCoreRef(DetectorCoreRef):
    def __init__(self, plan: Any, arena: Any, **params: Any) -> None:
        super().__init__(plan, arena)
        self.params = params

    def take(self, error: float) -> bool:
        p, state = self.params, self.views["state"]
        after, s, excess = add_error(state.tolist(), error, p["delta"], p["least_variance"])
        n, mean, _, _, n_low, mean_low = after
        is_drift = n >= p["min_samples"] and excess > p["threshold"] * s
        if is_drift:
            now = (n * mean - n_low * mean_low) / (n - n_low)
            self.note(mean_low, min(now, 1.0))
            state[:] = 0
        else:
            state[:] = after
        return bool(is_drift)
