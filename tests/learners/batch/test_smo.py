"""The solver on its own, solved at once and grown by appending."""

import functools
from itertools import product

import numpy as np
import pytest
from each import each

from edgesvm import RBF, Linear
from edgesvm.learners.batch._smo import solve_view
from reference.smo import SMORef

# -- solved at once --------------------------------------------------------------------------------

TOL = 1e-9


def matrix(X, kernel, sign, offset, ridge):
    """K_st = s_s s_t (k(x_s, x_t) + offset) + ridge [s = t], by the definition."""
    K = kernel(X, X)
    return K if sign is None else np.outer(sign, sign) * (K + offset) + ridge * np.eye(len(X))


def brute_force(K, c, bound, total):
    """The least of 1/2 b' K b - c' b, sum b = total, b between 0 and bound: every choice of which
    coefficients are at which bound, the rest by the equations; K is positive definite."""
    n = len(c)
    low, high = np.minimum(bound, 0.0), np.maximum(bound, 0.0)
    best, least = None, np.inf
    for pattern in product((-1, 0, 1), repeat=n):
        at = np.array(pattern)
        free = at == 0
        beta = np.where(at < 0, low, high)
        if free.any():
            m = free.sum()
            system = np.ones((m + 1, m + 1))
            system[:m, :m], system[m, m] = K[np.ix_(free, free)], 0.0
            fixed = np.where(free, 0.0, beta)
            right = np.append(c[free] - (K @ fixed)[free], total - fixed.sum())
            beta[free] = np.linalg.solve(system, right)[:m]
        if (
            abs(beta.sum() - total) > 1e-9
            or (beta < low - 1e-12).any()
            or (beta > high + 1e-12).any()
        ):
            continue
        objective = 0.5 * beta @ K @ beta - c @ beta
        if objective < least:
            best, least = beta, objective
    return best, least


def problem(seed, n=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return rng, X, y


@each("seed", range(6))
@each("shrinking", [False, True])
@each("C", [0.3, 20.0])
def test_an_svm(seed, C, shrinking):
    _, X, y = problem(seed)
    kernel = RBF(0.7)
    found = solve_view(X, C * y, kernel.code, tol=TOL, shrinking=shrinking)
    beta, objective = brute_force(matrix(X, kernel, None, 0, 0), y, C * y, 0.0)
    assert found["converged"] and found["clean"]
    np.testing.assert_allclose(found["beta"], beta, atol=1e-5 * C)
    assert found["objective"] == pytest.approx(objective, rel=1e-6)


@each("seed", range(6))
@each("offset, ridge", [(0.0, 0.0), (1.0, 0.5), (2.5, 0.01)])
def test_signs_offset_and_ridge(seed, offset, ridge):
    """As an enclosing ball has it: one side of the box, y y' (k + 1) + 1/C, started from weights
    that sum to one."""
    _, X, y = problem(seed)
    kernel, n = RBF(0.7), len(y)
    K = matrix(X, kernel, y, offset, ridge)
    found = solve_view(
        X,
        np.ones(n),
        kernel.code,
        linear=np.zeros(n),
        sign=y,
        offset=offset,
        ridge=ridge,
        beta=np.full(n, 1 / n),
        tol=TOL,
    )
    beta, objective = brute_force(K, np.zeros(n), np.ones(n), 1.0)
    assert found["converged"] and found["clean"]
    assert found["beta"].sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(found["beta"], beta, atol=1e-5)
    assert found["objective"] == pytest.approx(objective, abs=1e-7)


@each("seed", range(6))
@each("kernel", [RBF(0.7), Linear()], ids=str)
def test_a_linear_part(seed, kernel):
    rng, X, y = problem(seed)
    c, bound = rng.standard_normal(len(y)), y * rng.uniform(0.2, 3.0, len(y))
    found = solve_view(X, bound, kernel.code, linear=c, sign=np.ones(len(y)), ridge=0.3, tol=TOL)
    K = matrix(X, kernel, np.ones(len(y)), 0.0, 0.3)
    beta, objective = brute_force(K, c, bound, 0.0)
    assert found["converged"]
    np.testing.assert_allclose(found["beta"], beta, atol=1e-5)
    assert found["objective"] == pytest.approx(objective, abs=1e-6)


@each("n_cached", [2, 3, 200])
@each("dtype", ["float32", "float64"])
def test_signs_and_linear_part_where_rows_are_swapped_and_shrunk(n_cached, dtype):
    """Too many for brute force: the conditions of the optimum, by the matrix."""
    rng = np.random.default_rng(4)
    n, C = 200, 2.0
    X = rng.standard_normal((n, 3)).astype(dtype)
    y = np.where(X[:, 0] + 0.8 * rng.standard_normal(n) > 0, 1.0, -1.0)
    c, sign = y * rng.uniform(0.5, 1.5, n), np.where(rng.random(n) < 0.5, 1.0, -1.0)
    kernel = RBF(0.4)
    found = solve_view(
        X,
        C * y,
        kernel.code,
        linear=c,
        sign=sign,
        offset=0.5,
        ridge=0.2,
        tol=1e-5,
        n_cached=n_cached,
    )
    K = matrix(X.astype(np.float64), kernel, sign, 0.5, 0.2)
    beta = found["beta"]
    g = c - K @ beta
    grows, falls = beta < np.maximum(C * y, 0.0), beta > np.minimum(C * y, 0.0)
    assert found["converged"] and found["clean"] and found["n_iter"] > n
    assert abs(beta.sum()) < 1e-9
    assert g[grows].max() - g[falls].min() < 1e-4
    free = grows & falls
    assert found["intercept"] == pytest.approx(g[free].mean(), abs=1e-4)
    assert found["objective"] == pytest.approx(0.5 * beta @ K @ beta - c @ beta, rel=1e-5)


# -- grown by one example at a time ----------------------------------------------------------------


def core_set(n, kernel, *, dtype="float64", ridges=None, seed=0):
    """Rows, signs, ridges, and K to the bit: float32, k rounded before the offset is added."""
    rng = np.random.default_rng([seed, n])
    X = rng.standard_normal((n, 3)).astype(dtype)
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0, 1.0, -1.0)
    ridge = 1 / rng.uniform(0.5, 20.0, n) if ridges is None else np.full(n, ridges)
    k = kernel(X.astype(np.float64), X.astype(np.float64))
    K = np.outer(y, y) * (k.astype(np.float32).astype(np.float64) + 1.0)
    np.fill_diagonal(K, k.diagonal() + 1.0 + ridge)
    return X, y, ridge, K.astype(np.float32).astype(np.float64)


def grown(X, y, ridge, kernel, *, first=1, bound=1.0, **options):
    """Solved after each append; the first example has all the weight."""
    n = len(y)
    return solve_view(
        X,
        np.full(n, bound),
        kernel.code,
        linear=np.zeros(n),
        sign=y,
        offset=1.0,
        ridge=ridge,
        beta=np.eye(n)[0],
        tol=TOL,
        first=first,
        **options,
    )


def at_once(K, bound=1.0):
    n = len(K)
    smo = SMORef(K, np.full(n, bound), np.zeros(n), np.eye(n)[0], tol=TOL)
    assert smo.run(1_000_000)
    return smo


@functools.cache
def ninety_at_once(kernel, bound):
    return at_once(core_set(90, kernel)[3], bound)


@each("bound", [1.0, np.inf])
@each("shrinking", [False, True])
@each("n_cached", [2, 5, 90])
@each("kernel", [RBF(0.6), Linear()], ids=str)
def test_grown_is_solved_at_once(kernel, n_cached, shrinking, bound):
    X, y, ridge, K = core_set(90, kernel)
    found = grown(X, y, ridge, kernel, n_cached=n_cached, shrinking=shrinking, bound=bound)
    smo = ninety_at_once(kernel, bound)
    assert found["converged"] and found["clean"]
    assert found["objective"] == pytest.approx(smo.objective, rel=1e-9)
    np.testing.assert_allclose(found["beta"], smo.beta, atol=1e-5)
    assert found["beta"].sum() == pytest.approx(1.0, abs=1e-12)
    beta = found["beta"]
    assert found["objective"] == pytest.approx(0.5 * beta @ K @ beta, rel=1e-9)


@each("dtype", ["float32", "float64"])
@each("first", [1, 2, 15, 16, 17, 59])
def test_from_any_size_on(first, dtype):
    kernel = RBF(0.6)
    X, y, ridge, _ = core_set(60, kernel, dtype=dtype, ridges=0.1)
    one_by_one = grown(X, y, ridge, kernel, first=first, n_cached=60)
    together = grown(X, y, ridge, kernel, first=60, n_cached=60)
    assert one_by_one["converged"] and one_by_one["clean"]
    assert one_by_one["objective"] == pytest.approx(together["objective"], rel=1e-9)
    np.testing.assert_allclose(one_by_one["beta"], together["beta"], atol=1e-5)
