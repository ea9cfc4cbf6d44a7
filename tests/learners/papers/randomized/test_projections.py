"""Theorems 1 to 3, in numbers."""

import math

import numpy as np
import pytest
from each import each

from edgesvm import BatchSVM, Linear, RandSVM
from edgesvm.learners.papers.randomized.projections import (
    estimated_support,
    orthogonal_extension,
    random_projection,
    support_for_margin,
)


def separable(n=40, width=600, seed=0):
    """Rows of norm at most 1 with labels of a hyperplane, far from it."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2 == 0
    X = rng.standard_normal((n, width)) / (2 * math.sqrt(width))
    X[:, 0] = np.where(y, 0.8, -0.8)
    return X / np.linalg.norm(X, axis=1).max(), y


def hard_margin(X, y):
    """(w, b, l): the hyperplane y (w.x + b) >= 1, and its margin 1 / |w|."""
    svm = BatchSVM(
        max_samples=len(X), kernel=Linear(), C=1e6, tol=1e-6, dtype="float64", max_iter=10**6
    ).fit(X, y)
    w = svm.dual_coef_[0] @ svm.support_vectors_
    return w, float(svm.intercept_[0]), 1.0 / np.linalg.norm(w)


def test_k_is_the_theorems():
    k = 8 / 0.3**2 * (1 + (1 + 2.0**2) / (2 * 0.7)) ** 2 * math.log(4 * 5000 / 0.1)
    assert support_for_margin(5000, 0.7, 2.0, loss=0.3, delta=0.1) == math.ceil(k)
    with_removed = support_for_margin(5000, 0.7, 2.0, loss=0.3, delta=0.1, n_removed=37)
    assert with_removed == math.ceil(k + 37), "theorem 3"
    assert support_for_margin(10, 1e-200) == 2**62


def test_equation_4_is_that_of_unit_norms():
    """With epsilon = loss / (1 + (1 + L^2) / 2 l), half of equation 4's k is that of Theorem 2."""
    epsilon = 0.4 / (1 + 2 / (2 * 0.25))
    of_theorem = support_for_margin(10**5, 0.25, loss=0.4)
    assert 2 * of_theorem == pytest.approx(estimated_support(10**5, epsilon, separable=True), abs=2)


def test_theorem_1():
    """The projected margin is at least (1 - loss) of the original one, as often as it says."""
    X, y = separable()
    _, _, margin = hard_margin(X, y)
    loss, delta = 0.5, 0.2
    k = support_for_margin(len(X), margin, loss=loss, delta=delta)
    kept = []
    for seed in range(10):
        R = random_projection(X.shape[1], k, seed)
        kept.append(hard_margin(X @ R / math.sqrt(k), y)[2] >= (1 - loss) * margin)
    assert np.mean(kept) >= 1 - delta
    few = random_projection(X.shape[1], 4, 1)
    assert hard_margin(X @ few / 2.0, y)[2] < (1 - loss) * margin, "it does not always hold"


@each("k", [5, 20])
def test_theorem_2(k):
    """The extension decides as the projected hyperplane does; at most k + 1 points define it."""
    X, y = separable(seed=1)
    R = random_projection(X.shape[1], k, seed=3)
    projected = X @ R / math.sqrt(k)
    w, b, _ = hard_margin(projected, y)
    f = X @ orthogonal_extension(w, R) + b
    np.testing.assert_allclose(f, projected @ w + b, rtol=1e-9, atol=1e-9)
    sign = np.where(y, 1.0, -1.0)
    assert (sign * f > 1 - 1e-4).all(), "the functional margin is kept"
    assert 2 <= (sign * f < 1 + 1e-4).sum() <= k + 1


def test_the_geometric_margin_of_an_extension():
    """Kept if R has orthogonal columns of norm sqrt(k); a Gaussian one loses sqrt(d / k)."""
    w, R = np.ones(20), random_projection(3000, 20, seed=0)
    orthogonal = math.sqrt(20) * np.linalg.qr(R)[0]
    norm = np.linalg.norm(w)
    assert np.linalg.norm(orthogonal_extension(w, orthogonal)) == pytest.approx(norm)
    gaussian = np.linalg.norm(orthogonal_extension(w, R))
    assert gaussian == pytest.approx(math.sqrt(3000 / 20) * norm, rel=0.1)


def test_rand_svm_stops_at_the_theorems_k():
    X, y = separable(width=5)
    k = support_for_margin(len(X), hard_margin(X, y)[2], loss=0.5)
    assert RandSVM(k=k).fit(X, y).k_ == k > len(X)


@each(
    "wrong",
    [{"margin": 0.0}, {"radius": -1.0}, {"loss": 1.0}, {"delta": 0.0}, {"n_removed": -1}],
)
def test_what_is_out_of_range_is_named(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=name):
        support_for_margin(10, **({"margin": 0.5} | wrong))
