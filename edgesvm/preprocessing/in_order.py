"""Numbered raw samples, pushed into windows so that no window spans a gap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from edgesvm.core.status import Status
from edgesvm.errors import SampleRefused

__all__ = ["InOrder"]

WRAP = 1 << 32
LATE = 64  # a number at most so far back came late; any other way back is a new count


class Continuity:
    """Where each sample stands behind the one before, by their sequence numbers.

    Attributes
    ----------
    gaps : int
        Places where samples are missing, or where the node counted anew. The first sample counts
        as one: what came before it is not known.
    late : int
        Samples that came behind a later one. A window has gone past them: leave them out.
    """

    def __init__(self) -> None:
        self.gaps = self.late = 0
        self._next: int | None = None
        self._broken = False

    def place(self, sequence: int) -> str:
        """Note the next sample: "next", "gap" (samples are missing before it) or "late"."""
        ahead = 1 if self._next is None else (sequence - self._next) % WRAP
        if ahead >= WRAP - LATE:
            self.late += 1
            return "late"
        self._next = (sequence + 1) % WRAP
        if ahead == 0 and not self._broken:
            return "next"
        self._broken = False
        self.gaps += 1
        return "gap"

    def broken(self) -> None:
        """A sample that the link gave could not be used: the next one follows a gap."""
        self._broken = True

    def forget(self) -> None:
        """The samples are numbered anew: the next one follows a gap, whatever its number."""
        self._next = None


class InOrder:
    """Passes the samples of a link or a recording on to windows, and tells these where some are
    missing.

    Parameters
    ----------
    push : callable
        Takes a raw sample and its label: ``chain.push`` or ``chain.window``.
    gap : callable
        ``chain.gap``.

    Attributes
    ----------
    pushed, late, refused : int
        Samples taken in; left out, since a later one came first; refused. Every sample is one of
        these.
    gaps : int
        Places where samples are missing, as in `Continuity`. A refused sample leaves one.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import Chain, WindowFeatures
    >>> from edgesvm.preprocessing.in_order import InOrder
    >>> chain = Chain(windows=WindowFeatures(window=4, hop=4)).allocate(n_channels=1)
    >>> samples = InOrder(chain.push, chain.gap)
    >>> numbers = [0, 1, 2, 4, 3, 5, 6, 7]
    >>> answers = [samples.push(n, np.ones(1, np.float32), 1) for n in numbers]
    >>> samples.late, samples.gaps, chain.windows_.n_dropped_, chain.windows_.n_rows_
    (1, 2, 1, 1)
    """

    def __init__(self, push: Callable[..., Any], gap: Callable[[], None]) -> None:
        self._push, self._gap = push, gap
        self._continuity = Continuity()
        self.pushed = self.refused = 0

    @property
    def late(self) -> int:
        return self._continuity.late

    @property
    def gaps(self) -> int:
        return self._continuity.gaps

    def push(self, sequence: int, x: np.ndarray, y: Any = None) -> Any:
        """What the windows give for the next sample; None if it came late. Raises SampleRefused; if
        the sample itself was refused, the windows that were open are dropped."""
        place = self._continuity.place(sequence)
        if place == "late":
            return None
        if place == "gap":
            self._gap()
        try:
            found = self._push(x, y)
        except SampleRefused as refused:
            if refused.status in (Status.NOT_FINITE, Status.UNKNOWN_LABEL):
                self._break()
            else:  # the window was refused, and the sample taken in
                self.pushed += 1
            raise
        self.pushed += 1
        return found

    def begin_again(self) -> None:
        """The samples are numbered anew: what comes next does not follow, whatever its number."""
        self._continuity.forget()

    def _break(self) -> None:
        self.refused += 1
        self._continuity.broken()
        self._gap()
