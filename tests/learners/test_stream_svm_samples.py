"""What is done to a sample before it meets the ball: weight, unit norm, the constant feature."""

import numpy as np
import pytest
from each import each
from geometry import look, marked
from streams import STREAMS, bounds, gaussian, make, zero_rows

from edgesvm import StreamSVM

PLAIN = {"normalize": False, "fit_intercept": False, "dtype": "float64"}
KEPT = ({}, {"n_balls": 3}, {"lookahead": 5})

kept_ones = each("kept", KEPT, ids=str)


# -- weights ---------------------------------------------------------------------------------------


@bounds
@kept_ones
def test_own_axes_of_weighted_samples(kept, bound):
    """xi2 is the centre's squared length in own axes of length 1/sqrt(C weight), whatever was
    merged.
    """
    rng = np.random.default_rng(6)
    X, y = gaussian(rng, 60, 4)
    weights = rng.uniform(0.2, 5.0, 60)
    model = make(StreamSVM, bound=bound, C=2.0, **PLAIN, **kept)
    model.partial_fit(marked(X), y, classes=[-1, 1], sample_weight=weights)
    ball = look(model, X, y, weights)
    np.testing.assert_allclose(ball.a.sum(), 1.0, rtol=1e-9)
    np.testing.assert_allclose(float(model.core.views["xi2"]), ball.xi2, rtol=1e-8)
    if bound == "lower":
        q = ball.a @ (X**2).sum(axis=1) + 0.5
        np.testing.assert_allclose(float(model.core.views["q"]), q, rtol=1e-9)


@kept_ones
@each("stream", STREAMS)
@each("C", [0.1, 10.0])
def test_ball_encloses_heavier_samples(stream, C, kept):
    """A weight s >= 1 is one more coordinate, sqrt(1/C - 1/(C s)), which the centre has none of."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = stream(rng, 30, 4)
        weights = rng.choice([1.0, 1.5, 4.0, 8.0], 30)
        model = make(StreamSVM, C=C, **PLAIN, **kept)
        model.partial_fit(marked(X), y, classes=[-1, 1], sample_weight=weights)
        ball = look(model, X, y, weights)
        farthest = np.sqrt(ball.distances() ** 2 + 1 / C - ball.own).max()
        assert farthest <= ball.R * (1 + 1e-9)


def test_a_heavy_newcomer_is_enclosed_by_hand():
    """C = 1. The centre moves in the plane of the features and own axes; weight 2^40 has hardly an
    own axis there.
    """
    model = make(StreamSVM, C=1.0, **PLAIN).allocate(1, classes=[-1, 1])
    model.partial_fit([[0.0], [0.0]], [1, 1], sample_weight=[2.0**40, 2.0**40])
    # Both points are the origin of the plane, 1 above it: R is 1 from the very centre. The paper's
    # step gives 1/2.
    assert model.radius_ == pytest.approx(1.0, abs=1e-12)


# -- unit norm and the constant feature ------------------------------------------------------------


@bounds
@kept_ones
@each("scaling", [(True, False), (False, True), (True, True)])
@each("dtype", ["float64", "float32"])
def test_equal_to_doing_it_outside(dtype, scaling, kept, bound):
    rtol = {"float64": 1e-9, "float32": 2e-3}[dtype]
    normalize, fit_intercept = scaling
    X, y = zero_rows(np.random.default_rng(4), 80, 4)
    X = (3.0 * X).astype(dtype)
    outside = np.hstack([X, np.ones((80, 1))]) if fit_intercept else X.astype(np.float64)
    if normalize:
        norms = np.linalg.norm(outside, axis=1, keepdims=True)
        outside = outside / np.where(norms > 0, norms, 1.0)
    model = make(
        StreamSVM,
        normalize=normalize,
        fit_intercept=fit_intercept,
        bound=bound,
        C=2.0,
        dtype=dtype,
        **kept,
    ).partial_fit(X, y)
    by_hand = make(StreamSVM, bound=bound, C=2.0, **{**PLAIN, "dtype": dtype}, **kept)
    by_hand.partial_fit(outside.astype(dtype), y)
    np.testing.assert_allclose(model.radius_, by_hand.radius_, rtol=rtol)
    np.testing.assert_allclose(model.coef_, by_hand.coef_[:, :4], rtol=rtol, atol=rtol)
    np.testing.assert_allclose(
        model.intercept_, by_hand.coef_[0, 4:] if fit_intercept else [0.0], rtol=rtol, atol=rtol
    )
    np.testing.assert_allclose(
        model.decision_function(X),
        by_hand.decision_function(outside.astype(dtype)),
        rtol=rtol,
        atol=rtol,
    )
