"""The compiled half of the contract: the doors through which samples come in and predictions go
out.

A learner adds `step` and `decide`; all that is common is here, once: labels to slots, arrays to
pointers, a status to an exception. A door called with an ndarray of the learner's dtype makes no
allocator call.
"""

cimport numpy as cnp
from libc.math cimport isfinite

import numpy as np

from edgesvm.core.status cimport BAD_WEIGHT, CHANGED, UNCHANGED, UNKNOWN_LABEL
from edgesvm.errors import CorruptModelError, NotFittedError, refusal
from edgesvm.contract.inputs import as_floats

cnp.import_array()

COMMON_ARRAYS = [("n_seen", "i8", ()), ("n_updates", "i8", ()), ("n_per_class", "i8", (2,))]


cdef class LearnerCore:
    """State and step of one learner, living in `arena` as `plan` cuts it.

    Parameters
    ----------
    plan : MemoryPlan, beginning with COMMON_ARRAYS
    arena : Arena of at least plan.total bytes
    labels : Labels
    n_features : int
    dtype : numpy.dtype, float32 or float64
    owner : str, the public class's name
    """

    def __init__(self, plan, Arena arena, Labels labels, n_features, dtype, owner):
        self.arena = arena
        self.labels = labels
        self.views = plan.cut(arena.memory)
        self.n_features = n_features
        self.dtype = np.dtype(dtype)
        self.owner = owner
        self.typenum = self.dtype.num
        self.is_float32 = self.typenum == cnp.NPY_FLOAT32
        self.common = <Common *> arena.at(0, sizeof(Common))

    cdef char *array(self, str name) except NULL:
        """Where the plan's array `name` begins."""
        view = self.views[name]
        cdef int64_t offset = <char *> cnp.PyArray_DATA(view) - self.arena.base
        return self.arena.at(offset, view.nbytes)

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        return UNCHANGED

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        value[0] = 0.0
        return UNCHANGED

    cdef Status learn_row(self, const void *x, int slot, double weight) noexcept nogil:
        """One sample, all or nothing. Weight zero is as if not there, but counted as seen."""
        cdef Status status
        if not (isfinite(weight) and weight >= 0.0):
            return BAD_WEIGHT
        if weight == 0.0:
            self.common.n_seen += 1
            return UNCHANGED
        status = self.step(x, 1.0 if slot else -1.0, weight)
        if status > CHANGED:
            return status
        self.common.n_seen += 1
        self.common.n_updates += status == CHANGED
        self.common.n_per_class[slot] += 1
        return status

    cdef int64_t n_learned(self) noexcept nogil:
        return self.common.n_per_class[0] + self.common.n_per_class[1]

    cdef int slot_for(self, double value) noexcept nogil:
        """While one class has been seen, that one; else by the sign of the decision value."""
        if self.common.n_per_class[0] == 0:
            return 1
        if self.common.n_per_class[1] == 0:
            return 0
        return (value > 0.0) ^ (self.labels.sign < 0)

    def learn_one(self, x, y):
        cdef cnp.ndarray row = self.as_row(x)
        cdef int slot = self.labels.find(y)
        cdef Status status = UNKNOWN_LABEL
        if slot >= 0:
            status = self.learn_row(cnp.PyArray_DATA(row), slot, 1.0)
        if status > CHANGED:
            sample = f"{self.owner}: the sample (label {y!r})"
            raise refusal(status, sample, self.dtype, self.labels.in_slots)
        self.labels.adopt(slot, y)
        return status == CHANGED

    def decision_one(self, x):
        return self.decision(self.as_row(x))

    def predict_one(self, x):
        cdef double value = self.decision(self.as_row(x))
        return self.labels.values[self.slot_for(value)]

    cdef double decision(self, cnp.ndarray row) except? -1:
        cdef double value
        self.check_fitted()
        cdef Status status = self.decide(cnp.PyArray_DATA(row), &value)
        if status > CHANGED:
            raise refusal(status, f"{self.owner}: the sample", self.dtype, self.labels.in_slots)
        return self.labels.sign * value

    def learn_many(
        self, cnp.ndarray X not None, cnp.ndarray slots not None, cnp.ndarray weights=None
    ):
        """Learn rows of X (n, n_features) in order; stop at the first that is refused.

        Returns
        -------
        n_learned : int, rows before the refused one
        n_changed : int, rows that moved the model
        status : Status of the refused row, else UNCHANGED
        """
        cdef int64_t n = len(X), i = 0, updates = self.common.n_updates
        cdef int64_t stride = self.n_features * self.dtype.itemsize
        cdef const char *x = <const char *> cnp.PyArray_DATA(X)
        cdef const signed char *slot = <const signed char *> cnp.PyArray_DATA(slots)
        cdef const double *weight = NULL
        cdef Status status = UNCHANGED
        if weights is not None:
            weight = <const double *> cnp.PyArray_DATA(weights)
        with nogil:
            while i < n:
                status = self.learn_row(
                    x + i * stride, slot[i], 1.0 if weight == NULL else weight[i])
                if status > CHANGED:
                    break
                i += 1
        return i, self.common.n_updates - updates, status if status > CHANGED else UNCHANGED

    def decide_many(self, cnp.ndarray X not None, cnp.ndarray out not None):
        """Decision values of rows of X into `out` (n,), float64; the row that was refused and its
        status, or n."""
        cdef int64_t n = len(X), i = 0
        cdef int64_t stride = self.n_features * self.dtype.itemsize
        cdef const char *x = <const char *> cnp.PyArray_DATA(X)
        cdef double *value = <double *> cnp.PyArray_DATA(out)
        cdef double sign = self.labels.sign
        cdef Status status = UNCHANGED
        self.check_fitted()
        with nogil:
            while i < n:
                status = self.decide(x + i * stride, &value[i])
                if status > CHANGED:
                    break
                value[i] *= sign
                i += 1
        return i, status

    cdef cnp.ndarray as_row(self, x):
        """`x` itself where it is an ndarray of our dtype and length, else converted or refused."""
        cdef cnp.ndarray row
        if cnp.PyArray_CheckExact(x):
            row = x
            if (cnp.PyArray_NDIM(row) == 1 and cnp.PyArray_TYPE(row) == self.typenum
                    and cnp.PyArray_DIM(row, 0) == self.n_features
                    and cnp.PyArray_ISCARRAY_RO(row)):
                return row
        return as_floats(x, self.dtype, 1, self.n_features, self.owner)

    cdef int check_fitted(self) except -1:
        if self.n_learned() == 0:
            raise NotFittedError(
                f"{self.owner} has learned no sample yet; call learn_one or partial_fit first")
        return 0

    def check(self):
        """Refuse an arena that no stream of samples can have made (it came from a file)."""
        cdef Common *c = self.common
        cdef int64_t n_labels = len(self.labels.in_slots)
        if (c.n_per_class[0] < 0 or c.n_per_class[1] < 0 or c.n_updates < 0
                or c.n_per_class[0] > c.n_seen - c.n_per_class[1]
                or c.n_updates > c.n_per_class[0] + c.n_per_class[1]):
            raise CorruptModelError("the counters contradict one another")
        if (n_labels < 2 and c.n_per_class[1]) or (n_labels < 1 and c.n_per_class[0]):
            raise CorruptModelError("samples were counted for a class that has no label")
        for name, view in self.views.items():
            if view.dtype.kind == "f" and not np.isfinite(view).all():
                raise CorruptModelError(
                    f"the snapshot's array {name!r} has a number that is not finite")
