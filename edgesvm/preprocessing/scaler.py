"""Base of the scalers: a learner behind running statistics of its features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgesvm.budget import SCRATCH
from edgesvm.learner import Learner
from edgesvm.preprocessing.stage import Arrays, Stage


@dataclass(kw_only=True, eq=False, repr=False)
class Scaler(Stage):
    """Base of learners that scale each feature by running statistics and learn the scaled sample.

    A subclass adds `_statistics`, `center_` and `scale_`.
    """

    def _statistics(self, n_features: int) -> Arrays:
        """The arrays of the statistics, (name, dtype, shape)."""
        raise NotImplementedError

    @property
    def center_(self) -> np.ndarray:
        """What is subtracted from each feature, ndarray of shape (n_features,), float64; a copy."""
        raise NotImplementedError

    @property
    def scale_(self) -> np.ndarray:
        """What each feature is divided by, ndarray of shape (n_features,), float64."""
        raise NotImplementedError

    def _wraps(self, inner: Learner) -> bool:
        return not isinstance(inner, Scaler)

    def _own_arrays(self, n_features: int) -> Arrays:
        return [*self._statistics(n_features), ("scaled", self.dtype, (n_features,), SCRATCH)]

    @property
    def _n_learned(self) -> int:
        """Samples learned, at least 1."""
        return max(int(self.core.views["n_per_class"].sum()), 1)
