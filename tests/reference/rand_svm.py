"""The working set of RandSVM, in plain NumPy; see _rand_svm.pyx."""

from __future__ import annotations

import numpy as np

from reference.nonzeros import NonzerosRef
from reference.rng import below, seeded


class WorkingSetRef:
    """The support vectors, and a uniform sample of the rows that violate."""

    def __init__(self, views, seed):
        names = "slots", "weights", "numbers"
        self.slots, self.weights, self.numbers = (views[f"drawn_{n}"] for n in names)
        self.views, self.rows = views, views.get("drawn_rows")
        self.draws = views["draws"]
        self.draws[:] = seeded(seed)
        self.n_kept = self.n_drawn = self.n_offered = self.room = 0

    @property
    def n_rows(self):
        return self.n_kept + self.n_drawn

    def keep(self, places, size):
        n, self.n_kept = self.n_rows, len(places)
        for array in (self.slots, self.weights, self.numbers):
            array[: self.n_kept] = array[places]
        if isinstance(self.rows, NonzerosRef):
            rest = np.setdiff1d(np.arange(n), places)
            self.rows.permute(np.concatenate([places, rest]).astype(int))
            for t in range(self.n_kept, n):
                self.rows.drop(t)
        elif self.rows is not None:
            self.rows[: self.n_kept] = self.rows[places]
        self.n_offered, self.n_drawn, self.room = 0, 0, size - self.n_kept

    def offer(self, first, X, slots, weights, which):
        if self.rows is None:
            self.rows = NonzerosRef(self.views, X.shape[1], "drawn_")
        for i in which:
            self.take(first + i, X[i], slots[i], 1.0 if weights is None else weights[i])

    def take(self, number, x, slot, weight):
        place = self.n_drawn
        self.n_offered += 1
        if self.n_drawn == self.room:
            place = below(self.draws, self.n_offered)
            if place >= self.room:
                return
        else:
            self.n_drawn += 1
        place += self.n_kept
        self.rows[place], self.slots[place], self.weights[place] = x, slot, weight
        self.numbers[place] = number
