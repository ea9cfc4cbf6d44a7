# The vectors that the parts of a multiclass learner hold; see _same_vectors.pyx.

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from edgesvm.contract.kernel_core cimport KernelCore


cdef class SameVectors:
    cdef readonly list arrays   # what the pointers below point into
    cdef tuple cores
    cdef KernelCore in_float64  # one that sums its kernel values in float64, or None
    cdef KernelCore in_dtype    # one that sums them in the vectors' dtype, or None
    cdef readonly int64_t n     # different vectors
    cdef int64_t n_in_float64   # those of cores that sum in float64, which come first
    cdef readonly int64_t n_held
    cdef int64_t *start         # (n_cores,): number of the first vector of each
    cdef int32_t *number        # (n_held,): which of the different ones a vector is
    cdef const char **first     # (n,): where the first of equals lies
    cdef double *values         # (n, ROWS_BLOCK)
    cdef char *bench            # (BENCH, n_features)

    cdef object compare(self)
    cdef int find(
        self, KernelCore core, int64_t at, cnp.ndarray table, cnp.ndarray firsts) except -1
    cdef bint take(
        self, KernelCore core, const void *x, int64_t begin, int64_t end) noexcept nogil
    cdef bint look_at(self, const void *x) noexcept nogil
