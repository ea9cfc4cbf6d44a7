"""When a learner's samples lose weight, in plain Python."""

from __future__ import annotations

import math
from typing import Any

from edgesvm.learners.constants import (
    AT_A_DRIFT,
    DELTA,
    FORGETS_FOR,
    LEAST_HALF_LIFE,
    LEAST_VARIANCE,
    MIN_SAMPLES,
    PACE,
    SOON,
    SOON_FOR,
)


def add_error(state, error):
    """n, mean, sum of squares, PH, n and mean where PH was last 0; the deviation; and PH."""
    n, mean, m2, excess, n_low, mean_low = state
    difference = error - mean
    n += 1
    mean += difference / n
    m2 += difference * (error - mean)
    s = math.sqrt(max(m2 / n, LEAST_VARIANCE))
    excess = max(0.0, excess + error - mean - DELTA * s)
    if excess == 0:
        n_low, mean_low = n, mean
    return (n, mean, m2, excess, n_low, mean_low), s, excess


class ForgettingRef:
    """The arena's arrays by name: n_drifts, since, due, errors. A core adds `age`."""

    views: Any
    forgets: bool
    half_life: float
    threshold: float

    def forget(self, error):
        """Age what is held before a sample about which it was wrong by `error`, 0 to 1."""
        v, rate = self.views, 0.0
        if self.half_life > 0:
            rate = 1 / self.half_life
        else:
            threshold = SOON if self.after_a_drift(SOON_FOR) else self.threshold
            state, deviation, excess = add_error(v["errors"].tolist(), float(error))
            if state[0] >= MIN_SAMPLES and excess > threshold * deviation:
                v["errors"][:] = v["since"][...] = v["due"][...] = 0
                v["n_drifts"] += 1
                self.age(AT_A_DRIFT)
                return
            v["errors"][:] = state
            v["since"] += 1
            if self.after_a_drift(FORGETS_FOR):
                rate = 1 / max(PACE * float(v["since"]), LEAST_HALF_LIFE)
        v["due"] += rate
        if v["due"] >= 1:
            v["due"] -= 1
            self.age(0.5)

    def after_a_drift(self, n):
        return self.views["n_drifts"] > 0 and self.views["since"] < n
