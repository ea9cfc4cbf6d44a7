"""The working set of RandSVM, in plain NumPy; see _rand_svm.pyx."""

from __future__ import annotations

import math

import numpy as np

from edgesvm.core.views import below_view, seed_view
from reference.nonzeros import NonzerosRef


class WorkingSetRef:
    """The support vectors, and a uniform sample of the rows that violate."""

    def __init__(self, views, seed):
        names = "slots", "weights", "numbers"
        self.slots, self.weights, self.numbers = (views[f"drawn_{n}"] for n in names)
        self.views, self.rows = views, views.get("drawn_rows")
        self.before, self.draws = views["before"], views["draws"]
        self.draws[:] = seed_view(seed)
        self.n_kept = self.n_drawn = self.n_offered = self.n_before = self.room = 0
        self.losses, self.recalling = [], False

    @property
    def n_rows(self):
        return self.n_kept + self.n_drawn

    @property
    def loss(self):
        return math.fsum(self.losses)  # exact, rounded once

    def keep(self, places, size):
        n = self.n_rows
        self.begin(self.numbers[:n], len(places), size, recalling=False)
        for array in (self.slots, self.weights, self.numbers):
            array[: self.n_kept] = array[places]
        if isinstance(self.rows, NonzerosRef):
            rest = np.setdiff1d(np.arange(n), places)
            self.rows.permute(np.concatenate([places, rest]).astype(int))
            self.drop(n)
        elif self.rows is not None:
            self.rows[: self.n_kept] = self.rows[places]

    def drop(self, n):
        """Give free what rows n_kept to n - 1 take."""
        if isinstance(self.rows, NonzerosRef):
            for t in range(self.n_kept, n):
                self.rows.drop(t)

    def recall(self, numbers):
        n = self.n_rows
        self.begin(numbers, 0, len(numbers), recalling=True)
        self.drop(n)

    def begin(self, numbers, n_kept, size, *, recalling):
        self.n_before = len(numbers)
        self.before[: self.n_before] = np.sort(numbers)
        self.n_offered, self.losses, self.recalling = 0, [], recalling
        self.n_kept, self.n_drawn, self.room = n_kept, 0, size - n_kept

    def offer(self, first, X, slots, weights=None, decisions=None, margin=np.inf):  # noqa: PLR0917
        if self.rows is None:
            self.rows = NonzerosRef(self.views, X.shape[1], "drawn_")
        numbers = first + np.arange(len(X))
        weights = np.ones(len(X)) if weights is None else weights
        was_held = np.isin(numbers, self.before[: self.n_before])
        violates = (weights > 0) & (was_held == self.recalling)
        if decisions is not None:
            yf = np.where(slots, decisions, -decisions)
            self.losses.extend(weights * np.maximum(0.0, 1.0 - yf))
            violates &= yf < margin
        for i in np.flatnonzero(violates):
            self.take(numbers[i], X[i], slots[i], weights[i])

    def take(self, number, x, slot, weight):
        place = self.n_drawn
        self.n_offered += 1
        if self.n_drawn == self.room:
            place = below_view(self.draws, self.n_offered)
            if place >= self.room:
                return
        else:
            self.n_drawn += 1
        place += self.n_kept
        self.rows[place], self.slots[place], self.weights[place] = x, slot, weight
        self.numbers[place] = number
