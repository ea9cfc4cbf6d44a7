"""What runs on a worker: functions of a partition and a model, without a state of their own, so
that a task that is repeated after a lost worker gives the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from edgesvm.contract.labels import Labels
from edgesvm.core.status import Status
from edgesvm.data.sources import CHUNK_ROWS
from edgesvm.data.survey import survey
from edgesvm.errors import refusal
from edgesvm.fleet.merging import merged
from edgesvm.fleet.partitions import Block, PartitionError
from edgesvm.learner import Learner


@dataclass(frozen=True)
class Sent:
    """A solver as it is sent: its parameters, and each array without its zero end, most of which
    is cache and room that is not used."""

    learner: Learner
    n_features: int
    labels: tuple[Any, ...]
    closed: bool
    arrays: dict[str, np.ndarray]

    @classmethod
    def of(cls, learner: Learner, core: Any, names: Sequence[str] | None = None) -> Sent:
        """With all arrays, or those with these names."""
        like = learner._like_new()
        arrays = {}
        for name in names or [array.name for array in like.plan(core.n_features).arrays]:
            flat = core.views[name].reshape(-1)
            used = np.flatnonzero(flat)
            arrays[name] = flat[: int(used[-1]) + 1 if len(used) else 0].copy()
        return cls(like, core.n_features, core.labels.in_slots, core.labels.closed, arrays)

    def core(self) -> Any:
        """The solver's core, in memory of this worker."""
        learner = self.learner._like_new()
        learner.allocate(self.n_features)
        for name, values in self.arrays.items():
            learner._allocated.views[name].reshape(-1)[: len(values)] = values
        labels = Labels.restore(self.labels, self.closed, learner._n_classes)
        plan, arena = learner.plan(self.n_features), learner.arena
        learner._adopt(plan, arena, labels, self.n_features)
        return learner._allocated


class Surveyed(NamedTuple):
    n_rows: int
    n_learned: int
    labels: tuple[Any, ...]
    n_features: int
    per_class: tuple[int, ...]  # rows with a weight > 0 of each of the labels


class Found(NamedTuple):
    """The rows of a partition that violate, by their place in it, and the losses that are not
    zero, in order. It stays on the worker."""

    places: np.ndarray
    losses: np.ndarray


class Taken(NamedTuple):
    X: np.ndarray
    slots: np.ndarray
    weights: np.ndarray
    places: np.ndarray


def part_of(part: Any) -> Any:
    return Block(*part) if isinstance(part, tuple) else part


def surveyed(part: Any, options: dict[str, Any], room: int) -> Surveyed:
    """Check a partition as `fit` checks its rows."""
    labels = Labels(room=room)
    source = part_of(part).source(options["owner"])
    if options.get("kernel_of") is not None:
        kernel = options["kernel_of"]._kernel(source.n_features)
        options = {k: v for k, v in options.items() if k != "kernel_of"} | {"kernel": kernel}
    n_rows, n_learned, per_class = survey(source, labels, **options)
    return Surveyed(n_rows, n_learned, labels.in_slots, source.n_features, per_class)


def found(
    part: Any, sent: Sent, decide: bool, held: np.ndarray, options: tuple[str, str, float, int]
) -> Found:
    """Rows that are not among `held` (places, ascending) and violate the solution, if `decide`."""
    owner, dtype, margin, rows = options
    core = sent.core()
    places, losses = [np.empty(0, np.int64)], [np.empty(0)]
    for chunk in part_of(part).source(owner).chunks(rows, np.dtype(dtype)):
        slots, n_known, _ = core.labels.encode(chunk.y)
        if n_known < len(chunk.y):
            raise PartitionError("it changed between two passes")
        weight = np.ones(len(chunk.X)) if chunk.weight is None else chunk.weight
        violates = weight > 0.0
        if decide:
            f = np.empty(len(chunk.X))
            _, row, status = core.decide_many(chunk.X, f)
            if status > Status.CHANGED:
                raise refusal(status, f"row {chunk.first + row}", dtype, core.labels.in_slots)
            f *= core.labels.sign
            yf = np.where(slots == 1, f, -f)
            loss = (weight * np.maximum(0.0, 1.0 - yf))[violates]
            losses.append(loss[loss > 0.0])
            violates &= yf < margin
        places.append(chunk.first + np.flatnonzero(violates))
    at = np.concatenate(places)
    return Found(at[~np.isin(at, held)], np.concatenate(losses))


def same(sent: Any) -> Any:
    """A model, as the result of a task: workers have it from one another."""
    return sent


def counted(of: Found) -> int:
    return len(of.places)


def added(loss: float, of: Found) -> float:
    """The sum goes on in the order of the rows, one by one, so that it rounds as in one place."""
    return float(np.cumsum(np.append(loss, of.losses))[-1])


def rows_at(
    part: Any, of: Found | None, which: np.ndarray, sent: Sent, options: tuple[str, str]
) -> Taken:
    """The rows at some places, ascending; of a `Found`, the which-th of its."""
    owner, dtype = options
    wanted = which if of is None else of.places[which]
    labels = Labels.restore(sent.labels, sent.closed, sent.learner._n_classes)
    parts = []
    for chunk in part_of(part).source(owner).chunks(CHUNK_ROWS, np.dtype(dtype)):
        here = wanted[(wanted >= chunk.first) & (wanted < chunk.first + len(chunk.X))]
        if len(here):
            at = here - chunk.first
            X = np.asarray(chunk.X)[at] if isinstance(chunk.X, np.ndarray) else chunk.X[at]
            weight = np.ones(len(at)) if chunk.weight is None else chunk.weight[at]
            parts.append(Taken(X, labels.encode(chunk.y)[0][at], weight, here))
    if sum(len(part.places) for part in parts) != len(wanted):
        raise PartitionError("it changed between two passes")
    return Taken(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def cut(values: np.ndarray, starts: np.ndarray) -> list[np.ndarray]:
    """Ascending values, cut where the partitions start, each counted from its partition's start."""
    at = np.searchsorted(values, starts)
    return [values[a:b] - start for a, b, start in zip(at[:-1], at[1:], starts[:-1], strict=True)]


def learned(part: Any, learner: Learner) -> Learner:
    """A learner of one partition, in the order of its rows."""
    one = learner._like_new()
    for chunk in part_of(part).source(type(learner).__name__).chunks(CHUNK_ROWS, one._dtype):
        one.partial_fit(chunk.X, chunk.y, sample_weight=chunk.weight)
    if not one.is_fitted:
        raise PartitionError("there is nothing to learn in it")
    return one


def merged_pair(first: Learner, second: Learner) -> Learner:
    return merged([first, second])
