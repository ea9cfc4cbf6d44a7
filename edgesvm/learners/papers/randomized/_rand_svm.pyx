"""The working set of RandSVM, compiled: the support vectors, and a uniform sample of the rows that
violate their solution, drawn in one pass (Vitter 1985, algorithm R).

Krishnan, Bhattacharyya & Hariharan 2007, Algorithm 1, lines 1, 3, 5 and 7. Lines 3 and 5 are one
pass: R is drawn while V is counted, so that V is never stored.
"""

cimport cython
cimport numpy as cnp
from libc.stdint cimport int8_t, int64_t, uint64_t
from libc.string cimport memcpy, memmove

from edgesvm.contract.samples cimport as_sample
from edgesvm.contract.sparse cimport Batch, read_batch, row_at, scratch_for
from edgesvm.core.nonzeros cimport (
    Nonzeros, Sample, drop_nonzeros, lacking, map_nonzeros, measure, put_nonzeros, swap_nonzeros)
from edgesvm.core.rng cimport rng_below, rng_seed

import numpy as np

from edgesvm.contract.core import changed

cnp.import_array()


@cython.final
cdef class WorkingSet:
    """Rows of the data, in arrays of `views`, which must stay alive."""
    cdef readonly int64_t n_kept    # at the front
    cdef readonly int64_t n_drawn   # after them
    cdef readonly int64_t n_offered  # rows that violated
    cdef readonly int64_t room      # for rows drawn
    cdef int64_t row_bytes
    cdef dict views                 # keeps the arrays alive
    cdef char *rows
    cdef Nonzeros nonzeros
    cdef bint is_sparse             # the rows are there
    cdef int8_t *slots
    cdef double *weights
    cdef int64_t *numbers           # of the rows in the data
    cdef uint64_t *draws

    def __init__(self, dict views, uint64_t seed):
        self.views = views
        self.is_sparse = "drawn_columns" in views
        if self.is_sparse:
            map_nonzeros(&self.nonzeros, views, "drawn_", 0)
        else:
            rows = views["drawn_rows"]
            self.row_bytes = rows.shape[1] * rows.itemsize
            self.rows = <char *> cnp.PyArray_DATA(rows)
        self.slots = <int8_t *> cnp.PyArray_DATA(views["drawn_slots"])
        self.weights = <double *> cnp.PyArray_DATA(views["drawn_weights"])
        self.numbers = <int64_t *> cnp.PyArray_DATA(views["drawn_numbers"])
        self.draws = <uint64_t *> cnp.PyArray_DATA(views["draws"])
        rng_seed(self.draws, seed)

    @property
    def n_rows(self):
        """Rows held."""
        return self.n_kept + self.n_drawn

    def keep(self, places not None, int64_t size):
        """Keep only the rows at `places`, ascending, and prepare to draw up to `size` rows."""
        cdef cnp.ndarray held = np.ascontiguousarray(places, np.int64)  # `arange` may give int32
        cdef const int64_t *place = <const int64_t *> cnp.PyArray_DATA(held)
        cdef int64_t n = self.n_kept + self.n_drawn, i
        self.n_kept = len(held)
        for i in range(self.n_kept):
            if not i <= place[i] < n:
                raise ValueError(f"place {place[i]} of {n} rows, kept as {i}")
            if self.is_sparse:
                swap_nonzeros(&self.nonzeros, i, place[i])
            else:
                memmove(self.row(i), self.row(place[i]), self.row_bytes)
            self.slots[i] = self.slots[place[i]]
            self.weights[i] = self.weights[place[i]]
            self.numbers[i] = self.numbers[place[i]]
        for i in range(self.n_kept, n if self.is_sparse else 0):
            drop_nonzeros(&self.nonzeros, i)
        self.n_drawn, self.room, self.n_offered = 0, size - self.n_kept, 0

    cdef char *row(self, int64_t place) noexcept nogil:
        return self.rows + place * self.row_bytes

    def offer(self, int64_t first, X not None, cnp.ndarray slots not None, cnp.ndarray weights,
              cnp.ndarray which not None):
        """Draw from some rows of the data, numbered from `first`.

        X : ndarray or SparseRows of shape (n, n_features), in the dtype of the rows held
        slots : int8, 0 or 1
        weights : float64, or None for one
        which : int64, the places of those rows in X, ascending
        """
        cdef Batch batch
        cdef cnp.ndarray scratch = scratch_for(X)
        cdef const int8_t *slot = <const int8_t *> cnp.PyArray_DATA(slots)
        cdef const double *weight = NULL
        cdef const int64_t *at = <const int64_t *> cnp.PyArray_DATA(which)
        cdef int64_t i
        cdef const void *x
        if weights is not None:
            weight = <const double *> cnp.PyArray_DATA(weights)
        self.read(&batch, X, scratch, len(X))
        for i in range(cnp.PyArray_SIZE(which)):
            x = row_at(&batch, at[i])
            if x == NULL:
                raise changed("RandSVM")
            if not self.take(first + at[i], x, &batch, slot[at[i]],
                             1.0 if weight == NULL else weight[at[i]]):
                raise self.too_full(first + at[i])

    cdef int read(self, Batch *batch, X, cnp.ndarray scratch, int64_t n) except -1:
        cdef cnp.ndarray held = self.views["drawn_values" if self.is_sparse else "drawn_rows"]
        cdef int64_t width = X.shape[1] if self.is_sparse else cnp.PyArray_DIM(held, 1)
        if not read_batch(batch, X, scratch, cnp.PyArray_TYPE(held), width, n):
            raise changed("RandSVM")
        return 0

    cdef too_full(self, int64_t number):
        room, size = self.nonzeros.room, 4 + self.views["drawn_values"].itemsize
        return ValueError(
            f"RandSVM: row {number} does not fit besides the {self.n_kept + self.n_drawn - 1:,}"
            f" drawn, whose non-zeros take {size * self.nonzeros.taken[1]:,} of {size * room:,}"
            f" bytes; give a larger max_nonzeros, or a smaller max_samples")

    cdef bint take(
        self, int64_t number, const void *x, Batch *batch, int8_t slot, double weight
    ) noexcept nogil:
        """Store the row with probability room / n_offered; False: its non-zeros do not fit."""
        cdef int64_t place = self.n_drawn
        self.n_offered += 1
        if self.n_drawn == self.room:
            place = rng_below(self.draws, self.n_offered)
            if place >= self.room:
                return True
        else:
            self.n_drawn += 1
        place += self.n_kept
        self.slots[place], self.weights[place] = slot, weight
        self.numbers[place] = number
        return self.store(place, x, batch)

    cdef bint store(self, int64_t place, const void *x, Batch *batch) noexcept nogil:
        """Store a row of the batch; False: its non-zeros do not fit."""
        cdef int64_t count
        cdef double square
        cdef Sample sample
        if not self.is_sparse:
            memcpy(self.row(place), x, self.row_bytes)
            return True
        sample = as_sample(x, batch.n_features, batch)
        measure(self.nonzeros.is_float32, &sample, &count, &square)
        if lacking(&self.nonzeros, place, count) > 0:
            return False
        put_nonzeros(&self.nonzeros, place, &sample)
        return True
