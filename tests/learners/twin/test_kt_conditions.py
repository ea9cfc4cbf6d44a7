"""The Kuhn-Tucker conditions hold after every example, and the machine is that of LIBSVM."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twin_problems import KERNELS, PROBLEM, by_side, stream, violations

from edgesvm import RBF, IncrementalDecrementalSVM, TwinVectorMachine

# -- whatever the stream, from the definition ------------------------------------------------------

RESIDUAL = 1e-6


def follow(model, X, y, weights):
    """Learn one by one; the largest residual of the learner's own account."""
    model.allocate(X.shape[1], classes=[-1, 1])
    worst = 0.0
    for i in range(len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=weights[i : i + 1])
        if model.is_fitted:
            worst = max(worst, model.kt_residual())
    return worst


@settings(max_examples=60, derandomize=True)
@given(
    *PROBLEM,
    st.sampled_from([1, 2, 5, 12, 40]),
    st.sampled_from([None, 2, 6]),
    st.sampled_from(["float32", "float64"]),
    st.integers(0, 2**20),
)
def test_twin_vector_machine(  # noqa: PLR0917
    features, labels, kernel, C, max_twins, max_margin, dtype, seed
):
    X, y, weights = stream(features, labels, 50, seed)
    model = TwinVectorMachine(
        max_twins=max_twins, kernel=KERNELS[kernel], C=C, max_margin=max_margin, dtype=dtype
    )
    assert follow(model, X.astype(dtype), y, weights) <= RESIDUAL
    if model.is_fitted:
        twins, held = model.twins_, model.weights_
        assert violations(model, KERNELS[kernel], twins, held) <= RESIDUAL
        assert len(twins) <= max_twins and (held.sum(axis=1) > 0).all()
        np.testing.assert_allclose(model.C_ * held.sum(), C * max_twins, rtol=1e-9)


@settings(max_examples=40, derandomize=True)
@given(
    *PROBLEM,
    st.sampled_from([1, 2, 12, 60]),
    st.sampled_from(["farthest", "oldest", "ignore"]),
    st.integers(0, 2**20),
)
def test_incremental_decremental_svm(  # noqa: PLR0917
    features, labels, kernel, C, max_vectors, when_full, seed
):
    X, y, weights = stream(features, labels, 50, seed)
    model = IncrementalDecrementalSVM(
        max_vectors=max_vectors, kernel=KERNELS[kernel], C=C, when_full=when_full
    )
    assert follow(model, X, y, weights) <= RESIDUAL
    rng = np.random.default_rng(seed)
    for _ in range(min(8, len(model.vectors_) if model.is_fitted else 0)):
        model.unlearn(int(rng.integers(len(model.vectors_))))
        assert model.kt_residual() <= RESIDUAL
    if model.is_fitted and len(model.vectors_):
        assert violations(model, KERNELS[kernel], model.vectors_, by_side(model)) <= RESIDUAL
        model.set_C(10.0 * C)
        assert model.kt_residual() <= RESIDUAL


def test_labels_that_flip():
    X, y, _ = stream("clouds", "at random", 400, 5)
    y[200:] = -y[:200]
    X[200:] = X[:200]
    model = TwinVectorMachine(max_twins=300, kernel=RBF(0.5), forgetting=None)
    assert follow(model, X, y, np.ones(400)) <= RESIDUAL
    assert model.n_absorbed_ == 200
    assert (model.weights_ == 1.0).all()


def test_drift_is_seen_and_mended():
    """A g that is off by more than rounding is computed anew, and the KT conditions hold again."""
    X, y, _ = stream("clouds", "at random", 80, 7)
    model = TwinVectorMachine(max_twins=30, kernel=RBF(0.5), m1=100.0).partial_fit(X, y)
    views = model.core.views
    views["g"][:30] += 1e-5 * views["mu"]
    before = model.n_refreshed_
    model.learn_one(np.float32([0.1, 0.2, 0.3]), 1)
    assert model.n_refreshed_ > before
    assert model.kt_residual() <= RESIDUAL


def test_a_spoiled_factor_is_built_anew():
    X, y, _ = stream("clouds", "at random", 80, 8)
    model = TwinVectorMachine(max_twins=30, kernel=RBF(0.5), m1=100.0).partial_fit(X, y)
    model.core.views["pool"][:6] *= 1.0 + 1e-4
    for row, label in zip(*stream("clouds", "at random", 20, 9)[:2], strict=True):
        model.learn_one(row, label)
        assert model.kt_residual() <= RESIDUAL
    assert model.n_refactored_ + model.n_from_scratch_ > 0


def test_solved_from_scratch_is_the_same_machine():
    """The other way to the solution, which a path takes that cannot go on."""
    X, y, weights = stream("clouds", "at random", 60, 9)
    model = TwinVectorMachine(max_twins=60, kernel=RBF(0.5), C=2.0)
    model.partial_fit(X, y, sample_weight=weights)
    before = model.decision_function(X)
    model.core.solve_from_scratch()
    assert model.n_from_scratch_ == 1 and model.kt_residual() <= RESIDUAL
    np.testing.assert_allclose(model.decision_function(X), before, atol=1e-6)
    assert follow(model, X, y, weights) <= RESIDUAL


def test_long_stream_keeps_residual_and_bytes():
    rng = np.random.default_rng(10)
    X = rng.uniform(-1.7, 1.7, (20_000, 2)).astype(np.float32)
    y = np.where(np.sin(4 * X[:, 0]) * np.sin(4 * X[:, 1]) > 0, 1, -1)
    y[rng.random(20_000) < 0.15] *= -1
    model = TwinVectorMachine(max_twins=40, kernel=RBF(1.5), C=1000.0).allocate(2)
    n_bytes = model.nbytes
    for begin in range(0, 20_000, 2000):
        model.partial_fit(X[begin : begin + 2000], y[begin : begin + 2000])
        assert model.kt_residual() <= 1e-8
    assert model.nbytes == n_bytes and model.n_merged_ > 1000


# -- with nothing merged, the machine is the batch SVM of LIBSVM -----------------------------------


def batch(C, X, y, weights=None):
    SVC = pytest.importorskip("sklearn.svm").SVC
    model = SVC(C=C, gamma=0.5, tol=1e-8, cache_size=100)
    return model.fit(X.astype(np.float64), y, sample_weight=weights)


def assert_same_decisions(model, other, X):
    expected = other.decision_function(X.astype(np.float64))
    difference = np.abs(model.decision_function(X) - expected).max()
    assert difference <= 1e-4 * np.ptp(expected)


def test_merged_twins_are_the_svm_on_weighted_pairs():
    """Each twin is two weighted examples; SVC on these is the same machine."""
    X, y, _ = stream("clouds", "at random", 300, 13)
    y = np.where(X[:, 0] + 0.5 * y > 0, 1, -1)
    model = TwinVectorMachine(max_twins=25, kernel=RBF(0.5), C=5.0).partial_fit(X, y)
    assert model.n_merged_ > 50
    twins, weights = model.twins_, model.weights_
    pairs, labels = np.repeat(twins, 2, axis=0), np.tile([-1, 1], len(twins))
    here = weights.ravel() > 0
    other = batch(model.C_, pairs[here], labels[here], weights.ravel()[here])
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
    assert_same_decisions(model, batch(3.0, X[kept], y[kept]), X)


def test_a_change_of_C_is_the_machine_of_the_new_C():
    X, y, _ = stream("clouds", "at random", 100, 15)
    model = IncrementalDecrementalSVM(max_vectors=100, kernel=RBF(0.5), C=1.0).partial_fit(X, y)
    for C in (0.01, 20.0, 1.0):
        assert model.set_C(C) is model and model.C == C
        assert_same_decisions(model, batch(C, X, y), X)
