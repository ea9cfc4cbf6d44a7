"""The part of a drift detector that all share: counts, and the entry points."""

cimport numpy as cnp
from libc.string cimport memset

import numpy as np

from edgesvm.drift.detector import not_an_error
from edgesvm.errors import CorruptModelError

cnp.import_array()


cdef class DetectorCore:
    """Counts and entry points, on `arena` as laid out by `plan`. A subclass adds `take`.

    Parameters
    ----------
    plan : MemoryPlan
    arena : Arena
    """

    def __init__(self, plan, Arena arena):
        self.arena = arena
        self.views = plan.cut(arena.memory)
        self.found = <Found *> arena.at(0, sizeof(Found))

    cdef char *array(self, str name) except NULL:
        """First byte of the plan's array `name`."""
        view = self.views[name]
        cdef int64_t offset = <char *> cnp.PyArray_DATA(view) - self.arena.base
        return self.arena.at(offset, view.nbytes)

    cdef bint take(self, double error) noexcept nogil:
        """Take in an error; whether a drift is found, with `before` and `now` noted."""
        return False

    cdef bint count(self, double error) noexcept nogil:
        cdef bint is_drift
        self.found.n_added += 1
        is_drift = self.take(error)
        self.found.n_drifts += is_drift
        return is_drift

    # -- entry points ------------------------------------------------------------------------------

    def add(self, double error):
        if not 0.0 <= error <= 1.0:
            raise not_an_error(error)
        return self.count(error)

    def add_many(self, cnp.ndarray errors not None, cnp.ndarray out not None):
        """Add float64 errors, contiguous; whether a drift was found at each goes into `out`, bool.
        One that is none refuses all."""
        cdef int64_t i, n = cnp.PyArray_SIZE(errors)
        cdef const double *error = <const double *> cnp.PyArray_DATA(errors)
        cdef char *at = <char *> cnp.PyArray_DATA(out)
        for i in range(n):
            if not 0.0 <= error[i] <= 1.0:
                raise not_an_error(error[i], i)
        for i in range(n):
            at[i] = self.count(error[i])

    def forget(self):
        """Forget the errors; the counts and the last drift stay."""
        memset(self.arena.at(sizeof(Found), 0), 0, self.arena.nbytes - sizeof(Found))

    def check(self):
        """CorruptModelError if no stream of errors can have left these bytes."""
        cdef Found of = self.found[0]
        if not 0 <= of.n_drifts <= of.n_added <= 1 << 62:
            raise CorruptModelError("the detector's counts are not those of a stream")
        for name, array in self.views.items():
            if array.dtype.kind == "f" and not (np.isfinite(array).all() and (array >= 0.0).all()):
                raise CorruptModelError(f"the detector's {name} cannot be")
        if max(of.before, of.now) > 1.0:
            raise CorruptModelError("the detector's rates of error are above 1")
