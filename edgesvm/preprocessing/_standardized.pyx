"""A running standardizer in front of a learner, compiled.

Mean and spread (sum of squared deviations) of each feature follow Welford's recurrence
(Technometrics 1962), where n is the number of samples learned, this one included:

    delta = x - mean,  mean += delta / n,  spread += delta (x - mean)

The inner learner gets (x - mean) / sqrt(spread / n), with the new mean and spread. With `until`,
the statistics have a count of their own, n_scaled, which takes n's place; once it is `until`, they
stay.

Bytes: 16 D + D s in addition to the learner's, s the dtype's size; with `until` 8 more.
"""

cimport cython
from libc.stdint cimport int64_t

from edgesvm.core.status cimport NOT_FINITE, UNCHANGED, Status
from edgesvm.preprocessing._stage cimport StageCore

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
    cdef int64_t *n_scaled      # samples that these are of; NULL: all that were learned
    cdef readonly int64_t until

    def __init__(self, *common, inner, until):
        super().__init__(*common, inner=inner, scratch="scaled")
        self.mean = <double *> self.array("mean")
        self.spread = <double *> self.array("spread")
        self.until = until or 0
        self.n_scaled = <int64_t *> self.array("n_scaled") if until is not None else NULL

    cdef bint is_settled(self) noexcept nogil:
        """Whether the statistics stay as they are"""
        return self.n_scaled != NULL and self.n_scaled[0] >= self.until

    cdef double count_with_next(self, double n) noexcept nogil:
        """Samples of the statistics with the next one, the n-th that is learned"""
        return n if self.n_scaled == NULL else <double> self.n_scaled[0] + 1.0

    cdef Status map_next(self, const void *x, double n) noexcept nogil:
        cdef bint is_finite
        cdef double share = 1.0 / self.count_with_next(n)
        if self.is_settled():
            self.map(x, n)
            return UNCHANGED
        if self.is_float32:
            is_finite = moments_next_f32(
                <const float *> x, self.mean, self.spread, share, <float *> self.mapped,
                self.n_features)
        else:
            is_finite = moments_next_f64(
                <const double *> x, self.mean, self.spread, share, <double *> self.mapped,
                self.n_features)
        return UNCHANGED if is_finite else NOT_FINITE

    cdef void keep(self, const void *x, double n) noexcept nogil:
        cdef double share = 1.0 / self.count_with_next(n)
        if self.is_settled():
            return
        if self.n_scaled != NULL:
            self.n_scaled[0] += 1
        if self.is_float32:
            moments_keep_f32(<const float *> x, self.mean, self.spread, share, self.n_features)
        else:
            moments_keep_f64(<const double *> x, self.mean, self.spread, share, self.n_features)

    cdef void map(self, const void *x, double n) noexcept nogil:
        cdef double share = 1.0 / (n if self.n_scaled == NULL else <double> self.n_scaled[0])
        if self.is_float32:
            moments_map_f32(
                <const float *> x, self.mean, self.spread, share, <float *> self.mapped,
                self.n_features)
        else:
            moments_map_f64(
                <const double *> x, self.mean, self.spread, share, <double *> self.mapped,
                self.n_features)

    cdef const char *fault(self) noexcept nogil:
        cdef int64_t j
        for j in range(self.n_features):
            if self.spread[j] < 0.0:
                return b"the snapshot has a negative sum of squared deviations"
        if self.n_scaled != NULL and not (
                min(self.n_learned(), self.until) <= self.n_scaled[0] <= self.until):
            return b"the statistics are of more or fewer samples than they can be"
        return NULL
