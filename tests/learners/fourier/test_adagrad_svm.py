"""AdaGradSVM against its formulas, written out."""

import numpy as np
import pytest
from each import each

from edgesvm import AdaGradSVM
from edgesvm.errors import SampleRefused

SLOPES = {"hinge": lambda m: float(m < 1), "logistic": lambda m: 1 / (1 + np.exp(m))}


def clouds(n, n_classes=2, seed=0, dtype="float64"):
    """Overlapping clouds on a circle, far from zero."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    angle = 2 * np.pi * y / n_classes
    X = rng.standard_normal((n, 3)) + 2 * np.stack([np.cos(angle), np.sin(angle), 0.5 + 0 * y], 1)
    return X.astype(dtype), y


def written_out(X, sides, *, rate, slope):
    """Last weights and mean weights of (x, 1), and how often each was wrong; step by step."""
    w = mean = np.zeros(X.shape[1] + 1)
    G, wrong = 0.0, np.zeros(2)
    for t, (x, side) in enumerate(zip(X, sides, strict=True), 1):
        f = np.append(x, 1.0)
        wrong += side * (w @ f) <= 0, side * (mean @ f) <= 0
        g = slope(side * (w @ f))
        G += g**2 * (f @ f) / len(f)
        if g > 0:
            w = w + rate * g * side * f / np.sqrt(G)
        mean = mean + 2 / (t + 1) * (w - mean)
    return w, mean, wrong


@each("loss", SLOPES)
@each("rate", [0.5, 2.0])
def test_steps_are_those_written_out(loss, rate):
    X, y = clouds(300)
    learner = AdaGradSVM(loss=loss, learning_rate=rate, dtype="float64")
    learner.partial_fit(X, y, classes=[0, 1])
    w, mean, wrong = written_out(X, 2 * y - 1, rate=rate, slope=SLOPES[loss])
    assert learner.answers_ == ("mean" if wrong[1] <= wrong[0] else "last")
    expected = mean if learner.answers_ == "mean" else w
    found = np.append(learner.coef_, learner.intercept_)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@each("labels", [(0, 1, 2), (7, 3, 5)])
def test_a_class_has_the_weights_of_one_against_the_rest(labels):
    X, y = clouds(300, 3)
    learner = AdaGradSVM(n_classes=3, dtype="float64").partial_fit(X, np.array(labels)[y])
    for row, label in enumerate(learner.classes_):
        sides = np.where(np.array(labels)[y] == label, 1, -1)
        both = written_out(X, sides, rate=0.5, slope=SLOPES["hinge"])
        expected = both[learner.answers_ == "mean"]
        found = np.append(learner.coef_[row], learner.intercept_[row])
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@each("labels, n_classes", [((0, 1), 2), ((1, 0), 2), ((1, 0), 3), ((2, 0, 1), 3), ((2, 0, 1), 5)])
def test_coefficients_are_those_that_answer(labels, n_classes):
    X, y = clouds(200, len(labels))
    learner = AdaGradSVM(n_classes=n_classes, dtype="float64")
    learner.partial_fit(X, np.array(labels)[y])
    f = X @ learner.coef_.T + learner.intercept_
    np.testing.assert_allclose(f.squeeze(), learner.decision_function(X), rtol=1e-9, atol=1e-12)
    assert learner.score(X, np.array(labels)[y]) > 0.8


@each("weight", [1.0, 2.0**40])
def test_a_sum_of_squares_that_would_overflow_is_refused(weight):
    X = np.full((9, 3), 0.5e154 / weight)
    learner = AdaGradSVM(dtype="float64").allocate(3, classes=[0, 1])
    learner.learn_one(X[0] * 1e-9, 0, weight)
    n_learned = 0
    with pytest.raises(SampleRefused):
        for x in X:
            before = bytes(learner.arena)
            learner.learn_one(x, 1 - n_learned % 2, weight)
            n_learned += 1
    assert 0 < n_learned < 9 and bytes(learner.arena) == before
    assert np.isfinite(learner.core.views["G"]).all()
