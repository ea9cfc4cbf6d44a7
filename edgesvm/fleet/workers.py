"""What runs on a worker: functions of a partition and a model, without a state of their own, so
that a task that is repeated after a lost worker gives the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from edgesvm.contract.labels import Labels
from edgesvm.core.exact_sum import units_of
from edgesvm.core.status import Status
from edgesvm.data.sources import CHUNK_ROWS
from edgesvm.data.survey import survey
from edgesvm.errors import refusal
from edgesvm.fleet.merging import merged
from edgesvm.fleet.partitions import NamedError, PartitionError, source_of
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
        like = learner.like_new()
        arrays = {}
        for name in names or [array.name for array in like.plan(core.n_features).arrays]:
            flat = core.views[name].reshape(-1)
            used = np.flatnonzero(flat)
            arrays[name] = flat[: int(used[-1]) + 1 if len(used) else 0].copy()
        return cls(like, core.n_features, core.labels.in_slots, core.labels.closed, arrays)

    def core(self) -> Any:
        """The solver's core, in memory of this worker."""
        learner = self.learner.like_new()
        learner.allocate(self.n_features)
        for name, values in self.arrays.items():
            learner.core.views[name].reshape(-1)[: len(values)] = values
        labels = Labels.restore(self.labels, self.closed, learner.n_classes_planned)
        plan, arena = learner.plan(self.n_features), learner.arena
        learner._adopt(plan, arena, labels, self.n_features)
        return learner.core


class Surveyed(NamedTuple):
    n_rows: int
    n_learned: int
    labels: tuple[Any, ...]
    n_features: int
    per_class: tuple[int, ...]  # rows with a weight > 0 of each of the labels
    mean_weight: float  # of those rows


@dataclass
class Found:
    """How many rows of a partition violate, the exact sum of its losses, and which rows these are,
    by their place in it. Which they are stays on the worker: whoever else asks for this gets the
    numbers alone, and finds the rows again if it must."""

    n: int
    loss: int
    places: np.ndarray | None

    def __reduce__(self) -> tuple[Any, ...]:
        return Found, (self.n, self.loss, None)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + (0 if self.places is None else self.places.nbytes)


class Taken(NamedTuple):
    X: np.ndarray
    slots: np.ndarray
    weights: np.ndarray
    places: np.ndarray


def over(
    function: Callable[..., Any],
    names: Sequence[str],
    parts: Sequence[Any],
    common: tuple[Any, ...],
    *each: Sequence[Any],
) -> list[Any]:
    """What a function gives of some partitions, one after the other; an error names its own."""
    results = []
    for name, part, *rest in zip(names, parts, *each, strict=True):
        try:
            results.append(function(part, *rest, *common))
        except Exception as error:
            raise NamedError(f"{name}: {error}") from error
    return results


def surveyed(part: Any, options: dict[str, Any], room: int) -> Surveyed:
    """Check a partition as `fit` checks its rows."""
    labels = Labels(room=room)
    source = source_of(part, options["owner"])
    if options.get("kernel_of") is not None:
        kernel = options["kernel_of"].kernel_for(source.n_features)
        options = {k: v for k, v in options.items() if k != "kernel_of"} | {"kernel": kernel}
    found = survey(source, labels, **options)
    return Surveyed(
        found.n_rows,
        found.n_learned,
        labels.in_slots,
        source.n_features,
        found.per_class,
        found.mean_weight,
    )


def found(
    part: Any, held: np.ndarray, sent: Sent, decide: bool, options: tuple[str, str, float]
) -> Found:
    """Rows that are not among `held` (places, ascending) and violate the solution, if `decide`."""
    owner, dtype, margin = options
    core = sent.core()
    core.check()  # it finds what follows from the arrays, as when a snapshot is loaded
    places, total = [np.empty(0, np.int64)], 0
    for chunk in source_of(part, owner).chunks(CHUNK_ROWS, np.dtype(dtype)):
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
            total += units_of(weight * np.maximum(0.0, 1.0 - yf))
            violates &= yf < margin
        places.append(chunk.first + np.flatnonzero(violates))
    at = np.concatenate(places)
    at = at[~np.isin(at, held)]
    return Found(len(at), total, at)


def same(sent: Any) -> Any:
    """A model, as the result of a task: workers have it from one another."""
    return sent


def drawn(part: Any, of: Found, which: np.ndarray, held: np.ndarray, *search: Any) -> Taken:
    """The which-th of the rows that a `search` found, ascending."""
    if of.places is None:
        of = found(part, held, *search)
    sent, _, options = search
    return rows_at(part, of, which, sent, options[:2])


def rows_at(
    part: Any, of: Found | None, which: np.ndarray, sent: Sent, options: tuple[str, str]
) -> Taken:
    """The rows at some places, ascending; of a `Found`, the which-th of its."""
    if not len(which):
        return Taken(*(np.empty(0) for _ in Taken._fields))
    owner, dtype = options
    wanted = which if of is None or of.places is None else of.places[which]
    labels = Labels.restore(sent.labels, sent.closed, sent.learner.n_classes_planned)
    parts = []
    for X, y, weight, here in _rows(source_of(part, owner), wanted, np.dtype(dtype)):
        parts.append(Taken(X, labels.encode(y)[0], weight, here))
    if sum(len(part.places) for part in parts) != len(wanted):
        raise PartitionError("it changed between two passes")
    return Taken(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _rows(source: Any, wanted: np.ndarray, dtype: Any) -> Iterator[tuple[Any, ...]]:
    """Rows, labels, weights and places of the rows wanted."""
    if source.has_rows:
        rows = source.take(wanted, dtype)
        yield rows.X, rows.y, np.ones(len(wanted)), wanted
        return
    for chunk in source.chunks(CHUNK_ROWS, dtype):
        here = wanted[(wanted >= chunk.first) & (wanted < chunk.first + len(chunk.X))]
        if len(here):
            at = here - chunk.first
            weight = np.ones(len(at)) if chunk.weight is None else chunk.weight[at]
            yield chunk.X[at], chunk.y[at], weight, here


def cut(values: np.ndarray, starts: np.ndarray) -> list[np.ndarray]:
    """Ascending values, cut where the partitions start, each counted from its partition's start."""
    at = np.searchsorted(values, starts)
    return [values[a:b] - start for a, b, start in zip(at[:-1], at[1:], starts[:-1], strict=True)]


def learned(part: Any, learner: Learner) -> Learner:
    """A learner of one partition, in the order of its rows."""
    one = learner.like_new()
    for chunk in source_of(part, type(learner).__name__).chunks(CHUNK_ROWS, one._dtype):
        one.partial_fit(chunk.X, chunk.y, sample_weight=chunk.weight)
    if not one.is_fitted:
        raise PartitionError("there is nothing to learn in it")
    return one


def merged_pair(first: Learner, second: Learner) -> Learner:
    return merged([first, second])
