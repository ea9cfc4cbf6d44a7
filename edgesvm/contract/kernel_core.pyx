"""Base class of the compiled cores with a kernel: kernel values of vectors in the learner's dtype,
and the arena's tiles and cached kernel rows."""

cimport numpy as cnp
from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from edgesvm.contract.samples cimport as_sample
from edgesvm.contract.sparse cimport Batch
from edgesvm.core.kernels cimport LINEAR, RBF, any_kernel_value, kernel_of
from edgesvm.core.linalg cimport any_dot
from edgesvm.core.nonzeros cimport Sample, map_nonzeros
from edgesvm.core.rows cimport (
    ROWS_BLOCK, ROWS_WIDEST, any_kernel_values, block_kernel_values, lanes_block_kernel_values,
    lanes_block_turn, lanes_kernel_values, rows_block_turn)
from edgesvm.core.tiles cimport TILES_WORDS, lanes_of, tiles_note

import numpy as np

cnp.import_array()

cdef int64_t MOST_ROWS = <int64_t> 1 << 48
CACHE = ("cache", "slot", "owner", "filled", "used")    # the arrays that `map_cache` maps


cdef class KernelCore(LearnerCore):
    """A core with a `kernel`, one of edgesvm.kernels."""

    def __init__(self, *common, kernel):
        super().__init__(*common)
        self.kernel = kernel_of(kernel.code)
        self.row_bytes = self.n_features * self.dtype.itemsize
        self.noted_names, self.notes = [], {}
        self.is_sparse = "columns" in self.views
        if self.is_sparse:
            map_nonzeros(&self.nonzeros, self.views, "", self.n_features)

    @property
    def has_scratch(self):
        """`decide` may write into the arena, and a block of decisions into `known`."""
        return self.decides_alone() or self.decides_in_blocks

    cdef int read(self, Batch *batch, X, cnp.ndarray scratch, int64_t n) except -1:
        LearnerCore.read(self, batch, X, scratch, n)
        self.batch = batch if self.is_sparse else NULL
        return 0

    cdef Sample sample_of(self, const void *x) noexcept nogil:
        """x, of the rows that are being read, by its columns if they are known"""
        return as_sample(x, self.n_features, self.batch)

    cdef double square_norm(self, const void *x) noexcept nogil:
        """x.x"""
        return any_dot(self.is_float32, x, x, self.n_features)

    cdef double k(self, const void *x, const void *z) noexcept nogil:
        """k(x, z), summed in the vectors' dtype"""
        return any_kernel_value(&self.kernel, self.is_float32, x, z, self.n_features)

    cdef double self_kernel(self, const void *x) noexcept nogil:
        """k(x, x); infinite or NaN if a feature is not finite or too large to square"""
        cdef double xx = self.square_norm(x)
        if not isfinite(xx) or self.kernel.kind == LINEAR:
            return xx
        return 1.0 if self.kernel.kind == RBF else self.k(x, x)

    cdef void k_rows(self, const void *x, const void *rows, int64_t n, double *out) noexcept nogil:
        """out[i] = k(x, rows[i]) for n rows, summed as `sums_in_dtype` says"""
        if self.sums_in_dtype():
            lanes_kernel_values(&self.kernel, self.is_float32, x, rows, self.n_features, n, out)
        else:
            any_kernel_values(&self.kernel, self.is_float32, x, rows, self.n_features, n, out)

    cdef int64_t held(self, const char **vectors) noexcept nogil:
        return 0

    cdef bint sums_in_dtype(self) noexcept nogil:
        return False

    cdef bint refuses_to_decide(self, const void *x) noexcept nogil:
        return False

    cdef bint turn(self, const void *x, int64_t n, double *turned) noexcept nogil:
        """turned[d, c] = x[c, d] of a block, the first of n samples, in the dtype of the sums;
        False: they are too few or too wide, or one might be refused."""
        cdef int64_t c
        if n < ROWS_BLOCK or self.n_features > ROWS_WIDEST:
            return False
        if self.known != NULL:
            return True
        for c in range(ROWS_BLOCK):
            if self.refuses_to_decide(<const char *> x + c * self.row_bytes):
                return False
        if self.sums_in_dtype():
            lanes_block_turn(self.is_float32, x, self.n_features, turned)
        else:
            rows_block_turn(self.is_float32, x, self.n_features, turned)
        return True

    cdef void k_block(
        self, const double *turned, const char *vectors, int64_t first, int64_t n, double *out
    ) noexcept nogil:
        """out[i, c] = k(x_c, vectors[first + i]) for n vectors, as `k_rows` of each sample"""
        cdef int64_t i
        cdef const char *rows = vectors + first * self.row_bytes
        if self.known == NULL and self.sums_in_dtype():
            lanes_block_kernel_values(
                &self.kernel, self.is_float32, turned, rows, self.n_features, n, out)
            return
        if self.known == NULL:
            block_kernel_values(
                &self.kernel, self.is_float32, turned, rows, self.n_features, n, out)
            return
        for i in range(n):
            memcpy(out + ROWS_BLOCK * i, self.known + ROWS_BLOCK * self.number[first + i],
                   ROWS_BLOCK * sizeof(double))

    cdef int64_t decide_known(
        self, const double *known, const int32_t *number, const void *x, int64_t n, double *values
    ) noexcept nogil:
        """`decide_block` of samples whose kernel values with all vectors are `known`: those of the
        core's vector i are in row number[i]."""
        self.known, self.number = known, number
        n = self.decide_block(x, NULL, n, values)
        self.known = NULL
        return n

    cdef int map_tiles(self, Tiles *tiles, str name) except -1:
        """Point `tiles` to the plan's array `name`, (tiles, width, lanes)"""
        tiles.data, tiles.width = self.array(name), self.views[name].shape[1]
        tiles.is_float32, tiles.alone = self.is_float32, self.views[name].shape[2] == 1
        return 0

    cdef int note_tiles(self, Tiles *tiles, str name) except -1:
        """Have it noted, while many rows are worked on, in which features `tiles` are zero. They
        are the plan's array `name`; others of the same array share the note. While there is one,
        only core.tiles may write into them."""
        self.noted[len(self.noted_names)] = tiles
        self.noted_names.append(name)
        return 0

    cdef int64_t n_in_tiles(self) noexcept nogil:
        """Rows of noted tiles behind which all are zero"""
        return MOST_ROWS

    cdef int begin_rows(self, int64_t n) except -1:
        cdef Tiles *tiles
        cdef cnp.ndarray present
        cdef int64_t held
        cdef int i
        # Not if others work already: they read the tiles without the interpreter lock.
        if self.n_working == 0 and n >= MANY_ROWS:
            for name in self.noted_names:
                n_tiles, width, _ = self.views[name].shape
                self.notes[name] = np.zeros((n_tiles, TILES_WORDS(width)), np.uint64)
            for i in range(len(self.noted_names)):
                tiles, present = self.noted[i], self.notes[self.noted_names[i]]
                tiles.present = <uint64_t *> cnp.PyArray_DATA(present)
                held = (self.n_in_tiles() + lanes_of(tiles) - 1) // lanes_of(tiles)
                tiles_note(tiles.data, tiles.width, min(held, len(present)), tiles.present)
        self.n_working += 1
        return 0

    cdef void end_rows(self) noexcept:
        cdef int i
        self.n_working -= 1
        self.batch = NULL
        if self.n_working == 0:
            for i in range(len(self.noted_names)):
                self.noted[i].present = NULL
            self.notes = {}

    cdef int map_cache(self, RowCache *cache) except -1:
        """Point `cache` to the plan's arrays named in `CACHE`"""
        cache.block = <float *> self.array("cache")
        cache.n_floats = self.views["cache"].size
        cache.slot = <int32_t *> self.array("slot")
        cache.owner = <int32_t *> self.array("owner")
        cache.filled = <int32_t *> self.array("filled")
        cache.used = <int64_t *> self.array("used")
        return 0
