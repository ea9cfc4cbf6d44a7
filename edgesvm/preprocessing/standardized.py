"""A learner behind running statistics of its features, in one arena."""

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
from edgesvm.preprocessing._standardized import StandardizedCore

__all__ = ["Standardized"]

FAR_OUT = 0xFFFFFFFF  # the bits of `far_out` that count
MOST_SCALED = 1 << 53  # counted in float64 without rounding


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class Standardized(Shell):
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
        Largest size of a scaled value, in deviations, > 0; and what is far out, see below. None
        limits neither: one spike then spoils the scale.
    missing : {"refuse", "mean"}, default "refuse"
        What becomes of a sample with a feature that is NaN: it is refused, or the feature counts as
        its mean so far, and in `n_missing_`.

    Notes
    -----
    A sample is scaled once, by the statistics up to and including itself. Samples learned early
    were therefore scaled by less accurate statistics. ``fit`` is `Learner.fit`, whatever the
    learner's own. Bytes: n_features (16 + s) in addition to the learner's, s = 4 or 8; with
    `until` 8 more, with `clip` 8 more, with missing="mean" 8 + n_features s more.

    A value more than 8 deviations from the mean is far out, and counts as 8 for mean and variance.
    A sample is stuck if its first value far out is that of the last sample that had one, as when a
    sensor drops out. Such values do not count, and the learner does not learn the sample, unless
    its class has not come twice as often as values far out: then they may be what tells the class.
    All this ends after 635 such samples in a row. A feature that is far out in 127 samples in a
    row, with values that vary, starts anew by the next 128, which the learner does not learn; from
    the 16th on its values do not count. (Features are told apart by their number modulo 8.)

    Of the first three values, one that both others are 96 times as far from as from each other is
    forgotten. A feature that has not varied has no scale yet: its first other value counts in full.

    Examples
    --------
    >>> from edgesvm import Standardized, StreamSVM
    >>> Standardized.within("2KiB", n_features=5, learner=StreamSVM()).learner
    StreamSVM(lookahead=8)
    """

    _compiled = StandardizedCore
    _of_classes = False
    _absent: ClassVar[Mapping[str, Any]] = {"until": None, "clip": None, "missing": "refuse"}

    until: int | None = param(None, optional(within(1, MOST_SCALED)))
    clip: float | None = param(16.0, optional(positive))
    missing: str = param("refuse", among("refuse", "mean"))

    def _wraps(self, inner: Learner) -> bool:
        return not isinstance(inner, Standardized)

    def _arrays(self, n_features: int) -> Table:
        counts = {"n_scaled": self.until, "far_out": self.clip}
        table: Table = [
            ("mean", "f8", (n_features,)),
            ("spread", "f8", (n_features,), NOT_NEGATIVE),
            *((name, "i8", ()) for name, given in counts.items() if given is not None),
        ]
        if self.missing == "mean":
            table += [("n_missing", "i8", ()), ("complete", self.dtype, (n_features,), SCRATCH)]
        scaled = ("scaled", self.dtype, (n_features,), SCRATCH)
        return [*table, scaled, *self.inner._arrays(n_features)]

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
        return int(self.core.views.get("far_out", 0)) & FAR_OUT

    @property
    def n_missing_(self) -> int:
        """Values of the samples learned that were NaN; 0 with missing="refuse"."""
        return int(self.core.views.get("n_missing", 0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "mean"
        return tags
