"""The rivals of `RobustStandardized`: running quartiles by the P-square algorithm (Jain & Chlamtac,
Communications of the ACM 28, 1985), and the running deviation with clipping, for all features at
once.

P-square for the median keeps five markers, at the least, the greatest and the three quartiles. The
greatest may be a spike, and the upper quartile is interpolated towards it. `fence` holds the outer
markers to a multiple of the quartile distance (of the markers' whole range, where that is 0) beyond
the quartiles.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

NORMAL = 1.349  # quartile distance of a normal feature, in deviations
FENCE = 3.0
LEVELS = np.linspace(0, 1, 5)[:, None]

Statistics = tuple[np.ndarray, np.ndarray]  # center and scale of each feature


def quartiles(X: np.ndarray, fence: float | None = FENCE) -> Iterator[np.ndarray]:
    """Running quartiles (3, n_features) after each row of X."""
    height = np.sort(X[:5], axis=0)
    rank = np.tile(np.arange(1.0, 6.0)[:, None], X.shape[1])
    for n in range(1, 5):
        yield np.quantile(X[:n], LEVELS[1:4, 0], axis=0)
    yield height[1:4]
    for n, row in enumerate(X[5:], start=6):
        x = row
        if fence is not None:
            width = height[3] - height[1]
            width = fence * np.where(width > 0, width, height[4] - height[0])
            low, high = height[1] - width, height[3] + width
            low, high = np.where(width > 0, [low, high], [[-np.inf], [np.inf]])
            x = np.clip(x, low, high)
            height[0], height[4] = np.maximum(height[0], low), np.minimum(height[4], high)
        height[0], height[4] = np.minimum(height[0], x), np.maximum(height[4], x)
        rank[1:4] += x < height[1:4]
        rank[4] = n
        wanted = 1 + LEVELS * (n - 1)
        for i in (1, 2, 3):
            move(height, rank, i, wanted[i])
        yield height[1:4]


def move(height: np.ndarray, rank: np.ndarray, i: int, wanted: np.ndarray) -> None:
    """Move marker i by one rank towards the wanted one: by a parabola, else linearly."""
    off = wanted - rank[i]
    up = (off >= 1) & (rank[i + 1] - rank[i] > 1)
    down = (off <= -1) & (rank[i] - rank[i - 1] > 1)
    step = up.astype(float) - down
    if not step.any():
        return
    below, above = rank[i] - rank[i - 1], rank[i + 1] - rank[i]
    rise = (height[i + 1] - height[i]) / above
    fall = (height[i] - height[i - 1]) / below
    curved = height[i] + step / (below + above) * ((below + step) * rise + (above - step) * fall)
    straight = height[i] + step * np.where(up, rise, fall)
    inside = (height[i - 1] < curved) & (curved < height[i + 1])
    height[i] = np.where(step != 0, np.where(inside, curved, straight), height[i])
    rank[i] += step


def by_deviation(X: np.ndarray) -> Iterator[Statistics]:
    """Running mean and deviation, by Welford's recurrence."""
    mean, spread = np.zeros((2, X.shape[1]))
    for n, x in enumerate(X, start=1):
        delta = x - mean
        mean = mean + delta / n
        spread = spread + delta * (x - mean)
        yield mean, np.sqrt(spread / n)


def by_quartiles(X: np.ndarray) -> Iterator[Statistics]:
    """Running median and quartile distance; mean and deviation where the quartiles are equal."""
    for (low, median, high), (mean, deviation) in zip(quartiles(X), by_deviation(X), strict=True):
        scale = (high - low) / NORMAL
        yield np.where(scale > 0, median, mean), np.where(scale > 0, scale, deviation)


def scaled(
    X: np.ndarray, X_test: np.ndarray, running: Iterator[Statistics], clip: float
) -> tuple[np.ndarray, np.ndarray]:
    """Each row by the statistics up to and including itself, the test rows by the last; clipped."""

    def standard(rows: np.ndarray, statistics: Statistics) -> np.ndarray:
        center, scale = statistics
        z = np.divide(rows - center, scale, out=np.zeros(rows.shape), where=scale > 0)
        return np.clip(z, -clip, clip).astype(np.float32)

    learned = np.empty(X.shape, np.float32)
    for x, out, last in zip(X, learned, running, strict=True):
        out[:] = standard(x, last)
    return learned, standard(X_test, last)
