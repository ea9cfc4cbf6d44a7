"""`fit` visits the rows in an order of its own, which takes no memory."""

import itertools
from functools import partial

import numpy as np
import pytest
from each import each

from edgesvm import AdaGradSVR, BatchSVM, ByteSVM, OneVsRest, Standardized, StreamSVM, WindowedSVM
from edgesvm.contract.order import shuffled


def order(n, *seed):
    return np.concatenate([*shuffled(n, *seed)])


def by_class(n=300, k=3):
    """Rows of k classes, class by class."""
    y = np.repeat(np.arange(k), n // k)
    X = np.random.default_rng(0).standard_normal((len(y), 4)) + 2 * np.eye(k, 4)[y]
    return X.astype(np.float32), y


@each("n", [1, 2, 3, 16, 17, 1024, 1025, 5000])
def test_each_row_comes_once(n):
    assert sorted(order(n, 0)) == list(range(n))
    assert all(len(part) <= 1024 for part in shuffled(n, 0))


def test_orders_are_as_good_as_drawn():
    found = {tuple(order(4, seed)): seed for seed in range(1000)}
    assert set(found) == {*itertools.permutations(range(4))}
    far = order(5000, 7)
    assert abs(np.corrcoef(far, np.arange(5000))[0, 1]) < 0.05
    assert abs(np.corrcoef(far[1:], far[:-1])[0, 1]) < 0.05
    assert order(5000, 7)[:5].tolist() == [2838, 3060, 4532, 2666, 63]  # on every platform


@each("learner", [ByteSVM(), Standardized(), OneVsRest(learner=StreamSVM(), n_classes=3)])
def test_classes_in_turn_do_no_harm(learner):
    X, y = by_class()
    kept = slice(0, None) if learner.n_classes_planned > 2 else slice(0, 200)
    assert learner.like_new().fit(X[kept], y[kept]).score(X[kept], y[kept]) > 0.85


def test_fit_is_partial_fit_in_that_order():
    X, y = by_class()
    weights = np.linspace(1.0, 2.0, len(y))
    expected = ByteSVM()
    for epoch in range(2):
        some = order(len(X), 5, epoch)
        expected.partial_fit(X[some], y[some], sample_weight=weights[some])
    fitted = ByteSVM().fit(X, y, weights, random_state=5, epochs=2)
    assert bytes(fitted.arena) == bytes(expected.arena) and fitted.n_iter_ == 2
    assert bytes(ByteSVM().fit(X, y, weights, epochs=2).arena) != bytes(expected.arena)


def test_a_row_that_is_refused_keeps_its_number():
    X, y = by_class()
    X[123, 2] = np.nan
    with pytest.raises(ValueError, match="row 123 "):
        ByteSVM().fit(X, y)


def test_several_passes_are_of_few_rows():
    X, y = by_class(33_000)
    assert ByteSVM(n_bytes=600).fit(X, y).n_iter_ == 1
    assert ByteSVM(n_bytes=600).fit(X[::5], y[::5]).n_iter_ == 5
    assert OneVsRest(n_classes=3).fit(X[::5], y[::5]).n_seen_ == 6600


def test_the_order_is_kept_where_it_says_something():
    assert not any(learner().shuffles for learner in (AdaGradSVR, BatchSVM, WindowedSVM))
    assert not Standardized(learner=AdaGradSVR()).shuffles


@pytest.mark.filterwarnings("error")
def test_rows_class_by_class_in_order_warn():
    X, y = by_class()
    mixed = order(len(X), 1)
    for learn in (ByteSVM().partial_fit, partial(ByteSVM().fit, shuffle=False)):
        with pytest.warns(UserWarning, match="class by class.*or let fit do it"):
            learn(X, y)
        learn(X[mixed], y[mixed])
    ByteSVM().fit(X, y)


@each("wrong", [{"shuffle": 1}, {"random_state": -1}, {"epochs": 0}, {"epochs": 1.5}])
def test_a_parameter_out_of_range_is_refused_before_anything_is_forgotten(wrong):
    X, y = by_class()
    model = ByteSVM().fit(X, y)
    before = bytes(model.arena)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        model.fit(X, y, **wrong)
    assert bytes(model.arena) == before
