"""Figures over time in bytes fixed in advance: where they are full, two points become one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

SLOTS, SLOT_S, MOST_CHANNELS = 120, 0.5, 8  # of the last minute


def plain(value: float | None) -> float | None:
    """Six digits of a number; None for what JSON has no number for."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.6g}")


class Signal:
    """The lowest and highest value of each half second of the last minute, in fixed bytes."""

    def __init__(self, n_channels: int, clock: Callable[[], float]) -> None:
        self._ends = np.full((SLOTS, 2, min(n_channels, MOST_CHANNELS)), np.nan)
        self._slots = np.full(SLOTS, -SLOTS)  # half seconds by the clock
        self._clock, self.nbytes = clock, self._ends.nbytes + self._slots.nbytes

    def add(self, X: np.ndarray) -> None:
        """Samples have come."""
        slot = int(self._clock() / SLOT_S)
        at = slot % SLOTS
        if self._slots[at] != slot:
            self._slots[at], self._ends[at] = slot, np.nan
        low, high = self._ends[at]
        X = X[:, : low.size]
        np.fmin(low, np.fmin.reduce(X), out=low)
        np.fmax(high, np.fmax.reduce(X), out=high)

    def as_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """A band a channel, along its low values and back along the high ones, and its times."""
        order = np.argsort(self._slots)
        order = order[self._slots[order] > int(self._clock() / SLOT_S) - SLOTS]
        low, high = self._ends[order].swapaxes(0, 1)
        return {
            "channels": [{"name": name} for name in names],
            "traces": [[plain(v) for v in x] for x in np.concatenate([low, high[::-1]]).T.tolist()],
            "trace_times": (SLOT_S * self._slots[np.concatenate([order, order[::-1]])]).tolist(),
        }


class History:
    """Points of several figures, of which the oldest is never lost: only the resolution is.

    `every` is the seconds between two points; it doubles each time the room of `capacity` points,
    an even number, is full. Where two points become one, it has their mean, or of the names in
    `highest` the higher.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        highest: Sequence[str] = (),
        capacity: int = 256,
        every: float = 1.0,
    ) -> None:
        if capacity < 2 or capacity % 2:
            raise ValueError(f"capacity={capacity}: give an even number of points")
        self.names, self.every, self.n = tuple(names), every, 0
        self._points = np.full((1 + len(self.names), capacity), np.nan)  # row 0: the time
        self._highest = [1 + self.names.index(name) for name in highest]
        self._next = -np.inf

    @property
    def nbytes(self) -> int:
        return self._points.nbytes

    def is_due(self, now: float) -> bool:
        """Whether it is time for the next point."""
        return now >= self._next

    def add(self, now: float, figures: Mapping[str, float | None]) -> None:
        """Add a point; None where there is no figure yet."""
        if self.n == self._points.shape[1]:
            self._halve()
        self._points[0, self.n] = now
        self._points[1:, self.n] = [figures[name] for name in self.names]  # None becomes NaN
        self.n += 1
        self._next = now + self.every

    def _halve(self) -> None:
        """Two neighbours become one: at the time of the later, with their mean or the higher."""
        before, after = self._points[:, 0::2], self._points[:, 1::2]
        joined = np.where(np.isnan(before), after, before)
        both = ~np.isnan(before) & ~np.isnan(after)
        joined[both] = (before[both] + after[both]) / 2
        joined[self._highest] = np.fmax(before, after)[self._highest]
        joined[0] = after[0]
        self.n = joined.shape[1]
        self._points[:, : self.n] = joined
        self.every *= 2

    def as_dict(self) -> dict[str, Any]:
        """The points as lists by name, `time` among them; None for a missing figure."""
        lists = [[plain(v) for v in row] for row in self._points[:, : self.n].tolist()]
        return {"every": self.every, **dict(zip(("time", *self.names), lists, strict=True))}
