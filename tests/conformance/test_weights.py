"""No weight ruins a model: one far above the others is learned as less and counted, any scale of
them all is fine, and what was learned can be saved and loaded."""

import contextlib

import numpy as np
import pytest
from each import each_of
from registry import REGISTERED, decides
from test_refusals import refuses
from test_stream import state

import edgesvm

N = 60


def weighted(subject, weights):
    """A learner that has seen one sample of each weight; one that needs no weights is none."""
    learner = subject.make()
    if not learner.takes_labels:
        pytest.skip("it takes no weights")
    return learner.partial_fit(*subject.stream(len(weights)), sample_weight=weights)


REFUSED = [2.0**41, 1e30, 1e50, 1e-13, 1e-20, 1e-300]
SCALES = [2.0**-40, 1e-6, 1 / N, 1e4, 2.0**36]
FIRST = [[2.0**-40], [2.0**40], [0.0, 1e-9], [1e-6] * 4, [1e6] * 4]


@each_of("subject")
def test_weights_that_are_refused(subject):
    learner = weighted(subject, np.ones(N))
    X, y = subject.stream(2)
    for weight in subject.some(REFUSED):
        rows, said = [weight, 1.0], "from 9.1e-13 to 1.1e"
        refuses(learner, lambda w=weight: learner.learn_one(X[0], y[0], w), f"{weight:g}", said)
        refuses(learner, lambda w=rows: learner.partial_fit(X, y, sample_weight=w), "row 0", said)
    learner.learn_one(X[0], y[0], 1e-11)
    assert learner.capped_weights_ == 0


@each_of("subject")
def test_a_larger_weight_is_learned_as_the_bound_and_counted(subject):
    X, y = subject.stream(3)
    for scale in subject.some(SCALES):
        same = []
        for large in (8.0, 8.5, 2.0**40 / scale):
            learner = weighted(subject, np.full(N, scale))
            learner.learn_one(X[0], y[0], min(large * scale, 2.0**40))
            learner.partial_fit(X[1:], y[1:], sample_weight=[scale, 2.0 * scale])
            same.append(state(learner))
            assert learner.capped_weights_ == (large > 8.0)
        assert same[1:] == same[:-1]


@each_of("subject")
def test_odd_first_weights_lock_nobody_out(subject):
    X, y = subject.stream(1)
    for first in subject.some(FIRST):
        learner = weighted(subject, np.concatenate([first, np.ones(4 * N)]))
        assert learner.n_seen_ == 4 * N + len(first)
        before = learner.capped_weights_
        learner.learn_one(X[0], y[0], 1.0)
        assert learner.capped_weights_ == before


@each_of("subject")
def test_weights_of_a_class_of_1_in_1000(subject):
    """As scikit-learn's compute_sample_weight("balanced") gives them."""
    X, y = subject.stream(N)
    weights = np.full(N, 0.5)
    weights[7] = 500.0
    for learn in ("partial_fit", "fit"):
        learner = subject.make()
        if not learner.takes_labels:
            pytest.skip("it takes no weights")
        getattr(learner, learn)(X, y, sample_weight=weights)
        assert learner.n_seen_ % N == 0
        assert learner.capped_weights_ > 0


@each_of("subject")
def test_the_mean_survives_saving(subject, tmp_path):
    learner = weighted(subject, np.full(N, 1e-4))
    learner.save(tmp_path / "model")
    again = edgesvm.load(tmp_path / "model")
    X, y = subject.stream(1)
    for one in (learner, again):
        one.learn_one(X[0], y[0], 1.0)
        assert one.capped_weights_ == 1
    assert state(one) == state(learner)


NUMBERS = "C gamma coef0 epsilon lambda_ tau eta m1 noise learning_rate"


def some_params(rng, entry):
    """Parameters of any size that is accepted, and another kernel."""
    names = set(entry.kind._param_names())
    params = {
        k: 10 ** rng.uniform(-30, 30) for k in NUMBERS.split() if k in names and rng.random() < 0.1
    }
    if "kernel" in names and rng.random() < 0.7:
        params |= {"kernel": str(rng.choice(["linear", "poly", "rbf"])), "gamma": None}
        params |= {"degree": int(rng.integers(1, 8))}
    return params


@each_of("subject")
def test_any_stream_leaves_numbers_and_a_model_that_can_be_saved(subject, tmp_path):
    """Rows, features and weights of very different size, zeros and rows that repeat."""
    of_kind = sum(len(e.dtypes) for e in REGISTERED if e.kind is subject.entry.kind)
    for seed in range(2 if subject.samples else 10_000 // of_kind):
        rng = np.random.default_rng(seed)
        with contextlib.suppress(ValueError, TypeError):
            learner = None
            learner = subject.make(**some_params(rng, subject.entry))
            learner.allocate(subject.n_features, classes=subject.entry.labels)
        if learner is None or not learner.nbytes:
            continue
        X, y = subject.stream(int(rng.integers(5, 40)), seed)
        shape = ((len(X), 1), (1, X.shape[1]))[seed % 2]
        size = 10 ** rng.uniform(*np.sort(rng.uniform(-12, 20, 2)), shape)
        X = (X * np.where(rng.random((len(X), 1)) < 0.1, 0.0, size)).astype(subject.dtype)
        for i in range(len(X)):
            x, weight = X[i // rng.integers(1, 3)], 2.0 ** rng.choice([0, rng.uniform(-40, 40)])
            with contextlib.suppress(ValueError):
                learner.learn_one(x, *((y[i], weight) if learner.takes_labels else ()))
        if learner.is_fitted:
            with contextlib.suppress(ValueError):
                assert np.isfinite(decides(learner)(subject.stream(3)[0])).all(), f"seed {seed}"
            learner.save(tmp_path / "model")
            assert state(edgesvm.load(tmp_path / "model")) == state(learner)
