"""A learner behind a running standardizer, compiled: one arena, one set of counters, one step.

Mean and spread of each feature are kept by Welford's recurrence (Technometrics 1962), n the samples learned:

    delta = x - mean,  mean += delta / n,  spread += delta (x - mean)

and the learner is given (x - mean) / sqrt(spread / n), the sample itself counted first. Each number is then at most
sqrt(n) in size, so what is finite before is finite after, and the learner has nothing left to refuse.

Bytes: 16 D + D s beside the learner's own, s the dtype's size.
"""

from libc.math cimport isfinite, sqrt
from libc.stdint cimport int64_t

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.linalg cimport dot, real
from edgesvm.core.status cimport NOT_FINITE, Status

import numpy as np

from edgesvm.errors import CorruptModelError


cdef class StandardizedCore(LearnerCore):
    cdef LearnerCore inner      # on the same arena, the same counters
    cdef double *mean           # (n_features,)
    cdef double *spread         # (n_features,): sum of squared deviations
    cdef char *scaled           # (n_features,): TMP, the sample as the learner sees it

    def __init__(self, *common, inner):
        super().__init__(*common)
        self.inner = inner
        self.mean = <double *> self.array("mean")
        self.spread = <double *> self.array("spread")
        self.scaled = self.array("scaled")

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        if self.is_float32:
            return self.step_typed(<const float *> x, <float *> self.scaled, y, weight)
        return self.step_typed(<const double *> x, <double *> self.scaled, y, weight)

    cdef Status step_typed(self, const real *x, real *scaled, double y, double weight) noexcept nogil:
        cdef int64_t j, n = self.learned() + 1
        cdef double delta, share = 1.0 / n
        if not isfinite(dot(x, x, self.n_features)):
            return NOT_FINITE
        for j in range(self.n_features):
            delta = x[j] - self.mean[j]
            self.mean[j] += delta * share
            self.spread[j] += delta * (x[j] - self.mean[j])
        self.scale(x, scaled, n)
        return self.inner.step(scaled, y, weight)

    cdef int64_t learned(self) noexcept nogil:
        return self.common.n_per_class[0] + self.common.n_per_class[1]

    cdef void scale(self, const real *x, real *scaled, int64_t n) noexcept nogil:
        """scaled = (x - mean) / sqrt(spread / n), 0 for a feature that has not varied"""
        cdef int64_t j
        cdef double deviation
        for j in range(self.n_features):
            deviation = sqrt(self.spread[j] / n)
            scaled[j] = <real> ((x[j] - self.mean[j]) / deviation) if deviation > 0.0 else <real> 0.0

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        if self.is_float32:
            return self.decide_typed(<const float *> x, <float *> self.scaled, value)
        return self.decide_typed(<const double *> x, <double *> self.scaled, value)

    cdef Status decide_typed(self, const real *x, real *scaled, double *value) noexcept nogil:
        if not isfinite(dot(x, x, self.n_features)):
            return NOT_FINITE
        self.scale(x, scaled, self.learned())
        return self.inner.decide(scaled, value)

    def check(self):
        self.inner.check()
        if (self.views["spread"] < 0).any():
            raise CorruptModelError("a sum of squared deviations is negative")
        if not (np.isfinite(self.views["mean"]).all() and np.isfinite(self.views["spread"]).all()):
            raise CorruptModelError("a feature's mean or spread is not finite")
