"""Small streams, and learners of both engines."""

from __future__ import annotations

import numpy as np

from edgesvm import RBF, IncrementalSVM, WindowedSVM

SCHEMES = ["error_driven", "fixed_partition", "exceeding_margin", "exceeding_margin_errors"]


def clouds(n, seed=0, apart=1.0, noise=0.0):
    """Two round clouds in the plane, labels -1 and 1, some of them switched."""
    rng = np.random.default_rng([seed, n])
    y = np.where(rng.random(n) < 0.5, -1, 1)
    X = rng.standard_normal((n, 2)) + apart * y[:, None]
    return X, np.where(rng.random(n) < noise, -y, y)


def board(n, seed=0):
    """A board of 4 by 4 squares, no noise."""
    X = 4.0 * np.random.default_rng([seed, n]).random((n, 2))
    return X, np.where(np.floor(X).astype(int).sum(axis=1) % 2 == 0, -1, 1)


def made(kind, engine="compiled", **params):
    of_engine = kind if engine == "compiled" else type(kind.__name__, (kind,), {"_engine": engine})
    return of_engine(**{"kernel": RBF(0.5), "C": 5.0, "dtype": "float64", "tol": 1e-6, **params})


def incremental(engine="compiled", **params):
    return made(IncrementalSVM, engine, **params)


def windowed(engine="compiled", **params):
    return made(WindowedSVM, engine, **params)


def model(learner):
    """Support vectors, coefficients and intercept, to be compared."""
    return learner.support_vectors_, learner.dual_coef_[0], learner.intercept_[0]


def assert_same_model(a, b, atol=1e-9):
    for found, expected in zip(model(a), model(b), strict=True):
        np.testing.assert_allclose(found, expected, atol=atol)
