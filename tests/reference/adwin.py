"""Adwin in plain Python: the reference of `AdwinCore`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference.detector import DetectorCoreRef


class AdwinCoreRef(DetectorCoreRef):
    """The window is read from the arena as a list of rows of sums, and written back."""

    def __init__(self, plan: Any, arena: Any, *, delta: float, every: int, least: int) -> None:
        super().__init__(plan, arena)
        self.delta, self.every, self.least = delta, every, least

    def take(self, error: float) -> bool:
        rows = self.read()
        rows[0].append(error)
        self.merge(rows)
        is_due = int(self.views["n_added"]) % self.every == 0
        is_drift = is_due and self.shrink(rows)
        self.write(rows)
        return is_drift

    def read(self) -> list[list[float]]:
        counts, sums = self.views["n_in_row"], self.views["sums"]
        return [row[:n].tolist() for row, n in zip(sums, counts, strict=True)]

    def write(self, rows: list[list[float]]) -> None:
        self.views["sums"][...] = 0
        for i, row in enumerate(rows):
            self.views["sums"][i, : len(row)] = row
        self.views["n_in_row"][:] = [len(row) for row in rows]
        self.views["n_window"][...] = len_of(rows)

    def merge(self, rows: list[list[float]]) -> None:
        per_row = self.views["sums"].shape[1] - 1
        for i, row in enumerate(rows):
            if len(row) > per_row:
                oldest = row.pop(0)
                if i + 1 < len(rows):
                    rows[i + 1].append(oldest + row.pop(0))

    def shrink(self, rows: list[list[float]]) -> bool:
        dropped: list[tuple[int, float]] = []
        while n_cut := self.clearest_cut(rows):
            while n_cut:
                oldest = max(i for i, row in enumerate(rows) if row)
                dropped.append((2**oldest, rows[oldest].pop(0)))
                n_cut -= 2**oldest
        if not dropped:
            return False
        n, total = np.sum(dropped, axis=0)
        before, now = total / n, np.sum([sum(row) for row in rows]) / len_of(rows)
        if before < now:
            self.note(before, now)
        return bool(before < now)

    def clearest_cut(self, rows: list[list[float]]) -> int:
        """Errors before it; 0 if there is no cut."""
        buckets = [(2**i, s) for i, row in reversed(list(enumerate(rows))) for s in row]
        n, total = np.cumsum(buckets, axis=0).T
        n0, n1 = n[:-1], n[-1] - n[:-1]
        p = total[-1] / n[-1]
        of_delta = math.log(2 * math.log(max(n[-1], 2)) / self.delta)
        m = 1 / (1 / n0 + 1 / n1)
        apart = np.abs(total[:-1] / n0 - (total[-1] - total[:-1]) / n1)
        bound = np.sqrt(2 / m * p * (1 - p) * of_delta) + 2 / (3 * m) * of_delta
        times = np.where((n0 >= self.least) & (n1 >= self.least), apart / bound, 0.0)
        return int(n0[times.argmax()]) if times.max(initial=0.0) > 1 else 0


def len_of(rows: list[list[float]]) -> int:
    """Errors in the window"""
    return sum(2**i * len(row) for i, row in enumerate(rows))
