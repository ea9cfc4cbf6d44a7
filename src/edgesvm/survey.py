"""A first pass over a source, before a learner that makes several forgets what it knows."""

from __future__ import annotations

import numpy as np

from edgesvm.contract.labels import Labels, as_object, is_label
from edgesvm.core.status import Status
from edgesvm.errors import refusal
from edgesvm.kernels import LARGEST_KERNEL, Kernel
from edgesvm.sources import CHUNK_ROWS, Chunk, Source


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
) -> tuple[int, int, tuple[int, int]]:
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
    per_class : tuple of two ints, n_learned by slot of the label

    Raises
    ------
    ValueError
        Names the first row that has a feature that is not finite, a weight that is none, or a label
        that is none or a third one; or there is no row, or none with a weight.
    """
    n_rows, per_class = 0, np.zeros(2, np.int64)
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
            sample = f"{owner}: row {chunk.at + row} (label {chunk.y[row]!r})"
            raise refusal(status, sample, dtype, labels.in_slots)
        learned = slots if chunk.weight is None else slots[chunk.weight > 0.0]
        per_class += np.bincount(learned, minlength=2)
    if n_rows == 0:
        raise ValueError(f"{owner}: found 0 sample(s) with a label, a minimum of 1 is required")
    if not per_class.any():
        raise ValueError("sample_weight is zero for every row: there is nothing to learn")
    return n_rows, int(per_class.sum()), (int(per_class[0]), int(per_class[1]))


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


def unknown_label(owner: str, chunk: Chunk, row: int, labels: Labels, dtype: str) -> ValueError:
    """The exception for a label that is none, or a third one."""
    label = as_object(chunk.y[row])
    number = chunk.at + row
    sample = f"{owner}: row {number} (label {label!r})"
    if not is_label(label):
        return ValueError(f"{sample} has no label: None, NaN or infinite")
    if labels.closed:
        return refusal(Status.UNKNOWN_LABEL, sample, dtype, labels.in_slots)
    if chunk.y.dtype.kind == "f" and (chunk.y != np.trunc(chunk.y)).any():
        return ValueError(
            f"{owner}: Unknown label type: continuous (row {number} has a third value)"
        )
    return ValueError(
        f"{owner}: Only binary classification is supported. The type of the target is multiclass:"
        f" row {number} has {label!r} beside {list(labels.in_slots)}"
    )
