"""A problem that grows by one example at a time ends where it would have ended at once.

As the core set of an enclosing ball grows: weights that sum to one, K_st = y_s y_t (k + 1) and on
the diagonal 1/C more, no linear part.
"""

import functools

import numpy as np
import pytest
from each import each

from edgesvm import RBF, Linear
from edgesvm.learners.batch._smo import solve_view
from reference.smo import SMORef

TOL = 1e-9


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
