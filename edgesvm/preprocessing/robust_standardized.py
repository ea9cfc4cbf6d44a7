"""RobustStandardized: a running median and median distance in front of a learner."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from edgesvm.contract.params import positive
from edgesvm.contract.registry import registered
from edgesvm.preprocessing._robust_standardized import RobustStandardizedCore
from edgesvm.preprocessing.scaler import Scaler

__all__ = ["RobustStandardized"]

NORMAL = 1.4826  # the deviation of a normal feature, in units of its median distance


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class RobustStandardized(Scaler):
    """Scale each feature by its running median and median distance, clip it, and learn the scaled
    sample: as `Standardized`, for sensors whose values are now and then far out of range.

    Seven such rows in 15,000 leave a mean and a deviation in which the other rows hardly differ.
    Here a row moves each statistic by a step that does not depend on how far out it is.

    Parameters
    ----------
    learner : Learner, default ByteSVM()
        Only its parameters are used; it is not changed.
    clip : float or None, default 5.0
        Largest size of a scaled value, in scales, > 0. None does not clip: then a spike is learned
        with the size it has.

    Attributes
    ----------
    center_, scale_ : ndarray of shape (n_features,), float64
    learner_ : Learner
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Of each feature three numbers are kept: the center, an estimate of the median; how many samples
    lay apart from it; and an estimate of the median distance of those. The n-th sample moves the
    center by at most 2 distance / n, and the distance by a factor of at most 1 + 2 / n_apart. The
    scale is 1.4826 distance sqrt(n_apart / n): the standard deviation of a normal feature, and 1.5
    to 2.3 times that of one that is 0 in most samples and else 1, whose quartiles would be equal.
    With equally frequent values, either can be the center. Bytes: n_features (24 + s) in addition
    to the learner's, s = 4 or 8.

    Weights do not change the statistics, except that a sample of weight zero is ignored. ``fit`` is
    `Learner.fit`, whatever the learner's own.

    Examples
    --------
    >>> from edgesvm import RobustStandardized, StreamSVM
    >>> RobustStandardized.within("2KiB", n_features=5, learner=StreamSVM()).learner
    StreamSVM(lookahead=8)
    """

    _compiled = RobustStandardizedCore

    clip: float | None = 5.0

    def _check_params(self) -> None:
        super()._check_params()
        if self.clip is not None:
            positive("clip", self.clip)

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return {"clip": math.inf if self.clip is None else float(self.clip)}

    def _statistics(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        return [
            ("center", "f8", (n_features,)),
            ("distance", "f8", (n_features,)),
            ("n_apart", "i8", (n_features,)),
        ]

    @property
    def center_(self) -> np.ndarray:
        """Running median of each feature, ndarray of shape (n_features,), float64; a copy."""
        return self.core.views["center"].copy()

    @property
    def scale_(self) -> np.ndarray:
        """What each feature is divided by, ndarray of shape (n_features,), float64."""
        views = self.core.views
        return NORMAL * views["distance"] * np.sqrt(views["n_apart"] / self._n_learned)
