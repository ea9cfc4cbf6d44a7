"""The working set of RandSVM, in plain NumPy; see _rand_svm.pyx."""

from __future__ import annotations

import numpy as np

from edgesvm.core.rng import below_view, seed_view


class WorkingSetRef:
    """Support vectors that are kept, and a uniform sample of the rows that violate."""

    def __init__(self, views, seed):
        names = "rows", "slots", "weights", "numbers"
        self.rows, self.slots, self.weights, self.numbers = (views[f"drawn_{n}"] for n in names)
        self.before, self.draws = views["before"], views["draws"]
        self.draws[:] = seed_view(seed)
        self.n_kept = self.n_drawn = self.n_offered = self.n_before = self.room = 0

    @property
    def n_rows(self):
        return self.n_kept + self.n_drawn

    def keep(self, places, size):
        n = self.n_rows
        self.before[:n] = np.sort(self.numbers[:n])
        self.n_before, self.n_offered = n, 0
        self.n_kept, self.n_drawn = len(places), 0
        self.room = size - self.n_kept
        for array in (self.rows, self.slots, self.weights, self.numbers):
            array[: self.n_kept] = array[places]

    def offer(self, first, X, slots, weights=None, decisions=None, margin=np.inf):  # noqa: PLR0917
        numbers = first + np.arange(len(X))
        weights = np.ones(len(X)) if weights is None else weights
        violates = (weights > 0) & ~np.isin(numbers, self.before[: self.n_before])
        if decisions is not None:
            violates &= np.where(slots, decisions, -decisions) < margin
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
