"""A plane in the dtype of the samples: parameters and arrays of the linear online learners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from edgesvm.contract.params import flag
from edgesvm.learner import Learner

Arrays = list[tuple[str, str, tuple[int, ...]]]


@dataclass(kw_only=True, eq=False, repr=False)
class LinearLearner(Learner):
    """Base of the linear online learners.

    Parameters
    ----------
    fit_intercept : bool, default True
        Add a constant feature 1.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and weights.
    class_weight : {None, "balanced"}, default None
        "balanced" multiplies a sample's weight by n / (2 n_k), where n samples and n_k of its class
        have been learned so far, the sample included.
    """

    _absent: ClassVar[Mapping[str, Any]] = {"class_weight": None}

    fit_intercept: bool = True
    dtype: str = "float32"
    class_weight: str | None = None

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return 0, 0

    def _check_params(self) -> None:
        flag("fit_intercept", self.fit_intercept)

    def _width(self, n_features: int) -> int:
        return n_features + bool(self.fit_intercept)

    def _arrays(self, n_features: int) -> Arrays:
        return [("ww", "f8", ()), ("w", self.dtype, (self._width(n_features),))]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return {"fit_intercept": bool(self.fit_intercept)}

    @property
    def coef_(self) -> np.ndarray:
        """Weights, ndarray of shape (1, n_features), a copy; positive for ``classes_[1]``."""
        core = self.core
        return core.labels.sign * core.views["w"][None, : core.n_features]

    @property
    def intercept_(self) -> np.ndarray:
        """Weight of the constant feature, ndarray of shape (1,)."""
        core = self.core
        if not self.fit_intercept:
            return np.zeros(1)
        return core.labels.sign * core.views["w"][core.n_features :]
