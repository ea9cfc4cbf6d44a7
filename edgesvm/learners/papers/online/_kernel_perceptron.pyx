"""KernelPerceptron, compiled: f = f + y k(x, .) for each sample with y f(x) <= 0, and what happens
when there is no room for it."""

cimport cython
from libc.stdint cimport int64_t, uint64_t

from edgesvm.core.rng cimport rng_below, rng_seed
from edgesvm.core.status cimport CHANGED, UNCHANGED, Status
from edgesvm.learners.papers.online._expansion cimport ExpansionCore

cdef enum WhenFull:
    REPLACE_RANDOM
    REPLACE_OLDEST
    IGNORE

WHEN_FULL = {"random": REPLACE_RANDOM, "oldest": REPLACE_OLDEST, "ignore": IGNORE}


@cython.final
cdef class KernelPerceptronCore(ExpansionCore):
    """State and step. The public class has checked the parameters."""
    cdef readonly WhenFull when_full
    cdef int64_t *n_ignored
    cdef int64_t *oldest    # its slot, once there is no room
    cdef uint64_t *rng      # (4,)

    def __init__(self, *common, kernel, when_full, seed):
        super().__init__(*common, kernel=kernel)
        self.when_full = WHEN_FULL[when_full]
        self.n_ignored = <int64_t *> self.array("n_ignored")
        self.oldest = <int64_t *> self.array("oldest")
        self.rng = <uint64_t *> self.array("rng")
        if not self.views["rng"].any():
            rng_seed(self.rng, seed)

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef Status status = self.refuses(x, weight)
        cdef int64_t i
        if status > CHANGED:
            return status
        if y * self.project(x) > 0.0:
            return UNCHANGED
        i = self.slot_for_another()
        if i < 0:
            self.n_ignored[0] += 1
            return UNCHANGED
        self.put(i, x, y * weight)
        return CHANGED

    cdef int64_t slot_for_another(self) noexcept nogil:
        """The slot of the next vector; -1: it is not stored."""
        cdef int64_t i = self.n_held[0]
        if i < self.capacity:
            self.n_held[0] = i + 1
            return i
        if self.when_full == IGNORE:
            return -1
        if self.when_full == REPLACE_RANDOM:
            return rng_below(self.rng, self.capacity)
        i = self.oldest[0]
        self.oldest[0] = (i + 1) % self.capacity
        return i

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = ExpansionCore.fault(self)
        if found == NULL and self.oldest[0] >= self.capacity:
            return b"the slot of the oldest vector is out of range"
        if found == NULL and not (self.rng[0] or self.rng[1] or self.rng[2] or self.rng[3]):
            return b"the generator's state is zero"
        return found
