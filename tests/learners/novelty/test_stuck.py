"""A sensor that is stuck, and alarms that do not end: the rate afterwards, and what is said."""

import copy

import numpy as np
import pytest
from each import each

from edgesvm import GaussianNovelty, KernelNovelty, NotFittedError, load
from reference.novelty import STUCK_AFTER

KINDS = [
    GaussianNovelty(),
    GaussianNovelty(covariance="diagonal"),
    KernelNovelty(max_vectors=20),
]


def new(learner, **params):
    return type(learner)(**learner.get_params() | params)


def machine(n, seed=0, d=4):
    rng = np.random.default_rng(seed)
    mixed = np.random.default_rng(1).standard_normal((d, d))
    return (rng.standard_normal((n, d)) @ mixed).astype(np.float32)


def stuck(X, how):
    """X as sensors send it that are stuck."""
    if how == "all":
        X[:] = X[0]
    elif how == "at zero":
        X[:] = 0
    else:
        X[:, 1] = X[0, 1]
    return X


@each("learner", KINDS)
@each("how", ["all", "at zero", "one"])
@each("learn", ["normal", "all", "until 2500"])
def test_the_rate_comes_back_after_the_sensor(learner, how, learn):
    learner = new(learner, learn=learn).partial_fit(machine(1000))
    learner.partial_fit(stuck(machine(2000, seed=2), how))
    n_alarms = learner.n_alarms_
    while_stuck = copy.deepcopy(learner)
    learner.partial_fit(machine(9000, seed=3))
    assert (learner.n_alarms_ - n_alarms) / 9000 < 0.003, "0.001 was asked for"
    n_stuck = while_stuck.n_stuck_
    assert n_alarms < 10 and n_stuck in {2000 - STUCK_AFTER, 2001 - STUCK_AFTER}
    assert while_stuck.stuck_features_ == ([1] if how == "one" else [0, 1, 2, 3])
    assert learner.n_stuck_ == n_stuck and learner.stuck_features_ == []
    assert not learner.is_lost_ and learner.alarm_share_ < 0.2
    learner.partial_fit(stuck(machine(2000, seed=4), how))
    assert learner.n_stuck_ in {2 * n_stuck + k for k in (-1, 0, 1)}, "and again"


def test_features_that_are_meant_so_are_not_stuck():
    """Constant, binary by the hour, counts that are mostly nothing, quantised: all is learned."""
    n = 20_000
    X, rng = machine(n, d=7), np.random.default_rng(5)
    X[:, 1] = 7
    X[:, 2] = np.arange(n) // 1800 % 2
    X[:, 3] = rng.poisson(0.05, n)
    X[:, 4] = np.rint(X[:, 4])
    X[:, 5] = np.maximum(X[:, 5], -0.5)  # clipped now and then
    for kind in (GaussianNovelty, KernelNovelty):
        learner = kind(alarm_rate=0.01, learn="all").partial_fit(X)
        assert learner.n_stuck_ == 0 and learner.n_updates_ == n


def test_a_pump_that_is_off_holds_the_learning_up_only_meanwhile():
    X = machine(20_000)
    off = np.arange(len(X)) // 2500 % 2 == 1
    X[off] = 0
    for kind in (GaussianNovelty, KernelNovelty):
        learner = kind(learn="all").partial_fit(X)
        assert learner.n_updates_ >= (~off).sum() + STUCK_AFTER
        assert learner.n_updates_ + learner.n_stuck_ == len(X)


def test_a_sensor_that_comes_late_was_stuck():
    """Rows of one value before the machine is connected: they do not use up the warm-up."""
    X = machine(6000)
    X[:1000] = 3
    learner = GaussianNovelty().partial_fit(X[:1000])
    assert learner.stuck_features_ == [0, 1, 2, 3] and learner.n_updates_ == STUCK_AFTER
    learner.partial_fit(X[1000:])
    assert learner.stuck_features_ == [] and learner.n_alarms_ < 20


@each("learner", KINDS)
def test_what_is_held_apart_is_saved_and_ends_or_becomes_normal(learner, tmp_path):
    X = machine(2000)
    learner = new(learner).partial_fit(X)
    scores = learner.score_samples(X[:50]).tolist()
    learner.partial_fit(20 + machine(200, seed=1))
    assert learner.n_apart_ == 197 and not learner.is_lost_
    learner.partial_fit(20 + machine(60, seed=2))
    assert learner.is_lost_ and learner.n_lost_ == 1
    learner.save(tmp_path / "model.esvm")
    for one in (learner, load(tmp_path / "model.esvm")):
        back = copy.deepcopy(one).partial_fit(machine(60, seed=5))
        assert back.n_apart_ == 0 and not back.is_lost_ and back.predict_one(X[3]) == 1
        np.testing.assert_allclose(back.score_samples(X[:50]), scores, rtol=0.2)
        one.partial_fit(20 + machine(9000, seed=3))
        assert one.n_alarms_ < 30 and one.n_updates_ > 5000
        assert one.predict_one(20 + machine(1, seed=4)[0]) == 1
        one.core.check(), back.core.check()


def test_one_that_stands_still_learns_only_what_it_holds_apart():
    X = machine(1000)
    learner = GaussianNovelty(learn="until 800").partial_fit(X)
    scores = learner.score_samples(X).tolist()
    learner.partial_fit(20 + machine(3000, seed=4))
    assert learner.is_lost_ and learner.n_updates_ == 800 and learner.n_alarms_ < 10
    np.testing.assert_allclose(learner.score_samples(X), scores)
    learner.core.check()


@each("learner", KINDS)
def test_watching_counts_and_learns_nothing(learner):
    with pytest.raises(NotFittedError):
        new(learner).watch_one(machine(1)[0])
    learner = new(learner).partial_fit(machine(1000))
    before, shares = learner.offset_, learner.score_samples(machine(50, seed=6)).tolist()
    learned = learner.n_updates_
    for x in (*stuck(machine(200, seed=2), "all"), *(20 + machine(3000, seed=3))):
        learner.watch_one(x)
    assert learner.n_stuck_ == 150 and learner.n_lost_ == 1 and learner.n_updates_ == learned
    assert learner.offset_ != before, "the threshold follows"
    np.testing.assert_allclose(learner.score_samples(machine(50, seed=6)), shares)
    learner.core.check()


def test_with_stuck_learn_no_sensor_is_stuck():
    learner = GaussianNovelty(stuck="learn").partial_fit(machine(1000))
    learner.partial_fit(stuck(machine(300), "all"))
    assert learner.stuck_features_ == [] and learner.n_stuck_ == 0
    assert learner.plan(4).total == GaussianNovelty().plan(4).total - (16 + 2 * 16)


SMALL = KernelNovelty(max_vectors=5)


@each("learner", [KINDS[1], SMALL])
def test_the_engines_agree(learner):
    X = np.concatenate(
        [
            *(machine(1500), stuck(machine(120, seed=1), "all"), machine(100, seed=2)),
            *(stuck(machine(120, seed=3), "one"), 20 + machine(3000, seed=4)),
        ]
    )
    plain = type("Plain", (type(learner),), {"_engine": "reference"})
    fast, plain = (kind(**learner.get_params()) for kind in (type(learner), plain))
    for begin in range(0, len(X), 200):
        for one in (fast, plain):
            one.partial_fit(X[begin : begin + 200])
        for name in ("n_seen_", "n_updates_", "n_alarms_", "n_strange_", "n_lost_", "is_lost_"):
            assert getattr(fast, name) == getattr(plain, name), (name, begin)
        assert fast.stuck_features_ == plain.stuck_features_
    np.testing.assert_allclose(fast.offset_, plain.offset_, rtol=1e-3)
    assert fast.n_lost_ == 1 and fast.n_apart_ == plain.n_apart_ and fast.n_stuck_ > 120
    for one in (fast, plain):
        one.partial_fit(machine(80, seed=9))
        assert one.n_updates_ > 1500
