"""Checkpoints under power cuts on a simulated disk and kills on the real one."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np

import edgesvm
from edgesvm.learner import Learner
from rig.conformance.section import Section
from rig.power.cuts import PowerReport, checkpoint_ways, cut_everywhere
from rig.power.disk import SECTOR
from rig.power.kills import kill_again_and_again


def power_section(folder: Path, *, seeds: int, kills: int) -> Section:
    """Power cuts on simulated disks, for `seeds` seeds, and `kills` kills of the real process."""
    learners = _at_several_times()
    cut = [
        cut_everywhere(checkpoint_ways(second), learners, range(seeds), max_write=SECTOR)
        for second in (False, True)
    ]
    killed = kill_again_and_again(folder, kills=kills, seed=seeds)
    total = PowerReport()
    for part in (*cut, killed):
        for name, n in part.as_dict().items():
            setattr(total, name, getattr(total, name) + n)
    broken = (
        []
        if total.holds
        else ["a save was lost, mixed or unloadable, or an outcome never occurred"]
    )
    return Section("power", total.text().removeprefix("power").strip(), broken, total.as_dict())


def _at_several_times() -> list[Learner]:
    """One learner at seven points of its stream."""
    rng = np.random.default_rng(5)
    learner = edgesvm.StreamSVM(lookahead=8)
    states: list[Learner] = []
    for _ in range(7):
        X = rng.standard_normal((20, 60)).astype(np.float32)
        learner.partial_fit(X, (X[:, 0] > 0).astype(int), classes=[0, 1])
        states.append(copy.deepcopy(learner))
    return states
