# A stage in front of a learner, base of the compiled cores in this folder; see _stage.pyx.

from libc.stdint cimport int64_t

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.status cimport Status


cdef class StageCore(LearnerCore):
    cdef readonly LearnerCore inner     # on the same arena, with the same counters
    cdef str scratch            # name of the array `mapped`
    cdef char *mapped           # (inner.n_features,): TMP, what the inner learner gets of a sample

    # A subclass overrides the first three; `x` is finite, and `n` the number of samples that what
    # the stage has learned is of.
    # Write x into `mapped`, as it is to be learned; with what x adds to what the stage has learned.
    cdef Status map_next(self, const void *x, double n) noexcept nogil
    # Take x into what the stage has learned.
    cdef void keep(self, const void *x, double n) noexcept nogil
    # Write x into `mapped`, by what the stage has learned.
    cdef void map(self, const void *x, double n) noexcept nogil
    # A stage that stands NaN overrides these two and `wipe`: x with numbers in their place, and
    # what is counted of an x that was learned.
    cdef const void *filled(self, const void *x) noexcept nogil
    cdef void note_missing(self, const void *x) noexcept nogil

    cdef Status ask(self, int what, const void *x, double *out) noexcept nogil
    cdef void wipe(self) noexcept nogil
    cdef int64_t row_bytes(self) noexcept nogil
    cdef bint is_too_large(self, const void *x) noexcept nogil
