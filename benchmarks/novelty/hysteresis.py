"""From strange samples to alarms: one strange sample is no alarm, and one normal one no end."""

from __future__ import annotations

__all__ = ["Hysteresis"]

MOST = 64


class Hysteresis:
    """An alarm that begins when k of the last n samples are strange, and ends when none of them is.

    Parameters
    ----------
    k, n : int
        1 <= k <= n <= 64. 1 of 1 is an alarm for each strange sample.

    Attributes
    ----------
    on : bool
        Whether the alarm is on.

    Examples
    --------
    >>> alarm = Hysteresis(2, 3)
    >>> [alarm.add(strange) for strange in (True, False, True, True, False, False, False)]
    [False, False, True, True, True, True, False]
    """

    def __init__(self, k: int, n: int) -> None:
        if not 1 <= k <= n <= MOST:
            raise ValueError(f"k={k} of n={n}: give 1 <= k <= n <= {MOST}")
        self.k, self.n = k, n
        self.on = False
        self._last = 0  # a bit for each sample

    def add(self, strange: bool) -> bool:
        """Count one more sample. Returns whether the alarm is on."""
        self._last = (self._last << 1 | strange) & ((1 << self.n) - 1)
        if self.strange >= self.k:
            self.on = True
        elif not self._last:
            self.on = False
        return self.on

    @property
    def strange(self) -> int:
        """How many of the last n samples are strange."""
        return self._last.bit_count()
