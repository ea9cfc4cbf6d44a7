"""Regression by the same store and solver: its optimum by scikit-learn's SVR, by the conditions,
and by two coefficients for each sample."""

import numpy as np
import pytest
from each import each

from edgesvm import RBF, BatchSVR, Linear


def wave(n, seed=0, noise=0.3):
    rng = np.random.default_rng([seed, n])
    X = rng.uniform(-3, 3, (n, 2))
    return X, 20 + 3 * np.sin(2 * X[:, 0]) + X[:, 1] + noise * rng.standard_normal(n)


def svr(n, **params):
    defaults = {"kernel": RBF(0.5), "C": 10.0, "dtype": "float64", "tol": 1e-6}
    return BatchSVR(max_samples=n, **{**defaults, **params})


def objective(model, X, y):
    beta, X = model.alpha_, X.astype(np.float64)
    loss = 0.5 * beta @ model.kernel(X, X) @ beta - y @ beta
    return loss + model.epsilon * np.abs(beta).sum()


def assert_optimal(model, X, y, bound, tol):
    """The Karush-Kuhn-Tucker conditions of every row, from their definition."""
    beta, e, X = model.alpha_, model.epsilon, X.astype(np.float64)
    assert (np.abs(beta) <= bound).all() and abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()
    error = y - (model.kernel(X, X) @ beta + model.intercept_[0])
    below = np.abs(beta) < bound
    assert (error[below & (beta >= 0)] <= e + tol).all()
    assert (error[below & (beta <= 0)] >= -e - tol).all()
    assert (error[beta > 0] >= e - tol).all() and (error[beta < 0] <= -e + tol).all()


@each("dtype", ["float32", "float64"])
@each("kernel", [RBF(0.5), RBF(30.0), Linear()], ids=str)
@each("C, epsilon", [(0.1, 0.1), (10.0, 0.5), (100.0, 0.0), (1.0, 3.0)])
def test_equals_svr(kernel, C, epsilon, dtype):
    kind = pytest.importorskip("sklearn.svm", reason="scikit-learn is not installed").SVR
    X, y = wave(160)
    X = X.astype(dtype)
    model = svr(160, kernel=kernel, C=C, epsilon=epsilon, dtype=dtype).fit(X, y)
    gamma, name = getattr(kernel, "gamma", 1.0), type(kernel).__name__.lower()
    peer = kind(kernel=name, C=C, epsilon=epsilon, gamma=gamma, tol=1e-8)
    peer.fit(X.astype(np.float64), y)
    assert model.converged_ and model.gap_ < 1e-6
    assert_optimal(model, X, y, C, 1e-5)
    coefficients = np.zeros(160)
    coefficients[peer.support_] = peer.dual_coef_[0]
    theirs = type("Peer", (), {"alpha_": coefficients, "epsilon": epsilon, "kernel": kernel})
    assert model.objective_ == pytest.approx(objective(theirs, X, y), rel=1e-6)
    assert model.objective_ == pytest.approx(objective(model, X, y), rel=1e-6)
    np.testing.assert_allclose(model.predict(X), peer.predict(X.astype(np.float64)), atol=1e-3)


@each("shrinking", [True, False])
@each("C", [0.05, 50.0])
def test_kkt_conditions_with_bounds_per_sample(shrinking, C):
    X, y = wave(90)
    weights = np.random.default_rng(1).choice([0.1, 1.0, 4.0], 90)
    model = svr(90, C=C, shrinking=shrinking).fit(X, y, sample_weight=weights)
    assert model.converged_
    assert_optimal(model, X, y, C * weights, 1e-5)


def test_the_oldest_goes():
    X, y = wave(100)
    model = svr(32, when_full="oldest").allocate(2)
    for begin in range(0, 100, 20):
        model.partial_fit(X[begin : begin + 20], y[begin : begin + 20]).predict(X[:3])
    fresh = svr(32).fit(X[-32:], y[-32:])
    assert model.n_held_ == 32
    assert model.objective_ == pytest.approx(fresh.objective_, rel=1e-8)
    np.testing.assert_allclose(model.predict(X), fresh.predict(X), atol=1e-4)
