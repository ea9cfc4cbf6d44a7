"""The last answers of a learner on a link, for whoever looks on: one writes, many read."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from edgesvm.contract.names import word_of


class Journal:
    """A ring of the last answers, each with its row: allocated once, written without waiting. With
    `targets` labels are numbers, float64, and a prediction has an interval.

    A reader keeps its own place, from `written`, the entries so far, or from its last `since`. One
    that is slower than the writer loses the oldest entries and learns how many. The writer never
    waits for a reader; readers may be other threads. A `listener` is told each answer.
    """

    def __init__(
        self,
        n_features: int,
        capacity: int = 256,
        *,
        dtype: Any = np.float32,
        targets: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.written = 0
        self.names: Sequence[str] = ()
        self.listener: Callable[[np.void], object] | None = None
        self._clock = clock
        self.capacity, self.targets = capacity, targets
        of_labels: Any = np.float64 if targets else np.int64
        self._ring = np.zeros(
            capacity + 1,  # one is being written
            [
                ("time", np.float64),
                ("sequence", np.int64),
                ("has_prediction", np.bool_),
                ("predicted", of_labels),
                ("score", np.float64),
                ("flags", np.int64),
                ("has_label", np.bool_),
                ("label", of_labels),
                ("x", dtype, (n_features,)),
                *([("low", np.float64), ("high", np.float64)] if targets else []),
            ],
        )
        # A view per column: an item of a structured array would be made anew at each sample.
        self._columns = {name: self._ring[name] for name in self._ring.dtype.names or ()}

    @property
    def nbytes(self) -> int:
        return self._ring.nbytes

    def add(
        self,
        sequence: int,
        *,
        predicted: Any,
        score: float,
        flags: int,
        label: float | None,
        x: np.ndarray,
    ) -> None:
        """Write an answer: a prediction or None, its score and flags (FORMATS.md), the label that
        came with the row or None, and the row of shape (n_features,). The prediction of a target is
        (value, low, high)."""
        at, columns = self.written % len(self._ring), self._columns
        if self.targets:
            columns["low"][at], columns["high"][at] = (0, 0) if predicted is None else predicted[1:]
            predicted = None if predicted is None else predicted[0]
        columns["time"][at] = self._clock()
        columns["sequence"][at] = sequence
        columns["has_prediction"][at] = predicted is not None
        columns["predicted"][at] = 0 if predicted is None else predicted
        columns["score"][at] = score
        columns["flags"][at] = flags
        columns["has_label"][at] = label is not None
        columns["label"][at] = 0 if label is None else label
        columns["x"][at] = x
        self.written += 1  # last: an entry counts when it is whole
        if self.listener is not None:
            self.listener(self.entry(self.written - 1))

    @classmethod
    def of(cls, learner: Any, capacity: int) -> Journal:
        """One for the answers of a learner, which is allocated."""
        targets = learner.regresses
        return cls(learner.n_features_in_, capacity, dtype=learner.dtype, targets=targets)

    def find(self, sequence: int) -> int | None:
        """Place of the newest entry of this sequence number that is still there, or None. For the
        writer's thread."""
        kept = min(self.written, self.capacity)
        at = np.flatnonzero(self._columns["sequence"] == sequence)
        behind = (self.written - 1 - at) % len(self._ring)  # entries since
        behind = behind[behind < kept]
        return None if not len(behind) else self.written - 1 - int(behind.min())

    def entry(self, place: int) -> np.void:
        """A copy of the entry at `place`, which is still there. For the writer's thread."""
        entry: np.void = self._ring[place % len(self._ring)].copy()
        return entry

    def label(self, place: int, label: float | None) -> None:
        """Note the label of an entry that came without one; None takes it back. For the writer's
        thread."""
        at = place % len(self._ring)
        self._columns["label"][at] = 0 if label is None else label
        self._columns["has_label"][at] = label is not None  # last: readers may be other threads

    def told(self, entry: np.void, column: str) -> Any:
        """The `predicted` or `label` of an entry as users know it; None if it has none."""
        has = "has_prediction" if column == "predicted" else "has_label"
        return word_of(self.names, entry[column].item()) if entry[has] else None

    def has(self, place: int) -> bool:
        """Whether the entry at `place` is still there."""
        return max(0, self.written - self.capacity) <= place < self.written

    def since(self, place: int) -> tuple[np.ndarray, int]:
        """Entries from `place` on, oldest first, as a copy, and how many more were overwritten
        before they were read.

        `place` is `written` when the reader looked last; 0 at the beginning. The next place is
        ``place + lost + len(entries)``. Entries have the fields time, sequence, has_prediction,
        predicted, score, flags, has_label, label and x; of targets also low and high.
        """
        end = self.written
        begin = max(place, end - self.capacity)
        entries = self._ring[np.arange(begin, end) % len(self._ring)]
        # While they were copied the writer may have come round to the oldest.
        whole = min(max(begin, self.written - self.capacity), end)
        return entries[whole - begin :], whole - place
