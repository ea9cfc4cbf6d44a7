"""Whether samples come, or have stopped."""

from __future__ import annotations

LEAST_S = 5.0
PERIODS = 10
MEMORY = 100  # samples over which the period is averaged
# Of the time between two looks so much counts, in seconds: a host that was stopped cannot know.
AWAY_S = 1.0


class Freshness:
    """Data are stale once no sample has come for so long.

    Parameters
    ----------
    after : float, optional
        Seconds. By default ten periods, at least 5 s: of that which the node announces, or that in
        which samples have come lately, the longer.
    first : float
        Seconds instead while no period is known.
    now : float
        By a monotonic clock, seconds.

    Attributes
    ----------
    quiet : float
        Seconds since the last sample, in which somebody looked.
    is_stale : bool
    times : int
        How often data became stale.
    """

    def __init__(self, after: float | None = None, *, first: float = LEAST_S, now: float) -> None:
        self.quiet, self.is_stale, self.times = 0.0, False, 0
        self.announced = 0.0  # the period that the node says, seconds; 0: none
        self._given, self._first, self._looked_at = after, max(first, LEAST_S), now
        self._samples: int | None = None
        self._intervals, self._period = 0, 0.0

    @property
    def known_after(self) -> float | None:
        """Seconds after which data are stale, as was said; None if nobody has."""
        if self._given is None and self.announced:
            return max(PERIODS * self.announced, LEAST_S)
        return self._given

    @property
    def after(self) -> float:
        """Seconds after which data are stale, now."""
        if self._given is not None:
            return self._given
        period = max(self.announced, self._period)
        return max(PERIODS * period, LEAST_S) if period else self._first

    def look(self, samples: int, now: float) -> None:
        """So many samples have come since the beginning."""
        self.quiet += min(max(now - self._looked_at, 0.0), AWAY_S)
        self._looked_at = now
        if (came := samples - (samples if self._samples is None else self._samples)) > 0:
            self._measure(came)
            self.quiet, self.is_stale = 0.0, False
        self._samples = samples
        if self.quiet >= self.after and not self.is_stale:
            self.is_stale = True
            self.times += 1

    def _measure(self, came: int) -> None:
        """The mean interval, of all samples at first, then mostly of the last ones. What made data
        stale is no interval, but if it comes again and again."""
        self._intervals += came
        share = max(came / self._intervals, min(came / MEMORY, 1.0))
        self._period += share * (min(self.quiet, self.after) / came - self._period)
