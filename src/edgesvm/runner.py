"""The main job: samples from a link are predicted, answered, and learned; one after the other."""

from __future__ import annotations

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
    answers : bool
        Whether predictions go back to the node.

    Attributes
    ----------
    score : Prequential
        Of the samples that were learned; each was predicted before.
    taken, learned, unlabelled, bad_value, unknown_label : int
        Samples, by what became of them.
    """

    def __init__(
        self, link: Link, learner: Learner, *, window: int = 1000, answers: bool = True
    ) -> None:
        self.link = link
        self.learner = learner
        self.answers = answers
        self.score = Prequential(window)
        self.taken = self.learned = self.unlabelled = self.bad_value = self.unknown_label = 0
        self._dtype = np.dtype(learner.dtype)
        self._fitted = learner.is_fitted

    def step(self, timeout: float = 0.1, at_most: int | None = None) -> int:
        """Read once, handle the samples that are there, and write the answers; how many there were.

        Parameters
        ----------
        timeout : float
            Seconds to wait for a byte when there is none.
        at_most : int, optional
            Samples to handle; the others stay in the link's ring.

        Raises
        ------
        LinkDown
            The port died. Samples that had come in are handled first.
        """
        try:
            self.link.poll(timeout)
        finally:
            n = self.handle_waiting(at_most)
        if n and self.answers:
            self.link.flush()
        return n

    def handle_waiting(self, at_most: int | None = None) -> int:
        """Handle the samples in the link's ring, `at_most` of them; how many there were."""
        n_total = 0
        while self.link.schema is not None and n_total != at_most:
            batch = self.link.take(None if at_most is None else at_most - n_total)
            if not (n := len(batch.y)):
                break
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
        """Predict, then learn one sample, and answer it.

        Parameters
        ----------
        x : ndarray of shape (n_features,), of the learner's dtype
        label : int or None
            None: it has none, and is predicted only.
        sequence : int
            The node's number of it.
        weight : float, optional
            One by default.
        """
        self.taken += 1
        predicted, value, flags = None, 0.0, ABSTAIN
        try:
            if self._fitted:
                predicted, value, flags = (
                    self.learner.predict_one(x),
                    self.learner.decision_one(x),
                    0,
                )
            if label is None:
                self.unlabelled += 1
            else:
                self._learn(x, label, weight)
                flags |= TRAINED
                if predicted is not None:
                    self.score.add(label, predicted)
        except SampleRefused as refused:
            if refused.status == Status.UNKNOWN_LABEL:
                self.unknown_label += 1
            else:
                self.bad_value += 1
                predicted, value, flags = None, 0.0, REJECTED
        if self.answers:
            self.link.send_prediction(sequence, 0 if predicted is None else predicted, value, flags)

    def _learn(self, x: np.ndarray, label: int, weight: float | None) -> None:
        if weight is None:
            self.learner.learn_one(x, label)
        else:
            self.learner.partial_fit(x[None, :], [label], sample_weight=[weight])
        self.learned += 1
        self._fitted = self._fitted or self.learner.is_fitted  # a weight of zero teaches nothing

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
