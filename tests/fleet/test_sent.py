"""A solver that was sent to a worker decides there to the bit as where it came from."""

import warnings

import numpy as np

from edgesvm import RBF, BatchSVM
from edgesvm.core.exact_sum import units_of
from edgesvm.fleet.workers import Sent, found


def test_decisions_that_float32_would_hide_are_the_same_on_a_worker():
    """Large coefficients cancel to a decision of about 1, so it is summed in float64."""
    rng = np.random.default_rng(6)
    X = rng.uniform(0, 4, (1500, 2)).astype(np.float32)
    y = np.floor(X).sum(axis=1) % 2 == 0
    solver = BatchSVM(max_samples=1500, cache="8MiB", kernel=RBF(1.35), C=1e6, max_iter=20_000)
    with warnings.catch_warnings(action="ignore"):
        solver.fit(X, y)
    margin = 1.0 - solver.tol
    rows = rng.uniform(0, 4, (2000, 2)).astype(np.float32)
    labels = np.floor(rows).sum(axis=1) % 2 == 0
    yf = np.where(labels, 1.0, -1.0) * solver.decision_function(rows)
    sent = Sent.of(solver, solver.core)
    options = "BatchSVM", "float32", margin
    there = found((rows, labels), np.empty(0, np.int64), sent, True, options)
    assert there.places.tolist() == np.flatnonzero(yf < margin).tolist()
    assert there.loss == units_of(np.maximum(0.0, 1.0 - yf))
