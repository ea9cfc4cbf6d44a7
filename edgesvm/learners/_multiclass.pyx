"""A multiclass learner made of two-class learners, compiled.

There are K classes, numbered (`slot`) in the order of arrival. One-vs-one: one part for each pair i
< j, number j (j - 1) / 2 + i, with -1 for i and +1 for j. One-vs-rest: one part for each class,
with +1 for that class. A sample is learned by the K - 1 parts of its class, or by all K.

Classes without a sample do not compete. For the others, with f_ij > 0 for j, the score is

    pairs: votes_j + s_j / (3 (1 + |s_j|)),  s_j = sum of f over the parts of j, towards j
    rest:  f_j
    two classes compete: -d/2 and d/2,  d = f of the pair, or half the difference of the two f

Sums run in the sort order of the labels, not of arrival. Scores and sums are zero between samples.
"""

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject
from libc.math cimport fabs, isfinite
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.contract.kernel_core cimport MANY_ROWS, KernelCore
from edgesvm.core.linalg cimport BLOCK, dot, item_bytes, square_rows
from edgesvm.core.rows cimport ROWS_BLOCK, ROWS_WIDEST
from edgesvm.core.status cimport CHANGED, FULL, NOT_FINITE, UNCHANGED, Status
from edgesvm.core.tiles cimport (
    TILES_WORDS, Tiles, get_row, kernel_block, kernel_row, lanes_of, put_row)

import numpy as np

cnp.import_array()

cdef extern from "Python.h":
    # reads an entry of the tuple without the interpreter, so that a loop over parts can be nogil
    PyObject *PyTuple_GET_ITEM(PyObject *, Py_ssize_t) nogil
    Py_ssize_t PyTuple_GET_SIZE(PyObject *) nogil


cdef enum:
    BENCH = 8               # vectors that are laid side by side
    TILE = 32               # most rows that are looked at together, MOST_ROWS
    MOST_FOUND = 4096       # values of parts that are found together
    TILE_BYTES = 16384      # of rows that all parts look at while they are in the nearest cache


@cython.final
cdef class SameVectors:
    """The different vectors of several kernel learners with the same kernel and features, as they
    are now: a block of samples takes its kernel value with each but once, or, where they lie in
    tiles, a sample. Bytes, of M vectors of which m differ, in P parts: 4 M + m (8 + 64) + 8 P +
    8 D s, of those in tiles m D s more; and meanwhile 8 M + m (D s + 200).
    """
    cdef readonly list arrays   # what the pointers below point into
    cdef tuple cores
    cdef KernelCore in_float64  # one that sums its kernel values in float64, or None
    cdef KernelCore in_dtype    # one that sums them in the vectors' dtype, or None
    cdef readonly int64_t n     # different vectors
    cdef int64_t n_in_float64   # those of cores that sum in float64, which come first
    cdef readonly int64_t n_held
    cdef int64_t *start         # (n_cores,): number of the first vector of each
    cdef int32_t *number        # (n_held,): which of the different ones a vector is
    cdef const char **first     # (n,): where the first of equals lies
    cdef double *values         # (n, ROWS_BLOCK)
    cdef char *bench            # (BENCH, n_features)
    cdef Tiles tiles            # (n, n_features): the different ones, if they lie in tiles

    def __init__(self, tuple cores):
        cdef const char *vectors
        cdef KernelCore core
        cdef cnp.ndarray starts, numbers, firsts, values, bench
        core, self.cores = cores[0], cores
        starts = np.zeros(len(cores), np.int64)
        self.start = <int64_t *> cnp.PyArray_DATA(starts)
        for p, core in enumerate(cores):
            self.start[p] = self.n_held
            with nogil:     # it may have to be solved
                self.n_held += core.held(&vectors)
        numbers = np.empty(self.n_held, np.int32)
        bench = np.empty((BENCH, core.n_features), core.dtype)
        self.number = <int32_t *> cnp.PyArray_DATA(numbers)
        self.bench = <char *> cnp.PyArray_DATA(bench)
        self.arrays = [starts, numbers, bench]
        firsts = self.compare()
        values = np.empty((self.n + 1, ROWS_BLOCK))
        self.first = <const char **> cnp.PyArray_DATA(firsts)
        self.values = <double *> cnp.PyArray_DATA(values)
        self.arrays += [firsts, values]

    cdef object compare(self):
        """Number the vectors; returns where the first of each lies, (n,)."""
        cdef cnp.ndarray firsts = np.empty(self.n_held, np.uintp)
        cdef KernelCore core
        cdef dict numbers
        for in_dtype in (False, True):
            numbers = {}
            for p, core in enumerate(self.cores):
                if core.sums_in_dtype() == in_dtype:
                    self.find(core, self.start[p], numbers, firsts)
                    if in_dtype:
                        self.in_dtype = core
                    else:
                        self.in_float64, self.n_in_float64 = core, self.n
            if numbers and core.in_tiles and 4 * self.n <= 3 * self.n_held:
                self.put_in_tiles(core, numbers)
        return firsts[:self.n].copy()

    cdef int find(self, KernelCore core, int64_t at, dict numbers, cnp.ndarray firsts) except -1:
        """Number one core's vectors, from `at` on; `numbers` has those of the bytes so far."""
        cdef const char **first = <const char **> cnp.PyArray_DATA(firsts)
        cdef const char *vectors = NULL
        cdef int64_t i, n = core.held(&vectors)
        cdef Tiles rows = Tiles(
            <char *> vectors, core.n_features, core.is_float32, not core.in_tiles, NULL)
        for i in range(n):
            get_row(&rows, i, self.bench)
            self.number[at + i] = numbers.setdefault(self.bench[:core.row_bytes], self.n)
            if self.number[at + i] == self.n:
                first[self.n] = vectors + i * core.row_bytes
                self.n += 1
        return 0

    cdef int put_in_tiles(self, KernelCore core, dict numbers) except -1:
        """Copy the vectors, the keys of `numbers`, in their order."""
        cdef bytes vector
        cdef Tiles *rows = &self.tiles
        rows.width, rows.is_float32 = core.n_features, core.is_float32
        cdef cnp.ndarray data = np.zeros(
            (self.n // lanes_of(rows) + 1, rows.width, lanes_of(rows)), core.dtype)
        cdef cnp.ndarray notes = np.zeros((len(data), TILES_WORDS(rows.width)), np.uint64)
        rows.present = <uint64_t *> cnp.PyArray_DATA(notes)
        rows.data = <char *> cnp.PyArray_DATA(data)
        self.arrays += [data, notes]
        for i, vector in enumerate(numbers):
            put_row(rows, i, <const char *> vector)
        return 0

    cdef bint look_at_one(self, KernelCore core, const void *x) noexcept nogil:
        """Take the `values` of a sample, in the dtype of the vectors, which lie in tiles."""
        cdef int64_t t = 0
        if core.is_float32:
            kernel_row(&self.tiles, &core.kernel, x, 0, self.n, <float *> self.values)
            return True
        while t < self.n:
            t += kernel_block(&self.tiles, &core.kernel, x, t, self.n, self.values + t)
        return True

    cdef bint look_at(self, const void *x) noexcept nogil:
        """Take the `values` of a block of samples; False: one of them might be refused."""
        if self.tiles.data != NULL:
            return self.look_at_one(self.in_float64, x)
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


def decides_in_blocks(LearnerCore part):
    return part.decides_in_blocks


@cython.final
cdef class MulticlassCore(LearnerCore):
    """State and step, of one-vs-one if `pairs`; a part refuses more than `most` samples."""
    cdef readonly tuple parts
    cdef PyObject *part_tuple   # the same
    cdef readonly bint pairs
    cdef readonly int64_t most
    cdef int64_t *n_left_out
    cdef double *sums       # (n_classes,): TMP, sums of decision values
    cdef bint of_kernel     # all parts are KernelCores
    cdef bint in_tiles      # and have their vectors in tiles: rows are decided one by one
    cdef bint shares        # so many rows are decided that it pays to compare their vectors
    cdef SameVectors same   # these, where enough are equal; else None

    def __init__(self, *common, parts, pairs, most):
        super().__init__(*common)
        if not all(isinstance(part, LearnerCore) for part in parts):
            raise TypeError("the parts must be compiled cores")
        self.parts, self.pairs = parts, pairs
        self.part_tuple = <PyObject *> self.parts
        self.most = -1 if most is None else most
        self.n_left_out = <int64_t *> self.array("n_left_out")
        self.sums = <double *> self.array("sums")
        self.of_kernel = all(isinstance(part, KernelCore) for part in parts)
        self.in_tiles = self.of_kernel and parts[0].in_tiles
        self.decides_in_blocks = self.in_tiles or all(map(decides_in_blocks, parts))

    cdef int64_t part_between(self, int slot, int other) noexcept nogil:
        """With pairs, the part of both classes; otherwise that of `other`."""
        if not self.pairs:
            return other
        return slot * (slot - 1) // 2 + other if slot > other else other * (other - 1) // 2 + slot

    cdef int side_of(self, int slot, int other) noexcept nogil:
        """The side of that part that `slot` is on: 0 for -1, 1 for +1."""
        return slot > other if self.pairs else slot == other

    cdef PyObject *part(self, int64_t p) noexcept nogil:
        return PyTuple_GET_ITEM(self.part_tuple, p)

    # -- learning ----------------------------------------------------------------------------------

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        """If the first part refuses a sample, no part learns it."""
        cdef int slot = <int> y, other
        cdef int64_t n_taken = 0, n_moved = 0
        cdef Status status
        if self.is_full(slot):
            return FULL
        for other in range(self.n_classes):
            if self.pairs and other == slot:
                continue
            status = (<LearnerCore> self.part(self.part_between(slot, other))).learn_row(
                x, self.side_of(slot, other), weight)
            if status <= CHANGED:
                n_taken += 1
                n_moved += status == CHANGED
            elif n_taken == 0:
                return status
            else:
                self.n_left_out[0] += 1
        return CHANGED if n_moved else UNCHANGED

    cdef int64_t tile(self, int64_t n) noexcept nogil:
        """How many of n rows to look at together: a multiple of BLOCK"""
        cdef int64_t most = TILE_BYTES // (self.n_features * item_bytes(self.is_float32))
        return min(n, max(most, <int64_t> BLOCK)) // BLOCK * BLOCK

    cdef const void *find_squares(self, const void *x, int64_t n, double *squares) noexcept nogil:
        """x.x of n rows, of the learner's dtype"""
        cdef int64_t i = 0, width = self.n_features
        while i < n:
            if self.is_float32:
                square_rows(
                    <const float *> x + i * width, width, n - i, <float *> squares + i)
            else:
                square_rows(<const double *> x + i * width, width, n - i, squares + i)
            i += BLOCK
        return squares

    cdef bint is_full(self, int slot) noexcept nogil:
        """Whether any part of this class would refuse one more sample."""
        cdef int other
        if self.most < 0:
            return False
        for other in range(self.n_classes):
            if self.pairs and other == slot:
                continue
            if (<LearnerCore> self.part(self.part_between(slot, other))).n_learned() >= self.most:
                return True
        return False

    cdef int begin_rows(self, int64_t n) except -1:
        cdef LearnerCore part
        cdef int begun = 0
        try:
            for part in self.parts:
                part.begin_rows(n)
                begun += 1
            self.same = None
            self.shares = self.of_kernel and n >= MANY_ROWS
        except BaseException:
            for part in self.parts[:begun]:
                part.end_rows()
            raise
        return 0

    cdef void end_rows(self) noexcept:
        cdef LearnerCore part
        self.same = None
        for part in self.parts:
            part.end_rows()

    # -- deciding ----------------------------------------------------------------------------------

    cdef bint decides_alone(self) noexcept nogil:
        return True

    cdef Status decide(self, const void *x, double *score) noexcept nogil:
        """Scores by slot."""
        cdef int[2] last        # of those that compete, in label order
        cdef int n_competing = self.competing(last)
        if n_competing == 1:
            return self.score_alone(score) if self.is_finite(x) else NOT_FINITE
        return self.weigh(x, NULL, score, n_competing, last)

    cdef int competing(self, int *last) noexcept nogil:
        """How many classes compete"""
        cdef int i, n = 0
        last[0] = last[1] = 0
        for i in range(self.labels.n):
            if self.n_per_class[self.labels.order[i]]:
                last[0], last[1] = last[1], self.labels.order[i]
                n += 1
        return n

    cdef Status score_alone(self, double *score) noexcept nogil:
        """The scores where one class competes"""
        self.put_last(score)
        return UNCHANGED

    cdef Status weigh(
        self, const void *x, const double *found, double *score, int n_competing, const int *last
    ) noexcept nogil:
        """Scores of a row; `found` has the value of each part, or is NULL."""
        cdef int i
        cdef Status status
        if self.pairs:
            status = self.vote(x, found, score, n_competing == 2)
        else:
            status = self.compare(x, found, score)
        if status > CHANGED:
            return status
        if n_competing == 2 and not self.pairs:
            score[last[1]] = (score[last[1]] - score[last[0]]) / 4.0
            score[last[0]] = -score[last[1]]
        self.put_last(score)
        for i in range(self.n_classes):
            if not isfinite(score[i]):
                return NOT_FINITE
        return UNCHANGED

    cdef Status value_of(
        self, int64_t p, const void *x, const double *found, double *value
    ) noexcept nogil:
        """What part p says of a row."""
        if found == NULL:
            return (<LearnerCore> self.part(p)).decide(x, value)
        value[0] = found[p]
        return UNCHANGED

    cdef int64_t decide_block(
        self, const void *x, const void *squares, int64_t n, double *score
    ) noexcept nogil:
        """Each part looks at all rows, and then each row at all parts."""
        cdef double[MOST_FOUND] found
        cdef double[TILE] mine, values
        cdef int[2] last
        cdef int n_competing = self.competing(last)
        cdef int64_t i, p, n_parts = PyTuple_GET_SIZE(self.part_tuple)
        cdef int64_t least = ROWS_BLOCK if self.of_kernel else BLOCK
        cdef bint known = False
        if self.in_tiles:
            least = 1
        n = min(n, MOST_FOUND // n_parts)
        if n_competing == 1 or n < least:
            return 0
        if self.of_kernel:
            n = least
            known = self.take_values(x)
        else:
            n = self.tile(n)
            if squares == NULL:
                squares = self.find_squares(x, n, mine)
        for p in range(n_parts):
            if not self.has_both(p):
                continue
            n = self.decide_part(p, x, squares, n, values, known)
            for i in range(n):
                found[i * n_parts + p] = values[i]
        for i in range(n):
            memset(score, 0, self.n_classes * sizeof(double))
            if self.weigh(NULL, &found[i * n_parts], score, n_competing, last) > CHANGED:
                return i
            score += self.n_classes
        return n

    cdef int64_t decide_part(
        self, int64_t p, const void *x, const void *squares, int64_t n, double *values, bint known
    ) noexcept nogil:
        """What part p says of the first rows of n; one by one, where it has few vectors yet."""
        cdef int64_t i, decided, row_bytes = self.n_features * item_bytes(self.is_float32)
        if known:
            decided = (<KernelCore> self.part(p)).decide_known(
                self.same.values, self.same.number + self.same.start[p], x, n, values)
        else:
            decided = (<LearnerCore> self.part(p)).decide_block(x, squares, n, values)
        if decided > 0 or not self.of_kernel:
            return decided
        for i in range(n):
            if (<LearnerCore> self.part(p)).decide(
                    <const char *> x + i * row_bytes, values + i) > CHANGED:
                return i
        return n

    cdef bint take_values(self, const void *x) noexcept nogil:
        """Whether the kernel values of the first rows with the vectors of all parts are known."""
        if self.shares:
            with gil:
                self.compare_vectors()
        return self.same is not None and self.same.look_at(x)

    cdef void compare_vectors(self) noexcept:
        """Find the equal vectors of the parts; where that saves less than a quarter of the kernel
        values, each part goes on by itself."""
        cdef SameVectors same
        self.shares = False
        try:
            same = SameVectors(self.parts)
        except MemoryError:
            return
        if 0 < 4 * same.n <= 3 * same.n_held:
            self.same = same

    cdef bint is_finite(self, const void *x) noexcept nogil:
        """Check a sample when there is no part to do it."""
        if self.is_float32:
            return isfinite(dot(<const float *> x, <const float *> x, self.n_features))
        return isfinite(dot(<const double *> x, <const double *> x, self.n_features))

    cdef Status vote(
        self, const void *x, const double *found, double *score, bint two
    ) noexcept nogil:
        """One-vs-one."""
        cdef int a, b, low, high
        cdef int64_t p
        cdef double f
        cdef Status status = UNCHANGED
        for b in range(self.labels.n):
            high = self.labels.order[b]
            for a in range(b):
                low = self.labels.order[a]
                p = self.part_between(low, high)
                if not (self.n_per_class[low] and self.n_per_class[high] and self.has_both(p)):
                    continue
                status = self.value_of(p, x, found, &f)
                if status > CHANGED:
                    break
                if high < low:
                    f = -f
                score[high if f > 0.0 else low] += 1.0
                self.sums[high] += f
                self.sums[low] -= f
            if status > CHANGED:
                break
        for b in range(self.n_classes):
            score[b] = self.sums[b] / 2.0 if two else (
                score[b] + self.sums[b] / (1.0 + fabs(self.sums[b])) / 3.0)
        memset(self.sums, 0, self.n_classes * sizeof(double))
        return status

    cdef Status compare(self, const void *x, const double *found, double *score) noexcept nogil:
        """One-vs-rest."""
        cdef int slot
        cdef Status status
        for slot in range(self.n_classes):
            if self.n_per_class[slot] and self.has_both(slot):
                status = self.value_of(slot, x, found, &score[slot])
                if status > CHANGED:
                    return status
        return UNCHANGED

    cdef bint has_both(self, int64_t p) noexcept nogil:
        """Whether the part has seen both of its classes."""
        return (<LearnerCore> self.part(p)).n_per_class[0] and (
            <LearnerCore> self.part(p)).n_per_class[1]
