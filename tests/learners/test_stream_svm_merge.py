"""merge(): two balls become one, labels find each other, and what cannot be merged is refused
whole.
"""

import numpy as np
import pytest
from each import each
from geometry import ExplicitBall, look, marked
from streams import bounds, gaussian, kept_ones, make

from edgesvm import StreamSVM

PLAIN = {"normalize": False, "fit_intercept": False, "dtype": "float64"}


def halves(n=60, **params):
    """Two learners, each with half of a stream whose rows carry markers; and the stream."""
    X, y = gaussian(np.random.default_rng(8), n, 4)
    rows = marked(X)
    here, there = (make(StreamSVM, **{**PLAIN, **params}) for _ in range(2))
    here.partial_fit(rows[: n // 2], y[: n // 2], classes=[-1, 1])
    there.partial_fit(rows[n // 2 :], y[n // 2 :], classes=[-1, 1])
    return here, there, X, y


@kept_ones
def test_merged_ball_encloses_both_streams(kept):
    here, there, X, y = halves(C=4.0, **kept)
    ball = look(here.merge(there), X, y)
    assert ball.a.min() >= 0
    np.testing.assert_allclose(ball.a.sum(), 1.0, rtol=1e-9)
    assert ball.distances().max() <= ball.R * (1 + 1e-9)


def test_of_one_ball_is_the_closed_form():
    here, there, X, y = halves(C=4.0)
    a, b = look(here, X, y), look(there, X, y)
    d = np.sqrt(
        ((a.a @ a.Z - b.a @ b.Z) ** 2).sum() + a.xi2 + b.xi2
    )  # no sample, so no own axis, in common
    gamma = 0.5 * (1 - (a.R - b.R) / d)
    expected = ExplicitBall(a.Z, a.own, (1 - gamma) * a.a + gamma * b.a, a.w, (a.R + b.R + d) / 2)
    merged = look(here.merge(there), X, y)
    np.testing.assert_allclose(merged.a, expected.a, rtol=1e-9)
    np.testing.assert_allclose(merged.R, expected.R, rtol=1e-9)
    np.testing.assert_allclose(float(here.core.views["xi2"]), expected.xi2, rtol=1e-9)


@bounds
@each("kept", [{}, {"n_balls": 3}, {"lookahead": 4}], ids=str)
def test_of_a_single_sample_is_learning_it(kept, bound):
    X, y = gaussian(np.random.default_rng(3), 30, 4)
    outside = 5.0 * X[0]
    model, learned, single = (
        make(StreamSVM, C=2.0, bound=bound, **PLAIN, **kept) for _ in range(3)
    )
    for learner in (model, learned):
        learner.partial_fit(X, y, classes=[-1, 1])
    single.allocate(4, classes=[-1, 1]).learn_one(outside, -1)
    assert learned.learn_one(outside, -1)
    model.merge(single)
    assert model.n_seen_ == 31
    np.testing.assert_allclose(model.coef_, learned.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.radius_, learned.radius_, rtol=1e-9)


@bounds
@kept_ones
@each("dtype", ["float32", "float64"])
def test_twin_merges_alike(kept, bound, dtype):
    X, y = gaussian(np.random.default_rng(3), 80, 4)
    X = X.astype(dtype)
    merged = []
    for engine in ("compiled", "reference"):
        here, there = (make(StreamSVM, C=2.0, bound=bound, dtype=dtype, **kept) for _ in range(2))
        here._engine = there._engine = engine
        here.partial_fit(X[:30], y[:30], classes=[-1, 1])
        there.partial_fit(X[30:60], y[30:60], classes=[-1, 1])
        merged.append(here.merge(there).partial_fit(X[60:], y[60:]))
    rtol = {"float32": 1e-4, "float64": 1e-9}[dtype]
    assert (merged[0].n_seen_, merged[0].n_updates_) == (merged[1].n_seen_, merged[1].n_updates_)
    np.testing.assert_allclose(merged[0].coef_, merged[1].coef_, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(merged[0].radius_, merged[1].radius_, rtol=rtol)


# -- labels ----------------------------------------------------------------------------------------


@each("kept", [{}, {"n_balls": 3}, {"lookahead": 4}], ids=str)
@each("words", [("cold", "hot"), ("hot", "cold")])
def test_labels_met_in_another_order(words, kept):
    """Slots are given as labels come; a learner that met them the other way round holds the
    mirrored ball.
    """
    X, y = gaussian(np.random.default_rng(5), 60, 4)
    y = np.where(y > 0, *words)
    others = np.arange(30, 60)
    others = others[
        np.argsort(y[others] == y[0], kind="stable")
    ]  # begins with the label that `here` met second
    merged = []
    for known in (
        None,
        list(dict.fromkeys(y)),
    ):  # slots as labels come to each, or the same in both
        here, there = (make(StreamSVM, C=2.0, **PLAIN, **kept) for _ in range(2))
        here.allocate(4, classes=known).partial_fit(X[:30], y[:30])
        there.allocate(4, classes=known).partial_fit(X[others], y[others])
        merged.append(here.merge(there))
    np.testing.assert_allclose(merged[0].coef_, merged[1].coef_, rtol=1e-9, atol=1e-12)
    assert merged[0].classes_.tolist() == ["cold", "hot"]
    assert merged[0].score(X, y) > 0.7


def test_into_a_learner_that_knows_nothing():
    _, there, X, _ = halves(bound="lower")
    empty = make(StreamSVM, bound="lower", **PLAIN)
    empty.merge(there)
    np.testing.assert_allclose(empty.coef_, there.coef_, rtol=1e-12)
    np.testing.assert_allclose(empty.radius_, there.radius_, rtol=1e-9)
    np.testing.assert_array_equal(empty.predict(marked(X)), there.predict(marked(X)))
    allocated = make(StreamSVM, bound="lower", **PLAIN).allocate(there.n_features_in_)
    assert allocated.merge(there).n_seen_ == there.n_seen_


# -- refusals --------------------------------------------------------------------------------------


@each(
    "different", [{"C": 2.0}, {"bound": "lower"}, {"dtype": "float32"}, {"lookahead": 3}], ids=str
)
def test_other_parameters_are_refused(different):
    X, y = gaussian(np.random.default_rng(3), 30, 4)
    here = make(StreamSVM, **PLAIN).partial_fit(X, y)
    there = make(StreamSVM, **{**PLAIN, **different}).partial_fit(X, y)
    refused(here, there, ValueError, "equal parameters")


@each(
    "mine, theirs",
    [
        (("a", "b"), ("a", "c")),
        (("a", "b"), ("c", "d")),
        (("a",), ("b", "c")),
        (("a", "b"), ("c",)),
    ],
)
def test_a_third_label_is_refused(mine, theirs):
    X, _ = gaussian(np.random.default_rng(3), 12, 4)
    here = make(StreamSVM, **PLAIN).partial_fit(X, np.resize(mine, 12))
    there = make(StreamSVM, **PLAIN).partial_fit(X, np.resize(theirs, 12))
    refused(here, there, ValueError, "labels")


def refused(here, there, error, message):
    """With a clear word, and nothing changed on either side."""
    before = bytes(here.arena), here.classes_.tolist()
    with pytest.raises(error, match=message):
        here.merge(there)
    assert (bytes(here.arena), here.classes_.tolist()) == before
