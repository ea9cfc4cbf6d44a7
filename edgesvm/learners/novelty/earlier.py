"""Snapshots of novelty learners of earlier builds, alone or in another model, in today's arrays.

Their threshold settled, and there was one model. Behind the six numbers of ``tail`` was the first
score of the alarm that was on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from edgesvm.budget import MemoryPlan
from edgesvm.contract.registry import kind_of
from edgesvm.learners.novelty.constants import ALARM
from edgesvm.persist.format import Snapshot, Wrapped

SETTLED = "settled"  # the value of `alarm` that they do not have
N_STUCK = 1  # of their array `lately`


Arrays = list[tuple[str, str, tuple[int, ...]]]


def arrays(dtype: str, n_features: int, sensors: bool) -> Arrays:
    """Their arrays, but for those of a subclass."""
    looks_back: Arrays = [
        ("values", dtype, (n_features,)),
        ("repeats", "i2", (n_features + 1,)),
        ("lively", "i2", (n_features + 1,)),
        ("lately", "f8", (4,)),
    ]
    return [
        ("n_scored", "i8", ()),
        ("n_alarms", "i8", ()),
        ("alarmed", "i8", ()),
        ("tail", "f8", (7,)),
        ("mean", "f8", (n_features,)),
        ("spread", "f8", (n_features,)),
        ("scaled", dtype, (n_features,)),
        *(looks_back if sensors else []),
    ]


def upgraded(snapshot: Snapshot) -> Snapshot:
    """The same model as this build writes it; a snapshot of this build as it is."""
    params = _named(Wrapped(snapshot.learner, snapshot.params)).params
    if params == snapshot.params:
        return snapshot
    kind = kind_of(snapshot.learner)
    _, before = kind._claimed(snapshot)
    after = kind._of_params(params).plan(snapshot.n_features)
    memory = np.zeros(after.total, np.uint8)
    old = np.zeros(before.total, np.uint8)
    old[: len(snapshot.arena)] = np.frombuffer(snapshot.arena, np.uint8)
    _convert(before, after, old, memory)
    return replace(snapshot, params=params, arena=memory.data)


def _named(claimed: Wrapped) -> Wrapped:
    """The parameters with `alarm` where a novelty learner lacks it."""
    params: dict[str, Any] = {
        name: _named(value) if isinstance(value, Wrapped) else value
        for name, value in claimed.params.items()
    }
    if getattr(kind_of(claimed.learner), "_absent", {}).get("alarm") and "alarm" not in params:
        params = {**params, "alarm": "1/1"}
    return Wrapped(claimed.learner, params)


def _convert(before: MemoryPlan, after: MemoryPlan, old: np.ndarray, new: np.ndarray) -> None:
    """Fill `new`, zero, with what `old` has."""
    source, target = before.cut(old), after.cut(new)
    for name, view in target.items():
        if name in before.inside:
            _convert(before.inside[name], after.inside[name], source[name], view)
        elif name in source and source[name].shape == view.shape:
            view[...] = source[name]
    if "alarmed" not in source:
        return
    target["tail"][:], target["n_kept"][...] = source["tail"][:-1], source["n_updates"]
    target["n_strange"][...], target["n_alarms"][...] = source["n_alarms"], 0
    if "lately" in source:
        target["alarm"][ALARM.index("n_stuck")] = source["lately"][N_STUCK]
