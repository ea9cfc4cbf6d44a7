"""Checks and conversions of arrays that callers pass in."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from edgesvm.contract.labels import as_array
from edgesvm.contract.sparse import SparseRows
from edgesvm.core.constants import LARGEST_TARGET
from edgesvm.errors import DataConversionWarning, as_sklearns

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class CSR(Protocol):
    """A matrix in CSR format, for example `scipy.sparse.csr_array`; see `SparseRows`."""

    format: str
    data: Any
    indices: Any
    indptr: Any
    shape: Any


Matrix: TypeAlias = "ArrayLike | CSR"


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
    if is_sparse(x):
        raise TypeError(
            f"{owner} accepts sparse input only where there can be several rows; give one sample as"
            " a dense array, x.toarray()[0]"
        )
    array = as_array(x)
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
    _check_width(array.shape, n_features, owner)
    if array.dtype == dtype:
        return _aligned(np.ascontiguousarray(array))
    with np.errstate(over="ignore", invalid="ignore"):  # overflow gives inf, which is refused later
        return _aligned(np.ascontiguousarray(array, dtype))


def as_rows(X: Any, dtype: np.dtype, n_features: int | None, owner: str) -> Any:
    """Rows of shape (n, n_features): those of `as_floats`, or of a CSR matrix as `SparseRows`,
    which are read where they lie.

    Raises
    ------
    TypeError
        A sparse matrix that is not in CSR format; see also `SparseRows`.
    ValueError
        See `as_floats` and `SparseRows`.
    """
    if is_sparse(X):
        return sparse_rows(X, n_features, owner).astype(dtype)
    return as_floats(X, dtype, 2, n_features, owner)


def sparse_rows(X: Any, n_features: int | None, owner: str) -> SparseRows:
    """The rows of a sparse matrix, their numbers as they are; see `as_rows`."""
    if X.format != "csr":
        raise TypeError(
            f"{owner} accepts sparse rows in CSR format, not {X.format!r}; convert them with"
            " X.tocsr()"
        )
    if len(X.shape) != 2:
        raise ValueError(f"Expected 2D array, got a sparse array of shape {X.shape} instead.")
    if not isinstance(X, SparseRows):
        X = SparseRows(X.data, X.indices, X.indptr, X.shape, owner)
    _check_width(X.shape, n_features, owner)
    return X


def is_sparse(X: object) -> bool:
    """Whether it is a sparse matrix of any format, told by its attributes."""
    return hasattr(X, "tocsr") or (hasattr(X, "indptr") and hasattr(X, "format"))


def _check_width(shape: tuple[int, ...], n_features: int | None, owner: str) -> None:
    if shape[-1] == 0:
        raise ValueError(f"0 feature(s) (shape={shape}) while a minimum of 1 is required.")
    if n_features is not None and shape[-1] != n_features:
        raise ValueError(
            f"X has {shape[-1]} features, but {owner} is expecting {n_features} features as input"
        )


def _aligned(array: np.ndarray) -> np.ndarray:
    """The array, or a copy if its numbers do not begin on multiples of their size."""
    return array if array.flags.aligned else array.copy()


def as_weights(sample_weight: object, n_rows: int) -> np.ndarray | None:
    """Weights as float64 of shape (n_rows,). Their values are checked when each row is learned."""
    if sample_weight is None:
        return None
    weights = _aligned(np.asarray(as_array(sample_weight), np.float64, order="C"))
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
    """Labels as an ndarray of shape (n_rows,). A column of shape (n_rows, 1) is taken, with a
    warning."""
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None")
    labels = as_array(y)
    if not isinstance(y, np.ndarray) and (
        labels.dtype.kind in "US" or (labels.dtype.kind == "f" and (abs(labels) >= 2**63).any())
    ):
        # [1, "a"] stays 1 and "a", "a\0" does not become "a", nor 2**63 + 1 a float
        labels = np.array(y, dtype=object)
    if labels.shape == (n_rows, 1):
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of"
            " y to (n_samples, ), for example using ravel().",
            as_sklearns(DataConversionWarning),
            stacklevel=4,
        )
        labels = labels.ravel()
    if labels.shape != (n_rows,):
        raise ValueError(
            f"y has shape {labels.shape}, expected ({n_rows},): one label per row of X"
            " (inconsistent)"
        )
    return labels


def as_targets(y: object, n_rows: int, owner: str, *, finite: bool = False) -> np.ndarray:
    """Targets of a regressor as float64 of shape (n_rows,), C-contiguous; no copy of such an array.

    Raises
    ------
    ValueError
        They are no real numbers, as many as there are rows; with `finite`, one is NaN, infinite or
        too large.
    """
    numbers = as_labels(y, n_rows, owner)
    if numbers.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if numbers.dtype.kind not in "biuf":
        row = first_that_is_no_number(numbers)
        if row is not None:
            raise ValueError(f"{owner}: row {row}: the target {numbers[row]!r} is not a number")
    targets = _aligned(np.ascontiguousarray(numbers, np.float64))
    if finite and not (fits := abs(targets) <= LARGEST_TARGET).all():
        row = int(np.argmin(fits))
        raise ValueError(
            f"{owner}: y contains NaN or infinity, or more than {LARGEST_TARGET}: row {row} is"
            f" {targets[row]}"
        )
    return targets


def first_that_is_no_number(values: np.ndarray) -> int | None:
    """Where it is; None if there is none. A missing one is NaN, and text that NumPy would read as a
    number is none."""
    if values.dtype.kind != "O":
        return 0 if len(values) else None
    for row, value in enumerate(values.tolist()):
        try:
            if value is not None and (isinstance(value, str | bytes) or float(value) is None):
                return row
        except (TypeError, ValueError, OverflowError):
            return row
    return None
