"""The solver with signs, offset and ridge, as a ball has them; test_batch_svm.py has it without."""

from itertools import product

import numpy as np
import pytest
from each import each

from edgesvm import RBF, CoreVectorMachine, Linear
from reference.smo import SMORef

TOL = 1e-9


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


def problem(seed, n=6, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    y = np.where(X[:, 0] + noise * rng.standard_normal(n) > 0, 1.0, -1.0)
    y[:2] = -1.0, 1.0
    return X, y, rng.choice([0.5, 1.0, 3.0], n)


def ball(X, y, kernel, **params):
    """A core vector machine that is solved as far as float32 rows allow."""
    return CoreVectorMachine(
        kernel=kernel, epsilon=1e-9, margin_tol=None, dtype="float64", max_core=len(X), **params
    )


def matrix(X, y, kernel, ridge):
    """K of a ball: y y' (k + 1) + ridge [s = t]"""
    return np.outer(y, y) * (kernel(X, X) + 1.0) + np.diag(ridge * np.ones(len(X)))


@each("seed", range(6))
@each("C", [2.0, 100.0])
@each("kernel", [RBF(0.7), Linear()], ids=str)
def test_signs_offset_and_ridge(seed, C, kernel):
    """One side of the box, y y' (k + 1) + 1 / (C weight), weights that sum to one."""
    X, y, weight = problem(seed)
    normalize = isinstance(kernel, Linear)
    X = X / np.linalg.norm(X, axis=1, keepdims=True) if normalize else X
    model = ball(X, y, kernel, C=C, normalize=normalize).fit(X, y, weight)
    beta, half = brute_force(matrix(X, y, kernel, 1.0 / (C * weight)), np.zeros(6), np.ones(6), 1.0)
    found = np.zeros(6)
    found[model.support_] = np.abs(model.dual_coef_[0])
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(found, beta, atol=1e-5)
    assert model.margin_ == pytest.approx(2.0 * half, abs=1e-7)


@each("dtype", ["float32", "float64"])
@each("n_cached", [2, 5, 96])
@each("n", [16, 17, 90])
def test_grown_one_by_one_is_solved_at_once(n, n_cached, dtype):
    """A stream solves after each vector that it takes in: from any size on, with any cache."""
    X, y, _ = problem(4, n, noise=0.7)
    X = X.astype(dtype)
    model = ball(X, y, RBF(0.6), C=5.0, cache=4 * n_cached * 96)
    model.set_params(dtype=dtype).partial_fit(X, y)
    core = model.core_  # a row that is inside when it comes is not looked at again
    K = matrix(X.astype(float), y, RBF(0.6), 0.2)[np.ix_(core, core)]
    smo = SMORef(K, np.ones(len(core)), np.zeros(len(core)), np.eye(len(core))[0], tol=TOL)
    assert smo.run(1_000_000) and len(core) > 0.6 * n
    found = np.zeros(n)
    found[model.support_] = np.abs(model.dual_coef_[0])
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    assert model.margin_ == pytest.approx(2.0 * smo.objective, rel=1e-5)
    np.testing.assert_allclose(found[core], smo.beta, atol=1e-5)
