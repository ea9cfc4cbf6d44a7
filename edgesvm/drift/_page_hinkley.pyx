"""PageHinkley, compiled: see the public class for the equations."""

cimport cython
from libc.math cimport fmin
from libc.stdint cimport int64_t
from libc.string cimport memset

from edgesvm.core.arena cimport Arena
from edgesvm.core.page_hinkley cimport PageHinkley, errors_rose
from edgesvm.drift._detector cimport DetectorCore

from edgesvm.errors import CorruptModelError


@cython.final
cdef class PageHinkleyCore(DetectorCore):
    """State and step. The public class has checked the parameters."""

    cdef PageHinkley *state
    cdef double delta, threshold, least_variance
    cdef int64_t min_samples

    def __init__(self, plan, Arena arena, *, delta, threshold, min_samples, least_variance):
        super().__init__(plan, arena)
        self.delta, self.threshold, self.min_samples = delta, threshold, min_samples
        self.least_variance = least_variance
        self.state = <PageHinkley *> self.array("state")

    cdef bint take(self, double error) noexcept nogil:
        cdef PageHinkley *s = self.state
        if not errors_rose(s, error, self.delta, self.threshold, self.min_samples,
                           self.least_variance):
            return False
        self.found.before = s.mean_low
        self.found.now = fmin(
            (s.n * s.mean - s.n_low * s.mean_low) / (s.n - s.n_low), 1.0)  # but for rounding
        memset(s, 0, sizeof(PageHinkley))
        return True

    def check(self):
        """CorruptModelError if no stream of errors can have left these bytes."""
        super().check()
        if max(self.state.mean, self.state.mean_low) > 1.0:
            raise CorruptModelError("the detector's mean error is above 1")
