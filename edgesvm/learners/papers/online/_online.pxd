# The bases of the compiled online learners; see _online.pyx.

cimport cython
from libc.stdint cimport int64_t

from edgesvm.contract.core cimport LearnerCore
from edgesvm.contract.kernel_core cimport KernelCore
from edgesvm.core.status cimport Status


cdef class LinearCore(LearnerCore):
    cdef readonly bint intercept
    cdef readonly int64_t width      # n_features and the constant feature
    cdef char *w            # (width,)
    cdef double *ww         # w.w
    cdef readonly double most_ww

    @cython.final
    cdef Status measure(self, const void *x, double *wx, double *xx) noexcept nogil

    @cython.final
    cdef Status move(self, double step, const void *x, double xx, double weight) noexcept nogil

    @cython.final
    cdef void add(self, double step, const void *x, char *sum_) noexcept nogil

    @cython.final
    cdef double square(self, const char *row) noexcept nogil

cdef class ExpansionCore(KernelCore):
    cdef readonly int64_t capacity
    cdef int64_t *n_held
    cdef double *coef       # (capacity,)
    cdef char *vectors      # (capacity, n_features)

    @cython.final
    cdef double project(self, const void *x) noexcept nogil

    @cython.final
    cdef Status refuses(self, const void *x, double weight) noexcept nogil

    @cython.final
    cdef void put(self, int64_t i, const void *x, double coef) noexcept nogil

    @cython.final
    cdef char *vector(self, int64_t i) noexcept nogil
