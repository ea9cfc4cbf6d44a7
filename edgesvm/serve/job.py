"""One job: samples of a source become rows, a pupil answers and learns them, and others are told.

    source ──take──> stage ──row──> pupil ──answer──> node, journal (outputs, page), listeners
    (link, file)     (windows)      (labels, targets, what is normal)

`run`, `watch`, `eval`, `record` and `look` are descriptions of a job. A pupil is `Taught`, of
labels or targets, or `Watch`, without either; a job without one only hands its batches on (`keep`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from edgesvm.contract.names import number_of, word_of
from edgesvm.core.status import Status
from edgesvm.errors import SampleRefused
from edgesvm.link._ring import Batch
from edgesvm.link.wire import ABSTAIN, REJECTED, TRAINED
from edgesvm.serve.journal import Journal
from edgesvm.serve.remarks import Remarks

Row = tuple[np.ndarray, Any, float]  # values, label or None, weight
MANY = 16  # rows, from which on one call for all of them pays


class Pupil(ABC):
    """What answers the rows of a job, and learns them. Its `state` is another object where
    something is to be told before more rows are handled."""

    learner: Any
    remarks: Remarks
    state: Any = None

    @abstractmethod
    def answer(
        self, x: np.ndarray, label: Any, weight: float, sequence: int
    ) -> tuple[Any, float, int]:
        """Predict a row, and learn it: a label, or (value, low, high) of a target, or None; the
        decision value; and flags as on the wire. Raises SampleRefused if it is refused, and nobody
        is told."""

    @property
    def together(self) -> float:
        """How many rows `answer_many` may have now, as nobody is told the answers."""
        return 0

    def answer_many(self, X: np.ndarray, labels: Sequence[Any], weights: np.ndarray) -> int:
        """`answer` the first of these rows together. Returns how many; the others are for
        `answer`."""
        return 0

    @abstractmethod
    def counters(self, taken: int, stage: Stage) -> dict[str, Any]:
        """All counts but the link's, after so many samples."""

    @abstractmethod
    def broken(self, taken: int, stage: Stage) -> list[str]:
        """Identities of the counters that do not hold."""

    def refused(self) -> None:  # noqa: B027  (as the next two: a pupil may do nothing then)
        """A sample was refused, before it became a row or as one."""

    def learn_late(self, job: Job) -> None:  # noqa: B027
        """Learn the rows whose labels have come since; called between two batches."""

    def look(self, job: Job) -> None:  # noqa: B027
        """Look at what needs no sample; called in each step and while the port is gone."""


class Stage:
    """Each sample is a row."""

    steady = True  # each gives an answer

    def row(self, x: np.ndarray, label: Any, weight: float, sequence: int) -> Row | None:
        """The row that a sample completes; None if it completes none."""
        return x, label, weight

    def learned(self, x: np.ndarray) -> None:
        """The row of this sample was learned."""

    def begin_again(self) -> None:
        """The samples are numbered anew."""

    def counters(self) -> dict[str, int]:
        return {}

    def broken(self, taken: int) -> list[str]:
        """Identities of the counters that do not hold, after so many samples."""
        return []


class Job:
    """Takes the samples of an open link, has a pupil answer and learn them, and tells of each
    answer: the node, with `answers`, and the journal, which other threads read.

    keep : in place of a pupil, takes each `Batch`, and the labels before it; the last of a step,
        and one before which labels came, is empty
    model : what is saved; by default the pupil's learner
    signal : is told the samples of each batch, if it is there
    label_of : the label to learn, by the source's; by default the word that stands for it, if any
    word : the label of all samples from now on, in place of their own; None: their own

    `taken` counts the samples so far; `sequence` is the number of the last.
    """

    def __init__(
        self,
        link: Any,
        pupil: Any = None,
        *,
        stage: Stage | None = None,
        model: Any = None,
        keep: Callable[[Batch], None] | None = None,
        answers: bool = False,
        journal: Journal | None = None,
        label_of: Callable[[Any], Any] | None = None,
        word: str | None = None,
    ) -> None:
        self.word = word
        self.link, self.pupil, self.stage = link, pupil, Stage() if stage is None else stage
        self.model = pupil.learner if model is None and pupil is not None else model
        self.answers, self.taken, self.sequence = answers, 0, 0
        self._keep, self._epochs = keep, link.epochs
        self._is_straight = stage is None
        self._label_of = label_of
        self.signal: Any = None
        self.journal = journal
        if pupil is not None:
            self._dtype, self._regresses = np.dtype(pupil.learner.dtype), pupil.learner.regresses
            pupil.remarks.counters = self.counters

    @property
    def journal(self) -> Journal | None:
        return self._journal

    @journal.setter
    def journal(self, journal: Journal | None) -> None:
        self._journal = journal
        if journal is not None:
            journal.names = self.link.class_names

    def step(self, timeout: float = 0.1, at_most: int | None = None) -> int:
        """Read once, waiting so many seconds for the first byte, handle the samples that wait, at
        most so many, and write the answers. Returns how many samples. It returns early where there
        is something to tell; what is behind waits in the link's ring.

        Raises LinkDown: the port failed, or the file is at its end. Samples that had come are
        handled first.
        """
        try:
            self.link.poll(timeout)
        finally:
            n = self.handle_waiting(at_most)
        if n and self.answers:
            self.link.flush()
        return n

    def handle_waiting(self, at_most: int | None = None) -> int:
        """Handle the samples that have come, at most so many. Returns how many."""
        if self._keep is not None:
            return self._hand_on(self._keep, at_most)
        n, pupil = 0, self.pupil
        pupil.look(self)
        state = pupil.state
        if self.link.epochs != self._epochs:  # a restarted node may reach the due number by chance
            self._epochs = self.link.epochs
            self.stage.begin_again()
        pupil.learn_late(self)
        while self.link.waiting and n != at_most and pupil.state is state:
            n += self._handle_batch(None if at_most is None else at_most - n)
            pupil.learn_late(self)
        pupil.remarks.turn(self.taken)
        return n

    def _handle_batch(self, most: int | None) -> int:
        """Handle the rows that wait and are contiguous, at most so many."""
        batch, n, pupil = self.link.take(most), 0, self.pupil
        state, maps_labels = pupil.state, self._label_of is not None or bool(self.link.class_names)
        if n := self._handle_many(batch):
            self.link.release(n)
            return n
        rows = zip(
            batch.X.astype(self._dtype, copy=False),
            batch.has_label.tolist(),
            batch.y.tolist(),
            batch.sequence.tolist(),
            batch.weight.tolist(),
            strict=True,
        )
        try:
            for x, labelled, label, sequence, weight in rows:
                n += 1
                if self.word is not None:
                    self.handle(x, self.word, sequence, weight)
                elif labelled and maps_labels:
                    self.handle(x, self.label_of(label), sequence, weight)
                else:
                    self.handle(x, label if labelled else None, sequence, weight)
                if pupil.state is not state:
                    break
        finally:  # a row is handled once, even if that fails
            if self.signal is not None:
                self.signal.add(batch.X[:n])
            self.link.release(n)
        return n

    def _handle_many(self, batch: Batch) -> int:
        """`handle` the first rows together, if nobody is told of each. Returns how many."""
        told = self.answers or self._journal is not None or not self._is_straight
        if told or self.word is not None or len(batch.y) < MANY or not batch.has_label.all():
            return 0
        if (n := int(min(len(batch.y), self.pupil.together))) == 0:
            return 0
        own = batch.y[:n].tolist()
        words = {label: self.label_of(label) for label in set(own)}
        X = batch.X[:n].astype(self._dtype, copy=False)
        n = self.pupil.answer_many(X, [words[label] for label in own], batch.weight[:n])
        if n:
            self.taken, self.sequence = self.taken + n, int(batch.sequence[n - 1])
        return n

    def label_of(self, label: Any) -> Any:
        """The label to learn, by the source's."""
        if self._label_of is not None:
            return self._label_of(label)
        return word_of(self.link.class_names, label)

    def _hand_on(self, keep: Callable[[Batch], None], at_most: int | None) -> int:
        before, most = self.taken, at_most
        while True:
            batch = self.link.take(most)
            n = len(batch.y)
            keep(batch)
            self.link.release(n)
            self.taken += n
            most = None if most is None else most - n
            if not n and (most == 0 or not self.link.waiting):  # else a label was before the rows
                return self.taken - before

    def handle(self, x: np.ndarray, label: Any, sequence: int, weight: float = 1.0) -> None:
        """Take in one sample, of the learner's dtype; have the row that it completes answered and
        learned, and tell."""
        self.taken += 1
        self.sequence = sequence
        try:
            if self._is_straight:
                predicted, score, flags = self.pupil.answer(x, label, weight, sequence)
            else:
                row = self.stage.row(x, label, weight, sequence)
                if row is None:
                    return
                sample, (x, label, weight) = x, row
                predicted, score, flags = self.pupil.answer(x, label, weight, sequence)
                if flags & TRAINED:
                    self.stage.learned(sample)
        except SampleRefused as refused:
            if refused.status == Status.UNKNOWN_LABEL:
                raise
            self.pupil.refused()
            if self.answers:
                self.link.send_prediction(sequence, 0, 0.0, REJECTED)
            return
        if self._journal is not None:
            self._journal.add(
                sequence,
                predicted=None if flags & ABSTAIN else self._number(predicted),
                score=score,
                flags=flags | self.pupil.remarks.flags,
                label=self._number(label),
                x=x,
            )
        if self.answers and self._regresses:
            self.link.send_estimate(sequence, *(predicted or (0.0, 0.0, 0.0)), flags)
        elif self.answers:
            number = 0 if predicted is None else self._number(predicted)
            self.link.send_prediction(sequence, number, score, flags)

    def _number(self, label: Any) -> Any:
        """A label that is learned as the link and the journal have it: a number."""
        return number_of(self.link.class_names, label)

    def counters(self) -> dict[str, Any]:
        """The counters of the job and of the link, in one dict."""
        return {**self.pupil.counters(self.taken, self.stage), **self.link.counters}

    def check_identities(self) -> list[str]:
        """Counter identities that do not hold, including the link's; empty if all hold."""
        return [*self.link.check_identities(), *self.pupil.broken(self.taken, self.stage)]
