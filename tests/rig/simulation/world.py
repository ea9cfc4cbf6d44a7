"""The world outside a host: clock, node, line and disk, all in memory, and what befalls them."""

from __future__ import annotations

import errno
import hashlib
import heapq
import math
import random
from collections.abc import Callable

from edgesvm.errors import LinkDown
from firmware_sim.harness import InMemory
from firmware_sim.line import FaultInjector
from firmware_sim.node import Node, TextNode
from rig.mishaps import FaultyNode, Mishaps
from rig.power.disk import Fault, PowerCut, SimulatedDisk
from rig.simulation.plan import DISK_FAULTS, Clouds, End, Event, Plan

NO_TIME = ("leap", "noise", "removed")  # events that are over at once
GIVE_UP_S = 600.0  # after the time that a run should have taken


class Disk(SimulatedDisk):
    """A disk whose operations are calls to the world."""

    def __init__(self, world: World, seed: int, max_write: int | None) -> None:
        super().__init__(seed, max_write=max_write)
        self._world = world

    def _operate(self, operation: str) -> None:
        self._world.is_called("disk")
        super()._operate(operation)

    def remove(self, path: str) -> None:
        """Somebody else removes a file."""
        if path in self._names:
            self._change_names({path: None})


class MuteNode(FaultyNode):
    """A node that says nothing at all before it has heard HELLO, as small boards do."""

    def _queue_due(self, now: float) -> None:
        if self.streaming:
            super()._queue_due(now)


class World(InMemory):
    """Node, line and disk of a plan, on a clock that goes on only while the host waits.

    Attributes
    ----------
    hears : callable
        Told ``("opened", b"")``, ``("read", chunk)`` and ``("wrote", data)`` of the host's port,
        and ``("removed", b"")`` of its checkpoint.
    interrupt : callable
        A signal to the host.
    is_over : bool
        Whether nothing more is to come in this life; it was told to stop.
    disturbed_until : float
        When the last event was over, or the last process began.
    """

    def __init__(self, plan: Plan) -> None:
        source = Clouds(plan.seed, plan.n_features, plan.n_classes)
        node: Node
        if plan.is_text:
            node = TextNode(source, **plan.node)
        else:
            mishaps = Mishaps(plan.mishaps, seed=plan.seed)
            kind = MuteNode if plan.is_mute else FaultyNode
            node = kind(source, mishaps=mishaps, **plan.node)
        end = ord("\n") if plan.is_text else 0
        faults = FaultInjector(plan.faults, seed=plan.seed, delimiter=end) if plan.faults else None
        super().__init__(node, baud=plan.baud, faults=faults, slice_s=plan.slice_s)
        self.plan, self.node, self._delimiter = plan, node, end
        self.disk = Disk(self, plan.seed, plan.max_write)
        self.hears: Callable[[str, bytes], None] = lambda what, data: None
        self.interrupt: Callable[[], None] = lambda: None
        self.nonces = random.Random(plan.seed + 1)
        self.n_events = 0
        self._trace = hashlib.blake2b(digest_size=8)
        self.lines: list[str] | None = None  # kept if somebody wants to read them
        self._due: list[tuple[float, int, bool, str, Callable[[], None]]] = []
        self._n_due = 0
        self._end: End | None = None
        self._n_calls = self._n_operations = 0
        self._doomed: End | None = None  # the life that is over
        self.is_over = False
        self._deaf_until = self.disturbed_until = 0.0
        self._held_for = self._copied_after = 0.0  # the next bytes of the node
        self._quiet_from = math.inf
        self._dark_until = self._half_open_until = self._port_back_at = 0.0
        for event in plan.events:
            self.at(event.at, f"{event.kind} {event.amount:.3f}", self._befalls(event))

    # -- time

    def at(
        self, when: float, what: str, act: Callable[[], None], *, of_process: bool = False
    ) -> None:
        """Let something happen at a time; unless the host's process has ended by then, if it is
        of that."""
        heapq.heappush(self._due, (when, self._n_due, of_process, what, act))
        self._n_due += 1

    def note(self, what: str) -> None:
        """An event: it goes into the trace."""
        self.n_events += 1
        line = f"{self.now:.3f} {what}"
        self._trace.update(line.encode())
        if self.lines is not None:
            self.lines.append(line)

    @property
    def trace(self) -> str:
        """A hash of all events so far."""
        return self._trace.hexdigest()

    def sleep(self, seconds: float) -> None:
        self.is_called("call")
        super().sleep(seconds)

    def clock(self) -> float:
        if self._doomed is not None:
            raise PowerCut
        return self.now

    def _step(self) -> None:
        self._advance()
        if self._end is not None and self._end.of == "time" and self.now >= self._end.when:
            self._ends()
        elif not self.is_over and self._has_come_to_its_end():
            self.is_over = True
            self.note("over")
            self.interrupt()

    def _advance(self) -> None:
        """A slice of time, with what befalls the machine in it."""
        super()._step()
        if self.now < self._dark_until:
            self._lose()
        if self._link.to_host and (self._held_for or self._copied_after):
            self._bring_later()
        while self._due and self._due[0][0] <= self.now:
            *_, what, act = heapq.heappop(self._due)
            self.note(what)
            act()

    @property
    def is_late(self) -> bool:
        """Whether the run should have come to its end long ago."""
        return self.now > self.plan.duration_s + self.ahead + GIVE_UP_S

    def _has_come_to_its_end(self) -> bool:
        """Whether the node has sent all, and it was read; or it takes too long."""
        sent = self.pump.done and not self._unread and not self._link.unread()
        self._quiet_from = min(self._quiet_from, self.now) if sent else math.inf
        return self.is_late or self.now > self._quiet_from

    # -- the host's life

    def begin(self, end: End | None) -> None:
        """A process of the host begins, which will end so."""
        self._end, self._n_calls, self._n_operations, self.is_over = end, 0, 0, False
        self._disturb(self.node.boot_s)
        if end is not None and end.of == "time":
            self._end = End(end.kind, "time", self.now + end.when, end.with_node)

    def is_called(self, of: str) -> None:
        """The host calls the outside."""
        if self._doomed is not None:
            raise PowerCut
        self._n_calls += 1
        self._n_operations += of == "disk"
        end = self._end
        n = self._n_calls if end is not None and end.of == "call" else self._n_operations
        if end is None or end.of not in (of, "call") or n < end.when:
            return
        if of == "disk" and end.kind != "signal":
            # During the operation: it has begun, and may be torn.
            self.disk.cut_at = self.disk.operations
            self._doomed, self._end = end, None
        else:
            self._ends()

    def _ends(self) -> None:
        end, self._end = self._end, None
        assert end is not None
        self.note(f"life ends by {end.kind}")
        if end.kind == "signal":
            self.interrupt()
            return
        self._doomed = end
        raise PowerCut

    def bury(self) -> None:
        """The process is gone; what it had open is closed, and what it left unread is lost."""
        self._due = [due for due in self._due if not due[2]]
        heapq.heapify(self._due)
        doomed, self._doomed = self._doomed, None
        if doomed is not None and doomed.kind == "power":
            self.disk.cut_power()
            if doomed.with_node:
                self.node.reboot()
        else:
            self.disk.kill()
            self.disk.cut_at = None
        self._unread = b""
        self._lose()

    def idle(self, seconds: float) -> None:
        """Nobody reads for so long: between two processes."""
        until = self.now + seconds
        while self.now < until:
            self._advance()
            self._lose()

    # -- the host's port

    def open(self) -> World:
        self.is_called("call")
        if self.now < self._port_back_at:
            raise LinkDown("the simulated port was unplugged")
        super().open()
        self._half_open_until = 0.0
        self.hears("opened", b"")
        return self

    def read(self, timeout: float, limit: int = 65536) -> bytes:
        self.is_called("call")
        chunk = super().read(timeout, limit)
        if chunk:
            self.hears("read", chunk)
        return chunk

    def write(self, data: bytes) -> int:
        self.is_called("call")
        if self.now < self._deaf_until:
            n = 0
        elif self.now < max(self._dark_until, self._half_open_until):
            n = len(data)
        else:
            n = super().write(data)
        self.hears("wrote", data[:n])
        return n

    def _receive(self) -> None:
        if self.now < self._half_open_until:
            self._lose()
        super()._receive()

    def _lose(self) -> None:
        """What is on the way is lost."""
        self._link.to_host.clear()
        self._link.to_device.clear()

    def _bring_later(self) -> None:
        """What the node has just sent comes late, behind what it sends after that; or again."""
        late = bytes([self._delimiter]) + bytes(self._link.to_host)
        delay = self._held_for or self._copied_after

        def bring() -> None:
            if self._link.plugged:
                self._link.to_host += late

        if self._held_for:
            self._link.to_host.clear()
        self._held_for = self._copied_after = 0.0
        self.at(self.now + delay, "brought", bring)

    # -- what befalls it

    def _befalls(self, event: Event) -> Callable[[], None]:
        act = getattr(self, f"_befall_{event.kind.replace('-', '_')}")

        def strike() -> None:
            act(event.amount, random.Random(event.choice))
            has_no_end = event.kind == "half-open" and not self.plan.is_text
            self._disturb(0.0 if has_no_end or event.kind in NO_TIME else event.amount)

        return strike

    def _disturb(self, seconds: float) -> None:
        self.disturbed_until = max(self.disturbed_until, self.now + seconds)

    def _befall_stall(self, seconds: float, rng: random.Random) -> None:
        until = self.now + seconds
        while self.now < until:
            super()._step()

    def _befall_leap(self, seconds: float, rng: random.Random) -> None:
        self.now += seconds
        self.ahead += seconds

    def _befall_reset(self, seconds: float, rng: random.Random) -> None:
        self.node.boot_s = seconds
        self.node.reboot()

    def _befall_outage(self, seconds: float, rng: random.Random) -> None:
        self._dark_until = max(self._dark_until, self.now + seconds)

    def _befall_half_open(self, seconds: float, rng: random.Random) -> None:
        # A host that hears nothing must open its port again; one that reads lines cannot know.
        self._half_open_until = self.now + seconds if self.plan.is_text else math.inf

    def _befall_unplug(self, seconds: float, rng: random.Random) -> None:
        if self._link.plugged:
            self._link.unplug()
            self._port_back_at = self.now + seconds
            self.at(self.now + seconds, "plugged in", self._link.plug)

    def _befall_noise(self, n: float, rng: random.Random) -> None:
        if self._link.plugged:
            self._link.to_host += rng.randbytes(int(n))

    def _befall_deaf(self, seconds: float, rng: random.Random) -> None:
        self._deaf_until = self.now + seconds

    def _befall_hold(self, seconds: float, rng: random.Random) -> None:
        self._held_for = seconds

    def _befall_copy(self, seconds: float, rng: random.Random) -> None:
        self._copied_after = seconds

    def _befall_removed(self, _: float, rng: random.Random) -> None:
        self.disk.remove("model")
        self.hears("removed", b"")

    def _befall_disk(self, seconds: float, rng: random.Random) -> None:
        kind, lasts = rng.choice(DISK_FAULTS), rng.random() < 0.5
        error = rng.choice((errno.EIO, errno.ENOSPC))
        fault = Fault(kind, error, nth=rng.randint(1, 4), for_ever=lasts)
        self.disk.faults.append(fault)

        def heal() -> None:
            if fault in self.disk.faults:
                self.disk.faults.remove(fault)

        self.at(self.now + seconds, "disk healed", heal)
