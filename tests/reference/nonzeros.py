"""Rows of which only the non-zeros are stored, in plain NumPy; see core/nonzeros.pyx."""

from __future__ import annotations

import numpy as np

NAMES = ("starts", "lengths", "columns", "values", "taken")


class NonzerosRef:
    """Rows in the arrays of `views`, by their names with a prefix."""

    def __init__(self, views, width, prefix=""):
        self.start, self.length, self.column, self.value, self.taken = (
            views[prefix + name] for name in NAMES
        )
        self.width = width

    def entries(self, t):
        """Where the non-zeros of row t are, and before them what names it."""
        return slice(self.start[t], self.start[t] + self.length[t])

    def __getitem__(self, t):
        x = np.zeros(self.width, self.value.dtype)
        if self.start[t]:
            x[self.column[self.entries(t)] - 1] = self.value[self.entries(t)]
        return x

    def first(self, n):
        """The first n rows, ndarray of shape (n, width)."""
        return np.array([self[t] for t in range(n)]).reshape(n, self.width)

    def lacking(self, t, x):
        """Entries that are too few to put x in row t; <= 0: it fits."""
        freed = self.length[t] + 1 if self.start[t] else 0
        return int(self.taken[1] - freed + np.count_nonzero(x) + 1 - len(self.column))

    def __setitem__(self, t, x):
        self.drop(t)
        columns = np.flatnonzero(x)
        if self.taken[0] + len(columns) + 1 > len(self.column):
            self.move_together()
        at = self.taken[0]
        self.start[t], self.length[t] = at + 1, len(columns)
        self.column[at] = -(t + 1)
        self.column[self.entries(t)], self.value[self.entries(t)] = columns + 1, x[columns]
        self.taken += len(columns) + 1

    def drop(self, t):
        if not self.start[t]:
            return
        whole = slice(self.start[t] - 1, self.start[t] + self.length[t])
        self.column[whole] = self.value[whole] = 0
        self.taken[1] -= self.length[t] + 1
        if self.taken[0] == whole.stop:
            self.taken[0] = whole.start
        self.start[t] = self.length[t] = 0

    def swap(self, s, t):
        """Rows s and t change places; one of them may be none."""
        for array in (self.start, self.length):
            array[[s, t]] = array[[t, s]]
        for p in {s, t}:
            if self.start[p]:
                self.column[self.start[p] - 1] = -(p + 1)

    def move_together(self):
        """All rows to the front, in the order they are in."""
        held = np.flatnonzero(self.start)
        rows = [(t, self[t]) for t in held[np.argsort(self.start[held])]]
        self.column[:] = self.value[:] = self.taken[:] = 0
        self.start[:] = self.length[:] = 0
        for t, x in rows:
            self[t] = x

    def permute(self, order):
        """Row t becomes what was row order[t]."""
        n = len(order)
        self.start[:n], self.length[:n] = self.start[order], self.length[order]
        for t in np.flatnonzero(self.start[:n]):
            self.column[self.start[t] - 1] = -(t + 1)
