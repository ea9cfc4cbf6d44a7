"""A scaler in front of a learner, compiled: one arena, one set of counters, one step.

The inner learner gets the sample scaled by the statistics with that sample. It may still refuse it
(a polynomial of many features); the sample is taken into the statistics only if it did not.

`scaled` is scratch, zero between samples: neither a prediction nor a refused sample leaves a trace.
"""

from libc.math cimport isfinite
from libc.stdint cimport int64_t
from libc.string cimport memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.linalg cimport any_dot
from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, Status

from edgesvm.errors import CorruptModelError


cdef class ScalerCore(LearnerCore):
    def __init__(self, *common, inner):
        super().__init__(*common)
        self.inner = inner
        self.scaled = self.array("scaled")

    cdef Status scale_next(self, const void *x, double n) noexcept nogil:
        return NOT_FINITE

    cdef void keep(self, const void *x, double n) noexcept nogil:
        pass

    cdef void scale(self, const void *x, double n) noexcept nogil:
        pass

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef double n = self.n_learned() + 1
        cdef Status status
        if self.is_too_large(x):
            return NOT_FINITE
        status = self.scale_next(x, n)
        if status == UNCHANGED:
            status = self.inner.weighed_step(self.scaled, y, weight)
        if status <= CHANGED:
            self.keep(x, n)
        self.wipe()
        return status

    cdef bint decides_alone(self) noexcept nogil:
        return True

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        cdef Status status
        if self.is_too_large(x):
            return NOT_FINITE
        self.scale(x, self.n_learned())
        status = self.inner.decide(self.scaled, value)
        self.wipe()
        return status

    cdef bint is_too_large(self, const void *x) noexcept nogil:
        return not isfinite(any_dot(self.is_float32, x, x, self.n_features))

    cdef void wipe(self) noexcept nogil:
        cdef int64_t size = sizeof(float) if self.is_float32 else sizeof(double)
        memset(self.scaled, 0, self.n_features * size)

    def check(self):
        if self.views["scaled"].view("u1").any():
            raise CorruptModelError("the snapshot's scaled sample is not zero between two samples")
