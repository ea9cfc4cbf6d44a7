"""The report of a run, as seen by the node and its line."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from firmware_sim.line import Line
from firmware_sim.node import Node


@dataclass
class Report:
    """The results of a run; accuracies are those that the node measured, or, of a node that sends
    targets, the mean absolute error, R^2 and the share of targets within their interval."""

    ended: str
    """``drained``, ``timeout``, ``edge exited`` or ``limit exceeded``."""
    wall_s: float
    samples_made: int
    samples_sent: int
    samples_dropped: int
    predictions: int
    scored: int
    accuracy: float | None
    accuracy_first: float | None
    accuracy_last: float | None
    mae: float | None
    r2: float | None
    coverage: float | None
    window: int
    latency_us: dict[str, float] | None
    node: dict[str, int]
    faults: dict[str, int]
    frames_lost: int
    bad_frames: int
    lost_bytes: int
    sent_bytes: int
    allowed: dict[str, float] = field(default_factory=dict)
    used: dict[str, float] = field(default_factory=dict)
    """Of what is allowed, as far as it is known; ``growth_until_warm_bytes``: in 10,000 samples."""
    exceeded: list[str] = field(default_factory=list)
    exit_code: int | None = None
    edge: Any = None
    """The host process's last line on stdout, parsed; None if it is not JSON."""
    edge_errors: str = ""
    """The end of its stderr."""

    def json(self) -> str:
        """One line."""
        return json.dumps(asdict(self))

    def text(self) -> str:
        """A few lines of text."""
        counts = ", ".join(f"{kind} {n:,}" for kind, n in self.faults.items()) or "none"
        lines = [
            f"samples   made {self.samples_made:,}  sent {self.samples_sent:,}  "
            f"dropped before sending {self.samples_dropped:,}  "
            f"in {self.wall_s:.1f} s ({self.ended})",
            f"answers   {self.predictions:,} predictions, {self.scored:,} scored: {self._score()}",
            f"faults    {counts}; frames lost {self.frames_lost:,}, bad {self.bad_frames:,}; "
            f"{self.lost_bytes:,} of {self.lost_bytes + self.sent_bytes:,} bytes had no room",
        ]
        if self.latency_us is not None:
            at = {name: f"{us:,.0f}" for name, us in self.latency_us.items()}
            lines.append(f"latency   p50 {at['p50']}  p99 {at['p99']}  max {at['max']} us")
        for name, most in self.allowed.items():
            used = f"{self.used[name]:,.0f}" if name in self.used else "unknown"
            over = " EXCEEDED" * (name in self.exceeded)
            lines.append(f"limit     {name} {used} of {most:,.0f}{over}")
        if self.exit_code is not None:
            lines.append(f"edge      exit code {self.exit_code}")
        return "\n".join(lines)

    def _score(self) -> str:
        if self.mae is None:
            return (
                f"accuracy {_percent(self.accuracy)}, first {self.window:,} "
                f"{_percent(self.accuracy_first)}, last {self.window:,} "
                f"{_percent(self.accuracy_last)}"
            )
        r2 = "-" if self.r2 is None else f"{self.r2:.3f}"
        return f"MAE {self.mae:.4g}, R2 {r2}, within the interval {_percent(self.coverage)}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def report(node: Node, line: Line, *, ended: str, wall_s: float) -> Report:
    """The part of a report that node and line know."""
    score = node.scorer
    ledger = line.faults.ledger if line.faults else node.ledger
    return Report(
        ended=ended,
        wall_s=wall_s,
        samples_made=node.samples_made,
        samples_sent=node.samples_sent,
        samples_dropped=node.samples_dropped,
        predictions=score.received,
        scored=score.score.n,
        **score.results(),
        window=score.window,
        latency_us=score.latency_us(),
        node=node.counters(),
        faults=ledger.counts(),
        frames_lost=ledger.frames_lost,
        bad_frames=ledger.bad_frames,
        lost_bytes=line.lost_bytes,
        sent_bytes=line.sent_bytes,
    )
