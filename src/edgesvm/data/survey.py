"""A first pass over a source, before a learner that makes several forgets what it knows."""

from __future__ import annotations

import numpy as np

from edgesvm.contract.labels import Labels, as_object, is_label, unfit_label
from edgesvm.core.status import Status
from edgesvm.data.rows import Rows
from edgesvm.data.sources import CHUNK_ROWS, Source
from edgesvm.errors import refusal
from edgesvm.kernels import LARGEST_KERNEL, Kernel


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
) -> tuple[int, int, tuple[int, ...]]:
    """Refuse data that cannot be learned; how much there is.

    Parameters
    ----------
    source : Source
    labels : Labels
        Takes the labels of the source.
    owner : str
        Who asks, for messages.
    dtype : str, in which rows are looked at
    rows : int
        Of a chunk, at most.
    largest : float, optional
        The largest squared norm of a row that can be learned; where not given, any that is finite.
    kernel : Kernel, optional
        Where given, k(x, x) of a row must fit into a solver's kernel row.
    C : float
        Times a weight that is not zero, it must be a bound.

    Returns
    -------
    n_rows : int
    n_learned : int, rows with a weight > 0
    per_class : tuple of ints, n_learned by slot, as many as there can be labels

    Raises
    ------
    ValueError
        Names the first row that has a feature that is not finite, a weight that is none, or a label
        that is none or one too many; or there is no row, or none with a weight.
    """
    n_rows, per_class = 0, np.zeros(labels.room, np.int64)
    for chunk in source.chunks(rows, np.dtype(dtype)):
        n_rows += len(chunk.X)
        finite = _is_finite(chunk.X, largest, kernel)
        fine = finite if chunk.weight is None else finite & is_weight(chunk.weight, C)
        slots, n_known, newcomers = labels.encode(chunk.y)
        row = min(n_known, len(fine) if fine.all() else int(fine.argmin()))
        for slot, at, label in newcomers:
            if at < row:
                labels.take(slot, label)
        if row < len(chunk.y):
            if row == n_known:
                raise unknown_label(owner, chunk, row, labels, dtype)
            status = Status.BAD_WEIGHT if finite[row] else Status.NOT_FINITE
            sample = f"{owner}: row {chunk.first + row} (label {chunk.y[row]!r})"
            raise refusal(status, sample, dtype, labels.in_slots)
        learned = slots if chunk.weight is None else slots[chunk.weight > 0.0]
        per_class += np.bincount(learned, minlength=labels.room)
    if n_rows == 0:
        raise ValueError(f"{owner}: found 0 sample(s) with a label, a minimum of 1 is required")
    if not per_class.any():
        raise ValueError("sample_weight is zero for every row: there is nothing to learn")
    return n_rows, int(per_class.sum()), tuple(per_class.tolist())


def _is_finite(X: np.ndarray, largest: float | None, kernel: Kernel | None) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        square = np.einsum("ij,ij->i", X, X)
        finite = np.isfinite(square) if largest is None else square <= largest
        return finite if kernel is None else finite & (kernel.of_square(square) <= LARGEST_KERNEL)


def is_weight(weight: np.ndarray, C: float = 1.0) -> np.ndarray:
    """Which weights are zero, or C times them a bound; ndarray of bool."""
    with np.errstate(over="ignore", invalid="ignore"):
        bound = C * weight
    return (weight == 0.0) | (np.isfinite(bound) & (bound > 0.0))


def unknown_label(owner: str, chunk: Rows, row: int, labels: Labels, dtype: str) -> ValueError:
    """The exception for a label that is none, or one too many."""
    label, number = as_object(chunk.y[row]), chunk.first + row
    if labels.closed and is_label(label):
        sample = f"{owner}: row {number} (label {label!r})"
        return refusal(Status.UNKNOWN_LABEL, sample, dtype, labels.in_slots)
    return unfit_label(label, number, owner, list(labels.in_slots), chunk.y.dtype, labels.room)
