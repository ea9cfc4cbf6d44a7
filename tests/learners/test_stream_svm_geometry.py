"""What the ball promises, seen in the explicit augmented space (geometry.py says how and why that
is sound).
"""

import numpy as np
from each import each
from geometry import gram_of, look, marked, smallest_ball
from hypothesis import given, settings
from hypothesis import strategies as st
from streams import KEPT, STREAMS, bounds, gaussian, kept_ones, make

from edgesvm import StreamSVM

WIDTH = 4  # with up to 8 features and the markers behind, no sum of float64 lanes changes its order
PLAIN = {"normalize": False, "fit_intercept": False}


def learned(X, y, **params):
    """Rows as they are, with no marker."""
    model = make(StreamSVM, **{"dtype": "float64", **PLAIN, **params})
    return model.partial_fit(X.astype(model.dtype), y, classes=[-1, 1])


def learned_marked(X, y, weights=None, **params):
    model = make(StreamSVM, **{"dtype": "float64", **PLAIN, **params})
    return model.partial_fit(marked(X, model.dtype), y, classes=[-1, 1], sample_weight=weights)


def check_ball(ball, model, rtol=1e-9):
    """What the learner says of its centre is true of the centre that the markers show."""
    scale = np.abs(ball.Z).max() + 1.0
    assert ball.a.min() >= 0.0
    np.testing.assert_allclose(ball.a.sum(), 1.0, rtol=rtol)
    np.testing.assert_allclose(ball.w, ball.a @ ball.Z, rtol=rtol, atol=rtol * scale)
    views = model.core.views
    np.testing.assert_allclose(views["ww"], ball.w @ ball.w, rtol=10 * rtol, atol=1e-30)
    np.testing.assert_allclose(
        views["xi2"], ball.xi2, rtol=10 * rtol, atol=10 * rtol * float(views["ww"])
    )


# -- the markers are not felt ----------------------------------------------------------------------


@bounds
@kept_ones
@each("stream", STREAMS)
def test_markers_change_no_bit(stream, kept, bound):
    X, y = stream(np.random.default_rng(1), 40, WIDTH)
    bare, seen = (
        learned(X, y, bound=bound, C=2.0, **kept),
        learned_marked(X, y, bound=bound, C=2.0, **kept),
    )
    for name in ("R", "xi2", "q", "n_updates", *(("share", "radius") if kept else ())):
        assert bare.core.views[name].tobytes() == seen.core.views[name].tobytes(), name
    np.testing.assert_array_equal(bare.coef_, seen.coef_[:, :WIDTH])


# -- the enclosing ball ----------------------------------------------------------------------------


@each("stream", STREAMS)
@each("C", [0.1, 1.0, 30.0])
def test_one_ball_is_at_most_three_halves_of_the_smallest(stream, C):
    """Zarrabi-Zadeh & Chan 2006, the paper's bound; and it is no smaller than the smallest."""
    for seed in range(3):
        X, y = stream(np.random.default_rng(seed), 12, 3)
        below, above = smallest_ball(gram_of(X, y, C))
        R = learned(X, y, C=C).radius_
        assert below * (1 - 1e-9) <= R <= 1.5 * above * (1 + 1e-9)


@each("kept", [{"lookahead": 6}, {"lookahead": 16}])
def test_all_in_store_is_the_smallest_ball(kept):
    """As many samples as there is room for: the ball is the smallest, to the solver's tolerance."""
    X, y = gaussian(np.random.default_rng(11), kept["lookahead"], 3)
    below, above = smallest_ball(gram_of(X, y, 3.0))
    R = learned(X, y, C=3.0, **kept).radius_
    assert below * (1 - 1e-9) <= R <= above * (1 + 2e-3)


# -- the dual --------------------------------------------------------------------------------------


@kept_ones
@each("stream", STREAMS)
def test_lower_bound_is_below_and_never_falls(stream, kept):
    for seed, C in enumerate((0.1, 1.0, 30.0)):
        X, y = stream(np.random.default_rng(seed), 25, WIDTH)
        model = make(StreamSVM, bound="lower", C=C, dtype="float64", **PLAIN, **kept)
        model.allocate(WIDTH + len(X), classes=[-1, 1])
        last = 0.0
        for row, label in zip(marked(X), y, strict=True):
            model.learn_one(row, label)
            assert model.radius_ >= last * (1 - 1e-9)
            last = model.radius_
        _, above = smallest_ball(gram_of(X, y, C))
        assert last <= above * (1 + 1e-9)
        check_ball(look(model, X, y), model)


@kept_ones
def test_lower_radius_is_the_dual_value_of_the_shares(kept):
    X, y = gaussian(np.random.default_rng(4), 60, WIDTH)
    model = learned_marked(X, y, bound="lower", C=3.0, **kept)
    ball = look(model, X, y)
    K = gram_of(X, y, 3.0)
    np.testing.assert_allclose(
        model.radius_**2, ball.a @ np.diag(K) - ball.a @ K @ ball.a, rtol=1e-9
    )
    np.testing.assert_allclose(float(model.core.views["q"]), ball.a @ np.diag(K), rtol=1e-9)


# -- what is kept beside ---------------------------------------------------------------------------


@bounds
@each("kept", [kept for kept in KEPT if kept])
@each("stream", STREAMS)
def test_store_agrees_with_its_definition_after_every_sample(stream, kept, bound):
    """Shares >= 0 that sum to one; Gram matrix, centre and norms as computed from the balls' own
    centres.
    """
    X, y = stream(np.random.default_rng(9), 30, WIDTH)
    model = make(StreamSVM, bound=bound, C=2.0, dtype="float64", **PLAIN, **kept)
    model.allocate(WIDTH + len(X), classes=[-1, 1])
    views = model.core.views
    for row, label in zip(marked(X), y, strict=True):
        model.learn_one(row, label)
        m = int(views["n_held"])
        assert 1 <= m < len(views["share"])
        share, centres = views["share"][:m], views["centres"][:m]
        assert share.min() >= 0.0
        np.testing.assert_allclose(share.sum(), 1.0, rtol=1e-12)
        scale = np.abs(X).max() ** 2 + 1
        balls = [look(model, X, y, centre=centre) for centre in centres]
        A = np.array([ball.a for ball in balls])
        gram = centres[:, :WIDTH] @ centres[:, :WIDTH].T + (A / 2.0) @ A.T
        np.testing.assert_allclose(views["gram"][:m, :m], gram, rtol=1e-9, atol=1e-12 * scale)
        np.testing.assert_allclose(views["w"], share @ centres, rtol=1e-9, atol=1e-12 * scale)
        if bound == "lower":
            squares = A @ np.diag(gram_of(X, y, 2.0))
            np.testing.assert_allclose(views["square"][:m], squares, rtol=1e-9)


# -- streams nobody thought of ---------------------------------------------------------------------


@st.composite
def awkward_streams(draw):
    """Rows of few values and of any, repeated at will; both labels or one; C over six decades."""
    width = draw(st.integers(1, 4))
    number = st.one_of(
        st.integers(-2, 2).map(float), st.floats(-50, 50, width=32).filter(lambda v: abs(v) > 1e-6)
    )
    rows = draw(st.lists(st.lists(number, min_size=width, max_size=width), min_size=1, max_size=8))
    order = draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=24))
    labels = draw(st.lists(st.sampled_from([-1, 1]), min_size=len(order), max_size=len(order)))
    return np.array(rows)[order], np.array(labels), 10.0 ** draw(st.integers(-3, 3))


@settings(max_examples=150, derandomize=True)
@given(awkward_streams(), st.sampled_from(KEPT))
def test_upper_ball_encloses_any_stream(stream, kept):
    X, y, C = stream
    model = learned_marked(X, y, C=C, **kept)
    ball = look(model, X, y)
    check_ball(ball, model)
    assert ball.distances().max() <= ball.R * (1 + 1e-9) + 1e-12


@settings(max_examples=150, derandomize=True)
@given(awkward_streams(), st.sampled_from(KEPT))
def test_lower_ball_is_below_on_any_stream(stream, kept):
    X, y, C = stream
    model = learned_marked(X, y, C=C, bound="lower", **kept)
    ball = look(model, X, y)
    check_ball(ball, model)
    K = gram_of(X, y, C)
    # Any centre's farthest point is at least R* away: the mean's, and the found centre's own.
    centres = ball.a, np.full(len(X), 1 / len(X))
    farthest = min((a @ K @ a - 2 * K @ a + np.diag(K)).max() for a in centres)
    rounding = 1e-14 * np.diag(K).max()  # V is a difference of such squares
    assert farthest * (1 + 1e-9) + rounding >= ball.R**2
