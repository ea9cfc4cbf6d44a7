"""A node, its line and a host in this process, on a simulated clock: hours take seconds."""

from __future__ import annotations

from edgesvm.errors import LinkDown
from firmware_sim.harness.pump import Pump
from firmware_sim.line import FaultInjector, Line
from firmware_sim.line.line import SLICE_S
from firmware_sim.line.links import MemoryLink
from firmware_sim.node import Node


class InMemory:
    """The port of a node that lives on a simulated clock, which goes on only while the host reads.

    Give `open`, `clock` and `sleep` to `edgesvm.link.open_link`.

    Parameters
    ----------
    node : Node
    baud : float or None
        As for `Line`.
    faults : FaultInjector or None
    slice_s : float
        The steps in which the clock goes on.

    Attributes
    ----------
    pump : Pump
    now : float
        Seconds.
    ahead : float
        By how much the host's clock is ahead of the node's.
    """

    def __init__(
        self,
        node: Node,
        *,
        baud: float | None = None,
        faults: FaultInjector | None = None,
        slice_s: float = SLICE_S,
    ) -> None:
        self._link = MemoryLink()
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
