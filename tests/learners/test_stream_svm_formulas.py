"""The paper's three updates, of w, R and xi^2, to the last bit on cases worked by hand.

All numbers are multiples of 1/64 or the like and all roots are whole or half numbers, so float64
holds each intermediate exactly and the hand's result must come out bit for bit.
"""

import numpy as np
from each import each
from streams import make

from edgesvm import StreamSVM


def state(model):
    views = model.core.views
    return views["w"].tolist(), float(views["R"]), float(views["xi2"])


def learner(**params):
    plain = {"normalize": False, "fit_intercept": False, "dtype": "float64"}
    return make(StreamSVM, **plain, **params).allocate(3, classes=[-1, 1])


def test_enclosing_ball_exact_slack():
    # C = 1/2, so an own axis has squared length 1/C = 2.
    model = learner(C=0.5)
    # The first point is the centre: w = y x, R = 0, xi2 = 1/C = 2.
    assert model.learn_one(np.array([1.0, 1.0, 0.0]), 1)
    assert state(model) == ([1.0, 1.0, 0.0], 0.0, 2.0)
    # d^2 = |(1, 2, 0)|^2 + xi2 + 1/C = 5 + 2 + 2 = 9.  gamma = (1 - 0/3)/2 = 1/2.  R = (0 + 3)/2.
    # xi2 = (1/2)^2 2 + (1/2)^2 2 = 1.
    assert model.learn_one(np.array([2.0, 3.0, 0.0]), 1)
    assert state(model) == ([1.5, 2.0, 0.0], 1.5, 1.0)
    # y x = (2.5, 3, 2).  d^2 = |(1, 1, 2)|^2 + 1 + 2 = 9.  gamma = (1 - 1.5/3)/2 = 1/4.  R = (1.5 +
    # 3)/2. w = 3/4 (1.5, 2, 0) + 1/4 (2.5, 3, 2).  xi2 = 9/16 1 + 1/16 2 = 11/16.
    assert model.learn_one(np.array([-2.5, -3.0, -2.0]), -1)
    assert state(model) == ([1.75, 2.25, 0.5], 2.25, 0.6875)
    # A point at the centre's own features: d^2 = 0 + 11/16 + 2 < R^2 = 81/16. Ignored.
    assert not model.learn_one(np.array([1.75, 2.25, 0.5]), 1)
    assert state(model) == ([1.75, 2.25, 0.5], 2.25, 0.6875)
    assert (model.n_seen_, model.n_updates_) == (4, 3)


def test_a_point_on_the_boundary_is_inside():
    # C = 1/2 as above: after two points w = (1.5, 2, 0), R = 1.5, xi2 = 1; d^2 = 0 + 1 + 2 = 3 >
    # 2.25 is outside, so a boundary needs 1/C <= R^2 - xi2. C = 2: 1/C = 1/2, z1 = 0, z2 = (0, 0,
    # sqrt(15)) is not exact; z2 = (2, 2, 0): d^2 = 8 + 1 = 9, R = 3/2, w = (1, 1, 0), xi2 = 1/4. On
    # the boundary: |w - z|^2 = 9/4 - 1/4 - 1/2 = 3/2 = 1 + 1/4 + 1/4.
    model = learner(C=2.0)
    model.learn_one(np.array([0.0, 0.0, 0.0]), 1)
    model.learn_one(np.array([2.0, 2.0, 0.0]), 1)
    assert state(model) == ([1.0, 1.0, 0.0], 1.5, 0.25)
    assert not model.learn_one(np.array([2.0, 1.5, 0.5]), 1)
    # A little beyond it is outside.
    assert model.learn_one(np.array([2.0, 1.5, 0.5 + 2.0**-20]), 1)


def test_dual_step():
    model = learner(C=0.5, bound="lower")
    model.learn_one(np.array([1.0, 1.0, 0.0]), 1)  # q = 2 + 2
    assert state(model) == ([1.0, 1.0, 0.0], 0.0, 2.0)
    # d^2 = 9, gamma = (1 - 0/9)/2 = 1/2; q = (4 + 15)/2 = 9.5; V = 9.5 - 6.25 - 1 = 2.25.
    model.learn_one(np.array([2.0, 3.0, 0.0]), 1)
    assert state(model) == ([1.5, 2.0, 0.0], 1.5, 1.0)
    # d^2 = 9, gamma = (1 - 2.25/9)/2 = 3/8; xi2 = 25/64 1 + 9/64 2; q = 9.5 + 3/8 (21.25 - 9.5) =
    # 13.90625; V = 13.90625 - 9.71875 - 0.671875 = 3.515625 = 1.875^2.
    model.learn_one(np.array([-2.5, -3.0, -2.0]), -1)
    assert state(model) == ([1.875, 2.375, 0.75], 1.875, 0.671875)
    assert float(model.core.views["q"]) == 13.90625


@each("kept", [{}, {"n_balls": 3}, {"lookahead": 4}])
@each("bound", ["upper", "lower"])
@each("dtype", ["float32", "float64"])
def test_at_C_one_the_text_is_the_geometry(dtype, bound, kept):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((300, 4)).astype(dtype), rng.choice([-1, 1], 300)
    exact, paper = (
        make(StreamSVM, C=1.0, slack=slack, bound=bound, dtype=dtype, **kept).partial_fit(X, y)
        for slack in ("exact", "paper")
    )
    assert bytes(exact.arena) == bytes(paper.arena)
