"""PageHinkley in plain Python: the reference of `PageHinkleyCore`."""

from __future__ import annotations

import math
from typing import Any

from reference.detector import DetectorCoreRef


class PageHinkleyCoreRef(DetectorCoreRef):
    def __init__(self, plan: Any, arena: Any, **params: Any) -> None:
        super().__init__(plan, arena)
        self.params = params

    def take(self, error: float) -> bool:
        p, state = self.params, self.views["state"]
        n, mean, m2, excess, n_low, mean_low = state.tolist()
        difference = error - mean
        n += 1
        mean += difference / n
        m2 += difference * (error - mean)
        s = math.sqrt(max(m2 / n, p["least_variance"]))
        excess = max(0.0, excess + error - mean - p["delta"] * s)
        if excess == 0:
            n_low, mean_low = n, mean
        is_drift = n >= p["min_samples"] and excess > p["threshold"] * s
        if is_drift:
            now = (n * mean - n_low * mean_low) / (n - n_low)
            self.note(mean_low, min(now, 1.0))
            state[:] = 0
        else:
            state[:] = n, mean, m2, excess, n_low, mean_low
        return bool(is_drift)
