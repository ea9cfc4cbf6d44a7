"""A first pass that checks a source, before a learner forgets its model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgesvm.contract.labels import Labels, as_object, unfit, unfit_label
from edgesvm.contract.sparse import SparseRows
from edgesvm.core.constants import LARGEST_NORM, LARGEST_WEIGHT, LEAST_WEIGHT, MOST_TIMES
from edgesvm.core.status import Status
from edgesvm.data.rows import Rows
from edgesvm.data.sources import CHUNK_ROWS, Source
from edgesvm.errors import refusal, too_long
from edgesvm.kernels import Kernel


class Surveyed(NamedTuple):
    """What a source has."""

    n_rows: int
    n_learned: int  # rows with a weight > 0
    per_class: tuple[int, ...]  # of these, by class index
    mean_weight: float  # of these
    n_nonzeros: int = 0  # of all rows; 0 if they were not counted
    n_capped: int = 0  # rows that weigh less than asked for


def survey(
    source: Source,
    labels: Labels,
    *,
    owner: str,
    dtype: str,
    rows: int = CHUNK_ROWS,
    largest: float | None = None,
    kernel: Kernel | None = None,
    C: float = 1.0,
    bounded: bool = True,
    largest_target: float | None = None,
    max_nonzeros: int | None = None,
) -> Surveyed:
    """Check that a source can be learned, count its rows, and cap its weights if `bounded`."""
    n_rows, per_class = 0, np.zeros(labels.room, np.int64)
    n_nonzeros, n_capped, total, heaviest = 0, 0, 0.0, 0.0
    for chunk in source.chunks(rows, np.dtype(dtype)):
        n_rows += len(chunk.X)
        finite = _is_finite(chunk.X, largest, kernel)
        fine = finite if chunk.weight is None else finite & is_weight(chunk.weight, C)
        if largest_target is None:
            slots, n_known = labels.meet(chunk.y)
        else:
            slots, n_known = np.zeros(len(fine), np.int64), len(fine)
            fits = np.abs(chunk.y) <= largest_target
            fine = fine & fits
        row = min(n_known, len(fine) if fine.all() else int(fine.argmin()))
        if row < len(chunk.y):
            if row == n_known:
                raise unknown_label(owner, chunk, row, labels, dtype)
            status = Status.BAD_WEIGHT if finite[row] else Status.NOT_FINITE
            what = "label" if largest_target is None else "target"
            if largest_target is not None and finite[row] and not fits[row]:
                status = Status.BAD_TARGET
            sample = f"{owner}: row {chunk.first + row} ({what} {chunk.y[row]!r})"
            weight = 1.0 if chunk.weight is None else chunk.weight[row]
            raise refusal(status, sample, dtype, labels.in_slots, weight)
        n_nonzeros += _nonzeros(chunk, owner, max_nonzeros)
        learned = slots if chunk.weight is None else slots[chunk.weight > 0.0]
        per_class += np.bincount(learned.astype(np.intp), minlength=labels.room)
        weights = np.ones(len(learned)) if chunk.weight is None else chunk.weight
        total += float(weights.sum())
        heaviest = max(heaviest, float(weights.max(initial=0.0)))
    if n_rows == 0:
        raise ValueError(f"{owner}: found 0 sample(s) with a label, a minimum of 1 is required")
    if not per_class.any():
        raise ValueError("sample_weight is zero for every row: nothing to learn")
    n_learned = int(per_class.sum())
    mean = total / n_learned
    if bounded and heaviest > MOST_TIMES * mean:
        weighed = (c.weight for c in source.chunks(rows, np.dtype(dtype)) if c.weight is not None)
        n_capped = sum(int((weight > MOST_TIMES * mean).sum()) for weight in weighed)
        source.most_weight = MOST_TIMES * mean
    return Surveyed(n_rows, n_learned, tuple(per_class.tolist()), mean, n_nonzeros, n_capped)


def _is_finite(X: Any, largest: float | None, kernel: Kernel | None) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        square = X.squares() if isinstance(X, SparseRows) else np.einsum("ij,ij->i", X, X)
        finite = np.isfinite(square) if largest is None else square <= largest
        return finite if kernel is None else finite & (kernel.of_square(square) <= LARGEST_NORM)


def _nonzeros(chunk: Rows, owner: str, most: int | None) -> int:
    """Non-zeros of all rows; 0 without `most`, of which a row has at most half."""
    if most is None or len(chunk.X) == 0:
        return 0
    X = chunk.X
    if isinstance(X, SparseRows):
        before = np.concatenate([[0], np.cumsum(X.data != 0)])
        counts = np.diff(before[X.indptr])
    else:
        counts = np.count_nonzero(X, axis=1)
    row = int(counts.argmax())
    if 2 * counts[row] > most:
        raise too_long(f"{owner}: row {chunk.first + row}", int(counts[row]), most)
    return int(counts.sum())


def is_weight(weight: np.ndarray, C: float = 1.0) -> np.ndarray:
    """Which weights are zero, or give a finite positive C * weight; ndarray of bool."""
    with np.errstate(over="ignore", invalid="ignore"):
        bound = C * weight
    fine = np.isfinite(bound) & (bound > 0.0)
    return (weight == 0.0) | (fine & (weight >= LEAST_WEIGHT) & (weight <= LARGEST_WEIGHT))


def unknown_label(owner: str, chunk: Rows, row: int, labels: Labels, dtype: str) -> ValueError:
    """The exception for an invalid label, or for one class too many."""
    label, number = as_object(chunk.y[row]), chunk.first + row
    if labels.closed and unfit(label) is None:
        sample = f"{owner}: row {number} (label {label!r})"
        return refusal(Status.UNKNOWN_LABEL, sample, dtype, labels.in_slots)
    return unfit_label(label, number, owner, list(labels.in_slots), chunk.y.dtype, labels.room)
