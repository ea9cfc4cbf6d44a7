"""A host and a node on a simulated clock, with faults at any moment: how long until it is learned
from again?

A trace is a list of faults. When the last one is over the node is healthy, and from then on it is
timed until the host has a sample that was made after that. Nothing here waits, and a trace gives
the same result each time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edgesvm.data import Rows, Stream
from edgesvm.errors import LinkDown
from edgesvm.link import FrameDecoder, wire
from edgesvm.link.binary import BinaryLink
from edgesvm.link.link import BACK_OFF_LAST, SILENT_AFTER
from firmware_sim.node import FrameNode
from firmware_sim.node.frame_node import INT16_SCALE

RATE_HZ = 20.0
_STEP_S = 0.05
_POLL_S = 0.1
HANDSHAKE_S = 10.0
# A silent port is opened again after 2 T; one that dies in a handshake, after its timeout and the
# longest wait between two attempts. The last second is for a HELLO, its answer and a sample.
RECOVERY_S = max(2 * SILENT_AFTER, HANDSHAKE_S + BACK_OFF_LAST) + 1.0
# A node that has not been learned from by then never will be.
GIVE_UP_S = 10 * RECOVERY_S

# Each lasts for some seconds: "reset" boots for so long, "outage" loses all frames both ways,
# "hold" delivers the next control frame so much later, behind those that follow it, "copy" delivers
# it a second time, "unplug" fails the port, "half-open" leaves a port on which nothing comes and to
# which all can be written, "restart" is the host's.
KINDS = ("reset", "outage", "hold", "copy", "noise", "unplug", "half-open", "restart")
_SAMPLES = (wire.SAMPLE_F32, wire.SAMPLE_I16)


@dataclass(frozen=True)
class Fault:
    """One of `KINDS`, from a time on."""

    at: float
    kind: str
    seconds: float = 0.0


@dataclass(frozen=True)
class Recovery:
    """How a trace ended.

    ``seconds``: from the end of the last fault to the first sample made after it, None if there was
    none; ``learned_twice``: samples the host was given more than once.
    """

    faults: tuple[Fault, ...]
    seconds: float | None
    learned_twice: int

    @property
    def in_time(self) -> bool:
        return self.seconds is not None and self.seconds <= RECOVERY_S


class Numbered(Stream):
    """Rows whose first feature is their index, in steps that int16 samples keep."""

    n_features, n_classes, period_us = 2, 2, 0

    def __init__(self) -> None:
        self.at = 0

    def read(self, n: int) -> Rows:
        index = np.arange(self.at, self.at + n)
        self.at += n
        X = np.stack([index * INT16_SCALE, index % 7], axis=1).astype(np.float32)
        return Rows(X, (index % 2).astype(np.int32))


class MuteNode(FrameNode):
    """A node that says nothing at all before it has heard HELLO, as small boards do."""

    def _queue_due(self, now: float) -> None:
        if self.streaming:
            super()._queue_due(now)


class HostRestarts(Exception):
    """The host process ends here, and another begins."""


class _Port:
    """The host's end of the line, until it dies."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.inbox = bytearray()
        self.is_dead = self.is_half_open = False

    def read(self, timeout: float, limit: int = 65536) -> bytes:
        until = self._world.now + timeout
        while not self.inbox and not self.is_dead and self._world.now < until:
            self._world.step()
        if self.is_dead:
            raise LinkDown("the simulated port was unplugged")
        chunk = bytes(self.inbox[:limit])
        del self.inbox[:limit]
        return chunk

    def write(self, data: bytes) -> int:
        if self.is_dead:
            raise LinkDown("the simulated port was unplugged")
        if not self.is_half_open:
            self._world.to_node(data)
        return len(data)

    def close(self) -> None:
        self.is_dead = True


class World:
    """The clock, the node, the line between it and the host, and the faults to come."""

    def __init__(self, node: FrameNode, faults: Iterable[Fault], *, seed: int = 0) -> None:
        self.now = 0.0
        self.node = node
        self.rng = np.random.default_rng(seed)
        self._faults = sorted(faults, key=lambda fault: fault.at)
        self.healthy_at = max((fault.at + fault.seconds for fault in self._faults), default=1.0)
        self._next = 0
        self._port: _Port | None = None
        self._port_back_at = self._line_back_at = 0.0
        self._to_node = bytearray()
        self._pending: list[Fault] = []  # "hold" and "copy", for the next control frame
        self._held: list[tuple[float, bytes]] = []
        self._decoder = FrameDecoder()

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        while self.now < until:
            self.step()

    def open(self) -> _Port:
        if self.now < self._port_back_at:
            raise LinkDown("there is no simulated port")
        self._port = _Port(self)
        return self._port

    def to_node(self, data: bytes) -> None:
        if self.now >= self._line_back_at:
            self._to_node += data

    def step(self) -> None:
        """A twentieth of a second."""
        self.now += _STEP_S
        heard = bytes(self._to_node)
        self._to_node.clear()
        said = self.node.poll(self.now, heard, 4096)
        if self.now >= self._line_back_at:
            for run in said.split(b"\0"):
                if run:
                    self._carry(run + b"\0")
        self._release()
        while self._next < len(self._faults) and self._faults[self._next].at <= self.now:
            self._next += 1
            self._strike(self._faults[self._next - 1])

    def _carry(self, frame: bytes) -> None:
        if self._pending and self._is_control(frame):
            fault = self._pending.pop(0)
            self._held.append((self.now + fault.seconds, frame))
            if fault.kind == "hold":
                return
        self._deliver(frame)

    def _is_control(self, frame: bytes) -> bool:
        return all(f.kind not in _SAMPLES for f in self._decoder.feed(frame))

    def _deliver(self, data: bytes) -> None:
        if self._port is not None and not (self._port.is_dead or self._port.is_half_open):
            self._port.inbox += data

    def _release(self) -> None:
        if self.now >= self.healthy_at:
            self._pending.clear()
        for due, frame in [*self._held]:
            if self.now >= min(due, self.healthy_at):
                self._held.remove((due, frame))
                self._deliver(b"\0" + frame)

    def _strike(self, fault: Fault) -> None:
        until = fault.at + fault.seconds
        if fault.kind == "reset":
            self.node.boot_s = fault.seconds
            self.node.reboot()
        elif fault.kind == "outage":
            self._line_back_at = max(self._line_back_at, until)
        elif fault.kind in ("hold", "copy"):
            self._pending.append(fault)
        elif fault.kind == "noise":
            self._deliver(self.rng.bytes(200))
        elif fault.kind == "unplug":
            self._port_back_at = max(self._port_back_at, until)
            if self._port is not None:
                self._port.is_dead = True
        elif fault.kind == "half-open":
            if self._port is not None:
                self._port.is_half_open = True
        elif fault.kind == "restart":
            raise HostRestarts
        else:
            raise ValueError(f"fault={fault.kind!r} must be one of {KINDS}")


def recover(faults: Iterable[Fault], *, mute: bool = True, dtype: str = "float32") -> Recovery:
    """Run one trace.

    Parameters
    ----------
    faults : iterable of Fault
    mute : bool
        The node says nothing while it waits for HELLO, not even a heartbeat.
    dtype : {"float32", "int16"}
        Of the samples; int16 needs a scale table.
    """
    faults = tuple(faults)
    kind = MuteNode if mute else FrameNode
    world = World(kind(Numbered(), rate=RATE_HZ, dtype=dtype), faults)
    host = _Host(world)
    while host.recovered_after is None and world.now < world.healthy_at + GIVE_UP_S:
        try:
            host.serve()
        except HostRestarts:
            continue
    return Recovery(faults, host.recovered_after, host.learned_twice)


class _Host:
    """What `edgesvm run` does with a link, until it has recovered."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._learned: set[int] = set()
        self._n_nonces = 0
        self.learned_twice = 0
        self.recovered_after: float | None = None

    def _nonce(self) -> int:
        self._n_nonces += 1
        return self._n_nonces

    def serve(self) -> None:
        """From the start of the process to its end."""
        world = self._world
        link = BinaryLink(
            world.open,
            n_features=Numbered.n_features,
            handshake_timeout=HANDSHAKE_S,
            nonce=self._nonce,
            clock=world.clock,
            sleep=world.sleep,
        )
        link.reconnect()
        while self.recovered_after is None and world.now < world.healthy_at + GIVE_UP_S:
            try:
                link.poll(_POLL_S)
            except LinkDown:
                link.reconnect(give_up=GIVE_UP_S)
            self._learn(link)

    def _learn(self, link: BinaryLink) -> None:
        world = self._world
        batch = link.take()
        rows = np.rint(batch.X[:, 0] / INT16_SCALE).astype(np.int64)
        for row in rows.tolist():
            self.learned_twice += row in self._learned
            self._learned.add(row)
        fresh = np.count_nonzero(self._made_at(rows) >= world.healthy_at)
        if world.now >= world.healthy_at and fresh:
            self.recovered_after = world.now - world.healthy_at
        link.release(len(batch.y))

    def _made_at(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """When the node, in its present boot, made these rows; long ago for those before it."""
        node = self._world.node
        started = node._started_at
        if started is None:
            return np.full(len(rows), -np.inf)
        in_boot = rows - node.boot_rows[-1]
        return np.where(in_boot >= 0, started + in_boot / RATE_HZ, -np.inf)


def all_faults(
    depth: int, gaps: tuple[float, ...] = (0.0, 0.6, 6.0)
) -> Iterator[tuple[Fault, ...]]:
    """Every trace of so many faults, so far apart, each kind with each length that matters."""
    lengths = {"hold": (0.3, 3.0), "copy": (3.0,), "outage": (0.6, 7.0), "reset": (0.0, 2.0)}
    choices = [(kind, seconds) for kind in KINDS for seconds in lengths.get(kind, (0.0,))]
    for chosen in itertools.product(choices, repeat=depth):
        for spaces in itertools.product(gaps, repeat=depth - 1):
            at = np.cumsum([3.0, *spaces])
            yield tuple(Fault(float(t), *choice) for t, choice in zip(at, chosen, strict=True))
