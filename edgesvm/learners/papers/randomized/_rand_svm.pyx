"""The working set of RandSVM, compiled: the support vectors, and a uniform sample of the rows that
violate their solution, drawn in one pass (Vitter 1985, algorithm R).

Krishnan, Bhattacharyya & Hariharan 2007, Algorithm 1, lines 1, 3, 5 and 7. A row of D - (SV + R)
violates if y f < margin. Lines 3 and 5 are one pass: R is drawn while V is counted, so that V is
never stored. The rows of the last working set are known by their sorted numbers.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int64_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from edgesvm.contract.samples cimport as_sample
from edgesvm.contract.sparse cimport Batch, read_batch, row_at, scratch_for
from edgesvm.core.nonzeros cimport (
    Nonzeros, Sample, drop_nonzeros, lacking, map_nonzeros, measure, put_nonzeros, swap_nonzeros)
from edgesvm.core.rng cimport rng_below, rng_seed

import numpy as np

from edgesvm.contract.core import changed

cnp.import_array()

# The sum of doubles >= 0 without rounding: a fixed-point number wide enough for all of them, in
# limbs of 32 bits (Kulisch & Miranker 1986, the long accumulator). Rounded once, when it is read,
# it does not depend on the order of the terms. A limb has a word of 64 bits, so that 2^31 terms fit
# before carries must be passed on.
cdef enum:
    LIMBS = 68      # limb k counts 2^(32 k - 1074); the largest double ends in limb 65
    CARRY_EVERY = 1 << 30

cdef struct ExactSum:
    uint64_t limbs[LIMBS]
    int64_t n_waiting       # terms since the last carry


cdef void exact_add(ExactSum *s, double x) noexcept nogil:
    """s += x, for x >= 0. Infinity counts as 2^1024, which is beyond the largest double."""
    cdef uint64_t bits, low, high
    cdef uint64_t mask = 0xFFFFFFFFU
    cdef int64_t k
    cdef int exponent, shift
    if x == 0.0:
        return
    memcpy(&bits, &x, 8)
    exponent = <int> (bits >> 52)
    bits &= (<uint64_t> 1 << 52) - 1
    if exponent > 0:
        bits |= <uint64_t> 1 << 52
        exponent -= 1
    k, shift = exponent >> 5, exponent & 31     # x = bits 2^(32 k + shift - 1074)
    low, high = (bits & mask) << shift, (bits >> 32) << shift
    s.limbs[k] += low & mask
    s.limbs[k + 1] += (low >> 32) + (high & mask)
    s.limbs[k + 2] += high >> 32
    s.n_waiting += 1
    if s.n_waiting == CARRY_EVERY:
        for k in range(LIMBS - 1):
            s.limbs[k + 1] += s.limbs[k] >> 32
            s.limbs[k] &= mask
        s.n_waiting = 0


cdef double rounded(const ExactSum *s) except -1:
    """The nearest double; inf if none is that large."""
    cdef int64_t k
    try:
        return sum([<object> s.limbs[k] << (32 * k) for k in range(LIMBS)]) / (<object> 1 << 1074)
    except OverflowError:
        return INFINITY


@cython.final
cdef class WorkingSet:
    """Rows of the data, in arrays of `views`, which must stay alive."""
    cdef readonly int64_t n_kept    # at the front
    cdef readonly int64_t n_drawn   # after them
    cdef readonly int64_t n_offered  # rows that violated
    cdef readonly int64_t room      # for rows drawn
    cdef readonly int64_t n_before  # rows of the last working set
    cdef ExactSum losses            # weight max(0, 1 - y f) of all rows of the pass
    cdef int64_t at_before, row_bytes
    cdef bint recalling             # select the rows of `before` instead of the others
    cdef dict views                 # keeps the arrays alive
    cdef char *rows
    cdef Nonzeros nonzeros
    cdef bint is_sparse             # the rows are there
    cdef int8_t *slots
    cdef double *weights
    cdef int64_t *numbers           # of the rows in the data
    cdef int64_t *before            # the numbers of the last working set, ascending
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
        self.before = <int64_t *> cnp.PyArray_DATA(views["before"])
        self.draws = <uint64_t *> cnp.PyArray_DATA(views["draws"])
        rng_seed(self.draws, seed)

    @property
    def n_rows(self):
        """Rows held."""
        return self.n_kept + self.n_drawn

    @property
    def loss(self):
        """Sum of weight max(0, 1 - y f) over all rows of the pass, rounded once."""
        return rounded(&self.losses)

    def keep(self, places not None, int64_t size):
        """Keep only the rows at `places`, ascending, and prepare to draw up to `size` rows."""
        cdef cnp.ndarray held = np.ascontiguousarray(places, np.int64)  # `arange` may give int32
        cdef const int64_t *place = <const int64_t *> cnp.PyArray_DATA(held)
        cdef int64_t n = self.n_kept + self.n_drawn, i
        self.begin(self.views["drawn_numbers"][:n], len(places), size, False)
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
        self.drop(n)

    cdef void drop(self, int64_t n) noexcept:
        """Give free the entries of rows n_kept to n - 1."""
        cdef int64_t i
        if self.is_sparse:
            for i in range(self.n_kept, n):
                drop_nonzeros(&self.nonzeros, i)

    def recall(self, cnp.ndarray numbers not None):
        """Prepare to select the rows with these numbers (int64, ascending) and no others."""
        cdef int64_t n = self.n_kept + self.n_drawn
        self.begin(numbers, 0, len(numbers), True)
        self.drop(n)

    cdef begin(self, numbers, int64_t n_kept, int64_t size, bint recalling):
        """Start a pass that skips the rows `numbers`, or with `recalling` selects only those."""
        self.n_before, self.at_before, self.n_offered = len(numbers), 0, 0
        memset(&self.losses, 0, sizeof(ExactSum))
        self.views["before"][:self.n_before] = numbers
        self.views["before"][:self.n_before].sort()
        self.n_kept, self.n_drawn, self.room = n_kept, 0, size - n_kept
        self.recalling = recalling

    cdef char *row(self, int64_t place) noexcept nogil:
        return self.rows + place * self.row_bytes

    def offer(self, int64_t first, X not None, cnp.ndarray slots not None,
              cnp.ndarray weights=None, cnp.ndarray decisions=None, double margin=INFINITY):
        """Draw from rows of the data, numbered from `first`: those with a weight, not in the last
        working set, with y f < margin.

        X : ndarray or SparseRows of shape (n, n_features), in the dtype of the rows held
        slots : int8, 0 or 1
        weights, decisions : float64, or None for one and for every row
        """
        cdef int64_t n = len(X)
        cdef Batch batch
        cdef cnp.ndarray scratch = scratch_for(X)
        cdef const int8_t *slot = <const int8_t *> cnp.PyArray_DATA(slots)
        cdef const double *weight = NULL
        cdef const double *f = NULL
        if weights is not None:
            weight = <const double *> cnp.PyArray_DATA(weights)
        if decisions is not None:
            f = <const double *> cnp.PyArray_DATA(decisions)
        self.read(&batch, X, scratch, n)
        with nogil:
            self.draw_among(first, n, &batch, slot, weight, f, margin)

    cdef int read(self, Batch *batch, X, cnp.ndarray scratch, int64_t n) except -1:
        cdef cnp.ndarray held = self.views["drawn_values" if self.is_sparse else "drawn_rows"]
        cdef int64_t width = X.shape[1] if self.is_sparse else cnp.PyArray_DIM(held, 1)
        if not read_batch(batch, X, scratch, cnp.PyArray_TYPE(held), width, n):
            raise changed("RandSVM")
        return 0

    cdef void draw_among(
        self, int64_t first, int64_t n, Batch *batch, const int8_t *slot, const double *weight,
        const double *f, double margin
    ) except * nogil:
        cdef int64_t i
        cdef const void *x
        cdef double w, yf
        for i in range(n):
            w = 1.0 if weight == NULL else weight[i]
            if w == 0.0:
                continue
            if f != NULL:
                yf = f[i] if slot[i] else -f[i]
                exact_add(&self.losses, w * max(0.0, 1.0 - yf))
                if yf >= margin:
                    continue
            if self.was_held(first + i) == self.recalling:
                x = row_at(batch, i)
                if x == NULL:
                    with gil:
                        raise changed("RandSVM")
                if not self.take(first + i, x, batch, slot[i], w):
                    with gil:
                        raise self.too_full(first + i)

    cdef too_full(self, int64_t number):
        room, size = self.nonzeros.room, 4 + self.views["drawn_values"].itemsize
        return ValueError(
            f"RandSVM: row {number} does not fit besides the {self.n_kept + self.n_drawn - 1:,}"
            f" drawn, whose non-zeros take {size * self.nonzeros.taken[1]:,} of {size * room:,}"
            f" bytes; give a larger max_nonzeros, or a smaller max_samples")

    cdef bint was_held(self, int64_t number) noexcept nogil:
        """Called with ascending numbers."""
        while self.at_before < self.n_before and self.before[self.at_before] < number:
            self.at_before += 1
        return self.at_before < self.n_before and self.before[self.at_before] == number

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
