"""Scalers: a learner behind running statistics of its features, in one arena."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from edgesvm.budget import NOT_NEGATIVE, SCRATCH, Table
from edgesvm.contract.params import among, optional, param, positive, within
from edgesvm.contract.registry import registered
from edgesvm.learner import Learner
from edgesvm.learners.wrapper import Shell
from edgesvm.preprocessing._standardized import RobustStandardizedCore, StandardizedCore

__all__ = ["RobustStandardized", "Standardized"]

MOST_SCALED = 1 << 53  # counted in float64 without rounding
NORMAL = 1.4826  # the deviation of a normal feature, in units of its median distance


@dataclass(kw_only=True, eq=False, repr=False)
class Scaler(Shell):
    """Base of learners that scale each feature by running statistics and learn the scaled sample.

    A subclass adds `_statistics`, `center_` and `scale_`.
    """

    _of_classes = False

    def _statistics(self, n_features: int) -> Table:
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

    def _arrays(self, n_features: int) -> Table:
        scaled = ("scaled", self.dtype, (n_features,), SCRATCH)
        return [*self._statistics(n_features), scaled, *self.inner._arrays(n_features)]

    @property
    def _n_learned(self) -> int:
        """Samples learned, at least 1."""
        return max(int(self.core.views["n_per_class"].sum()), 1)


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class Standardized(Scaler):
    """Scale each feature to mean 0 and standard deviation 1, with running statistics, and learn the
    scaled sample.

    The statistics are in the arena, and so part of the budget and of the snapshot.

    Parameters
    ----------
    learner : Learner, default ByteSVM()
        Only its parameters are used; it is not changed.
    until : int, optional
        The statistics are those of the first `until` samples learned, and then stay. None: they are
        those of all. Models that went on from one whose statistics stay can be merged, whatever
        the learner (`edgesvm.fleet`).
    clip : float or None, default 16.0
        Largest size of a scaled value, in deviations, > 0; and a value is learned as if it were at
        most b deviations away, see below. None limits neither: one spike then spoils the scale.

    missing : {"refuse", "mean"}, default "refuse"
        What becomes of a sample with a feature that is NaN: it is refused, or the feature counts as
        its mean so far, and in `n_missing_`.

    Notes
    -----
    A sample is scaled once, by the statistics up to and including itself. Samples learned early
    were therefore scaled by less accurate statistics. ``fit`` is `Learner.fit`, whatever the
    learner's own. Bytes: n_features (16 + s) in addition to the learner's, s = 4 or 8; with
    `until` 8 more, with `clip` 8 more, with missing="mean" 8 + n_features s more.

    A value x, the n-th, changes mean m and variance v of its feature as in Welford's recurrence,
    but that it counts as at most b deviations away::

        d = min(max(x - m, -b sqrt(v)), b sqrt(v)),   m += d / n,   v = (1 - 1/n) (v + d^2 / n)
        b = clip min(1/2 + n / 800, 2)

    So the n-th value multiplies the variance by at most 1 + b^2 / n. Of the first three values, one
    that both others are 12 b times as far from as from each other is forgotten. A feature that has
    not varied has no scale yet: its first other value counts in full. Where values far out come
    more often than once in b^2 samples (1,024), or ten in a row, they become part of the scale:
    `RobustStandardized` stands them.

    Examples
    --------
    >>> from edgesvm import Standardized, StreamSVM
    >>> Standardized.within("2KiB", n_features=5, learner=StreamSVM()).learner
    StreamSVM(lookahead=8)
    """

    _compiled = StandardizedCore
    _absent: ClassVar[Mapping[str, Any]] = {"until": None, "clip": None, "missing": "refuse"}

    until: int | None = param(None, optional(within(1, MOST_SCALED)))
    clip: float | None = param(16.0, optional(positive))
    missing: str = param("refuse", among("refuse", "mean"))

    def _statistics(self, n_features: int) -> Table:
        counts = {"n_scaled": self.until, "far_out": self.clip}
        table: Table = [
            ("mean", "f8", (n_features,)),
            ("spread", "f8", (n_features,), NOT_NEGATIVE),
            *((name, "i8", ()) for name, given in counts.items() if given is not None),
        ]
        if self.missing == "mean":
            table += [("n_missing", "i8", ()), ("complete", self.dtype, (n_features,), SCRATCH)]
        return table

    @property
    def mean_(self) -> np.ndarray:
        """Mean of each feature, ndarray of shape (n_features,), float64; a copy."""
        return self.core.views["mean"].copy()

    @property
    def center_(self) -> np.ndarray:
        """As ``mean_``."""
        return self.mean_

    @property
    def scale_(self) -> np.ndarray:
        """Standard deviation of each feature, ndarray of shape (n_features,), float64."""
        return np.sqrt(self.core.views["spread"] / max(self.n_scaled_, 1))

    @property
    def n_scaled_(self) -> int:
        """Samples that the statistics are of."""
        views = self.core.views
        return int(views["n_per_class"].sum() if self.until is None else views["n_scaled"])

    @property
    def far_out_(self) -> int:
        """Samples learned after the first 10 with a value far out; 0 without `clip`."""
        return int(self.core.views.get("far_out", 0))

    @property
    def n_missing_(self) -> int:
        """Values of the samples learned that were NaN; 0 with missing="refuse"."""
        return int(self.core.views.get("n_missing", 0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "mean"
        return tags


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class RobustStandardized(Scaler):
    """Scale each feature by its running median and median distance, clip it, and learn the scaled
    sample: as `Standardized`, for sensors whose values are now and then far out of range.

    A row moves each statistic by a step that does not depend on how far out it is.

    Parameters
    ----------
    learner : Learner, default ByteSVM()
        Only its parameters are used; it is not changed.
    clip : float or None, default 5.0
        Largest size of a scaled value, in scales, > 0. None does not clip: then a spike is learned
        with the size it has.

    Notes
    -----
    Of each feature three numbers are kept: the center, an estimate of the median; how many samples
    lay apart from it; and an estimate of the median distance of those. The n-th sample moves the
    center by at most 2 distance / n, and the distance by a factor of at most 1 + 2 / n_apart. The
    scale is 1.4826 distance sqrt(n_apart / n), the standard deviation of a normal
    feature. Bytes: n_features (24 + s) in addition
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

    clip: float | None = param(5.0, optional(positive))

    def _statistics(self, n_features: int) -> Table:
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
