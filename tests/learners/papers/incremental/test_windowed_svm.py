"""w models of the last 1 to w batches: which answers, and what each has learned."""

import numpy as np
import pytest
from each import each
from streams_of_clouds import SCHEMES, assert_same_model, clouds, incremental, windowed

from edgesvm import NotFittedError

ENGINES = ["compiled", "reference"]
B = 25


def batches(n, seed=0):
    X, y = clouds(n * B, seed, noise=0.1)
    return [(X[k : k + B], y[k : k + B]) for k in range(0, n * B, B)]


def written_out(stream, engine, scheme, **params):
    """One model of some batches: the first taken whole, of each other what the scheme keeps."""
    keeps = {
        "error_driven": lambda yf: yf <= 0,
        "fixed_partition": lambda yf: np.ones(len(yf), bool),
        "exceeding_margin": lambda yf: np.abs(yf) <= 1,
        "exceeding_margin_errors": lambda yf: yf <= 1,
    }[scheme]
    learner = incremental(engine, batch_size=B, max_vectors=40, **params)
    learner.partial_fit(*stream[0])
    for X, y in stream[1:]:
        kept = keeps(y * learner.decision_function(X))
        if kept.any():
            learner.partial_fit(X[kept], y[kept]).update()
    return learner


@pytest.mark.parametrize("engine", ENGINES)
@each("scheme", SCHEMES)
@each("window", [1, 2, 3, 4])
def test_the_oldest_answers_for_the_last_batches(window, scheme, engine):
    stream = batches(7)
    learner = windowed(engine, window=window, scheme=scheme, batch_size=B, max_vectors=40)
    for k, (X, y) in enumerate(stream):
        learner.partial_fit(X, y)
        expected = written_out(stream[max(0, k + 1 - window) : k + 1], engine, scheme)
        assert_same_model(learner, expected, atol=1e-4)
        assert learner.n_batches_ == k + 1 and learner.n_waiting_ == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_older_than_the_window_is_left(engine):
    """Two streams that differ, and then are one for the window's length."""
    shared = batches(3, seed=5)
    learners = []
    for seed in (1, 2):
        learner = windowed(engine, window=3, batch_size=B, max_vectors=30)
        for X, y in batches(4, seed) + shared:
            learner.partial_fit(X, y)
        learners.append(learner)
    X = shared[0][0]
    assert learners[0].decision_function(X).tolist() == learners[1].decision_function(X).tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_samples_wait_for_their_batch(engine):
    stream = batches(3)
    learner = windowed(engine, batch_size=B)
    for X, y in stream[:2]:
        learner.partial_fit(X, y)
    before = learner.decision_function(stream[0][0])
    X, y = stream[2]
    for k in range(B - 1):
        assert learner.learn_one(X[k], y[k]) and learner.n_waiting_ == k + 1
        assert learner.decision_function(stream[0][0]).tolist() == before.tolist()
    learner.learn_one(X[-1], y[-1])
    assert learner.n_waiting_ == 0
    assert learner.decision_function(stream[0][0]).tolist() != before.tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_there_is_a_model_before_the_first_batch_is_full(engine):
    X, y = clouds(40, apart=2.0)
    learner = windowed(engine, batch_size=64)
    with pytest.raises(NotFittedError):
        learner.predict(X)
    learner.partial_fit(X[:16], y[:16])
    assert learner.score(X, y) > 0.9
    assert learner.n_batches_ == learner.n_cycles_ == learner.n_given_up_ == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_batches_of_one_class(engine):
    X, y = clouds(400, apart=2.0)
    turns = np.concatenate([np.flatnonzero(y > 0)[:150], np.flatnonzero(y < 0)[:150]])
    learner = windowed(engine, window=2, batch_size=25, max_vectors=30)
    learner.partial_fit(X[turns], y[turns])
    assert set(learner.predict(X)) == {-1}, "the last two batches are of one class"
    learner.partial_fit(X[turns[:25]], y[turns[:25]])
    assert learner.score(X, y) > 0.9


def test_it_follows_a_stream_that_turns_over():
    X = np.random.default_rng(0).standard_normal((3000, 2))
    y = np.where((X[:, 0] > 0) ^ (np.arange(3000) >= 1500), 1, -1)
    learner = windowed(batch_size=50, max_vectors=100)
    learner.partial_fit(X[:1500], y[:1500])
    assert learner.score(X[:1500], y[:1500]) > 0.95
    learner.partial_fit(X[1500:1800], y[1500:1800])
    assert learner.score(X[1800:], y[1800:]) > 0.95


def test_cycles_are_counted():
    stream = batches(6)
    learner = windowed(window=3, batch_size=B)
    counts = [learner.partial_fit(X, y).n_cycles_ for X, y in stream]
    assert counts == [1, 3, 6, 9, 12, 15]


def test_vectors_given_up_are_counted():
    X, y = clouds(200, apart=0.3, noise=0.1)
    learner = windowed(window=2, batch_size=50, max_vectors=10).partial_fit(X, y)
    assert learner.n_given_up_ > 50 and len(learner.support_vectors_) <= 10
    roomy = windowed(window=2, batch_size=50, max_vectors=150).partial_fit(X, y)
    assert roomy.n_given_up_ == 0


@each("name, value", [("window", 0), ("window", 1.5), ("scheme", "new")])
def test_parameters_out_of_range(name, value):
    with pytest.raises(ValueError, match=name):
        windowed(**{name: value}).allocate(2)


def test_bytes_grow_by_a_model_for_each_batch_of_the_window():
    totals = [windowed(window=w, dtype="float32").plan(20).total for w in (1, 2, 3, 4)]
    steps = set(np.diff(totals).tolist())
    assert steps == {512 * (20 * 4 + 16) + 16}, "max_vectors=500 rows, in whole tiles of 16"


@each("dtype", ["float32", "float64"])
@each("V, b, w, D", [(100, 50, 3, 20), (8, 6, 2, 4), (500, 500, 1, 128)])
def test_bytes_are_those_of_the_formulas(V, b, w, D, dtype):
    s = np.dtype(dtype).itemsize
    A, B = -(-(V + b) // 16) * 16, -(-V // (64 // s)) * (64 // s)
    workspace = A * (D * s + 20) + 40 * (V + b) + D * s + 4 * A * min(16, V + b)
    params = {"batch_size": b, "max_vectors": V, "dtype": dtype}
    assert incremental(**params).plan(D).total == 96 + workspace
    models = w * (B * (D * s + 16) + 16) + b * (D * s + 8)
    assert windowed(window=w, **params).plan(D).total == 88 + models + workspace
