# Steps on x and 1, and the core that a regressor with more features builds on; see
# _adagrad_svr.pyx.

from libc.stdint cimport int64_t

from edgesvm.core.status cimport Status
from edgesvm.learners.regression._regressor cimport RegressorCore


cdef class AdaGradSVRCore(RegressorCore):
    cdef readonly double rate
    cdef readonly int64_t width     # W
    cdef readonly int64_t n_ahead   # features ahead of x: W - n_features - 1
    cdef char *w            # (W,)
    cdef char *squares      # (W,)

    cdef int64_t bytes_of(self, int64_t n) noexcept nogil
    cdef Status linear(self, const void *x, double *f) noexcept nogil
    cdef void move_along(self, int64_t at, const void *f, int64_t n, double g) noexcept nogil
    cdef void move_linear(self, const void *x, double g) noexcept nogil
