# The adiabatic solver, as the two learners on it see it; see _adiabatic.pyx.

from libc.stdint cimport int64_t

from edgesvm.learners.twin._path cimport PathCore


cdef class AdiabaticCore(PathCore):
    cdef const char *fault_of_solution(self) noexcept nogil
    cdef const char *fault_of_coefficients(self) noexcept nogil
    cdef const char *fault_of_factor(self) noexcept nogil
    cdef double g_now(self, int64_t i) noexcept nogil
    cdef double residual(self) noexcept nogil
