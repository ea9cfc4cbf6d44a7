"""Statistics of features, merged: Chan, Golub & LeVeque, "Algorithms for Computing the Sample
Variance" (1983), eq. 2.1; and from one scale to another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgesvm.learner import Learner
from edgesvm.learners.byte.byte_svm import ByteSVM
from edgesvm.preprocessing.standardized import Standardized

STATISTICS = ("mean", "spread", "n_scaled")


class Scale:
    """z = (x - mean) / deviation, as a `Standardized` learner has it; 0 where the deviation is.

    Attributes
    ----------
    mean, deviation : ndarray of shape (n_features,), float64
    """

    def __init__(self, mean: np.ndarray, deviation: np.ndarray) -> None:
        self.mean, self.deviation = mean, deviation

    @classmethod
    def of(cls, statistics: Statistics) -> Scale:
        return cls(statistics.mean, np.sqrt(statistics.spread / statistics.n))

    def plane_in(self, other: Scale, weights: np.ndarray) -> np.ndarray:
        """The same hyperplanes in another scale; the last of `weights` (n, n_features + 1) is that
        of the constant.

        w.z + b = sum w (d' / d) z' + b + sum w (m' - m) / d
        """
        w = np.divide(
            weights[:, :-1],
            self.deviation,
            out=np.zeros((len(weights), len(self.mean))),
            where=self.deviation > 0,
        )
        constant = weights[:, -1] + w @ (other.mean - self.mean)
        return np.column_stack([w * other.deviation, constant])

    def points_in(self, other: Scale, points: np.ndarray) -> np.ndarray:
        """The same points in another scale, float64."""
        raw = points * self.deviation + self.mean - other.mean
        return np.divide(raw, other.deviation, out=np.zeros_like(raw), where=other.deviation > 0)


class Statistics(NamedTuple):
    """Number of samples, mean, and sum of squared deviations from it; (n_features,), float64."""

    n: int
    mean: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, learner: Standardized | ByteSVM) -> Statistics:
        if isinstance(learner, ByteSVM):
            n = int(learner.core.counts.sum())
            return cls(n, learner.mean_, learner.scale_**2 * n)
        views = learner.core.views
        return cls(learner.n_scaled_, views["mean"].copy(), views["spread"].copy())

    def and_of(self, other: Statistics) -> Statistics:
        """Of the samples of both.

        m = m_1 + (m_2 - m_1) n_2 / n,   S = S_1 + S_2 + (m_2 - m_1)^2 n_1 n_2 / n
        """
        apart, n = other.mean - self.mean, self.n + other.n
        return Statistics(
            n,
            self.mean + apart * (other.n / n),
            self.spread + other.spread + apart * apart * (self.n * (other.n / n)),
        )


def inner_of(learner: Any) -> Any:
    """The learner behind the standardizer; else the learner itself."""
    return learner.inner if isinstance(learner, Standardized) else learner


def is_one_scale(learner: Learner, other: Learner) -> bool:
    """Whether both scale by the same statistics, which stay as they are."""
    if not isinstance(learner, Standardized) or learner.until is None:
        return False
    mine, theirs = learner.core.views, other.core.views
    return learner.n_scaled_ >= learner.until and all(
        np.array_equal(mine[name], theirs[name]) for name in STATISTICS
    )
