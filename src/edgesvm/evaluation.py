"""Test-then-train accounts in fixed memory: samples are predicted before they are learned."""

from __future__ import annotations

from typing import Any


class Prequential:
    """Accuracy over all samples, over the last ``window``, and balanced over the classes.

    Parameters
    ----------
    window : int
        Samples of the rolling accuracy; ``window`` bytes are held.

    Attributes
    ----------
    n : int
        Samples entered.
    first : float or None
        Accuracy of the first ``window`` of them, None until they are complete.
    """

    def __init__(self, window: int = 1000) -> None:
        if window < 1:
            raise ValueError(f"window={window}: give a whole number >= 1")
        self.window = window
        self.n = 0
        self.first: float | None = None
        self._hits = bytearray(window)
        self._recent = 0  # hits among the last `window`
        self._total = 0
        self._by_class: dict[Any, list[int]] = {}  # label -> [samples, hits]

    def add(self, truth: Any, predicted: Any) -> None:
        """Enter one prediction and the label that came after it."""
        hit = bool(truth == predicted)
        at = self.n % self.window
        self._recent += hit - self._hits[at]
        self._hits[at] = hit
        self._total += hit
        self.n += 1
        counts = self._by_class.setdefault(truth, [0, 0])
        counts[0] += 1
        counts[1] += hit
        if self.n == self.window:
            self.first = self.rolling

    @property
    def accuracy(self) -> float | None:
        """Share of hits over all; None before the first."""
        return self._total / self.n if self.n else None

    @property
    def rolling(self) -> float | None:
        """Share of hits among the last `window`."""
        return self._recent / min(self.n, self.window) if self.n else None

    @property
    def balanced(self) -> float | None:
        """Mean over the classes of the share of hits in each."""
        if not self._by_class:
            return None
        shares = [hits / samples for samples, hits in self._by_class.values()]
        return sum(shares) / len(shares)

    @property
    def majority(self) -> float | None:
        """Share of the larger class: what always saying it would have scored."""
        return max(samples for samples, _ in self._by_class.values()) / self.n if self.n else None

    def summary(self) -> dict[str, float | int | None]:
        """All of it, for a JSON line."""
        return {
            "predicted": self.n,
            "accuracy": self.accuracy,
            "balanced_accuracy": self.balanced,
            "majority": self.majority,
            "rolling_accuracy": self.rolling,
            "first_accuracy": self.first if self.first is not None else self.rolling,
            "window": self.window,
        }
