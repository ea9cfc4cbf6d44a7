"""Drives a node over its line: the simulated board's power supply and clock."""

from __future__ import annotations

import time
from collections.abc import Callable

from edgesvm.errors import LinkDown
from firmware_sim.line import FaultInjector, Line, MemoryLink
from firmware_sim.line.line import SLICE_S
from firmware_sim.node import Node

# Time lost while the simulator was stopped is made up for at most this long.
_LONGEST_CATCH_UP_S = 1.0
# A host that has not gone on with what was sent for so long will not.
STUCK_S = 120.0


class Pump:
    """Carries bytes between a node and its line each time `step` is called.

    The node is powered on when a host first opens the link, like a board that is reset by the
    opening. If anything is timed, simulated time advances in slices between two
    steps, so that a late wake-up of this process does not overrun the node.
    """

    def __init__(self, node: Node, line: Line, *, slice_s: float = SLICE_S) -> None:
        self.node = node
        self.line = line
        self._slice_s = slice_s
        line.awaits_host = node.hears
        if line.faults is not None:
            # One ledger for both, so that no frame has a fault of each.
            node.ledger = line.faults.ledger
        self._at: float | None = None

    @property
    def powered(self) -> bool:
        """Whether a host has opened the link yet."""
        return self._at is not None

    @property
    def done(self) -> bool:
        """All samples have been sent. Whether they were read is not known."""
        return self.node.finished and self.line.quiet

    def step(self, now: float) -> bool:
        """Advance node and line to `now`, in seconds. Returns whether the node sent anything."""
        self.line.step(now)
        if self.line.take_restart():
            self.node.reboot()
        if self._at is None:
            if not self.line.link.connected:
                return False
            self._at = now
        at = max(self._at, now - _LONGEST_CATCH_UP_S) if self._timed else now
        moved = False
        while True:
            at = min(at + self._slice_s, now)
            moved |= self._turn(at)
            if at >= now:
                break
        self._at = now
        return moved

    @property
    def _timed(self) -> bool:
        return self.line.paced or self.node.rate is not None

    def _turn(self, at: float) -> bool:
        """One turn of the node's main loop."""
        out = self.node.poll(at, self.line.read(), self.line.room(at))
        self.line.write(at, out)
        if self.node.finished:
            self.line.finish(at)
        return bool(out)

    def run(
        self,
        until: Callable[[float], bool],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> float:
        """Step until `until(now)` is true; returns that time.

        Sleeps a slice at a time and wakes early when bytes arrive. Without a rate or a baud it
        sleeps only if the link has no room.
        """
        while True:
            now = clock()
            moved = self.step(now)
            if until(now):
                return now
            if self._timed or not moved:
                self.line.link.wait(SLICE_S)


class Drain:
    """Seconds without traffic since the last sample was sent.

    Heartbeats do not count, only predictions and the host's reading of what was sent until then.
    """

    def __init__(self, pump: Pump) -> None:
        self._pump = pump
        self._end_of_samples: int | None = None
        self._read = 0
        self._seen = (-1, -1)
        self._since = 0.0

    @property
    def answered(self) -> bool:
        """Whether every sample has had its prediction."""
        node = self._pump.node
        return self._end_of_samples is not None and node.scorer.received >= node.samples_sent

    @property
    def all_read(self) -> bool:
        """Whether the host has read the last sample, as far as the link shows it."""
        return self._end_of_samples is not None and self._read >= self._end_of_samples

    def quiet_s(self, now: float) -> float:
        """Seconds without traffic up to `now`; 0 while samples are still being sent."""
        line = self._pump.line
        if self._end_of_samples is None:
            if not self._pump.done:
                return 0.0
            self._end_of_samples = line.sent_bytes
        # What is unread is a lower bound: with a heartbeat on its way it seems that more was read.
        read = min(line.sent_bytes - line.link.unread(), self._end_of_samples)
        self._read = max(self._read, read)
        seen = self._pump.node.scorer.received, self._read
        if seen != self._seen:
            self._seen, self._since = seen, now
        return now - self._since

    def is_quiet(self, now: float, seconds: float) -> bool:
        """Whether there was no traffic for so long. A host that has not read all, and may not have
        been scheduled, gets `STUCK_S`.
        """
        return self.quiet_s(now) > (seconds if self.all_read else STUCK_S)


class InMemory:
    """The port of a node that lives on a simulated clock, which goes on only while the host reads,
    in steps of `slice_s`.

    Give `open`, `clock` and `sleep` to `edgesvm.link.open_link`. `now` is in seconds; `ahead` is by
    how much the host's clock is ahead of the node's; `link` is one with a buffer of another size.
    """

    def __init__(
        self,
        node: Node,
        *,
        baud: float | None = None,
        faults: FaultInjector | None = None,
        slice_s: float = SLICE_S,
        link: MemoryLink | None = None,
    ) -> None:
        self._link = link or MemoryLink()
        self.pump = Pump(node, Line(self._link, baud=baud, faults=faults), slice_s=slice_s)
        self.now = self.ahead = 0.0
        self._slice_s = slice_s
        self._unread = b""

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        while self.now < until:
            self._step()

    def open(self) -> InMemory:
        if not self._link.plugged:
            raise LinkDown("the simulated port was unplugged")
        return self

    def read(self, timeout: float, limit: int = 65536) -> bytes:
        until = self.now + timeout
        self._receive()
        while not self._unread and self.now < until:
            self._step()
            self._receive()
        chunk, self._unread = self._unread[:limit], self._unread[limit:]
        return chunk

    def write(self, data: bytes) -> int:
        if not self._link.plugged:
            raise LinkDown("the simulated port was unplugged")
        return self._link.host.write(data)

    def close(self) -> None:
        """A port that is closed may be opened again."""

    def _receive(self) -> None:
        if self._link.plugged:
            self._unread += self._link.host.read()
        elif not self._unread:
            raise LinkDown("the simulated port was unplugged")

    def _step(self) -> None:
        self.now += self._slice_s
        self.pump.step(self.now - self.ahead)
