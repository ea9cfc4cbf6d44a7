"""`forgetting`: what is held loses weight at a drift, or by half every so many samples."""

import pickle

import numpy as np
import pytest

from edgesvm import KernelStreamSVM, TwinVectorMachine

LEARNERS = {
    "twins": TwinVectorMachine(max_twins=30, gamma=0.5),
    "kernel stream": KernelStreamSVM(max_vectors=30, gamma=0.5),
    "balanced": KernelStreamSVM(max_vectors=30, gamma=0.5, class_weight="balanced"),
}
each = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


def swapped(n, at, seed=0):
    """Inside and outside of a circle, which change places."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2)).astype(np.float32)
    y = np.where((X**2).sum(axis=1) < 1.4, 1, -1)
    y[at:] *= -1
    return X, y


def right(model, X, y):
    """Whether each sample was predicted before it was learned."""
    model.allocate(X.shape[1], classes=[-1, 1])
    found = np.zeros(len(X), bool)
    for i, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
        found[i] = i > 1 and model.predict_one(x) == label
        model.learn_one(x, label)
    return found


@each
def test_a_drift_is_found_once_and_learned(learner):
    X, y = swapped(3_500, 3_000)
    forgets, keeps = learner.like_new(), learner.like_new().set_params(forgetting=None)
    soon = slice(3_200, 3_500)
    assert right(forgets, X, y)[soon].mean() > 0.95 > right(keeps, X, y)[soon].mean() + 0.2
    assert (forgets.n_drifts_, keeps.n_drifts_) == (1, 0)


@each
def test_nothing_is_forgotten_where_nothing_drifts(learner):
    X, y = swapped(3_000, 3_000)
    y[np.random.default_rng(1).random(len(y)) < 0.2] *= -1
    forgets = learner.like_new().partial_fit(X, y)
    keeps = learner.like_new().set_params(forgetting=None).partial_fit(X, y)
    assert forgets.n_drifts_ == 0
    for name, array in keeps.core.views.items():
        assert array.tobytes() == forgets.core.views[name].tobytes(), name


def test_a_rare_class_of_large_sample_weights_is_no_drift():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = np.where(rng.random(8_000) < 0.01, 1, -1)
        X = rng.standard_normal((8_000, 6)).astype(np.float32)
        X[:, :2] += 0.8 * (y == 1)[:, None]
        weight = np.where(y == 1, 50.0, 0.5)
        model = KernelStreamSVM(max_vectors=50).fit(X, y, sample_weight=weight)
        assert model.n_drifts_ == 0
        assert model.capped_weights_ == (y == 1).sum()


def test_a_rare_class_that_weighs_as_much_is_no_drift():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(4_000) < 0.03, 1, -1)
    X = rng.standard_normal((4_000, 2)).astype(np.float32) + (y == 1)[:, None]
    learner = LEARNERS["balanced"].like_new().partial_fit(X, y)
    assert learner.predict(X[y == -1]).mean() > -0.8  # 10 % and more are wrong, none was at first
    assert learner.n_drifts_ == 0


@pytest.mark.parametrize("control_C", [True, False])
@pytest.mark.parametrize("forgetting", ["drift", 1, 40])
def test_twins_stay_at_their_optimum(forgetting, control_C):
    X, y = swapped(3_000, 1_000)
    model = TwinVectorMachine(
        max_twins=30, gamma=0.5, C=10.0, control_C=control_C, forgetting=forgetting
    )
    for begin in range(0, len(X), 25):
        model.partial_fit(X[begin : begin + 25], y[begin : begin + 25])
        assert model.kt_residual() <= 1e-9
    assert (model.n_drifts_ > 0) == (forgetting == "drift")


def test_twins_forget_as_if_new_samples_weighed_more():
    """To halve what is held is to double what comes, to the last bit."""
    X, y = swapped(256, 128)
    forgets = TwinVectorMachine(max_twins=20, gamma=0.5, forgetting=64)
    grows = TwinVectorMachine(max_twins=20, gamma=0.5, forgetting=None)
    forgets.partial_fit(X, y)
    grows.partial_fit(X, y, sample_weight=2.0 ** (np.arange(256) // 64))
    np.testing.assert_array_equal(forgets.decision_function(X), grows.decision_function(X))
    np.testing.assert_array_equal(8.0 * forgets.weights_, grows.weights_)


def test_weights_do_not_vanish():
    """Samples far from the margin are not learned, and what is held ages all the same."""
    model = TwinVectorMachine(max_twins=2, gamma=0.01, m1=0.5, forgetting=1)
    model.partial_fit([[0.0], [10.0]], [-1, 1])
    before = model.decision_function([[3.0], [7.0]])
    model.partial_fit(np.full((3_000, 1), 10.0), np.ones(3_000, int))
    np.testing.assert_array_equal(model.decision_function([[3.0], [7.0]]), before)
    assert (model.weights_.sum(axis=1) > 0.0).all() and model.kt_residual() <= 1e-9
    assert pickle.loads(pickle.dumps(model)).n_seen_ == 3_002


def test_after_a_drift_no_error_is_dropped():
    X, y = swapped(4_000, 2_000)
    model = TwinVectorMachine(max_twins=30, gamma=0.5).partial_fit(X[:2_000], y[:2_000])
    n = 2_000
    while model.n_drifts_ == 0:
        model.learn_one(X[n], y[n])
        n += 1
    f = model.decision_function(X[n:])
    far = n + int(np.flatnonzero((np.abs(f) > 1.0) & (f * y[n:] < 0))[0])
    accepted = model.n_accepted_
    model.learn_one(X[far], y[far])
    assert model.n_accepted_ == accepted + 1


@each
def test_the_reference_forgets_alike(learner):
    X, y = swapped(900, 600)
    fast = learner.like_new().set_params(dtype="float64").partial_fit(X, y)
    kind = type(learner)
    plain = (
        type(kind.__name__, (kind,), {"_engine": "reference"})(**learner.get_params(deep=False))
        .set_params(dtype="float64")
        .partial_fit(X, y)
    )
    assert fast.n_drifts_ == plain.n_drifts_ == 1
    np.testing.assert_allclose(
        fast.decision_function(X), plain.decision_function(X), rtol=1e-6, atol=1e-6
    )
    for name in ("since", "due", "errors"):
        np.testing.assert_allclose(fast.core.views[name], plain.core.views[name], rtol=1e-12)
