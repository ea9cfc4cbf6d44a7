"""What a node makes of the predictions it gets back: were they right, and how long did they take?

The node keeps the true label of what it sent, whether or not it told the host, so it can score a
host that it never teaches. All of it in fixed memory.
"""

from __future__ import annotations

from collections import deque

from edgesvm.ingest.wire import ABSTAIN, REJECTED, TRAINED, Prediction

# Samples a prediction may come late by and still be scored: five minutes at 200 samples a second.
REMEMBERED = 1 << 16


class Scorer:
    """Scores predictions by the sequence number of their sample.

    Parameters
    ----------
    window : int
        Length of the first and the last stretch whose accuracy is told apart.

    Attributes
    ----------
    received, scored, correct : int
        Predictions that came in; those with a class, for a sample with a label; those that were
        right.
    abstained, rejected : int
        Predictions flagged so; not scored.
    unknown : int
        For a sample never sent, too long ago, or answered before.
    trained : int
        Predictions whose sample the host says it has learned.
    """

    def __init__(self, window: int = 1000) -> None:
        if window < 1:
            raise ValueError(f"window must be at least 1 prediction, got {window}")
        self.window = window
        self.received = self.scored = self.correct = 0
        self.abstained = self.rejected = self.unknown = self.trained = 0
        self._first_correct = 0
        self._last: deque[bool] = deque(maxlen=window)
        self._latency_s: deque[float] = deque(maxlen=REMEMBERED)
        self.forget()

    def forget(self) -> None:
        """Drop the samples waiting for an answer, as a reboot does; the score stays."""
        self._sequence = [-1] * REMEMBERED
        self._label: list[int | None] = [None] * REMEMBERED
        self._sent_at = [0.0] * REMEMBERED

    def sent(self, sequence: int, label: int | None, now: float) -> None:
        """A sample has gone out."""
        slot = sequence % REMEMBERED
        self._sequence[slot], self._label[slot], self._sent_at[slot] = sequence, label, now

    def answered(self, prediction: Prediction, now: float) -> None:
        """A prediction has come in."""
        self.received += 1
        slot = prediction.sequence % REMEMBERED
        if self._sequence[slot] != prediction.sequence:
            self.unknown += 1
            return
        self._sequence[slot] = -1
        self._latency_s.append(now - self._sent_at[slot])
        self.trained += bool(prediction.flags & TRAINED)
        if prediction.flags & (ABSTAIN | REJECTED):
            self.abstained += bool(prediction.flags & ABSTAIN)
            self.rejected += bool(prediction.flags & REJECTED)
            return
        label = self._label[slot]
        if label is None:
            return
        right = prediction.label == label
        if self.scored < self.window:
            self._first_correct += right
        self.scored += 1
        self.correct += right
        self._last.append(right)

    @property
    def accuracy(self) -> float | None:
        """Share of right ones among all scored; None before the first."""
        return self.correct / self.scored if self.scored else None

    @property
    def first_accuracy(self) -> float | None:
        """The same among the first ``window``."""
        return self._first_correct / min(self.scored, self.window) if self.scored else None

    @property
    def last_accuracy(self) -> float | None:
        """The same among the last ``window``."""
        return sum(self._last) / len(self._last) if self._last else None

    def latency_us(self) -> dict[str, float] | None:
        """Microseconds from sample to prediction over the last 65,536: ``p50``, ``p99``, ``max``.

        As the simulator sees it, its own turn-around included.
        """
        if not self._latency_s:
            return None
        ordered = sorted(self._latency_s)
        last = len(ordered) - 1
        return {
            "p50": ordered[last // 2] * 1e6,
            "p99": ordered[round(0.99 * last)] * 1e6,
            "max": ordered[-1] * 1e6,
        }
