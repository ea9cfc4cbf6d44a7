"""Scores of answers, each made before its sample was learned, in fixed memory."""

from __future__ import annotations

import copy
import math
from array import array
from collections import Counter
from typing import Any

import numpy as np

from edgesvm.contract.labels import sort_labels
from edgesvm.learner import Learner
from edgesvm.learners.wrapper import found_within, innermost
from edgesvm.serve._tally import Tally

Estimate = tuple[float, float, float]  # a predicted target, and the ends of its interval


def far_out(learner: Learner) -> dict[str, int]:
    """How many samples it learned with a value far outside what it had seen, and how many values
    were missing, by these names; without those that a learner does not count. For every report of
    counters."""
    found = {"far_out": found_within(learner, "far_out_")}
    if found_within(learner, "missing") == "mean":
        found["n_missing"] = found_within(learner, "n_missing_")
    return {name: int(count) for name, count in found.items() if count is not None}


class Prequential(Tally):
    """Accuracy over all samples, over the last `window` samples, and balanced over the classes;
    and beside it that of two answers that need no learner: always the larger class, and always the
    label before. ``confusion[label][predicted]`` is how often a sample was predicted so.
    """

    @property
    def accuracy(self) -> float | None:
        """Accuracy over all predictions; None before the first."""
        return self._total / self.n if self.n else None

    @property
    def rolling(self) -> float | None:
        """Accuracy over the last `window` predictions; None before the first."""
        return self._recent / min(self.n, self.window) if self.n else None

    @property
    def rolling_baselines(self) -> tuple[float | None, float | None]:
        """The same of always giving the larger class so far, and always the label before."""
        if not self.n:
            return None, None
        n = min(self.n, self.window)
        return self._recent_larger / n, self._recent_repeats / n

    @property
    def balanced(self) -> float | None:
        """Mean of the accuracies within each class; None before the first prediction."""
        recalls = self.recalls.values()
        return sum(recalls) / len(recalls) if recalls else None

    @property
    def majority(self) -> float | None:
        """Share of the majority class: the accuracy of always predicting it."""
        if not self.n:
            return None
        return max(sum(row.values()) for row in self.confusion.values()) / self.n

    @property
    def label_before(self) -> float | None:
        """Share of labels equal to the one before: the accuracy of always repeating the last
        label. None before the second."""
        return self._repeats / (self.n - 1) if self.n > 1 else None

    @property
    def recalls(self) -> dict[Any, float]:
        """Accuracy within each class, by label, in the order of the labels."""
        rows = self.confusion
        labels = sort_labels(list(rows))
        return {label: rows[label].get(label, 0) / sum(rows[label].values()) for label in labels}

    def summary(self) -> dict[str, Any]:
        """All results, for a JSON line."""
        return {
            "predicted": self.n,
            "accuracy": self.accuracy,
            "balanced_accuracy": self.balanced,
            "recalls": {str(label): recall for label, recall in self.recalls.items()},
            "majority": self.majority,
            "label_before": self.label_before,
            "rolling_accuracy": self.rolling,
            "first_accuracy": self.first if self.first is not None else self.rolling,
            "window": self.window,
        }


class Forecasts:
    """Log loss and reliability of the probabilities of a `Calibrated` learner, each asked before
    its sample is learned; `with_raw`: in `raw` those of its decision values, 1 / (1 + exp(-f)).

    bins : ndarray of shape (10, 3), float64; for probabilities from 0 to 0.1, and so on: how many,
    their sum, and how many labels came true. Of two labels those of the second count, of more all.
    """

    LEAST = 1e-15  # the smallest probability charged
    N_BINS = 10

    def __init__(self, learner: Any = None, *, with_raw: bool = False) -> None:
        self.n = 0
        self._loss = 0.0
        self._counts: Counter[Any] = Counter()
        self.bins = np.zeros((self.N_BINS, 3))
        self.raw = Forecasts() if with_raw else None
        self._learner = learner
        self._asked: Any = None

    def __deepcopy__(self, memo: Any) -> Forecasts:
        """The learner stays the same."""
        other = copy.copy(self)
        other._counts, other.bins = Counter(self._counts), self.bins.copy()
        return other

    def ask(self, x: np.ndarray) -> None:
        """Take the probabilities of a sample that is about to be learned."""
        learner = self._learner
        shares = None
        if self.raw is not None:
            shares = as_shares(learner.learner_.decision_one(x))
        self._asked = learner.classes_.tolist(), learner.predict_proba_one(x), shares

    def score(self, truth: Any) -> None:
        """Score them, now that the sample was learned."""
        if self._asked is not None:
            labels, p, shares = self._asked
            self.add(truth, labels, p)
            if self.raw is not None:
                self.raw.add(truth, labels, shares)
            self._asked = None

    def add(self, truth: Any, labels: list[Any], p: np.ndarray) -> None:
        """Score the probabilities `p` of `labels`."""
        if truth not in labels:
            return
        self.n += 1
        self._counts[truth] += 1
        at = labels.index(truth)
        self._loss -= math.log(max(float(p[at]), self.LEAST))
        for k in range(1 if len(labels) == 2 else 0, len(labels)):
            row = self.bins[min(int(p[k] * self.N_BINS), self.N_BINS - 1)]
            row += 1.0, p[k], k == at

    @property
    def log_loss(self) -> float | None:
        return self._loss / self.n if self.n else None

    @property
    def log_loss_of_shares(self) -> float | None:
        """Log loss of always giving each class its share; None before the first sample."""
        shares = [count / self.n for count in self._counts.values()]
        return -sum(share * math.log(share) for share in shares) if self.n else None

    @property
    def calibration_error(self) -> float | None:
        """Mean difference of the probabilities in a bin and the share that came true."""
        n, total, true = self.bins.T
        return float(np.abs(total - true).sum() / n.sum()) if self.n else None

    def summary(self) -> dict[str, Any]:
        """All results, for a JSON line."""
        told = {
            "log_loss": self.log_loss,
            "log_loss_of_shares": self.log_loss_of_shares,
            "calibration_error": self.calibration_error,
            "reliability": self.bins.tolist(),
        }
        if self.raw is not None:
            told |= {"log_loss_raw": self.raw.log_loss, "reliability_raw": self.raw.bins.tolist()}
        return told | sets_of(self._learner)


def scored_by(learner: Learner, window: int, season: int = 0) -> Any:
    """The score of its predictions: a `Prequential`, or a `RegressionScore` of a regressor."""
    if not learner.regresses:
        return Prequential(window)
    coverage = getattr(innermost(learner), "coverage", None)
    return RegressionScore(window, season=season, coverage=coverage)


def sets_of(learner: Any) -> dict[str, Any]:
    """How often the sets of a `Calibrated` learner held the label, and how many labels they have;
    empty without `coverage`."""
    if getattr(learner, "coverage", None) is None or not learner.is_fitted:
        return {}
    found = {"set_coverage": learner.set_coverage_, "set_size": learner.set_size_}
    told = {name: None if math.isnan(value) else value for name, value in found.items()}
    return {"set_coverage_asked": learner.coverage, **told}


def as_shares(scores: Any) -> np.ndarray:
    """Decision values of one sample as probabilities, without a fit: 1 / (1 + exp(-f)) each,
    divided by their sum; ndarray of shape (n_labels,)."""
    signed = np.array([-scores, scores]) if np.ndim(scores) == 0 else np.asarray(scores)
    p = np.exp(-np.logaddexp(0.0, -signed))
    shares: np.ndarray = p / max(p.sum(), 1e-300)
    return shares


def percent(share: float | None) -> str:
    """A share in percent; "-" for None."""
    return "-" if share is None else f"{100 * share:.1f} %"


class Errors:
    """Sums of errors, and the last `window` of them."""

    def __init__(self, window: int = 1) -> None:
        self.n, self.window = 0, window
        self._absolute = self.squared = 0.0
        self._recent = array("d", bytes(8 * window))

    def add_error(self, error: float) -> None:
        self._recent[self.n % self.window] = abs(error)
        self.n += 1
        self._absolute += abs(error)
        self.squared += error * error

    @property
    def mae(self) -> float | None:
        """Mean absolute error; None before the first."""
        return self._absolute / self.n if self.n else None

    @property
    def rolling(self) -> float | None:
        """Mean absolute error over the last `window`; None before the first."""
        n = min(self.n, self.window)
        return sum(self._recent[:n]) / n if n else None

    @property
    def rmse(self) -> float | None:
        """Root of the mean squared error; None before the first."""
        return math.sqrt(self.squared / self.n) if self.n else None


class RegressionScore(Errors):
    """Errors of predicted targets and coverage of their intervals; and beside them the errors of
    answers that need no learner: the mean of the targets so far, the target before, and the target
    of one season before.

    `window` samples are in the rolling errors, 24 bytes each, and a season, such as a day, has
    `season`, 8 bytes each, 0: there is none. `coverage` is the share of the targets asked to lie
    within the intervals.
    """

    def __init__(
        self, window: int = 1000, *, season: int = 0, coverage: float | None = None
    ) -> None:
        if window < 1 or season < 0:
            raise ValueError(f"window={window} must be at least 1, season={season} at least 0")
        super().__init__(window)
        self.season, self.coverage_asked = season, coverage
        self.mean_so_far, self.value_before = Errors(window), Errors(window)
        self.season_before = Errors()
        self.first: float | None = None  # mean absolute error of the first `window`
        self._targets = array("d", bytes(8 * max(season, 1)))  # the last ones
        self._mean = self._spread = 0.0  # of the targets; sum of squared deviations from it
        self._covered = self._intervals = 0
        self._width = 0.0

    def add(self, target: float, predicted: Estimate) -> None:
        """Score one prediction against the target."""
        value, low, high = predicted
        self._add_baselines(target)
        self.add_error(target - value)
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
            self.mean_so_far.add_error(target - self._mean)
            self.value_before.add_error(target - self._targets[(self.n - 1) % held])
        if self.season and self.n >= self.season:
            self.season_before.add_error(target - self._targets[(self.n - self.season) % held])
        self._targets[self.n % held] = target

    @property
    def rolling_baselines(self) -> tuple[float | None, float | None]:
        """The same of the mean so far and of the target before."""
        return self.mean_so_far.rolling, self.value_before.rolling

    @property
    def r2(self) -> float | None:
        """1 - (squared errors) / (squared deviations of the targets from their mean)."""
        return 1 - self.squared / self._spread if self._spread > 0 else None

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
            "ahead": 1,
            "rolling_mae": self.rolling,
            "first_mae": self.first if self.first is not None else self.rolling,
        }
        told = {name: _finite(value) for name, value in found.items()}
        return {**told, "window": self.window}


def _finite(value: float | None) -> float | None:
    """The value, None if it is too large: JSON has no such number."""
    return value if value is None or math.isfinite(value) else None
