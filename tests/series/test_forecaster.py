"""Forecasts of a target some samples ahead."""

import math
import pickle

import numpy as np
import pytest

from edgesvm import AdaGradSVR, Forecaster, FourierSVM, FourierSVR, Standardized, load
from edgesvm.errors import MemoryBudgetError, SampleRefused

N = 1500


def series(n=N, seed=0):
    """A daily course with noise that lasts, and an input that tells of what comes."""
    rng = np.random.default_rng(seed)
    noise = np.zeros(n)
    for i in range(1, n):
        noise[i] = 0.8 * noise[i - 1] + rng.standard_normal()
    x = rng.standard_normal((n, 2)).astype(np.float32)
    y = 30 + 8 * np.sin(np.arange(n) * math.pi / 12) + noise
    y[3:] += 2 * x[:-3, 0]
    return x, y


def pushed(model, X, y):
    return np.array([model.push(x, target) for x, target in zip(X, y, strict=True)])


@pytest.mark.parametrize(("ahead", "season"), [(1, 0), (3, 24)])
def test_it_is_the_regressor_on_the_rows_that_it_says(ahead, season):
    X, y = series(400)
    lags = 2
    model = Forecaster(learner=Standardized(learner=FourierSVR()), ahead=ahead, lags=lags)
    model.season = season
    found = pushed(model, X, y)
    learner = Standardized(learner=FourierSVR(label_delay=ahead - 1))
    rows, issued = [], []
    for t in range(len(y)):
        if t >= ahead:
            learner.learn_late_one(rows[t - ahead], y[t] - y[t - ahead], issued[t - ahead])
        row = [*X[t], *(y[max(t - n, 0)] for n in range(lags))]
        if season:
            angle = 2 * math.pi * ((t + 1 + ahead) / season % 1.0)
            row += [y[max(t + ahead - season, 0)], math.cos(angle), math.sin(angle)]
        rows.append(np.array(row, np.float32))
        issued.append(learner.forecast_one(rows[t]) if t >= ahead else None)
        if t >= ahead:
            assert found[t].tolist() == [y[t] + part for part in issued[t]]
        else:
            assert np.isnan(found[t]).all()


def test_it_is_better_than_the_last_target_and_its_interval_holds():
    X, y = series(4000)
    for ahead in (1, 3, 12):
        model = Forecaster(ahead=ahead, season=24).fitted_into("8KiB", 2).allocate(2)
        found = pushed(model, X, y)[300:-ahead]
        truth, last = y[300 + ahead :], y[300:-ahead]
        error = np.abs(found[:, 0] - truth).mean()
        assert error < 0.9 * np.abs(last - truth).mean()
        assert 0.87 < np.mean((found[:, 1] <= truth) & (truth <= found[:, 2])) < 0.93
        assert model.nbytes <= 8192 and model.nbytes == model.plan(2).total


def test_saving_and_going_on_is_never_having_stopped(tmp_path):
    X, y = series()
    whole = Forecaster(ahead=5, lags=3, season=24, learner=Standardized(learner=AdaGradSVR()))
    in_two = pickle.loads(pickle.dumps(whole))
    pushed(whole, X[:700], y[:700])
    pushed(in_two, X[:700], y[:700])
    in_two.save(tmp_path / "model.esvm")
    for other in (load(tmp_path / "model.esvm"), pickle.loads(pickle.dumps(in_two))):
        assert bytes(other.arena) == bytes(whole.arena)
        expected = pushed(pickle.loads(pickle.dumps(whole)), X[700:], y[700:])
        assert np.array_equal(pushed(other, X[700:], y[700:]), expected)


def test_a_gap_and_a_missing_target_teach_nothing():
    X, y = series(200)
    model = Forecaster(ahead=3)
    pushed(model, X, y)
    learned = model.learner_.n_seen_
    model.push(X[0], None)
    model.push(X[0], math.nan)
    assert model.learner_.n_seen_ == learned
    model.push(X[0], 1.0)
    assert model.learner_.n_seen_ == learned + 1
    model.gap()
    for _ in range(3):
        model.push(X[0], 1e6)
    assert model.learner_.n_seen_ == learned + 1
    assert model.n_seen_ == 206


def test_a_refused_sample_leaves_no_trace():
    X, y = series(100)
    model = Forecaster(ahead=2)
    pushed(model, X, y)
    before = bytes(model.arena)
    with pytest.raises(SampleRefused, match="infinite"):
        model.push([math.inf, 0.0], 1.0)
    with pytest.raises(SampleRefused, match="target"):
        model.push([0.0, 0.0], math.inf)
    with pytest.raises(ValueError, match="3 features"):
        model.push([0.0, 0.0, 0.0], 1.0)
    assert bytes(model.arena) == before


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"ahead": 0}, "ahead=0"),
        ({"lags": 0}, "lags=0"),
        ({"ahead": 25, "season": 24}, "season=24"),
        ({"learner": FourierSVM()}, "regressor of a stream"),
    ],
)
def test_a_wrong_parameter_is_named(params, named):
    with pytest.raises(ValueError, match=named):
        Forecaster(**params).plan(2)


def test_a_budget_that_is_too_small_says_what_it_needs():
    with pytest.raises(MemoryBudgetError, match="regressor") as error:
        Forecaster(ahead=100).fitted_into("1KiB", 2)
    assert Forecaster(ahead=100).fitted_into(error.value.required, 2)
