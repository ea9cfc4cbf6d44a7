"""The main job: samples from a link are predicted, answered, and learned; one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from edgesvm.core.status import Status
from edgesvm.errors import SampleRefused
from edgesvm.evaluation import Prequential
from edgesvm.ingest import Link
from edgesvm.ingest.wire import ABSTAIN, REJECTED, TRAINED
from edgesvm.learner import Learner


class Runner:
    """Carries samples from a link to a learner and predictions back.

    Every sample is accounted for: ``taken = learned + unlabelled + bad_value + unknown_label``.

    Parameters
    ----------
    link : Link
        Open.
    learner : Learner
        Allocated or not; its labels are the integers of the link.
    window : int
        Samples of the rolling accuracy.
    """

    def __init__(self, link: Link, learner: Learner, *, window: int = 1000) -> None:
        self.link = link
        self.learner = learner
        self.score = Prequential(window)
        self.taken = self.learned = self.unlabelled = self.bad_value = self.unknown_label = 0
        self._dtype = np.dtype(learner.dtype)
        self._fitted = learner.is_fitted

    def step(self, timeout: float = 0.1) -> int:
        """Read once, handle every sample that is there, and write the answers; how many there were.

        Raises
        ------
        LinkDown
            The port died. Samples that had come in are handled first.
        """
        try:
            self.link.poll(timeout)
        finally:
            n = self.handle_waiting()
        if n:
            self.link.flush()
        return n

    def handle_waiting(self) -> int:
        """Handle the samples in the link's ring; how many there were."""
        n_total = 0
        while self.link.schema is not None and (n := len((batch := self.link.take()).y)):
            X = batch.X.astype(self._dtype, copy=False)
            labels, sequences = batch.y.tolist(), batch.sequence.tolist()
            plain = bool((batch.weight == 1.0).all())
            for i, labelled in enumerate(batch.has_label.tolist()):
                weight = None if plain else float(batch.weight[i])
                self.handle(X[i], labels[i] if labelled else None, sequences[i], weight)
            self.link.release(n)
            n_total += n
        return n_total

    def handle(
        self, x: np.ndarray, label: int | None, sequence: int, weight: float | None = None
    ) -> None:
        """Predict, answer, then learn one sample."""
        self.taken += 1
        try:
            predicted, value = self._predict(x)
        except SampleRefused:
            self.bad_value += 1
            self.link.send_prediction(sequence, 0, 0.0, REJECTED)
            return
        flags = TRAINED if self._learn(x, label, weight) else 0
        if predicted is None:
            flags |= ABSTAIN
        elif label is not None:
            self.score.add(label, predicted)
        self.link.send_prediction(sequence, predicted or 0, value, flags)

    def _predict(self, x: np.ndarray) -> tuple[int | None, float]:
        """None where nothing was learned yet."""
        if not self._fitted:
            return None, 0.0
        return self.learner.predict_one(x), self.learner.decision_one(x)

    def _learn(self, x: np.ndarray, label: int | None, weight: float | None) -> bool:
        if label is None:
            self.unlabelled += 1
            return False
        try:
            if weight is None:
                self.learner.learn_one(x, label)
            else:
                self.learner.partial_fit(x[None, :], [label], sample_weight=[weight])
        except SampleRefused as refused:
            if refused.status == Status.UNKNOWN_LABEL:
                self.unknown_label += 1
            else:
                self.bad_value += 1
            return False
        self.learned += 1
        self._fitted = True
        return True

    def run(
        self, stopping: Callable[[], bool], on_step: Callable[[Runner], None], timeout: float = 0.1
    ) -> None:
        """Step until `stopping` says so; raises as `step` does."""
        while not stopping():
            self.step(timeout)
            on_step(self)

    def counters(self) -> dict[str, Any]:
        """Counts of samples here and of the link's, flat."""
        return {
            "taken": self.taken,
            "learned": self.learned,
            "unlabelled": self.unlabelled,
            "refused_value": self.bad_value,
            "unknown_label": self.unknown_label,
            **self.link.counters,
        }

    def check_identities(self) -> list[str]:
        """Closing identities that do not hold, the link's among them; empty when all do."""
        broken = list(self.link.check_identities())
        accounted = self.learned + self.unlabelled + self.bad_value + self.unknown_label
        if self.taken != accounted:
            broken.append(
                f"samples taken {self.taken} = learned + unlabelled + refused {accounted}"
            )
        return broken
