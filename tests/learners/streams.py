"""Streams on which geometry is apt to go wrong, and the learner of most tests."""

from __future__ import annotations

import numpy as np
from each import each

from edgesvm import StreamSVM

KEPT = (
    *({}, {"n_balls": 2}, {"n_balls": 5}, {"n_balls": 4, "join": "reach"}),
    *({"lookahead": 1}, {"lookahead": 6}, {"lookahead": 16}),
)

kept_ones = each("kept", KEPT, ids=str)
bounds = each("bound", ["upper", "lower"])
BALL = {"bound": "upper", "average": False}


def make(kind, **params):
    """A learner. A StreamSVM is the enclosing ball and decides by the last one, unless said
    otherwise: that is what most tests are about.
    """
    return kind(**(BALL | params if kind is StreamSVM else params))


def gaussian(rng, n, width):
    X = rng.standard_normal((n, width))
    return X, np.where(X[:, 0] + 0.3 * rng.standard_normal(n) > 0, 1, -1)


def duplicates(rng, n, width):
    """Few different rows, some with both labels."""
    X = rng.standard_normal((5, width))[rng.integers(0, 5, n)]
    return X, rng.choice([-1, 1], n)


def grid(rng, n, width):
    X = rng.integers(-2, 3, (n, width)).astype(float)
    return X, np.where(X.sum(axis=1) > 0, 1, -1)


def zero_rows(rng, n, width):
    X, y = gaussian(rng, n, width)
    X[rng.random(n) < 0.3] = 0.0
    return X, y


def one_point(rng, n, width):
    return np.tile(rng.standard_normal(width), (n, 1)), np.ones(n, int)


def far_off(rng, n, width):
    """Not normalised, both labels far from the origin on the same side."""
    X = 100.0 + rng.standard_normal((n, width))
    return X, np.where(X[:, 0] > 100.0, 1, -1)


def far_off_one_label(rng, n, width):
    return 100.0 + rng.standard_normal((n, width)), np.ones(n, int)


def spiral_out(rng, n, width):
    """Each row is outside all that went before: every sample is an update."""
    X = rng.standard_normal((n, width))
    X *= (1.3 ** np.arange(n) / np.linalg.norm(X, axis=1))[:, None]
    return X, rng.choice([-1, 1], n)


STREAMS = (gaussian, duplicates, grid, zero_rows, one_point, far_off, far_off_one_label, spiral_out)
