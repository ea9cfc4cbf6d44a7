"""The line between node and link: its speed, its faults, and the bytes that wait for room.

node.poll() --frames--> faults --bytes--> [waiting] --baud--> link
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from firmware_sim.line.faults import Piece, Unplug
from firmware_sim.line.injector import FaultInjector
from firmware_sim.line.links import SimulatedLink

# How far a paced line may be ahead of the clock: processes are not woken reliably for less.
SLICE_S = 1e-3
# Bytes that an unpaced node may be ahead of the link: enough to keep a pseudo-terminal busy. Less
# if the link may be unplugged: the waiting bytes then arrive at once, while the host is still in
# the handshake and can only put them into its ring.
_UNPACED_AHEAD = 16384
_UNPACED_AHEAD_OF_UNPLUGGING = 3072
# How long the link must be empty before an unplugging: the host still handles what it just read.
_CALM_S = 5e-3
# A host that opens a port discards what it finds there (pyserial does). The line stays silent until
# the host has sent something or, if the node does not read, has flushed; at most this long.
_HUSH_S = 2.0


class Pacer:
    """A UART's speed, kept against absolute deadlines so that late wake-ups do not add up.

    Parameters
    ----------
    baud : float
        Bits per second, positive.
    bits_per_byte : int
        8 data bits, a start and a stop bit.
    """

    def __init__(self, baud: float, bits_per_byte: int = 10) -> None:
        if not (baud > 0 and math.isfinite(baud)):
            raise ValueError(f"baud must be positive and finite, got {baud}")
        self._byte_s = bits_per_byte / baud
        self._free_at = -math.inf  # when the last byte has been sent
        self._idle = True

    def room(self, now: float) -> int:
        """Bytes the line can start to carry up to one slice after `now`."""
        if self._idle and self._free_at < now:
            # Idle time is lost; the delay of a late writer is made up for.
            self._free_at = now
        return max(0, math.floor((now + SLICE_S - self._free_at) / self._byte_s + 1e-6))

    def carried(self, n: int, *, idle: bool) -> None:
        """Enter `n` bytes sent; `idle` if there were no more."""
        self._free_at += n * self._byte_s
        self._idle = idle


class Line:
    """A link with a speed and faults.

    A paced line is a UART without flow control: bytes that the link has no room for are lost
    (counted in `lost_bytes`). An unpaced one waits for room, as USB does. Without a host neither
    accepts bytes, and the node's transmit buffer overruns.

    Parameters
    ----------
    link : SimulatedLink
    baud : float or None
        Speed in bits per second; None: as fast as the link accepts.
    faults : FaultInjector or None
    flow_control : bool
        RTS and CTS are wired: a paced line also waits for a slow host.

    Attributes
    ----------
    awaits_host : bool
        The node reads: its bytes are sent once the host has sent something.
    """

    def __init__(
        self,
        link: SimulatedLink,
        *,
        baud: float | None = None,
        faults: FaultInjector | None = None,
        flow_control: bool = False,
    ) -> None:
        self.link = link
        self.faults = faults
        self.flow_control = flow_control
        self.lost_bytes = 0
        self.sent_bytes = 0
        self._pacer = Pacer(baud) if baud else None
        unplugs = faults is not None and faults.may_unplug
        self._ahead = _UNPACED_AHEAD_OF_UNPLUGGING if unplugs else _UNPACED_AHEAD
        self._waiting = bytearray()
        self._unplug: Unplug | None = None  # due when the bytes before it are sent
        self._after_plug: list[Piece] = []  # pieces to send once it is plugged in again
        self._restarted = False
        self._alone = False  # plugged in again, and the host is not back yet
        self._settle_until = math.inf
        self._calm_since: float | None = None
        self._plug_at: float | None = None
        self._connected = False
        self.awaits_host = True
        self._hush_until = -math.inf
        self._flushes = link.flushes  # before the host opened the link

    @property
    def paced(self) -> bool:
        return self._pacer is not None

    @property
    def quiet(self) -> bool:
        """Whether nothing waits for the link and no unplugging is in progress."""
        return not self._waiting and self._unplug is None

    def room(self, now: float) -> int:
        """Bytes the node may send now; 0 without a host, as of the last `step`."""
        if self._unplug is not None or not self._connected or self._hushed(now):
            return 0
        ahead = self._pacer.room(now) if self._pacer else self._ahead
        return max(0, ahead - len(self._waiting))

    def write(self, now: float, data: bytes) -> None:
        """Accept bytes from the node; those after an unplugging stay in its transmit buffer."""
        self._queue(now, self.faults.feed(data) if self.faults else (data,))
        self.step(now)

    def finish(self, now: float) -> None:
        """The node has sent its last sample: send what the faults have held back."""
        if self.faults is not None and (late := self.faults.finish()):
            self._queue(now, late)

    def take_restart(self) -> bool:
        """Whether the board has restarted since the last call."""
        restarted, self._restarted = self._restarted, False
        return restarted

    def _queue(self, now: float, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            if self._unplug is not None or self._plug_at is not None:
                self._after_plug.append(piece)
            elif isinstance(piece, Unplug):
                self._unplug = piece
                self._settle_until, self._calm_since = now + piece.settle_s, None
            else:
                self._waiting += piece

    def read(self) -> bytes:
        """Bytes from the host."""
        data = self.link.receive()
        if data:
            self._hush_until = -math.inf
        return data

    def step(self, now: float) -> None:
        """Send waiting bytes, and unplug or plug in when it is time."""
        if self._plug_at is not None:
            if now < self._plug_at:
                return
            self._plug(now)
        before, self._connected = self._connected, self.link.connected
        if self._connected and not before:
            self._hush_until = now + _HUSH_S
            self._alone = False
        elif not self._connected:
            self._flushes = self.link.flushes
        if self._waiting and not self._alone and not self._hushed(now):
            self._carry(now)
        if self._unplug is not None and self._plug_at is None and self._settled(now):
            self.lost_bytes += len(self._waiting) + self.link.unread()
            self._waiting.clear()
            self.link.unplug()
            self._connected = False
            self._flushes = self.link.flushes
            self._plug_at = now + self._unplug.seconds

    def _hushed(self, now: float) -> bool:
        """Whether the host may still discard what it is sent."""
        flushed = self.link.flushes > self._flushes
        return now < self._hush_until and (self.awaits_host or not flushed)

    def _plug(self, now: float) -> None:
        assert self._unplug is not None and self.faults is not None
        unplug, after_plug = self._unplug, self._after_plug
        self.link.plug()
        self._alone = True
        self._plug_at, self._unplug, self._after_plug = None, None, []
        if unplug.reboot:
            self._restarted = True
            self.faults.revive()
            return
        # A sender starts a new link with a delimiter; stale bytes come before it.
        self._waiting += unplug.stale + self.faults.end
        self._queue(now, after_plug)

    def _carry(self, now: float) -> None:
        if self._pacer is None:
            taken = self.link.send(self._waiting)
            self.sent_bytes += taken
            del self._waiting[:taken]
            return
        due = min(self._pacer.room(now), len(self._waiting))
        if due:
            taken = self.link.send(memoryview(self._waiting)[:due])
            self.sent_bytes += taken
            if self.flow_control:
                due = taken
            self.lost_bytes += due - taken
            del self._waiting[:due]
        self._pacer.carried(due, idle=not self._waiting)

    def _settled(self, now: float) -> bool:
        """Whether the host has read all before the unplugging, or has had enough time to."""
        if self._waiting or self.link.unread():
            self._calm_since = None
        elif self._calm_since is None:
            self._calm_since = now
        calm = self._calm_since is not None and now - self._calm_since >= _CALM_S
        return calm or now >= self._settle_until
