"""Forecaster: the target some samples ahead, from the inputs and targets up to now."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.contract.inputs import as_floats
from edgesvm.contract.params import whole
from edgesvm.contract.registry import also_loaded
from edgesvm.core.constants import LARGEST_TARGET
from edgesvm.core.status import Status
from edgesvm.errors import CorruptModelError, refusal
from edgesvm.learner import Learner
from edgesvm.learners.regression.fourier_svr import FourierSVR
from edgesvm.preprocessing.standardized import Standardized
from edgesvm.series.joined import Arrays, Joined

__all__ = ["Forecaster"]

MOST_AHEAD = 1 << 16
UNKNOWN = (math.nan, math.nan, math.nan)


@also_loaded
@dataclass(kw_only=True, eq=False)
class Forecaster(Joined):
    """Forecast the target `ahead` samples from now, with an interval, in fixed bytes.

    It is no `Learner`: each sample is pushed once, in order, with the target that belongs to it.
    The regressor gets the sample, the last targets and, with `season`, the target one season before
    the one to be forecast and where in the season that is. It learns what the target will have
    changed by, as soon as that is known.

    Parameters
    ----------
    learner : Learner, default Standardized(learner=FourierSVR(), missing="mean")
        A regressor of a stream. Only its parameters are used; `label_delay` follows from `ahead`.
    ahead : int, default 1
        Number of samples from now to the target that is forecast, 1 to 65,536.
    lags : int, default 6
        Number of last targets that the regressor gets, at least 1.
    season : int, default 0
        Samples after which the target tends to be alike, such as 168 for a week of hours; 0: none.

    Attributes
    ----------
    learner_ : Learner, in this memory
    n_seen_ : int, samples pushed
    coverage_ : float, share of the targets that lay within the interval of their forecast

    Notes
    -----
    Bytes: those of the regressor, and 8 (max(lags, season) + 5 ahead + 2) + s width ahead, where
    width = n_inputs + lags, 3 more with `season`, and s = 4 or 8.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import Forecaster
    >>> model = Forecaster(ahead=3, season=24).fitted_into("8KiB", n_inputs=0).allocate(n_inputs=0)
    >>> y = 20 + 5 * np.sin(np.arange(3000) * np.pi / 12)
    >>> forecasts = [model.push((), target) for target in y]
    >>> bool(abs(forecasts[-4][0] - y[-1]) < 0.2)
    True
    """

    learner: Learner | None = None
    ahead: int = 1
    lags: int = 6
    season: int = 0

    _grows = "learner"

    def _parts(self, n_inputs: int) -> dict[str, tuple[Learner, int]]:
        given = self.learner
        if given is None:
            given = Standardized(learner=FourierSVR(), missing="mean")
        if not isinstance(given, Learner) or not given.forecasts:
            raise ValueError(
                f"learner={given!r}: give a regressor of a stream, such as FourierSVR()"
            )
        whole("ahead", self.ahead, 1, MOST_AHEAD)
        whole("lags", self.lags, 1, MOST_AHEAD)
        whole("season", self.season, 0, MOST_AHEAD)
        whole("n_inputs", n_inputs, 0, MOST_AHEAD)
        if 0 < self.season < self.ahead:
            raise ValueError(
                f"season={self.season}: give at least ahead={self.ahead}, or a multiple of the"
                " season; the target one season before must be known"
            )
        learner = given.like_new()
        [delay] = [name for name in learner.get_params() if name.endswith("label_delay")]
        learner.set_params(**{delay: self.ahead - 1})
        return {"learner": (learner, n_inputs + self.lags + (3 if self.season else 0))}

    def _own_arrays(self, n_inputs: int) -> Arrays:
        learner, width = self._parts(n_inputs)["learner"]
        return [
            ("n_pushed", "i8", ()),
            ("n_known", "i8", ()),  # targets known since the last gap
            ("targets", "f8", (max(self.lags, self.season),)),  # at their number, modulo its length
            ("origin", "f8", (self.ahead,)),  # what a forecast is a change of
            ("issued", "f8", (self.ahead, 3)),
            ("waits", "i8", (self.ahead,)),  # 1: its target is not known yet; 2: it was forecast
            ("waiting", learner.dtype, (self.ahead, width)),
        ]

    def _check(self) -> None:
        views = self._views
        if not np.isfinite(views["targets"]).all() or not np.isfinite(views["origin"]).all():
            raise CorruptModelError("a target is not finite")
        if views["n_known"] > views["n_pushed"] or (views["waits"] > 2).any():
            raise CorruptModelError("the forecaster's counters are inconsistent")

    # -- samples -----------------------------------------------------------------------------------

    def push(self, x: ArrayLike, y: float | None) -> tuple[float, float, float]:
        """Take in the next sample: learn from its target and the forecast of it, and forecast.

        Parameters
        ----------
        x : array of shape (n_inputs,)
            The sample: what is known now. NaN counts as the mean where the learner says so.
        y : float or None
            Its target; None or NaN if it is missing, which is then taken to be as before.

        Returns
        -------
        value, low, high : float
            Of the target of the sample `ahead` later; NaN as long as nothing has been learned.

        Raises
        ------
        SampleRefused
            A value is infinite, or a feature NaN that may not be; the sample is not taken in.
        """
        if self._arena is None:
            self.allocate(np.size(x))
        views, learner = self._views, self.learner_
        row = np.empty(0)
        if self.n_features_in_:
            row = as_floats(x, learner.core.dtype, 1, self.n_features_in_, type(self).__name__)
        target = math.nan if y is None else float(y)
        known = not math.isnan(target)
        self._check_sample(row, target if known else 0.0)
        at = int(views["n_pushed"]) % self.ahead
        if known and views["waits"][at]:
            issued = tuple(views["issued"][at].tolist()) if views["waits"][at] == 2 else None
            learner.learn_late_one(views["waiting"][at], target - views["origin"][at], issued)
        views["waits"][at] = 0
        self._note_target(target if known else self._target_before(0))
        views["n_pushed"] += 1
        return self._forecast(at, row)

    def _check_sample(self, x: np.ndarray, y: float) -> None:
        """Raise SampleRefused for what the learner would refuse, before anything has changed."""
        status = Status.UNCHANGED
        if np.isinf(x).any() or (np.isnan(x).any() and not self._stands_nan):
            status = Status.NOT_FINITE
        elif not abs(y) <= LARGEST_TARGET:
            status = Status.BAD_TARGET
        if status > Status.CHANGED:
            raise refusal(status, f"{type(self).__name__}: the sample", self.learner_.dtype, ())

    @property
    def _stands_nan(self) -> bool:
        return getattr(self.learner_, "missing", "refuse") == "mean"

    def _note_target(self, y: float) -> None:
        """Put down the target of the sample at hand; the first stands for those before it."""
        views = self._views
        if views["n_known"] == 0:
            views["targets"][:] = y
        views["targets"][int(views["n_pushed"]) % len(views["targets"])] = y
        views["n_known"] += 1

    def _target_before(self, n: int) -> float:
        """The target of n samples before the last one pushed."""
        targets = self._views["targets"]
        return float(targets[(int(self._views["n_pushed"]) - 1 - n) % len(targets)])

    def _forecast(self, at: int, x: np.ndarray) -> tuple[float, float, float]:
        """Forecast from the sample just pushed, and have it wait for its target."""
        views, learner = self._views, self.learner_
        row = views["waiting"][at]
        d = len(x)
        row[:d] = x
        row[d : d + self.lags] = [self._target_before(n) for n in range(self.lags)]
        if self.season:
            angle = 2 * math.pi * ((int(views["n_pushed"]) + self.ahead) / self.season % 1.0)
            row[-3:] = (
                self._target_before(self.season - self.ahead),
                math.cos(angle),
                math.sin(angle),
            )
        origin = views["origin"][at] = self._target_before(0)
        views["waits"][at] = 1
        if not learner.is_fitted:
            return UNKNOWN
        views["issued"][at] = issued = learner.forecast_one(row)
        views["waits"][at] = 2
        value, low, high = (float(origin + part) for part in issued)
        return value, low, high

    def gap(self) -> None:
        """Samples are missing here: no target is that of a forecast made before."""
        if self._arena is not None:
            self._views["waits"][:] = 0
            self._views["n_known"][...] = 0

    @property
    def n_seen_(self) -> int:
        return int(self._views["n_pushed"])

    @property
    def coverage_(self) -> float:
        coverage: float = self.learner_.coverage_
        return coverage
