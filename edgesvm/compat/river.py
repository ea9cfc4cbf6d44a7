"""Learners as river's classifiers, regressors and anomaly detectors: samples are dicts of named
features.

Needs river (``pip install edgesvm[river]``), which is imported with this module.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from river import base, metrics

from edgesvm.contract.params import whole
from edgesvm.learner import MAX_FEATURES, Learner
from edgesvm.learners.byte.byte_svm import ByteSVM
from edgesvm.learners.fourier.regression import FourierSVR
from edgesvm.learners.novelty.novelty import GaussianNovelty
from edgesvm.preprocessing.standardized import Standardized
from edgesvm.serve.score import as_shares

__all__ = ["AnomalyDetector", "Classifier", "Regressor", "scored"]

Names = dict[base.typing.FeatureName, Any]


def kind_of(learner: Learner) -> str:
    """Which of the classes here such a learner belongs in, and why."""
    if not learner.takes_labels:
        return "it learns without labels; use AnomalyDetector"
    return (
        f"it predicts {'numbers; use Regressor' if learner.regresses else 'labels; use Classifier'}"
    )


class Named:
    """A learner, and which column of its rows belongs to which feature."""

    _default: Callable[[], Learner]

    def __init__(self, learner: Learner | None = None, n_features: int | None = None) -> None:
        self.learner, self.n_features = learner, n_features
        given = type(self)._default() if learner is None else learner
        if not (told := kind_of(given)).endswith(type(self).__name__):
            raise ValueError(f"learner={learner!r}: {told}")
        self.learner_ = given.like_new()
        self.columns_: dict[base.typing.FeatureName, int] = {}
        self.n_left_out_ = 0
        self._width = (
            None if n_features is None else whole("n_features", n_features, 1, MAX_FEATURES)
        )
        self._row = np.zeros(self._width or 0, given.dtype)

    def _learn(self, x: Names, *label_and_weight: Any) -> None:
        known, row = len(self.columns_), self._row
        try:
            self._meet(x)
            n_set = self._fill(x)
            self.learner_.learn_one(self._row, *label_and_weight)
        except BaseException:  # a refused sample leaves no trace
            self._row = row
            for name in list(self.columns_)[known:]:
                del self.columns_[name]
            raise
        self.n_left_out_ += len(x) - n_set

    def _meet(self, x: Names) -> None:
        """Give columns to new features, in an order that is not that of the dict."""
        new = x.keys() - self.columns_.keys()
        if self._width is None and not self.columns_:
            self._row = np.zeros(len(new), self._row.dtype)
        room = len(self._row) - len(self.columns_)
        for name in sorted(new, key=repr)[:room] if room else ():
            self.columns_[name] = len(self.columns_)

    def _fill(self, x: Names) -> int:
        """Write a sample into the row; the number of its features that have a column."""
        row, columns, n_set = self._row, self.columns_, 0
        row[:] = 0.0
        for name, value in x.items():
            column = columns.get(name)
            if column is not None:
                row[column] = value
                n_set += 1
        return n_set

    def _asked(self, x: Names) -> np.ndarray:
        self._fill(x)
        return self._row


class Classifier(Named, base.Classifier):
    """A learner of labelled samples as a classifier of river.

    Parameters
    ----------
    learner : Learner, optional
        Any learner with labels; only its parameters are used, ``learner_`` learns. Default
        `ByteSVM`.
    n_features : int, optional
        Number of features to have room for. Default: as many as the first sample has.

    Attributes
    ----------
    learner_ : Learner
    columns_ : dict
        The column of each feature, by name.
    n_left_out_ : int
        Values of late features for which there was no room.

    Raises
    ------
    ValueError
        `learner` learns without labels, or `n_features` is out of range. Learning: as
        `Learner.learn_one`.

    Notes
    -----
    A feature that a sample lacks is 0. A late feature gets the next column that is free; with none
    left, its values are counted in ``n_left_out_`` and not learned.

    ``predict_proba_one`` gives probabilities with `Calibrated` and `ByteSVM`; with others shares
    that follow the decision values. With two classes, False and True count as known before they are
    seen.

    Examples
    --------
    >>> from edgesvm.compat.river import Classifier
    >>> from river import datasets, evaluate, metrics
    >>> model = Classifier()
    >>> accuracy = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> accuracy.get() > 0.85, model.learner_.nbytes < 20_000
    (True, True)
    """

    _default = ByteSVM

    @property
    def _multiclass(self) -> bool:
        return self.learner_.n_classes_planned > 2

    def learn_one(self, x: Names, y: Any, w: float = 1.0) -> None:
        """Learn one sample, of weight `w`."""
        self._learn(x, y, w)

    def predict_one(self, x: Names, **kwargs: Any) -> Any:
        """The predicted label; None before the first sample was learned."""
        return self.learner_.predict_one(self._asked(x)) if self.learner_.is_fitted else None

    def predict_proba_one(self, x: Names, **kwargs: Any) -> dict[Any, float]:
        """The share of each label: the probabilities of `Calibrated`; of another learner
        1 / (1 + exp(-f)), f its decision values, divided by their sum."""
        learner: Any = self.learner_
        if not learner.is_fitted:
            return {} if self._multiclass else {False: 0.5, True: 0.5}
        row, labels = self._asked(x), learner.classes_.tolist()
        if len(labels) == 1:
            shares = np.ones(1)
        elif hasattr(learner, "predict_proba_one"):
            shares = learner.predict_proba_one(row)
        else:
            shares = as_shares(learner.decision_one(row))
        found = dict(zip(labels, shares.tolist(), strict=True))
        is_open = not self._multiclass and found.keys() <= {False, True}
        return {False: 0.0, True: 0.0} | found if is_open else found


class Regressor(Named, base.Regressor):
    """A regressor as one of river.

    Parameters
    ----------
    learner : Learner, optional
        Any regressor; only its parameters are used, ``learner_`` learns. Default
        ``Standardized(learner=FourierSVR())``.
    n_features : int, optional
        As for `Classifier`, and so are the attributes and what happens to features that are
        missing or late.

    Raises
    ------
    ValueError
        `learner` learns labels or without them, or `n_features` is out of range. Learning: as
        `Learner.learn_one`.

    Notes
    -----
    ``predict_one`` answers for any sample. In a stream where each target is known before the next
    sample, ``model.learner_.forecast_one`` is better; river has no method for it.

    Examples
    --------
    >>> from edgesvm.compat.river import Regressor
    >>> from river import datasets, evaluate, metrics
    >>> rows = datasets.synth.Friedman(seed=42).take(2000)
    >>> r2 = evaluate.progressive_val_score(rows, Regressor(), metrics.R2())
    >>> r2.get() > 0.65
    True
    """

    _default = partial(Standardized, learner=FourierSVR())

    def learn_one(self, x: Names, y: float, w: float = 1.0) -> None:
        """Learn one sample, of weight `w`."""
        self._learn(x, y, w)

    def predict_one(self, x: Names) -> float:
        """The predicted target; 0 before the first sample was learned."""
        return self.learner_.predict_one(self._asked(x)) if self.learner_.is_fitted else 0.0


class AnomalyDetector(Named, base.AnomalyDetector):
    """A novelty learner as an anomaly detector of river.

    Parameters
    ----------
    learner : NoveltyLearner, optional
        Only its parameters are used, ``learner_`` learns. Default `GaussianNovelty`.
    n_features : int, optional
        As for `Classifier`, and so are the attributes and what happens to features that are
        missing or late.

    Raises
    ------
    ValueError
        `learner` learns labels, or `n_features` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm.compat.river import AnomalyDetector
    >>> model = AnomalyDetector()
    >>> for x in np.random.default_rng(0).standard_normal((500, 2)):
    ...     model.learn_one({"speed": x[0], "load": x[1]})
    >>> model.score_one({"speed": 9.0, "load": -9.0}) > model.threshold_
    True
    """

    _default = GaussianNovelty

    def learn_one(self, x: Names) -> None:
        """Learn one sample, after its score has moved the threshold."""
        self._learn(x)

    def score_one(self, x: Names) -> float:
        """How strange a sample is, the higher the stranger; 0 before the first was learned."""
        learner: Any = self.learner_
        return float(learner.score_one(self._asked(x))) if learner.is_fitted else 0.0

    @property
    def threshold_(self) -> float:
        """The score above which the learner raises an alarm."""
        learner: Any = self.learner_
        return -float(learner.offset_)


def scored(*told: metrics.base.Metric) -> Callable[[Any, Any, Any], None]:
    """A listener of `predict_then_learn` that tells river's metrics of each row's label and
    prediction.

    Examples
    --------
    >>> from edgesvm import StreamSVM
    >>> from edgesvm.compat.river import scored
    >>> from edgesvm.data import TwoNorm
    >>> from edgesvm.serve.taught import predict_then_learn
    >>> from river import metrics
    >>> f1 = metrics.MacroF1()
    >>> found = predict_then_learn(TwoNorm(seed=1), StreamSVM(), 500, listeners=[scored(f1)])
    >>> f1.get() > 0.9, found.score.n
    (True, 499)
    """

    def listener(x: Any, label: Any, predicted: Any) -> None:
        if predicted is not None:
            for metric in told:
                metric.update(label, predicted)

    return listener
