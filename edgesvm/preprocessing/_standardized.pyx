"""Scalers in front of a learner, compiled: one arena, one set of counters, one step.

The inner learner gets the sample as the scaler maps it, limited to -clip and clip. It may still
refuse it (a polynomial of many features); the statistics take a sample in only if it did not.
`mapped` is scratch, zero between samples: neither a prediction nor a refused sample leaves a trace.

**Standardized.** Mean and spread (sum of squared deviations) follow Welford's recurrence, of values
at most b deviations away: see the public class. With `until`, n_scaled takes n's place.

**RobustStandardized.** Of each feature: `center`, an estimate of its median; `n_apart`, the number
of samples that lay apart from it; `distance`, an estimate of the median distance of those. The n-th
sample x moves them by steps that do not depend on how far away it is:

    d = |x - center|,  step = 2 distance / n
    d <= step: center = x,  distance /= 1 + 2 / (n sqrt(n_apart)) if d > 0
    otherwise: center +- step towards x,  n_apart += 1,
               distance = d, if this is the first apart, else
               distance (1 + 2 / n_apart)^+-1 towards d

A center near a value that most samples have becomes that value.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY, copysign, fabs, fmax, fmin, isfinite, isnan, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.linalg cimport any_dot, entry, item_bytes, put
from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, Status

cnp.import_array()

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

cdef double NEAR, FAR, WIDENING
from edgesvm.core.constants import FAR, NEAR, WIDENING

cdef int64_t SEEN = 10      # samples that tell nothing of what is far out

cdef enum:
    VALUE
    INTERVAL
    FORECAST


cdef class ScalerCore(LearnerCore):
    """The step. Arguments x are finite, and n is the number of samples that the statistics are of.
    """
    cdef readonly LearnerCore inner     # on the same arena, with the same counters
    cdef readonly double clip
    cdef char *mapped           # (n_features,): TMP, what the inner learner gets of a sample

    def __init__(self, *common, inner, clip):
        super().__init__(*common)
        self.inner = inner
        self.clip = INFINITY if clip is None else clip
        self.regresses = inner.regresses
        self.mapped = self.array("scaled")

    # -- a subclass overrides these three ----------------------------------------------------------

    cdef Status map_next(self, const void *x, double n) noexcept nogil:
        """Write x into `mapped`, as it is to be learned, by the statistics with x."""
        return NOT_FINITE

    cdef void keep(self, const void *x, double n) noexcept nogil:
        """Take x into the statistics."""

    cdef void map(self, const void *x, double n) noexcept nogil:
        """Write x into `mapped`, by the statistics."""

    # -- many rows ---------------------------------------------------------------------------------

    cdef int begin_rows(self, int64_t n) except -1:
        return self.inner.begin_rows(n)

    cdef void end_rows(self) noexcept:
        self.inner.end_rows()

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef double n = self.n_learned() + 1
        cdef const void *filled = self.filled(x)
        cdef Status status = NOT_FINITE
        if not self.is_too_large(filled):
            status = self.map_next(filled, n)
            if status == UNCHANGED:
                status = self.inner.weighed_step(self.mapped, y, weight)
            if status <= CHANGED:
                self.note_missing(x)
                self.keep(filled, n)
        self.wipe()
        return status

    def was_issued(self, said):
        self.inner.was_issued(said)

    cdef const void *filled(self, const void *x) noexcept nogil:
        """x with numbers in place of NaN."""
        return x

    cdef void note_missing(self, const void *x) noexcept nogil:
        """Count what is NaN in an x that was learned."""

    cdef bint decides_alone(self) noexcept nogil:
        return True

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        return self.ask(VALUE, x, value)

    cdef Status probabilities(self, const void *x, double *out) noexcept nogil:
        return self.ask(INTERVAL, x, out)

    cdef Status forecast(self, const void *x, double *out) noexcept nogil:
        return self.ask(FORECAST, x, out)

    cdef Status ask(self, int what, const void *x, double *out) noexcept nogil:
        """What the inner learner answers to x as it is mapped"""
        cdef const void *filled = self.filled(x)
        cdef Status status = NOT_FINITE
        if not self.is_too_large(filled):
            self.map(filled, self.n_learned())
            if what == VALUE:
                status = self.inner.decide(self.mapped, out)
            elif what == INTERVAL:
                status = self.inner.probabilities(self.mapped, out)
            else:
                status = self.inner.forecast(self.mapped, out)
        self.wipe()
        return status

    cdef bint is_too_large(self, const void *x) noexcept nogil:
        return not isfinite(any_dot(self.is_float32, x, x, self.n_features))

    cdef void wipe(self) noexcept nogil:
        memset(self.mapped, 0, self.n_features * item_bytes(self.is_float32))

    cdef const char *fault(self) noexcept nogil:
        return NULL     # the counters are the inner learner's


@cython.final
cdef class StandardizedCore(ScalerCore):
    cdef double *mean           # (n_features,)
    cdef double *spread         # (n_features,): sum of squared deviations
    cdef int64_t *n_scaled      # samples that these are of; NULL: all that were learned
    cdef int64_t *far_out       # samples learned with a value far out; NULL: nothing is limited
    cdef int64_t *n_missing     # values that were NaN and counted as the mean; NULL: refused
    cdef char *complete         # (n_features,): TMP, x with the mean in place of NaN; NULL likewise
    cdef readonly int64_t until

    def __init__(self, *common, inner, until, clip, missing):
        super().__init__(*common, inner=inner, clip=clip)
        self.mean = <double *> self.array("mean")
        self.spread = <double *> self.array("spread")
        self.until = until or 0
        self.n_scaled = <int64_t *> self.array("n_scaled") if until is not None else NULL
        self.far_out = <int64_t *> self.array("far_out") if clip is not None else NULL
        self.n_missing, self.complete = NULL, NULL
        if missing == "mean":
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
        ScalerCore.wipe(self)
        if self.complete != NULL:
            memset(self.complete, 0, self.n_features * item_bytes(self.is_float32))

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
        if self.n_scaled != NULL and not (
                min(self.n_learned(), self.until) <= self.n_scaled[0] <= self.until):
            return b"the statistics are of more or fewer samples than they can be"
        return NULL


cdef double NORMAL = 1.4826, GAIN = 2.0

cdef struct Statistics:     # of one feature
    double center
    double distance
    int64_t n_apart


cdef inline Statistics moved(Statistics old, double x, double n) noexcept nogil:
    """The statistics with x, the n-th sample"""
    cdef double d = fabs(x - old.center), step = GAIN / n * old.distance
    cdef bint apart = d > step and n > 1.0
    cdef double k = old.n_apart + 1 if apart else n * sqrt(fmax(old.n_apart, 1.0))
    cdef double more = k + GAIN if d > 0.0 else k
    cdef double ratio = (more if d > old.distance else k) / (more if d < old.distance else k)
    return Statistics(
        old.center + copysign(step, x - old.center) if apart else x,
        old.distance * ratio if old.n_apart > 0 or not apart else d,
        old.n_apart + apart)


cdef inline double robust(Statistics of, double x, double n, double clip) noexcept nogil:
    """(x - center) / scale within -clip and clip, 0 for a feature that has not varied"""
    cdef double scale = NORMAL * of.distance * sqrt(of.n_apart / n)
    return fmin(fmax((x - of.center) / scale, -clip), clip) if scale > 0.0 else 0.0


@cython.final
cdef class RobustStandardizedCore(ScalerCore):
    cdef double *center         # (n_features,)
    cdef double *distance       # (n_features,)
    cdef int64_t *n_apart       # (n_features,)

    def __init__(self, *common, inner, clip):
        super().__init__(*common, inner=inner, clip=clip)
        self.center = <double *> self.array("center")
        self.distance = <double *> self.array("distance")
        self.n_apart = <int64_t *> self.array("n_apart")

    cdef inline Statistics of(self, int64_t j) noexcept nogil:
        return Statistics(self.center[j], self.distance[j], self.n_apart[j])

    cdef Status map_next(self, const void *x, double n) noexcept nogil:
        cdef int64_t j
        cdef double xj
        for j in range(self.n_features):
            xj = entry(self.is_float32, x, j)
            put(self.is_float32, self.mapped, j, robust(moved(self.of(j), xj, n), xj, n, self.clip))
        return UNCHANGED

    cdef void keep(self, const void *x, double n) noexcept nogil:
        cdef int64_t j
        cdef Statistics new
        for j in range(self.n_features):
            new = moved(self.of(j), entry(self.is_float32, x, j), n)
            self.center[j], self.distance[j], self.n_apart[j] = (
                new.center, new.distance, new.n_apart)

    cdef void map(self, const void *x, double n) noexcept nogil:
        cdef int64_t j
        for j in range(self.n_features):
            put(self.is_float32, self.mapped, j,
                robust(self.of(j), entry(self.is_float32, x, j), n, self.clip))

    cdef const char *fault(self) noexcept nogil:
        cdef int64_t j
        for j in range(self.n_features):
            if self.n_apart[j] > max(self.n_learned() - 1, 0):
                return b"the snapshot has more samples apart from a center than were learned"
            if self.distance[j] < 0.0 or (self.distance[j] > 0.0) != (self.n_apart[j] > 0):
                return b"the snapshot has a distance that is not positive, or one of no sample"
        return NULL
