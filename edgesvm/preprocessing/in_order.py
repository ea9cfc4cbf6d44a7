"""Numbered raw samples, pushed into windows so that no window spans a gap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from edgesvm.core.status import Status
from edgesvm.errors import SampleRefused

WRAP = 1 << 32
LATE = 64  # a number at most so far back came late; any other way back is a new count


class InOrder:
    """Passes numbered samples on to windows (`push` takes a sample and its label), and tells these
    by `gap` where some are missing.

    Every sample is `pushed`, `late` (left out: a later one came first) or `refused`. `gaps` counts
    the places where samples are missing or were refused, or the node counted anew, and the first
    sample: what came before it is not known.
    """

    def __init__(self, push: Callable[..., Any], gap: Callable[[], None]) -> None:
        self._push, self._gap = push, gap
        self.pushed = self.late = self.refused = self.gaps = 0
        self._next: int | None = None  # the number that follows; None: any is a gap
        self._broken = False  # the sample before could not be used

    def push(self, sequence: int, x: np.ndarray, y: Any = None) -> Any:
        """What the windows give for the next sample; None if it came late. Raises SampleRefused; if
        the sample itself was refused, the windows that were open are dropped."""
        ahead = 1 if self._next is None else (sequence - self._next) % WRAP
        if ahead >= WRAP - LATE:
            self.late += 1
            return None
        self._next = (sequence + 1) % WRAP
        if ahead or self._broken:
            self._broken = False
            self.gaps += 1
            self._gap()
        try:
            found = self._push(x, y)
        except SampleRefused as refused:
            if refused.status in (Status.NOT_FINITE, Status.UNKNOWN_LABEL):
                self.refused += 1
                self._broken = True
                self._gap()
            else:  # the window was refused, and the sample taken in
                self.pushed += 1
            raise
        self.pushed += 1
        return found

    def begin_again(self) -> None:
        """The samples are numbered anew: what comes next does not follow, whatever its number."""
        self._next = None
