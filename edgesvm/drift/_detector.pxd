# What detectors of drift share: the counts at the head of the arena, and the entry points.

from libc.stdint cimport int64_t

from edgesvm.core.arena cimport Arena


cdef struct Found:          # the first arrays of the arena
    int64_t n_added         # errors so far
    int64_t n_drifts
    double before, now      # mean error before the last drift, and since then until it was found


cdef class DetectorCore:
    cdef readonly Arena arena
    cdef readonly dict views
    cdef Found *found

    cdef bint take(self, double error) noexcept nogil
    cdef bint count(self, double error) noexcept nogil
    cdef char *array(self, str name) except NULL
