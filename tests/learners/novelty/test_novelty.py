"""What is strange, and from where on: scores against their formulas, the threshold against its
rate."""

import numpy as np
import pytest
from each import each

from edgesvm import GaussianNovelty, KernelNovelty
from edgesvm.learners.novelty.constants import SETTLED

KINDS = [
    GaussianNovelty(),
    GaussianNovelty(covariance="diagonal"),
    KernelNovelty(max_vectors=20),
]


def scaled(X):
    """Each row by the statistics up to and including it, clipped at 8; and the last statistics."""
    counts = np.arange(1, len(X) + 1)[:, None]
    mean = X.cumsum(0) / counts
    spread = np.array([((X[:n] - X[:n].mean(0)) ** 2).mean(0) for n in range(1, len(X) + 1)])
    with np.errstate(invalid="ignore", divide="ignore"):
        Z = np.clip((X - mean) / np.sqrt(spread), -8, 8)
    return Z, mean[-1], np.sqrt(spread[-1])


def machine(n, seed=0, d=4):
    """Features that go together, in units of their own."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    return X * 10.0 ** np.arange(d) + 5


@each("covariance", ["full", "diagonal"])
def test_a_gaussian_scores_the_mahalanobis_distance(covariance):
    X, new = machine(300), machine(50, 1)
    learner = GaussianNovelty(covariance=covariance, dtype="float64", learn="all").partial_fit(X)
    Z, mean, deviation = scaled(X)
    A = np.eye(4) + Z[SETTLED:].T @ Z[SETTLED:] if covariance == "full" else 291 * np.eye(4)
    z = np.clip((new - mean) / deviation, -8, 8)
    square = 291 * np.einsum("ij,jk,ik->i", z, np.linalg.inv(A), z)
    np.testing.assert_allclose(learner.mean_, mean)
    np.testing.assert_allclose(learner.scale_, deviation)
    np.testing.assert_allclose(-learner.score_samples(new), np.log(0.001 + square / 4), rtol=1e-8)


@each("n", [30, 400])
def test_a_kernel_scores_the_distance_to_the_span_of_its_centres(n):
    X, new = machine(n), machine(50, 1)
    learner = KernelNovelty(max_vectors=25, gamma=0.4, noise=0.02, dtype="float64", learn="all")
    learner.partial_fit(X)
    C, (_, mean, deviation) = learner.centres_, scaled(X)
    assert len(C) == min(25, n - SETTLED) and learner.counts_.sum() == n - SETTLED

    def kernel(a, b):
        return np.exp(-0.4 * ((a[:, None] - b[None]) ** 2).sum(2))

    k = kernel(np.clip((new - mean) / deviation, -8, 8), C)
    inverse = np.linalg.inv(kernel(C, C) + 0.02 * np.eye(len(C)))
    e = np.einsum("ij,jk,ik->i", k, inverse, k)
    np.testing.assert_allclose(learner.score_samples(new), np.log(e), rtol=1e-7, atol=1e-9)


def test_the_two_cheapest_to_merge_become_their_mean():
    """On a line, with scales that stay: -1 and 1 alternate, then come the places."""
    X = np.concatenate([np.tile([-1.0, 1.0], 500), [3.0, 3.5, -4.0, -2.8]])[:, None]
    learner = KernelNovelty(max_vectors=4, dtype="float64", learn="all").partial_fit(X[:-2])
    far = np.sort((learner.centres_ * learner.scale_ + learner.mean_)[:, 0])
    np.testing.assert_allclose(far, [-1, 1, 3, 3.5], atol=0.05)
    learner.partial_fit(X[-2:])
    far = np.sort((learner.centres_ * learner.scale_ + learner.mean_)[:, 0])
    np.testing.assert_allclose(far, [-3.4, -1, 1, 3.25], atol=0.1)
    assert sorted(learner.counts_[learner.counts_ < 9]) == [2, 2]


def test_a_feature_that_never_varied_is_strange_once_it_does():
    X = machine(300)
    X[:, 1] = 7.0
    for learner in (GaussianNovelty(), KernelNovelty()):
        learner.partial_fit(X)
        odd = X[250].copy()
        odd[1] = 7.001
        assert learner.predict_one(X[250]) == 1 and learner.predict_one(odd) == -1


@each("learner", KINDS)
@each("rate, n", [(0.01, 20_000), (0.001, 60_000)])
def test_the_alarm_rate_is_kept(learner, rate, n):
    """Within a factor of two, on what is learned and on what is not: 40 and more alarms."""
    learner = type(learner)(**learner.get_params() | {"alarm_rate": rate})
    X = machine(2 * n)
    learner.partial_fit(X[:n])
    assert 0.5 < learner.n_alarms_ / (rate * n) < 2
    alarms = (learner.predict(X[n:]) == -1).sum()
    assert 0.5 < alarms / (rate * n) < 2
    samples = X[n : n + 500].astype(np.float32)
    scores = learner.score_samples(samples)
    assert learner.decision_function(samples).tolist() == pytest.approx(scores - learner.offset_)
    assert ((scores < learner.offset_) == (learner.predict(samples) == -1)).all()
    assert learner.score_one(samples[3]) == pytest.approx(-scores[3])


@each("learner", KINDS)
def test_a_fault_that_lasts_is_not_learned(learner):
    X, fault = machine(3000), machine(3000, 2) + 10 ** np.arange(4) * [30, 0, -30, 0]
    normal = type(learner)(**learner.get_params()).partial_fit(X)
    before, learned = normal.offset_, normal.n_updates_
    assert not normal.learn_one(fault[0])
    once = normal.offset_
    assert once < before
    normal.partial_fit(fault[1:])
    assert normal.offset_ == once and normal.n_updates_ == learned
    assert (normal.predict(fault) == -1).all() and (normal.predict(X) == 1).mean() > 0.99
    everything = type(learner)(**learner.get_params() | {"learn": "all"}).partial_fit(X)
    everything.partial_fit(fault)
    assert (everything.predict(fault[-100:]) == 1).mean() > 0.9


@each("learner", KINDS)
def test_nothing_is_an_alarm_while_it_warms_up(learner):
    learner = type(learner)(**learner.get_params() | {"warm_up": 200})
    X = machine(200)
    X[50:60] *= 100
    learner.partial_fit(X)
    assert learner.n_alarms_ == 0 and learner.n_updates_ == 200
