"""Prequential (test-then-train) evaluation in fixed memory: predict each sample, score the
prediction, then learn the sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from edgesvm.core.status import Status
from edgesvm.data.rows import RowSource, Trial, TrialSource
from edgesvm.errors import SampleRefused
from edgesvm.learner import Learner

CHUNK_ROWS = 256


class Prequential:
    """Accuracy over all samples, over the last ``window`` samples, and balanced over the classes.

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
    """

    def __init__(self, window: int = 1000) -> None:
        if window < 1:
            raise ValueError(f"window={window}: give an integer >= 1")
        self.window = window
        self.n = 0
        self.first: float | None = None
        self._hits = bytearray(window)
        self._recent = 0  # hits among the last `window`
        self._total = 0
        self._by_class: dict[Any, list[int]] = {}  # label -> [samples, hits]

    def add(self, truth: Any, predicted: Any) -> None:
        """Score one prediction against the true label."""
        hit = bool(truth == predicted)
        at = self.n % self.window
        self._recent += hit - self._hits[at]
        self._hits[at] = hit
        self._total += hit
        self.n += 1
        counts = self._by_class.setdefault(truth, [0, 0])
        counts[0] += 1
        counts[1] += hit
        if self.n == self.window:
            self.first = self.rolling

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
        if not self._by_class:
            return None
        shares = [hits / samples for samples, hits in self._by_class.values()]
        return sum(shares) / len(shares)

    @property
    def majority(self) -> float | None:
        """Share of the majority class: the accuracy of always predicting it."""
        return max(samples for samples, _ in self._by_class.values()) / self.n if self.n else None

    def summary(self) -> dict[str, float | int | None]:
        """All results, for a JSON line."""
        return {
            "predicted": self.n,
            "accuracy": self.accuracy,
            "balanced_accuracy": self.balanced,
            "majority": self.majority,
            "rolling_accuracy": self.rolling,
            "first_accuracy": self.first if self.first is not None else self.rolling,
            "window": self.window,
        }


class PredictThenLearn:
    """The test-then-train loop: predict each sample, score the prediction, then learn the sample.

    Parameters
    ----------
    learner : Learner
        Allocated or not. Nothing is predicted until it has learned a sample.
    window : int
        Number of samples in the rolling accuracy.

    Attributes
    ----------
    score : Prequential
        Score of the samples that were predicted and then learned.
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

    def __init__(self, learner: Learner, window: int = 1000) -> None:
        self.learner = learner
        self.score = Prequential(window)
        self.refused = self.unlabelled = 0
        self._dtype = np.dtype(learner.dtype)
        self._fitted = learner.is_fitted

    def run(
        self, source: RowSource, label_of: Callable[[Any], Any] | None = None
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
        if not self._fitted:
            return None
        try:
            return self.learner.predict_one(x.astype(self._dtype, copy=False))
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
        try:
            self.learner.learn_one(x.astype(self._dtype, copy=False), label, weight)
        except SampleRefused as refused:
            if refused.status == Status.UNKNOWN_LABEL:
                raise
            self.refused += 1
            return False
        self._fitted = self._fitted or self.learner.is_fitted  # not after a weight of zero
        if predicted is not None:
            self.score.add(label, predicted)
        return True

    def _trials(self, source: RowSource) -> Iterator[Trial]:
        n = 0
        for chunk in source.chunks(CHUNK_ROWS):
            X = chunk.X.astype(self._dtype, copy=False)
            labels = [None] * len(X) if chunk.y is None else chunk.y.tolist()
            weights = [1.0] * len(X) if chunk.weight is None else chunk.weight.tolist()
            for i, (x, label, weight) in enumerate(zip(X, labels, weights, strict=True), n):
                try:
                    predicted = self.predict(x)
                except SampleRefused:
                    continue
                yield Trial(x, label, weight, predicted, i)
            n += len(X)
