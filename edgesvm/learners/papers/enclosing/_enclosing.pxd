# A core set and the ball around it, base of CoreVectorMachine and BallVectorMachine; see
# _enclosing.pyx.

from libc.stdint cimport int64_t, uint64_t

from edgesvm.contract.kernel_core cimport KernelCore
from edgesvm.contract.sparse cimport Batch
from edgesvm.core.nonzeros cimport Sample
from edgesvm.core.row_cache cimport RowCache
from edgesvm.core.status cimport Status
from edgesvm.core.tiles cimport Tiles

cdef struct Block:      # rows examined together
    int64_t n
    int64_t room
    Tiles rows          # those of non-zeros follow the core set instead
    double *f           # (K c)_i, infinite for rows in the core set
    double *sign
    double *own         # 1 / (C weight)
    int64_t *number
    float *row          # kernel values of one core vector, in whole tiles


cdef class EnclosingCore(KernelCore):
    cdef readonly double epsilon    # the current one
    cdef readonly double margin_tol  # the current one; infinite: epsilon alone counts
    cdef readonly double C, kappa   # K_ii of a sample of weight one
    cdef readonly bint normalize
    cdef readonly int64_t width     # features of a point: those of a sample and, maybe, `constant`
    cdef readonly int64_t point_bytes
    cdef readonly double constant
    cdef bint streaming             # make room if the core set is full
    cdef readonly bint is_full      # there was no room
    cdef bint has_all               # the core set is all rows
    cdef bint waits                 # steps within the core set may wait until more was added
    cdef readonly int64_t max_core, max_iter
    cdef int64_t budget             # steps that may still be made
    cdef int64_t n_taken            # into the core set
    cdef uint64_t draws[4]
    cdef Tiles rows
    cdef int64_t *n_core
    cdef int64_t *n_iter
    cdef int64_t *n_given_up
    cdef int64_t *converged
    cdef double *square             # |c|^2
    cdef double *intercept          # sum of beta
    cdef double *beta               # (wide,): y alpha, c = sum alpha phi~
    cdef double *sign               # (max_core,): y
    cdef double *own                # (max_core,): 1 / (C weight)
    cdef int64_t *number            # (max_core,): of the sample in the stream, or the data
    cdef RowCache cache
    cdef Block block
    cdef double *near_margin        # (near_room,): f less the threshold, a heap, the largest first
    cdef int64_t *near_number
    cdef int64_t near_room, n_near
    cdef bint watching
    cdef char *point
    # of rows of non-zeros
    cdef double point_square        # point.point
    cdef Sample sample              # the point that was made last
    cdef int64_t n_nonzeros         # its non-zeros
    cdef double *w                  # (n_features,): c, if the kernel is linear; else NULL
    cdef bint is_stale              # w is not that of the coefficients

    # What a machine adds; `f` is (K alpha)_p.
    cdef double level(self) noexcept nogil
    cdef double margin(self) noexcept nogil
    cdef double square_length(self) noexcept nogil
    cdef void unsettle(self) noexcept nogil
    cdef bint settle(self) noexcept nogil
    cdef void take(self, int64_t p, double f) noexcept nogil
    cdef bint in_bulk(self) noexcept nogil
    cdef bint skips_core(self) noexcept nogil
    cdef bint make_room(self) noexcept nogil
    cdef void wipe(self) noexcept nogil

    cdef bint is_product(self, int64_t p, double f, double rounding) noexcept nogil

    # Shared.
    cdef const char *fault_of_products(self) noexcept nogil
    cdef double rounding(self) noexcept nogil
    cdef double largest_own(self) noexcept nogil
    cdef bint is_new(self, int64_t p) noexcept nogil
    cdef bint is_empty_behind(self, int64_t n) noexcept nogil
    cdef bint holds_just(self, int64_t n) noexcept nogil
    cdef double threshold(self) noexcept nogil
    cdef double limit(self) noexcept nogil
    cdef double allowed(self) noexcept nogil
    cdef bint make_point(self, const void *x) noexcept nogil
    cdef bint make_sparse_point(self, const void *x) noexcept nogil
    cdef void get_core(self, int64_t p) noexcept nogil
    cdef void get_stored(self, int64_t t) noexcept nogil
    cdef double k_core(self, int64_t p) noexcept nogil
    cdef double sparse_output(self) noexcept nogil
    cdef double stored_output(self, int64_t t) noexcept nogil
    cdef double output_core(self, int64_t p) noexcept nogil
    cdef double output_block(self, int64_t i) noexcept nogil
    cdef void sum_up(self) noexcept nogil
    cdef void append_constant(self, double scale) noexcept nogil
    cdef double k_point(self) noexcept nogil
    cdef void scale_point(self, double scale) noexcept nogil
    cdef double output(self) noexcept nogil
    cdef Status load(self, const void *x, double y, double weight, int64_t number) noexcept nogil
    cdef bint is_long(self) noexcept nogil
    cdef int64_t max_nonzeros(self) noexcept nogil
    cdef Status load_alone(
        self, const void *x, double y, double weight, int64_t number) noexcept nogil
    cdef Status load_block(
        self, int64_t n, int64_t *at, Batch *batch, const signed char *slot, const double *weight,
        const int64_t *number) except * nogil
    cdef void score_block(self) noexcept nogil
    cdef void recompute_block(self) noexcept nogil
    cdef void note_near(self) noexcept nogil
    cdef void sift_up(self, int64_t at, double margin, int64_t number) noexcept nogil
    cdef void sift_down(self, double margin, int64_t number) noexcept nogil
    cdef void clear_near(self) noexcept nogil
    cdef void clear_block(self) noexcept nogil
    cdef int64_t farthest(self) noexcept nogil
    cdef bint is_core(self, int64_t number) noexcept nogil
    cdef bint improve(self) noexcept nogil
    cdef void append_outside(self, int64_t t) noexcept nogil
    cdef void append(self, int64_t t) noexcept nogil
    cdef void append_all(self) noexcept nogil
    cdef void remove(self, int64_t q) noexcept nogil
    cdef int64_t lightest(self) noexcept nogil
    cdef void conclude(self) noexcept nogil
