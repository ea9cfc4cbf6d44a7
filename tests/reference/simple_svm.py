"""SimpleSVM in plain NumPy (Vishwanathan, Smola & Murty 2003): an active set that takes in one
violator at a time.

The names are those of _simple_svm.pyx, where the method is stated.
"""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from edgesvm.errors import refusal
from edgesvm.learners.twin.constants import (
    MANY_EVENTS,
    POLISHES,
    REFRESH,
    ROUNDING,
    TIE,
)
from reference.adiabatic import AdiabaticCoreRef
from reference.margin_set import PathError


class SimpleSVMCoreRef(AdiabaticCoreRef):
    """The arena's arrays by name: vectors, s_minus, s_plus, coef, g, state, S; scalars mu, b."""

    def __init__(self, *common, C, when_full, kernel):
        super().__init__(*common, kernel=kernel)
        self.when_full = when_full
        self.n_moves = 0
        if self.views["mu"] == 0.0:
            self.views["mu"][...] = 1.0 / C

    # -- one sample --------------------------------------------------------------------------------

    def step(self, x, y, weight):
        status = self.refuses(x)
        if status != Status.UNCHANGED or not self.violates(x, y):
            return status
        if self.n == self.slots and not self.make_room():
            return Status.UNCHANGED
        self.take(x, y, weight, int(self.views["n_seen"]))
        self.views["converged"][...] = 0
        return Status.CHANGED

    def refuses(self, x):
        return Status.UNCHANGED if np.isfinite(self.norm(x)) else Status.NOT_FINITE

    def violates(self, x, y):
        """Whether y f(x) < 1, by more than rounding"""
        gap = self.mu - y * self.g_of(x)
        return gap > 0 and gap > self.tolerance(self.begin([], self.mu))

    def take(self, x, y, weight, number):
        """Store a sample and solve."""
        v, i = self.views, self.place(x)
        v["number"][i] = number
        v["s_plus"][i], v["s_minus"][i] = (weight, 0.0) if y > 0 else (0.0, weight)
        v["state"][i] = 4 if y > 0 else 0
        self.solve_stored()

    def make_room(self):
        """Remove a sample that the solution does not need, or else the oldest; False: none."""
        spare = np.flatnonzero(self.is_spare)
        if len(spare):
            best = spare[0]
            for i in spare[1:]:
                if self.beyond[i] > self.beyond[best] + TIE * self.mu:
                    best = i
            self.remove(int(best))
            return True
        if self.when_full == "ignore":
            self.count("n_ignored")
            return False
        self.follow([(0, 0.0, 0.0)], self.mu)
        self.remove(0)
        self.count("n_forgotten")
        return True

    @property
    def is_spare(self):
        """Which stored samples are beyond the margin, without a coefficient"""
        return np.isin(self.held("state"), (0, 4))

    @property
    def beyond(self):
        """How far the stored samples are beyond the margin: y g - mu"""
        return np.where(self.held("s_plus") > 0, 1.0, -1.0) * self.held("g") - self.mu

    def remove(self, i):
        """Remove a sample without a coefficient; later ones move down by one."""
        number, n = self.views["number"], self.n
        number[i : n - 1] = number[i + 1 : n]
        number[n - 1] = 0
        self.drop(i)

    # -- the active set ----------------------------------------------------------------------------

    def solve_stored(self):
        """Make the solution that of the stored samples."""
        self.count("paths")
        if int(self.views["paths"]) % REFRESH == 0:
            self.refresh()
        try:
            for polish in range(POLISHES):
                self.improve()
                if self.is_consistent():
                    break
                self.refresh()
                if polish:
                    self.count("n_refactored")
                    self.rebuild()
        except (PathError, np.linalg.LinAlgError):
            self.from_scratch()

    def improve(self):
        """Let the worst violator into the working set until there is none."""
        for _ in range(MANY_EVENTS * (self.n + 4)):
            walk = self.to_optimum()
            i = self.worst(self.tolerance(walk))
            if i is None:
                return
            self.n_moves += 1
            self.count("n_path_events")
            step = 3 if self.views["s_plus"][i] > 0 else 1
            self.enter(i, step, int(self.views["state"][i]) - step)
        raise PathError

    def to_optimum(self):
        """Move the coefficients of the working set to the solution of their linear system; those
        that reach a bound on the way leave it."""
        while True:
            walk = self.begin([], self.mu)
            self.direct(walk, np.zeros(self.n))
            length, leaves = self.first_at_bound(walk.step)
            self.advance(walk, length, arrived=leaves is None)
            if leaves is None:
                return walk
            self.count("n_path_events")
            self.leave(*leaves)

    def first_at_bound(self, steps):
        """What share of the step leads to the first bound, and whose: its place on S and its
        plateau; None: the whole step is free."""
        v, length, leaves = self.views, 1.0, None
        for p, (i, step) in enumerate(zip(self.S, steps, strict=True)):
            low, high = self.step_bounds(i)
            room = max(high - v["coef"][i] if step > 0 else v["coef"][i] - low, 0.0)
            least = room + ROUNDING * (high - low)
            if abs(step) > least and room < abs(step) * length * (1.0 - ROUNDING):
                length = room / abs(step)
                leaves = p, int(v["state"][i]) + (-1 if step > 0 else 1)
        return length, leaves

    def worst(self, least):
        """The stored sample off the working set that violates most, by more than `least`, the first
        of equals; None: there is none."""
        gap = np.where(self.is_spare, -1.0, 1.0) * self.beyond
        found, most = None, least
        for i in np.flatnonzero(self.held("state") % 2 == 0):
            if gap[i] > most:
                found, most = int(i), gap[i] + TIE * self.mu
        return found

    # -- a pass over rows --------------------------------------------------------------------------

    def sweep(self, X, slots, weights, first):
        """Take in the rows of X that violate, one by one; False: there was no room for one."""
        for i, slot in enumerate(slots):
            x, weight = X[i], 1.0 if weights is None else float(weights[i])
            y = 1.0 if slot else -1.0
            if weight == 0.0:
                continue
            status = self.refuses(x)
            if status != Status.UNCHANGED:
                sample = f"{self.owner}: row {first + i}"
                raise refusal(status, sample, self.dtype, self.labels.in_slots)
            if self.violates(x, y) and first + i not in self.held("number"):
                if self.n == self.slots:
                    return False
                self.take(x, y, weight, first + i)
                for p in np.flatnonzero(self.is_spare)[::-1]:
                    self.remove(int(p))
        return True
