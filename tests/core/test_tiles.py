"""Rows in tiles: put, got and swapped whole, and kernel values against their definitions."""

import numpy as np
import pytest
from each import each

from edgesvm import RBF, Linear, Polynomial
from edgesvm.core.views import TilesView

KERNELS = [
    Linear(),
    RBF(0.3),
    Polynomial(1, 0.5, 0.0),
    Polynomial(3, 0.2, 1.0),
    Polynomial(10, 0.1),
]
# Of both dtypes' 16 and 8 rows a tile, and of the four tiles that are done together: both sides.
COUNTS = [1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130]
RTOL = {"float32": 2e-5, "float64": 1e-7}  # kernel rows are rounded to float32


def rows_of(n, width, dtype="float64", seed=0):
    return np.random.default_rng([seed, n, width]).standard_normal((n, width)).astype(dtype)


@pytest.fixture(params=["float32", "float64"])
def dtype(request):
    return request.param


@each("n", COUNTS)
@each("width", [1, 3, 20])
def test_what_is_put_is_got(n, width, dtype):
    X = rows_of(n, width, dtype)
    tiles = TilesView(X)
    for t in range(n):
        np.testing.assert_array_equal(tiles.get(t), X[t])


def test_swaps_are_those_of_the_array(dtype):
    X = rows_of(50, 3, dtype)
    tiles = TilesView(X)
    rng = np.random.default_rng(1)
    for _ in range(200):
        s, t = rng.integers(0, 50, 2)
        tiles.swap(s, t)
        X[[s, t]] = X[[t, s]]
    np.testing.assert_array_equal([tiles.get(t) for t in range(50)], X)


@each("kernel", KERNELS, ids=str)
@each("n", COUNTS)
def test_kernel_row(kernel, n, dtype):
    X = rows_of(n, 6, dtype)
    found = TilesView(X).kernel_row(kernel.code, X[n // 2], 0, n)[:n]
    wide = X.astype(np.float64)
    expected = kernel(wide[n // 2 : n // 2 + 1], wide)[0]
    np.testing.assert_allclose(
        found, expected, rtol=RTOL[dtype], atol=RTOL[dtype] * abs(expected).max()
    )


@each("first, last", [(0, 1), (5, 9), (16, 32), (15, 17), (33, 100), (99, 100)])
def test_a_part_of_a_row_is_the_whole_rows_part(first, last, dtype):
    X = rows_of(100, 4, dtype)
    tiles, code = TilesView(X), RBF(0.5).code
    whole, part = tiles.kernel_row(code, X[3], 0, 100), tiles.kernel_row(code, X[3], first, last)
    lanes = 16 if dtype == "float32" else 8
    begin, end = first // lanes * lanes, -(-last // lanes) * lanes
    np.testing.assert_array_equal(part[begin:end], whole[begin:end])
    assert np.isnan(part[:begin]).all() and np.isnan(part[end:]).all(), "written outside"


def test_rbf_of_equal_and_of_distant_rows(dtype):
    X = np.array([[0, 0], [3, 4], [1e3, 0], [1e10, 0]], dtype)
    found = TilesView(X).kernel_row(RBF(0.04).code, X[0], 0, 4)[:4]
    assert found.tolist() == [1.0, pytest.approx(np.exp(-1.0), rel=1e-6), 0.0, 0.0]


@each("kernel", KERNELS, ids=str)
@each("n", COUNTS)
def test_weighted_sum(kernel, n, dtype):
    X, weights = rows_of(n, 6, dtype), rows_of(n, 1, seed=2)[:, 0]
    x = rows_of(1, 6, dtype, seed=3)[0]
    values = kernel(x[None].astype(np.float64), X.astype(np.float64))[0]
    found = TilesView(X).weighted_kernel(kernel.code, x, weights)
    rtol = {"float32": 2e-5, "float64": 1e-13}[dtype]
    assert found == pytest.approx(
        values @ weights, rel=rtol, abs=rtol * abs(values * weights).sum()
    )


@each("n_zeros", [0, 1, 17, 18, 19, 30, 36, 37])
@each("kernel", [Linear(), Polynomial(1, 0.5, 0.0)], ids=str)
@each("n", [8, 16, 80])
def test_zeros_are_passed_over_without_a_trace(n_zeros, kernel, n, dtype):
    """Each row's sum runs over the features in order; what a zero would add changes no bit."""
    width = 37  # two whole vectors of float32, and a part of one
    X, x = rows_of(n, width, dtype), rows_of(1, width, dtype)[0]
    x[np.random.default_rng(n_zeros).permutation(width)[:n_zeros]] = 0.0
    x[16:32] *= n_zeros < 30  # a whole vector of zeros
    x[20] = -0.0 if n_zeros > 20 else x[20]
    total = np.zeros(n, dtype)
    for d in range(width):
        total = total + X[:, d] * x[d]
    if kernel != Linear():
        total = total * np.dtype(dtype).type(0.5) + np.dtype(dtype).type(0.0)
    row = TilesView(X).kernel_row(kernel.code, x, 0, n)
    assert row[:n].tobytes() == total.astype(np.float32).tobytes()


def hollow_rows(n, width, dtype, seed=0, share=0.03):
    """Rows that are mostly zero, with a negative zero."""
    rng = np.random.default_rng([seed, n, width])
    X = rng.standard_normal((n, width)) * (rng.random((n, width)) < share)
    X[n // 2, width // 2] = -0.0
    return X.astype(dtype)


def bits(tiles, code, x, n):
    weights = np.linspace(-1.0, 2.0, n)
    row = tiles.kernel_row(code, x, 0, n).tobytes()
    return (row, *(tiles.weighted_kernel(code, x, weights, wide) for wide in (False, True)))


@each("width", [5, 64, 65, 200])
@each("n", [1, 17, 80])
def test_noted_tiles_give_the_same_bits(n, width, dtype):
    """Samples with few features and with many, rows with few, and then one with many."""
    X, Z = hollow_rows(n, width, dtype), hollow_rows(4, width, dtype, seed=1)
    samples = [*Z, X[n // 2], np.ones(width), np.zeros(width), rows_of(1, width, dtype)[0]]
    plain, noted = TilesView(X), TilesView(X)
    noted.note()
    rng = np.random.default_rng(7)
    for row in (Z[0], Z[1] * -1, rows_of(1, width, dtype)[0], np.zeros(width, dtype)):
        for kernel in KERNELS:
            for x in samples:
                assert bits(noted, kernel.code, x, n) == bits(plain, kernel.code, x, n)
        for _ in range(10):
            s, t = rng.integers(0, n, 2)
            for tiles in (plain, noted):
                tiles.swap(s, t)
                tiles.put(t, row)
        for t in range(n):
            assert noted.get(t).tobytes() == plain.get(t).tobytes()


@each("kernel", KERNELS, ids=str)
@each("width", [5, 65, 200])
@each("n, n_points", [(1, 1), (17, 3), (130, 59), (40, 16), (0, 5)])
def test_rows_weighed_together_give_the_same_bits(n, n_points, width, kernel, dtype):
    """Hollow rows and full ones among them, with notes and without."""
    X, Z = hollow_rows(n or 1, width, dtype), hollow_rows(n_points, width, dtype, seed=1)
    X[n // 3] = rows_of(1, width, dtype)[0]
    weights = np.linspace(-1.0, 2.0, n)
    for full in (0, n_points // 3, n_points):
        Z[:full] = rows_of(n_points, width, dtype, seed=2)[:full]
        rows, points = TilesView(X), TilesView(Z)
        one_by_one = [rows.weighted_kernel(kernel.code, z, weights) for z in Z]
        for _ in range(2):
            found = rows.weighted_kernels(kernel.code, points, weights)
            assert found.tobytes() == np.array(one_by_one).tobytes()
            rows.note(), points.note()


@each("kernel", KERNELS, ids=str)
@each("width", [5, 65, 200, 20_000])
@each("n, n_points", [(1, 1), (17, 3), (130, 16), (40, 9)])
def test_kernel_rows_computed_together_are_those_computed_alone(n, n_points, width, kernel, dtype):
    X, Z = hollow_rows(n, width, dtype), hollow_rows(n_points, width, dtype, seed=1)
    X[n // 3] = rows_of(1, width, dtype)[0]
    for full in (0, n_points // 3, n_points):
        Z[:full] = rows_of(n_points, width, dtype, seed=2)[:full]
        rows, points = TilesView(X), TilesView(Z)
        alone = [rows.kernel_row(kernel.code, z, 0, n)[:n] for z in Z]
        for _ in range(2):
            found = rows.kernel_rows(kernel.code, points, n)[:, :n]
            assert np.ascontiguousarray(found).tobytes() == np.array(alone).tobytes()
            rows.note(), points.note()


@each("n, n_points", [(17, 59)])
def test_wide_rows_are_weighed_fewer_at_a_time(n, n_points, dtype):
    X, Z = (hollow_rows(k, 20_000, dtype, seed=k) for k in (n, n_points))
    rows, points, weights = TilesView(X), TilesView(Z), np.linspace(-1.0, 2.0, n)
    rows.note(), points.note()
    one_by_one = [rows.weighted_kernel(RBF(0.01).code, z, weights) for z in Z]
    assert rows.weighted_kernels(RBF(0.01).code, points, weights).tolist() == one_by_one


@each("lanes, dtype", [(16, "float32"), (8, "float64")])
def test_what_is_noted(lanes, dtype):
    X = np.zeros((2 * lanes, 70), dtype)
    X[3, [0, 63]], X[lanes, 64], X[lanes + 1, 69] = 1.0, -2.0, -0.0
    tiles = TilesView(X)
    present = tiles.note()
    assert present.tolist() == [[1 | 1 << 63, 0], [0, 1 | 1 << 5]]
    row = np.zeros(70, dtype)
    row[9] = 3.0
    tiles.put(1, row)
    assert present.tolist() == [[1 | 1 << 9 | 1 << 63, 0], [0, 1 | 1 << 5]]
    tiles.swap(1, lanes)
    assert present.tolist() == 2 * [[1 | 1 << 9 | 1 << 63, 1 | 1 << 5]]
    tiles.clear(1)
    assert present.tolist() == [[0, 0], [1 | 1 << 9 | 1 << 63, 1 | 1 << 5]]


@each("kernel", KERNELS, ids=str)
@each("n", COUNTS)
def test_a_weighted_sum_in_float64(kernel, n, dtype):
    X = rows_of(n, 6, dtype)
    weights = np.random.default_rng(n).standard_normal(n)
    found = TilesView(X).weighted_kernel(kernel.code, X[n // 2], weights, in_float64=True)
    wide = X.astype(np.float64)
    expected = kernel(wide[n // 2 : n // 2 + 1], wide)[0]
    assert found == pytest.approx(expected @ weights, abs=1e-13 * abs(expected * weights).sum())


@each("width", [6, 400])
def test_the_noise_is_what_float32_loses(width):
    """Of the order of the largest difference between the sums in float32 and in float64."""
    X = rows_of(300, width, "float32") + np.float32(3)  # nearly parallel
    tiles, kernel = TilesView(X), Polynomial(2, 1.0 / width)
    weights = np.random.default_rng(1).standard_normal(300)
    lost = [
        (tiles.weighted_kernel(kernel.code, x, weights, in_float64=wide) for wide in (True, False))
        for x in X
    ]
    scale = np.sqrt(np.diag(kernel(X.astype(np.float64), X.astype(np.float64))))
    lost = np.array([a - b for a, b in lost]) / scale
    noise = tiles.kernel_noise(kernel.code, weights)
    assert 0.1 * noise < np.abs(lost).max() < 4 * noise
