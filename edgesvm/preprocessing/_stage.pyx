"""A stage in front of a learner, compiled: one arena, one set of counters, one step.

The inner learner gets the sample as the stage maps it. It may still refuse it (a polynomial of many
features); the stage learns from the sample only if it did not.

`mapped` is scratch, zero between samples: neither a prediction nor a refused sample leaves a trace.
"""

cimport numpy as cnp
from libc.math cimport isfinite
from libc.stdint cimport int64_t
from libc.string cimport memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.linalg cimport any_dot, item_bytes
from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, Status

cnp.import_array()


cdef class StageCore(LearnerCore):
    """The step. `scratch` is the plan's name of the array that the inner learner reads."""

    def __init__(self, *common, inner, scratch):
        super().__init__(*common)
        self.inner = inner
        self.scratch = scratch
        self.mapped = self.array(scratch)

    cdef Status map_next(self, const void *x, double n) noexcept nogil:
        return NOT_FINITE

    cdef void keep(self, const void *x, double n) noexcept nogil:
        pass

    cdef void map(self, const void *x, double n) noexcept nogil:
        pass

    # -- many rows ---------------------------------------------------------------------------------

    cdef int begin_rows(self, int64_t n) except -1:
        return self.inner.begin_rows(n)

    cdef void end_rows(self) noexcept:
        self.inner.end_rows()

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef double n = self.n_learned() + 1
        cdef Status status
        if self.is_too_large(x):
            return NOT_FINITE
        status = self.map_next(x, n)
        if status == UNCHANGED:
            status = self.inner.weighed_step(self.mapped, y, weight)
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
        self.map(x, self.n_learned())
        status = self.inner.decide(self.mapped, value)
        self.wipe()
        return status

    cdef bint is_too_large(self, const void *x) noexcept nogil:
        return not isfinite(any_dot(self.is_float32, x, x, self.n_features))

    cdef void wipe(self) noexcept nogil:
        memset(self.mapped, 0, self.row_bytes())

    cdef int64_t row_bytes(self) noexcept nogil:
        """Of a row of the inner learner"""
        return self.inner.n_features * item_bytes(self.is_float32)

    cdef const char *fault(self) noexcept nogil:
        return NULL     # the counters are the inner learner's
