"""Adwin, compiled: see the public class for the window and the bound.

Row l of `sums` has the sums of up to M + 1 buckets of 2^l errors, the oldest first. Rows with a
larger l are older.
"""

cimport cython
from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memmove

from edgesvm.core.arena cimport Arena
from edgesvm.core.logistic cimport log_
from edgesvm.drift._detector cimport DetectorCore

import numpy as np

from edgesvm.errors import CorruptModelError


@cython.final
cdef class AdwinCore(DetectorCore):
    """State and step. The public class has checked the parameters."""

    cdef double *sums           # (n_rows, per_row + 1)
    cdef int64_t *n_in_row      # (n_rows,): buckets
    cdef int64_t *n_window      # errors in the window
    cdef int64_t n_rows, per_row, every, least
    cdef double delta

    def __init__(self, plan, Arena arena, *, delta, every, least):
        super().__init__(plan, arena)
        self.delta, self.every, self.least = delta, every, least
        self.sums = <double *> self.array("sums")
        self.n_in_row = <int64_t *> self.array("n_in_row")
        self.n_window = <int64_t *> self.array("n_window")
        self.n_rows, self.per_row = self.views["sums"].shape
        self.per_row -= 1

    cdef bint take(self, double error) noexcept nogil:
        self.push(0, error)
        self.n_window[0] += 1
        self.merge()
        return self.found.n_added % self.every == 0 and self.shrink()

    cdef void push(self, int64_t row, double total) noexcept nogil:
        """A new bucket, the row's youngest"""
        self.sums[row * (self.per_row + 1) + self.n_in_row[row]] = total
        self.n_in_row[row] += 1

    cdef double pop(self, int64_t row) noexcept nogil:
        """Take the row's oldest bucket away; its sum"""
        cdef double *first = self.sums + row * (self.per_row + 1)
        cdef double total = first[0]
        memmove(first, first + 1, self.per_row * sizeof(double))
        first[self.per_row] = 0.0
        self.n_in_row[row] -= 1
        return total

    cdef void merge(self) noexcept nogil:
        """Of a row with M + 1 buckets the two oldest become one of the next row; of the last row
        the oldest is forgotten."""
        cdef int64_t row
        for row in range(self.n_rows):
            if self.n_in_row[row] <= self.per_row:
                return
            if row == self.n_rows - 1:
                self.pop(row)
                self.n_window[0] -= <int64_t> 1 << row
            else:
                self.push(row + 1, self.pop(row) + self.pop(row))

    cdef bint shrink(self) noexcept nogil:
        """Drop what is before the clearest cut, as long as there is one; whether that had fewer
        errors."""
        cdef int64_t row, n_cut, n_dropped = 0
        cdef double dropped = 0.0, total = self.total()
        while True:
            n_cut = self.clearest_cut(total)
            if n_cut == 0:
                break
            n_dropped += n_cut
            self.n_window[0] -= n_cut
            while n_cut:
                row = self.oldest_row()
                dropped += self.pop(row)
                n_cut -= <int64_t> 1 << row
            total = self.total()
        if n_dropped == 0 or dropped * self.n_window[0] >= total * n_dropped:
            return False
        self.found.before = dropped / n_dropped
        self.found.now = total / self.n_window[0]
        return True

    cdef int64_t oldest_row(self) noexcept nogil:
        cdef int64_t row = self.n_rows - 1
        while row > 0 and self.n_in_row[row] == 0:
            row -= 1
        return row

    cdef double total(self) noexcept nogil:
        cdef int64_t i
        cdef double total = 0.0
        for i in range(self.n_rows * (self.per_row + 1)):
            total += self.sums[i]
        return total

    cdef int64_t clearest_cut(self, double total) noexcept nogil:
        """Errors before the border between buckets at which the means of the two sides are apart by
        the largest multiple of the bound; 0 if by no more than the bound at any."""
        cdef double n = self.n_window[0], mean = total / n
        cdef double n0 = 0.0, total0 = 0.0, n1, m, of_delta, times, most = 1.0
        cdef int64_t row, i, n_cut = 0
        if n < 2 * self.least:
            return 0
        of_delta = log_(2.0 * log_(n) / self.delta)
        for row in range(self.n_rows - 1, -1, -1):
            for i in range(self.n_in_row[row]):
                n0 += <int64_t> 1 << row
                total0 += self.sums[row * (self.per_row + 1) + i]
                n1 = n - n0
                if n1 < self.least:
                    return n_cut
                if n0 < self.least:
                    continue
                m = n0 * n1 / n
                times = fabs(total0 / n0 - (total - total0) / n1) / (
                    sqrt(2.0 / m * mean * (1.0 - mean) * of_delta) + 2.0 / (3.0 * m) * of_delta)
                if times > most:
                    most, n_cut = times, <int64_t> n0
        return n_cut

    def check(self):
        """CorruptModelError if no stream of errors can have left these bytes."""
        super().check()
        n, sums = self.views["n_in_row"], self.views["sums"]
        sizes = 2 ** np.arange(self.n_rows)
        if (n < 0).any() or (n > self.per_row).any() or (n * sizes).sum() != self.n_window[0]:
            raise CorruptModelError("the detector's buckets are not those of a window")
        if (sums > sizes[:, None]).any() or (sums[np.arange(self.per_row + 1) >= n[:, None]]).any():
            raise CorruptModelError("a bucket has more errors than samples")
