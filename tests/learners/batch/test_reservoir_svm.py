"""A uniform sample of what was seen, and the SVM of it."""

import numpy as np
import pytest
from problems import ring

from edgesvm import BatchSVM, ReservoirSVM

ENGINES = ["compiled", "reference"]


def reservoir(engine="compiled", **params):
    kind = ReservoirSVM
    if engine != "compiled":
        kind = type("ReservoirSVM", (ReservoirSVM,), {"_engine": engine})
    return kind(**{"max_samples": 20, "gamma": 0.5, "cache": "4KiB", **params})


def held(model):
    """The first feature of each sample that is held, in the order of slots."""
    rows = model.core.views["rows"]
    return rows.transpose(0, 2, 1).reshape(-1, rows.shape[1])[: model.n_held_, 0]


def test_every_sample_is_as_likely_as_another():
    """Of 40, 10 are held: each 0.25 of the time, to four deviations of 2,000 trials."""
    X = np.arange(40, dtype=np.float32)[:, None]
    counts = np.zeros(40)
    for seed in range(2000):
        model = reservoir(max_samples=10, seed=seed).partial_fit(X, X[:, 0] > 20)
        counts[held(model).astype(int)] += 1
    assert counts.sum() == 20_000
    assert np.abs(counts / 2000 - 0.25).max() < 4 * np.sqrt(0.25 * 0.75 / 2000)


@pytest.mark.parametrize("engine", ENGINES)
def test_it_is_the_svm_of_those_held(engine):
    X, y = ring(300)
    model = reservoir(engine, dtype="float64", tol=1e-6).partial_fit(X, y)
    rows = [np.flatnonzero(X[:, 0] == value)[0] for value in held(model)]
    plain = BatchSVM(gamma=0.5, max_samples=20, dtype="float64", tol=1e-6)
    plain.fit(X[rows], y[rows])
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-4)


def test_samples_of_no_weight_are_not_drawn_among():
    X, y = ring(400)
    weights = np.arange(400) % 2
    model = reservoir().partial_fit(X, y, sample_weight=weights)
    assert held(model).tolist() == held(reservoir().partial_fit(X[1::2], y[1::2])).tolist()
