"""The bounds that spare a search for the nearest pair are below all distortions on their side."""

import numpy as np
import pytest
from each import each
from twin_problems import stream

from edgesvm import RBF, TwinVectorMachine

DISTANT = 1e300


def learner(**changes):
    params = {"max_twins": 24, "kernel": RBF(2.0), "C": 10.0, **changes}
    return TwinVectorMachine(**params).allocate(2, classes=[-1, 1])


def problem(n=900):
    X, y, _ = stream("clouds", "at random", n, 31)
    crossed = np.random.default_rng(2).random(n) < 0.15
    return X[:, :2].copy(), np.where(crossed, -y, y)


def views(model):
    return model._state.core.views


def distortions(model):
    """Of all pairs, and which of them are on the side of the boundary that both bounds are for"""
    Q, s = model.twins_.astype(np.float64), model.weights_.sum(axis=1)
    square = ((Q[:, None] - Q) ** 2).sum(axis=2)
    found = s[:, None] * s / (s[:, None] + s) * square
    np.fill_diagonal(found, DISTANT)
    above = ~np.signbit(views(model)["distortion_bound"][: len(Q)])
    return found, above[:, None] == above


def test_a_bound_is_below_the_distortions_on_its_side():
    X, y = problem()
    model, tight = learner(), 0
    for i in range(len(X)):
        model.learn_one(X[i], y[i])
        if i % 10 == 9:
            found, together = distortions(model)
            least = np.where(together, found, DISTANT).min(axis=1)
            bound = np.abs(views(model)["distortion_bound"][: len(least)])
            assert (bound <= least * (1 + 1e-12)).all(), i
            tight += (bound > found.min(axis=1) * (1 + 1e-12)).sum()
    assert model.n_merged_ > 100
    assert tight > 100  # those across the boundary do not count


@each("merge_side", ["one", "global"])
def test_bounds_of_all_pairs_as_older_snapshots_have_them_lead_to_the_same_twins(merge_side):
    X, y = problem()
    new, old = (learner(merge_side=merge_side).partial_fit(X[:500], y[:500]) for _ in "ab")
    views(old)["distortion_bound"][: len(old.twins_)] = distortions(old)[0].min(axis=1) * (1 - 1e-9)
    for model in (new, old):
        model.partial_fit(X[500:], y[500:])
    assert new.n_merged_ > 100
    for name, view in views(new).items():
        if name != "distortion_bound":
            assert view.tobytes() == views(old)[name].tobytes(), name
    with pytest.raises(AssertionError):  # the control: bounds too high do lead to others
        views(old)["distortion_bound"][:24] *= 1e9
        old.partial_fit(X, y)
        new.partial_fit(X, y)
        np.testing.assert_array_equal(old.twins_, new.twins_)
