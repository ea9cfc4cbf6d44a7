"""Standardized: a running standardizer in front of a learner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from edgesvm.contract.params import whole
from edgesvm.contract.registry import registered
from edgesvm.preprocessing._standardized import StandardizedCore
from edgesvm.preprocessing.scaler import Scaler

__all__ = ["Standardized"]

MOST_SCALED = 1 << 53  # counted in float64 without rounding


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
    until : int, optional
        The statistics are those of the first `until` samples learned, and then stay. None: they are
        those of all. Models whose statistics stay can be merged whatever the learner
        (`edgesvm.fleet.start`).

    Attributes
    ----------
    mean_, scale_ : ndarray of shape (n_features,), float64
    n_scaled_ : int, samples that these are of
    learner_ : Learner
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    A sample is scaled once, by the statistics up to and including itself. Samples learned early
    were therefore scaled by less accurate statistics. ``fit`` is one pass, even if the learner's
    own makes several. Bytes: n_features (16 + s) in addition to the learner's, s = 4 or 8; with
    `until` 8 more.

    A single value far out of range widens a feature's deviation for a long time, and its ordinary
    values then hardly differ: `RobustStandardized` is for sensors with such spikes.

    Examples
    --------
    >>> from edgesvm import Standardized, StreamSVM
    >>> Standardized.within("2KiB", n_features=5, learner=StreamSVM()).learner
    StreamSVM(lookahead=8)
    """

    _compiled = StandardizedCore
    _absent: ClassVar[Mapping[str, Any]] = {"until": None}

    until: int | None = None

    def _check_params(self) -> None:
        super()._check_params()
        if self.until is not None:
            whole("until", self.until, 1, MOST_SCALED)

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return {"until": None if self.until is None else int(self.until)}

    def _statistics(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        count: list[tuple[str, str, tuple[int, ...]]] = [("n_scaled", "i8", ())]
        return [
            ("mean", "f8", (n_features,)),
            ("spread", "f8", (n_features,)),
            *([] if self.until is None else count),
        ]

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
