"""The counts of a drift detector, in NumPy: the reference of `DetectorCore`."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgesvm.budget import MemoryPlan
from edgesvm.drift.detector import HEAD, not_an_error


class DetectorCoreRef:
    """Counts and entry points, on the same arena. A subclass adds `take`."""

    def __init__(self, plan: MemoryPlan, arena: Any) -> None:
        self.arena = arena
        self.views = plan.cut(arena.memory)

    def take(self, error: float) -> bool:
        """Take in an error; whether a drift is found, with `before` and `now` noted."""
        raise NotImplementedError

    def note(self, before: float, now: float) -> None:
        self.views["before"][...] = before
        self.views["now"][...] = now

    def add(self, error: float) -> bool:
        if not 0.0 <= error <= 1.0:
            raise not_an_error(error)
        self.views["n_added"][...] += 1
        is_drift = self.take(float(error))
        self.views["n_drifts"][...] += is_drift
        return is_drift

    def add_many(self, errors: np.ndarray, out: np.ndarray) -> None:
        for i, error in enumerate(errors.tolist()):
            if not 0.0 <= error <= 1.0:
                raise not_an_error(error, i)
        for i, error in enumerate(errors.tolist()):
            out[i] = self.add(error)

    def forget(self) -> None:
        for name in list(self.views)[len(HEAD) :]:
            self.views[name][...] = 0

    def check(self) -> None:
        """Nothing: hostile bytes are the compiled core's."""
