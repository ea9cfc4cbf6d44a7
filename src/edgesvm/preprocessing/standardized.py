"""Standardized: a running standardizer in front of a learner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgesvm.contract.registry import registered
from edgesvm.preprocessing._standardized import StandardizedCore
from edgesvm.preprocessing.scaler import Scaler

__all__ = ["Standardized"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class Standardized(Scaler):
    """Scale each feature to mean 0 and standard deviation 1, with running statistics, and learn the
    scaled sample.

    Raw sensor features differ in scale (lux in thousands, humidity in thousandths); a ball or a
    kernel sees only the largest. The statistics are in the arena, and so part of the budget and of
    the snapshot.

    Parameters
    ----------
    learner : Learner, default FourierSVM()
        Only its parameters are used; it is not changed.

    Attributes
    ----------
    mean_, scale_ : ndarray of shape (n_features,), float64
    learner_ : Learner
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    A sample is scaled once, by the statistics up to and including itself. Samples learned early
    were therefore scaled by less accurate statistics. ``fit`` is one pass, even if the learner's
    own makes several. Bytes: n_features (16 + s) in addition to the learner's, s = 4 or 8.

    A single value far out of range widens a feature's deviation for a long time, and its ordinary
    values then hardly differ: `RobustStandardized` is for sensors with such spikes.

    Examples
    --------
    >>> from edgesvm import Standardized, StreamSVM
    >>> Standardized.within("2KiB", n_features=5, learner=StreamSVM()).learner
    StreamSVM(lookahead=8)
    """

    _compiled = StandardizedCore

    def _statistics(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        return [("mean", "f8", (n_features,)), ("spread", "f8", (n_features,))]

    @property
    def mean_(self) -> np.ndarray:
        """Mean of each feature, ndarray of shape (n_features,), float64; a copy."""
        return self._allocated.views["mean"].copy()

    @property
    def center_(self) -> np.ndarray:
        """As ``mean_``."""
        return self.mean_

    @property
    def scale_(self) -> np.ndarray:
        """Standard deviation of each feature, ndarray of shape (n_features,), float64."""
        return np.sqrt(self._allocated.views["spread"] / self._n_learned)
