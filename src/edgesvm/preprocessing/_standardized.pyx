"""A running standardizer in front of a learner, compiled: one arena, one set of counters, one step.

Mean and spread (sum of squared deviations) of each feature follow Welford's recurrence
(Technometrics 1962), where n is the number of samples learned, this one included:

    delta = x - mean,  mean += delta / n,  spread += delta (x - mean)

The inner learner gets (x - mean) / sqrt(spread / n), with the new mean and spread. It may still
refuse the sample (a polynomial of many features); mean and spread are written only if it did not.

Bytes: 16 D + D s in addition to the learner's, s the dtype's size. The D s bytes are scratch, zero
between samples: neither a prediction nor a refused sample leaves a trace.
"""

cimport cython
from libc.math cimport isfinite, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.linalg cimport dot, real
from edgesvm.core.status cimport CHANGED, NOT_FINITE, Status

from edgesvm.errors import CorruptModelError


cdef inline void welford(
    double x, double share, double old_mean, double old_spread, double *mean, double *spread
) noexcept nogil:
    """delta = x - mean,  mean += delta / n,  spread += delta (x - mean);  share = 1 / n"""
    cdef double delta = x - old_mean
    mean[0] = old_mean + delta * share
    spread[0] = old_spread + delta * (x - mean[0])


cdef inline double standard(double x, double mean, double variance) noexcept nogil:
    """(x - mean) / sqrt(variance), 0 for a feature that has not varied"""
    return (x - mean) / sqrt(variance) if variance > 0.0 else 0.0


@cython.final
cdef class StandardizedCore(LearnerCore):
    cdef readonly LearnerCore inner     # on the same arena, with the same counters
    cdef double *mean           # (n_features,)
    cdef double *spread         # (n_features,): sum of squared deviations
    cdef char *scaled           # (n_features,): TMP, the scaled sample; zero between samples

    def __init__(self, *common, inner):
        super().__init__(*common)
        self.inner = inner
        self.mean = <double *> self.array("mean")
        self.spread = <double *> self.array("spread")
        self.scaled = self.array("scaled")

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef Status status
        if self.is_float32:
            status = self.step_typed(<const float *> x, <float *> self.scaled, y, weight)
        else:
            status = self.step_typed(<const double *> x, <double *> self.scaled, y, weight)
        self.wipe()
        return status

    cdef Status step_typed(
        self, const real *x, real *scaled, double y, double weight
    ) noexcept nogil:
        cdef int64_t j, n = self.n_learned() + 1
        cdef double mean, spread, share = 1.0 / n
        cdef Status status
        if not isfinite(dot(x, x, self.n_features)):
            return NOT_FINITE
        for j in range(self.n_features):
            welford(x[j], share, self.mean[j], self.spread[j], &mean, &spread)
            if not isfinite(spread):
                return NOT_FINITE
            scaled[j] = <real> standard(x[j], mean, spread * share)
        status = self.inner.step(scaled, y, weight)
        if status <= CHANGED:
            for j in range(self.n_features):
                welford(x[j], share, self.mean[j], self.spread[j], &self.mean[j], &self.spread[j])
        return status

    cdef void wipe(self) noexcept nogil:
        cdef int64_t size = sizeof(float) if self.is_float32 else sizeof(double)
        memset(self.scaled, 0, self.n_features * size)

    cdef bint decides_alone(self) noexcept nogil:
        return True

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        cdef Status status
        if self.is_float32:
            status = self.decide_typed(<const float *> x, <float *> self.scaled, value)
        else:
            status = self.decide_typed(<const double *> x, <double *> self.scaled, value)
        self.wipe()
        return status

    cdef Status decide_typed(self, const real *x, real *scaled, double *value) noexcept nogil:
        cdef int64_t j
        cdef double share = 1.0 / self.n_learned()
        if not isfinite(dot(x, x, self.n_features)):
            return NOT_FINITE
        for j in range(self.n_features):
            scaled[j] = <real> standard(x[j], self.mean[j], self.spread[j] * share)
        return self.inner.decide(scaled, value)

    def check(self):
        if (self.views["spread"] < 0).any():
            raise CorruptModelError("the snapshot has a negative sum of squared deviations")
        if self.views["scaled"].any():
            raise CorruptModelError("the snapshot's scaled sample is not zero between two samples")
