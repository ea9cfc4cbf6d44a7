"""One run of `edgesvm run` against a node, with rare faults made frequent enough to occur."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from edgesvm.data import SampleSource
from edgesvm.link.keys import read_key
from firmware_sim.harness import Memory, Report, simulate
from firmware_sim.line import FaultInjector, Line, PtyLink
from firmware_sim.line.faults import OVERLONG_BYTES, SECOND_BYTES
from firmware_sim.node import FaultyNode, FrameNode, Mishaps, Node
from firmware_sim.node.mishaps import MISHAP_MIXES

# Short runs are unplugged now and then, too.
LEAST_UNPLUGGINGS = {"disconnect": 3, "stale": 2, "reboot": 2}
LEAST_MISHAPS = 3
# Long faults, if they do not block the line for too long.
LEAST_LONG = {"noise": SECOND_BYTES, "overlong": OVERLONG_BYTES}
LONGEST_FAULT_S = 10.0


@dataclass
class Run:
    """The results of one run of the host process."""

    report: Report
    node: FrameNode
    line: Line
    faults: FaultInjector
    snapshot: Path
    make_source: Callable[[], SampleSource]

    @property
    def counters(self) -> dict[str, int]:
        edge = self.report.edge
        return edge["counters"] if isinstance(edge, dict) and "counters" in edge else {}


def run_edge(
    make_source: Callable[[], SampleSource],
    folder: Path,
    *,
    samples: int | None,
    rates: dict[str, float],
    seed: int,
    mishaps: dict[str, float] | None = None,
    label_mode: str = "inline",
    baud: float | None = None,
    key: Path | None = None,
    timeout_s: float = 3600.0,
    warm_allowance: int | None = None,
    on_progress: Callable[[Node, Line, Memory], None] | None = None,
) -> Run:
    """Run `edgesvm run` on a pseudo-terminal until all samples are answered; with the file of a
    key, both ends tag their frames."""
    snapshot = folder / "model.esvm"
    snapshot.unlink(missing_ok=True)
    faults = FaultInjector(rates, seed=seed)
    with contextlib.closing(PtyLink(folder / "port")) as link:
        node = FaultyNode(
            make_source(),
            samples=samples,
            boot_id=seed + 1,
            label_mode=label_mode,
            timestamps=bool(mishaps),  # needed for the clock fault
            mishaps=Mishaps(mishaps or {}, seed=seed),
            key=None if key is None else read_key(key),
        )
        # Without flow control a busy machine would lose bytes that the ledger does not know of.
        line = Line(link, baud=baud, faults=faults, flow_control=True)
        argv = [sys.executable, "-m", "edgesvm.cli", "run", "{port}", "--json"]
        # What comes while a busy host waits in a handshake must fit: the ledger knows of no drop.
        argv += ["--ring", "4096"]
        argv += ["--classes", "2"]  # a fault sends other labels, to be refused
        argv += [] if key is None else ["--key", str(key)]
        report = simulate(
            [*argv, "--save", str(snapshot)],
            node,
            line,
            timeout_s=timeout_s,
            warm_allowance=warm_allowance,
            on_progress=on_progress,
        )
    return Run(report, node, line, faults, snapshot, make_source)


def with_rare_faults(
    rates: dict[str, float], samples: int, baud: float | None = None
) -> dict[str, float]:
    """Raise the rare faults of a mix that unplugs to at least two in `samples` samples.

    Noise and overlong runs are left out if they would take too long at this speed.
    """
    if not rates.get("disconnect"):
        return rates
    long = [
        kind for kind, n in LEAST_LONG.items() if baud is None or 10 * n / baud <= LONGEST_FAULT_S
    ]
    return _at_least(rates, {**LEAST_UNPLUGGINGS, **dict.fromkeys(long, 2)}, samples)


def with_mishaps(mix: str, samples: int) -> dict[str, float]:
    """The device faults of a mix, each expected at least a few times in `samples` samples."""
    rates = MISHAP_MIXES.get(mix, {})
    return _at_least(rates, dict.fromkeys(rates, LEAST_MISHAPS), samples)


def _at_least(rates: dict[str, float], least: dict[str, int], samples: int) -> dict[str, float]:
    """The rates, raised so that each of `least` is expected that often in `samples` samples."""
    floors = {kind: min(n / max(samples, 1), 0.01) for kind, n in least.items()}
    return {**rates, **{kind: max(rates.get(kind, 0.0), rate) for kind, rate in floors.items()}}
