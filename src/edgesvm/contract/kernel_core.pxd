# Base class of the compiled cores with a kernel; see kernel_core.pyx.

cimport cython
from libc.stdint cimport int64_t

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.kernels cimport Kernel
from edgesvm.core.row_cache cimport RowCache
from edgesvm.core.tiles cimport Tiles


cdef enum:
    MANY_ROWS = 32      # to note the features of all tiles costs as much as a kernel row


cdef class KernelCore(LearnerCore):
    cdef Kernel kernel
    cdef int64_t row_bytes      # bytes per vector
    cdef Tiles *noted[3]        # tiles whose features are noted while many rows are worked on
    cdef list noted_names       # the plan's arrays they are in
    cdef dict notes             # name -> ndarray, the notes, while there are any
    cdef int n_working          # calls with rows, begun and not ended

    @cython.final
    cdef double square_norm(self, const void *x) noexcept nogil

    @cython.final
    cdef double k(self, const void *x, const void *z) noexcept nogil

    @cython.final
    cdef double self_kernel(self, const void *x) noexcept nogil

    @cython.final
    cdef void k_rows(self, const void *x, const void *rows, int64_t n, double *out) noexcept nogil

    @cython.final
    cdef int map_tiles(self, Tiles *tiles, str name) except -1

    @cython.final
    cdef int note_tiles(self, Tiles *tiles, str name) except -1

    @cython.final
    cdef int map_cache(self, RowCache *cache) except -1
