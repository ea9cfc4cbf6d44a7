"""Rows of a batch that are looked at together: to the byte what they are one by one."""

from copy import deepcopy

import numpy as np
import pytest
from each import each

from edgesvm import OneVsRest, StreamSVM

SETTINGS = {
    "averaged": {},
    "lower": {"average": False},
    "upper": {"bound": "upper", "average": False},
    "as they are": {"normalize": False, "fit_intercept": False},
    "upper, as they are": {"bound": "upper", "normalize": False, "average": False},
    "no constant": {"fit_intercept": False},
    "paper slack": {"slack": "paper", "C": 10.0},
    "lookahead": {"lookahead": 3},
    "balanced": {"class_weight": "balanced"},
}
WIDTHS = (1, 3, 8, 15, 16, 20, 37)
N = 200  # before the rows at hand; then few move the ball

every_setting = each("setting", SETTINGS.values(), ids=SETTINGS)
dtypes = each("dtype", ["float32", "float64"])


def rows(n, width, dtype, seed=0):
    rng = np.random.default_rng([seed, width])
    y = rng.choice([-1, 1], n)
    X = 0.4 * rng.standard_normal((n, width))
    X[:, 0] = (1.0 + 0.3 * np.abs(X[:, 0])) * y
    return X.astype(dtype), y


def settled(width, dtype, setting):
    X, y = rows(N, width, dtype)
    return StreamSVM(dtype=dtype, **setting).partial_fit(X, y, classes=[-1, 1])


def one_by_one(learner, X, y):
    for row, label in zip(X, y, strict=True):
        learner.learn_one(row, label)
    return learner


def same(one, other):
    assert bytes(one.arena) == bytes(other.arena)


@every_setting
@dtypes
@each("width", WIDTHS)
def test_a_row_at_any_place_may_move_the_ball(setting, dtype, width):
    """Also two of them, one of them the last."""
    X, y = rows(11, width, dtype, 1)
    before = settled(width, dtype, setting)
    moved = before.n_updates_
    for place in range(len(X)):
        turned = y.copy()
        turned[[place, -1]] *= -1
        batch = deepcopy(before).partial_fit(X, turned)
        same(batch, one_by_one(deepcopy(before), X, turned))
        moved = max(moved, batch.n_updates_)
    assert setting.get("bound") == "upper" or moved > before.n_updates_


@every_setting
@dtypes
@each("bad", [np.nan, np.inf, -np.inf])
def test_a_refused_row_at_any_place_leaves_no_trace(setting, dtype, bad):
    width = 20
    X, y = rows(11, width, dtype, 2)
    before = settled(width, dtype, setting)
    for place in range(len(X)):
        broken = X.copy()
        broken[place, place] = bad
        batch = deepcopy(before)
        with pytest.raises(ValueError, match=f"row {place} "):
            batch.partial_fit(broken, y)
        same(batch, one_by_one(deepcopy(before), X[:place], y[:place]))
        with pytest.raises(ValueError, match=f"row {place} "):
            before.decision_function(broken)


@every_setting
@dtypes
@each("width", WIDTHS)
def test_a_long_stream_in_both_ways(setting, dtype, width):
    """Mislabelled rows, rows of zeros, tiny and huge ones; a matrix in Fortran order."""
    X, y = rows(400, width, dtype, 3)
    rng = np.random.default_rng(4)
    y[rng.random(len(y)) < 0.05] *= -1
    small, large = (1e-30, 1e15) if dtype == "float32" else (1e-170, 1e100)
    for factor in (0.0, small, large, np.finfo(dtype).tiny):
        X[rng.random(len(X)) < 0.04] *= np.asarray(factor, dtype)
    batch = StreamSVM(dtype=dtype, **setting).partial_fit(np.asfortranarray(X), y)
    same(batch, one_by_one(StreamSVM(dtype=dtype, **setting), X, y))
    one = np.array([batch.decision_one(row) for row in X])
    assert batch.decision_function(X).tobytes() == one.tobytes()
    assert batch.predict(X).tolist() == [batch.predict_one(row) for row in X]


@every_setting
@dtypes
def test_a_row_on_the_edge_of_the_ball(setting, dtype):
    """Rows on a line from inside to outside, found by halving: neighbours on both sides."""
    width = 6
    X, y = rows(40, width, dtype, 5)
    before = settled(width, dtype, setting)
    found = 0
    for row, label in zip(X, y, strict=True):
        way = np.zeros(width, dtype)
        way[0] = -2.0 * row[0]
        if deepcopy(before).learn_one(row, label) or not deepcopy(before).learn_one(
            row + way, label
        ):
            continue
        near, far = 0.0, 1.0
        for _ in range(60):
            half = 0.5 * (near + far)
            moves = deepcopy(before).learn_one((row + half * way).astype(dtype), label)
            near, far = (near, half) if moves else (half, far)
        edge = near + (far - near) * np.linspace(-3, 4, 8)
        eight = (row + edge[:, None] * way).astype(dtype)
        turn = np.linspace(-4e-8, 4e-8, 8) if dtype == "float32" else np.linspace(-1e-16, 1e-16, 8)
        eight[:, 1] += (turn * np.abs(row[1])).astype(dtype)
        labels = np.full(8, label)
        same(
            deepcopy(before).partial_fit(eight, labels), one_by_one(deepcopy(before), eight, labels)
        )
        found += 1
    assert found or setting.get("bound") == "upper"


@dtypes
@each("width", [3, 16, 20])
def test_one_against_rest_passes_by_what_moves_no_part(dtype, width):
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 140)
    X = (0.1 * rng.standard_normal((140, width)) + np.eye(3, width)[y]).astype(dtype)
    many = OneVsRest(learner=StreamSVM(dtype=dtype), n_classes=3)
    before = many.partial_fit(X[:-9], y[:-9])
    X, y = X[-9:], y[-9:]
    for place in range(len(X)):
        turned = y.copy()
        turned[place] = (y[place] + 1) % 3
        same(deepcopy(before).partial_fit(X, turned), one_by_one(deepcopy(before), X, turned))
