"""A running standardizer in front of a learner, compiled.

Mean and spread (sum of squared deviations) of each feature follow Welford's recurrence
(Technometrics 1962), where n is the number of samples learned, this one included:

    delta = x - mean,  mean += delta / n,  spread += delta (x - mean)

The inner learner gets (x - mean) / sqrt(spread / n), with the new mean and spread, limited to
-clip and clip. With `clip`, a value is learned as if it were at most b deviations away, by the mean
and the spread before it:

    delta = min(max(x - mean, -b d), b d),  d = sqrt(spread / (n - 1)) if spread > 0
    b = clip min(NEAR + n WIDENING, FAR)

Of the first three values, one that both others are 12 b times as far from as from each other is
forgotten: the third makes mean = x, spread = 0. Samples after the first SEEN with a value further
away than b deviations are counted in far_out.

With `until`, the statistics have a count of their own, n_scaled, which takes n's place; once it is
`until`, they stay.

With missing="mean" a NaN counts as the mean of its feature: it is mapped to zero, and leaves mean
and spread as they are.

Bytes: 16 D + D s in addition to the learner's, s the dtype's size; with `until` 8 more, with `clip`
8 more, with missing="mean" 8 + D s more.
"""

cimport cython
from libc.math cimport isnan
from libc.stdint cimport int64_t
from libc.string cimport memset

from edgesvm.core.linalg cimport entry, put
from edgesvm.core.status cimport NOT_FINITE, UNCHANGED, Status
from edgesvm.preprocessing._stage cimport StageCore

cdef int64_t SEEN
cdef double NEAR, FAR, WIDENING
from edgesvm.core.constants import FAR, NEAR, WIDENING
from edgesvm.preprocessing.constants import SEEN

cdef extern from "lanes.h" nogil:      # f32: whether x is float32
    bint moments_next(
        bint f32, const void *x, const double *mean, const double *spread, double n, double bound,
        double clip, void *out, int64_t width) noexcept
    bint moments_far(
        bint f32, const void *x, const double *mean, const double *spread, double n, double bound,
        int64_t width) noexcept
    bint moments_keep(
        bint f32, const void *x, double *mean, double *spread, double n, double bound,
        int64_t width) noexcept
    void moments_map(
        bint f32, const void *x, const double *mean, const double *spread, double n, double clip,
        void *out, int64_t width) noexcept


@cython.final
cdef class StandardizedCore(StageCore):
    cdef double *mean           # (n_features,)
    cdef double *spread         # (n_features,): sum of squared deviations
    cdef int64_t *n_scaled      # samples that these are of; NULL: all that were learned
    cdef int64_t *far_out       # samples learned with a value far out; NULL: nothing is limited
    cdef int64_t *n_missing     # values that were NaN and counted as the mean; NULL: refused
    cdef char *complete         # (n_features,): TMP, x with the mean in place of NaN; NULL likewise
    cdef readonly int64_t until
    cdef readonly double clip

    def __init__(self, *common, inner, until, clip):
        super().__init__(*common, inner=inner, scratch="scaled")
        self.mean = <double *> self.array("mean")
        self.spread = <double *> self.array("spread")
        self.until = until or 0
        self.clip = clip
        self.n_scaled = <int64_t *> self.array("n_scaled") if until is not None else NULL
        self.far_out = <int64_t *> self.array("far_out") if "far_out" in self.views else NULL
        self.n_missing, self.complete = NULL, NULL
        if "complete" in self.views:
            self.n_missing = <int64_t *> self.array("n_missing")
            self.complete = self.array("complete")

    cdef const void *filled(self, const void *x) noexcept nogil:
        cdef int64_t j
        cdef double value
        if self.complete == NULL:
            return x
        for j in range(self.n_features):
            value = entry(self.is_float32, x, j)
            put(self.is_float32, self.complete, j, self.mean[j] if isnan(value) else value)
        return self.complete

    cdef void note_missing(self, const void *x) noexcept nogil:
        cdef int64_t j
        if self.n_missing != NULL:
            for j in range(self.n_features):
                self.n_missing[0] += isnan(entry(self.is_float32, x, j))

    cdef void wipe(self) noexcept nogil:
        StageCore.wipe(self)
        if self.complete != NULL:
            memset(self.complete, 0, self.row_bytes())

    cdef bint is_settled(self) noexcept nogil:
        """Whether the statistics stay as they are"""
        return self.n_scaled != NULL and self.n_scaled[0] >= self.until

    cdef double bound(self, double n) noexcept nogil:
        """Deviations that a value counts as at most, in statistics of n samples"""
        cdef double clips = NEAR + n * WIDENING
        return self.clip * (clips if clips < FAR else FAR)

    cdef double count_of(self, double n) noexcept nogil:
        """Samples of the statistics, when n are learned"""
        return n if self.n_scaled == NULL else <double> self.n_scaled[0]

    cdef Status map_next(self, const void *x, double n) noexcept nogil:
        cdef bint is_finite
        cdef double n_with_next = self.count_of(n - 1.0) + 1.0
        cdef double bound = self.bound(n_with_next)
        if self.is_settled():
            self.map(x, n)
            return UNCHANGED
        is_finite = moments_next(
            self.is_float32, x, self.mean, self.spread, n_with_next, bound, self.clip, self.mapped,
            self.n_features)
        return UNCHANGED if is_finite else NOT_FINITE

    cdef void keep(self, const void *x, double n) noexcept nogil:
        cdef bint is_far
        if self.is_settled():
            is_far = self.is_far(x)
        else:
            is_far = self.take(x, self.count_of(n - 1.0) + 1.0)
        if self.far_out != NULL and n > SEEN:
            self.far_out[0] += is_far

    cdef bint is_far(self, const void *x) noexcept nogil:
        """Whether a value is far out of statistics that stay"""
        cdef double n = <double> self.n_scaled[0]
        return moments_far(
            self.is_float32, x, self.mean, self.spread, n, self.bound(n), self.n_features)

    cdef bint take(self, const void *x, double n) noexcept nogil:
        """Take the n-th sample into the statistics; whether a value is far out of them"""
        if self.n_scaled != NULL:
            self.n_scaled[0] += 1
        return moments_keep(
            self.is_float32, x, self.mean, self.spread, n, self.bound(n), self.n_features)

    cdef void map(self, const void *x, double n) noexcept nogil:
        moments_map(
            self.is_float32, x, self.mean, self.spread, self.count_of(n), self.clip, self.mapped,
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
