"""Samples that reach every corner of an exported model's arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

# Rows, class indices or targets, weights
Samples = tuple[NDArray[np.floating], NDArray[Any], NDArray[np.float64]]


def hard_samples(
    n: int, n_features: int, dtype: DTypeLike, seed: int, classes: Sequence[int] | None = (0, 1)
) -> Samples:
    """Rows of all sizes, with zeros, subnormal numbers, NaN, infinities and huge ones; class
    indices, or targets if there are no classes; weights, some of them 0, tiny, huge or useless."""
    if classes is None:
        X, _, weights = hard_samples(n, n_features, dtype, seed)
        y = hard_targets(X, seed)
        X[::29, seed % n_features] = np.nan
        return X, y, weights
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features)) * 10.0 ** rng.integers(-2, 3, n_features)
    n_classes = len(classes)
    towards = X[:, 0] / X[:, 0].std() + 0.7 * rng.standard_normal(n)
    slots = np.digitize(towards, np.linspace(-1, 1, n_classes + 1)[1:-1]).astype(np.int8)
    X = X.astype(dtype)
    tiny = X.dtype.type(1e-42 if X.dtype == np.float32 else 1e-312)
    X[rng.random(n) < 0.01] = 0
    X[rng.random((n, n_features)) < 0.02] *= tiny
    for value in (np.nan, np.inf, np.finfo(dtype).max, -np.finfo(dtype).max):
        X[rng.random(n) < 0.002, rng.integers(n_features)] = value
    if tuple(classes) == (-1, 1):  # of a novelty learner, which learns what is normal
        slots[:] = 1
    weights = np.where(rng.random(n) < 0.8, 1.0, rng.integers(0, 9, n) / 2.0)
    odd = rng.random(n) < 0.01
    weights[odd] = rng.choice([1e-300, 1e-12, 1e9, -1.0, np.nan, np.inf], odd.sum())
    return np.ascontiguousarray(X), slots, weights


def hard_targets(X: NDArray[np.floating], seed: int) -> NDArray[np.float64]:
    """Targets that follow the first feature and the one before, with jumps of level and size, runs
    of one value, far ones, and NaN, infinities, subnormal and huge ones."""
    rng, n = np.random.default_rng(seed + 1), len(X)
    y = np.nan_to_num(X[:, 0].astype(float), posinf=0.0, neginf=0.0).clip(-1e3, 1e3)
    noise = rng.standard_normal(n)
    for i in range(1, n):
        noise[i] += 0.8 * noise[i - 1]
    sizes = 10.0 ** rng.integers(-1, 2, n // 100 + 1)
    levels = rng.choice([0.0, 0.0, 10.0, -30.0], n // 300 + 1)
    y = (y / (y.std() or 1.0) + noise) * np.repeat(sizes, 100)[:n] + np.repeat(levels, 300)[:n]
    y[n // 3 : n // 3 + 30] = 7.5
    y[rng.random(n) < 0.002] *= 300.0
    for value in (np.nan, np.inf, -1e120, 5e-324, -0.0):
        y[rng.random(n) < 0.003] = value
    y[[-n // 20, -n // 30]] = -3e98, 1e100  # after which all others are alike
    return y
