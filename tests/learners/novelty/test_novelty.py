"""What is strange, and from where on: scores against their formulas, the threshold against its
rate."""

import copy

import numpy as np
import pytest
from each import each

from edgesvm import GaussianNovelty, KernelNovelty, NotFittedError, alarm_rate_of
from reference.novelty import SETTLED


def new(learner, **params):
    return type(learner)(**learner.get_params() | params)


KINDS = [
    GaussianNovelty(),
    GaussianNovelty(covariance="diagonal"),
    KernelNovelty(max_vectors=20),
]


def scaled(X):
    """Each row by the statistics up to and including it, cut at 8; and the last statistics."""
    counts = np.arange(1, len(X) + 1)[:, None]
    mean = X.cumsum(0) / counts
    spread = np.array([((X[:n] - X[:n].mean(0)) ** 2).mean(0) for n in range(1, len(X) + 1)])
    with np.errstate(invalid="ignore", divide="ignore"):
        Z = np.clip((X - mean) / np.sqrt(spread), -8, 8)
    return Z, mean[-1], np.sqrt(spread[-1])


def bent(z):
    """Deviations as they are scored: beyond 8 the logarithm goes on."""
    with np.errstate(divide="ignore"):
        return np.where(np.abs(z) <= 8, z, np.sign(z) * (8 + np.log(np.abs(z) / 8)))


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
    z = bent((new - mean) / deviation)
    square = 291 * np.einsum("ij,jk,ik->i", z, np.linalg.inv(A), z)
    np.testing.assert_allclose(learner.mean_, mean)
    np.testing.assert_allclose(learner.scale_, deviation)
    np.testing.assert_allclose(-learner.score_samples(new), np.sqrt(square / 4), rtol=1e-8)


@each("n", [30, 400, 5000])
@each("storage, rtol", [("exact", 1e-7), ("compact", 3e-3)])
def test_a_kernel_scores_the_distance_to_the_span_of_its_centres(n, storage, rtol):
    X, new = machine(n), machine(50, 1)
    learner = KernelNovelty(
        max_vectors=25, gamma=0.4, noise=0.02, dtype="float64", learn="all", storage=storage
    ).partial_fit(X)
    C, (_, mean, deviation) = learner.centres_, scaled(X)
    assert len(C) == min(25, n - SETTLED) and learner.counts_.sum() == n - SETTLED

    def kernel(a, b):
        return np.exp(-0.4 * ((a[:, None] - b[None]) ** 2).sum(2))

    k = kernel(bent((new - mean) / deviation), C)
    inverse = np.linalg.inv(kernel(C, C) + 0.02 * np.eye(len(C)))
    e = np.einsum("ij,jk,ik->i", k, inverse, k)
    np.testing.assert_allclose(learner.score_samples(new), np.log(e), rtol=rtol, atol=rtol / 100)


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
    """Within a factor of two, on what is learned and, in a random order, on what is not."""
    learner = type(learner)(**learner.get_params() | {"alarm_rate": rate})
    X = machine(2 * n)
    learner.fit(X[:n])
    assert 0.5 < learner.n_alarms_ / (rate * n) < 2
    alarms = (learner.predict(X[n:]) == -1).sum()
    assert 0.5 < alarms / (rate * n) < 2
    samples = X[n : n + 500].astype(np.float32)
    scores = learner.score_samples(samples)
    assert learner.decision_function(samples).tolist() == pytest.approx(scores - learner.offset_)
    assert ((scores < learner.offset_) == (learner.predict(samples) == -1)).all()
    assert learner.score_one(samples[3]) == pytest.approx(-scores[3])


@each("learner", KINDS)
def test_a_fault_is_not_learned_until_it_outlasts_what_was(learner):
    """And raises few alarms."""
    X, fault = machine(3000), machine(3100, 2) + 10 ** np.arange(4) * [30, 0, -30, 0]
    normal = new(learner, alarm_rate=1e-6).partial_fit(X)
    learned, n_alarms = normal.n_updates_, normal.n_alarms_
    on = [(normal.learn_one(x), normal.alarm_on_)[1] for x in fault[:200]]
    assert on[0] and sum(on) <= 20 and normal.n_alarms_ <= n_alarms + 3
    assert normal.n_apart_ == 197 and normal.n_updates_ == learned
    assert normal.score_samples(fault[:200]).max() < normal.score_samples(X[200:]).min()
    one = copy.deepcopy(normal).partial_fit(X[:90])
    assert one.n_apart_ == 0, "it has ended"
    normal.partial_fit(fault[200:])
    assert normal.n_lost_ == 1 and 0 < normal.n_updates_ - learned < 3100 - learned
    everything = new(learner, learn="all").partial_fit(X)
    for _ in range(4):
        everything.partial_fit(fault)
    assert (everything.predict(fault[-100:]) == 1).mean() > 0.9


@each("learner", KINDS)
def test_a_fault_of_which_half_looks_normal_is_held_apart_too(learner):
    X, odd = machine(4000), machine(1, 2)[0] + 10 ** np.arange(4) * [30, 0, -30, 0]
    learner = new(learner, alarm_rate=1e-4).partial_fit(X[:3000])
    n_alarms = learner.n_alarms_
    assert not any([learner.learn_one(odd), learner.learn_one(x)][0] for x in X[3000:3050])
    assert n_alarms < learner.n_alarms_ <= n_alarms + 2


@each("learner", KINDS)
def test_a_fault_beside_what_is_held_apart_is_an_alarm(learner):
    """And with a model that stands still."""
    X, place = machine(5000), 10.0 ** np.arange(4)
    X[3000:4000] += 20 * place
    X[3800:3850] += place * [20, 20, -25, 20]
    for learn in ("normal", "until 2000"):
        one = new(learner, learn=learn, alarm="3/5").partial_fit(X[:3260])
        begun = one.n_alarms_
        assert one.is_lost_ and one.n_lost_ == 1 and one.n_apart_ >= 250
        one.partial_fit(X[3260:3800])
        assert one.n_alarms_ <= begun + 2
        begun = one.n_alarms_
        on = [(one.learn_one(x), one.alarm_on_)[1] for x in X[3800:3850]]
        assert any(on[:5]) and one.n_alarms_ > begun
        one.partial_fit(X[3850:])
        assert one.n_apart_ == 0 and not one.is_lost_


@each("learner", KINDS)
def test_three_of_five_scores_begin_an_alarm(learner):
    X, odd = machine(3100), machine(1, 2)[0] + 10 ** np.arange(4) * [30, 0, -30, 0]
    learner = new(learner, alarm="3/5", alarm_rate=1e-5).partial_fit(X[:3000])
    begun, before = [], learner.n_strange_
    for strange in (1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0):
        learner.learn_one(odd if strange else learner.mean_)
        begun.append(int(learner.alarm_on_))
    assert begun == 14 * [0] + [1, 0] and learner.n_strange_ == before + 6


def moving(how, n):
    """Series without a fault, of which what is normal moves."""
    rng, t = np.random.default_rng(3), np.arange(n)[:, None]
    noise = rng.standard_normal((n, 3))
    if how == "slow walk":
        return noise + np.cumsum(rng.standard_normal((n, 3)), axis=0) / 50
    if how == "a day":
        return noise + 3 * np.sin(2 * np.pi * t / 2880)
    if how == "heavy tails":
        return rng.standard_t(2.5, (n, 3))
    if how == "restless":
        return noise * np.exp(np.sin(2 * np.pi * t / 7000))
    return noise + 4 * np.repeat(rng.standard_normal((8, 3)), n // 8, axis=0)  # "jumps"


@each("learner", KINDS)
@each("learn, alarm", [("normal", "1/1"), ("all", "3/5"), ("until 1000", "1/1")])
@each("how", ["slow walk", "a day", "heavy tails", "restless", "jumps"])
def test_the_alarm_rate_is_kept_whatever_moves(learner, learn, alarm, how):
    """At most twice the alarms asked for, and none that never ends."""
    X = moving(how, 24_000).astype(np.float32)
    for rate in (0.01, 0.001):
        one = new(learner, learn=learn, alarm=alarm, alarm_rate=rate).partial_fit(X)
        assert one.n_alarms_ <= 2 * rate * len(X), (rate, one.n_alarms_)
        on = []
        for x in X[:3000]:
            one.learn_one(x)
            on.append(one.alarm_on_)
        assert np.mean(on) < 0.6, rate


@each("learner", KINDS)
def test_alarms_are_asked_for_and_come(learner):
    """The threshold sinks again: not fewer than half of them on what does not move."""
    learner = new(learner, alarm_rate=0.002)
    X = machine(30_000)
    X[2000:2400] *= 20  # it has risen
    learner.partial_fit(X)
    assert 30 <= learner.n_alarms_ <= 120, "60 were asked for"


@each("learner", KINDS)
def test_nothing_is_an_alarm_while_it_warms_up(learner):
    learner = type(learner)(**learner.get_params() | {"warm_up": 200})
    X = machine(200)
    X[50:60] *= 100
    learner.partial_fit(X)
    assert learner.n_alarms_ == 0 and learner.n_updates_ == 200


@each("learner", KINDS)
@each("at", [25, 90])
def test_one_spike_does_not_ruin_the_scales(learner, at):
    X = machine(3000)
    X[at, 1] = 1e9
    learner = new(learner).partial_fit(X)
    fault = X[100:200] - [0, 12 * X[100:, 1].std(), 0, 0]
    assert (learner.predict(fault) == -1).all() and (learner.predict(X[200:]) == 1).mean() > 0.99


@each("kind", [GaussianNovelty, KernelNovelty])
def test_until_learns_so_many_and_then_stands_still(kind):
    """What comes within N samples is normal, strange or not; later samples only count."""
    X = machine(900)
    X[150:153] *= 5
    learner = kind(learn="until 400", alarm_rate=0.05).partial_fit(X[:399])
    assert learner.n_alarms_ == 0 and learner.n_updates_ == 399 and not learner.is_frozen_
    everything = kind(learn="all", alarm_rate=0.05, warm_up=400).partial_fit(X[:400])
    assert learner.learn_one(X[399]) and learner.is_frozen_
    scores = learner.score_samples(X).tolist()
    np.testing.assert_allclose(scores, everything.score_samples(X))
    assert learner.offset_ == everything.offset_
    assert not any(learner.learn_one(x) for x in X[400:])
    np.testing.assert_allclose(learner.score_samples(X), scores)
    assert learner.offset_ != everything.offset_, "the threshold follows"
    assert learner.n_updates_ == 400 and learner.n_seen_ == 900
    assert learner.n_strange_ >= learner.n_alarms_ > 0
    assert not everything.is_frozen_


# -- which features ----------------------------------------------------------------------------


def test_the_shares_of_a_gaussian_are_what_the_distance_loses_without_a_feature():
    X, new = machine(300), machine(20, 1)
    full = GaussianNovelty(dtype="float64", learn="all").partial_fit(X)
    diagonal = GaussianNovelty(covariance="diagonal", dtype="float64", learn="all").partial_fit(X)
    Z, mean, deviation = scaled(X)
    A = np.eye(4) + Z[SETTLED:].T @ Z[SETTLED:]

    def distance(z, held):
        return z[held] @ np.linalg.inv(A[np.ix_(held, held)]) @ z[held]

    for x in new:
        z = bent((x - mean) / deviation)
        lost = [
            distance(z, [*range(4)]) - distance(z, [*range(j), *range(j + 1, 4)]) for j in range(4)
        ]
        np.testing.assert_allclose(full.shares_one(x), lost / np.sum(lost), rtol=1e-6)
        np.testing.assert_allclose(diagonal.shares_one(x), z**2 / (z @ z), rtol=1e-9)


def test_the_shares_of_a_kernel_are_what_the_score_loses_where_a_feature_is_as_expected():
    X, new = machine(300), machine(20, 1)
    learner = KernelNovelty(max_vectors=25, dtype="float64", learn="all", storage="exact")
    learner.partial_fit(X)
    C, n = learner.centres_, learner.counts_
    for x in new:
        z, lost = bent((x - learner.mean_) / learner.scale_), []
        for j in range(4):
            others = np.delete(z - C, j, axis=1)
            weight = n * np.exp(-0.75 * (others**2).sum(axis=1))
            there = x.copy()
            there[j] = (weight @ C[:, j]) / weight.sum() * learner.scale_[j] + learner.mean_[j]
            lost.append(max(learner.score_one(x) - learner.score_one(there), 0))
        shares = lost / np.sum(lost) if any(lost) else [0.25] * 4
        np.testing.assert_allclose(learner.shares_one(x), shares, atol=1e-7)


@each("learner", [*KINDS, KernelNovelty(max_vectors=200)])
def test_the_feature_that_is_off_has_the_largest_share(learner):
    X, place = machine(3000, d=8), np.arange(200) % 8
    learner = type(learner)(**learner.get_params()).partial_fit(X[:2800])
    off = X[2800:].copy()
    off[np.arange(200), place] += 6 * learner.scale_[place]
    shares = np.array([learner.shares_one(x) for x in off])
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares.argmax(axis=1) == place).mean() > 0.95


def test_shares_far_from_everything_and_before_there_is_a_model():
    far = np.float64([0, 1e4, 0])
    X = np.random.default_rng(0).standard_normal((100, 3))
    kernel = KernelNovelty(gamma=100.0, dtype="float64").partial_fit(X)
    assert kernel.shares_one(far).argmax() == 1  # though its score is the largest there is
    for learner in (KernelNovelty(), GaussianNovelty(), GaussianNovelty(covariance="diagonal")):
        learner.learn_one(X[0])
        assert learner.shares_one(X[0]).tolist() == [1 / 3] * 3
    out = np.empty(3)
    assert kernel.shares_one(far, out=out) is out and out.sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="shape"):
        kernel.shares_one(far, out=np.empty(2))


# -- alarms a day ------------------------------------------------------------------------------


@each(
    "text, rate, share",
    [
        ("1/day", 10.0, 1 / 864_000),
        ("2/hour", 1.0, 2 / 3600),
        ("0.5 / minute", 4, 1 / 480),
        ("3/week", 0.001, 3 / 604.8),
        ("0.001", None, 0.001),
        ("1e-3", 50.0, 0.001),
    ],
)
def test_alarms_in_a_time_are_a_share_of_the_samples(text, rate, share):
    assert alarm_rate_of(text, rate) == pytest.approx(share)
    GaussianNovelty(alarm_rate=alarm_rate_of(text, rate)).plan(3)


def test_what_is_stranger_scores_more_however_strange():
    X = machine(400)
    for learner in (GaussianNovelty(), GaussianNovelty(covariance="diagonal")):
        learner.partial_fit(X)
        steps = np.outer(10.0 ** np.arange(8), [0, 0, learner.scale_[2], 0])
        assert (np.diff(-learner.score_samples(learner.mean_ + steps)) > 0).all()


def test_a_warm_up_is_ended_by_hand():
    X = np.random.default_rng(5).standard_normal((600, 3))
    learner = GaussianNovelty(warm_up=10_000, alarm_rate=1e-4)
    with pytest.raises(NotFittedError):
        learner.end_warm_up()
    with pytest.raises(ValueError, match="until 400"):
        GaussianNovelty(learn="until 400").partial_fit(X).end_warm_up()
    X[200:203] += 20
    learner.partial_fit(X[:500])
    assert learner.n_alarms_ == 0
    learner.end_warm_up()
    assert learner.warm_up == 500
    for one in (learner, copy.deepcopy(learner)):
        assert not one.learn_one(X[3] + [60, -60, 60]) and one.n_alarms_ == 1
