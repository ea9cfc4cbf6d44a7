"""SparseRows: rows by number, slice and mask, in any dtype, are those of the dense matrix."""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from each import each

import edgesvm
from edgesvm.contract.sparse import SparseRows, stacked

DENSE = np.random.default_rng(2).standard_normal((9, 6))
DENSE[np.abs(DENSE) < 0.7] = 0.0
DENSE[[0, 4, 8]] = 0.0


def sparse(X, index=np.int32):
    rows, columns = np.nonzero(X)
    indptr = np.searchsorted(rows, np.arange(len(X) + 1)).astype(index)
    return SparseRows(X[rows, columns], columns.astype(index), indptr, X.shape)


def dense(rows):
    made = np.array([*rows]).reshape(rows.shape)
    assert rows.toarray().tolist() == made.tolist()
    return made


@each("index", [np.int32, np.int64, np.uint8])
@each("dtype", [np.float32, np.float64])
def test_rows_are_those_of_the_dense_matrix(index, dtype):
    rows, X = sparse(DENSE, index).astype(dtype), DENSE.astype(dtype)
    mask = np.arange(9) % 3 < 2
    for key in (slice(None), slice(2, 7), slice(-3, None), slice(5, 5), slice(7, 2), mask):
        assert rows[key].shape == X[key].shape
        assert dense(rows[key]).tolist() == X[key].tolist()
        assert rows[key].squares() == pytest.approx((X[key] ** 2).sum(axis=1))
    numbers = np.array([8, 1, 1, 5])
    assert dense(rows[2:][numbers - 2 + (numbers < 2) * 2]).tolist() == X[[8, 3, 3, 5]].tolist()
    assert rows[-1].tolist() == X[-1].tolist()
    assert dense(rows[3:][mask[3:]]).tolist() == X[3:][mask[3:]].tolist()


def test_a_slice_refers_to_the_matrix_and_chosen_rows_are_a_copy():
    rows = sparse(DENSE)
    assert np.shares_memory(rows[2:5].data, rows.data)
    assert np.shares_memory(rows.astype(np.float32)[2:5].indices, rows.indices)
    chosen = rows[np.array([1, 2])]
    assert not np.shares_memory(chosen.data, rows.data)
    assert len(chosen.data) == np.count_nonzero(DENSE[1:3])


@each("parts", [(0, 9), (0, 4, 9), (0, 1, 1, 5, 9), (2, 5, 7)])
def test_stacked(parts):
    rows = sparse(DENSE)
    whole = stacked([rows[a:b] for a, b in pairwise(parts)])
    assert dense(whole).tolist() == DENSE[parts[0] : parts[-1]].tolist()
    assert stacked([DENSE[:2], DENSE[2:]]).tolist() == DENSE.tolist()


def test_what_was_given_in_float32_stays_as_coarse():
    rows = sparse(DENSE).astype(np.float32).astype(np.float64)
    assert dense(rows).tolist() == DENSE.astype(np.float32).astype(np.float64).tolist()
    assert rows.squares().dtype == np.float64


def test_integers_of_a_slice_are_converted_alone():
    counts = SparseRows(np.arange(6, dtype=np.uint8), [0, 1, 0, 1, 0, 1], [0, 2, 4, 6], (3, 2))
    part = counts[1:].astype(np.float32)
    assert part.data.tolist() == [2.0, 3.0, 4.0, 5.0]
    assert dense(part).tolist() == [[2.0, 3.0], [4.0, 5.0]]


def test_squares_beyond_float32_are_infinite():
    rows = SparseRows([1e30, 1.0, np.nan], [0, 0, 0], [0, 1, 2, 3], (3, 1))
    assert np.isfinite(rows.squares()).tolist() == [True, True, False]
    assert np.isfinite(rows.astype(np.float32).squares()).tolist() == [False, True, False]


@each("key, error", [(9, IndexError), (-10, IndexError), (slice(0, 9, 2), ValueError)])
def test_keys_that_are_refused(key, error):
    with pytest.raises(error, match="row"):
        sparse(DENSE)[key]


@each("shape", [(-1, 2), (2, -1), (2, (1 << 24) + 1)])
def test_shapes_that_are_refused(shape):
    with pytest.raises(ValueError, match="cannot have the shape"):
        SparseRows([1.0], [0], [0, 1, 1], shape)


def test_rows_made_without_the_constructor_hold_nothing():
    rows = SparseRows.__new__(SparseRows)
    assert len(rows) == 0
    assert rows.astype(np.float32).squares().tolist() == []


def test_no_compiled_module_counts_from_an_end():
    """An index below zero is not one without `wraparound`: NumPy 2.5 refuses it."""
    for path in Path(edgesvm.__file__).parent.rglob("*.pyx"):
        found = re.search(r"\[(-\d|[^]\[]*:-\d)", path.read_text())
        assert found is None, f"{path.name}: {found}"
