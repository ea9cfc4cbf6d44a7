# The state of the adiabatic solver; see _margin_set.pyx.

from libc.stdint cimport int8_t, int32_t, int64_t

from edgesvm.contract.kernel_core cimport KernelCore
from edgesvm.core.packed_factor cimport PackedFactor

cdef extern from "twin_passes.h" nogil:
    void twin_add(double a, const double *x, double *y, int64_t n) noexcept     # y += a x
    void twin_add_rows(
        const double *a, const double *x, int64_t stride, int64_t m, double *y, int64_t n) noexcept

cdef enum Outcome:
    REACHED = 0
    STUCK = 1       # the path cannot continue
    OVERFLOWED = 2  # the margin set would overflow its room

cdef enum:
    KEPT = 512      # kernel values that are kept of a sample, on the stack; none on a board

cdef struct Row:                # kernel values of a vector with the twins, kept for later
    int64_t n                   # with the first n of them
    double *k                   # (KEPT,)

cdef struct Solver:             # scalars of the arena, from "mu" on
    double mu                   # the margin, in units of g
    double b
    double lift                 # added to K, so that the factor exists
    int64_t n                   # number of twins
    int64_t m                   # number of twins on S
    int64_t n_path_events
    int64_t n_exchanges
    int64_t n_overflowed
    int64_t n_refactored
    int64_t n_refreshed
    int64_t n_from_scratch
    int64_t paths


cdef inline double plateau(int state, double s_minus, double s_plus) noexcept nogil:
    """coef on plateau 0, 2 or 4"""
    if state == 2:
        return s_plus - s_minus
    return s_plus if state == 0 else -s_minus


cdef class MarginSetCore(KernelCore):
    cdef readonly int64_t slots
    cdef Solver *solver
    cdef PackedFactor factor    # of the margin set
    cdef double *s_minus        # (slots,)
    cdef double *s_plus         # (slots,)
    cdef double *coef          # (slots,)
    cdef double *g              # (slots,): K coef + b
    cdef double *rate           # (slots,): TMP, of g
    cdef double *row            # (slots,): TMP, one row of K
    cdef int32_t *S             # (slots,): slots of the margin set
    cdef int8_t *state          # (slots,): 0, 2, 4 on a plateau; 1, 3 on a step
    cdef char *vectors          # (slots, n_features)

    cdef char *twin(self, int64_t i) noexcept nogil
    cdef double k_wide(self, const void *x, const void *z) noexcept nogil
    cdef void sums(self, const void *x, const void *rows, int64_t n, double *out) noexcept nogil
    cdef double norm(self, const void *x) noexcept nogil
    cdef double norm_of(self, int64_t i) noexcept nogil
    cdef void fill_row(self, const void *x, double *row) noexcept nogil
    cdef void fill_squares(self, int64_t i, int64_t first, double *row) noexcept nogil
    cdef void fill_known_row(self, const void *x, Row *known, double *row) noexcept nogil
    cdef double g_of(self, const void *x, Row *kept=*) noexcept nogil
    # What a regressor adds: its target at twin i, which g is measured from, and what a decision
    # value is measured in.
    cdef double target(self, int64_t i) noexcept nogil
    cdef double scale(self) noexcept nogil
    cdef int64_t place(self, const void *x, Row *known=*) noexcept nogil
    cdef int side(self, double g, bint lower, bint upper) noexcept nogil
    cdef void drop(self, int64_t i) noexcept nogil
    cdef const double *row_of(self, int64_t p) noexcept nogil
    cdef int64_t place_on_S(self, int64_t i) noexcept nogil
    cdef void step_bounds(self, int64_t i, double *low, double *high) noexcept nogil
    cdef double sensitivity(self, int64_t i, Row *known) noexcept nogil
    cdef Outcome enter(self, int64_t i, int step, int direction, Row *known=*) noexcept nogil
    cdef void leave(self, int64_t p, int to) noexcept nogil
    cdef bint exchange(self, int64_t i, int direction) noexcept nogil
    cdef Outcome restore_state(self, int64_t i) noexcept nogil
    cdef void refresh(self) noexcept nogil
    cdef void rebuild(self) noexcept nogil
    cdef void from_scratch(self) noexcept nogil
