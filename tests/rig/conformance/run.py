"""The conformance run: all sections, in the order of the report."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from firmware_sim.harness import Memory
from firmware_sim.line import MIXES, Line
from firmware_sim.node import Node, RotatingMachine
from rig.conformance.accuracy_section import accuracy_section
from rig.conformance.auth_section import auth_section
from rig.conformance.edge_run import run_edge, with_mishaps, with_rare_faults
from rig.conformance.expected import expected
from rig.conformance.firmware_section import firmware_section
from rig.conformance.limit_sections import (
    WARM_ALLOWANCE,
    alloc_section,
    budget_section,
    process_section,
)
from rig.conformance.link_sections import (
    frames_section,
    integrity_section,
    labels_section,
    latency_section,
    ledger_section,
    link_loss_section,
    link_section,
)
from rig.conformance.liveness_section import liveness_section
from rig.conformance.parity_section import parity_section
from rig.conformance.power_section import power_section
from rig.conformance.section import Section
from rig.conformance.thread_section import thread_section

COUNTED_CALLS = 200_000
THREAD_SECONDS = 2.0  # a learner
ACCURACY_SAMPLES = 20_000
LATE_SAMPLES = 20_000
LIVENESS_DEPTH = 2
ATTACKS = 20_000
FIRMWARE_ROWS = 200  # QEMU takes a minute or so
PARITY_ROWS = 20_000
# Seeds of simulated disks, and kills of the real process (the long tests make 200).
POWER_SEEDS = 11
POWER_KILLS = 10


def conform(
    *,
    samples: int,
    mix: str = "field",
    seed: int = 7,
    baud: float | None = None,
    key: Path | None = None,
    needed: bool = False,
    on_progress: Callable[[Node, Line, Memory], None] | None = None,
) -> Iterator[Section]:
    """Run every section and yield each when it is done.

    Parameters
    ----------
    samples : int
    mix : str
        One of `firmware_sim.line.MIXES`.
    seed : int
        Of the simulated machine and of the faults.
    baud : float or None
        Speed of the line; None: unlimited.
    key : path or None
        The file of a key: both ends tag all frames.
    needed : bool
        Whether a cross compiler or an emulator that is absent breaks a limit.
    on_progress : callable or None
        As for `simulate`.
    """
    if mix not in MIXES:
        raise ValueError(f"no fault mix {mix!r}; there are {', '.join(MIXES)}")
    if samples < 1:
        raise ValueError(f"samples must be at least 1, got {samples}")
    with tempfile.TemporaryDirectory(prefix="firmware_sim.") as name:
        folder = Path(name)
        run = run_edge(
            lambda: RotatingMachine(seed),
            folder,
            samples=samples,
            rates=with_rare_faults(MIXES[mix], samples, baud),
            mishaps=with_mishaps(mix, samples),
            seed=seed,
            baud=baud,
            key=key,
            timeout_s=120.0 + samples * (0.01 if baud is None else 800 / baud),
            warm_allowance=WARM_ALLOWANCE,
            on_progress=on_progress,
        )
        yield link_section(run, baud=baud, seed=seed, mix=mix)
        if not run.counters or not run.snapshot.exists():
            why = run.report.edge_errors.strip() or "no output"
            yield Section("edge", "no counts and no model", [why])
            return
        want = expected(run.node, run.faults)
        yield frames_section(run)
        yield integrity_section(run, want)
        yield ledger_section(run)
        yield latency_section(run)
        yield link_loss_section(run, want)
        yield budget_section(run)
        yield alloc_section(run, calls=COUNTED_CALLS)
        yield process_section(run)
        yield thread_section(seconds=THREAD_SECONDS)
        yield labels_section(folder, seed=seed, samples=min(samples, LATE_SAMPLES), key=key)
        yield liveness_section(depth=LIVENESS_DEPTH)
        yield auth_section(seed=seed, attacks=ATTACKS)
        yield firmware_section(run.snapshot, rows=FIRMWARE_ROWS, needed=needed)
        yield parity_section(run.snapshot, rows=PARITY_ROWS, needed=needed)
        yield power_section(folder, seeds=POWER_SEEDS, kills=POWER_KILLS)
        yield accuracy_section(folder, seed=seed, samples=ACCURACY_SAMPLES, key=key)
