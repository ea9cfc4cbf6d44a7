# Base class of the compiled cores with a kernel; see kernel_core.pyx.

cimport cython
from libc.stdint cimport int32_t, int64_t

from edgesvm.contract.core cimport LearnerCore
from edgesvm.contract.sparse cimport Batch
from edgesvm.core.kernels cimport Kernel
from edgesvm.core.nonzeros cimport Nonzeros, Sample
from edgesvm.core.row_cache cimport RowCache
from edgesvm.core.tiles cimport Tiles


cdef enum:
    MANY_ROWS = 32      # to note the features of all tiles costs as much as a kernel row


cdef class KernelCore(LearnerCore):
    cdef readonly Kernel kernel
    cdef readonly int64_t row_bytes      # bytes per vector
    cdef readonly bint in_tiles          # what is `held`; else one vector is behind the other
    cdef Tiles *noted[3]        # tiles whose features are noted while many rows are worked on
    cdef list noted_names       # the plan's arrays they are in
    cdef dict notes             # name -> ndarray, the notes, while there are any
    cdef int n_working          # calls with rows, begun and not ended
    # With the arrays of `nonzeros`, rows are stored there instead of in tiles.
    cdef bint is_sparse
    cdef Nonzeros nonzeros
    cdef Batch *batch           # the rows that are being read; NULL: they are dense
    # While several cores decide the same block of samples: its kernel values with the vectors that
    # any of them holds, (n, ROWS_BLOCK), and which of these each vector is. Else NULL.
    cdef const double *known
    cdef const int32_t *number

    # The vectors of a core whose `decide` is a sum over kernel values, and how many; 0: it is not,
    # or not now. Its `decide_block` gets the values from `k_block`; if it is in tiles, its
    # `decide_known` gets those of one sample, (n,), in the vectors' dtype.
    cdef int64_t held(self, const char **vectors) noexcept nogil
    # Whether kernel values are summed in the vectors' dtype now; else in float64.
    cdef bint sums_in_dtype(self) noexcept nogil
    # Whether `decide` refuses this sample, whatever has been learned.
    cdef bint refuses_to_decide(self, const void *x) noexcept nogil

    cdef int64_t n_in_tiles(self) noexcept nogil

    @cython.final
    cdef Sample sample_of(self, const void *x) noexcept nogil

    @cython.final
    cdef double square_norm(self, const void *x) noexcept nogil

    @cython.final
    cdef double k(self, const void *x, const void *z) noexcept nogil

    @cython.final
    cdef double self_kernel(self, const void *x) noexcept nogil

    @cython.final
    cdef void k_rows(self, const void *x, const void *rows, int64_t n, double *out) noexcept nogil

    @cython.final
    cdef bint turn(self, const void *x, int64_t n, double *turned) noexcept nogil

    @cython.final
    cdef void k_block(
        self, const double *turned, const char *vectors, int64_t first, int64_t n, double *out
    ) noexcept nogil

    cdef int64_t decide_known(
        self, const double *known, const int32_t *number, const void *x, int64_t n, double *values
    ) noexcept nogil

    @cython.final
    cdef int map_tiles(self, Tiles *tiles, str name) except -1

    @cython.final
    cdef int note_tiles(self, Tiles *tiles, str name) except -1

    @cython.final
    cdef int map_cache(self, RowCache *cache) except -1
