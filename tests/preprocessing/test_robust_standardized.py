"""RobustStandardized: its statistics against NumPy's, and what rare rows far out of range do to
it."""

import math

import numpy as np
import pytest
from each import each

import edgesvm
from edgesvm import (
    BatchSVM,
    RobustStandardized,
    Standardized,
    StreamSVM,
    TwinVectorMachine,
    data,
)

N = 4000
SHAPES = {
    "normal": lambda rng: rng.standard_normal(N),
    "uniform": lambda rng: rng.random(N),
    "lognormal": lambda rng: np.exp(rng.standard_normal(N)),
    "two humps": lambda rng: rng.standard_normal(N) + 8 * (rng.random(N) < 0.4),
    "whole numbers": lambda rng: rng.integers(0, 16, N).astype(float),
}


FINE = StreamSVM(bound="lower", dtype="float64")


def spiked(X, factor=1e6):
    X = X.copy()
    X[100::600] *= factor
    return X


def statistics_of(x, learner=None):
    """Center and scale of one feature after these samples."""
    learner = RobustStandardized(learner=FINE) if learner is None else learner
    learner.partial_fit(np.asarray(x, float)[:, None], np.arange(len(x)) % 2 == 0)
    return learner.center_[0], learner.scale_[0]


@each("inner", [TwinVectorMachine(max_twins=30), BatchSVM(max_samples=800, when_full="oldest")])
def test_seven_rows_far_out_of_range_spoil_the_deviation_only(inner):
    """Before, 4,000 clean rows and 7 spikes left these learners at chance."""
    X, y = data.Gauss(3).read(N)
    X_test, y_test = data.Gauss(4).read(2000)
    X = spiked(X)
    assert (np.abs(X) > 1e3).any(axis=1).sum() == 7
    robust = RobustStandardized(learner=inner).partial_fit(X, y)
    plain = Standardized(learner=inner, clip=None).partial_fit(X, y)
    assert robust.score(X_test, y_test) > 0.78
    assert plain.score(X_test, y_test) < 0.6


@each("shape", SHAPES)
def test_center_and_scale_are_near_the_median_and_the_median_distance(shape):
    x = SHAPES[shape](np.random.default_rng(1))
    median = np.median(x)
    expected = 1.4826 * np.median(np.abs(x - median))
    first = x.copy()
    first[[0, 30]] = 1e5, -1e6
    for stream in (x, spiked(x), -x, first):
        center, scale = statistics_of(stream)
        sign = -1 if stream[50] == -x[50] else 1
        assert abs(sign * center - median) < 0.2 * expected, shape
        assert 1 / 1.3 < scale / expected < 1.3, shape


@each("p", [0.02, 0.1, 0.3])
def test_of_a_feature_that_is_mostly_one_value_the_center_is_that_value(p):
    rng = np.random.default_rng(2)
    x = np.where(rng.random(N) < p, 7.0, 3.0)
    center, scale = statistics_of(x)
    deviation = 4 * math.sqrt(p * (1 - p))
    assert abs(center - 3.0) < 0.01
    assert 1.4 < scale / deviation < 2.4


def test_a_feature_that_does_not_vary_is_zero_and_needs_no_scale():
    X = np.random.default_rng(3).standard_normal((300, 3))
    y = X[:, 0] > 0
    X[:, 2] = 3.7
    learner = RobustStandardized(learner=FINE).partial_fit(X, y)
    assert learner.scale_[2] == 0.0 and learner.center_[2] == 3.7
    without = RobustStandardized(learner=FINE).partial_fit(X[:, :2], y)
    expected = without.decision_function(X[:, :2])
    X[:, 2] = 1e6
    np.testing.assert_allclose(learner.decision_function(X), expected, rtol=1e-12)


def by_hand(X, clip):
    """Statistics after each row, written out for one feature at a time; the rows scaled by them."""
    scaled = np.zeros(X.shape)
    for j, column in enumerate(X.T):
        center = distance = apart = 0.0
        for i, x in enumerate(column):
            d = abs(x - center)
            step = 2 / (i + 1) * distance
            if i == 0 or d <= step:
                center = x
                distance /= 1 + 2 / ((i + 1) * math.sqrt(max(apart, 1))) if d > 0 else 1
            else:
                center += step if x > center else -step
                apart += 1
                if apart == 1:
                    distance = d
                elif d != distance:
                    distance *= (1 + 2 / apart) ** (1 if d > distance else -1)
            scale = 1.4826 * distance * math.sqrt(apart / (i + 1))
            scaled[i, j] = min(max((x - center) / scale, -clip), clip) if scale else 0.0
    return scaled, center, scale


@each("clip", [None, 1.5])
def test_equals_the_learner_on_rows_scaled_by_hand(clip):
    rng = np.random.default_rng(4)
    X = np.column_stack([100 + rng.standard_normal(300), rng.integers(0, 4, 300)])
    X = np.column_stack([X, rng.random(300) < 0.1]).astype(float)
    y = X[:, 0] + X[:, 1] > 101
    scaled, center, scale = by_hand(X, math.inf if clip is None else clip)
    learner = RobustStandardized(learner=FINE, clip=clip).partial_fit(X, y)
    expected = FINE.like_new().partial_fit(scaled, y)
    np.testing.assert_allclose(learner.learner_.coef_, expected.coef_, rtol=1e-9, atol=1e-12)
    assert learner.center_[2] == center and learner.scale_[2] == pytest.approx(scale, rel=1e-12)


def test_hostile_values():
    """Values as large as a square in float32 can be come and go; larger ones are refused."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((400, 3)).astype(np.float32)
    y = X[:, 0] > 0
    learner = RobustStandardized(learner=StreamSVM(bound="lower")).partial_fit(X[:200], y[:200])
    before = bytes(learner.arena)
    for value in (1e38, -3e38, np.inf, np.nan):
        with pytest.raises(ValueError, match=r"finite|large"):
            learner.learn_one(np.array([value, 0, 0], np.float32), True)
        assert bytes(learner.arena) == before
    for value in (1e18, -1e18, 1e-40, -1e-40):
        learner.learn_one(np.full(3, value, np.float32), True)
        assert np.isfinite(learner.decision_one(X[0]))
    learner.partial_fit(X[200:], y[200:])
    assert (learner.scale_ > 0.3).all() and (learner.scale_ < 3).all()
    x = [[1e150], [1.0], [5e-324], [0.0], [-1e150], [1e-300]]
    tiny = RobustStandardized(learner=FINE).partial_fit(x, [1, 0] * 3)
    assert np.isfinite(tiny.decision_function([[1e153], [-1e153], [5e-324]])).all()


@each("wrong", [0, -1.0, math.nan, math.inf, "5"])
def test_a_wrong_clip_is_named(wrong):
    with pytest.raises(ValueError, match="clip="):
        RobustStandardized(clip=wrong).plan(3)


WRECKS = [("distance", -1.0), ("distance", 0.0), ("center", np.nan), ("scaled", 1.0)]
WRECKS += [("n_apart", -1), ("n_apart", 100), ("n_apart", 0)]


@each("name, value", WRECKS)
def test_a_snapshot_no_stream_can_have_made(name, value, tmp_path):
    X = np.random.default_rng(8).standard_normal((100, 4))
    learner = RobustStandardized(learner=FINE).partial_fit(X, X[:, 0] > 0)
    learner.save(tmp_path / "model.esvm")
    assert edgesvm.load(tmp_path / "model.esvm").scale_.tolist() == learner.scale_.tolist()
    learner.core.views[name][3] = value
    with pytest.raises(edgesvm.CorruptModelError):
        learner.save(tmp_path / "model.esvm")
