"""The Kuhn-Tucker conditions hold after every example, whatever the stream, from the definition."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from twin_problems import FEATURES, KERNELS, LABELS, stream, violations

from edgesvm import RBF, IncrementalDecrementalSVM, TwinVectorMachine

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
    st.sampled_from(list(FEATURES)),
    st.sampled_from(list(LABELS)),
    st.sampled_from(list(KERNELS)),
    st.sampled_from([1e-3, 1.0, 100.0, 1e4]),
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
    st.sampled_from(list(FEATURES)),
    st.sampled_from(list(LABELS)),
    st.sampled_from(list(KERNELS)),
    st.sampled_from([1e-3, 1.0, 100.0, 1e4]),
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
        one_sided = (
            np.where((model.labels_ == 1)[:, None], [0.0, 1.0], [1.0, 0.0])
            * model.sample_weights_[:, None]
        )
        assert violations(model, KERNELS[kernel], model.vectors_, one_sided) <= RESIDUAL
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
