"""With nothing merged, the machine is the batch SVM: against scikit-learn's SVC."""

import numpy as np
import pytest
from each import each
from twin_problems import stream

from edgesvm import RBF, IncrementalDecrementalSVM, Linear, Polynomial, TwinVectorMachine

SVC = pytest.importorskip("sklearn.svm", reason="scikit-learn is not installed").SVC

SETTINGS = {
    "rbf": (RBF(0.5), {"kernel": "rbf", "gamma": 0.5}),
    "linear": (Linear(), {"kernel": "linear"}),
    "cubic": (Polynomial(3, 0.5), {"kernel": "poly", "degree": 3, "gamma": 0.5, "coef0": 1.0}),
}


def batch(svc, C, X, y, weights=None):
    model = SVC(C=C, tol=1e-8, cache_size=100, **svc)
    return model.fit(X.astype(np.float64), y, sample_weight=weights)


def assert_same_decisions(model, other, X):
    expected = other.decision_function(X.astype(np.float64))
    difference = np.abs(model.decision_function(X) - expected).max()
    assert difference <= 1e-4 * np.ptp(expected)


@each("kernel", SETTINGS)
@each("C", [0.1, 1.0, 10.0])
def test_incremental_decremental_svm(kernel, C):
    ours, theirs = SETTINGS[kernel]
    X, y, weights = stream("clouds", "at random", 150, 11)
    y = np.where(X[:, 0] + 0.8 * y > 0, 1, -1)
    weights = np.maximum(weights, 0.25)
    model = IncrementalDecrementalSVM(max_vectors=150, kernel=ours, C=C)
    model.partial_fit(X, y, sample_weight=weights)
    assert_same_decisions(model, batch(theirs, C, X, y, weights), X)
    coefficients = model.dual_coef_[0]
    assert abs(coefficients.sum()) < 1e-9 and (np.abs(coefficients) <= C * weights + 1e-9).all()


@each("kernel", SETTINGS)
def test_twin_vector_machine_below_its_budget(kernel):
    ours, theirs = SETTINGS[kernel]
    X, y, weights = stream("clouds", "at random", 120, 12)
    keep = weights > 0
    y = np.where(X[:, 0] + 0.8 * y > 0, 1, -1)
    model = TwinVectorMachine(max_twins=200, kernel=ours, C=2.0)
    model.partial_fit(X, y, sample_weight=weights)
    C = 2.0 * 200 / weights.sum()
    assert pytest.approx(C) == model.C_
    assert_same_decisions(model, batch(theirs, C, X[keep], y[keep], weights[keep]), X)


def test_merged_twins_are_the_svm_on_weighted_pairs():
    """Each twin is two weighted examples; SVC on these is the same machine."""
    X, y, _ = stream("clouds", "at random", 300, 13)
    y = np.where(X[:, 0] + 0.5 * y > 0, 1, -1)
    model = TwinVectorMachine(max_twins=25, kernel=RBF(0.5), C=5.0).partial_fit(X, y)
    assert model.n_merged_ > 50
    twins, weights = model.twins_, model.weights_
    pairs, labels = np.repeat(twins, 2, axis=0), np.tile([-1, 1], len(twins))
    here = weights.ravel() > 0
    other = batch(SETTINGS["rbf"][1], model.C_, pairs[here], labels[here], weights.ravel()[here])
    assert_same_decisions(model, other, X)


def test_unlearned_is_as_never_learned():
    X, y, _ = stream("clouds", "at random", 160, 14)
    y = np.where(X[:, 0] + 0.8 * y > 0, 1, -1)
    model = IncrementalDecrementalSVM(max_vectors=160, kernel=RBF(0.5), C=3.0).partial_fit(X, y)
    rng = np.random.default_rng(14)
    kept = list(range(160))
    for _ in range(60):
        index = int(rng.integers(len(kept)))
        model.unlearn(index)
        del kept[index]
    np.testing.assert_array_equal(model.vectors_, X[kept])
    np.testing.assert_array_equal(model.labels_, y[kept])
    other = IncrementalDecrementalSVM(max_vectors=160, kernel=RBF(0.5), C=3.0)
    other.partial_fit(X[kept], y[kept])
    np.testing.assert_allclose(
        model.decision_function(X), other.decision_function(X), rtol=0, atol=1e-8
    )
    assert_same_decisions(model, batch(SETTINGS["rbf"][1], 3.0, X[kept], y[kept]), X)


def test_a_change_of_C_is_the_machine_of_the_new_C():
    X, y, _ = stream("clouds", "at random", 100, 15)
    model = IncrementalDecrementalSVM(max_vectors=100, kernel=RBF(0.5), C=1.0).partial_fit(X, y)
    for C in (0.01, 20.0, 1.0):
        assert model.set_C(C) is model and model.C == C
        assert_same_decisions(model, batch(SETTINGS["rbf"][1], C, X, y), X)
