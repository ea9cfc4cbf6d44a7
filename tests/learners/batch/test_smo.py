"""The solver with signs, offset and ridge, as a ball has them; test_batch_svm.py has it without."""

import numpy as np
import pytest
from each import each

from edgesvm import RBF, CoreVectorMachine
from reference.smo import SMORef

TOL = 1e-9


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
