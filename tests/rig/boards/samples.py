"""Samples that reach every corner of an exported model's arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike, NDArray

# Rows, class indices, weights
Samples = tuple[NDArray[np.floating], NDArray[np.int8], NDArray[np.float64]]


def hard_samples(
    n: int, n_features: int, dtype: DTypeLike, seed: int, classes: Sequence[int] = (0, 1)
) -> Samples:
    """Rows of all sizes, with zeros, subnormal numbers, NaN, infinities and huge ones; class
    indices; weights, some of them 0, tiny, huge or useless."""
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
