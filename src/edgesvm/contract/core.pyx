"""Base class of the compiled cores: the entry points for samples and predictions.

A subclass adds `step` and `decide`. Labels to class indices, arrays to pointers, and status to
exception are done here. Called with an ndarray of the learner's dtype, an entry point makes no
allocator call.
"""

cimport numpy as cnp
from libc.math cimport isfinite
from libc.string cimport memset

import numpy as np

from edgesvm.core.status cimport BAD_WEIGHT, CHANGED, UNCHANGED, UNKNOWN_LABEL
from edgesvm.errors import CorruptModelError, NotFittedError, refusal
from edgesvm.contract.inputs import as_floats, as_out
from edgesvm.contract.labels cimport MAX_CLASSES

cnp.import_array()

MOST_COUNTED = 1 << 62  # more samples than any stream has: a count below it never overflows


def common_arrays(n_classes=2):
    """The arrays at the start of every arena."""
    return [("n_seen", "i8", ()), ("n_updates", "i8", ()), ("n_per_class", "i8", (n_classes,))]


COMMON_ARRAYS = common_arrays()


cdef class LearnerCore:
    """State and step of one learner, on `arena` as laid out by `plan`.

    Parameters
    ----------
    plan : MemoryPlan, which starts with `common_arrays`
    arena : Arena of at least plan.total bytes
    labels : Labels
    n_features : int
    dtype : numpy.dtype, float32 or float64
    owner : str, name of the public class
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
        self.n_per_class = <int64_t *> self.array("n_per_class")
        self.n_classes = len(self.views["n_per_class"])
        self.scores = <double *> self.array("scores") if "scores" in self.views else NULL

    cdef char *array(self, str name) except NULL:
        """First byte of the plan's array `name`."""
        view = self.views[name]
        cdef int64_t offset = <char *> cnp.PyArray_DATA(view) - self.arena.base
        return self.arena.at(offset, view.nbytes)

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        return UNCHANGED

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        value[0] = 0.0
        return UNCHANGED

    cdef Status learn_row(self, const void *x, int slot, double weight) noexcept nogil:
        """Learn one sample, or refuse it without a trace. A sample of weight zero is counted as
        seen and otherwise ignored."""
        cdef Status status
        if not (isfinite(weight) and weight >= 0.0):
            return BAD_WEIGHT
        if weight == 0.0:
            self.common.n_seen += 1
            return UNCHANGED
        status = self.step(x, 2 * slot - 1 if self.scores == NULL else slot, weight)
        if status > CHANGED:
            return status
        self.common.n_seen += 1
        self.common.n_updates += status == CHANGED
        self.n_per_class[slot] += 1
        return status

    cdef int64_t n_learned(self) noexcept nogil:
        cdef int64_t total = self.n_per_class[0] + self.n_per_class[1]
        cdef int slot
        for slot in range(2, self.n_classes):
            total += self.n_per_class[slot]
        return total

    cdef int slot_for(self, double value) noexcept nogil:
        """With two classes: the only class seen so far, else by the sign of the decision value."""
        if self.n_per_class[0] == 0:
            return 1
        if self.n_per_class[1] == 0:
            return 0
        return (value > 0.0) ^ (self.labels.sign < 0)

    # -- decisions as users see them: one value for two classes, else one per class, sorted --------

    cdef int n_answers(self) noexcept nogil:
        return 1 if self.scores == NULL or self.labels.n <= 2 else self.labels.n

    @property
    def n_columns(self):
        """Decision values per sample: 1, or with more than two labels one per label."""
        return self.n_answers()

    cdef Status answer(self, const void *x, double *out) noexcept nogil:
        """Write the decision values into `out` (n_answers,)."""
        cdef int i, n = self.labels.n
        cdef const signed char *order = self.labels.order
        cdef Status status
        if self.scores == NULL:
            status = self.decide(x, out)
            out[0] *= self.labels.sign
            return status
        status = self.decide(x, self.scores)
        if n > 2:
            for i in range(n):
                out[i] = self.scores[order[i]]
        else:
            out[0] = self.scores[order[n - 1]] - self.scores[order[0]]
        memset(self.scores, 0, self.n_classes * sizeof(double))
        return status

    cdef int answer_row(self, cnp.ndarray row, double *out) except -1:
        """`answer`; raises for a refused sample."""
        self.check_fitted()
        cdef Status status = self.answer(cnp.PyArray_DATA(row), out)
        if status > CHANGED:
            raise refusal(status, f"{self.owner}: the sample", self.dtype, self.labels.in_slots)
        return 0

    cdef int winner(self, const double *answers, double *score) noexcept nogil:
        """Class index predicted from `answers` (n_answers,); its decision value into `score`."""
        cdef int i, n = self.n_answers(), best = 0
        score[0] = answers[0]
        if self.scores == NULL:
            return self.slot_for(answers[0])
        if n == 1:
            return self.labels.order[self.labels.n == 2 and answers[0] > 0.0]
        for i in range(1, n):
            if answers[i] > answers[best]:
                best = i
        score[0] = answers[best]
        return self.labels.order[best]

    def learn_one(self, x, y, double weight=1.0):
        cdef cnp.ndarray row = self.as_row(x)
        cdef int slot = self.labels.find(y)
        cdef Status status = UNKNOWN_LABEL
        if slot >= 0:
            status = self.learn_row(cnp.PyArray_DATA(row), slot, weight)
        if status > CHANGED:
            sample = f"{self.owner}: the sample (label {y!r})"
            raise refusal(status, sample, self.dtype, self.labels.in_slots)
        self.labels.adopt(slot, y)
        return status == CHANGED

    def decision_one(self, x, out=None):
        """The decision value, a float; with more than two labels an ndarray, `out` if given."""
        cdef cnp.ndarray row = self.as_row(x)
        cdef double value
        if self.n_answers() == 1:
            self.answer_row(row, &value)
            return value
        self.check_fitted()
        if out is None:
            out = np.empty(self.n_answers())
        elif not self.is_out(out):
            as_out(out, (self.n_answers(),))
        self.answer_row(row, <double *> cnp.PyArray_DATA(out))
        return out

    cdef bint is_out(self, out) noexcept:
        """Whether `as_out` would accept `out`, without creating an object"""
        cdef cnp.ndarray array
        if not isinstance(out, cnp.ndarray):
            return False
        array = out
        return (cnp.PyArray_ISCARRAY(array) and cnp.PyArray_TYPE(array) == cnp.NPY_FLOAT64
                and cnp.PyArray_NDIM(array) == 1
                and cnp.PyArray_DIM(array, 0) == self.n_answers())

    def predict_one(self, x):
        cdef double[MAX_CLASSES] answers
        cdef double score
        self.answer_row(self.as_row(x), answers)
        return self.labels.values[self.winner(answers, &score)]

    def predict_with_score(self, x):
        """Label of one sample and its decision value, from one decision."""
        cdef double[MAX_CLASSES] answers
        cdef double score
        self.answer_row(self.as_row(x), answers)
        label = self.labels.values[self.winner(answers, &score)]
        return label, score

    def learn_many(
        self, cnp.ndarray X not None, cnp.ndarray slots not None, cnp.ndarray weights=None
    ):
        """Learn rows of X (n, n_features) in order; stop at the first that is refused.

        Returns
        -------
        n_learned : int, rows before the refused one
        n_changed : int, rows that changed the model
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
        """Write the decision values of rows of X into `out` (n, n_columns), float64. Returns the
        number of the refused row, or n, and its status."""
        cdef int64_t n = len(X), i = 0, n_values = self.n_answers()
        cdef int64_t stride = self.n_features * self.dtype.itemsize
        cdef const char *x = <const char *> cnp.PyArray_DATA(X)
        cdef double *values = <double *> cnp.PyArray_DATA(out)
        cdef Status status = UNCHANGED
        self.check_fitted()
        with nogil:
            while i < n:
                status = self.answer(x + i * stride, values + i * n_values)
                if status > CHANGED:
                    break
                i += 1
        return i, status

    cdef cnp.ndarray as_row(self, x):
        """`x` itself if it is an ndarray of the learner's dtype and length; else converted, or
        refused with an exception."""
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
                f"{self.owner} has not learned a sample yet; call learn_one or partial_fit first")
        return 0

    def check(self):
        """Raise CorruptModelError if no stream of samples could have produced this arena (it was
        read from a file)."""
        cdef Common *c = self.common
        per_class = self.views["n_per_class"]
        if min(per_class) < 0 or c.n_updates < 0 or not (
                c.n_updates <= sum(map(int, per_class)) <= c.n_seen):
            raise CorruptModelError("the snapshot's counters are inconsistent")
        if per_class[len(self.labels.in_slots):].any():
            raise CorruptModelError("the snapshot counts samples of a class that has no label")
        if "scores" in self.views and self.views["scores"].any():
            raise CorruptModelError("the snapshot's scores are not zero between two samples")
        for name, view in self.views.items():
            if view.dtype.kind == "f" and not np.isfinite(view).all():
                raise CorruptModelError(
                    f"the snapshot's array {name!r} has a value that is not finite")
            if view.dtype.kind == "i" and view.size and view.max() >= MOST_COUNTED:
                raise CorruptModelError(f"the snapshot's counter {name!r} is out of range")
