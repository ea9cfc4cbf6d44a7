"""IncrementalDecrementalSVM, compiled (Cauwenberghs & Poggio 2000): one path for each sample
learned or unlearned and each change of C.

A sample is a twin with weight on one side only. When there is no room, the sample chosen by
`when_full` is removed on the same path that adds the new one.
"""

from libc.math cimport fabs, isfinite
from libc.stdint cimport int64_t

from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, Status
from edgesvm.learners.twin._adiabatic cimport AdiabaticCore
from edgesvm.learners.twin._margin_set cimport OVERFLOWED
from edgesvm.learners.twin._path cimport Move

cdef double TIE
from edgesvm.learners.twin.constants import TIE


cdef class IncrementalDecrementalSVMCore(AdiabaticCore):
    """State and step. The public class has checked the parameters."""

    def __init__(self, *common, C, when_full, kernel):
        super().__init__(*common, kernel=kernel)
        self.C = C
        self.when_full = {"oldest": OLDEST, "ignore": IGNORE}.get(when_full, LEAST_NEEDED)
        self.max_vectors = self.slots - 1
        self.counters = <Counters *> self.array("n_unlearned")
        if self.solver.mu == 0.0:
            self.solver.mu = 1.0 / C

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef Move moves[2]
        cdef int count = 0
        if not isfinite(self.norm(x)):
            return NOT_FINITE
        if self.solver.n == self.max_vectors:
            if self.when_full == IGNORE:
                self.counters.n_ignored += 1
                return UNCHANGED
            moves[0].slot = 0 if self.when_full == OLDEST else self.least_needed()
            moves[0].to_minus = moves[0].to_plus = 0.0
            moves[0].known = NULL
            count = 1
        moves[count].known = NULL
        self.take(x, y, weight, &moves[count])
        if self.follow(moves, count + 1, self.solver.mu) == OVERFLOWED:
            self.drop(moves[count].slot)
            return UNCHANGED
        if count:
            self.counters.n_forgotten += 1
            self.drop(moves[0].slot)
        return CHANGED

    cdef void take(self, const void *x, double y, double weight, Move *move) noexcept nogil:
        """Place a new sample, and say which weights it is to get."""
        move.slot = self.place(x)
        move.to_minus = 0.0 if y > 0 else weight
        move.to_plus = weight if y > 0 else 0.0

    cdef int64_t least_needed(self) noexcept nogil:
        """The vector farthest on the correct side; the first learned of equals."""
        cdef int64_t i, best = 0
        cdef double g, most = 0.0
        for i in range(self.solver.n):
            g = self.g[i] if self.s_plus[i] > 0.0 else -self.g[i]
            if i == 0 or g > most + TIE * self.solver.mu:
                most, best = g, i
        return best

    def unlearn(self, int64_t index):
        """Unlearn one sample; False if the margin set would have overflowed its room."""
        cdef Move move
        move.slot = index
        move.to_minus = move.to_plus = 0.0
        move.known = NULL
        if self.follow(&move, 1, self.solver.mu) == OVERFLOWED:
            return False
        self.drop(index)
        self.counters.n_unlearned += 1
        return True

    def set_C(self, double C):
        """Change C; False if the margin set would have overflowed its room."""
        return self.follow(NULL, 0, 1.0 / C) != OVERFLOWED

    cdef const char *fault(self) noexcept nogil:
        if self.solver.n > self.max_vectors:
            return b"there are more vectors than are allowed"
        if not fabs(self.solver.mu * self.C - 1.0) < 1e-9:
            return b"the margin is not that of C"
        return AdiabaticCore.fault(self)
