"""Checks and conversions of arrays that callers pass in."""

from __future__ import annotations

import numpy as np


def as_floats(
    x: object, dtype: np.dtype, ndim: int, n_features: int | None, owner: str
) -> np.ndarray:
    """A C-contiguous array of `dtype` and `ndim` dimensions; no copy if `x` is such an array.

    Raises
    ------
    TypeError
        Sparse input, or objects that are not numbers.
    ValueError
        Strings, complex numbers, or the wrong number of dimensions or features.
    """
    if hasattr(x, "tocsr"):
        raise TypeError(f"{owner} accepts dense arrays only; convert sparse input with X.toarray()")
    array = np.asarray(x)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if array.dtype.kind not in "fiubO":
        raise ValueError(f"{owner} accepts real numbers, not an array of dtype {array.dtype}")
    if array.ndim != ndim:
        hint = (
            "Reshape your data with array.reshape(1, -1) if it is one sample"
            if ndim == 2
            else "give one sample"
        )
        raise ValueError(f"Expected {ndim}D array, got {array.ndim}D array instead. {hint}")
    if array.shape[-1] == 0:
        raise ValueError(f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    if n_features is not None and array.shape[-1] != n_features:
        raise ValueError(
            f"X has {array.shape[-1]} features, but {owner} is expecting {n_features} features"
            " as input"
        )
    with np.errstate(over="ignore", invalid="ignore"):  # overflow gives inf, which is refused later
        return _aligned(np.ascontiguousarray(array, dtype))


def _aligned(array: np.ndarray) -> np.ndarray:
    """The array, or a copy if its numbers do not begin on multiples of their size."""
    return array if array.flags.aligned else array.copy()


def as_weights(sample_weight: object, n_rows: int) -> np.ndarray | None:
    """Weights as float64 of shape (n_rows,). Their values are checked when each row is learned."""
    if sample_weight is None:
        return None
    weights = _aligned(np.asarray(sample_weight, np.float64, order="C"))
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}, expected ({n_rows},)")
    return weights


def as_out(out: object, shape: tuple[int, ...]) -> np.ndarray:
    """`out`, if decision values can be written straight into it.

    Raises
    ------
    TypeError
        It is not an ndarray.
    ValueError
        It is read-only, not float64, not contiguous, or of another shape.
    """
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be an ndarray, not {type(out).__name__}")
    if out.dtype != np.float64 or not out.flags.carray or out.shape != shape:
        raise ValueError(f"out must be float64, contiguous, writeable, of shape {shape}")
    return out


def as_labels(y: object, n_rows: int, owner: str) -> np.ndarray:
    """Labels as an ndarray of shape (n_rows,)."""
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None")
    labels = np.asarray(y)
    if labels.dtype.kind == "U" and not isinstance(y, np.ndarray):
        labels = np.array(y, dtype=object)  # [1, "a"] stays 1 and "a"
    if labels.shape != (n_rows,):
        raise ValueError(
            f"y has shape {labels.shape}, expected ({n_rows},): one label per row of X"
            " (inconsistent)"
        )
    return labels
