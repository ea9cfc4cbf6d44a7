"""How long something has not come, in time that was spent listening."""

from __future__ import annotations

# Of the time between two reads, beyond the wait of the second, so much counts, in seconds. Who does
# not read cannot know what has arrived, so a stopped or busy host must not blame the node.
AWAY = 1.0


class Quiet:
    """A stopwatch that counts the time in which a link was read and nothing came.

    Attributes
    ----------
    seconds : float
        Since the last `restart`.
    """

    def __init__(self, now: float) -> None:
        self.seconds = 0.0
        self._until = now

    def restart(self) -> None:
        """What was waited for has come."""
        self.seconds = 0.0

    def listened(self, now: float, waited: float) -> None:
        """A read that was to wait `waited` seconds at most has returned."""
        self.seconds += min(now - self._until, waited + AWAY)
        self._until = now
