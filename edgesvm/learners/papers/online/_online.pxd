# The plane of the online learners, for learners in packages of their own; see _online.pyx.

cimport cython
from libc.stdint cimport int64_t

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.status cimport Status


cdef class LinearCore(LearnerCore):
    cdef readonly bint intercept
    cdef readonly int64_t width     # n_features and the constant feature
    cdef char *w                    # (width,)
    cdef double *ww                 # w.w
    cdef readonly double most_ww

    @cython.final
    cdef Status measure(self, const void *x, double *wx, double *xx) noexcept nogil

    @cython.final
    cdef Status move(self, double step, const void *x, double xx, double weight) noexcept nogil

    @cython.final
    cdef void add(self, double step, const void *x, char *sum_) noexcept nogil

    @cython.final
    cdef double square(self, const char *row) noexcept nogil
