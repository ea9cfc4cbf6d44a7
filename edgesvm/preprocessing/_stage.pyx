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

cdef enum:
    VALUE
    INTERVAL
    FORECAST


cdef class StageCore(LearnerCore):
    """The step. `scratch` is the plan's name of the array that the inner learner reads."""

    def __init__(self, *common, inner, scratch):
        super().__init__(*common)
        self.inner = inner
        self.regresses = inner.regresses
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
        return x

    cdef void note_missing(self, const void *x) noexcept nogil:
        pass

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
        memset(self.mapped, 0, self.row_bytes())

    cdef int64_t row_bytes(self) noexcept nogil:
        """Of a row of the inner learner"""
        return self.inner.n_features * item_bytes(self.is_float32)

    cdef const char *fault(self) noexcept nogil:
        return NULL     # the counters are the inner learner's
