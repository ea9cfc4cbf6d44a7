"""What a node makes of the predictions it gets back: were they right, and how long did they take?

The node keeps the true label of what it sent, whether or not it told the host, so it can score a
host that it never teaches. All of it in fixed memory.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from edgesvm.ingest.wire import ABSTAIN, REJECTED, TRAINED
from firmware_sim.node._codec import NO_LABEL

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
        self._latency_s = np.zeros(REMEMBERED)  # a ring of the last ones
        self._latencies = 0
        self.forget()

    def forget(self) -> None:
        """Drop the samples waiting for an answer, as a reboot does; the score stays."""
        self._sequence = np.full(REMEMBERED, -1, np.int64)
        self._label = np.full(REMEMBERED, NO_LABEL, np.int32)
        self._sent_at = np.zeros(REMEMBERED)

    def sent(self, first: int, labels: NDArray[np.int32], now: float) -> None:
        """Samples have gone out, numbered from `first` on; NO_LABEL where there is none."""
        sequence = np.arange(first, first + len(labels)) & 0xFFFFFFFF
        slot = sequence % REMEMBERED
        self._sequence[slot], self._label[slot], self._sent_at[slot] = sequence, labels, now

    def answered(
        self,
        sequence: NDArray[np.uint32],
        predicted: NDArray[np.int32],
        flags: NDArray[np.int32],
        now: float,
    ) -> None:
        """Predictions have come in."""
        n = len(sequence)
        if n == 0:
            return
        self.received += n
        slot = sequence % REMEMBERED
        fresh = self._sequence[slot] == sequence
        # Of two answers to one sample in the same breath the first counts.
        first = np.zeros(n, bool)
        first[np.unique(sequence, return_index=True)[1]] = True
        fresh &= first
        self.unknown += n - int(fresh.sum())
        slot, predicted, flags = slot[fresh], predicted[fresh], flags[fresh]
        self._sequence[slot] = -1
        self._note_latency(now - self._sent_at[slot])
        self.trained += int(np.count_nonzero(flags & TRAINED))
        self.abstained += int(np.count_nonzero(flags & ABSTAIN))
        self.rejected += int(np.count_nonzero(flags & REJECTED))
        label = self._label[slot]
        counts = (flags & (ABSTAIN | REJECTED) == 0) & (label != NO_LABEL)
        self._score((predicted == label)[counts])

    def _score(self, right: NDArray[np.bool_]) -> None:
        self._first_correct += int(right[: max(0, self.window - self.scored)].sum())
        self.scored += len(right)
        self.correct += int(right.sum())
        self._last.extend(right.tolist())

    def _note_latency(self, seconds: NDArray[np.float64]) -> None:
        at = np.arange(self._latencies, self._latencies + len(seconds)) % REMEMBERED
        self._latency_s[at] = seconds
        self._latencies += len(seconds)

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
        if not self._latencies:
            return None
        ordered = np.sort(self._latency_s[: self._latencies]) * 1e6
        last = len(ordered) - 1
        return {
            "p50": float(ordered[last // 2]),
            "p99": float(ordered[round(0.99 * last)]),
            "max": float(ordered[-1]),
        }
