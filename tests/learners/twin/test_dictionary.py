"""Twins that settle: AROW by its formulas, what is learned and what is not, and that it helps."""

import numpy as np
import pytest
from twin_problems import stream

import edgesvm
from edgesvm import RBF, Linear, TwinDictionarySVM, TwinVectorMachine
from edgesvm.data import Checkerboard
from edgesvm.learners.twin.constants import RIDGE

SETTLED = 150


def curved(n, seed=31):
    X, _, weights = stream("clouds", "at random", n, seed)
    noise = np.random.default_rng(seed).normal(0, 0.5, n)
    return X, np.where(X[:, 0] ** 2 + X[:, 1] + noise > 1, 1, -1), weights


def arow(model, kernel, X, y, weights, *, r, m1):
    """Figure 1 of Crammer, Kulesza & Dredze 2009, with the covariance itself: mean and Sigma."""
    q = model.twins_.astype(np.float64)
    K = kernel(q, q)
    lift = K.diagonal().max()
    mean, b = model.dual_coef_[0].copy(), float(model.intercept_[0])
    start = mean.sum()
    Sigma = np.linalg.inv(K + lift + RIDGE * lift * np.eye(len(q)))
    n_learned = 0
    for x, label, s in zip(X.astype(np.float64), y, weights, strict=True):
        v = kernel(x[None], q)[0] + lift
        f = mean @ (v - lift) + b + lift * (mean.sum() - start)
        if s == 0.0 or abs(f) > m1 or label * f >= 1.0:
            continue
        beta = 1.0 / (v @ Sigma @ v + r / s)
        mean += label * (1.0 - label * f) * beta * (Sigma @ v)
        Sigma -= beta * np.outer(Sigma @ v, v @ Sigma)
        n_learned += 1
    return mean, b + lift * (mean.sum() - start), n_learned


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()], ids=repr)
def test_settled_twins_are_refined_by_arow(kernel):
    X, y, weights = curved(600)
    weights[:SETTLED] = 1.0
    params = {"kernel": kernel, "dtype": "float64", "m1": 1.5, "r": 0.7}
    model = TwinDictionarySVM(max_twins=12, C=10.0, settle_after=SETTLED, **params)
    model.partial_fit(X[:SETTLED], y[:SETTLED], classes=[-1, 1])
    assert model.settled_at_ == SETTLED and model.n_refined_ == 0
    mean, b, n = arow(model, kernel, X[SETTLED:], y[SETTLED:], weights[SETTLED:], r=0.7, m1=1.5)
    held = model.twins_, model.weights_
    model.partial_fit(X[SETTLED:], y[SETTLED:], sample_weight=weights[SETTLED:])
    assert n == model.n_refined_ > 50
    np.testing.assert_allclose(model.dual_coef_[0], mean, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.intercept_, [b], rtol=1e-6)
    for before, after in zip(held, (model.twins_, model.weights_), strict=True):
        np.testing.assert_array_equal(before, after)


def test_until_they_settle_it_is_the_twin_vector_machine():
    X, y, _ = curved(SETTLED)
    params = {"max_twins": 12, "kernel": RBF(0.5)}
    model = TwinDictionarySVM(settle_after=SETTLED, **params).partial_fit(X[:-1], y[:-1])
    twins = TwinVectorMachine(**params).partial_fit(X[:-1], y[:-1])
    assert model.settled_at_ == 0 and model.kt_residual() < 1e-9
    assert model.decision_function(X).tolist() == twins.decision_function(X).tolist()
    model.learn_one(X[-1], y[-1])
    twins.learn_one(X[-1], y[-1])
    assert model.settled_at_ == SETTLED and np.isnan(model.kt_residual())
    assert not model.margin_.any() and model.C_ == 1.0
    expected = twins.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-9)


def test_what_settles_and_what_is_learned():
    X, y, _ = curved(SETTLED)
    model = TwinDictionarySVM(max_twins=12, kernel=RBF(0.5), settle_after=SETTLED)
    model.partial_fit(X[:-1], y[:-1])
    before = bytes(model.arena)
    with pytest.raises(ValueError, match="finite"):
        model.learn_one(np.full(3, np.nan, np.float32), 1)
    assert bytes(model.arena) == before and model.settled_at_ == 0
    model.learn_one(X[-1], y[-1], weight=0.0)
    assert model.settled_at_ == 0  # counted as seen, but not learned
    model.learn_one(X[-1], y[-1])
    f = model.decision_function(X)
    wrong = np.where(f > 0, model.classes_[0], model.classes_[1])
    inside, far = int(np.argmin(np.abs(f))), int(np.argmax(np.abs(f)))
    assert abs(f[far]) > 1 and not model.learn_one(X[far], wrong[far])
    assert model.learn_one(X[inside], wrong[inside]) and model.n_refined_ == 1


def test_a_settled_snapshot_goes_on(tmp_path):
    X, y, _ = curved(400)
    model = TwinDictionarySVM(max_twins=12, kernel=RBF(0.5), settle_after=SETTLED)
    whole = TwinDictionarySVM(**model.get_params()).partial_fit(X, y)
    model.partial_fit(X[:250], y[:250]).save(tmp_path / "model.esvm")
    loaded = edgesvm.load(tmp_path / "model.esvm").partial_fit(X[250:], y[250:])
    assert bytes(loaded.arena) == bytes(whole.arena)
    broken = TwinDictionarySVM(**model.get_params()).partial_fit(X[:250], y[:250])
    for name, place, value in (
        ("pool", 2, 0.0),  # the diagonal of row 1
        ("pool", 4, np.nan),
        ("coef", 3, np.inf),
        ("b", ..., 1.7e308),
        ("mu", ..., 2.0),
        ("lift", ..., 0.0),
        ("S", 1, 0),
        ("n_refined", ..., -1),
        ("settled_at", ..., 0),  # then it is no solution of an SVM
    ):
        array = broken.core.views[name]
        held = array[place].copy()
        array[place] = value
        with pytest.raises(edgesvm.CorruptModelError):
            broken.save(tmp_path / "broken.esvm")
        array[place] = held


def test_twins_of_no_sample_are_refused():
    model = TwinVectorMachine(max_twins=12, kernel=RBF(0.5)).partial_fit([[0.0], [1.0]], [0, 1])
    for name in ("mu", "n_updates", "n_per_class"):
        model.core.views[name][...] = 0
    with pytest.raises(edgesvm.CorruptModelError, match="margin"):
        model.core.check()


def test_dictionary_of_a_noisy_board():
    """What it is for: the twins that keep moving stay behind in the same bytes."""
    X, y = Checkerboard(1, flip=0.15).read(20_000)
    X_test, y_test = Checkerboard(2).read(5_000)
    scores = []
    for kind in (TwinVectorMachine, TwinDictionarySVM):
        model = kind(max_twins=60, gamma=1.35).partial_fit(X, y)
        scores.append(model.score(X_test, y_test))
    assert scores[1] > scores[0] + 0.02
    bytes_of = [kind(max_twins=60).plan(2).total for kind in (TwinVectorMachine, TwinDictionarySVM)]
    assert bytes_of[1] == bytes_of[0] + 16
