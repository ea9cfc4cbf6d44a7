"""Regressors: what is predicted is a number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from edgesvm.contract.estimator import NO_STREAM, of_streams
from edgesvm.contract.inputs import Matrix
from edgesvm.learner import Learner

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Regressor(Learner):
    """Base of the regressors: ``partial_fit(X, y)``, ``fit`` and ``learn_one(x, y)`` take a number
    y and refuse NaN; ``predict`` and ``predict_one`` give one; ``score`` is R^2."""

    regresses: ClassVar[bool] = True
    shuffles: ClassVar[bool] = False  # rows in time order

    @property
    def n_classes_planned(self) -> int:
        """1: all samples are counted together."""
        return 1


class Forecasting(Learner):
    """Base of what may have a regressor of a stream in it: intervals, and forecasts of the sample
    that follows the last one learned."""

    @of_streams
    def predict_interval(
        self, X: Matrix, coverage: float | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Intervals that hold the targets of rows, by the errors so far.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
        coverage : float, optional
            The share of the targets that is to lie within. It is tracked as the stream goes by, so
            it must be the learner's parameter `coverage`, which is the default.
        n_jobs : int, optional
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_samples, 2), float64: low and high end

        Raises
        ------
        ValueError
            `coverage` is another than the learner's. Otherwise as `predict`.
        """
        core = self._fitted
        asked = self.coverage_asked
        if coverage is not None and not math.isclose(coverage, asked, abs_tol=1e-12):
            raise ValueError(
                f"coverage={coverage!r}: this learner has tracked {asked} since its first sample;"
                f" make it with coverage={coverage!r}"
            )
        ends, row, status = core.probabilities_many(self._matrix(X), None, self._team(n_jobs))
        self._check_decided(core, row, status)
        found: np.ndarray = ends
        return found

    @of_streams
    def predict_interval_one(self, x: ArrayLike) -> tuple[float, float]:
        """Low and high end of the interval of one sample's target."""
        ends: tuple[float, float] = self._fitted.interval_one(x)
        return ends

    @of_streams
    def forecast_one(self, x: ArrayLike) -> tuple[float, float, float]:
        """Predict the target of the sample that follows the last one learned.

        `predict_one` answers for any sample. Where the target of the sample just before is known,
        this is better: the target, and the error of its prediction, tell of the next ones too.

        Returns
        -------
        value, low, high : float
            The prediction and the ends of its interval. With `label_delay` those of `predict_one`.

        Raises
        ------
        As `predict_one`.
        """
        found: tuple[float, float, float] = self._fitted.forecast_one(x)
        return found

    @of_streams
    def learn_late_one(
        self,
        x: ArrayLike,
        y: float,
        issued: tuple[float, float, float] | None,
        weight: float = 1.0,
    ) -> bool:
        """`learn_one` of a sample whose target comes late.

        Parameters
        ----------
        x : ndarray of shape (n_features,)
        y : float
        issued : (value, low, high) or None
            What `forecast_one` said when the sample came: the interval is measured by it. None: it
            was not asked.
        weight : float, default 1.0

        Raises
        ------
        As `learn_one`.
        """
        state = self._state
        if state is None:
            return self.learn_one(x, y, weight)
        changed: bool = state.core.learn_late_one(x, y, issued, weight)
        return changed

    @property
    def _tracked(self) -> Any:
        """The core of the regressor, behind its stages."""
        if not self.forecasts:
            raise AttributeError(f"{type(self).__name__}: {NO_STREAM}")
        return tracked_in(self._fitted)

    @property
    def coverage_asked(self) -> float:
        """The share of the targets that is to lie within the intervals."""
        return 1.0 - 2.0 * float(self._tracked.miss)

    @property
    def n_scored_(self) -> int:
        """Samples whose interval was scored, each before it was learned."""
        return int(self._tracked.views["scored"][0])

    @property
    def coverage_(self) -> float:
        """Share of these whose target lay within: of `forecast_one`, with `label_delay` of
        `predict_interval`. NaN before the first."""
        n, covered = self._tracked.views["scored"]
        return float(covered / n) if n else float("nan")


def tracked_in(core: Any) -> Any:
    """The core of the regressor, behind its stages."""
    while hasattr(core, "inner"):
        core = core.inner
    return core
