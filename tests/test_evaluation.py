"""Prequential accounts against the same figures computed plainly from the whole history."""

import numpy as np
import pytest

from edgesvm.evaluation import Prequential


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


@pytest.mark.parametrize("window", [1, 7, 100, 1000])
@pytest.mark.parametrize("n", [1, 6, 7, 8, 500])
def test_every_figure_equals_the_plain_one(n, window):
    truth, predicted = history(n, seed=n * window)
    hits = np.array(truth) == np.array(predicted)
    by_class = [hits[np.array(truth) == label].mean() for label in set(truth)]
    expected = {
        "predicted": n,
        "accuracy": hits.mean(),
        "balanced_accuracy": np.mean(by_class),
        "majority": max(truth.count(label) for label in set(truth)) / n,
        "rolling_accuracy": hits[-window:].mean(),
        "first_accuracy": hits[:window].mean(),
        "window": window,
    }
    assert filled(truth, predicted, window).summary() == pytest.approx(expected)


def test_rolling_is_right_after_every_sample():
    truth, predicted = history(300, seed=1)
    hits = [t == p for t, p in zip(truth, predicted, strict=True)]
    score = Prequential(17)
    for i, (t, p) in enumerate(zip(truth, predicted, strict=True)):
        score.add(t, p)
        assert score.rolling == np.mean(hits[max(0, i - 16) : i + 1])


def test_before_the_first_sample_there_is_no_figure():
    score = Prequential(10)
    figures = score.summary()
    assert figures.pop("predicted") == 0 and figures.pop("window") == 10
    assert set(figures.values()) == {None}


def test_the_first_window_is_kept():
    score = filled([1] * 10 + [0] * 30, [1] * 40, 10)
    assert (score.first, score.rolling) == (1.0, 0.0)


def test_one_class_is_balanced_by_itself():
    assert filled([1, 1, 1, 1], [1, 1, 1, 0], 10).balanced == 0.75


def test_labels_may_be_words():
    score = filled(["a", "b", "b"], ["a", "b", "a"], 2)
    assert (score.accuracy, score.balanced, score.rolling) == (2 / 3, 0.75, 0.5)


@pytest.mark.parametrize("window", [0, -1])
def test_a_window_of_nothing_is_refused(window):
    with pytest.raises(ValueError, match=f"window={window}"):
        Prequential(window)
