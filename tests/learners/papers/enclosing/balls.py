"""Small problems, and the ball of the paper from its definition, in float64."""

from __future__ import annotations

import numpy as np
import pytest

from edgesvm import RBF, BallVectorMachine, CoreVectorMachine

minimize = pytest.importorskip("scipy.optimize").minimize

ENGINES = ["compiled", "reference"]
MACHINES = [BallVectorMachine, CoreVectorMachine]


def clouds(n, seed=0, width=3, gap=1.0):
    rng = np.random.default_rng([seed, n])
    y = rng.random(n) < 0.4
    return rng.standard_normal((n, width)) + gap * y[:, None], y


def mirrored(n, seed=0):
    """Each row with either label: w = b = 0 is best, and R* all but sqrt(k~(x, x))."""
    X = np.random.default_rng([seed, n]).standard_normal((n // 2, 3))
    return np.vstack([X, X]), np.repeat([False, True], n // 2)


def machine(kind, engine="compiled", **params):
    kind = kind if engine == "compiled" else type(kind.__name__, (kind,), {"_engine": engine})
    defaults = {"kernel": RBF(0.5), "C": 2.0, "dtype": "float64", "max_core": 400, "epsilon": 1e-3}
    return kind(**{**defaults, "margin_tol": None, **params})  # the paper's tolerance


def transformed_kernel(model, X, y, weight=None):
    """K of eq. 3."""
    X = np.asarray(X, np.float64)
    if model.normalize:
        norm = np.linalg.norm(X, axis=1, keepdims=True)
        X = X / np.where(norm > 0, norm, 1.0)
    sign = np.where(y, 1.0, -1.0)
    weight = np.ones(len(X)) if weight is None else weight
    return np.outer(sign, sign) * (model.kernel(X, X) + 1.0) + np.diag(1.0 / (model.C * weight))


def coefficients(model, n):
    """alpha of all n samples."""
    alpha = np.zeros(n)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    return alpha


def square_distances(K, alpha):
    """|c - phi~_i|^2"""
    return alpha @ K @ alpha - 2.0 * K @ alpha + K.diagonal()


def minimum_ball(K):
    """alpha and R^2 of eq. 1, by a general solver."""
    n = len(K)
    answer = minimize(
        lambda a: a @ K @ a - a @ K.diagonal(),
        np.full(n, 1.0 / n),
        jac=lambda a: 2.0 * K @ a - K.diagonal(),
        bounds=[(0.0, 1.0)] * n,
        constraints={"type": "eq", "fun": lambda a: a.sum() - 1.0, "jac": np.ones_like},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    alpha = np.maximum(answer.x, 0.0)
    alpha /= alpha.sum()
    return alpha, alpha @ K.diagonal() - alpha @ K @ alpha


def assert_state_is_true(model, X, y, weight=None):
    """What is kept from step to step equals what its definition gives."""
    K, views = transformed_kernel(model, X, y, weight), model.core.views
    n = model.n_core_
    alpha = np.zeros(len(X))
    alpha[model.core_] = np.abs(views["beta"][:n])
    assert abs(alpha.sum() - 1.0) < 1e-9
    assert len(np.unique(model.core_)) == n
    rounding = {"float32": 2e-6, "float64": 3e-7}[model.dtype] * K.diagonal().max()
    assert abs(float(views["square"]) - alpha @ K @ alpha) < rounding
    assert abs(model.intercept_[0] - np.where(y, alpha, -alpha).sum()) < 1e-9
    if "f" in views:
        np.testing.assert_allclose(views["f"][:n], (K @ alpha)[model.core_], atol=rounding)
