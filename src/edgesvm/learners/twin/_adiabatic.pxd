# The adiabatic solver, as the two learners on it see it.

from libc.stdint cimport int8_t, int32_t, int64_t

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.kernels cimport Kernel
from edgesvm.core.linalg cimport real

# Weights of which sums, products and quotients are numbers.
cdef double LEAST_WEIGHT
cdef double LARGEST_WEIGHT

cdef enum Outcome:
    REACHED = 0
    STUCK = 1       # the path cannot go on
    OVERFLOWED = 2  # the margin set would outgrow its room

cdef struct Solver:             # scalars of the arena, from "mu" on
    double mu                   # the margin, in units of g
    double b
    double lift                 # added to K, for the factor's sake
    int64_t n                   # twins held
    int64_t m                   # of these, on S
    int64_t n_path_events
    int64_t n_exchanges
    int64_t n_overflowed
    int64_t n_refactored
    int64_t n_refreshed
    int64_t n_from_scratch
    int64_t paths

cdef struct Move:               # a twin whose weights change on a path
    int64_t slot
    double to_minus
    double to_plus
    double from_minus           # TMP, as all below: where it began
    double from_plus
    double loose_minus          # from where it went on
    double loose_plus
    double d_minus              # the change per unit of t
    double d_plus
    double rate                 # of gamma, while on a plateau
    int state                   # for which `rate` holds


cdef inline double distance(const real *x, const real *z, int64_t n) noexcept nogil:
    """((x - z) ** 2).sum() in float64"""
    cdef double a = 0.0, b = 0.0, u, v
    cdef int64_t i = 0
    while i + 2 <= n:
        u = <double> x[i] - <double> z[i]
        v = <double> x[i + 1] - <double> z[i + 1]
        a += u * u
        b += v * v
        i += 2
    if i < n:
        u = <double> x[i] - <double> z[i]
        a += u * u
    return a + b


cdef class AdiabaticCore(LearnerCore):
    cdef Kernel kernel
    cdef int64_t slots
    cdef int64_t row_bytes      # of one vector
    cdef int64_t pool_length
    cdef Solver *solver
    cdef double *s_minus        # (slots,)
    cdef double *s_plus         # (slots,)
    cdef double *gamma          # (slots,)
    cdef double *g              # (slots,): K gamma + b
    cdef double *off            # (slots,): TMP
    cdef double *rate           # (slots,): TMP, of g
    cdef double *push           # (slots,): TMP, of g by the twins that move and are not on S
    cdef double *row            # (slots,): TMP, one row of K
    cdef double *ones           # (slots,): L^-1 1
    cdef double *border         # (slots + 1,): TMP
    cdef double *solution       # (slots + 1,): TMP
    cdef double *pool           # (pool_length,): L from the front, rows of K from the back
    cdef int32_t *S             # (slots,): slots of the margin set
    cdef int8_t *state          # (slots,): 0, 2, 4 on a plateau; 1, 3 on a step
    cdef char *vectors          # (slots, n_features)

    cdef double k(self, const void *x, const void *z) noexcept nogil
    cdef double norm(self, const void *x) noexcept nogil
    cdef double norm_of(self, int64_t i) noexcept nogil
    cdef void fill_row(self, const void *x, double *row) noexcept nogil
    cdef void fill_typed(self, const real *x, const real *vectors, double *row) noexcept nogil
    cdef double g_of(self, const void *x) noexcept nogil
    cdef double g_typed(self, const real *x, const real *vectors) noexcept nogil
    cdef int64_t place(self, const void *x) noexcept nogil
    cdef int side(self, double g, bint lower, bint upper) noexcept nogil
    cdef void drop(self, int64_t i) noexcept nogil
    cdef double *row_at(self, int64_t p) noexcept nogil
    cdef int64_t rows_with(self, int64_t m) noexcept nogil
    cdef const double *row_of(self, int64_t p) noexcept nogil
    cdef int64_t place_on_S(self, int64_t i) noexcept nogil
    cdef void low_high(self, int64_t i, double *low, double *high) noexcept nogil
    cdef void solve(self) noexcept nogil
    cdef double sensitivity(self, int64_t i) noexcept nogil
    cdef void append(self, int64_t i, double delta) noexcept nogil
    cdef void leave(self, int64_t p, int to) noexcept nogil
    cdef void shrink_factor(self, int64_t p) noexcept nogil
    cdef void forward(self) noexcept nogil
    cdef Outcome enter(self, int64_t i, int step, int direction) noexcept nogil
    cdef bint exchange(self, int64_t i, int direction) noexcept nogil
    cdef Outcome follow(self, Move *moves, int count, double mu) noexcept nogil
    cdef void loosen(self, Move *moves, int count) noexcept nogil
    cdef Outcome settle(self, int64_t i) noexcept nogil
    cdef void walk_back(self, Move *moves, int count, double mu) noexcept nogil
    cdef bint is_sound(self) noexcept nogil
    cdef Outcome walk(self, Move *moves, int count, double mu) noexcept nogil
    cdef void arrive(self, Move *moves, int count) noexcept nogil
    cdef void begin(self, Move *moves, int count) noexcept nogil
    cdef void tell_sides_apart(self, int64_t i, double d_minus, double d_plus) noexcept nogil
    cdef void update_push(self, Move *moves, int count) noexcept nogil
    cdef double direct(self, double d_mu, double sum_rate) noexcept nogil
    cdef void sides(
        self, int64_t i, const Move *moves, int count, bint *lower, bint *upper
    ) noexcept nogil
    cdef void first_to_enter(
        self, double t, double d_mu, double hair, const Move *moves, int count,
        double *length, int64_t *twin, int *to, int *direction
    ) noexcept nogil
    cdef Outcome shift(self, double surplus, double t, const Move *moves, int count) noexcept nogil
    cdef void refresh(self) noexcept nogil
    cdef void from_scratch(self) noexcept nogil
    cdef void rebuild(self) noexcept nogil
