"""Small problems, and what their optimum must satisfy, from the definition."""

from __future__ import annotations

import numpy as np

from edgesvm import RBF, BatchSVM


def ring(n, seed=0, noise=0.2, width=2):
    """A ring about a disk, overlapping; labels False and True."""
    rng = np.random.default_rng([seed, n])
    X = rng.standard_normal((n, width))
    return X, (X**2).sum(axis=1) + noise * rng.standard_normal(n) > 0.7 * width


def clouds(n, seed=0, width=5):
    rng = np.random.default_rng([seed, n])
    y = rng.random(n) < 0.4
    return rng.standard_normal((n, width)) + 0.7 * y[:, None], y


def duplicates(n, seed=0):
    """Few different rows, some with both labels: a singular kernel matrix."""
    rng = np.random.default_rng([seed, n])
    X = rng.integers(0, 3, (n, 2)).astype(float)
    return X, rng.random(n) < 0.3 + 0.4 * (X[:, 0] > 1)


def svm(n, **params):
    """A BatchSVM with room for n."""
    defaults = {"kernel": RBF(0.5), "C": 10.0, "dtype": "float64", "tol": 1e-5}
    return BatchSVM(max_samples=n, **{**defaults, **params})


def kernel_matrix(model, X):
    """From the definition, in float64."""
    return model.kernel(X.astype(np.float64), X.astype(np.float64))


def true_gap(model, X, y):
    """By how much the worst pair violates optimality, from the coefficients, in float64."""
    sign, alpha = np.where(y, 1.0, -1.0), model.alpha_
    gradient = sign - kernel_matrix(model, X) @ (sign * alpha)
    grows = np.where(y, alpha < model.C, alpha > 0.0)
    falls = np.where(y, alpha > 0.0, alpha < model.C)
    return gradient[grows].max() - gradient[falls].min()


def assert_optimal(model, X, y, bound, tol, *, slack=1e-4):
    """The Karush-Kuhn-Tucker conditions of every row, by the matrix as it is written down."""
    sign = np.where(y, 1.0, -1.0)
    alpha = model.alpha_
    assert (alpha >= 0).all() and (alpha <= bound).all()
    assert abs(sign @ alpha) <= 1e-9 * max(alpha.sum(), 1.0)
    f = kernel_matrix(model, X) @ (sign * alpha) + model.intercept_[0]
    margin = sign * f
    allowed = tol + slack
    assert (margin[alpha == 0] >= 1 - allowed).all()
    assert (margin[alpha == bound] <= 1 + allowed).all()
    free = (alpha > 0) & (alpha < bound)
    assert (np.abs(margin[free] - 1) <= allowed).all()
    rounding = {"float32": 1e-6, "float64": 1e-13}[model.dtype] * alpha.sum()
    scale = max(1.0, np.abs(kernel_matrix(model, X)).max())
    np.testing.assert_allclose(model.decision_function(X), f, rtol=1e-9, atol=rounding * scale)
