"""The main job: predict each sample from a link, learn it, and send the prediction back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from edgesvm.contract.names import number_of, word_of
from edgesvm.contract.registry import is_a
from edgesvm.core.status import Status
from edgesvm.errors import NotTaught, SampleRefused
from edgesvm.evaluation import Forecasts, far_out, scored_by, sets_of
from edgesvm.journal import Journal
from edgesvm.learner import Learner
from edgesvm.link import Link
from edgesvm.link.frames import ABSTAIN, REJECTED, TRAINED
from edgesvm.regression import Estimate, Estimates
from edgesvm.remarks import Facts, Remarks

if TYPE_CHECKING:
    from edgesvm.asking import Questions
    from edgesvm.learners.drift import DriftWatch
    from edgesvm.preprocessing.chain import Chain

# What becomes of a row.
FATES = (
    "learned",
    "unlabelled",
    "refused_value",
    "unknown_label",
    "over_rate",
    "expired",
    "waiting",
)


class Runner:
    """Passes samples from a link to a learner, and predictions back.

    Every sample is accounted for: ``taken = learned + unlabelled + refused_value + unknown_label +
    over_rate + expired + waiting``.

    Parameters
    ----------
    link : Link
        Open.
    learner : Learner
        Allocated or not; its labels are the integers of the link or the words that they stand for
        (`link.class_names`), or, of a regressor, its targets.
        What a regressor predicts is a target with its interval, (value, low, high).
    window : int
        Number of samples in the rolling accuracy.
    answers : bool
        Whether to send predictions back to the node.
    max_labels_per_second : float, optional
        Samples over this rate are not learned (`over_rate`), which limits what an intruder on the
        wire can teach. Bursts of up to one second's samples are learned.
    drift : DriftWatch, optional
        Of this learner: told whether it is wrong about each sample just before it learns it.
    journal : Journal, optional
        Each answer is written there too, for others to read.
    questions : Questions, optional
        Of the rows without a label those that its asker chooses are put there.
    season : int, default 0
        As of `RegressionScore`.
    clock : callable
        Monotonic clock, in seconds.

    Attributes
    ----------
    score : Prequential or RegressionScore
        Score of the samples that were learned; each was predicted before.
    remarks : Remarks
        On the learner, looked through about every 1,000 samples.
    forecasts : Forecasts
        Score of their probabilities, if the learner is `Calibrated`, asked just before learning.
    taken, learned, unlabelled, refused_value, unknown_label, over_rate, expired, waiting : int
        Samples taken from the link, and what became of them. `refused_value`: the learner refused
        a value or the weight. With late labels: `waiting` for the label; `expired`, the label came
        too late; `unlabelled`, no label is expected any more.
    """

    def __init__(
        self,
        link: Link,
        learner: Learner,
        *,
        window: int = 1000,
        answers: bool = True,
        max_labels_per_second: float | None = None,
        drift: DriftWatch | None = None,
        journal: Journal | None = None,
        questions: Questions | None = None,
        season: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if max_labels_per_second is not None and not max_labels_per_second > 0:
            raise ValueError(f"max_labels_per_second={max_labels_per_second}: give a number > 0")
        self.link = link
        self.learner = learner
        self.answers, self.drift, self.journal = answers, drift, journal
        self.questions = questions
        self.score, self.forecasts = scored_by(learner, window, season), Forecasts()
        self._estimates = Estimates(learner) if learner.regresses else None
        self._next = -1  # number of the sample that follows the last one
        self.taken = self.learned = self.refused_value = self.unknown_label = self.over_rate = 0
        self._unlabelled = 0
        self._rate = max_labels_per_second
        self._credit = 1.0 if self._rate is None else max(1.0, self._rate)
        self._clock = clock
        self._credit_from = clock()
        self._dtype = np.dtype(learner.dtype)
        self._is_float32 = self._dtype == np.float32
        for ring in (journal, None if questions is None else questions.ring):
            if ring is not None:
                ring.names = link.class_names
        self._is_calibrated = is_a(learner, "Calibrated")
        self._fitted = learner.is_fitted
        self.remarks = Remarks(Facts(learner=learner, score=self.score), self.counters)

    @property
    def model(self) -> Learner | Chain:
        """What is saved: the learner, or the chain that it is in."""
        return self.learner

    @property
    def unlabelled(self) -> int:
        return self._unlabelled + (0 if self.link.late is None else self.link.late.unlabelled)

    @property
    def expired(self) -> int:
        return 0 if self.link.late is None else self.link.late.expired

    @property
    def waiting(self) -> int:
        return 0 if self.link.late is None else self.link.late.waiting

    def step(self, timeout: float = 0.1, at_most: int | None = None) -> int:
        """Read once, handle the waiting samples and write the predictions. Returns the number of
        samples.

        Parameters
        ----------
        timeout : float
            Seconds to wait for the first byte.
        at_most : int, optional
            Samples to handle at most; the others stay in the link's ring.

        Raises
        ------
        LinkDown
            The port failed. Samples that had arrived are handled first.
        """
        try:
            self.link.poll(timeout)
        finally:
            n = self.handle_waiting(at_most)
        if n and self.answers:
            self.link.flush()
        return n

    def handle_waiting(self, at_most: int | None = None) -> int:
        """Handle the samples in the link's ring, at most `at_most`. Returns the number handled."""
        n = 0
        self._learn_late()
        while self.link.waiting and n != at_most:
            n += self._handle_batch(None if at_most is None else at_most - n)
            self._learn_late()
        self.remarks.turn(self.taken)
        return n

    def _handle_batch(self, most: int | None) -> int:
        """Handle the rows that wait and are contiguous, at most `most`. Returns the number."""
        self._fitted = self.learner.is_fitted  # it may learn from other links too
        batch = self.link.take(most)
        X = batch.X if self._is_float32 else batch.X.astype(self._dtype)
        rows = zip(
            X,
            batch.has_label.tolist(),
            batch.y.tolist(),
            batch.sequence.tolist(),
            batch.weight.tolist(),
            strict=True,
        )
        n = 0
        try:
            for x, labelled, label, sequence, weight in rows:
                n += 1
                self.handle(x, self._named(label) if labelled else None, sequence, weight)
        finally:  # a row is handled once, even if the port fails at its answer
            self.link.release(n)
        return n

    def handle(self, x: np.ndarray, label: Any, sequence: int, weight: float = 1.0) -> None:
        """Predict one sample, learn it, and send the prediction.

        Parameters
        ----------
        x : ndarray of shape (n_features,), of the learner's dtype
        label : int, float, str or None
            None if the sample has no label: it is only predicted.
        sequence : int
            The sample's sequence number.
        weight : float, default 1.0
        """
        self.taken += 1
        self._answer(x, label, sequence, weight)

    def _answer(self, x: np.ndarray, label: Any, sequence: int, weight: float) -> None:
        """Predict a row, learn it, and send the prediction."""
        predicted, value, flags = None, 0.0, ABSTAIN
        try:
            if self._estimates is not None:
                predicted = self._estimate(self._estimates, x, sequence)
            elif self._fitted:
                predicted, value = self.learner.predict_with_score(x)
            flags = ABSTAIN if predicted is None else 0
            if label is None:
                self._wait(x, sequence, predicted)
                if self.questions is not None:
                    self._ask(self.questions, x, sequence, predicted, value)
            else:
                if self.link.late is not None:
                    self.link.late.labelled(sequence)
                if self._learn(x, label, weight, predicted):
                    flags |= TRAINED
            self.remarks.add(x)
        except SampleRefused as refused:
            if not self._count_refused(refused):
                predicted, value, flags = None, 0.0, REJECTED
        if self.journal is not None:
            noted = flags | self.remarks.flags
            self.journal.add(
                sequence,
                predicted=self._number(predicted),
                score=value,
                flags=noted,
                label=self._number(label),
                x=x,
            )
        if self.answers:
            self._tell(sequence, predicted, value, flags)

    def _named(self, label: Any) -> Any:
        """A label of the link as it is learned: a word, where the link has words."""
        return word_of(self.link.class_names, label)

    def _number(self, label: Any) -> Any:
        """A label that is learned as the link and the journal have it: a number."""
        return number_of(self.link.class_names, label)

    def _estimate(self, estimates: Estimates, x: np.ndarray, sequence: int) -> Estimate | None:
        """Predict a target; from the one before too, if that has come with its sample."""
        follows = sequence == self._next and self.link.late is None
        self._next = sequence + 1 & 0xFFFFFFFF
        return estimates.ask(x, follows=follows)

    def _tell(self, sequence: int, predicted: Any, value: float, flags: int) -> None:
        """Send a prediction, None if there is none, to the node."""
        if self._estimates is not None:
            target, low, high = predicted or (0.0, 0.0, 0.0)
            self.link.send_estimate(sequence, target, low, high, flags)
        else:
            number = 0 if predicted is None else self._number(predicted)
            self.link.send_prediction(sequence, number, value, flags)

    def _wait(self, x: np.ndarray, sequence: int, predicted: Any) -> None:
        """Keep a predicted sample without a label if its label may arrive later."""
        if self.link.late is None:
            self._unlabelled += 1
        else:
            number = self._number(predicted)
            self.link.late.wait(x.astype(np.float32, copy=False), sequence, number)

    def _ask(
        self, questions: Questions, x: np.ndarray, sequence: int, predicted: Any, value: float
    ) -> None:
        """Ask a person about a row that was predicted, if it is worth a question."""
        assert questions.asker is not None
        if asked := questions.asker.asks(lambda: self._margin(x)):
            number = self._number(predicted)
            questions.add(x, sequence, number, value, asked, epoch=self.link.epochs)

    def _margin(self, x: np.ndarray) -> float:
        """How sure the learner is of its answer: how far it is from the next."""
        if not self._fitted:
            return 0.0
        values = self.learner.decision_one(x)
        if np.ndim(values) == 0:
            return abs(float(values))
        first, second = np.sort(values)[:-3:-1]
        return float(first - second)

    def _learn_late(self) -> None:
        """Learn and score the samples whose labels have arrived; each was predicted on arrival."""
        while self.link.late is not None and (late := self.link.take_labelled()) is not None:
            x = late.x.astype(self._dtype, copy=False)
            try:
                predicted = self._named(late.predicted)
                self._learn(x, self._named(late.label), late.weight, predicted)
            except SampleRefused as refused:
                self._count_refused(refused)
            self._note(late.sequence, late.label)

    def _note(self, sequence: int, label: float) -> list[tuple[Journal, int]]:
        """Note the label of a row wherever the row is kept; returns the journals and places."""
        kept = [self.journal, None if self.questions is None else self.questions.ring]
        found = [(one, one.find(sequence)) for one in kept if one is not None]
        places = [(journal, place) for journal, place in found if place is not None]
        for journal, place in places:
            journal.label(place, self._number(label))
        return places

    def teach(self, sequence: int, label: Any) -> list[tuple[Journal, int]]:
        """Learn an earlier row with a label that did not come over the wire, and score the
        prediction made when it arrived. Call it between two steps.

        The row is the newest of this number in the journal. It counts as learned from now on.

        Parameters
        ----------
        sequence : int
            The sample's sequence number; of a window, that of its last sample.
        label : int or str, or float for a regressor

        Returns
        -------
        list of (Journal, int)
            Where the row is kept, and now has its label.

        Raises
        ------
        NotTaught
            The row has a label, is gone or was refused; the learner refuses the label; or there
            were too many labels in the last second. Nothing has changed, but that a waiting row
            whose label the learner refuses counts as refused.
        """
        place = None if self.journal is None else self.journal.find(sequence)
        if self.journal is None or place is None:
            raise NotTaught(f"row {sequence:,} is no longer kept")
        entry = self.journal.entry(place)
        if entry["has_label"]:
            known = self.journal.told(entry, "label")
            raise NotTaught(f"row {sequence:,} has the label {known} already")
        if int(entry["flags"]) & REJECTED:
            raise NotTaught(f"row {sequence:,} was refused: a value is too large")
        return self._teach_entry(entry, label)

    def answer(self, number: int, label: Any) -> list[tuple[Journal, int]]:
        """Learn the row of a question as `teach` does, with the answer for its label.

        Raises
        ------
        NotTaught
            As `teach`; or the question is no longer kept, or has an answer.
        """
        if (questions := self.questions) is None:
            raise NotTaught("nothing is asked: see --ask")
        entry = questions.question(number)
        places = self._teach_entry(entry, label, questions.epoch(number))
        questions.answer(number, self._number(label))
        return list({*places, (questions.ring, number)})

    def _teach_entry(
        self, entry: np.void, label: Any, epoch: int | None = None
    ) -> list[tuple[Journal, int]]:
        """Teach the row of an entry of a journal, which may wait for its label; `epoch` is that of
        its number, of which there may be another row by now."""
        if self._is_over_rate():
            raise NotTaught("too many labels a second: see --max-labels-per-second")
        late, sequence = self.link.late, int(entry["sequence"])
        is_last = epoch is None or epoch == self.link.epochs
        waits = is_last and late is not None and late.claim(sequence) is not None
        predicted = self._predicted_in(entry) if entry["has_prediction"] else None
        try:
            self._teach(entry["x"], self._named(label), 1.0, predicted)
        except SampleRefused as refused:
            if waits:
                self._count_refused(refused)
            raise NotTaught(str(refused)) from refused
        self._unlabelled -= not waits
        return self._note(sequence, label) if is_last else []

    def take_back(self, places: Iterable[tuple[Journal, int]], n: int) -> None:
        """Count n rows that were taught as unlabelled again, at these places too."""
        for journal, place in places:
            if journal.has(place):
                journal.label(place, None)
        self.learned -= n
        self._unlabelled += n

    def _predicted_in(self, entry: np.void) -> Any:
        """The prediction in an entry of the journal."""
        value = entry["predicted"].item()
        if self._estimates is None:
            return self._named(value)
        return value, *entry[["low", "high"]].item()

    def _count_refused(self, refused: SampleRefused) -> bool:
        """Count a refused sample. Returns whether only its label was wrong."""
        if refused.status == Status.UNKNOWN_LABEL:
            self.unknown_label += 1
            return True
        self.refused_value += 1
        return refused.status == Status.BAD_TARGET

    def _is_over_rate(self) -> bool:
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

    def _learn(self, x: np.ndarray, label: Any, weight: float, predicted: Any) -> bool:
        """Learn and score a sample predicted earlier. False if the rate limit forbids it."""
        if self._is_over_rate():
            self.over_rate += 1
            return False
        self._teach(x, label, weight, predicted)
        return weight > 0  # weight zero is counted as seen, and teaches nothing

    def _teach(self, x: np.ndarray, label: Any, weight: float, predicted: Any) -> None:
        """Learn and score a sample predicted earlier."""
        forecast = self._forecast(x)
        if self.drift is not None and self._fitted:
            self.drift.ask(x)
        if self._estimates is not None:
            self._estimates.learn(x, label, weight, predicted)
        else:
            self.learner.learn_one(x, label, weight)
        self.learned += 1
        if forecast is not None:
            self.forecasts.add(label, *forecast)
        self._fitted = self._fitted or self.learner.is_fitted  # not after a weight of zero
        if predicted is not None:
            self.score.add(label, predicted)
        if self.drift is not None and self.drift.score(label):
            self._fitted = False

    def _forecast(self, x: np.ndarray) -> tuple[list[Any], np.ndarray] | None:
        """Labels and probabilities of a sample that is about to be learned, if there are any."""
        if not self._fitted or not self._is_calibrated:
            return None
        learner: Any = self.learner
        return learner.classes_.tolist(), learner.predict_proba_one(x)

    def probability_summary(self) -> dict[str, Any]:
        """The score of the probabilities, for a JSON line; empty if there are none."""
        if not self._is_calibrated:
            return {}
        return {"probabilities": self.forecasts.summary() | sets_of(self.learner)}

    def counters(self) -> dict[str, Any]:
        """The counters of the runner and of the link, in one dict."""
        return {
            "taken": self.taken,
            **{fate: getattr(self, fate) for fate in FATES},
            **far_out(self.learner),
            **({} if self.questions is None else self.questions.counters()),
            **self.link.counters,
        }

    def check_identities(self) -> list[str]:
        """Counter identities that do not hold, including the link's; empty if all hold."""
        broken = list(self.link.check_identities())
        accounted = sum(getattr(self, fate) for fate in FATES)
        if self.taken != accounted:
            broken.append(f"samples taken {self.taken} = {' + '.join(FATES)} = {accounted}")
        return broken
