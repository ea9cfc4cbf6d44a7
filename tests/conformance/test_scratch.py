"""Scratch arrays are zero between calls, and a prediction leaves every byte as it was."""

import numpy as np
import pytest
from each import each, each_of
from registry import answer, answers, every_array
from test_stream import settle

from edgesvm import Perceptron
from edgesvm.budget import SCRATCH
from reference.online import PerceptronCoreRef


def dirty(learner):
    """Names of the scratch arrays that are not zero."""
    leaves = learner.plan(learner.n_features_in_).leaves()
    scratch = {planned.name for planned in leaves if planned.role == SCRATCH}
    return [name for name, array in every_array(learner).items() if name in scratch and array.any()]


def check(learner, X, y):
    """Learn and predict in every way, and look at the scratch after each."""
    bad = X[0].copy()
    bad[-1] = np.inf
    learner.allocate(X.shape[1])
    for row, label in zip(X[:60], y, strict=False):
        learner.learn_one(row, label)
        assert dirty(learner) == [], "after learn_one"
    with pytest.raises(ValueError):
        learner.learn_one(bad, y[0])
    assert dirty(learner) == [], "after a refused sample"
    learner.partial_fit(X[60:], y[60:])
    assert dirty(learner) == [], "after partial_fit"
    settle(learner)
    before = bytes(learner.arena)
    for row in X[:20]:
        learner.predict_one(row)
        answer(learner, row)
    with pytest.raises(ValueError):
        learner.predict_one(bad)
    learner.predict(X)
    answers(learner, X)
    assert dirty(learner) == [], "after predictions"
    assert bytes(learner.arena) == before


@each_of("subject")
def test_scratch_is_zero_between_calls(subject):
    check(subject.make(), *subject.stream(120))


class Untidy(Perceptron):
    """A Perceptron on a core that a test gives it, with a scratch array."""

    tried = PerceptronCoreRef

    def _arrays(self, n_features):
        return [*super()._arrays(n_features), ("scratch", "f8", (2,), SCRATCH)]

    def _build(self, engine, place):
        return self.tried(*place, **self._core_params(place.n_features))


class StepsUntidily(PerceptronCoreRef):
    def step(self, x, y, weight):
        self.views["scratch"][1] = y
        return super().step(x, y, weight)


class DecidesUntidily(PerceptronCoreRef):
    def decide(self, x):
        self.views["scratch"][0] = x[0]
        return super().decide(x)


@each("core", [StepsUntidily, DecidesUntidily])
def test_a_core_that_leaves_scratch_dirty_is_found(core):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 3)).astype(np.float32), rng.choice([-1, 1], 120)
    check(Untidy(), X, y)  # the control: this core writes no scratch
    learner = Untidy()
    learner.tried = core
    with pytest.raises(AssertionError, match="scratch"):
        check(learner, X, y)
