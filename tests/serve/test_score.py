"""Prequential accounts against the same figures computed plainly from the whole history."""

import itertools

import numpy as np
import pytest
from each import each
from fake_port import Clock, Node, connect

from edgesvm import AdaGradSVR, ByteSVM, Standardized, StreamSVM
from edgesvm.data import NpzRows, Source
from edgesvm.errors import LinkDown, NotTaught, SampleRefused
from edgesvm.link import wire
from edgesvm.link.files import RowsLink
from edgesvm.serve.job import Stage
from edgesvm.serve.journal import Journal
from edgesvm.serve.score import Prequential, RegressionScore
from edgesvm.serve.taught import HeldOut, Targets, predict_then_learn, taught
from edgesvm.serve.teaching import Teaching


def history(n, seed, labels=(-1, 1), shares=(0.7, 0.3)):
    rng = np.random.default_rng(seed)
    truth = rng.choice(labels, n, p=shares)
    predicted = np.where(rng.random(n) < 0.8, truth, labels[0])
    return truth.tolist(), predicted.tolist()


def filled(truth, predicted, window):
    score = Prequential(window)
    for t, p in zip(truth, predicted, strict=True):
        score.add(t, p)
    return score


def baselines(truth):
    right = [(False, False)]  # always the larger class so far, and always the label before
    for n in range(1, len(truth)):
        last = {label: i for i, label in enumerate(truth[:n])}
        larger = max(last, key=lambda label: (truth[:n].count(label), -last[label]))
        right.append((truth[n] == larger, truth[n] == truth[n - 1]))
    return right


@each("window", [1, 7, 100, 1000])
@each("n", [1, 6, 7, 8, 500])
def test_every_figure_equals_the_plain_one(n, window):
    truth, predicted = history(n, seed=n * window)
    hits = np.array(truth) == np.array(predicted)
    by_class = [hits[np.array(truth) == label].mean() for label in set(truth)]
    repeats = [a == b for a, b in itertools.pairwise(truth)]
    found = filled(truth, predicted, window).summary()
    assert found.pop("recalls") == {
        str(label): hits[np.array(truth) == label].mean() for label in set(truth)
    }
    assert found.pop("label_before") == (pytest.approx(np.mean(repeats)) if n > 1 else None)
    expected = {
        "predicted": n,
        "accuracy": hits.mean(),
        "balanced_accuracy": np.mean(by_class),
        "majority": max(truth.count(label) for label in set(truth)) / n,
        "rolling_accuracy": hits[-window:].mean(),
        "first_accuracy": hits[:window].mean(),
        "window": window,
    }
    assert found == pytest.approx(expected)
    rolling = filled(truth, predicted, window).rolling_baselines
    assert rolling == pytest.approx(np.mean(baselines(truth)[-window:], axis=0))
    pairs = list(zip(truth, predicted, strict=True))
    confusion = filled(truth, predicted, window).confusion
    assert sum(map(len, confusion.values())) == len(set(pairs))
    assert all(confusion[t][p] == pairs.count((t, p)) for t, p in pairs)


def test_before_the_first_sample_there_is_no_figure():
    score = Prequential(10)
    figures = score.summary()
    assert figures.pop("predicted") == 0 and figures.pop("window") == 10
    assert figures.pop("recalls") == {}
    assert {*figures.values(), *score.rolling_baselines} == {None}


@pytest.mark.parametrize("window", [0, -1])
def test_a_window_of_nothing_is_refused(window):
    with pytest.raises(ValueError, match=f"window={window}"):
        Prequential(window)


# -- targets ---------------------------------------------------------------------------------------


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
    rolling = np.abs(y[1:] - before)[-100:].mean(), np.abs(np.diff(y))[-100:].mean()
    assert score.rolling_baselines == pytest.approx(rolling, rel=1e-9)
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


# -- rows in the place of a port -----------------------------------------------------------------


def stream(n=600, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, 3)).astype(np.float32)
    return X, np.where(X[:, 0] + 0.3 * X[:, 1] > 0, "up", "down")


def learned(rows, learner, **options):
    """The pupil after one pass, and what was predicted of each row."""
    job = taught(RowsLink(rows), learner, answers=False, **options)
    said, answer = [], job.pupil.answer

    def noted(*row):
        said.append(answer(*row)[0])
        return said[-1], 0.0, 0

    job.pupil.answer = noted
    job.pupil.listeners.append(lambda *_: None)  # rows are then answered one by one
    with pytest.raises(LinkDown):
        while True:
            job.step(0.0)
    assert job.check_identities() == []
    return job.pupil, said


def test_a_learner_that_has_learned_predicts_the_first_sample_and_no_more_than_asked():
    X, y = stream()
    pupil = predict_then_learn(Source(X, y), StreamSVM().partial_fit(X, y), 1)
    assert pupil.score.n == 1 and pupil.learner.n_seen_ == 601


def test_refused_samples_are_counted_and_passed_over():
    X, y = stream()
    X[[0, 7, 300]] = np.nan
    weights = np.random.default_rng(1).choice([0.0, 0.5, 2.0], 600)
    weights[9], fine = -1.0, np.isfinite(X).all(axis=1)
    fine[9] = False
    pupil, said = learned(Source(X, y, weights), StreamSVM())
    plain = StreamSVM().partial_fit(X[fine], y[fine], sample_weight=weights[fine])
    assert pupil.refused_value == 4 and bytes(pupil.learner.arena) == bytes(plain.arena)
    assert pupil.score.n == sum(np.array(said)[fine] != None) >= 590  # noqa: E711


def test_rows_without_labels_are_predicted_only(tmp_path):
    X, y = stream()
    np.savez(tmp_path / "bare.npz", X=X)
    learner = StreamSVM().partial_fit(X, y)
    before = bytes(learner.arena)
    pupil, said = learned(NpzRows(tmp_path / "bare.npz"), learner)
    assert said == learner.predict(X).tolist()
    assert bytes(learner.arena) == before and pupil.unlabelled == 600 and pupil.score.n == 0


def test_a_label_too_many_is_raised():
    X, y = stream()
    y = y.astype(object)
    y[20] = "sideways"
    learner = StreamSVM()
    with pytest.raises(SampleRefused, match="sideways"):
        predict_then_learn(Source(X, y), learner, strict=True)
    assert learner.n_seen_ == 20
    pupil, _ = learned(Source(X, y), StreamSVM())
    assert (pupil.learned, pupil.unknown_label) == (599, 1)


def test_a_held_out_copy_learns_no_more():
    X, y = stream()
    y[400:] = np.where(y[400:] == "up", "down", "up")  # what it has learned is wrong from here on
    learner = StreamSVM()
    held_out = HeldOut(learner, 400, 1000)
    predict_then_learn(Source(X, y), learner, listeners=[held_out])
    until = StreamSVM().partial_fit(X[:400], y[:400])
    assert held_out.score.n == 200
    assert held_out.score.accuracy == until.score(X[400:], y[400:]) < 0.2
    assert learner.n_seen_ == 600


@each("make", [StreamSVM, ByteSVM])
def test_rows_together_are_answered_and_scored_as_one_by_one(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7000, 3)).astype(np.float32)
    y = np.where(X[:, 0] > 0, "up", "down").astype(object)
    X[4000:, 1], X[[5, 300, 301, 511, 6999]], y[2000::400] = 0, np.nan, "sideways"
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], len(X))
    found = []
    for watched in (False, True):  # who is told of each row takes them one by one
        learner = make()
        held_out = HeldOut(learner, 1000, 100)
        listeners = [held_out, *[lambda *row: None] * watched]
        pupil = predict_then_learn(Source(X, y, weights), learner, 6500, listeners=listeners)
        pupil.remarks.look()
        assert "stuck" in pupil.remarks.held and pupil.refused_value == 4
        seen = vars(pupil.remarks.facts.rows).values()
        scores = [(one.summary(), one.confusion) for one in (pupil.score, held_out.score)]
        counters = pupil.counters(6500, Stage())
        arrays = [one.tobytes() if isinstance(one, np.ndarray) else one for one in seen]
        found.append((scores, counters, pupil.remarks.held, arrays, bytes(learner.arena)))
    assert found[0] == found[1]
