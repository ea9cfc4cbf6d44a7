"""The door for features: what is taken as it is, what is converted, what is refused and why."""

from __future__ import annotations

import numpy as np


def as_floats(
    x: object, dtype: np.dtype, ndim: int, n_features: int | None, owner: str
) -> np.ndarray:
    """A C-contiguous array of `dtype` and `ndim` dimensions; not a copy where `x` is one already.

    Raises
    ------
    TypeError
        Sparse input, or objects that are no numbers.
    ValueError
        Strings, complex numbers, wrong number of dimensions or features.
    """
    if hasattr(x, "tocsr"):
        raise TypeError(f"{owner} takes dense arrays; sparse input must be made dense: X.toarray()")
    array = np.asarray(x)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if array.dtype.kind not in "fiubO":
        raise ValueError(f"{owner} takes real numbers, not an array of dtype {array.dtype}")
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
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # what overflows becomes inf, which is refused by name
        return np.ascontiguousarray(array, dtype)


def as_weights(sample_weight: object, n_rows: int) -> np.ndarray | None:
    """Weights as float64 of shape (n_rows,); their values are checked row by row as they are
    learned."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, np.float64, order="C")
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}, expected ({n_rows},)")
    return weights


def as_out(out: object, shape: tuple[int, ...]) -> np.ndarray:
    """`out` where decision values can be put straight into it.

    Raises
    ------
    TypeError
        It is no ndarray.
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
            f"y has shape {labels.shape}, expected ({n_rows},): one label a row of X (inconsistent)"
        )
    return labels
