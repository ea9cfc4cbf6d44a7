# Base class of the compiled online learners with a kernel; see _expansion.pyx.

cimport cython
from libc.stdint cimport int64_t

from edgesvm.contract.kernel_core cimport KernelCore
from edgesvm.core.status cimport Status


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
