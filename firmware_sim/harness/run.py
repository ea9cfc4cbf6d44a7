"""One run: a node on its line, and a host process under a device's limits at the other end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from firmware_sim.harness.edge import EdgeProcess
from firmware_sim.harness.pump import STUCK_S, Drain, Pump
from firmware_sim.harness.report import Report, report
from firmware_sim.limits.profiles import Profile
from firmware_sim.line import Line
from firmware_sim.node import FrameNode, Node

# After this many samples a host process has allocated all it needs: growth is counted from there.
_WARM_SAMPLES = 10_000
_LOOK_EVERY_S = 0.2
_GRACE_S = 120.0


def simulate(
    argv: Sequence[str],
    node: Node,
    line: Line,
    *,
    profile: Profile | None = None,
    pauses: Sequence[tuple[int, float]] = (),
    timeout_s: float = math.inf,
    drain_s: float = 2.0,
    start_s: float = 120.0,
    on_progress: Callable[[Node, Line], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Report:
    """Run `argv` until it has read and answered all samples of the node, then send SIGTERM.

    Parameters
    ----------
    argv : sequence of str
        The host process; ``{port}`` is replaced by the link's url.
    node, line : Node, Line
        The link stays open.
    profile : Profile or None
        Limits the host and all that it starts; what takes too much memory is killed.
    pauses : sequence of (int, float)
        After this many samples sent, the host process is stopped for this many seconds, as on a
        busy machine.
    timeout_s : float
        Time limit, seconds from the call.
    drain_s : float
        How long to wait for another prediction after the last sample. Longer for a host process
        that has something to read, or that computes, waits for the disk or is stopped.
    start_s : float
        How long the host process may take to open the link and shake hands.
    on_progress : callable or None
        Called five times per second.

    Raises
    ------
    OSError
        `argv` cannot be started, or a process that it starts may not be looked at.
    """
    edge = EdgeProcess(argv, line.link.url, profile=profile)
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
        edge.count(node.samples_sent)
        edge.resume()  # one that is stopped would not hear it
        edge.ask_to_stop()
        # It may be writing to the link, so keep serving the link while it ends.
        pump.run(lambda now: watch.look(now) or now > ended_at + _GRACE_S, clock=clock)
        edge.kill()
        result = report(node, line, ended=watch.ended, wall_s=ended_at - started)
        result.exit_code = edge.exit_code
        result.edge, result.edge_errors = edge.output()
        if isinstance(result.edge, dict) and "bytes_allocated" in result.edge:
            edge.used["model_bytes"] = result.edge["bytes_allocated"]
        result.allowed, result.used, result.exceeded = edge.allowed, edge.used, edge.exceeded()
        return result
    finally:
        edge.close()


class _Watch:
    """Decides when a run is over, and samples the host process's memory."""

    def __init__(
        self, pump, edge, *, started, timeout_s, drain_s, start_s, pauses, on_progress
    ) -> None:
        self.pump, self.edge, self.started = pump, edge, started
        self.timeout_s, self.drain_s, self.start_s = timeout_s, drain_s, start_s
        self.on_progress = on_progress
        self.ended = ""
        self._pauses = sorted(pauses)
        self._resume_at: float | None = None
        self._look_at = started
        self._drain = Drain(pump)

    def over(self, now: float) -> bool:
        node = self.pump.node
        if node.streaming and self.pump.powered:
            self.edge.begin()
        self._pause(now)
        self.look(now)
        self.ended = self._reason(node, now)
        if self.ended:
            self._look_at = now
            self.look(now)
        return bool(self.ended)

    def _pause(self, now: float) -> None:
        if self._resume_at is not None:
            if now >= self._resume_at:
                self.edge.resume()
                self._resume_at = None
        elif self._pauses and self.pump.node.samples_sent >= self._pauses[0][0]:
            self._resume_at = now + self._pauses.pop(0)[1]
            self.edge.pause()

    def look(self, now: float) -> bool:
        """Hold the host to its limits when it is time; whether it has ended."""
        if now >= self._look_at:
            self._look_at, node = now + _LOOK_EVERY_S, self.pump.node
            handled = node.scorer.received if isinstance(node, FrameNode) else node.samples_sent
            self.edge.look(warm=handled >= _WARM_SAMPLES)
            if self.on_progress is not None:
                self.on_progress(node, self.pump.line)
        return self.edge.exit_code is not None

    def _reason(self, node: Node, now: float) -> str:
        if self.edge.exit_code is not None:
            return "limit exceeded" if self.edge.exceeded() else "edge exited"
        late = now - self.started > self.timeout_s
        # A restarted board also waits for the host: that is not a failed start.
        never = not node.streaming and node.boots == 1 and now - self.started > self.start_s
        if late or never:
            return "timeout"
        quiet_s = self._drain.quiet_s(now)
        quiet = quiet_s > self.drain_s
        if quiet and quiet_s < STUCK_S:
            # On a busy machine it may not have handled yet what was sent.
            quiet = self.pump.line.link.unread() == 0 and self.edge.idle
        # Late labels come after the last prediction.
        answered = self._drain.answered and self._drain.all_read
        return "drained" if answered or quiet else ""
