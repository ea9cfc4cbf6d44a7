"""The packed factor against NumPy: rows come and go, and what fits behind it stays."""

import numpy as np
import pytest

from edgesvm.core.views import PackedFactorView


def packed(order):
    return order * (order + 1) // 2


def matrix(n, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, n + 3))
    return X @ X.T


def assert_is_factor(factor):
    lifted = factor.K[np.ix_(factor.S, factor.S)] + LIFT
    np.testing.assert_allclose(factor.L, np.linalg.cholesky(lifted), rtol=1e-11, atol=1e-12)
    ones = np.linalg.solve(factor.L, np.ones(len(factor.S)))
    np.testing.assert_allclose(factor.arrays["ones"][: len(factor.S)], ones, rtol=1e-10)


LIFT = 0.75


def test_by_hand():
    """K = [[3, 1], [1, 3]], lift 1: L = [[2, 0], [1, sqrt(3)]]."""
    factor = PackedFactorView([[3.0, 1.0], [1.0, 3.0]], packed(2), 1.0)
    assert factor.append(0) == 4.0 and factor.append(1) == 3.0
    np.testing.assert_allclose(factor.L, [[2.0, 0.0], [1.0, np.sqrt(3.0)]])
    # x = (1, -1) sums to 0, K x = (2, -2), b = 5
    b, x = factor.solve(0.0, [7.0, 3.0])
    np.testing.assert_allclose([b, *x], [5.0, 1.0, -1.0])
    # x = (2, 1) sums to 3, K x = (7, 5), b = -1
    b, x = factor.solve(3.0, [6.0, 4.0])
    np.testing.assert_allclose([b, *x], [-1.0, 2.0, 1.0])


def test_rows_come_and_go():
    rng = np.random.default_rng(4)
    factor = PackedFactorView(matrix(12), packed(12), LIFT)
    for _ in range(200):
        absent = [i for i in range(12) if i not in factor.S]
        if factor.S and (not absent or rng.random() < 0.45):
            factor.remove(int(rng.integers(len(factor.S))))
        else:
            i = int(rng.choice(absent))
            lifted = factor.K + LIFT
            S = factor.S.copy()
            expected = lifted[i, i] - lifted[i, S] @ np.linalg.solve(
                lifted[np.ix_(S, S)], lifted[S, i]
            )
            assert factor.append(i) == pytest.approx(expected, rel=1e-9)
        assert_is_factor(factor)


def test_solves_the_bordered_system():
    factor = PackedFactorView(matrix(9, seed=2), packed(9), LIFT)
    for i in (7, 2, 5, 0, 8):
        factor.append(i)
    values = np.arange(5.0)
    b, x = factor.solve(0.5, values)
    K = factor.K[np.ix_(factor.S, factor.S)]
    np.testing.assert_allclose([x.sum(), *(K @ x + b)], [0.5, *values], atol=1e-11)


def test_a_matrix_that_only_the_lift_makes_regular():
    """K is not positive definite, but is where x sums to 0."""
    points = np.array([0.0, 1.0, 3.0])
    K = -((points[:, None] - points) ** 2)
    factor = PackedFactorView(K, packed(3), 20.0)
    for i in (0, 2):
        assert factor.append(i) > 0.0
    b, x = factor.solve(0.0, [4.0, 1.0])
    np.testing.assert_allclose([b, *x], [2.5, 1.0 / 6.0, -1.0 / 6.0], rtol=1e-13)


def test_there_is_room_for_so_many():
    factor = PackedFactorView(matrix(5), packed(3), LIFT)
    assert [factor.append(i) is not None for i in range(5)] == [True] * 3 + [False] * 2
    factor.remove(1)
    assert factor.append(4) is not None and factor.S == [0, 2, 4]
    assert_is_factor(factor)


def test_rows_of_the_matrix_fill_the_room_behind():
    """22 numbers for n = 6: an L of order 3 leaves room for 2 rows, one of order 4 for 2, of 5 for
    1."""
    factor = PackedFactorView(matrix(6, seed=1), 22, LIFT)
    for i in (4, 0, 3):
        factor.append(i)
    np.testing.assert_array_equal(factor.row(0), factor.K[4])
    np.testing.assert_array_equal(factor.row(1), factor.K[0])
    assert factor.row(2) is None
    factor.append(5)
    factor.append(1)
    np.testing.assert_array_equal(factor.row(0), factor.K[4])
    assert factor.row(1) is None
    assert_is_factor(factor)


def test_rows_move_up_where_one_goes():
    factor = PackedFactorView(matrix(6, seed=1), 100, LIFT)
    for i in (4, 0, 3, 1):
        factor.append(i)
    assert factor.remove(1) == 3 and factor.S == [4, 3, 1]
    for p, i in enumerate(factor.S):
        np.testing.assert_array_equal(factor.row(p), factor.K[i])
    assert_is_factor(factor)


def test_a_column_that_goes():
    factor = PackedFactorView(matrix(6, seed=3), 100, LIFT)
    for i in (4, 0, 3):
        factor.append(i)
    factor.drop_column(2)
    assert factor.S == [3, 0, 2]
    for p, i in enumerate(factor.S):
        np.testing.assert_array_equal(factor.row(p)[:5], factor.K[i])
    assert_is_factor(factor)


def test_an_outer_product_is_added():
    rng = np.random.default_rng(8)
    factor = PackedFactorView(matrix(7, seed=5), packed(7), LIFT)
    for i in range(7):
        factor.append(i)
    P = factor.K + LIFT
    for rho in (1e-6, 1.0, 1e6):
        v = rng.standard_normal(7)
        np.testing.assert_allclose(factor.add_outer(rho, v), np.linalg.solve(P, v), rtol=1e-8)
        P += rho * np.outer(v, v)
        np.testing.assert_allclose(factor.L @ factor.L.T, P, rtol=1e-11)
