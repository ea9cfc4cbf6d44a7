"""Kernel values against their definitions, and the exponential against correct rounding."""

import math

import numpy as np
import pytest
from each import each

from edgesvm.core.views import (
    block_kernel_values_view,
    dot_view,
    exp_view,
    kernel_values_view,
    kernel_view,
    weighted_view,
)
from edgesvm.kernels import RBF, Linear, Polynomial

ULP = 2.0**-52
KERNELS = [Linear(), RBF(0.2), Polynomial(3, 0.2, 1.0)]


def test_exponential_is_within_two_units_in_the_last_place():
    rng = np.random.default_rng(3)
    tries = np.concatenate(
        [-rng.uniform(0, 700, 3000), -rng.uniform(0, 1, 3000), -np.logspace(-17, 2, 500)]
    )
    worst = max(abs(exp_view(x) / math.exp(x) - 1) for x in tries.tolist())
    assert worst <= 2 * ULP


@each("x, value", [(0.0, 1.0), (-0.0, 1.0), (-708.5, 0.0), (-1e308, 0.0), (-math.inf, 0.0)])
def test_exponential_at_its_edges(x, value):
    assert exp_view(x) == value


def test_exponential_is_monotone_around_the_seams_of_its_reduction():
    """Where k in exp(x) = 2^k exp(r) changes, a bad reduction would make a step back."""
    for k in range(1, 900):
        seam = -(k - 0.5) * math.log(2)
        near = [seam + i * 1e-12 * k for i in range(-3, 4)]
        values = [exp_view(x) for x in near]
        assert values == sorted(values)


def k(kernel, x, z):
    return kernel_view(kernel.code, x, z)


@each("n", [1, 5, 8, 33])
def test_values(n):
    x, z = np.random.default_rng(n).standard_normal((2, n))
    assert k(Linear(), x, z) == pytest.approx(x @ z, rel=1e-12, abs=1e-12)
    rbf = math.exp(-0.3 * ((x - z) ** 2).sum())
    assert k(RBF(0.3), x, z) == pytest.approx(rbf, rel=1e-13)
    for degree in (1, 2, 3, 7, 64):
        value = k(Polynomial(degree, 0.5, 1.5), x, z)
        assert value == pytest.approx((0.5 * (x @ z) + 1.5) ** degree, rel=1e-11)


def small_rows(n, width, dtype):
    rng = np.random.default_rng(width)
    return (rng.standard_normal((n, width)) / np.sqrt(width)).astype(dtype)


@each("dtype", ["float32", "float64"])
@each("width", [1, 2, 3, 7, 8, 9, 16, 31, 256])
@each("kernel", KERNELS, ids=str)
def test_values_of_many_rows(kernel, width, dtype):
    """In float64 whatever the dtype, and a row's value is one to the bit: wherever the row is,
    however many there are, whichever of the two is the sample."""
    rows = small_rows(29, width, dtype)
    found = np.array([kernel_values_view(kernel.code, x, rows, False) for x in rows])
    exact = rows.astype(np.float64)
    expected = [[k(kernel, x, z) for z in exact] for x in exact]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)
    np.testing.assert_array_equal(found, found.T)
    for n in (1, 3, 4, 7, 8, 12):
        np.testing.assert_array_equal(
            kernel_values_view(kernel.code, rows[2], rows[5 : 5 + n], False), found[2, 5 : 5 + n]
        )


@each("dtype", ["float32", "float64"])
@each("width", [1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 100, 256])
@each("kernel", KERNELS, ids=str)
def test_values_of_many_rows_in_their_dtype_are_those_of_each(kernel, width, dtype):
    rows = small_rows(29, width, dtype)
    expected = [k(kernel, rows[2], row) for row in rows]
    for first in range(29):
        found = kernel_values_view(kernel.code, rows[2], rows[first:], True)
        assert found.tolist() == expected[first:]


@each("in_dtype", [False, True])
def test_values_of_rows_far_apart_are_zero(in_dtype):
    far = np.array([[1e200, 0.0], [0.0, 1e3], [0.0, 0.0]])
    assert kernel_values_view(RBF(0.2).code, far[2], far, in_dtype).tolist() == [0.0, 0.0, 1.0]


@each("dtype", ["float32", "float64"])
@each("in_dtype", [False, True])
@each("width", [1, 2, 7, 8, 9, 16, 24, 39, 100, 1024])
@each("kernel", KERNELS, ids=str)
def test_values_of_eight_samples_are_those_of_each(kernel, width, dtype, in_dtype):
    x, rows = small_rows(8, width, dtype), small_rows(19, width, dtype)[8:]
    code = kernel.code
    expected = np.array([kernel_values_view(code, sample, rows, in_dtype) for sample in x]).T
    for n in (1, 2, 4, 7, 11):
        found = block_kernel_values_view(code, x, rows[:n], in_dtype)
        np.testing.assert_array_equal(found, expected[:n])


@each("n", [1, 3, 7, 8, 9, 15, 16, 23, 24, 31, 32, 33, 100, 128])
def test_weighted_sums_of_eight_columns_are_those_of_each(n):
    rng = np.random.default_rng(n)
    weight, values = rng.standard_normal(n), rng.standard_normal((n, 8))
    columns = np.ascontiguousarray(values.T)
    assert weighted_view(weight, values, True).tolist() == [
        dot_view(weight, column) for column in columns
    ]
    one_by_one = np.zeros(8)
    for w, row in zip(weight, values, strict=True):
        one_by_one += w * row
    assert weighted_view(weight, values, False).tolist() == one_by_one.tolist()
