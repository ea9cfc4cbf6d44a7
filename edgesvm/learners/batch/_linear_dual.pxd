# Dual coordinate descent for the linear kernel; see _linear_dual.pyx.

from libc.stdint cimport int64_t, uint64_t

from edgesvm.learners.batch._smo cimport Outcome, Smo

cdef struct LinearDual:
    double b                # the multiplier of sum beta = 0
    double rho
    double total            # sum beta
    double tol              # of the gap in a pass
    double most             # so far in this pass, as in Smo, where they are those of the last one
    double least
    int64_t n_active
    int64_t at              # samples visited in this pass
    uint64_t draws[4]

cdef void dual_begin(Smo *s, LinearDual *d, bint warm) noexcept nogil
cdef Outcome dual_run(Smo *s, LinearDual *d, int64_t n_more) noexcept nogil
cdef void dual_complete(Smo *s, LinearDual *d) noexcept nogil
