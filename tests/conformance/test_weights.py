"""No weight ruins a model: what is far from the weights so far is refused by name, any scale of
them all is fine, and what was learned can be saved and loaded."""

import contextlib

import numpy as np
import pytest
from each import each_of
from test_refusals import refuses
from test_stream import state

import edgesvm
from edgesvm.errors import SampleRefused

N = 60


def weighted(subject, weights):
    """A learner that has seen one sample of each weight; one that needs no weights is none."""
    learner = subject.make()
    if not learner.takes_labels:
        pytest.skip("it takes no weights")
    return learner.partial_fit(*subject.stream(len(weights)), sample_weight=weights)


WEIGHTS = [257.0, 1e6, 1e13, 1e30, 1e50, 1e-13, 1e-20, 1e-300]
SCALES = [2.0**-40, 1e-6, 1 / N, 1e4, 2.0**40]
FIRST = [[2.0**-40], [2.0**40], [0.0, 1e-9], [1e-6] * 4, [1e6] * 4]


@each_of("subject")
def test_one_row_far_from_the_weights_so_far(subject):
    learner = weighted(subject, np.ones(N))
    X, y = subject.stream(2)
    for weight in subject.some(WEIGHTS):
        rows = [weight, 1.0]
        said = "more than 256 times the mean" if 1 < weight < 2**40 else "from 9.1e-13 to 1.1e"
        refuses(learner, lambda w=weight: learner.learn_one(X[0], y[0], w), f"{weight:g}", said)
        refuses(learner, lambda w=rows: learner.partial_fit(X, y, sample_weight=w), "row 0", said)
    learner.learn_one(X[0], y[0], 255.0)
    learner.learn_one(X[1], y[1], 1e-11)


@each_of("subject")
def test_any_scale_of_all_weights(subject):
    X, y = subject.stream(1)
    for scale in subject.some(SCALES):
        learner = weighted(subject, np.full(N, scale))
        assert learner.n_seen_ == N
        refuses(learner, lambda: learner.learn_one(X[0], y[0], 300 * scale), "weight")  # noqa: B023


@each_of("subject")
def test_odd_first_weights_lock_nobody_out(subject):
    for first in subject.some(FIRST):
        learner = weighted(subject, np.concatenate([first, np.ones(N)]))
        assert learner.n_seen_ == N + len(first)


@each_of("subject")
def test_the_mean_survives_saving(subject, tmp_path):
    learner = weighted(subject, np.full(N, 1e-4))
    learner.save(tmp_path / "model")
    again = edgesvm.load(tmp_path / "model")
    X, y = subject.stream(1)
    for one in (learner, again):
        with pytest.raises(
            SampleRefused, match=r"256 times the mean of the weights so far, 0\.0001"
        ):
            one.learn_one(X[0], y[0], 1.0)


FAR = [1.0, 1e3, 1e8, 1e15, 1e30, 1e37, 1e100, 1e150]


@each_of("subject")
def test_whatever_is_learned_can_be_loaded(subject, tmp_path):
    """Weights as far from each other as may be, features as large as are taken."""
    for scale, seed in subject.some([(s, k) for s in (2.0**-40, 1.0, 2.0**40) for k in (0, 1)]):
        rng = np.random.default_rng(seed)
        X, y = subject.stream(2 * N)
        learner = subject.make()
        for i, row in enumerate(X):
            far = FAR[: 1 + i // 10] if seed else [1.0, FAR[i % len(FAR)]]
            weight = min(max(scale * 255.0 ** rng.choice([-4, -1, 0, 1]), 2.0**-40), 2.0**40)
            with contextlib.suppress(ValueError), np.errstate(over="ignore"):
                x = (row * rng.choice(far)).astype(subject.dtype)
                weights = (weight,) if learner.takes_labels else ()
                learner.learn_one(x, *((y[i], *weights) if learner.takes_labels else ()))
            if i % 40 == 39:
                learner.save(tmp_path / "model")
                assert state(edgesvm.load(tmp_path / "model")) == state(learner)
