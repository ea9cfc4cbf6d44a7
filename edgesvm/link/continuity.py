"""Whether samples follow one another without a gap, as windows of raw samples need."""

from __future__ import annotations

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
