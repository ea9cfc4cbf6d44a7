"""Predicting numbers, one sample after the other: what a regressor is asked and taught, and how its
answers are scored, in fixed memory."""

from __future__ import annotations

import math
from array import array
from typing import Any

import numpy as np

from edgesvm.learner import Learner
from edgesvm.learners.wrapper import innermost

Estimate = tuple[float, float, float]  # a predicted target, and the ends of its interval


class Estimates:
    """What a regressor says of the samples of one stream.

    A sample that follows the last one learned is forecast, which may use the target before; any
    other is predicted from its features alone.

    Parameters
    ----------
    learner : Learner
        A regressor.
    """

    def __init__(self, learner: Learner) -> None:
        self._learner: Any = learner
        self._has_intervals = hasattr(learner, "forecast_one")
        self._last: Estimate | None = None  # the last one issued
        self._asked = 0  # since the last one was learned
        self._follows = False
        self._n_seen = 0  # by the learner, after it was taught here: others may teach it too

    def ask(self, x: np.ndarray, *, follows: bool = True) -> Estimate | None:
        """Predict the target of one sample; None if nothing has been learned yet. `follows`: no
        sample is missing before it."""
        learner = self._learner
        follows = follows and self._follows and learner.n_seen_ == self._n_seen
        self._follows = False
        self._asked += 1
        if not learner.is_fitted:
            self._last = None
        elif not self._has_intervals:
            self._last = float(learner.predict_one(x)), math.nan, math.nan
        elif follows:
            self._last = learner.forecast_one(x)
        else:
            self._last = learner.predict_one(x), *learner.predict_interval_one(x)
        return self._last

    def learn(self, x: np.ndarray, y: float, weight: float, issued: Estimate | None) -> None:
        """Learn one sample. `issued` is what `ask` said of it; if it was asked for others since,
        the target has come late."""
        is_last = issued is self._last and (issued is not None or self._asked == 1)
        self._asked = 0
        if is_last or not self._has_intervals:
            self._learner.learn_one(x, y, weight)
        else:
            self._learner.learn_late_one(x, y, issued, weight)
        self._follows = is_last
        self._n_seen = self._learner.n_seen_


class Errors:
    """Sums of errors.

    Attributes
    ----------
    n : int
    squared : float
        Sum of the squared errors.
    """

    def __init__(self) -> None:
        self.n = 0
        self._absolute = self.squared = 0.0

    def add(self, error: float) -> None:
        self.n += 1
        self._absolute += abs(error)
        self.squared += error * error

    @property
    def mae(self) -> float | None:
        """Mean absolute error; None before the first."""
        return self._absolute / self.n if self.n else None

    @property
    def rmse(self) -> float | None:
        """Root of the mean squared error; None before the first."""
        return math.sqrt(self.squared / self.n) if self.n else None


class RegressionScore:
    """Errors of predicted targets and coverage of their intervals; and beside them the errors of
    answers that need no learner: the mean of the targets so far, the target before, and the target
    of one season before.

    Parameters
    ----------
    window : int
        Number of samples in the rolling error; takes 8 bytes each.
    season : int, default 0
        Samples from one season, such as a day, to the next; takes 8 bytes each. 0: none.
    coverage : float, optional
        Share of the targets that is asked to lie within the intervals.

    Attributes
    ----------
    n : int
        Number of predictions scored.
    mean_so_far, value_before, season_before : Errors
        Of the answers without a learner, from the second target on, or from the second season on.

    Examples
    --------
    >>> score = RegressionScore(window=2)
    >>> for target, value in ((1.0, 1.5), (2.0, 2.0), (4.0, 3.0)):
    ...     score.add(target, (value, value - 0.5, value + 0.5))
    >>> score.mae, score.value_before.mae, score.rolling
    (0.5, 1.5, 0.5)
    """

    def __init__(
        self,
        window: int = 1000,
        *,
        season: int = 0,
        coverage: float | None = None,
    ) -> None:
        if window < 1 or season < 0:
            raise ValueError(f"window={window} must be at least 1, season={season} at least 0")
        self._errors = Errors()
        self.window, self.season, self.coverage_asked = window, season, coverage
        self.mean_so_far, self.value_before, self.season_before = Errors(), Errors(), Errors()
        self.first: float | None = None  # mean absolute error of the first `window`
        self._recent = array("d", bytes(8 * window))
        self._targets = array("d", bytes(8 * max(season, 1)))  # the last ones
        self._mean = self._spread = 0.0  # of the targets; sum of squared deviations from it
        self._covered = self._intervals = 0
        self._width = 0.0

    def add(self, target: float, predicted: Estimate) -> None:
        """Score one prediction against the target."""
        value, low, high = predicted
        self._add_baselines(target)
        self._errors.add(target - value)
        self._recent[(self.n - 1) % self.window] = abs(target - value)
        if self.n == self.window:
            self.first = self.mae
        step = target - self._mean
        self._mean += step / self.n
        self._spread += step * (target - self._mean)
        if math.isfinite(width := high - low):
            self._intervals += 1
            self._covered += low <= target <= high
            self._width += width

    def _add_baselines(self, target: float) -> None:
        held = len(self._targets)
        if self.n:
            self.mean_so_far.add(target - self._mean)
            self.value_before.add(target - self._targets[(self.n - 1) % held])
        if self.season and self.n >= self.season:
            self.season_before.add(target - self._targets[(self.n - self.season) % held])
        self._targets[self.n % held] = target

    @property
    def n(self) -> int:
        return self._errors.n

    @property
    def mae(self) -> float | None:
        """Mean absolute error; None before the first."""
        return self._errors.mae

    @property
    def rmse(self) -> float | None:
        """Root of the mean squared error; None before the first."""
        return self._errors.rmse

    @property
    def rolling(self) -> float | None:
        """Mean absolute error over the last `window` predictions; None before the first."""
        n = min(self.n, self.window)
        return sum(self._recent[:n]) / n if n else None

    @property
    def r2(self) -> float | None:
        """1 - (squared errors) / (squared deviations of the targets from their mean)."""
        return 1 - self._errors.squared / self._spread if self._spread > 0 else None

    @property
    def coverage(self) -> float | None:
        """Share of the targets within their intervals; None before the first interval."""
        return self._covered / self._intervals if self._intervals else None

    @property
    def mean_width(self) -> float | None:
        """Mean width of the intervals; None before the first."""
        return self._width / self._intervals if self._intervals else None

    def summary(self) -> dict[str, Any]:
        """All results, for a JSON line."""
        found: dict[str, Any] = {
            "predicted": self.n,
            "mae": self.mae,
            "rmse": self.rmse,
            "r2": self.r2,
            "coverage": self.coverage,
            "coverage_asked": self.coverage_asked,
            "mean_width": self.mean_width,
        }
        for name in ("mean_so_far", "value_before", "season_before"):
            errors: Errors = getattr(self, name)
            found |= {f"mae_{name}": errors.mae, f"rmse_{name}": errors.rmse}
        found |= {
            "season": self.season or None,
            "rolling_mae": self.rolling,
            "first_mae": self.first if self.first is not None else self.rolling,
        }
        told = {name: _finite(value) for name, value in found.items()}
        return {**told, "window": self.window}


def _finite(value: float | None) -> float | None:
    """The value, None if it is too large: JSON has no such number."""
    return value if value is None or math.isfinite(value) else None


def score_of(learner: Learner, window: int, season: int = 0) -> RegressionScore:
    """The score of a regressor's predictions."""
    coverage = getattr(innermost(learner), "coverage", None)
    return RegressionScore(window, season=season, coverage=coverage)
