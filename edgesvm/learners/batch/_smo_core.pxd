# Base of the learners that solve by SMO in their arena; see _smo_core.pyx.

cimport cython
from libc.stdint cimport int64_t

from edgesvm.contract.kernel_core cimport KernelCore
from edgesvm.core.status cimport Status
from edgesvm.core.tiles cimport Tiles
from edgesvm.learners.batch._smo cimport Smo

cdef int map_solver(KernelCore core, Smo *s, str diagonal) except -1


cdef class SmoCore(KernelCore):
    cdef Smo smo
    cdef double C

    @cython.final
    cdef double noise_of(self, const Tiles *rows, int64_t n, const double *beta) noexcept nogil

    @cython.final
    cdef double weighted(
        self, const Tiles *rows, int64_t n, const double *beta, double noise, const void *x
    ) noexcept nogil

    @cython.final
    cdef Status refuses(self, const void *x, double weight) noexcept nogil

    @cython.final
    cdef Status refuses_kernel(self, double k, double weight) noexcept nogil
