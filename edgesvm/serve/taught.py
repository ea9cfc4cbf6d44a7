"""A pupil that learns labels or targets: each row is predicted before it is learned."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from edgesvm.contract.names import number_of, word_of
from edgesvm.contract.registry import is_a
from edgesvm.core.status import Status
from edgesvm.data.rows import RowSource
from edgesvm.errors import LinkDown, SampleRefused
from edgesvm.learner import Learner, learner_in
from edgesvm.learners.ahead import ERRORS, Ahead
from edgesvm.link.wire import ABSTAIN, REJECTED, TRAINED
from edgesvm.serve.job import Job, Pupil, Stage
from edgesvm.serve.journal import Journal
from edgesvm.serve.remarks import Facts, Remarks
from edgesvm.serve.score import Estimate, Forecasts, far_out, scored_by

if TYPE_CHECKING:
    from edgesvm.learners.drift import DriftWatch
    from edgesvm.preprocessing.chain import Chain

# What becomes of a row.
FATES = (
    "learned",
    "unlabelled",
    "refused_value",
    "unknown_label",
    "rare_label",
    "over_rate",
    "expired",
    "waiting",
)


class Targets:
    """What a regressor says of the rows of one stream.

    A row that follows the last one learned is forecast, which may use the target before; any other
    is predicted from its features alone.
    """

    def __init__(self, learner: Learner) -> None:
        self._learner: Any = learner
        self._has_intervals = hasattr(learner, "forecast_one")
        self._last: Estimate | None = None  # the last one issued
        self._asked = 0  # since the last one was learned
        self._follows = False
        self._next = -1  # number of the row that follows the last one
        self._n_seen = 0  # by the learner, after it was taught here: others may teach it too

    def ask(self, x: np.ndarray, sequence: int | None) -> Estimate | None:
        """Predicted target and the ends of its interval; None if nothing has been learned yet.
        `sequence`: None where labels come late."""
        learner = self._learner
        follows = self._follows and sequence == self._next and learner.n_seen_ == self._n_seen
        self._next = -1 if sequence is None else sequence + 1 & 0xFFFFFFFF
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
        """Learn one row. `issued` is what `ask` said of it; if it was asked for others since, the
        target has come late."""
        is_last = issued is self._last and (issued is not None or self._asked == 1)
        self._asked = 0
        if is_last or not self._has_intervals:
            self._learner.learn_one(x, y, weight)
        else:
            self._learner.learn_late_one(x, y, issued, weight)
        self._follows = is_last
        self._n_seen = self._learner.n_seen_


class HeldOut:
    """A copy of a learner, made after so many rows were learned, that learns no more: it answers
    all later rows, as the model will once labels stop. With `after` None there is none."""

    def __init__(self, learner: Learner, after: int | None, window: int, season: int = 0) -> None:
        self.score = scored_by(learner, window, season)
        self._learner = self._held = learner
        self.left = 0 if after is None else after  # rows until the copy is made
        self._answer: Callable[[np.ndarray], Any] | None = None  # the copy's
        self._ahead: Ahead | None = None  # of a regressor with intervals

    def __call__(self, x: np.ndarray, label: Any, predicted: Any) -> None:
        """A row was learned."""
        self.left -= 1
        if self._answer is not None:
            self.score.add(label, self._answer(x))
            return
        if self.left >= 0 and hasattr(self._learner, "forecast_one"):
            self._ahead = self._ahead or Ahead(self._learner, self._copied(), np.zeros(ERRORS[2]))
            self._ahead.learned(x, label)
        if self.left == 0 and self._learner.is_fitted:
            self._held = self._copied()
            self._answer = self._target if self._held.regresses else self._held.predict_one

    def _copied(self) -> Learner:
        held = copy.deepcopy(self._learner)
        held._columns = None  # rows have no names
        return held

    def _target(self, x: np.ndarray) -> Estimate:
        value = float(self._held.predict_one(x))
        if self._ahead is None:
            return value, math.nan, math.nan
        return (value, *self._ahead.interval(-self.left, value))

    def many(self, X: np.ndarray, labels: Sequence[Any]) -> None:
        """Rows were learned, no more than were left until the copy is made."""
        if self._answer is not None:
            self.score.add_many(labels, self._held.predict(X).tolist())
        else:
            self.left -= len(labels) - 1
            self(X[-1], labels[-1], None)


class Taught(Pupil):
    """Learns labels or targets. Each row is predicted first, and the prediction is scored.

    Every row is accounted for: ``rows = learned + unlabelled + refused_value + unknown_label +
    rare_label + over_rate + expired + waiting``. The last two are of late labels, that came too
    late or are still to come; `refused_value` is of a value or weight that the learner refused, and
    `rare_label` of a label that is not a class yet, see `Learner.rare_labels_`.

    Parameters
    ----------
    link : Link or RowsLink
    learner : Learner
        Allocated or not; its labels are integers of the link or the words that they stand for
        (`link.class_names`) or, of a regressor, targets.
    window, season, with_raw
        As of `score` and of `forecasts`.
    max_labels_per_second : float, optional
        Rows over this rate are not learned (`over_rate`), which limits what an intruder on the wire
        can teach. Bursts of up to one second's rows are learned.
    drift : DriftWatch, optional
        Told whether the learner is wrong about each row just before it learns it.
    strict : bool
        A label for which the learner has no room raises SampleRefused, and is not only counted.

    Attributes
    ----------
    score : Prequential or RegressionScore
        Of the rows that were learned.
    forecasts : Forecasts or None
        Of their probabilities, if the learner is `Calibrated`.
    listeners : list of callable
        Each is told the values, label and prediction of each row that was learned.
    """

    def __init__(
        self,
        link: Any,
        learner: Learner,
        *,
        window: int = 1000,
        max_labels_per_second: float | None = None,
        drift: DriftWatch | None = None,
        season: int = 0,
        strict: bool = False,
        with_raw: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if max_labels_per_second is not None and not max_labels_per_second > 0:
            raise ValueError(f"max_labels_per_second={max_labels_per_second}: give a number > 0")
        self.link, self.learner, self.drift = link, learner, drift
        self.score: Any = scored_by(learner, window, season)
        is_calibrated = is_a(learner, "Calibrated")
        self.forecasts = Forecasts(learner, with_raw=with_raw) if is_calibrated else None
        self.listeners: list[Callable[[np.ndarray, Any, Any], None]] = []
        self.learned = self.refused_value = self.unknown_label = self.over_rate = 0
        self.rare_label = 0
        self.own_unlabelled = 0  # those that do not wait for a late label
        self.remarks = Remarks(Facts(learner=learner, link=link, score=self.score))
        self._targets = Targets(learner) if learner.regresses else None
        self._fitted = learner.is_fitted  # kept here: asked of each row
        self._strict = strict
        self._rate, self._clock = max_labels_per_second, clock
        self._credit = 1.0 if self._rate is None else max(1.0, self._rate)
        self._credit_from = clock()

    @property
    def unlabelled(self) -> int:
        return self.own_unlabelled + getattr(self.link.late, "unlabelled", 0)

    @property
    def expired(self) -> int:
        return getattr(self.link.late, "expired", 0)

    @property
    def waiting(self) -> int:
        return getattr(self.link.late, "waiting", 0)

    def answer(
        self, x: np.ndarray, label: Any, weight: float, sequence: int
    ) -> tuple[Any, float, int]:
        late = self.link.late
        predicted, value, flags = None, 0.0, ABSTAIN
        try:
            if self._targets is not None:
                predicted = self._targets.ask(x, sequence if late is None else None)
            elif self._fitted:
                predicted, value = self.learner.predict_with_score(x)
            flags = ABSTAIN if predicted is None else 0
            if label is None:
                self._wait(x, sequence, predicted)
            else:
                if late is not None:
                    late.labelled(sequence)
                if self._learn(x, label, weight, predicted):
                    flags |= TRAINED
            self.remarks.add(x)
        except SampleRefused as refused:
            if not self.count_refused(refused):
                predicted, value, flags = None, 0.0, REJECTED
        return predicted, value, flags

    @property
    def together(self) -> float:
        looks = self._targets or self.drift or self.forecasts or self._rate
        told = [one for one in self.listeners if isinstance(one, HeldOut)]
        if looks or not self._fitted or self.link.late or len(told) < len(self.listeners):
            return 0
        return min([math.inf, *(one.left for one in told if one.left > 0)])

    def answer_many(self, X: np.ndarray, labels: Sequence[Any], weights: np.ndarray) -> int:
        predicted = self.learner.predict_and_learn(X, np.array(labels), weights).tolist()
        if (n := len(predicted)) == 0:
            return 0
        self.score.add_many(labels[:n], predicted)
        self.remarks.add_many(X[:n])
        for listener in self.listeners:
            assert isinstance(listener, HeldOut)  # see `together`
            listener.many(X[:n], labels[:n])
        self.learned += n
        return n

    def _wait(self, x: np.ndarray, sequence: int, predicted: Any) -> None:
        """Keep a predicted row without a label if its label may arrive later."""
        if self.link.late is None:
            self.own_unlabelled += 1
        else:
            number = number_of(self.link.class_names, predicted)
            self.link.late.wait(x.astype(np.float32, copy=False), sequence, number)

    def learn_late(self, job: Job) -> None:
        self._fitted = self.learner.is_fitted  # it may learn from other links too
        names = self.link.class_names
        while self.link.late is not None and (late := self.link.take_labelled()) is not None:
            x = late.x.astype(self.learner.dtype, copy=False)
            label = job.label_of(late.label)
            try:
                self._learn(x, label, late.weight, word_of(names, late.predicted))
            except SampleRefused as refused:
                self.count_refused(refused)
            if job.journal is not None and (at := job.journal.find(late.sequence)) is not None:
                job.journal.label(at, late.label)

    def _learn(self, x: np.ndarray, label: Any, weight: float, predicted: Any) -> bool:
        """Learn and score a row predicted earlier; whether it taught something. Not if the rate
        limit forbids it, and not a row of weight zero."""
        if self._rate is not None and self.is_over_rate():
            self.over_rate += 1
            return False
        return self.teach(x, label, weight, predicted) and weight > 0

    def teach(self, x: np.ndarray, label: Any, weight: float, predicted: Any) -> bool:
        """Learn and score a row predicted earlier; not if its label is rare."""
        drift, forecasts = self.drift, self.forecasts
        if forecasts is not None and self._fitted:
            forecasts.ask(x)
        if drift is not None and self._fitted:
            drift.ask(x)
        if self._targets is not None:
            self._targets.learn(x, label, weight, predicted)
        else:
            changed = self.learner.learn_one(x, label, weight)
            # any other row changes a model in which labels wait
            if not changed and weight > 0 and self.learner.core.labels.sifts:
                self.rare_label += 1
                return False
        self.learned += 1
        if forecasts is not None:
            forecasts.score(label)
        self._fitted = self._fitted or self.learner.is_fitted  # not after a weight of zero
        if predicted is not None:
            self.score.add(label, predicted)
        for listener in self.listeners:
            listener(x, label, predicted)
        if drift is not None and drift.score(label):
            self._fitted = False
        return True

    def count_refused(self, refused: SampleRefused) -> bool:
        """Count a refused row. Returns whether only its label was wrong."""
        if refused.status == Status.UNKNOWN_LABEL:
            if self._strict:
                raise refused
            self.unknown_label += 1
            return True
        self.refused_value += 1
        return refused.status == Status.BAD_TARGET

    def is_over_rate(self) -> bool:
        """Whether the limit of labels per second has been reached."""
        if self._rate is None:
            return False
        now = self._clock()
        earned = (now - self._credit_from) * self._rate
        self._credit = min(max(1.0, self._rate), self._credit + earned)
        self._credit_from = now
        if self._credit < 1:
            return True
        self._credit -= 1
        return False

    def counters(self, taken: int, stage: Stage) -> dict[str, Any]:
        fates = {fate: getattr(self, fate) for fate in FATES}
        return {"taken": taken, **fates, **far_out(self.learner), **stage.counters()}

    def broken(self, taken: int, stage: Stage) -> list[str]:
        accounted = sum(getattr(self, fate) for fate in FATES)
        rows = stage.counters().get("windows", taken)
        broken = stage.broken(taken)
        if rows != accounted:
            broken.append(f"rows {rows} = {' + '.join(FATES)} = {accounted}")
        return broken


class Asked(Taught):
    """Answers and learns nothing. Labels that come with the rows tell how good the answers are."""

    @property
    def together(self) -> float:
        return 0

    def teach(self, x: np.ndarray, label: Any, weight: float, predicted: Any) -> bool:
        if predicted is not None:
            self.score.add(label, predicted)
        self.own_unlabelled += 1
        return False


def taught(
    link: Any,
    model: Learner | Chain,
    *,
    kind: type[Taught] = Taught,
    answers: bool = True,
    journal: Journal | None = None,
    label_of: Callable[[Any], Any] | None = None,
    word: str | None = None,
    **options: Any,
) -> Job:
    """The job of a learner of labels or targets, or of a chain; `options` are those of `kind`.
    ValueError for a chain, if labels come after their samples."""
    stage, learner = None, learner_in(model)
    if not isinstance(model, Learner):
        if link.late is not None:
            raise ValueError(
                f"{link.name}: labels come after their samples, but a window needs them with its"
                " samples; give --label none to predict only"
            )
        from edgesvm.serve.windows import Windows

        stage = Windows(model, strict=options.get("strict", False))
    pupil = kind(link, learner, **options)
    if not isinstance(model, Learner):
        pupil.remarks.facts.names = model.windows_.names()
        pupil.remarks.facts.samples_a_window = model.windows_.window
    more: dict[str, Any] = {"answers": answers, "journal": journal, "label_of": label_of}
    return Job(link, pupil, stage=stage, model=model, word=word, **more)


def predict_then_learn(
    rows: RowSource,
    learner: Learner,
    at_most: int | None = None,
    *,
    listeners: Iterable[Callable[[np.ndarray, Any, Any], None]] = (),
    **options: Any,
) -> Taught:
    """One pass over rows: each is predicted, and the prediction is scored, then it is learned.

    Parameters
    ----------
    rows : RowSource
        For example ``Source(X, y)``, `open_rows` of a file or a `Stream`.
    learner : Learner
        Allocated or not.
    at_most : int, optional
        Rows to read.
    listeners, **options
        As of `Taught`, which is returned with its score and counts.

    Examples
    --------
    >>> from edgesvm import StreamSVM
    >>> from edgesvm.data import TwoNorm
    >>> from edgesvm.serve.taught import predict_then_learn
    >>> found = predict_then_learn(TwoNorm(seed=1), StreamSVM(), 2000)
    >>> found.score.n, found.score.accuracy > 0.9
    (1999, True)
    """
    from edgesvm.link.files import RowsLink

    job = taught(RowsLink(rows), learner, answers=False, **options)
    job.pupil.listeners += listeners
    while job.taken != at_most:
        try:
            job.step(0.0, None if at_most is None else at_most - job.taken)
        except LinkDown:  # the end
            break
    return job.pupil
