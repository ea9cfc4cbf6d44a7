"""Score and latency of the predictions that a node receives.

The node keeps the true labels of its samples even if it does not send them, so it can score a host
that it does not teach. Memory is fixed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgesvm.link.wire import ABSTAIN, ALARM, REJECTED, TRAINED
from edgesvm.serve.score import Prequential, RegressionScore
from firmware_sim.node._codec import NO_LABEL

# A prediction this many samples late is still scored: five minutes at 200 samples per second.
REMEMBERED = 1 << 16


class Scorer:
    """Scores predictions by the sequence number of their sample.

    Parameters
    ----------
    window : int
        Number of predictions in the first and the last accuracy.
    targets : bool
        Whether labels are numbers.

    Attributes
    ----------
    score : Prequential or RegressionScore
        Of the predictions with a class or a value, for samples with a label.
    received : int
        Predictions received.
    abstained, rejected, trained, alarms : int
        Predictions with that flag; of the first two none is scored.
    unknown : int
        Predictions for a sample never sent, sent too long ago, or answered before.
    """

    def __init__(self, window: int = 1000, *, targets: bool = False) -> None:
        if window < 1:
            raise ValueError(f"window must be at least 1 prediction, got {window}")
        self.window = window
        self.score: Any = RegressionScore(window) if targets else Prequential(window)
        self._no_label = np.nan if targets else NO_LABEL
        self.received = self.unknown = 0
        self.abstained = self.rejected = self.trained = self.alarms = 0
        self._latency_s = np.zeros(REMEMBERED)  # a ring of the latest
        self._latencies = 0
        self.forget()

    def forget(self) -> None:
        """Forget the samples that wait for a prediction, as a reboot does; the score stays."""
        self._sequence = np.full(REMEMBERED, -1, np.int64)
        self._label = np.full(REMEMBERED, self._no_label)
        self._sent_at = np.zeros(REMEMBERED)

    def sent(self, first: int, labels: NDArray, now: float) -> None:
        """Enter samples that were sent, numbered from `first`; NO_LABEL or NaN without a label."""
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
        label = self._label[place]
        counts = (flags & (ABSTAIN | REJECTED) == 0) & (label != NO_LABEL) & ~np.isnan(label)
        for truth, answer in zip(label[counts].tolist(), predicted[counts].tolist(), strict=True):
            self.score.add(truth, answer)

    def _note_latency(self, seconds: NDArray[np.float64]) -> None:
        at = np.arange(self._latencies, self._latencies + len(seconds)) % REMEMBERED
        self._latency_s[at] = seconds
        self._latencies += len(seconds)

    def results(self) -> dict[str, Any]:
        """Accuracy of all predictions, of the first and of the last ``window``; or, of targets, the
        mean absolute error, R^2 and the share within their interval. None for the others.
        """
        score = self.score
        if isinstance(score, RegressionScore):
            accuracies: list[float | None] = [None, None, None]
            errors = [score.mae, score.r2, score.coverage]
        else:
            first = score.accuracy if score.first is None else score.first
            accuracies, errors = [score.accuracy, first, score.rolling], [None, None, None]
        names = "accuracy", "accuracy_first", "accuracy_last", "mae", "r2", "coverage"
        return dict(zip(names, accuracies + errors, strict=True))

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
