"""The different vectors of several kernel learners: a block of samples takes its kernel value with
each but once.

The parts of a one-vs-one learner hold samples of the same stream, each of which went to the parts
of its class. A kernel value that one core sums in float64 and another in the vectors' dtype is
taken twice. Bytes, of M vectors of which m differ, in P parts: 4 M + m (8 + 64) + 8 P + 8 D s, and
at most 24 M more while they are compared.
"""

cimport cython
cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcmp, memcpy

from edgesvm.contract.kernel_core cimport KernelCore
from edgesvm.core.rows cimport ROWS_BLOCK, ROWS_WIDEST

import numpy as np

cnp.import_array()

cdef enum:
    BENCH = 8       # vectors that are laid side by side


cdef inline uint64_t mixed(const char *vector, int64_t n_bytes) noexcept nogil:
    """A hash of its bytes."""
    cdef uint64_t h = 0, word
    cdef int64_t i = 0
    while i < n_bytes:
        word = 0
        memcpy(&word, vector + i, min(n_bytes - i, <int64_t> 8))
        h = (h ^ word) * <uint64_t> 0x9E3779B97F4A7C15
        h ^= h >> 29
        i += 8
    return h


@cython.final
cdef class SameVectors:
    """Of `cores`, KernelCores with the same kernel and features, as they are now."""

    def __init__(self, tuple cores):
        cdef const char *vectors
        cdef KernelCore core
        cdef cnp.ndarray starts, numbers, firsts, values, bench
        core, self.cores = cores[0], cores
        starts = np.zeros(len(cores), np.int64)
        self.start = <int64_t *> cnp.PyArray_DATA(starts)
        for p, core in enumerate(cores):
            self.start[p] = self.n_held
            self.n_held += core.held(&vectors)
        numbers = np.empty(self.n_held, np.int32)
        self.number = <int32_t *> cnp.PyArray_DATA(numbers)
        firsts = self.compare()
        values = np.empty((self.n, ROWS_BLOCK))
        bench = np.empty((BENCH, core.n_features), core.dtype)
        self.first = <const char **> cnp.PyArray_DATA(firsts)
        self.values = <double *> cnp.PyArray_DATA(values)
        self.bench = <char *> cnp.PyArray_DATA(bench)
        self.arrays = [starts, numbers, firsts, values, bench]

    cdef object compare(self):
        """Number the vectors; returns where the first of each lies, (n,)."""
        cdef cnp.ndarray table = np.empty(1 << int(2 * self.n_held).bit_length(), np.int32)
        cdef cnp.ndarray firsts = np.empty(self.n_held, np.uintp)
        cdef KernelCore core
        for in_dtype in (False, True):
            table.fill(-1)
            for p, core in enumerate(self.cores):
                if core.sums_in_dtype() == in_dtype:
                    self.find(core, self.start[p], table, firsts)
                    if in_dtype:
                        self.in_dtype = core
                    else:
                        self.in_float64, self.n_in_float64 = core, self.n
        return firsts[:self.n].copy()

    cdef int find(
        self, KernelCore core, int64_t at, cnp.ndarray table, cnp.ndarray firsts
    ) except -1:
        """Number one core's vectors, from `at` on; `table` has the numbers by their hashes."""
        cdef int32_t *slot = <int32_t *> cnp.PyArray_DATA(table)
        cdef const char **first = <const char **> cnp.PyArray_DATA(firsts)
        cdef uint64_t mask = len(table) - 1, h
        cdef const char *vector
        cdef int64_t _i, n = core.held(&vector), n_bytes = core.row_bytes
        for _i in range(n):
            h = mixed(vector, n_bytes) & mask
            while slot[h] >= 0 and memcmp(first[slot[h]], vector, n_bytes):
                h = (h + 1) & mask
            if slot[h] < 0:
                slot[h] = <int32_t> self.n
                first[self.n] = vector
                self.n += 1
            self.number[at] = slot[h]
            at += 1
            vector += n_bytes
        return 0

    cdef bint look_at(self, const void *x) noexcept nogil:
        """Take the `values` of a block of samples; False: one of them might be refused."""
        return (self.take(self.in_float64, x, 0, self.n_in_float64)
                and self.take(self.in_dtype, x, self.n_in_float64, self.n))

    cdef bint take(
        self, KernelCore core, const void *x, int64_t begin, int64_t end
    ) noexcept nogil:
        """`look_at` for the vectors of cores that sum as `core` does"""
        cdef double[ROWS_BLOCK * ROWS_WIDEST] turned
        cdef int64_t i, count
        if begin == end:
            return True
        if not core.turn(x, ROWS_BLOCK, turned):
            return False
        while begin < end:
            count = min(end - begin, <int64_t> BENCH)
            for i in range(count):
                memcpy(self.bench + i * core.row_bytes, self.first[begin + i], core.row_bytes)
            core.k_block(turned, self.bench, 0, count, self.values + ROWS_BLOCK * begin)
            begin += count
        return True
