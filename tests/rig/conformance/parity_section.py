"""The run's model as C on three machines: every bit as the learner's own."""

from __future__ import annotations

import copy
import subprocess
from pathlib import Path

import edgesvm
from rig.boards import HOSTS, compare, hard_samples, missing, run
from rig.boards.board import NATIVE
from rig.conformance.section import Section


def parity_section(snapshot: Path, *, rows: int, needed: bool) -> Section:
    """Export the model that was saved, compile it for each machine, and let it learn `rows` hard
    samples: its decisions and its bytes, beside those of the learner here.

    A machine whose tools are absent is named; if `needed`, that breaks the line.
    """
    saved = edgesvm.load(snapshot)
    samples = hard_samples(rows, saved.n_features_in_, saved.dtype, 6)
    equal, ran, left_out, broken = 0, [], [], []
    for name, machine in HOSTS.items():
        if reason := missing(machine):
            left_out.append(f"{name} not run: {reason}")
            continue
        learner = copy.deepcopy(saved)
        try:
            there = run(learner, machine, snapshot.parent / name, samples, flags="-O2")
        except (RuntimeError, subprocess.SubprocessError) as error:
            broken.append(f"{name}: {error}")
            continue
        same, differs = compare(learner, there, samples)
        equal += same
        ran.append(name)
        broken += [f"{name}: {what} not the host's" for what in differs]
    broken += left_out if needed else []
    said = [f"device = host scores {equal:,} of {rows * len(ran):,} bit-equal"]
    if not broken:
        said.append(f"{' = '.join(ran)} model bytes")
    return Section(
        "parity",
        "   ".join(said + left_out),
        broken,
        {"equal": equal, "rows": rows, "machines": ran},
        taken="native, qemu-user" if [name for name in ran if name != NATIVE] else "native",
    )
