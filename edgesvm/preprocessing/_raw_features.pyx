"""What makes rows of features from raw samples: entry points, gaps and checks of those that do.

A row is of `window` samples, and there is one every `hop` samples.
"""

from libc.math cimport fabs

from edgesvm.core.linalg cimport entry

import numpy as np

from edgesvm.budget import check_numbers
from edgesvm.contract.inputs import as_floats
from edgesvm.core.status import Status
from edgesvm.errors import CorruptModelError, refusal

cnp.import_array()

cdef double LARGEST
from edgesvm.preprocessing.constants import LARGEST


cdef class RawFeaturesCore:
    """State and step, on `arena` as laid out by `plan`.

    Parameters
    ----------
    plan : MemoryPlan
    arena : Arena
    n_channels, window, hop : int
    dtype : numpy.dtype
    owner : str
    guard : Guard
    """

    def __init__(
        self, plan, Arena arena, *, n_channels, window, hop, dtype, owner, Guard guard not None
    ):
        self.arena, self.guard, self.owner = arena, guard, owner
        self.views = plan.cut(arena.memory)
        self.dtype = np.dtype(dtype)
        self.typenum = self.dtype.num
        self.is_float32 = self.typenum == cnp.NPY_FLOAT32
        self.n_channels, self.window, self.hop = n_channels, window, hop
        self.n_windows = (self.window + self.hop - 1) // self.hop
        self.counts = <Counts *> arena.at(0, sizeof(Counts))
        self.out = self.array("row")
        self.row = self.views["row"].view()
        self.row.flags.writeable = False

    cdef char *array(self, str name) except NULL:
        """First byte of the plan's array `name`."""
        view = self.views[name]
        cdef int64_t offset = <char *> cnp.PyArray_DATA(view) - self.arena.base
        return self.arena.at(offset, view.nbytes)

    cdef bint take(self, const void *x) noexcept nogil:
        return False

    cdef bint is_too_large(self, const void *x) noexcept nogil:
        cdef int64_t c
        for c in range(self.n_channels):
            if not fabs(entry(self.is_float32, x, c)) <= LARGEST:
                return True
        return False

    # -- entry points ------------------------------------------------------------------------------

    cdef cnp.ndarray as_row(self, x):
        cdef cnp.ndarray row
        if isinstance(x, cnp.ndarray):
            row = x
            if (cnp.PyArray_ISCARRAY_RO(row) and cnp.PyArray_TYPE(row) == self.typenum
                    and cnp.PyArray_NDIM(row) == 1 and cnp.PyArray_SIZE(row) == self.n_channels):
                return row
        return as_floats(x, self.dtype, 1, self.n_channels, self.owner)

    def push(self, x):
        cdef cnp.ndarray row
        self.guard.begin()
        try:
            row = self.as_row(x)
            if self.is_too_large(cnp.PyArray_DATA(row)):
                raise refusal(Status.NOT_FINITE, f"{self.owner}: the sample", self.dtype, ())
            return self.row if self.take(cnp.PyArray_DATA(row)) else None
        finally:
            self.guard.end()

    def push_many(self, cnp.ndarray X not None, cnp.ndarray out not None):
        """Push rows of X, C-contiguous and of this dtype; the features of complete windows go into
        `out`. A row that is too large is refused, and all others with it."""
        cdef int64_t i, n_rows = 0
        cdef int64_t size = self.n_channels * cnp.PyArray_ITEMSIZE(X)
        cdef const char *x = <const char *> cnp.PyArray_DATA(X)
        self.guard.begin()
        try:
            for i in range(len(X)):
                if self.is_too_large(x + i * size):
                    raise refusal(Status.NOT_FINITE, f"{self.owner}: row {i}", self.dtype, ())
            for i in range(len(X)):
                if self.take(x + i * size):
                    out[n_rows] = self.row
                    n_rows += 1
            return out
        finally:
            self.guard.end()

    def break_off(self):
        """Drop the open windows; the next sample is the first of a new run."""
        cdef int64_t newest, k
        self.guard.begin()
        try:
            if self.counts.n_run:
                newest = (self.counts.n_run - 1) // self.hop
                for k in range(max(newest - self.n_windows + 1, 0), newest + 1):
                    self.counts.n_dropped += self.counts.n_run < k * self.hop + self.window
            self.counts.n_run = 0
        finally:
            self.guard.end()

    cdef const char *fault(self) noexcept nogil:
        if max(self.counts.n_run, max(self.counts.n_rows, self.counts.n_dropped)) > (
                self.counts.n_pushed):
            return b"the snapshot's counts are not those of a stream"
        return NULL

    cdef const char *votes_fault(
        self, const int64_t *votes, int64_t n_classes, int64_t n_labels
    ) noexcept nogil:
        """The same of votes on the labels of the windows, (n_windows, n_classes)."""
        cdef int64_t k, slot, left
        for k in range(self.n_windows):
            left = self.window
            for slot in range(n_classes):
                if votes[k * n_classes + slot] > left:
                    return b"the snapshot has more votes than a window has samples"
                left -= votes[k * n_classes + slot]
                if slot >= n_labels and votes[k * n_classes + slot]:
                    return b"the snapshot has votes for a label that it does not have"
        return NULL

    def check(self):
        """CorruptModelError if no stream of samples can have left these bytes."""
        check_numbers(self.views)
        cdef const char *fault = self.fault()
        if fault != NULL:
            raise CorruptModelError(fault.decode())
