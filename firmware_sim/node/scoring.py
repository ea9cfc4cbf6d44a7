"""Accuracy, or error, and latency of the predictions that a node receives.

The node keeps the true labels of its samples even if it does not send them, so it can score a host
that it does not teach. Memory is fixed.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from edgesvm.link.wire import ABSTAIN, ALARM, REJECTED, TRAINED
from firmware_sim.node._codec import NO_LABEL

# A prediction this many samples late is still scored: five minutes at 200 samples per second.
REMEMBERED = 1 << 16


class Scorer:
    """Scores predictions by the sequence number of their sample.

    Parameters
    ----------
    window : int
        Number of predictions in the first and the last accuracy.

    Attributes
    ----------
    received, scored, correct : int
        Predictions received; those with a class, for a sample with a label; those correct.
    abstained, rejected, trained, alarms : int
        Predictions with that flag; of the first two none is scored.
    unknown : int
        Predictions for a sample never sent, sent too long ago, or answered before.
    """

    def __init__(self, window: int = 1000) -> None:
        if window < 1:
            raise ValueError(f"window must be at least 1 prediction, got {window}")
        self.window = window
        self.received = self.scored = self.correct = 0
        self.abstained = self.rejected = self.unknown = self.trained = self.alarms = 0
        self._first_correct = 0
        self._last: deque[bool] = deque(maxlen=window)
        self._latency_s = np.zeros(REMEMBERED)  # a ring of the latest
        self._latencies = 0
        self.forget()

    def forget(self) -> None:
        """Forget the samples that wait for a prediction, as a reboot does; the score stays."""
        self._sequence = np.full(REMEMBERED, -1, np.int64)
        self._label = self._no_labels(REMEMBERED)
        self._sent_at = np.zeros(REMEMBERED)

    @staticmethod
    def _no_labels(n: int) -> NDArray:
        return np.full(n, NO_LABEL, np.int32)

    def sent(self, first: int, labels: NDArray, now: float) -> None:
        """Enter samples that were sent, numbered from `first`; NO_LABEL if there is no label."""
        sequence = np.arange(first, first + len(labels)) & 0xFFFFFFFF
        place = sequence % REMEMBERED
        self._sequence[place], self._label[place], self._sent_at[place] = sequence, labels, now

    def answered(
        self,
        sequence: NDArray[np.uint32],
        predicted: NDArray,
        flags: NDArray[np.int32],
        now: float,
    ) -> None:
        """Enter predictions that were received."""
        n = len(sequence)
        if n == 0:
            return
        self.received += n
        place = sequence % REMEMBERED
        fresh = self._sequence[place] == sequence
        # If one call has two predictions for a sample, the first counts.
        first = np.zeros(n, bool)
        first[np.unique(sequence, return_index=True)[1]] = True
        fresh &= first
        self.unknown += n - int(fresh.sum())
        place, predicted, flags = place[fresh], predicted[fresh], flags[fresh]
        self._sequence[place] = -1
        self._note_latency(now - self._sent_at[place])
        self.trained += int(np.count_nonzero(flags & TRAINED))
        self.abstained += int(np.count_nonzero(flags & ABSTAIN))
        self.rejected += int(np.count_nonzero(flags & REJECTED))
        self.alarms += int(np.count_nonzero(flags & ALARM))
        counts = flags & (ABSTAIN | REJECTED) == 0
        self._score(predicted[counts], self._label[place][counts])

    def _score(self, predicted: NDArray, label: NDArray) -> None:
        right = (predicted == label)[label != NO_LABEL]
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
        """Accuracy over all scored predictions; None before the first."""
        return self.correct / self.scored if self.scored else None

    @property
    def first_accuracy(self) -> float | None:
        """Accuracy over the first ``window`` predictions."""
        return self._first_correct / min(self.scored, self.window) if self.scored else None

    @property
    def last_accuracy(self) -> float | None:
        """Accuracy over the last ``window`` predictions."""
        return sum(self._last) / len(self._last) if self._last else None

    def latency_us(self) -> dict[str, float] | None:
        """Microseconds from sample to prediction over the last 65,536: ``p50``, ``p99``, ``max``.

        Measured by the simulator, its own turn-around included.
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


class TargetScorer(Scorer):
    """Scores predicted targets, which have no accuracy but an error.

    Attributes
    ----------
    mae : float or None
        Mean absolute error; None before the first.
    r2 : float or None
        1 - (squared errors) / (squared deviations of the targets from their mean).
    coverage : float or None
        Share of the targets within their interval.
    """

    def __init__(self, window: int = 1000) -> None:
        super().__init__(window)
        self._absolute = self._squared = self._sum = self._squares = 0.0
        self._covered = 0

    @staticmethod
    def _no_labels(n: int) -> NDArray:
        return np.full(n, np.nan)

    def _score(self, predicted: NDArray, label: NDArray) -> None:
        known = ~np.isnan(label)
        target, (value, low, high) = label[known], predicted[known].T
        error = target - value
        self.scored += len(target)
        self._absolute += float(np.abs(error).sum())
        self._squared += float(error @ error)
        self._sum += float(target.sum())
        self._squares += float(target @ target)
        self._covered += int(np.count_nonzero((low <= target) & (target <= high)))

    @property
    def accuracy(self) -> float | None:
        return None

    first_accuracy = last_accuracy = accuracy

    @property
    def mae(self) -> float | None:
        return self._absolute / self.scored if self.scored else None

    @property
    def r2(self) -> float | None:
        spread = self._squares - self._sum**2 / self.scored if self.scored else 0.0
        return 1 - self._squared / spread if spread > 0 else None

    @property
    def coverage(self) -> float | None:
        return self._covered / self.scored if self.scored else None
