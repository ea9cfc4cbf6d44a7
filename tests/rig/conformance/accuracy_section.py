"""Accuracy lost when 1 % of the frames are lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from edgesvm.data import SampleSource
from edgesvm.link import open_rows
from firmware_sim.line import MIXES
from firmware_sim.node import RotatingMachine
from rig.conformance.edge_run import run_edge
from rig.conformance.section import Section

LIMIT_ACCURACY = 0.005  # loss of accuracy at 1 % of frames lost
DATA = "EDGESVM_DATA"


def accuracy_section(folder: Path, *, seed: int, samples: int, key: Path | None = None) -> Section:
    """Prequential accuracy at the node, without faults and with 1 % of the frames lost."""
    sources: dict[str, Callable[[], SampleSource]] = {"rotating": lambda: RotatingMachine(seed)}
    occupancy = Path(os.environ.get(DATA, "../shared/data")) / "occupancy.npz"
    missing = ""
    if occupancy.exists():
        sources["occupancy"] = lambda: open_rows(occupancy)
    else:
        missing = f"   occupancy not measured: {DATA} does not name its folder"
    parts, broken, values = [], [], {}
    for name, make in sources.items():
        n = samples if name == "rotating" else None
        clean = run_edge(make, folder, samples=n, rates={}, seed=seed, key=key).report.accuracy
        lossy_run = run_edge(make, folder, samples=n, rates=MIXES["loss"], seed=seed, key=key)
        lossy = lossy_run.report.accuracy
        if clean is None or lossy is None:
            broken.append(f"{name}: no predictions")
            continue
        lost = lossy_run.report.frames_lost / max(lossy_run.report.samples_sent, 1)
        parts.append(
            f"{name} clean {100 * clean:.2f} %, with {100 * lost:.2f} % of frames lost "
            f"{100 * lossy:.2f} %, difference {100 * (lossy - clean):+.2f} points"
        )
        values[name] = {"clean": clean, "lossy": lossy, "lost": lost}
        if abs(clean - lossy) > LIMIT_ACCURACY:
            broken.append(f"{name}: accuracy differs by more than {100 * LIMIT_ACCURACY} points")
    text = "   ".join(parts) + f" (limit {100 * LIMIT_ACCURACY} points)" + missing
    return Section("accuracy", text, broken, values)
