"""Calibrated: probabilities, and prices of errors, around a learner."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from edgesvm.budget import NOT_NEGATIVE, SHARE, Table, up_to
from edgesvm.contract.inputs import Matrix
from edgesvm.contract.labels import is_label
from edgesvm.contract.params import Check, optional, param, positive, share
from edgesvm.contract.registry import registered
from edgesvm.learner import Learner
from edgesvm.learners._calibrated import CalibratedCore
from edgesvm.learners.constants import FARTHEST, MOST_RELATIVE, MOST_WEIGHT, RECENT
from edgesvm.learners.kinds import Probable
from edgesvm.learners.wrapper import Shell

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Calibrated"]

MOST_INFORMATION = RECENT * MOST_WEIGHT * MOST_RELATIVE**2
QUANTILE = (up_to(2.0 * FARTHEST), NOT_NEGATIVE)
SETS: Table = [("set_limit", "f8", (), SHARE), ("n_sets", "i8", (3,))]
PLAIN = (bool, int, float, str)  # what a label must be to have a price; no code of others' runs


def by_label(check: Check) -> Check:
    """A dict of labels to what `check` accepts, or None, which is as an empty one."""

    def checked(name: str, given: object) -> dict[Any, Any]:
        if given is None:
            return {}
        if not isinstance(given, dict) or not given:
            raise ValueError(f"{name}={given!r}: give a dict such as {{'fault': 0.9}}")
        for label in given:
            if not isinstance(label, (*PLAIN, np.generic)) or not is_label(label):
                raise ValueError(f"{name} of {label!r}: a label is a bool, int, float or str")
        return {label: check(f"{name} of {label!r}", value) for label, value in given.items()}

    return checked


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class Calibrated(Probable, Shell):
    """Probabilities of the labels from any learner's scores, and decisions by the price of errors.

    Each sample is scored before it is learned, and a sigmoid on the score is fitted to these scores
    and their labels as the stream goes (Platt scaling).

    Parameters
    ----------
    learner : Learner, default ByteSVM()
        Any learner, also `Standardized` or one of many classes. Only its parameters are used.
    cost : dict of label to float, optional
        What it costs to miss a sample of this class; > 0, and 1 for a label that is not named. The
        class of the largest price times probability is predicted. A label that never comes has no
        effect; `unseen_labels_` has it.
    min_recall : dict of one label to float, optional
        Keeps a threshold at which this share, between 0 and 1, of the recent samples of this class
        is recognised, whatever that costs the others. Not with `cost`.

    coverage : float, optional
        Share of the samples, between 0 and 1, whose label `predict_set` is to hold.

    Notes
    -----
    Platt, "Probabilistic outputs for support vector machines", 1999, fitted online: one Newton step
    per sample on the log loss, with the information of about the last 500 samples. Scores are
    divided by their mean size in the last 50. Of two classes, p = 1 / (1 + exp(-(a f + b))). Of
    more, each has its sigmoid, and the values are divided by their sum. A class without a sample
    has probability 0; while there is one class only, n samples of it give n + 1 to 1.

    ``decision_function`` is the logarithm of the odds, or with more than two labels that of the
    shares, plus that of the price, or minus the threshold that `min_recall` keeps. `predict` goes
    by it, so without either it predicts the most probable label. Probabilities are not changed by a
    price. A weight counts as one of at most 10 for the sigmoid, and in full for the learner.

    ``fit`` is `Learner.fit`, whatever the learner's own. A learner
    that solves on demand, such as `BatchSVM`, solves for each sample. Bytes: 48 in addition to the
    learner's, 8 + 40 n_classes for one of more than two classes; 16 more with `min_recall`, 32 more
    with `coverage`.

    A set has the labels with a probability of at least 1 - c, and the most probable one. After each
    sample c += max(0.02, 1 / n) (missed - (1 - coverage)), within 0 and 1 (Gibbs & Candes 2021).

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import Calibrated, Standardized
    >>> X = np.random.default_rng(0).standard_normal((3000, 2)).astype(np.float32)
    >>> y = np.where(X[:, 0] > 1.5 - 0.5 * X[:, 1], "fault", "fine")
    >>> model = Calibrated(learner=Standardized(), cost={"fault": 20}).fit(X, y)
    >>> model.classes_.tolist()
    ['fault', 'fine']
    >>> model.predict_proba_one(X[0]).round(3).tolist()
    [0.0, 1.0]
    """

    _compiled = CalibratedCore
    _expected = "a learner, such as StreamSVM(), that is not Calibrated itself"

    _absent: ClassVar[Mapping[str, Any]] = {"coverage": None}

    cost: Mapping[Any, float] | None = param(None, by_label(positive))
    min_recall: Mapping[Any, float] | None = param(None, by_label(share))
    coverage: float | None = param(None, optional(share))

    def _wraps(self, inner: Learner) -> bool:
        return not isinstance(inner, Calibrated)

    def _check_params(self) -> None:
        super()._check_params()
        if self.cost is not None and self.min_recall is not None:
            raise ValueError("cost and min_recall both move the decision: give one of them")
        if self.min_recall is not None and len(self.min_recall) != 1:
            raise ValueError(f"min_recall={self.min_recall!r}: give one label and its share")

    # -- memory ------------------------------------------------------------------------------------

    def _arrays(self, n_features: int) -> Table:
        inner = self.inner._arrays(n_features)
        several = any(name == "scores" for name, *_ in inner)
        n = self.n_classes_planned if several else 1
        return [
            ("score_size", "f8", (), NOT_NEGATIVE),
            ("slope", "f8", (n,), NOT_NEGATIVE),
            ("offset", "f8", (n,)),
            ("information", "f8", (n, 3), up_to(MOST_INFORMATION)),
            *([] if self.min_recall is None else [("quantile", "f8", (2,), QUANTILE)]),
            *([] if self.coverage is None else SETS),
            *inner,
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        _, kept, coverage = self._checked().values()
        missed = [1.0 - recall for recall in kept.values()] or [0.0]
        outside = 0.0 if coverage is None else 1.0 - coverage
        return {"by_label": self._by_label(), "missed": missed[0], "outside": outside}

    def _by_label(self) -> Callable[[Any], tuple[float, bool]]:
        """A label's logarithm of the price, and whether its recall is kept."""
        cost, kept, _ = self._checked().values()
        logs = {label: math.log(price) for label, price in cost.items()}

        def of(label: Any) -> tuple[float, bool]:
            known = type(label) in PLAIN
            return (logs.get(label, 0.0), label in kept) if known else (0.0, False)

        return of

    # -- sets of labels ----------------------------------------------------------------------------

    def predict_set(self, X: Matrix, n_jobs: int | None = None) -> np.ndarray:
        """Which labels a sample may well have: ndarray of shape (n_samples, n_labels), bool, a
        column for each of ``classes_``; at least one is true in each row. `n_jobs` as in
        `decision_function`. ValueError without `coverage`."""
        return self._set_of(self.predict_proba(X, n_jobs=n_jobs))

    def predict_set_one(self, x: ArrayLike) -> list[Any]:
        """The labels that one sample may well have, in the order of ``classes_``."""
        found: list[Any] = self.classes_[self._set_of(self.predict_proba_one(x)[None])[0]].tolist()
        return found

    def _set_of(self, p: np.ndarray) -> np.ndarray:
        """The labels in the sets of samples with these probabilities."""
        limit = self._counted("set_limit")
        found: np.ndarray = (p >= 1.0 - limit) & (p > 0.0)
        found[np.arange(len(p)), p.argmax(axis=1)] = True
        return found

    def _counted(self, name: str) -> np.ndarray:
        """An array of the sets."""
        if name not in self.core.views:
            raise ValueError("there are no sets of labels: give coverage, such as 0.9")
        view: np.ndarray = self.core.views[name]
        return view

    @property
    def set_coverage_(self) -> float:
        """Share of the samples whose label their set held, before learned; NaN at first."""
        n, within, _ = self._counted("n_sets")
        return float(within / n) if n else float("nan")

    @property
    def set_size_(self) -> float:
        """Mean number of labels in these sets; NaN before the first."""
        n, _, labels = self._counted("n_sets")
        return float(labels / n) if n else float("nan")

    @property
    def unseen_labels_(self) -> list[Any]:
        """Labels with a cost or a min_recall that no label so far equals."""
        plain = [label for label in self.core.labels.in_slots if type(label) in PLAIN]
        given = [*(self.cost or ()), *(self.min_recall or ())]
        return [label for label in given if label not in plain]

    def like_new(self) -> Calibrated:
        new = super().like_new()
        new.cost = None if self.cost is None else dict(self.cost)  # the user's may change
        new.min_recall = None if self.min_recall is None else dict(self.min_recall)
        return new

    @property
    def slope_(self) -> np.ndarray:
        """Factor of the score in each log-odds, ndarray of shape (1,) or (n_classes,)."""
        views = self.core.views
        size = float(views["score_size"])
        return views["slope"] / size if size > 0 else np.zeros_like(views["slope"])

    @property
    def offset_(self) -> np.ndarray:
        """What is added to it, ndarray of shape (1,) or (n_classes,), a copy."""
        return self.core.views["offset"].copy()
