"""What learners answer besides labels: probabilities, numbers and intervals, what is normal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from edgesvm.contract.estimator import NO_STREAM, of_streams
from edgesvm.contract.inputs import Matrix, as_rows
from edgesvm.contract.labels import Labels
from edgesvm.learner import Learner

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

OfUnlabelled = TypeVar("OfUnlabelled", bound="Unlabelled")

STRANGE, NORMAL = -1, 1  # what is predicted, as by scikit-learn's outlier detectors


class Probable(Learner):
    """Base of learners whose core has `probabilities`."""

    def predict_proba(
        self, X: Matrix, out: np.ndarray | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Probabilities of the labels, ndarray of shape (n_samples, n_labels), float64: a column
        for each of ``classes_``; each row sums to 1. `out`, C-contiguous, is written and returned
        instead of a new array; `n_jobs` as in `decision_function`."""
        return self._answers("probabilities_many", X, n_jobs, out)

    def predict_proba_one(self, x: ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
        """Probabilities of one sample's labels, ndarray of shape (n_labels,), float64, in the order
        of ``classes_``; with `out` no memory is allocated."""
        p: np.ndarray = self._fitted.probabilities_one(x, out)
        return p


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
        """Intervals that hold the targets of rows, by the errors so far: ndarray of shape
        (n_samples, 2), float64, low and high end.

        `coverage`, the share of the targets that is to lie within, is tracked as the stream goes
        by: ValueError for another than the learner's, the default. `n_jobs` as in `predict`.
        """
        asked = self.coverage_asked
        if coverage is not None and not math.isclose(coverage, asked, abs_tol=1e-12):
            raise ValueError(
                f"coverage={coverage!r}: this learner has tracked {asked} since its first sample;"
                f" make it with coverage={coverage!r}"
            )
        return self._answers("probabilities_many", X, n_jobs, None)

    @of_streams
    def predict_interval_one(self, x: ArrayLike) -> tuple[float, float]:
        """Low and high end of the interval of one sample's target."""
        ends: tuple[float, float] = self._fitted.interval_one(x)
        return ends

    @of_streams
    def forecast_one(self, x: ArrayLike) -> tuple[float, float, float]:
        """Predict the target of the sample that follows the last one learned: the prediction, low
        and high end of its interval. With `label_delay` those of `predict_one`.

        `predict_one` answers for any sample. Where the target of the sample just before is known,
        this is better: it tells of the next one too.
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
        """`learn_one` of a sample whose target comes late. `issued` is what `forecast_one` said
        when the sample came, by which the interval is measured; None if it was not asked."""
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


class Unlabelled(Learner):
    """Base of the learners of what is normal. To scikit-learn they are outlier detectors.

    To the contract below, every sample has the label 1; -1 is what only a prediction can be.
    """

    takes_labels: ClassVar[bool] = False

    def allocate(
        self: OfUnlabelled,
        n_features: int,
        classes: Sequence[Any] | None = None,
        buffer: Any = None,
    ) -> OfUnlabelled:
        """As `Learner.allocate`; `classes` are None or (-1, 1)."""
        if classes is not None and sorted(classes) != [STRANGE, NORMAL]:
            raise ValueError(f"classes={list(classes)!r}: {type(self).__name__} has -1 and 1")
        return super().allocate(n_features, (STRANGE, NORMAL), buffer)

    def _fresh_labels(self) -> Labels:
        return Labels((STRANGE, NORMAL), 2)

    def learn_one(self, x: ArrayLike) -> bool:  # type: ignore[override]
        """Learn one sample, as `Learner.learn_one`. Returns whether the model changed."""
        return Learner.learn_one(self, x, NORMAL)  # `super()` would allocate

    def partial_fit(self: OfUnlabelled, X: Matrix, y: Any = None) -> OfUnlabelled:  # type: ignore[override]
        """Learn rows in order, as `Learner.partial_fit`; `y` is ignored, for scikit-learn's
        pipelines."""
        return super().partial_fit(X, None)  # type: ignore[arg-type]

    def fit_predict(self, X: Matrix, y: Any = None) -> np.ndarray:
        """``fit``, then ``predict`` of the same rows."""
        return self.fit(X).predict(X)  # type: ignore[call-arg]

    def _rows(self, X: Matrix, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, None]:
        rows = self._matrix(X)
        return rows, np.full(len(rows), NORMAL), None

    def _rows_to_fit(self, X: Matrix, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, None]:
        rows = as_rows(X, self._dtype, None, type(self).__name__)
        labels = np.full(len(rows), NORMAL)
        return super()._rows_to_fit(rows, labels, None)  # type: ignore[return-value]

    def score_one(self, x: ArrayLike) -> float:
        """How strange one sample is: the higher, the stranger, minus `score_samples`. See the class
        for its unit."""
        with self._guard:
            return -self.offset_ - float(self.decision_one(x))

    def score_samples(self, X: Matrix, n_jobs: int | None = None) -> np.ndarray:
        """How normal rows are, as by scikit-learn: the higher, the more normal; ndarray of shape
        (n_samples,), float64. `n_jobs` as in `decision_function`."""
        with self._guard:
            return self.decision_function(X, n_jobs=n_jobs) + self.offset_

    @property
    def offset_(self) -> float:
        """``decision_function`` is ``score_samples - offset_``."""
        raise NotImplementedError
