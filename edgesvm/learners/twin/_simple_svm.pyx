"""SimpleSVM, compiled (Vishwanathan, Smola & Murty 2003): an active set that takes in one violator
at a time.

A sample is a twin with weight on one side only: its coefficient is 0 beyond the margin, its whole
weight inside it, and free on it. The free ones are the working set, S of `_margin_set.pyx`. Their
coefficients move towards the solution of their linear system until the first of them reaches a
bound, and that one leaves; when all have arrived, the stored sample that violates most enters.

`fit` sweeps over rows that the caller keeps, so a sample whose coefficient has become 0 is removed
at once. In a stream it stays while there is room.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport fabs, fmax, isfinite
from libc.stdint cimport int64_t
from libc.string cimport memmove

from edgesvm.contract.sparse cimport Batch, row_at, scratch_for
from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, Status
from edgesvm.learners.twin._adiabatic cimport AdiabaticCore
from edgesvm.learners.twin._margin_set cimport REACHED, STUCK, Outcome, Solver
from edgesvm.learners.twin._path cimport Move, Walk

from edgesvm.contract.core import changed
from edgesvm.errors import refusal

cdef double ROUNDING, TIE
cdef int64_t REFRESH, MANY_EVENTS
cdef int POLISHES
from edgesvm.learners.twin.constants import (
    MANY_EVENTS, POLISHES, REFRESH, ROUNDING, TIE)

cnp.import_array()

cdef int64_t ROWS = 1000        # between two looks at signals

cdef struct Counters:           # from "n_forgotten" on
    int64_t n_forgotten
    int64_t n_ignored
    int64_t converged


@cython.final
cdef class SimpleSVMCore(AdiabaticCore):
    """State, step and sweep. The public class has checked the parameters."""
    cdef readonly double C
    cdef readonly bint forgets
    cdef Counters *counters
    cdef int64_t *number        # (slots,): row of the data, or sample of the stream
    cdef readonly int64_t n_moves

    def __init__(self, *common, C, when_full, kernel):
        super().__init__(*common, kernel=kernel)
        self.C, self.forgets = C, when_full == "oldest"
        self.counters = <Counters *> self.array("n_forgotten")
        self.number = <int64_t *> self.array("number")
        if self.solver.mu == 0.0:
            self.solver.mu = 1.0 / C

    # -- one sample --------------------------------------------------------------------------------

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef Status status = self.refuses(x)
        if status != UNCHANGED or not self.violates(x, y):
            return status
        if self.solver.n == self.slots and not self.make_room():
            return UNCHANGED
        self.take(x, y, weight, self.common.n_seen)
        self.counters.converged = 0
        return CHANGED

    cdef Status refuses(self, const void *x) noexcept nogil:
        return UNCHANGED if isfinite(self.norm(x)) else NOT_FINITE

    cdef bint violates(self, const void *x, double y) noexcept nogil:
        """Whether y f(x) < 1, by more than rounding"""
        cdef double gap = self.solver.mu - y * self.g_of(x)
        cdef Walk walk
        if gap <= 0.0:
            return False
        self.begin(&walk, NULL, 0, self.solver.mu)
        return gap > self.tolerance(&walk)

    cdef void take(self, const void *x, double y, double weight, int64_t number) noexcept nogil:
        """Store a sample and solve."""
        cdef int64_t i = self.place(x)
        self.number[i] = number
        self.s_plus[i] = weight if y > 0.0 else 0.0
        self.s_minus[i] = 0.0 if y > 0.0 else weight
        self.state[i] = 4 if y > 0.0 else 0
        self.solve()

    cdef bint make_room(self) noexcept nogil:
        """Remove a sample that the solution does not need, or else the oldest; False: none."""
        cdef Move move
        cdef int64_t i = self.spare()
        if i >= 0:
            self.remove(i)
            return True
        if not self.forgets:
            self.counters.n_ignored += 1
            return False
        move.slot = 0
        move.to_minus = move.to_plus = 0.0
        move.known = NULL
        self.follow(&move, 1, self.solver.mu)
        self.remove(0)
        self.counters.n_forgotten += 1
        return True

    cdef int64_t spare(self) noexcept nogil:
        """The sample without a coefficient that is farthest beyond the margin, the first of equals;
        -1: none"""
        cdef int64_t i, best = -1
        for i in range(self.solver.n):
            if self.is_spare(i) and (
                    best < 0 or self.beyond(i) > self.beyond(best) + TIE * self.solver.mu):
                best = i
        return best

    cdef bint is_spare(self, int64_t i) noexcept nogil:
        return self.state[i] == 0 or self.state[i] == 4

    cdef double beyond(self, int64_t i) noexcept nogil:
        """How far a sample is beyond the margin: y g - mu"""
        return (self.g[i] if self.s_plus[i] > 0.0 else -self.g[i]) - self.solver.mu

    cdef void remove(self, int64_t i) noexcept nogil:
        """Remove a sample without a coefficient; later ones move down by one."""
        cdef int64_t n = self.solver.n
        memmove(self.number + i, self.number + i + 1, (n - 1 - i) * sizeof(int64_t))
        self.number[n - 1] = 0
        self.drop(i)

    # -- the active set ----------------------------------------------------------------------------

    cdef void solve(self) noexcept nogil:
        """Make the solution that of the stored samples."""
        cdef Solver *v = self.solver
        cdef Outcome outcome = REACHED
        cdef int polish
        v.paths += 1
        if v.paths % REFRESH == 0:
            self.refresh()
        for polish in range(POLISHES):
            outcome = self.improve()
            if outcome != REACHED or self.is_consistent():
                break
            self.refresh()
            if polish:
                v.n_refactored += 1
                self.rebuild()
        if outcome != REACHED:
            self.from_scratch()

    cdef Outcome improve(self) noexcept nogil:
        """Let the worst violator into the working set until there is none."""
        cdef Walk walk
        cdef int64_t i, _entry
        cdef int step
        for _entry in range(MANY_EVENTS * (self.solver.n + 4)):
            self.to_optimum(&walk)
            i = self.worst(self.tolerance(&walk))
            if i < 0:
                return REACHED
            self.n_moves += 1
            self.solver.n_path_events += 1
            step = 3 if self.s_plus[i] > 0.0 else 1
            if self.enter(i, step, self.state[i] - step) != REACHED:
                return STUCK
        return STUCK

    cdef void to_optimum(self, Walk *walk) noexcept nogil:
        """Move the coefficients of the working set to the solution of their linear system; those
        that reach a bound on the way leave it."""
        cdef double length
        cdef int64_t place
        cdef int to = 0
        while True:
            self.begin(walk, NULL, 0, self.solver.mu)
            self.plateau_rates(walk)
            self.direct(walk)
            place = self.first_at_bound(&length, &to)
            self.advance(walk, length, place < 0)
            if place < 0:
                return
            self.solver.n_path_events += 1
            self.leave(place, to)

    cdef int64_t first_at_bound(self, double *length, int *to) noexcept nogil:
        """The place on S of the coefficient that reaches a bound first, the first of equals, what
        share of the step leads there, and to which plateau; -1: the whole step is free."""
        cdef int64_t i, p, first = -1
        cdef double low, high, room, step, rounding
        length[0] = 1.0
        for p in range(self.solver.m):
            i, step = self.S[p], self.factor.solution[1 + p]
            self.step_bounds(i, &low, &high)
            rounding = ROUNDING * (high - low)
            room = fmax(high - self.coef[i] if step > 0.0 else self.coef[i] - low, 0.0)
            if fabs(step) > room + rounding and room < fabs(step) * length[0] * (1.0 - ROUNDING):
                first, length[0] = p, room / fabs(step)
                to[0] = self.state[i] - 1 if step > 0.0 else self.state[i] + 1
        return first

    cdef int64_t worst(self, double least) noexcept nogil:
        """The stored sample off the working set that violates most, by more than `least`, the first
        of equals; -1: none"""
        cdef int64_t i, found = -1
        cdef double gap, most = least
        for i in range(self.solver.n):
            if self.state[i] % 2 == 0:
                gap = -self.beyond(i) if self.is_spare(i) else self.beyond(i)
                if gap > most:
                    found, most = i, gap + TIE * self.solver.mu
        return found

    # -- a pass over rows --------------------------------------------------------------------------

    def sweep(self, X, cnp.ndarray slots not None, cnp.ndarray weights, int64_t first):
        """Take in the rows of X (n, n_features) that violate, one by one; False: there was no room
        for one.

        slots : int8, 0 or 1; weights : float64 or None; first : number of the first row
        """
        cdef Batch batch
        cdef cnp.ndarray scratch = scratch_for(X)
        cdef const signed char *slot = <const signed char *> cnp.PyArray_DATA(slots)
        cdef const double *weight = NULL
        cdef int64_t n = len(X), at = 0
        cdef Status status
        if weights is not None:
            weight = <const double *> cnp.PyArray_DATA(weights)
        while at < n:
            self.read(&batch, X, scratch, n)
            with nogil:
                status = self.sweep_rows(n, &at, &batch, slot, weight, first)
            if status > CHANGED:
                raise refusal(
                    status, f"{self.owner}: row {first + at}", self.dtype, self.labels.in_slots)
            if status == UNCHANGED:
                return False
            self.guard.look_at_signals()
        return True

    cdef Status sweep_rows(
        self, int64_t n, int64_t *at, Batch *batch, const signed char *slot, const double *weight,
        int64_t first
    ) except * nogil:
        """Look at rows from `at` on, until one was taken in (CHANGED), or there is no room for it
        (UNCHANGED)."""
        cdef int64_t i, last = min(n, at[0] + ROWS)
        cdef double w, y
        cdef const void *x
        cdef Status status
        while at[0] < last:
            i = at[0]
            w = 1.0 if weight == NULL else weight[i]
            y = 1.0 if slot[i] else -1.0
            if w != 0.0:
                x = row_at(batch, i)
                if x == NULL:
                    with gil:
                        raise changed(self.owner)
                status = self.refuses(x)
                if status != UNCHANGED:
                    return status
                if self.violates(x, y) and not self.holds(first + i):
                    if self.solver.n == self.slots:
                        return UNCHANGED
                    self.take(x, y, w, first + i)
                    self.remove_spare()
                    at[0] += 1
                    return CHANGED
            at[0] += 1
        return CHANGED

    cdef bint holds(self, int64_t number) noexcept nogil:
        cdef int64_t i
        for i in range(self.solver.n):
            if self.number[i] == number:
                return True
        return False

    cdef void remove_spare(self) noexcept nogil:
        cdef int64_t i
        for i in range(self.solver.n - 1, -1, -1):
            if self.is_spare(i):
                self.remove(i)

    # -- checks of a loaded arena ------------------------------------------------------------------

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = AdiabaticCore.fault(self)
        cdef int64_t i, j
        if found != NULL:
            return found
        if self.counters.converged > 1:
            return b"a flag is out of range"
        if not fabs(self.solver.mu * self.C - 1.0) < 1e-9:
            return b"the margin is not that of C"
        for i in range(self.solver.n):
            if self.state[i] > 2 if self.s_plus[i] == 0.0 else (
                    self.state[i] < 2 or self.s_minus[i] > 0.0):
                return b"a sample has the weight or the state of both classes"
            if self.number[i] >= self.common.n_seen:
                return b"a sample's number is out of range"
            for j in range(i):
                if self.number[j] == self.number[i]:
                    return b"two samples have one number"
        for i in range(self.solver.n, self.slots):
            if self.number[i] != 0:
                return b"a sample's number is out of range"
        return NULL
