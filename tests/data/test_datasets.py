"""The synthetic sets: their moments and labels."""

from itertools import islice
from math import sqrt

import numpy as np
import pytest
from each import each

from edgesvm.data import SETS, Checkerboard, Gauss, RingNorm, TwoNorm, Waveform

A = 2 / sqrt(20)


@each("name", SETS)
def test_rows_are_of_the_stated_kind(name):
    source = SETS[name](seed=3)
    X, y = source.read(6000)
    assert X.shape == (6000, source.n_features) and X.dtype == np.float32
    assert y.shape == (6000,) and y.dtype == np.int32
    classes, counts = np.unique(y, return_counts=True)
    assert list(classes) == ([0, 1, 2] if name == "waveform" else [-1, 1])
    expected = 6000 / source.n_classes
    assert abs(counts - expected).max() < 5 * sqrt(expected)


def test_switched_labels_do_not_depend_on_the_cutting_and_leave_the_rows_alone():
    X, y = Checkerboard(seed=5, flip=0.15).read(20_000)
    parts = list(islice(Checkerboard(seed=5, flip=0.15).chunks(800), 25))
    np.testing.assert_array_equal(y, np.concatenate([part.y for part in parts]))
    X_clean, y_clean = Checkerboard(seed=5).read(20_000)
    np.testing.assert_array_equal(X, X_clean)
    assert abs(np.mean(y != y_clean) - 0.15) < 5 * sqrt(0.15 * 0.85 / 20_000)


def test_checkerboard_is_uniform_and_alternates():
    X, y = Checkerboard(seed=0).read(100_000)
    assert X.min() >= 0 and X.max() < 4
    np.testing.assert_allclose(X.mean(axis=0), 2, atol=0.02)
    np.testing.assert_allclose(X.var(axis=0), 16 / 12, atol=0.02)
    column, row = np.floor(X).astype(int).T
    assert len(np.unique(4 * column + row)) == 16
    np.testing.assert_array_equal(y == -1, column % 2 != row % 2)


@each(
    "source, means, deviations",
    [
        (Gauss(1), ([2, 0], [0, 0]), (2, 1)),
        (TwoNorm(1), ([-A] * 20, [A] * 20), (1, 1)),
        (RingNorm(1), ([0] * 20, [A] * 20), (2, 1)),
        (RingNorm(1, centre=1.0), ([1] * 20, [A] * 20), (2, 1)),
    ],
)
def test_moments_of_the_gaussian_sets(source, means, deviations):
    X, y = source.read(100_000)
    for label, mean, deviation in zip((-1, 1), means, deviations, strict=True):
        of_class = X[y == label].astype(float)
        np.testing.assert_allclose(of_class.mean(axis=0), mean, atol=0.05)
        covariance = np.cov(of_class.T)
        np.testing.assert_allclose(
            covariance, deviation**2 * np.eye(source.n_features), atol=0.03 * deviation**2
        )


def test_waveform_lies_on_its_triangles_and_its_best_classifier_is_right_on_86_percent():
    i = np.arange(1, 22)
    triangles = [np.maximum(6 - abs(i - centre), 0) for centre in (11, 15, 7)]
    pairs = [(0, 1), (0, 2), (1, 2)]
    X, y = Waveform(4).read(30_000)
    shares = (np.arange(100) + 0.5) / 100
    likelihood = []
    for label, (a, b) in enumerate(pairs):
        mean = (triangles[a] + triangles[b]) / 2
        np.testing.assert_allclose(X[y == label].mean(axis=0), mean, atol=0.1)
        waves = np.outer(shares, triangles[a]) + np.outer(1 - shares, triangles[b])
        squares = ((X**2).sum(axis=1)[:, None] - 2 * X @ waves.T) + (waves**2).sum(axis=1)
        likelihood.append(np.exp(-0.5 * squares).sum(axis=1))
    assert np.mean(np.argmax(likelihood, axis=0) == y) == pytest.approx(0.86, abs=0.01)


@pytest.mark.parametrize("flip", [-0.1, 0.6, float("nan")])
def test_a_share_of_switched_labels_that_is_none_is_refused(flip):
    with pytest.raises(ValueError, match="flip"):
        Gauss(flip=flip)
