"""Regressors of a stream: their attributes, and what no stream can have left in their memory."""

import numpy as np
import pytest
from each import each

import edgesvm
from edgesvm import (
    AdaGradSVR,
    CorruptModelError,
    FourierRLS,
    FourierSVR,
)
from edgesvm.persist import pack, restore

N = 80


def stream(n=N):
    X = np.random.default_rng(0).standard_normal((n, 4)).astype(np.float32)
    return X, 5.0 + 2.0 * X[:, 0] - X[:, 1]


FAULTS = {
    ("target", 1, -1.0): "out of range",
    ("target", 7, -1.0): "out of range",
    ("target", 2, 1e9): "the range of the targets is empty",
    ("target", 0, 2e100): "out of range",
    ("target", 2, -2e100): "out of range",
    ("target", 3, 2e100): "out of range",
    ("target", 4, -2e100): "out of range",
    ("target", 6, 2e150): "out of range",
    ("scored", 0, N + 1): "counters are inconsistent",
    ("scored", 1, N): "counters are inconsistent",
    ("far_targets", (), N + 1): "counters are inconsistent",
    ("interval", (0, 0), -1.0): "out of range",
    ("interval", (0, 0), 2e150): "out of range",
    ("interval", (1, 1), -1.0): "out of range",
    ("interval", (0, 2), 1001.0): "out of range",
    ("covariance", (1, 1), -1e-9): "out of range",
    ("covariance", (2, 2), 21.0): "out of range",
    ("squares", 3, -1.0): "out of range",
    ("doubt", 1, -1e-9): "out of range",
    ("before", 2, np.nan): "out of range",
    ("w", 0, 2e30): "out of range",
    ("w", 0, -2e30): "out of range",
}


@each("fault", FAULTS)
@each("kind", [AdaGradSVR, FourierSVR])
def test_a_snapshot_that_no_stream_leaves_is_refused(kind, fault):
    model = kind().partial_fit(*stream())
    restore(pack(model.snapshot()))
    name, place, value = fault
    model.core.views[name][place] = value
    with pytest.raises(CorruptModelError, match=FAULTS[fault]):
        restore(pack(model.snapshot()))


@each("kind", [FourierSVR, AdaGradSVR, FourierRLS])
def test_a_forecast_takes_the_direction_of_the_targets_into_account(kind):
    X = np.random.default_rng(0).standard_normal((2000, 3)).astype(np.float32)
    y, errors = 50 * np.sin(np.arange(2000) / 40), {True: [], False: []}
    for changes, found in errors.items():
        model = edgesvm.Standardized(learner=kind(changes=changes)).partial_fit(X[:1000], y[:1000])
        for x, target in zip(X[1000:], y[1000:], strict=True):
            found.append(abs(model.forecast_one(x)[0] - target))
            model.learn_one(x, target)
    assert np.mean(errors[True]) < 0.6 * np.mean(errors[False])


def test_the_target_of_a_dropout_is_known_to_the_next_forecast():
    X, y = stream(600)
    X[500:, 1], y[-1] = -1e4, 7.0
    model = edgesvm.Standardized(learner=AdaGradSVR()).partial_fit(X[:-1], y[:-1])
    learned = model.core.inner.views["w"].copy()
    views = model.partial_fit(X[-1:], y[-1:]).core.inner.views
    assert (views["w"] == learned).all() and views["target"][4] == 7.0


def test_a_prediction_of_a_plane_is_its_coefficients():
    X, y = stream(400)
    model = AdaGradSVR(dtype="float64").partial_fit(X, y)
    inside = np.abs(X).max(axis=1) < 1.0  # a prediction is within the range of the targets
    found = model.predict(X[inside].astype(np.float64))
    expected = X[inside].astype(np.float64) @ model.coef_ + model.intercept_
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert AdaGradSVR().partial_fit(X[:1], y[:1]).intercept_ == pytest.approx(y[0])


@each("learner", [edgesvm.StreamSVM(), edgesvm.FourierSVM(n_directions=4)])
def test_what_is_around_a_classifier_has_nothing_of_a_regressor(learner):
    X, y = stream()
    model = edgesvm.Standardized(learner=learner).partial_fit(X, y > 5)
    names = "predict_interval", "predict_interval_one", "forecast_one", "learn_late_one"
    for name in (*names, "coverage_", "n_scored_", "coverage_asked"):
        assert not hasattr(model, name)
    for name in names:
        assert hasattr(edgesvm.Standardized(learner=FourierSVR()), name)


def test_rows_of_a_large_feature_do_not_lose_the_stack_to_rounding():
    """Early predictions are not limited: one was so large that a variance became negative, and what
    was saved then could not be loaded."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, 3)).astype(np.float32)
        X[rng.random(60) < 0.3] *= 10.0 ** rng.integers(0, 12)
        model = AdaGradSVR(learning_rate=1e3)
        for x, y in zip(X, rng.standard_normal(60), strict=True):
            model.learn_one(x, y)
            assert bytes(restore(pack(model.snapshot())).arena) == bytes(model.arena)
