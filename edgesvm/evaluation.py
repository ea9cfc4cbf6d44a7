"""Prequential (test-then-train) evaluation in fixed memory: predict each sample, score the
prediction, then learn the sample."""

from __future__ import annotations

import copy
import math
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from edgesvm.contract.labels import sort_labels
from edgesvm.contract.registry import is_a
from edgesvm.core.status import Status
from edgesvm.data.rows import RowSource, Trial, TrialSource
from edgesvm.errors import SampleRefused
from edgesvm.learner import Learner
from edgesvm.learners.wrapper import found_within
from edgesvm.prequential._tally import Tally
from edgesvm.regression import Estimates, score_of

if TYPE_CHECKING:
    from edgesvm.learners.calibrated import Calibrated
    from edgesvm.learners.drift import DriftWatch

CHUNK_ROWS = 256


def far_out(learner: Learner) -> dict[str, int]:
    """How many samples it learned with a value far outside what it had seen, and how many values
    were missing, by these names; without those that a learner does not count. For every report of
    counters."""
    found = {"far_out": found_within(learner, "far_out_")}
    if found_within(learner, "missing") == "mean":
        found["n_missing"] = found_within(learner, "n_missing_")
    return {name: int(count) for name, count in found.items() if count is not None}


class Prequential(Tally):
    """Accuracy over all samples, over the last ``window`` samples, and balanced over the classes;
    and beside it that of two answers that need no learner: always the larger class, and always the
    label before.

    Parameters
    ----------
    window : int
        Number of samples in the rolling accuracy; takes ``window`` bytes.

    Attributes
    ----------
    n : int
        Number of predictions scored.
    first : float or None
        Accuracy of the first ``window`` predictions; None until there are that many.
    confusion : dict of dict
        ``confusion[label][predicted]``, how often a sample of this label was predicted so.
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
    """Log loss and reliability of probabilities, each asked before its sample was learned.

    Attributes
    ----------
    n : int
        Number of samples scored: those whose label had been seen before.
    log_loss : float or None
        Mean of -log p of the true label; None before the first.
    bins : ndarray of shape (10, 3), float64
        For probabilities from 0 to 0.1, and so on: how many, their sum, and how many labels came
        true. Of two labels those of the second count, of more all.
    """

    LEAST = 1e-15  # the smallest probability charged
    N_BINS = 10

    def __init__(self) -> None:
        self.n = 0
        self._loss = 0.0
        self._counts: Counter[Any] = Counter()
        self.bins = np.zeros((self.N_BINS, 3))

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
        return {
            "log_loss": self.log_loss,
            "log_loss_of_shares": self.log_loss_of_shares,
            "calibration_error": self.calibration_error,
            "reliability": self.bins.tolist(),
        }


def scored_by(learner: Learner, window: int, season: int = 0) -> Any:
    """The score of its predictions: a `Prequential`, or a `RegressionScore` of a regressor."""
    return score_of(learner, window, season) if learner.regresses else Prequential(window)


class BeforeAndAfter(Forecasts):
    """The forecasts of a `Calibrated` learner, and beside them those of the scores as they are,
    1 / (1 + exp(-f)).

    Attributes
    ----------
    raw : Forecasts
    """

    def __init__(self, learner: Calibrated) -> None:
        super().__init__()
        self.raw = Forecasts()
        self._learner = learner
        self._asked: tuple[list[Any], np.ndarray, np.ndarray] | None = None

    def ask(self, x: np.ndarray) -> None:
        """Take the probabilities of a sample that is about to be learned."""
        learner = self._learner
        scores = learner.learner_.decision_one(x)
        self._asked = learner.classes_.tolist(), learner.predict_proba_one(x), as_shares(scores)

    def score(self, truth: Any) -> None:
        """Score them, now that the sample was learned."""
        if self._asked is not None:
            labels, p, raw = self._asked
            self.add(truth, labels, p)
            self.raw.add(truth, labels, raw)
            self._asked = None

    def summary(self) -> dict[str, Any]:
        raw = {"log_loss_raw": self.raw.log_loss, "reliability_raw": self.raw.bins.tolist()}
        return super().summary() | raw | sets_of(self._learner)


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


class PredictThenLearn:
    """The test-then-train loop: predict each sample, score the prediction, then learn the sample.

    Parameters
    ----------
    learner : Learner
        Allocated or not. Nothing is predicted until it has learned a sample. What a regressor
        predicts is a target with its interval, (value, low, high).
    window : int
        Number of samples in the rolling accuracy.
    freeze_after : int, optional
        After so many samples a copy of the learner is made that learns no more. It predicts all
        later samples, as the model will once labels stop.
    label_delay : int, default 0
        A sample is learned only when so many more have arrived.
    drift : DriftWatch, optional
        Of this learner: told whether it is wrong about each sample just before it learns it.
    season : int, default 0
        As of `RegressionScore`.

    Attributes
    ----------
    score : Prequential or RegressionScore
        Score of the samples that were predicted and then learned.
    frozen : Prequential or RegressionScore
        Score of the copy that learns no more; without predictions until there is one.
    forecasts : BeforeAndAfter or None
        Score of the probabilities of a `Calibrated` learner, asked just before a sample is learned.
    learned : int
        Samples that were learned.
    refused : int
        Samples that the learner refused for a value or a weight. They are skipped.
    unlabelled : int
        Samples without a label. They are only predicted.

    Examples
    --------
    >>> from itertools import islice
    >>> from edgesvm import StreamSVM
    >>> from edgesvm.data import TwoNorm
    >>> loop = PredictThenLearn(StreamSVM())
    >>> for trial in islice(loop.run(TwoNorm(seed=1)), 2000):
    ...     pass
    >>> loop.score.n, loop.score.accuracy > 0.9
    (1999, True)
    """

    def __init__(
        self,
        learner: Learner,
        window: int = 1000,
        *,
        freeze_after: int | None = None,
        label_delay: int = 0,
        drift: DriftWatch | None = None,
        season: int = 0,
    ) -> None:
        if label_delay < 0:
            raise ValueError(f"label_delay={label_delay}: give an integer >= 0")
        self.learner = learner
        self.score, self.frozen = (scored_by(learner, window, season) for _ in range(2))
        self._estimates = Estimates(learner) if learner.regresses else None
        self.forecasts = BeforeAndAfter(learner) if is_a(learner, "Calibrated") else None
        self._freeze_after, self._delay = freeze_after, label_delay
        self._frozen: Callable[[np.ndarray], Any] | None = None
        self.drift = drift
        self.learned = self.refused = self.unlabelled = 0
        self._dtype = np.dtype(learner.dtype)
        self._fitted = learner.is_fitted

    def run(
        self, source: RowSource | TrialSource, label_of: Callable[[Any], Any] | None = None
    ) -> Iterator[Trial]:
        """One pass over `source`. The loop stops when you stop iterating.

        Parameters
        ----------
        source : RowSource
            For example ``Source(X, y)``, `open_rows` of a file, a recording or a `Stream`. If
            labels come late, a sample is predicted when it arrives and learned when its label
            arrives.
        label_of : callable, optional
            Maps the source's label to the label to learn.

        Yields
        ------
        Trial
            Each sample that was not refused, after it was learned; x is a view, valid until the
            next iteration.

        Raises
        ------
        SampleRefused
            A label is new and the learner has no room for another class.
        """
        if isinstance(source, TrialSource):
            trials = source.trials(self.predict)
        else:
            trials = self._trials(source)
        if self._delay:
            trials = _later(trials, self._delay)
        for trial in trials:
            if trial.label is None:
                self.unlabelled += 1
            else:
                label = trial.label if label_of is None else label_of(trial.label)
                if not self.learn(trial.x, label, trial.weight, trial.predicted):
                    continue
            yield trial

    def predict(self, x: np.ndarray) -> Any:
        """Predict the label of one sample; None if nothing has been learned yet.

        Raises
        ------
        SampleRefused
            The learner refused the sample; it is counted in `refused`.
        """
        if not self._fitted and self._estimates is None:
            return None
        x = x.astype(self._dtype, copy=False)
        try:
            if self._estimates is not None:
                return self._estimates.ask(x)
            return self.learner.predict_one(x)
        except SampleRefused:
            self.refused += 1
            raise

    def learn(self, x: np.ndarray, label: Any, weight: float = 1.0, predicted: Any = None) -> bool:
        """Learn one sample and score its prediction. Returns False if the sample was refused.

        Raises
        ------
        SampleRefused
            The label is new and the learner has no room for another class.
        """
        x = x.astype(self._dtype, copy=False)
        try:
            if self.forecasts is not None and self._fitted:
                self.forecasts.ask(x)
            if self.drift is not None and self._fitted:
                self.drift.ask(x)
            if self._estimates is not None:
                self._estimates.learn(x, label, weight, predicted)
            else:
                self.learner.learn_one(x, label, weight)
        except SampleRefused as refused:
            if refused.status == Status.UNKNOWN_LABEL:
                raise
            self.refused += 1
            return False
        if self.forecasts is not None:
            self.forecasts.score(label)
        self._score_frozen(x, label)
        self._fitted = self._fitted or self.learner.is_fitted  # not after a weight of zero
        if predicted is not None:
            self.score.add(label, predicted)
        if self.drift is not None and self.drift.score(label):
            self._fitted = False
        return True

    def _score_frozen(self, x: np.ndarray, label: Any) -> None:
        """Score the copy that learns no more, or make it."""
        self.learned += 1
        if self._frozen is not None:
            self.frozen.add(label, self._frozen(x))
        elif self.learned == self._freeze_after and self.learner.is_fitted:
            frozen = copy.deepcopy(self.learner)
            self._frozen = Estimates(frozen).ask if frozen.regresses else frozen.predict_one

    def _trials(self, source: RowSource) -> Iterator[Trial]:
        n = 0
        for chunk in source.chunks(CHUNK_ROWS):
            X = chunk.X.astype(self._dtype, copy=False)
            labels = [None] * len(X) if chunk.y is None else chunk.y.tolist()
            if self._estimates is not None:
                labels = [None if y is None or math.isnan(y) else y for y in labels]
            weights = [1.0] * len(X) if chunk.weight is None else chunk.weight.tolist()
            for i, (x, label, weight) in enumerate(zip(X, labels, weights, strict=True), n):
                try:
                    predicted = self.predict(x)
                except SampleRefused:
                    continue
                yield Trial(x, label, weight, predicted, i)
            n += len(X)


def _later(trials: Iterator[Trial], delay: int) -> Iterator[Trial]:
    """The trials, each given on only when `delay` more were predicted, or at the end."""
    waiting: deque[Trial] = deque()
    for trial in trials:
        waiting.append(trial._replace(x=trial.x.copy()))
        if len(waiting) > delay:
            yield waiting.popleft()
    yield from waiting
