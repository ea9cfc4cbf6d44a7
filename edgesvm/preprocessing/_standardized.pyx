"""Standardized, compiled: a scaler in front of a learner, one arena, one set of counters, one step.

The inner learner gets the sample as the scaler maps it, limited to -clip and clip. It may still
refuse it (a polynomial of many features); the statistics take a sample in only if it did not.
`mapped` is scratch, zero between samples: neither a prediction nor a refused sample leaves a trace.

Mean and spread (sum of squared deviations) follow Welford's recurrence; what is far out, stuck or
lasting, is in the public class. With `until`, n_scaled takes n's place. Rows without a value far
out are mapped and kept many features at a time, the others, and those by which a scale starts anew,
one by one.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY, fmax, fmin, isfinite, isnan, sqrt
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.linalg cimport any_dot, entry, item_bytes, put
from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, Status

cnp.import_array()

cdef extern from "lanes.h" nogil:      # f32: whether x is float32
    int moments_next(
        bint f32, const void *x, const double *mean, const double *spread, double n, double bound,
        double clip, void *out, int64_t width) noexcept
    bint moments_far(
        bint f32, const void *x, const double *mean, const double *spread, double n, double bound,
        int64_t width) noexcept
    void moments_keep(
        bint f32, const void *x, double *mean, double *spread, double n, int64_t width) noexcept
    void moments_map(
        bint f32, const void *x, const double *mean, const double *spread, double n, double clip,
        void *out, int64_t width) noexcept
    bint moments_take(
        double *x, double *mean, double *spread, double n, double share, double bound,
        double most) noexcept

cdef double SEEN = 10.0     # samples that tell nothing of what is far out
cdef double FAR = 8.0       # deviations beyond which a value is far out, and that it counts as
cdef int AWHILE = 16        # samples in a row that are far out and count for the statistics
cdef int FOR_GOOD = 127     # fives of samples in a row with one value; then they count
cdef int LASTING = 128      # samples in a row with other values; then statistics start anew

cdef enum:
    VALUE
    INTERVAL
    FORECAST


cdef struct Moments:        # of one feature
    double mean
    double spread

cdef struct Far:            # eight bytes, of which earlier builds have the first
    uint32_t count          # samples learned with a value far out
    uint8_t value           # hash of the first such value of the last of them
    uint8_t lasting         # features, by j % 8, that were far out in each of the next
    uint16_t n_lasting      # samples in a row, stuck ones a fifth; then those to start anew by

cdef struct Seen:           # of a sample
    bint closely            # whether its values are looked at one by one
    uint8_t features        # with a value far out, by j % 8
    uint8_t value           # hash of the first such value
    bint is_stuck           # whether it is that of the last such sample


@cython.final
cdef class StandardizedCore(LearnerCore):
    """The step. Arguments x are finite, and n is the number of samples that the statistics are of.
    """
    cdef readonly LearnerCore inner     # on the same arena, with the same counters
    cdef readonly double clip
    cdef char *mapped           # (n_features,): TMP, what the inner learner gets of a sample
    cdef double *mean           # (n_features,)
    cdef double *spread         # (n_features,): sum of squared deviations
    cdef int64_t *n_scaled      # samples that these are of; NULL: all that were learned
    cdef Far *far               # NULL: nothing is limited
    cdef int64_t *n_missing     # values that were NaN and counted as the mean; NULL: refused
    cdef char *complete         # (n_features,): TMP, x with the mean in place of NaN; NULL likewise
    cdef readonly int64_t until

    def __init__(self, *common, inner, until, clip, missing):
        super().__init__(*common)
        self.inner = inner
        self.clip = INFINITY if clip is None else clip
        self.regresses = inner.regresses
        self.mapped = self.array("scaled")
        self.mean = <double *> self.array("mean")
        self.spread = <double *> self.array("spread")
        self.until = until or 0
        self.n_scaled = <int64_t *> self.array("n_scaled") if until is not None else NULL
        self.far = <Far *> self.array("far_out") if clip is not None else NULL
        self.n_missing, self.complete = NULL, NULL
        if missing == "mean":
            self.n_missing = <int64_t *> self.array("n_missing")
            self.complete = self.array("complete")

    # -- many rows ---------------------------------------------------------------------------------

    cdef int begin_rows(self, int64_t n) except -1:
        return self.inner.begin_rows(n)

    cdef void end_rows(self) noexcept:
        self.inner.end_rows()

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef double n = self.count_of(self.n_learned()) + 1.0
        cdef const void *filled = self.filled(x)
        cdef Seen seen = Seen(False, 0, 0, False)
        cdef Far far
        cdef bint notes
        cdef Status status = NOT_FINITE
        if not self.is_too_large(filled):
            status = self.map_next(filled, n, &seen)
            notes = self.far != NULL and (seen.features or self.far.lasting)
            if notes:
                far = self.far_after(&seen)
            if status == UNCHANGED and not (notes and self.is_dropout(&far, &seen, y)):
                status = self.inner.weighed_step(self.mapped, y, weight)
            elif status == UNCHANGED and self.regresses:
                status = self.inner.pass_over(self.mapped, y)
            if status <= CHANGED:
                self.note_missing(x)
                self.keep(filled, n, &seen)
                if notes:
                    self.far[0] = far
        self.wipe()
        return status

    def was_issued(self, said):
        self.inner.was_issued(said)

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

    # -- missing values ----------------------------------------------------------------------------

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
        memset(self.mapped, 0, self.n_features * item_bytes(self.is_float32))
        if self.complete != NULL:
            memset(self.complete, 0, self.n_features * item_bytes(self.is_float32))

    # -- statistics --------------------------------------------------------------------------------

    cdef bint is_settled(self) noexcept nogil:
        """Whether the statistics stay as they are"""
        return self.n_scaled != NULL and self.n_scaled[0] >= self.until

    cdef double count_of(self, double n) noexcept nogil:
        """Samples of the statistics, when n are learned"""
        return n if self.n_scaled == NULL else <double> self.n_scaled[0]

    cdef double bound(self) noexcept nogil:
        """Deviations beyond which a value is far out"""
        return INFINITY if self.far == NULL else FAR

    cdef Status map_next(self, const void *x, double n, Seen *seen) noexcept nogil:
        """Write x, the n-th sample, into `mapped`, as it is to be learned, by the statistics with
        it; what it has far out is `seen`."""
        cdef Moments of
        cdef double value, variance, z
        cdef int found
        cdef int64_t j
        if self.is_settled():
            self.map(x, n)
            if self.n_learned() >= SEEN and moments_far(
                    self.is_float32, x, self.mean, self.spread, n - 1.0, self.bound(),
                    self.n_features):
                for j in range(self.n_features):
                    self.look(j, entry(self.is_float32, x, j), n, seen)
            return UNCHANGED
        if not self.starts_anew():
            found = moments_next(
                self.is_float32, x, self.mean, self.spread, n, self.bound(), self.clip,
                self.mapped, self.n_features)
            if found <= 0:
                return UNCHANGED if found == 0 else NOT_FINITE
        seen.closely = True
        for j in range(self.n_features):
            value = entry(self.is_float32, x, j)
            of = self.moments_with(j, &value, n, seen)
            if not isfinite(of.spread):
                return NOT_FINITE
            variance = of.spread * (1.0 / n)
            z = (value - of.mean) / sqrt(variance) if variance > 0.0 else 0.0
            put(self.is_float32, self.mapped, j, fmin(fmax(z, -self.clip), self.clip))
        return UNCHANGED

    cdef void keep(self, const void *x, double n, Seen *seen) noexcept nogil:
        """Take x, the n-th sample, into the statistics."""
        cdef Moments of
        cdef double value
        cdef int64_t j
        if self.is_settled():
            return
        if self.n_scaled != NULL:
            self.n_scaled[0] += 1
        if not seen.closely:
            moments_keep(self.is_float32, x, self.mean, self.spread, n, self.n_features)
            return
        for j in range(self.n_features):
            value = entry(self.is_float32, x, j)
            of = self.moments_with(j, &value, n, seen)
            self.mean[j], self.spread[j] = of.mean, of.spread

    cdef Moments moments_with(self, int64_t j, double *x, double n, Seen *seen) noexcept nogil:
        """Mean and spread of feature j with x, its n-th value, or the own-th since it starts anew;
        of the first ones x becomes what it counts as"""
        cdef Moments of = Moments(self.mean[j], self.spread[j])
        cdef double own = n, bound = self.bound(), counted = x[0]
        if self.starts_anew() and self.lasts(j):
            own = <double> (self.far.n_lasting - LASTING + 1)
        if own == 1.0:
            return Moments(x[0], 0.0)
        if own < n:
            of.spread *= (own - 1.0) / (n - 1.0)
        if own > 3.0 and self.look(j, x[0], n, seen) and not self.counts(j, seen):
            return Moments(self.mean[j], self.spread[j] * (n / (n - 1.0)))
        moments_take(
            &counted, &of.mean, &of.spread, own, 1.0 / own, bound, bound * bound / (own - 1.0))
        if own <= SEEN:
            x[0] = counted
        if own < n:
            of.spread *= n / own
        return of

    # -- values far out ----------------------------------------------------------------------------

    cdef bint starts_anew(self) noexcept nogil:
        return self.far != NULL and self.far.n_lasting >= LASTING

    cdef bint lasts(self, int64_t j) noexcept nogil:
        """Whether feature j was far out in each of the last samples"""
        return self.far.lasting >> j % 8 & 1

    cdef bint counts(self, int64_t j, const Seen *seen) noexcept nogil:
        """Whether a value far out does, for the statistics"""
        if self.far.n_lasting == FOR_GOOD:
            return True
        return not seen.is_stuck and not (
            AWHILE <= self.far.n_lasting < LASTING and self.lasts(j))

    cdef bint look(self, int64_t j, double x, double n, Seen *seen) noexcept nogil:
        """Take note of x, the n-th value of feature j, if it is far out; whether it is"""
        cdef double delta = x - self.mean[j]
        cdef double most = self.bound() * self.bound() / (n - 1.0) * self.spread[j]
        cdef uint64_t value
        if not delta * delta > most > 0.0:
            return False
        if seen.features == 0:
            memcpy(&value, &x, 8)
            seen.value = <uint8_t> ((value + <uint64_t> j) * <uint64_t> 0x9E3779B97F4A7C15 >> 56)
            seen.is_stuck = seen.value == self.far.value
        seen.features |= <uint8_t> (1 << j % 8)
        return True

    cdef Far far_after(self, const Seen *seen) noexcept nogil:
        """What is kept of values far out, with this sample"""
        cdef Far far = self.far[0]
        cdef int lasting = far.n_lasting
        if seen.features:
            far.count += self.n_learned() >= SEEN
            far.value = seen.value
        if self.starts_anew():
            lasting = (lasting + 1) % (2 * LASTING)
            far.lasting = far.lasting if lasting else 0
        elif far.lasting & seen.features:
            far.lasting &= seen.features
            if seen.is_stuck:
                lasting += self.n_learned() % 5 == 4 and lasting < FOR_GOOD
            elif lasting == FOR_GOOD:
                lasting = AWHILE
            else:
                lasting += 2 if lasting + 1 == FOR_GOOD else 1
        else:
            far.lasting = seen.features
            lasting = 0
        far.n_lasting = <uint16_t> lasting
        return far

    cdef bint is_dropout(self, const Far *far, const Seen *seen, double y) noexcept nogil:
        """Whether the inner learner does not learn the sample: one by which statistics start anew,
        and one that is stuck, unless so few samples of its class had no value far out that this may
        be what tells the class"""
        cdef int slot = <int> y if self.several else y > 0.0
        cdef int64_t n = self.n_learned() if self.regresses else self.n_per_class[slot]
        if self.starts_anew():
            return not self.is_settled()
        return seen.is_stuck and far.n_lasting != FOR_GOOD and n > 2 * <int64_t> far.count

    cdef void map(self, const void *x, double n) noexcept nogil:
        moments_map(
            self.is_float32, x, self.mean, self.spread, self.count_of(n), self.clip, self.mapped,
            self.n_features)

    cdef const char *fault(self) noexcept nogil:
        if self.n_scaled != NULL and not (
                min(self.n_learned(), self.until) <= self.n_scaled[0] <= self.until):
            return b"the statistics are of more or fewer samples than they can be"
        return NULL
