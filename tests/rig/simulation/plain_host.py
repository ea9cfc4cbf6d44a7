"""The host in its plainest form: a loop over the samples that arrived, and a learner.

It keeps no ring, no outbox and no checkpoint, and is never saved or loaded. What `edgesvm run`
learns, counts and answers must be the same after each of its steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from edgesvm.core.status import Status
from edgesvm.errors import SampleRefused
from edgesvm.learner import Learner
from edgesvm.learners.drift import DriftWatch
from edgesvm.link.wire import ABSTAIN, REJECTED, TRAINED
from rig.simulation.arrivals import Epoch, Label, Reader, Row

REMEMBERED = 1024  # numbers for which a late label is recognised


class Answer(NamedTuple):
    """What the node must be told about a sample."""

    sequence: int
    label: int
    score: float
    flags: int


class Waiting:
    """The samples that wait for a late label: a dict that forgets only numbers long ago."""

    def __init__(self, capacity: int) -> None:
        self.counts: Counter[str] = Counter()
        self.unlabelled = 0
        self._capacity = capacity
        self._remembered = max(REMEMBERED, 1 << (8 * capacity - 1).bit_length())
        self._awaits: dict[int, bool] = {}
        self._kept: dict[int, tuple[np.ndarray, int | None]] = {}
        self._highest = -1

    @property
    def waiting(self) -> int:
        return len(self._kept)

    def forget(self) -> None:
        """Another epoch begins."""
        self.unlabelled += self.waiting
        self._awaits, self._kept, self._highest = {}, {}, -1

    def enter(self, n: int, x: np.ndarray, predicted: int | None) -> None:
        """A sample came without its label."""
        for old in [m for m in self._kept if n - m >= self._capacity]:
            del self._kept[old]
            self.unlabelled += 1
        self._highest = max(n, self._highest)
        self._awaits[n] = True
        if self._highest - n >= self._capacity:
            self.unlabelled += 1
        else:
            self._kept[n] = x, predicted

    def match(self, n: int) -> tuple[np.ndarray, int | None] | None:
        """The sample that this label is for, if it waits."""
        if n not in self._awaits or not 0 <= self._highest - n < self._remembered:
            self.counts["unknown"] += 1
        elif not self._awaits[n]:
            self.counts["duplicate"] += 1
        else:
            self._awaits[n] = False
            if n in self._kept:
                self.counts["matched"] += 1
                return self._kept.pop(n)
            self.counts["expired"] += 1
            self.unlabelled -= 1
        return None


class PlainHost:
    """Takes what a reader found, and does with it what `edgesvm run` must do.

    Attributes
    ----------
    counts : Counter
        By the names of the host's counters.
    answers : list of Answer
        Since somebody took them.
    refused : list of int
        Numbers of refused samples that the node may be told about.
    """

    def __init__(
        self,
        reader: Reader,
        learner: Learner,
        *,
        late: int,
        rate: float | None,
        drift: DriftWatch | None,
        clock: Callable[[], float],
    ) -> None:
        self.reader, self.learner, self.drift = reader, learner, drift
        self.counts: Counter[str] = Counter()
        self.answers: list[Answer] = []
        self._rate = rate
        self._waiting = Waiting(late) if late else None
        self._clock = clock
        self._credit, self._credit_from = max(1.0, rate or 1.0), clock()

    def catch_up(self) -> None:
        """Handle all that has arrived."""
        arrived, self.reader.arrived = self.reader.arrived, []
        for one in arrived:
            if isinstance(one, Row):
                self._row(one)
            elif isinstance(one, Epoch):
                if self._waiting is not None:
                    self._waiting.forget()
            else:
                self._late_label(one)

    def counters(self) -> dict[str, int]:
        """All that must be equal to the host's counters."""
        waiting = self._waiting
        names = "taken", "learned", "refused_value", "unknown_label", "rare_label", "over_rate"
        told = {name: self.counts[name] for name in names}
        told["unlabelled"] = self.counts["unlabelled"] + (waiting.unlabelled if waiting else 0)
        told["expired"] = waiting.counts["expired"] if waiting else 0
        told["waiting"] = waiting.waiting if waiting else 0
        if self.reader.takes_late and waiting is not None:
            told |= {
                f"label_{name}": waiting.counts[name]
                for name in ("matched", "duplicate", "expired", "unknown")
            }
        return told | self.reader.counters()

    def _row(self, row: Row) -> None:
        self.counts["taken"] += 1
        x = row.x.astype(self.learner.dtype)
        predicted, score, flags = None, 0.0, ABSTAIN
        try:
            if self.learner.is_fitted:
                predicted, score = self.learner.predict_with_score(x)
                flags = 0
            if row.label is None:
                self._wait(row, predicted)
            elif self._learn(x, row.label, row.weight, predicted):
                flags |= TRAINED if row.weight > 0 else 0
        except SampleRefused as refused:
            if self._refuse(refused):
                predicted, score, flags = None, 0.0, REJECTED
        self.answers.append(Answer(row.sequence, predicted or 0, score, flags))

    def _wait(self, row: Row, predicted: int | None) -> None:
        if self._waiting is None or not self.reader.takes_late:
            self.counts["unlabelled"] += 1
        else:
            self._waiting.enter(row.sequence, row.x, predicted)

    def _late_label(self, late: Label) -> None:
        assert self._waiting is not None
        found = self._waiting.match(late.sequence)
        if found is None:
            return
        x, predicted = found
        try:
            self._learn(x.astype(self.learner.dtype), late.label, late.weight, predicted)
        except SampleRefused as refused:
            self._refuse(refused)

    def _refuse(self, refused: SampleRefused) -> bool:
        """Count it; whether its values were wrong, and not its label only."""
        of_label = refused.status == Status.UNKNOWN_LABEL
        self.counts["unknown_label" if of_label else "refused_value"] += 1
        return not of_label

    def _learn(self, x: np.ndarray, label: int, weight: float, predicted: Any) -> bool:
        if not self._may_learn():
            self.counts["over_rate"] += 1
            return False
        if self.drift is not None and self.learner.is_fitted:
            self.drift.ask(x)
        changed = self.learner.learn_one(x, label, weight)
        if not changed and weight > 0 and self.learner.core.labels.sifts:
            self.counts["rare_label"] += 1
            return False
        self.counts["learned"] += 1
        if predicted is not None:
            self.counts["scored"] += 1
            self.counts["right"] += predicted == label
        if self.drift is not None:
            self.drift.score(label)
        return True

    def _may_learn(self) -> bool:
        """Whether the labels of this second are within the limit: a bucket that drips."""
        if self._rate is None:
            return True
        now = self._clock()
        drips = (now - self._credit_from) * self._rate
        self._credit, self._credit_from = min(max(1.0, self._rate), self._credit + drips), now
        if self._credit < 1:
            return False
        self._credit -= 1
        return True
