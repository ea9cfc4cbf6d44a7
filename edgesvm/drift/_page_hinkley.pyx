"""PageHinkley, compiled: see the public class for the equations."""

cimport cython
from libc.math cimport fmax, fmin, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memset

from edgesvm.core.arena cimport Arena
from edgesvm.drift._detector cimport DetectorCore

from edgesvm.errors import CorruptModelError


cdef struct State:      # since the start, or since the last drift
    double n, mean, m2  # errors, and the sum of (error - mean)^2
    double excess       # PH
    double n_low, mean_low  # where PH was last 0


@cython.final
cdef class PageHinkleyCore(DetectorCore):
    """State and step. The public class has checked the parameters."""

    cdef State *state
    cdef double delta, threshold, least_variance
    cdef int64_t min_samples

    def __init__(self, plan, Arena arena, *, delta, threshold, min_samples, least_variance):
        super().__init__(plan, arena)
        self.delta, self.threshold, self.min_samples = delta, threshold, min_samples
        self.least_variance = least_variance
        self.state = <State *> self.array("state")

    cdef bint take(self, double error) noexcept nogil:
        cdef State *s = self.state
        cdef double difference = error - s.mean, deviation
        s.n += 1.0
        s.mean += difference / s.n
        s.m2 += difference * (error - s.mean)
        deviation = sqrt(fmax(s.m2 / s.n, self.least_variance))
        s.excess = fmax(0.0, s.excess + error - s.mean - self.delta * deviation)
        if s.excess == 0.0:
            s.n_low, s.mean_low = s.n, s.mean
        if s.n < self.min_samples or s.excess <= self.threshold * deviation:
            return False
        self.found.before = s.mean_low
        self.found.now = fmin(
            (s.n * s.mean - s.n_low * s.mean_low) / (s.n - s.n_low), 1.0)  # but for rounding
        memset(s, 0, sizeof(State))
        return True

    def check(self):
        """CorruptModelError if no stream of errors can have left these bytes."""
        super().check()
        if max(self.state.mean, self.state.mean_low) > 1.0:
            raise CorruptModelError("the detector's mean error is above 1")
