# The core of IncrementalDecrementalSVM, as that of the regressor sees it; see
# _incremental_decremental_svm.pyx.

from libc.stdint cimport int64_t

from edgesvm.learners.twin._adiabatic cimport AdiabaticCore
from edgesvm.learners.twin._path cimport Move

cdef enum WhenFull:
    LEAST_NEEDED = 0
    OLDEST = 1
    IGNORE = 2

cdef struct Counters:           # from "n_unlearned" on
    int64_t n_unlearned
    int64_t n_forgotten
    int64_t n_ignored


cdef class IncrementalDecrementalSVMCore(AdiabaticCore):
    cdef readonly WhenFull when_full
    cdef readonly int64_t max_vectors
    cdef readonly double C
    cdef Counters *counters

    cdef void take(self, const void *x, double y, double weight, Move *move) noexcept nogil
    cdef int64_t least_needed(self) noexcept nogil
