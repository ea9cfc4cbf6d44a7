# A scaler in front of a learner, base of the compiled cores in this folder; see _scaler.pyx.

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.status cimport Status


cdef class ScalerCore(LearnerCore):
    cdef readonly LearnerCore inner     # on the same arena, with the same counters
    cdef char *scaled           # (n_features,): TMP, the scaled sample; zero between samples

    # A subclass overrides these three; `x` is finite, and `n` the number of samples that the
    # statistics are of.
    # Write x into `scaled`, by the statistics with x.
    cdef Status scale_next(self, const void *x, double n) noexcept nogil
    # Take x into the statistics.
    cdef void keep(self, const void *x, double n) noexcept nogil
    # Write x into `scaled`, by the statistics as they are.
    cdef void scale(self, const void *x, double n) noexcept nogil

    cdef void wipe(self) noexcept nogil
    cdef bint is_too_large(self, const void *x) noexcept nogil


cdef inline double entry(bint is_float32, const void *x, Py_ssize_t j) noexcept nogil:
    return (<const float *> x)[j] if is_float32 else (<const double *> x)[j]


cdef inline void put(bint is_float32, void *x, Py_ssize_t j, double value) noexcept nogil:
    if is_float32:
        (<float *> x)[j] = <float> value
    else:
        (<double *> x)[j] = value
