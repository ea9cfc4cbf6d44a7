"""The learner's ball in the explicit augmented space, and the exact smallest ball.

The learner keeps of the own axes only the centre's squared length xi2 in them, so its ball cannot
be looked at from outside. A passenger shows it: sample i carries one more feature of value MARK, a
power of two so small that its square, 2^-1000, vanishes in every sum. The learner's numbers stay
what they are (tests assert: the same bits), while its weight on that feature is y_i a_i MARK,
exactly a_i in units of y_i MARK, where

    c = sum_i a_i z_i,   z_i = (y_i x_i, e_i sqrt(own_i)),   own_i = 1 / (C weight_i)

because all the learner ever does to a centre is to mix it linearly with others. So the centre is
known in every coordinate, own axes included, after any number of updates, flushes and merges, and
the distance to each sample can be computed from its definition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MARK = {"float64": 2.0**-500, "float32": 2.0**-50}


def marked(X, dtype="float64", offset=0, total=None):
    """X with one more feature a row: row i has MARK in column `offset + i` of `total`."""
    markers = np.zeros((len(X), len(X) if total is None else total))
    markers[np.arange(len(X)), offset + np.arange(len(X))] = MARK[dtype]
    return np.hstack([X, markers]).astype(dtype)


@dataclass(frozen=True)
class ExplicitBall:
    """A centre by its share `a` of each point, and a radius."""

    Z: np.ndarray  # (n, width): y x, normalised and with the constant as the learner has it
    own: np.ndarray  # (n,): squared length of the own axis
    a: np.ndarray  # (n,)
    w: np.ndarray  # (width,): what the learner says the x-part of the centre is
    R: float

    @property
    def xi2(self):
        return float(self.a**2 @ self.own)

    def distances(self):
        """|c - z_i|, summed from squares, so without cancellation."""
        elsewhere = self.xi2 - self.a**2 * self.own
        square = (
            ((self.a @ self.Z - self.Z) ** 2).sum(axis=1) + elsewhere + (1 - self.a) ** 2 * self.own
        )
        return np.sqrt(square)


def look(model, X, y, weights=None, centre=None):
    """The model's ball (or one of the `centres` it holds) after it has learned rows `marked(X)`.

    y is -1 or +1, and the model was told so up front: classes=[-1, 1].
    """
    n, width = X.shape
    w = (model.core.views["w"] if centre is None else centre).astype(np.float64)
    Z = X.astype(model.dtype).astype(np.float64)
    if model.fit_intercept:
        Z = np.hstack([Z, np.ones((n, 1))])
    norm = np.ones(n)
    if model.normalize:
        norm = np.linalg.norm(Z, axis=1)
        norm[norm == 0] = MARK[model.dtype]  # of a row of zeros its marker is all there is
    Z = y[:, None] * Z / norm[:, None]
    a = w[width : width + n] * norm * y / MARK[model.dtype]
    features = np.concatenate([w[:width], w[width + n :]])
    own = 1 / (model.C * (np.ones(n) if weights is None else weights))
    return ExplicitBall(Z, own, a, features, model.radius_)


def gram_of(X, y, C):
    """Inner products of the augmented points."""
    Z = y[:, None] * X
    return Z @ Z.T + np.eye(len(Z)) / C


def smallest_ball(K, gap=1e-11):
    """Bounds (below, above) on the radius of the smallest ball around points of Gram matrix K,
    equal but for `gap`.

    Any shares a >= 0, sum a = 1, prove sqrt(V(a)) <= R* <= farthest point from their mean; pairwise
    steps on V(a) = a.diag(K) - a.K.a are taken until the two meet. So the answer carries its own
    proof.
    """
    n, square = len(K), np.diag(K)
    a = np.full(n, 1.0 / n)
    pull = K @ a
    for step in range(200_000):
        if step % 256 == 0:
            pull = K @ a
        cc = a @ pull
        d2 = cc - 2 * pull + square
        below, above = a @ square - cc, d2.max()
        if above - below <= gap * above:
            return np.sqrt(below), np.sqrt(above)
        i, j = int(d2.argmax()), int(np.where(a > 0, d2, np.inf).argmin())
        apart = K[i, i] + K[j, j] - 2 * K[i, j]
        t = min((d2[i] - d2[j]) / (2 * apart), a[j])
        a[i] += t
        a[j] = 0.0 if t == a[j] else a[j] - t
        pull = pull + t * (K[:, i] - K[:, j])
    raise AssertionError(f"the smallest ball was not found: {below} to {above}")
