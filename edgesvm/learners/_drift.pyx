"""PageHinkley, compiled: counts at the head of the arena, and the state of core/page_hinkley."""

cimport cython
cimport numpy as cnp
from libc.math cimport fmin
from libc.stdint cimport int64_t
from libc.string cimport memset

from edgesvm.core.arena cimport Arena
from edgesvm.core.page_hinkley cimport PageHinkley, errors_rose

from edgesvm.budget import check_numbers
from edgesvm.errors import CorruptModelError

cnp.import_array()

cdef double LEAST_VARIANCE = 0.01   # a learner always right must not drift at its first error


cdef struct Found:          # the first arrays of the arena
    int64_t n_added         # errors so far
    int64_t n_drifts
    double before, now      # mean error before the last drift, and since then until it was found


@cython.final
cdef class PageHinkleyCore:
    """State and step, on `arena` as laid out by `plan`."""
    cdef readonly Arena arena
    cdef object plan
    cdef readonly dict views
    cdef Found *found
    cdef PageHinkley *state
    cdef double delta, threshold
    cdef int64_t min_samples

    def __init__(self, plan, Arena arena, *, delta, threshold, min_samples):
        self.arena, self.plan = arena, plan
        self.views = plan.cut(arena.memory)
        self.found = <Found *> arena.at(0, sizeof(Found))
        self.state = <PageHinkley *> arena.at(sizeof(Found), sizeof(PageHinkley))
        self.delta, self.threshold, self.min_samples = delta, threshold, min_samples

    cdef bint take(self, double error) noexcept nogil:
        """Take in an error; whether a drift is found."""
        cdef PageHinkley *s = self.state
        self.found.n_added += 1
        if not errors_rose(
                s, error, self.delta, self.threshold, self.min_samples, LEAST_VARIANCE):
            return False
        self.found.before = s.mean_low
        self.found.now = fmin(
            (s.n * s.mean - s.n_low * s.mean_low) / (s.n - s.n_low), 1.0)  # but for rounding
        memset(s, 0, sizeof(PageHinkley))
        self.found.n_drifts += 1
        return True

    def add(self, double error):
        if not 0.0 <= error <= 1.0:
            raise not_an_error(error)
        return self.take(error)

    def add_many(self, cnp.ndarray errors not None, cnp.ndarray out not None):
        """Add float64 errors, contiguous; whether a drift was found at each goes into `out`, bool.
        One that is none refuses all."""
        cdef int64_t i, n = cnp.PyArray_SIZE(errors)
        cdef const double *error = <const double *> cnp.PyArray_DATA(errors)
        cdef char *at = <char *> cnp.PyArray_DATA(out)
        for i in range(n):
            if not 0.0 <= error[i] <= 1.0:
                raise not_an_error(error[i], f" in row {i}")
        for i in range(n):
            at[i] = self.take(error[i])

    def forget(self):
        """Forget the errors; the counts and the last drift stay."""
        memset(self.state, 0, sizeof(PageHinkley))

    def check(self):
        """CorruptModelError if no stream of errors can have left these bytes."""
        check_numbers(self.plan.arrays, self.views)
        if self.found.n_drifts > self.found.n_added:
            raise CorruptModelError("the detector's counts are not those of a stream")


def not_an_error(error, where=""):
    """The exception for a number that `add` refuses."""
    return ValueError(f"error={error!r}{where}: give a number from 0, right, to 1, wrong")
