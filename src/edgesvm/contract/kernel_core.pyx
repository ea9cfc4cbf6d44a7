"""Base class of the compiled cores with a kernel: kernel values of vectors in the learner's dtype,
and the arena's tiles and cached kernel rows."""

cimport numpy as cnp
from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint64_t

from edgesvm.core.kernels cimport any_kernel_value, kernel_of
from edgesvm.core.linalg cimport any_dot
from edgesvm.core.rows cimport any_kernel_values
from edgesvm.core.tiles cimport TILES_WORDS, tiles_note

import numpy as np

cnp.import_array()

CACHE = ("cache", "slot", "owner", "filled", "used")    # the arrays that `map_cache` maps


cdef class KernelCore(LearnerCore):
    """A core with a `kernel`, one of edgesvm.kernels."""

    def __init__(self, *common, kernel):
        super().__init__(*common)
        self.kernel = kernel_of(kernel.code)
        self.row_bytes = self.n_features * self.dtype.itemsize
        self.noted_names, self.notes = [], {}

    cdef double square_norm(self, const void *x) noexcept nogil:
        """x.x"""
        return any_dot(self.is_float32, x, x, self.n_features)

    cdef double k(self, const void *x, const void *z) noexcept nogil:
        """k(x, z), summed in the vectors' dtype"""
        return any_kernel_value(&self.kernel, self.is_float32, x, z, self.n_features)

    cdef double self_kernel(self, const void *x) noexcept nogil:
        """k(x, x); infinite or NaN if a feature is not finite or too large to square"""
        cdef double xx = self.square_norm(x)
        return self.k(x, x) if isfinite(xx) else xx

    cdef void k_rows(self, const void *x, const void *rows, int64_t n, double *out) noexcept nogil:
        """out[i] = k(x, rows[i]) for n rows, summed in float64"""
        any_kernel_values(&self.kernel, self.is_float32, x, rows, self.n_features, n, out)

    cdef int map_tiles(self, Tiles *tiles, str name) except -1:
        """Point `tiles` to the plan's array `name`, (tiles, n_features, lanes)"""
        tiles.data, tiles.width = self.array(name), self.n_features
        tiles.is_float32 = self.is_float32
        return 0

    cdef int note_tiles(self, Tiles *tiles, str name) except -1:
        """Have it noted, while many rows are worked on, in which features `tiles` are zero. They
        are the plan's array `name`; others of the same array share the note. While there is one,
        only core.tiles may write into them."""
        self.noted[len(self.noted_names)] = tiles
        self.noted_names.append(name)
        return 0

    cdef int begin_rows(self, int64_t n) except -1:
        cdef Tiles *tiles
        cdef cnp.ndarray present
        cdef int i
        # Not if others work already: they read the tiles without the interpreter lock.
        if self.n_working == 0 and n >= MANY_ROWS:
            words = TILES_WORDS(self.n_features)
            self.notes = {name: np.empty((len(self.views[name]), words), np.uint64)
                          for name in self.noted_names}
            for i in range(len(self.noted_names)):
                tiles, present = self.noted[i], self.notes[self.noted_names[i]]
                tiles.present = <uint64_t *> cnp.PyArray_DATA(present)
                tiles_note(tiles.data, tiles.width, len(present), tiles.present)
        self.n_working += 1
        return 0

    cdef void end_rows(self) noexcept:
        cdef int i
        self.n_working -= 1
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
