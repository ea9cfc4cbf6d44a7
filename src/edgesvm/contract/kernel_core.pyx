"""Base class of the compiled cores with a kernel: kernel values of vectors in the learner's dtype,
and the arena's tiles and cached kernel rows."""

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t

from edgesvm.core.kernels cimport any_kernel_value, kernel_of
from edgesvm.core.linalg cimport any_dot
from edgesvm.core.rows cimport any_kernel_values

CACHE = ("cache", "slot", "owner", "filled", "used")    # the arrays that `map_cache` maps


cdef class KernelCore(LearnerCore):
    """A core with a `kernel`, one of edgesvm.kernels."""

    def __init__(self, *common, kernel):
        super().__init__(*common)
        self.kernel = kernel_of(kernel.code)
        self.row_bytes = self.n_features * self.dtype.itemsize

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

    cdef int map_cache(self, RowCache *cache) except -1:
        """Point `cache` to the plan's arrays named in `CACHE`"""
        cache.block = <float *> self.array("cache")
        cache.n_floats = self.views["cache"].size
        cache.slot = <int32_t *> self.array("slot")
        cache.owner = <int32_t *> self.array("owner")
        cache.filled = <int32_t *> self.array("filled")
        cache.used = <int64_t *> self.array("used")
        return 0
