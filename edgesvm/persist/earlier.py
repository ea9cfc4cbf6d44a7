"""Snapshots of earlier builds whose arrays were others, alone or in another model, in today's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from edgesvm.budget import MemoryPlan
from edgesvm.contract.registry import kind_of
from edgesvm.persist.format import Snapshot, Wrapped

Arrays = Mapping[str, np.ndarray]
Read = Callable[[Arrays, Arrays], None]


def upgraded(snapshot: Snapshot) -> Snapshot:
    """The same model as this build writes it; a snapshot of this build as it is."""
    reads: set[Read] = set()
    params = _today(Wrapped(snapshot.learner, snapshot.params), reads).params
    if not reads:
        return snapshot
    kind = kind_of(snapshot.learner)
    _, before = kind._claimed(snapshot)
    after = kind._of_params(params).plan(snapshot.n_features)
    old, new = np.zeros(before.total, np.uint8), np.zeros(after.total, np.uint8)
    old[: len(snapshot.arena)] = np.frombuffer(snapshot.arena, np.uint8)
    _convert(before, after, old, new, reads)
    return replace(snapshot, params=params, arena=new.data)


def _today(claimed: Wrapped, reads: set[Read]) -> Wrapped:
    """The parameters with those that a class has since its arrays are others."""
    params: dict[str, Any] = {
        name: _today(value, reads) if isinstance(value, Wrapped) else value
        for name, value in claimed.params.items()
    }
    kind = kind_of(claimed.learner)
    since: Mapping[str, Any] = getattr(kind, "_since", {})
    if since and not since.keys() & params.keys():
        params |= since
        reads.add(kind._read_earlier)
    return Wrapped(claimed.learner, params)


def _convert(
    before: MemoryPlan, after: MemoryPlan, old: np.ndarray, new: np.ndarray, reads: set[Read]
) -> None:
    """Fill `new`, zero, with what `old` has."""
    source, target = before.cut(old), after.cut(new)
    for name, view in target.items():
        if name in before.inside:
            _convert(before.inside[name], after.inside[name], source[name], view, reads)
        elif name in source and source[name].shape == view.shape:
            view[...] = source[name]
    for read in reads:
        read(source, target)
