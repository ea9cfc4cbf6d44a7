"""The score of predicted targets, against NumPy, and what a regressor is asked and taught."""

import numpy as np
import pytest
from fake_port import Clock, Node, connect

from edgesvm import AdaGradSVR, Standardized
from edgesvm.errors import NotTaught
from edgesvm.link import wire
from edgesvm.serve.journal import Journal
from edgesvm.serve.score import RegressionScore
from edgesvm.serve.taught import Targets, taught
from edgesvm.serve.teaching import Teaching


def test_every_figure_is_that_of_numpy():
    rng = np.random.default_rng(1)
    y = 1e6 + np.cumsum(rng.standard_normal(500))
    p = y + rng.standard_normal(500)
    half = rng.random(500) * 2
    score = RegressionScore(window=100, season=24, coverage=0.9)
    for target, value, h in zip(y, p, half, strict=True):
        score.add(target, (value, value - h, value + h))
    s = score.summary()
    error = y - p
    before = np.array([y[:k].mean() for k in range(1, 500)])
    expected = {
        "mae": np.abs(error).mean(),
        "rmse": np.sqrt((error**2).mean()),
        "r2": 1 - (error**2).sum() / ((y - y.mean()) ** 2).sum(),
        "coverage": (np.abs(error) <= half).mean(),
        "mean_width": (2 * half).mean(),
        "mae_mean_so_far": np.abs(y[1:] - before).mean(),
        "rmse_mean_so_far": np.sqrt(((y[1:] - before) ** 2).mean()),
        "mae_value_before": np.abs(np.diff(y)).mean(),
        "rmse_value_before": np.sqrt((np.diff(y) ** 2).mean()),
        "mae_season_before": np.abs(y[24:] - y[:-24]).mean(),
        "rmse_season_before": np.sqrt(((y[24:] - y[:-24]) ** 2).mean()),
        "rolling_mae": np.abs(error[-100:]).mean(),
        "first_mae": np.abs(error[:100]).mean(),
    }
    assert {name: s[name] for name in expected} == pytest.approx(expected, rel=1e-9)
    assert (s["predicted"], s["coverage_asked"], s["season"], s["window"]) == (500, 0.9, 24, 100)


def test_a_score_of_nothing_and_of_numbers_that_json_has_not():
    score = RegressionScore()
    assert score.summary()["mae"] is None and score.summary()["r2"] is None
    nan = float("nan")
    score.add(1e300, (-1e300, nan, nan))
    s = score.summary()
    assert (s["mae"], s["rmse"], s["coverage"]) == (2e300, None, None)


class Told:
    """A regressor that notes what it is asked and taught; its answers are numbered."""

    def __init__(self):
        self.told, self.n_seen_, self.is_fitted = [], 0, True

    def forecast_one(self, x):
        self.told.append("forecast")
        return len(self.told), 0.0, 0.0

    def predict_one(self, x):
        self.told.append("predict")
        return len(self.told)

    def predict_interval_one(self, x):
        return 0.0, 0.0

    def learn_one(self, x, y, weight):
        self.learn_late_one(x, y, "inline", weight)

    def learn_late_one(self, x, y, issued, weight):
        self.n_seen_ += 1
        self.told.append(issued)


def asked(stream, sequence):
    return stream.ask(None, sequence)


def test_a_sample_is_forecast_only_if_the_target_just_before_was_learned():
    learner = Told()
    stream = Targets(learner)
    for n in range(2):
        stream.learn(None, 1.0, 1.0, asked(stream, n))
    assert learner.told == ["predict", "inline", "forecast", "inline"]
    learner.told.clear()
    asked(stream, 2)  # its target never comes
    stream.learn(None, 1.0, 1.0, asked(stream, 3))
    stream.learn(None, 1.0, 1.0, asked(stream, 5))  # one is missing before it
    assert learner.told == ["forecast", "predict", "inline", "predict", "inline"]
    learner.n_seen_ += 1  # another port has taught it
    asked(stream, 6)
    assert learner.told[-1] == "predict"


def test_a_late_target_is_learned_with_what_was_predicted_for_it():
    learner = Told()
    stream = Targets(learner)
    first, _ = asked(stream, None), asked(stream, None)
    stream.learn(None, 1.0, 1.0, first)
    asked(stream, None)
    stream.learn(None, 1.0, 1.0, (7.5, 0.0, 0.0))
    stream.learn(None, 1.0, 1.0, None)
    assert learner.told == ["predict", "predict", first, "predict", (7.5, 0.0, 0.0), None]


def test_targets_that_come_late_from_the_first_on_are_no_ones_successors():
    learner = Told()
    learner.is_fitted = False
    stream = Targets(learner)
    assert asked(stream, 0) is None and asked(stream, 1) is None
    stream.learn(None, 1.0, 1.0, None)
    learner.is_fitted = True
    asked(stream, 2)
    assert learner.told == [None, "predict"]


def test_a_run_predicts_a_sample_whose_target_is_refused_and_learns_one_given_by_hand():
    node = Node(label_mode=wire.LABEL_INLINE | wire.TARGETS)
    link, port = connect(Clock(), node, targets=True)
    learner = Standardized(learner=AdaGradSVR(), missing="mean").allocate(2)
    runner = taught(link, learner, journal=Journal(2, targets=True))
    for k in range(4):
        port.inbox += node.sample(k, (k, 1.0), target=10.0 + k)
    port.inbox += node.sample(4, target=1e200) + node.sample(5)
    while runner.step(0.0):
        pass
    answers = [wire.Estimate.unpack(frame.body) for frame in node.kinds(wire.PREDICTION)]
    assert [answer.flags for answer in answers] == [wire.ABSTAIN | wire.TRAINED, 2, 2, 2, 0, 0]
    assert all(answer.low <= answer.value <= answer.high for answer in answers)
    assert 10 < answers[4].value < 14 and (runner.pupil.refused_value, runner.pupil.unlabelled) == (
        1,
        1,
    )
    Teaching(runner).teach(5, 13.25)
    assert (runner.pupil.learned, runner.pupil.unlabelled, runner.pupil.score.n) == (5, 0, 4)
    assert runner.journal.entry(5)["label"] == 13.25
    with pytest.raises(NotTaught, match="has the label 13"):
        Teaching(runner).teach(5, 1.0)
    assert runner.check_identities() == []
