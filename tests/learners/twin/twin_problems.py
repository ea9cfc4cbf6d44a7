"""Streams that are hard on an exact solver, and the KT conditions written out once more."""

import numpy as np
from hypothesis import strategies as st

from edgesvm import RBF, Linear, Polynomial

KERNELS = {
    "rbf": RBF(0.5),
    "wide rbf": RBF(1e-4),
    "narrow rbf": RBF(1e3),
    "linear": Linear(),
    "cubic": Polynomial(3),
    "degree 7": Polynomial(7, 0.1),
}

FEATURES = {
    "clouds": lambda rng, n: rng.standard_normal((n, 3)),
    "integer grid": lambda rng, n: rng.integers(0, 4, (n, 2)),
    "integers on a line": lambda rng, n: rng.integers(0, 6, (n, 1)),
    "a constant feature": lambda rng, n: np.c_[np.full(n, 3.0), rng.standard_normal(n)],
    "all alike": lambda rng, n: np.full((n, 2), 0.5),
    "two points": lambda rng, n: rng.integers(0, 2, (n, 1)),
    "almost alike": lambda rng, n: 1e-4 * rng.standard_normal((n, 2)),
}

LABELS = {
    "at random": lambda rng, n: rng.choice([-1, 1], n),
    "one class, then the other": lambda rng, n: np.repeat([1, -1], [n // 2, n - n // 2]),
    "one class": lambda rng, n: np.full(n, -1),
    "in turn": lambda rng, n: np.resize([1, -1], n),
}


# Features, labels, kernel and C of a problem
PROBLEM = (
    *(st.sampled_from(list(choices)) for choices in (FEATURES, LABELS, KERNELS)),
    st.sampled_from([1e-3, 1.0, 100.0, 1e4]),
)


def stream(features, labels, n, seed):
    """X (n, D) float32, y (n,), weights (n,) with zeros among them."""
    rng = np.random.default_rng(seed)
    X = FEATURES[features](rng, n).astype(np.float32)
    return X, LABELS[labels](rng, n), rng.choice([0.0, 0.5, 1.0, 3.0], n)


def by_side(model):
    """The weights of the samples that are stored, (n, 2): s-, s+."""
    side = np.where((model.labels_ == 1)[:, None], [0.0, 1.0], [1.0, 0.0])
    return side * model.sample_weights_[:, None]


def violations(model, kernel, vectors, weights):
    """(f, beta, s-, s+) that break the KT conditions, by definition: largest amount in f and in
    beta as a share of C s, and the sum of all beta as a share of C sum(s).

    `weights` (n, 2) are s-, s+; a twin is judged by the better of its readings, as f of 1 - 1e-9
    and beta of an upper step belong together.
    """
    X = vectors.astype(np.float64)
    beta = model.dual_coef_[0]
    f = kernel(X, X) @ beta + model.intercept_
    C = 1.0 / float(model.core.views["mu"])
    worst = 0.0
    for f_i, beta_i, (minus, plus) in zip(f, beta, C * weights, strict=True):
        readings = []
        for a, b in (  # alpha+ - alpha- = beta, no more of either than needed, or as much as may be
            (max(beta_i, 0.0), max(-beta_i, 0.0)),
            (plus, plus - beta_i),
            (minus + beta_i, minus),
        ):
            share = max(-a, a - plus, -b, b - minus, 0.0) / max(minus + plus, 1e-300)
            readings.append(share + max(broken(f_i - 1, a, plus), broken(-f_i - 1, b, minus)))
        worst = max(worst, min(readings))
    return max(worst, abs(beta.sum()) / max(C * weights.sum(), 1e-300))


def broken(g, alpha, bound):
    """How far g would have to move.  g > 0: alpha = 0;  g < 0: alpha = bound;  g = 0: between."""
    if bound <= 0.0:
        return 0.0
    if alpha <= 1e-9 * bound:
        return max(-g, 0.0)
    if alpha >= (1 - 1e-9) * bound:
        return max(g, 0.0)
    return abs(g)
