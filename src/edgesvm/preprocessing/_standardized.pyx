"""A running standardizer in front of a learner, compiled.

Mean and spread (sum of squared deviations) of each feature follow Welford's recurrence
(Technometrics 1962), where n is the number of samples learned, this one included:

    delta = x - mean,  mean += delta / n,  spread += delta (x - mean)

The inner learner gets (x - mean) / sqrt(spread / n), with the new mean and spread.

Bytes: 16 D + D s in addition to the learner's, s the dtype's size.
"""

cimport cython
from libc.stdint cimport int64_t

from edgesvm.core.status cimport NOT_FINITE, UNCHANGED, Status
from edgesvm.preprocessing._stage cimport StageCore

from edgesvm.errors import CorruptModelError

cdef extern from "moments.h" nogil:
    bint moments_next_f32(
        const float *x, const double *mean, const double *spread, double share, float *out,
        int64_t n) noexcept
    bint moments_next_f64(
        const double *x, const double *mean, const double *spread, double share, double *out,
        int64_t n) noexcept
    void moments_keep_f32(
        const float *x, double *mean, double *spread, double share, int64_t n) noexcept
    void moments_keep_f64(
        const double *x, double *mean, double *spread, double share, int64_t n) noexcept
    void moments_map_f32(
        const float *x, const double *mean, const double *spread, double share, float *out,
        int64_t n) noexcept
    void moments_map_f64(
        const double *x, const double *mean, const double *spread, double share, double *out,
        int64_t n) noexcept


@cython.final
cdef class StandardizedCore(StageCore):
    cdef double *mean           # (n_features,)
    cdef double *spread         # (n_features,): sum of squared deviations

    def __init__(self, *common, inner):
        super().__init__(*common, inner=inner, scratch="scaled")
        self.mean = <double *> self.array("mean")
        self.spread = <double *> self.array("spread")

    cdef Status map_next(self, const void *x, double n) noexcept nogil:
        cdef bint is_finite
        if self.is_float32:
            is_finite = moments_next_f32(
                <const float *> x, self.mean, self.spread, 1.0 / n, <float *> self.mapped,
                self.n_features)
        else:
            is_finite = moments_next_f64(
                <const double *> x, self.mean, self.spread, 1.0 / n, <double *> self.mapped,
                self.n_features)
        return UNCHANGED if is_finite else NOT_FINITE

    cdef void keep(self, const void *x, double n) noexcept nogil:
        if self.is_float32:
            moments_keep_f32(
                <const float *> x, self.mean, self.spread, 1.0 / n, self.n_features)
        else:
            moments_keep_f64(
                <const double *> x, self.mean, self.spread, 1.0 / n, self.n_features)

    cdef void map(self, const void *x, double n) noexcept nogil:
        if self.is_float32:
            moments_map_f32(
                <const float *> x, self.mean, self.spread, 1.0 / n, <float *> self.mapped,
                self.n_features)
        else:
            moments_map_f64(
                <const double *> x, self.mean, self.spread, 1.0 / n, <double *> self.mapped,
                self.n_features)

    def check(self):
        super().check()
        if (self.views["spread"] < 0).any():
            raise CorruptModelError("the snapshot has a negative sum of squared deviations")
