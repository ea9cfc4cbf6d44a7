# Sequential minimal optimization over arrays in the caller's memory, and the base of the learners
# that solve by it in their arena; see _smo.pyx.

cimport cython
from libc.stdint cimport int32_t, int64_t

from edgesvm.contract.kernel_core cimport KernelCore
from edgesvm.core.kernels cimport Kernel
from edgesvm.core.linalg cimport plane_add, plane_dot
from edgesvm.core.nonzeros cimport Nonzeros, add_nonzeros, dot_nonzeros
from edgesvm.core.row_cache cimport RowCache
from edgesvm.core.status cimport Status
from edgesvm.core.tiles cimport Tiles, row_at

cdef enum Outcome:
    RUNNING = 0
    CONVERGED = 1
    STALLED = 2         # rounding hides the remaining gap

cdef struct Smo:
    # The problem, in the caller's arrays. `solve` reorders them together; `restore` puts them back.
    Tiles rows
    Nonzeros *nonzeros      # the rows instead of `rows`; or NULL
    double *w               # (width,): sum beta_t x_t, for the linear kernel alone; or NULL
    Kernel kernel
    int64_t n
    int64_t capacity        # room, in samples; arrays of (n,) below have this length
    double *bound           # (n,): y C of the sample; the coefficient is between it and 0
    const double *linear    # (n,): c, in the order of `order`; NULL: the sign of `bound`
    double *sign            # (n,) or NULL: K_st = s_s s_t (k + offset) + ridge_s [s = t]
    double offset
    double *ridge           # (n,), if there are signs
    bint bends              # epsilon |beta| is added, and beta_t is between -bound and bound
    double epsilon
    double tol
    bint shrinking
    bint refines            # check the solution with kernel values in float64 where it matters
    # The solution
    double *beta            # (n,): y alpha
    # TMP, (n,) each, float arrays padded to a multiple of 16
    double *gradient        # c - K beta
    float *diagonal
    float *state            # -1 at the lower bound, 1 at the upper; between 0, or half beta's sign
    float *spare
    int32_t *order          # sample order[t] is at position t
    char *point             # (width,), rows' dtype
    Tiles *ahead            # TILES_ROWS rows: compute as many rows of K together; or NULL
    RowCache cache
    # Progress
    int64_t n_active
    int64_t reserve         # length of a cached row while all are active
    int64_t n_iter
    int64_t countdown
    int64_t i               # the next first index: argmax of `rising` over what may grow
    double most             # rising[i]
    double least            # smallest `falling` over what may fall
    double sum_beta         # sum |beta|
    double k_max
    bint unshrunk
    bint in_float64         # recompute gradients with kernel values in float64
    bint refined            # the gradient is that of the present coefficients, in float64
    double refined_gap      # after the last time that it was


cdef inline double dot_row(const Smo *s, int64_t t) noexcept nogil:
    """w.x_t"""
    if s.nonzeros != NULL:
        return dot_nonzeros(s.nonzeros, t, s.w)
    return plane_dot(s.rows.is_float32, row_at(&s.rows, t), s.w, s.rows.width)


cdef inline void add_row(const Smo *s, int64_t t, double factor, double *w) noexcept nogil:
    """w += factor x_t"""
    if s.nonzeros != NULL:
        add_nonzeros(s.nonzeros, t, factor, w)
    else:
        plane_add(s.rows.is_float32, factor, row_at(&s.rows, t), w, s.rows.width)


cdef void smo_begin(Smo *s, bint warm, int64_t n_known=*) noexcept nogil
cdef void smo_append(Smo *s) noexcept nogil
cdef void smo_append_known(Smo *s, double gradient) noexcept nogil
cdef int64_t smo_replace(Smo *s, int64_t t, int64_t last, int64_t n_pairs) noexcept nogil
cdef void smo_cut(Smo *s, int64_t n, int64_t n_pairs) noexcept nogil
cdef Outcome smo_run(Smo *s, int64_t n_more) noexcept nogil
cdef void smo_recompute(Smo *s) noexcept nogil
cdef void smo_complete(Smo *s) noexcept nogil
cdef double smo_intercept(const Smo *s) noexcept nogil
cdef double smo_objective(const Smo *s) noexcept nogil
cdef double smo_gap(const Smo *s) noexcept nogil
cdef void smo_restore(Smo *s) noexcept nogil
cdef int64_t smo_gather(Smo *s) noexcept nogil
cdef void smo_wipe(Smo *s, int64_t n_known=*) noexcept nogil

cdef int map_solver(KernelCore core, Smo *s, str diagonal) except -1


cdef class SmoCore(KernelCore):
    cdef Smo smo
    cdef double C

    @cython.final
    cdef double noise_of(self, const Tiles *rows, int64_t n, const double *beta) noexcept nogil

    @cython.final
    cdef bint hides(self, double noise, const void *x) noexcept nogil

    @cython.final
    cdef double weighted(
        self, const Tiles *rows, int64_t n, const double *beta, double noise, const void *x
    ) noexcept nogil

    @cython.final
    cdef Status refuses(self, const void *x, double weight) noexcept nogil

    @cython.final
    cdef Status refuses_kernel(self, double k, double weight) noexcept nogil
