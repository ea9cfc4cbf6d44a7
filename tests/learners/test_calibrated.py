"""Calibrated: probabilities that come true, and decisions that go by them and by the price of
errors."""

import math

import numpy as np
import pytest
from each import each

from edgesvm import (
    LASVM,
    Calibrated,
    FourierSVM,
    KernelStreamSVM,
    OneVsOne,
    OneVsRest,
    PassiveAggressive,
    Pegasos,
    Perceptron,
    Standardized,
    StreamSVM,
)
from edgesvm.serve.score import Forecasts, as_shares

N = 4000


def noisy(n=N, n_classes=2, offset=0.0, seed=1):
    """Rows, labels drawn by known probabilities, and these, ndarray of shape (n, n_classes)."""
    rng = np.random.default_rng([seed, n_classes])
    X = rng.standard_normal((n, 3)).astype(np.float32)
    z = 2.0 * X[:, :n_classes]
    z[:, 0] -= offset
    if n_classes == 2:
        z[:, 1] = 0.0
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return X, y, p


def rare(n=N, seed=3):
    """A class of about 2 %, and rows that only partly show it."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.02, "fault", "fine")
    X = rng.standard_normal((n, 3)).astype(np.float32)
    X[:, 0] += 2.0 * (y == "fault")
    return X, y


def forecasts(learner, X, y):
    """The score of the probabilities, each asked before its sample is learned; and of the raw."""
    after, before = Forecasts(), Forecasts()
    for x, label in zip(X, y.tolist(), strict=True):
        if learner.is_fitted:
            after.add(label, learner.classes_.tolist(), learner.predict_proba_one(x))
            raw = as_shares(learner.learner_.decision_one(x))
            before.add(label, learner.classes_.tolist(), raw)
        learner.learn_one(x, label)
    return after, before


@each(
    "inner, n_classes",
    [
        (StreamSVM(), 2),
        (Standardized(learner=Pegasos()), 2),
        (FourierSVM(n_directions=16), 2),
        (KernelStreamSVM(max_vectors=30), 2),
        (OneVsRest(learner=StreamSVM(), n_classes=3), 3),
        (FourierSVM(n_directions=16, n_classes=3), 3),
    ],
)
def test_probabilities_come_true(inner, n_classes):
    X, y, p = noisy(n_classes=n_classes)
    learner = Calibrated(learner=inner).allocate(3)
    after, before = forecasts(learner, X, y)
    best = -np.mean(np.log(p[np.arange(N), y]))
    assert best < after.log_loss < min(before.log_loss, best + 0.12 * after.log_loss_of_shares)
    assert after.calibration_error < 0.04
    off = np.abs(learner.predict_proba(X[-500:]) - p[-500:]).mean()
    assert off < 0.1


def test_the_sigmoid_follows_a_stream_that_turns():
    """What was sure becomes noise: the probabilities say so within some hundred samples."""
    X, y, _ = noisy()
    y[N // 2 :] = np.random.default_rng(0).choice(2, N // 2)
    learner = Calibrated(learner=StreamSVM(average=False)).partial_fit(X[: N // 2], y[: N // 2])
    sure = learner.predict_proba(X).max(axis=1).mean()
    learner.partial_fit(X[N // 2 :], y[N // 2 :])
    assert sure > 0.75 and learner.predict_proba(X).max(axis=1).mean() < 0.6


@each(
    "inner, n_classes",
    [
        (StreamSVM(), 2),
        (OneVsOne(learner=StreamSVM(), n_classes=4), 2),
        (OneVsOne(learner=StreamSVM(), n_classes=3), 3),
    ],
)
def test_decisions_are_the_largest_price_times_probability(inner, n_classes):
    X, y, _ = noisy(n_classes=n_classes)
    words = np.array(["c", "a", "b"])[y]  # a label that comes first is not the first of the sorted
    prices = {"a": 1.0, "b": 1.0, "c": 5.0}
    plain = Calibrated(learner=inner).partial_fit(X, words)
    priced = Calibrated(learner=inner, cost={"c": 5}).partial_fit(X, words)
    p = plain.predict_proba(X)
    np.testing.assert_array_equal(priced.predict_proba(X), p)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    by_hand = p * [prices[label] for label in plain.classes_.tolist()]
    assert (plain.predict(X) == plain.classes_[p.argmax(axis=1)]).all()
    assert (priced.predict(X) == plain.classes_[by_hand.argmax(axis=1)]).all()
    assert (priced.predict(X) != plain.predict(X)).sum() > 100
    values = priced.decision_function(X)
    if n_classes == 2:
        np.testing.assert_allclose(values, np.log(by_hand[:, 1] / by_hand[:, 0]), atol=1e-9)
    else:
        np.testing.assert_allclose(
            values[:, 1:] - values[:, :1], np.log(by_hand[:, 1:] / by_hand[:, :1]), atol=1e-9
        )
    for x, label in zip(X[:50], priced.predict(X[:50]), strict=True):
        assert priced.predict_one(x) == label


@each("label, share", [("fault", 0.9), ("fault", 0.6), ("fine", 0.9), ("fine", 0.99)])
def test_the_recall_of_a_class_is_kept(label, share):
    X, y = rare(8000)
    learner = Calibrated(learner=StreamSVM(), min_recall={label: share}).allocate(3)
    hits = []
    for x, truth in zip(X, y.tolist(), strict=True):
        if learner.is_fitted and truth == label:
            hits.append(learner.predict_one(x) == label)
        learner.learn_one(x, truth)
    late = hits[len(hits) // 4 :]
    assert len(late) > 100 and abs(np.mean(late) - share) < 0.05
    if label == "fault":  # and no more than it takes
        assert 0.02 < np.mean(learner.predict(X) == "fault") < 0.7


def test_one_class_is_sure_by_its_count():
    X, _ = rare(9)
    learner = Calibrated().partial_fit(X, ["fine"] * 9, classes=["fault", "fine"])
    np.testing.assert_allclose(learner.predict_proba(X[:1]), [[1 / 11, 10 / 11]], rtol=1e-12)
    assert learner.predict_one(X[0]) == "fine" and learner.decision_one(X[0]) > 0
    assert Calibrated().partial_fit(X, ["fine"] * 9).predict_proba(X).tolist() == [[1.0]] * 9
    many = Calibrated(learner=OneVsRest(n_classes=3)).partial_fit(X, ["x"] * 9, classes="xyz")
    assert many.predict_proba_one(X[0]).tolist() == [1.0, 0.0, 0.0]
    assert many.predict_one(X[0]) == "x"


@each("size", [1e-30, 1e15])
@each("weight", [1e-9, 1.0, 1e9])
def test_extreme_scores_and_weights_leave_probabilities(size, weight):
    X, y, _ = noisy(400)
    X = (X * size).astype(np.float64)
    inner = PassiveAggressive(dtype="float64", C=1.0)
    learner = Calibrated(learner=inner).partial_fit(X, y, sample_weight=np.full(400, weight))
    p = learner.predict_proba(np.concatenate([X, 1e100 * X]))
    assert np.isfinite(p).all() and ((p >= 0) & (p <= 1)).all()
    assert math.isfinite(learner.slope_[0]) and learner.slope_[0] >= 0


# Parameters.


@each(
    "params, problem",
    [
        ({"cost": {"a": 2}, "min_recall": {"a": 0.5}}, "give one of them"),
        ({"cost": {"a": 0.0}}, "cost of 'a'=0.0: give a number > 0"),
        ({"cost": {"a": math.inf}}, "cost of 'a'=inf"),
        ({"cost": {}}, r"cost=\{\}: give a dict such as"),
        ({"cost": 5}, "cost=5: give a dict such as"),
        ({"cost": {None: 5}}, "cost of None: a label is a bool, int, float or str"),
        ({"cost": {("a",): 5}}, "a label is a bool, int, float or str"),
        ({"min_recall": {"a": 1.0}}, "min_recall of 'a'=1.0: give a share between 0 and 1"),
        ({"min_recall": {"a": 0.5, "b": 0.5}}, "give one label and its share"),
        ({"learner": Calibrated()}, "that is not Calibrated itself"),
    ],
)
def test_parameters_that_cannot_be(params, problem):
    with pytest.raises(ValueError, match=problem):
        Calibrated(**params).plan(3)


def test_a_price_of_a_label_that_does_not_come():
    X, _ = rare(50)
    learner = Calibrated(cost={"fault": 20, "other": 2})
    named = Calibrated(cost={"fault": 20, "other": 2}).allocate(3, classes=["fault", "fine"])
    assert named.unseen_labels_ == ["other"]
    learner.learn_one(X[0], "fault")
    assert learner.unseen_labels_ == ["other"]
    learner.learn_one(X[0], "other")
    assert learner.unseen_labels_ == []


def test_a_price_comes_with_its_label():
    """A label that was refused leaves its slot to another, with the other's price."""
    X, _ = rare(50)
    learner = Calibrated(cost={"b": 1e6})
    learner.partial_fit(X[:40], ["a"] * 40)
    with pytest.raises(ValueError, match="NaN or infinite"):
        learner.learn_one(np.full(3, np.nan, np.float32), "b")
    expected = Calibrated(cost={"b": 1e6}).partial_fit(X[:40], ["a"] * 40).learn_one(X[40], "c")
    assert learner.learn_one(X[40], "c") == expected
    assert learner.predict_one(X[0]) == "a"
    assert (
        Calibrated(cost={"c": 1e6}).partial_fit(X[:41], ["a"] * 40 + ["c"]).predict_one(X[0]) == "c"
    )


# class_weight


@each(
    "kind, params",
    [
        (StreamSVM, {}),
        (KernelStreamSVM, {"max_vectors": 9, "forgetting": None}),  # errors count by class
        (FourierSVM, {"n_directions": 4}),
        (FourierSVM, {"n_directions": 4, "n_classes": 3}),
        (LASVM, {"max_vectors": 20}),
        (PassiveAggressive, {}),
        (Pegasos, {}),
        (Perceptron, {}),
    ],
)
@each("around", [lambda learner: learner, lambda inner: Standardized(learner=inner)])
def test_balanced_is_the_weight_by_running_counts(kind, params, around):
    n_classes = params.get("n_classes", 2)
    X, y, _ = noisy(300, n_classes, offset=2.0)
    counts = np.zeros(n_classes)
    weights = []
    for label in y:
        counts[label] += 1
        n_so_far = max((counts > 0).sum(), 2) if n_classes == 2 else (counts > 0).sum()
        weights.append(counts.sum() / (n_so_far * counts[label]))
    balanced = around(kind(**params, class_weight="balanced")).partial_fit(X, y)
    by_hand = around(kind(**params)).partial_fit(X, y, sample_weight=weights)
    assert bytes(balanced.arena)[:-8] == bytes(by_hand.arena)[:-8]  # but for the mean weight
    plain = around(kind(**params)).partial_fit(X, y)
    assert bytes(balanced.arena)[:-8] != bytes(plain.arena)[:-8]
    with pytest.raises(ValueError, match="class_weight='even': give 'balanced'"):
        around(kind(**params, class_weight="even")).plan(3)


# -- sets of labels --------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_sets_hold_the_labels_as_often_as_asked_while_the_world_turns(n_classes):
    X, y, _ = noisy(6000, n_classes)
    y[3000:] = (y[3000:] + 1) % n_classes  # another concept
    learner = Standardized(learner=OneVsRest(learner=StreamSVM(), n_classes=n_classes))
    model = Calibrated(learner=learner if n_classes > 2 else Standardized(), coverage=0.9)
    held, sizes = [], []
    for x, label in zip(X, y, strict=True):
        if model.is_fitted and len(model.classes_) == n_classes:
            found = model.predict_set_one(x)
            held.append(label in found)
            sizes.append(len(found))
        model.learn_one(x, label)
    assert np.mean(held) == pytest.approx(0.9, abs=0.015)
    windows = [np.mean(held[at : at + 500]) for at in range(500, len(held) - 500, 500)]
    assert min(windows) > 0.8
    assert 1.0 < np.mean(sizes) < n_classes
    assert model.set_coverage_ == pytest.approx(np.mean(held), abs=0.01)
    assert model.set_size_ == pytest.approx(np.mean(sizes), abs=0.05)


def test_a_set_has_the_most_probable_label_and_follows_the_probabilities():
    X, y, _ = noisy(2000, 3)
    learner = Standardized(learner=OneVsRest(learner=StreamSVM(), n_classes=3))
    model = Calibrated(learner=learner, coverage=0.95).partial_fit(X, y)
    held, p = model.predict_set(X), model.predict_proba(X)
    assert held[np.arange(len(X)), p.argmax(axis=1)].all()
    assert p[held].min() >= p[~held].max() or held.sum(axis=1).min() == 1
    assert model.predict_set_one(X[0]) == model.classes_[held[0]].tolist()
    with pytest.raises(ValueError, match="give coverage"):
        Calibrated(learner=learner).partial_fit(X, y).predict_set(X)
    with pytest.raises(ValueError, match="coverage=1"):
        Calibrated(coverage=1).plan(3)
