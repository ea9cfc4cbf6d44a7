"""One run: a node on a line here, an edge process under a device's limits at the other end."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import IO, Any

from firmware_sim.line import Line
from firmware_sim.node import FrameNode, Node
from firmware_sim.profiles import (
    Profile,
    cap_process,
    one_thread_environment,
    read_vm,
    reset_peak,
)
from firmware_sim.pump import Drain, Pump

# After so many samples an edge process has taken all it will ever take: growth is counted from
# there.
_WARM_SAMPLES = 10_000
_LOOK_EVERY_S = 0.2
_GRACE_S = 10.0


@dataclass
class Memory:
    """The edge process's memory in bytes; None where /proc is not, or the moment did not come.

    ``at_start`` is its resident size when it first spoke to the node (or opened the link), ``warm``
    its peak since then after 10,000 samples, ``peak`` that at the end, ``limit`` the cap set by the
    kernel.
    """

    at_start: int | None = None
    warm: int | None = None
    peak: int | None = None
    limit: int | None = None
    allowance: int | None = None

    @property
    def growth(self) -> int | None:
        """Peak at the end minus peak when warm."""
        return None if self.peak is None or self.warm is None else self.peak - self.warm

    def text(self) -> str:
        """For a reader, in kB."""
        parts = [
            ("at start", self.at_start),
            ("peak", self.peak),
            ("growth when warm", self.growth),
        ]
        parts += [("allowed above start", self.allowance)]
        return ", ".join(f"{n / 1024:,.0f} kB {what}" for what, n in parts if n is not None)


@dataclass
class Report:
    """What came of a run; the accuracies are those the node saw."""

    ended: str
    """``drained``, ``timeout`` or ``edge exited``."""
    wall_s: float
    samples_made: int
    samples_sent: int
    samples_dropped: int
    predictions: int
    scored: int
    accuracy: float | None
    accuracy_first: float | None
    accuracy_last: float | None
    window: int
    latency_us: dict[str, float] | None
    node: dict[str, int]
    faults: dict[str, int]
    frames_lost: int
    bad_frames: int
    lost_bytes: int
    sent_bytes: int
    memory: Memory = field(default_factory=Memory)
    exit_code: int | None = None
    edge: Any = None
    """The edge process's last line on stdout, parsed; None when it was no JSON."""
    edge_errors: str = ""
    """The end of its stderr."""
    detect_s: list[float] = field(default_factory=list)
    """After each unplugging, seconds until the edge process said so on stderr."""
    recover_s: list[float] = field(default_factory=list)
    """After each plugging in, seconds until the node heard from it again."""

    def json(self) -> str:
        """One line."""
        values = asdict(self)
        values["memory"]["growth"] = self.memory.growth
        return json.dumps(values)

    def text(self) -> str:
        """A few lines for a reader."""
        counts = ", ".join(f"{kind} {n:,}" for kind, n in self.faults.items()) or "none"
        lines = [
            f"samples   made {self.samples_made:,}  sent {self.samples_sent:,}  "
            f"dropped before sending {self.samples_dropped:,}  "
            f"in {self.wall_s:.1f} s ({self.ended})",
            f"answers   {self.predictions:,} predictions, {self.scored:,} scored: accuracy "
            f"{_percent(self.accuracy)}, first {self.window:,} {_percent(self.accuracy_first)}, "
            f"last {self.window:,} {_percent(self.accuracy_last)}",
            f"faults    {counts}; frames lost {self.frames_lost:,}, bad {self.bad_frames:,}; "
            f"{self.lost_bytes:,} of {self.lost_bytes + self.sent_bytes:,} bytes found no room",
        ]
        if self.latency_us is not None:
            at = {name: f"{us:,.0f}" for name, us in self.latency_us.items()}
            lines.append(f"latency   p50 {at['p50']}  p99 {at['p99']}  max {at['max']} us")
        if self.memory.peak is not None:
            lines.append(f"process   {self.memory.text()}")
        if self.exit_code is not None:
            lines.append(f"edge      exit code {self.exit_code}")
        return "\n".join(lines)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def report(node: Node, line: Line, *, ended: str, wall_s: float) -> Report:
    """The node's and the line's side of a report."""
    score = node.scorer
    ledger = line.faults.ledger if line.faults else node.ledger
    return Report(
        ended=ended,
        wall_s=wall_s,
        samples_made=node.samples_made,
        samples_sent=node.samples_sent,
        samples_dropped=node.samples_dropped,
        predictions=score.received,
        scored=score.scored,
        accuracy=score.accuracy,
        accuracy_first=score.first_accuracy,
        accuracy_last=score.last_accuracy,
        window=score.window,
        latency_us=score.latency_us(),
        node=node.counters(),
        faults=ledger.counts(),
        frames_lost=ledger.frames_lost,
        bad_frames=ledger.bad_frames,
        lost_bytes=line.lost_bytes,
        sent_bytes=line.sent_bytes,
    )


class EdgeProcess:
    """A program started at the other end of the link, watched and capped from outside.

    Parameters
    ----------
    argv : sequence of str
        ``{port}`` in any of them stands for the link's url. The program itself should be the
        process: a shell around it would be what is watched.
    url : str
    profile : Profile or None
        Whose allowance caps it.
    cap : {"data", "as"}
        See `cap_process`.
    warm_allowance : int or None
        Bytes its address space may grow by once it is warm.
    """

    def __init__(
        self,
        argv: Sequence[str],
        url: str,
        *,
        profile: Profile | None = None,
        cap: str = "data",
        warm_allowance: int | None = None,
    ) -> None:
        if not argv:
            raise ValueError("argv of the edge process is empty")
        self.memory = Memory()
        self._profile = profile
        self._cap = cap
        self._warm_allowance = warm_allowance
        self._begun = False
        with ExitStack() as stack:
            # Files, not pipes: nobody has to read along for the process to go on.
            self._out: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
            self._err: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
            self._process = subprocess.Popen(
                [word.replace("{port}", url) for word in argv],
                stdin=subprocess.DEVNULL,
                stdout=self._out,
                stderr=self._err,
                env=one_thread_environment(),
            )
            self._stack = stack.pop_all()

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def begin(self) -> None:
        """It has come up: note its size, forget the peak of its imports, set the cap. Only once."""
        if self._begun:
            return
        self._begun = True
        try:
            self.memory.at_start = read_vm(self._process.pid)["VmRSS"]
            reset_peak(self._process.pid)
            if self._profile is not None:
                self.memory.allowance = self._profile.allowance_bytes
                self.memory.limit = cap_process(
                    self._process.pid, self._profile.allowance_bytes, kind=self._cap
                )
        except ProcessLookupError:
            pass  # gone already: its exit code says more
        except OSError:
            # Without /proc a run can be watched less closely, but a cap that was asked for must
            # hold.
            if self._profile is not None:
                raise

    def look(self, *, warm: bool) -> None:
        """Note its peak."""
        if self.memory.at_start is None:
            return
        try:
            self.memory.peak = read_vm(self._process.pid)["VmHWM"]
        except ProcessLookupError:
            return
        if warm and self.memory.warm is None:
            self.memory.warm = self.memory.peak
            if self._warm_allowance is not None:
                self.memory.allowance = self._warm_allowance
                self.memory.limit = cap_process(self._process.pid, self._warm_allowance, kind="as")

    def said_bytes(self) -> int:
        """Bytes it has written to stderr."""
        return os.fstat(self._err.fileno()).st_size

    def pause(self) -> None:
        """SIGSTOP: it holds everything and reads nothing."""
        if self.exit_code is None:
            self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        if self.exit_code is None:
            self._process.send_signal(signal.SIGCONT)

    def ask_to_stop(self) -> None:
        """SIGTERM: save and end."""
        if self.exit_code is None:
            self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL, and wait for the end."""
        if self.exit_code is None:
            self._process.kill()
        self._process.wait()

    def output(self) -> tuple[Any, str]:
        """Its last line on stdout as JSON, else None, and the last 2,000 characters of stderr."""
        self._out.seek(0)
        lines = self._out.read().decode(errors="replace").strip().splitlines()
        self._err.seek(0)
        errors = self._err.read().decode(errors="replace")[-2000:]
        try:
            return json.loads(lines[-1]) if lines else None, errors
        except json.JSONDecodeError:
            return None, errors

    def close(self) -> None:
        """End it if it still runs, and give its files back."""
        self.kill()
        self._stack.close()


def simulate(
    argv: Sequence[str],
    node: Node,
    line: Line,
    *,
    profile: Profile | None = None,
    cap: str = "data",
    warm_allowance: int | None = None,
    pauses: Sequence[tuple[int, float]] = (),
    timeout_s: float = math.inf,
    drain_s: float = 2.0,
    start_s: float = 60.0,
    on_progress: Callable[[Node, Line, Memory], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Report:
    """Run `argv` against the node until its samples are answered, then SIGTERM, and wait for it.

    Parameters
    ----------
    argv : sequence of str
        The edge process; ``{port}`` stands for the link's url.
    node, line : Node, Line
        The line's link is left open.
    profile : Profile or None
        Caps the edge process by the profile's allowance as soon as the handshake shows that it is
        up.
    warm_allowance : int or None
        Caps the growth of its address space after 10,000 samples, bytes.
    pauses : sequence of (int, float)
        After so many samples handed over the edge process is stopped for so many seconds, as by a
        machine that has better things to do.
    timeout_s : float
        Longest run, seconds from here.
    drain_s : float
        After the last sample: how long to wait for one more answer.
    start_s : float
        How long the edge process may take to open the link and shake hands.
    on_progress : callable or None
        Called five times a second.

    Returns
    -------
    Report

    Raises
    ------
    OSError
        `argv` cannot be started, or a cap cannot be set on this system.
    """
    edge = EdgeProcess(argv, line.link.url, profile=profile, cap=cap, warm_allowance=warm_allowance)
    try:
        pump = Pump(node, line)
        started = clock()
        watch = _Watch(
            pump,
            edge,
            started=started,
            timeout_s=timeout_s,
            drain_s=drain_s,
            start_s=start_s,
            pauses=pauses,
            on_progress=on_progress,
        )
        ended_at = pump.run(watch.over, clock=clock)
        edge.ask_to_stop()
        # It may be writing to the link, so the link has to be served while it ends.
        pump.run(lambda now: edge.exit_code is not None or now > ended_at + _GRACE_S, clock=clock)
        edge.kill()
        result = report(node, line, ended=watch.ended, wall_s=ended_at - started)
        result.memory = edge.memory
        result.detect_s = watch.detect_s
        result.recover_s = [b - a for a, b in zip(line.plugged_at, line.heard_at, strict=False)]
        result.exit_code = edge.exit_code
        result.edge, result.edge_errors = edge.output()
        return result
    finally:
        edge.close()


class _Watch:
    """Decides when a run is over, and looks at the edge process now and then."""

    def __init__(
        self, pump, edge, *, started, timeout_s, drain_s, start_s, pauses, on_progress
    ) -> None:
        self.pump, self.edge, self.started = pump, edge, started
        self.timeout_s, self.drain_s, self.start_s = timeout_s, drain_s, start_s
        self.on_progress = on_progress
        self.ended = ""
        self.detect_s: list[float] = []
        self._said = 0  # bytes on its stderr at the last unplugging
        self._unplugged = 0
        self._pauses = sorted(pauses)
        self._resume_at: float | None = None
        self._look_at = started
        self._drain = Drain(pump)

    def over(self, now: float) -> bool:
        node = self.pump.node
        if node.streaming and self.pump.powered:
            self.edge.begin()
        self._listen_for_loss(now)
        self._pause(now)
        if now >= self._look_at:
            self._look_at = now + _LOOK_EVERY_S
            self._look()
        self.ended = self._reason(node, now)
        if self.ended:
            self._look()
        return bool(self.ended)

    def _pause(self, now: float) -> None:
        if self._resume_at is not None:
            if now >= self._resume_at:
                self.edge.resume()
                self._resume_at = None
        elif self._pauses and self.pump.node.samples_sent >= self._pauses[0][0]:
            self._resume_at = now + self._pauses.pop(0)[1]
            self.edge.pause()

    def _listen_for_loss(self, now: float) -> None:
        unplugged_at = self.pump.line.unplugged_at
        if self._unplugged == len(unplugged_at):
            self._said = self.edge.said_bytes()
        elif self.edge.said_bytes() > self._said:
            self.detect_s.append(now - unplugged_at[self._unplugged])
            self._unplugged += 1
            self._said = self.edge.said_bytes()
        elif len(self.pump.line.heard_at) > self._unplugged:
            self._unplugged += 1  # found in the middle of a handshake: it has tried again at once

    def _look(self) -> None:
        node = self.pump.node
        handled = node.scorer.received if isinstance(node, FrameNode) else node.samples_sent
        self.edge.look(warm=handled >= _WARM_SAMPLES)
        if self.on_progress is not None:
            self.on_progress(node, self.pump.line, self.edge.memory)

    def _reason(self, node: Node, now: float) -> str:
        if self.edge.exit_code is not None:
            return "edge exited"
        late = now - self.started > self.timeout_s
        # A board that has restarted waits for the host, too, but that is another matter.
        never = not node.streaming and node.boots == 1 and now - self.started > self.start_s
        if late or never:
            return "timeout"
        quiet_s = self._drain.quiet_s(now)
        return "drained" if self._drain.answered or quiet_s > self.drain_s else ""
