"""Statistics of features, merged: Chan, Golub & LeVeque, "Algorithms for Computing the Sample
Variance" (1983), eq. 2.1; and from one scale to another."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from edgesvm.fleet.pairs import Pair


class Scale:
    """z = (x - mean) / deviation, as a `Standardized` learner has it; 0 where the deviation is.

    Attributes
    ----------
    mean, deviation : ndarray of shape (n_features,), float64
    """

    def __init__(self, mean: np.ndarray, deviation: np.ndarray) -> None:
        self.mean, self.deviation = mean, deviation

    @classmethod
    def of(cls, views: Mapping[str, np.ndarray], n: int) -> Scale:
        return cls(views["mean"].copy(), np.sqrt(views["spread"] / n))

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


def merged_statistics(pair: Pair) -> dict[str, np.ndarray]:
    """Mean, and sum of squared deviations, of the samples of both.

    m = m_1 + (m_2 - m_1) n_2 / n,   S = S_1 + S_2 + (m_2 - m_1)^2 n_1 n_2 / n
    """
    (mine, theirs), (n_1, n_2) = pair.views(), pair.learned
    apart, n = theirs["mean"] - mine["mean"], n_1 + n_2
    return {
        "mean": mine["mean"] + apart * (n_2 / n),
        "spread": mine["spread"] + theirs["spread"] + apart * apart * (n_1 * (n_2 / n)),
    }
