"""A look through data before anything is forgotten for it: which row a solver would refuse."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from edgesvm.contract.labels import Labels, as_object, is_label
from edgesvm.core.status import Status
from edgesvm.errors import refusal
from edgesvm.kernels import LARGEST_KERNEL, Kernel, resolve_kernel
from edgesvm.sources import Chunk


def survey(chunks: Iterable[Chunk], labels: Labels, solver: Any, owner: str) -> tuple[int, int]:
    """The number of rows, and of those with a weight; `labels` has taken what labels there are.

    Raises
    ------
    ValueError
        Names the first row that `solver`, which has BatchSVM's parameters, would refuse.
    """
    n_rows = n_learned = 0
    for chunk in chunks:
        n_rows += len(chunk.X)
        kernel = resolve_kernel(
            solver.kernel, chunk.X.shape[1], solver.gamma, solver.degree, solver.coef0
        )
        held = is_held(chunk.X, kernel)
        fine = held if chunk.weight is None else held & is_weight(chunk.weight, solver.C)
        _, n_known, newcomers = labels.encode(chunk.y)
        row = min(n_known, len(fine) if fine.all() else int(fine.argmin()))
        for slot, at, label in newcomers:
            if at < row:
                labels.take(slot, label)
        if row < len(chunk.y):
            if row == n_known:
                raise unknown_label(owner, chunk, row, labels, solver.dtype)
            status = Status.BAD_WEIGHT if held[row] else Status.NOT_FINITE
            sample = f"{owner}: row {chunk.at + row} (label {chunk.y[row]!r})"
            raise refusal(status, sample, solver.dtype, labels.in_slots)
        n_learned += len(fine) if chunk.weight is None else int(np.count_nonzero(chunk.weight))
    return n_rows, n_learned


def is_held(X: np.ndarray, kernel: Kernel) -> np.ndarray:
    """Which rows the solver takes."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", X, X)
        return np.isfinite(squares) & (kernel.of_square(squares) <= LARGEST_KERNEL)


def is_weight(weight: np.ndarray, C: float) -> np.ndarray:
    """Which weights: zero, or C times it is a bound."""
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
