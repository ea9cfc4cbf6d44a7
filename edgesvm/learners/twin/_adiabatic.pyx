"""The adiabatic solver, compiled, and the learners on it: a weighted kernel SVM kept at its exact
optimum while its weights move.

Given are twins q_i with weights s+_i and s-_i of the two classes, and the margin mu = 1 / C. The
solver maintains the coefficients `coef` and b such that g(x) = sum_i coef_i k(q_i, x) + b satisfies
the Kuhn-Tucker conditions at every twin. They are a falling staircase in g_i = g(q_i) (f = g / mu
is the decision value):

    state 0, g < -mu:         coef =  s+
    state 1, g = -mu:         coef between s+ - s- and s+
    state 2, -mu < g < mu:    coef =  s+ - s-
    state 3, g = mu:          coef between -s- and s+ - s-
    state 4, g > mu:          coef = -s-                        and  sum_i coef_i = 0

A regressor has a target t_i at each twin, and g_i = g(q_i) - t_i.

With the paper's alpha, coef / mu = alpha+ - alpha-: C appears only in mu.

Twins on a step (states 1 and 3) are the margin set S. Their block of K is factored
(packed_factor.pyx): K_SS + lift is positive definite exactly when the bordered system is regular,
since the coefficients sum to 0. A row of K for which there is no room is recomputed when it is
needed: slower, with the same result. A twin whose kernel function is a linear combination of those
on S is exchanged with one of them along the null direction, where no g changes.

A path: while weights and mu move linearly with t from 0 to 1, coef_S and b follow from the bordered
system of the margin set, and every g from them. An event is a twin that reaches a step or the end
of its step. Rounding errors left in g (`off`) are reduced linearly to 0 on the same path. Time of
an event: O(n |S|).
"""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY, NAN, fabs, fmax, fmin, isfinite, signbit, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t
from libc.string cimport memcmp, memcpy, memmove, memset

from edgesvm.contract.kernel_core cimport KernelCore
from edgesvm.contract.sparse cimport Batch, row_at, scratch_for
from edgesvm.core.kernels cimport RBF
from edgesvm.core.linalg cimport add_scaled, dot, real
from edgesvm.core.packed_factor cimport (
    PackedFactor, factor_append, factor_complement, factor_drop_column, factor_has_room,
    factor_remove, factor_row, factor_rows, factor_solve, packed)
from edgesvm.core.rows cimport (
    ROWS_BLOCK, ROWS_WIDEST, any_kernel_sums, rows_block_dot, square_distances)
from edgesvm.core.status cimport BAD_TARGET, CHANGED, NOT_FINITE, UNCHANGED, Status
from edgesvm.core.tiles cimport kernel_of_sums
from edgesvm.learners._forgetting cimport Forgetting, after_a_drift, weight_left

from edgesvm.contract.core import changed
from edgesvm.errors import refusal

cdef extern from "twin_passes.h" nogil:
    void twin_add_rows(
        const double *a, const double *x, int64_t stride, int64_t m, double *y, int64_t n) noexcept
    void twin_offsets(
        const double *g, const int8_t *state, const double *minus, const double *plus, double mu,
        int64_t n, double *off) noexcept
    int64_t twin_near(
        const double *g, const double *rate, const double *off, const int8_t *state, int64_t j,
        int64_t n, double mu, double d_mu, double rest, double tolerance) noexcept
    int64_t twin_add_blocks(
        int kind, double gamma, int is_float32, const char *vectors, int64_t width,
        const int32_t *S, const double *a, int64_t p, int64_t m, double *y, int64_t n) noexcept
    double twin_weigh(
        double s, const double *minus, const double *plus, int64_t n, double most,
        double *row) noexcept
    double twin_lower(
        const double *row, const double *minus, const double *plus, int64_t n, int above,
        double most, double *bound) noexcept

cdef double DRIFT, EDGE, EVENT_TOLERANCE, GOLDEN, LARGEST_NORM, LARGEST_SQUARE, LARGEST_TARGET
cdef double LARGEST_WEIGHT, LEAST_NORM, LEAST_SHARE, LEAST_TOTAL, MAX_SHIFT, NOISE, NULL_TOLERANCE
cdef double OF_TWINS, OPEN_FOR, ROUNDING, SINGULAR, TIE
cdef int MANY_EXCHANGES, PLACES, POLISHES, SECTIONS
cdef int64_t MANY_EVENTS, REFRESH
from edgesvm.core.constants import LARGEST_NORM, LEAST_NORM
from edgesvm.learners.constants import LEAST_SHARE, LEAST_TOTAL, OF_TWINS, OPEN_FOR
from edgesvm.learners.twin.constants import (
    DRIFT, EDGE, EVENT_TOLERANCE, GOLDEN, LARGEST_SQUARE, LARGEST_TARGET,
    LARGEST_WEIGHT, MANY_EVENTS, MANY_EXCHANGES, MAX_SHIFT, NOISE, NULL_TOLERANCE, PLACES,
    POLISHES, REFRESH, ROUNDING, SECTIONS, SINGULAR, TIE)

cnp.import_array()

cpdef enum:
    CANDIDATES = 64     # pairs tested for one merge

cdef enum:
    CHUNK = 128     # kernel values at a time, on the stack
    KEPT = 512      # kernel values that are kept of a sample, on the stack; none on a board
    ROWS = 1000     # between two looks at signals

cdef double MAX_DISTORTION = 1e300  # larger than every distortion, and finite

cdef enum Outcome:
    REACHED = 0
    STUCK = 1       # the path cannot continue
    OVERFLOWED = 2  # the margin set would overflow its room

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

cdef struct Move:               # a twin whose weights change on a path
    int64_t slot
    double to_minus
    double to_plus
    Row *known                  # some of its row of K, or NULL
    double from_minus           # TMP, like all below: the weights at the start
    double from_plus
    double released_minus          # after release_unused_weight
    double released_plus
    double d_minus              # the change per unit of t
    double d_plus
    double rate                 # of coef, while on a plateau
    int state                   # for which `rate` holds

cdef struct Walk:               # a path in progress
    Move *moves
    int count
    double t
    double mu                   # at the end
    double d_mu
    double total                # sum of coef at the start
    double largest              # k(x, x) of a twin
    double farthest             # |target| of a twin
    double d_nu                 # of the scale of the targets
    double push_sum             # of the rates of coef on plateaus
    double push_size            # likewise, of their absolute values
    double db                   # of b

cdef struct Event:
    double length               # from here
    int64_t place               # on S of the twin that leaves, or -1
    int64_t twin                # that enters, or -1
    int to                      # its state then
    int direction               # in which its coef will move

cdef struct Edge:               # a step at the end of a twin's plateau
    double gap                  # of g
    double rate                 # at which it closes
    int to
    int direction


cdef inline double plateau(int state, double s_minus, double s_plus) noexcept nogil:
    """coef on plateau 0, 2 or 4"""
    if state == 2:
        return s_plus - s_minus
    return s_plus if state == 0 else -s_minus


cdef inline bint comes_first(
    double gap, double rate, double rest, double tolerance, double *length
) noexcept nogil:
    """Whether a gap closing at this rate is the next event, and then length to it.

    An event counts only if it is overrun by more than the tolerance before the end. Smaller gaps
    count as zero, so that coinciding events are handled in slot order whatever the rounding.
    """
    if not rate * rest > gap + tolerance:
        return False
    if gap <= tolerance:
        gap = 0.0
    if not gap < rate * length[0]:
        return False
    length[0] = gap / rate
    return True


cdef double distance(double f, double coef, double s_minus, double s_plus) noexcept nogil:
    """How far a twin is from the staircase, in f and coef as a share of its weight."""
    cdef double middle = s_plus - s_minus, weight = fmax(s_plus + s_minus, 1e-300)
    cdef double least = apart(f, -INFINITY, -1.0) + apart(coef, s_plus, s_plus) / weight
    least = fmin(least, fabs(f + 1.0) + apart(coef, middle, s_plus) / weight)
    least = fmin(least, apart(f, -1.0, 1.0) + apart(coef, middle, middle) / weight)
    least = fmin(least, fabs(f - 1.0) + apart(coef, -s_minus, middle) / weight)
    return fmin(least, apart(f, 1.0, INFINITY) + apart(coef, -s_minus, -s_minus) / weight)


cdef inline double apart(double x, double low, double high) noexcept nogil:
    return fmax(fmax(low - x, x - high), 0.0)


cdef class AdiabaticCore(KernelCore):
    """State, paths and checks; a learner adds when twins are added and removed."""
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
    cdef double *off            # (slots,): TMP
    cdef double *push           # (slots,): TMP, of g by the twins that move and are not on S

    def __init__(self, *common, kernel):
        super().__init__(*common, kernel=kernel)
        cdef PackedFactor *f = &self.factor
        self.slots = len(self.views["coef"])
        self.solver = <Solver *> self.array("mu")
        self.s_minus = <double *> self.array("s_minus")
        self.s_plus = <double *> self.array("s_plus")
        self.coef = <double *> self.array("coef")
        self.g = <double *> self.array("g")
        self.rate = <double *> self.array("rate")
        self.row = <double *> self.array("row")
        self.off = <double *> self.array("off")
        self.push = <double *> self.array("push")
        self.S = <int32_t *> self.array("S")
        self.state = <int8_t *> self.array("state")
        self.vectors = self.array("vectors")
        self.decides_in_blocks = True
        f.pool, f.length = <double *> self.array("pool"), len(self.views["pool"])
        f.width, f.order, f.lift = self.slots, &self.solver.m, &self.solver.lift
        f.ones = <double *> self.array("ones")
        f.border = <double *> self.array("border")
        f.solution = <double *> self.array("solution")

    # -- kernel values -----------------------------------------------------------------------------

    cdef char *twin(self, int64_t i) noexcept nogil:
        return self.vectors + i * self.row_bytes

    cdef double k_wide(self, const void *x, const void *z) noexcept nogil:
        """k(x, z), summed in float64 like the rows of K"""
        cdef double value
        self.k_rows(x, z, 1, &value)
        return value

    cdef void sums(self, const void *x, const void *rows, int64_t n, double *out) noexcept nogil:
        """out[i], of which k(x, rows[i]) is a function: `kernel_of_sums`"""
        any_kernel_sums(&self.kernel, self.is_float32, x, rows, self.n_features, n, out)

    cdef double norm(self, const void *x) noexcept nogil:
        """k(x, x), or NaN if the sample must be refused"""
        cdef double k_xx = 1.0 if self.kernel.kind == RBF else self.k_wide(x, x)
        return k_xx if self.square_norm(x) <= LARGEST_SQUARE and k_xx <= LARGEST_NORM else NAN

    cdef double norm_of(self, int64_t i) noexcept nogil:
        """k(q_i, q_i)"""
        if self.kernel.kind == RBF:
            return 1.0
        return self.k_wide(self.twin(i), self.twin(i))

    cdef void fill_row(self, const void *x, double *row) noexcept nogil:
        """row[j] = k(x, q_j)"""
        self.k_rows(x, self.vectors, self.solver.n, row)

    cdef void fill_squares(self, int64_t i, int64_t first, double *row) noexcept nogil:
        """row[j - first] = |q_i - q_j|^2, from j = first on"""
        if self.is_float32:
            square_distances(<const float *> self.twin(i), <const float *> self.twin(first),
                             self.n_features, self.solver.n - first, row)
        else:
            square_distances(<const double *> self.twin(i), <const double *> self.twin(first),
                             self.n_features, self.solver.n - first, row)

    cdef void fill_known_row(self, const void *x, Row *known, double *row) noexcept nogil:
        """`fill_row`, where some of it may be known, or none (NULL)."""
        cdef int64_t first = 0, n = self.solver.n
        if known != NULL:
            first = known.n
            memcpy(row, known.k, first * sizeof(double))
        self.k_rows(x, self.twin(first), n - first, row + first)
        if known != NULL and n <= KEPT:
            memcpy(known.k + first, row + first, (n - first) * sizeof(double))
            known.n = n

    cdef double g_of(self, const void *x, Row *kept=NULL) noexcept nogil:
        """g at x; its kernel values are kept, if there is room for all."""
        cdef double here[CHUNK]
        cdef double *k = here
        cdef double g = 0.0
        cdef int64_t j = 0, count
        cdef bint keeps = kept != NULL and self.solver.n <= KEPT
        while j < self.solver.n:
            count = min(self.solver.n - j, <int64_t> CHUNK)
            if keeps:
                k = kept.k + j
            self.k_rows(x, self.twin(j), count, k)
            g += dot(k, self.coef + j, count)
            j += count
        if keeps:
            kept.n = j
        return g + self.solver.b

    cdef double target(self, int64_t i) noexcept nogil:
        """Of a regressor: what g is measured from at twin i."""
        return 0.0

    cdef double scale(self) noexcept nogil:
        """What a decision value is measured in."""
        return self.solver.mu

    cdef int64_t held(self, const char **vectors) noexcept nogil:
        vectors[0] = self.vectors
        return self.solver.n

    cdef bint refuses_to_decide(self, const void *x) noexcept nogil:
        return not isfinite(self.norm(x))

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        if self.refuses_to_decide(x):
            return NOT_FINITE
        value[0] = self.g_of(x) / self.scale()
        return UNCHANGED

    cdef int64_t decide_block(
        self, const void *x, const void *squares, int64_t n, double *values
    ) noexcept nogil:
        cdef double[ROWS_BLOCK * ROWS_WIDEST] turned
        cdef double[ROWS_BLOCK * CHUNK] k
        cdef double[ROWS_BLOCK] part
        cdef int64_t c, count, j = 0
        if not self.turn(x, n, turned):
            return 0
        for c in range(ROWS_BLOCK):
            values[c] = 0.0
        while j < self.solver.n:
            count = min(self.solver.n - j, <int64_t> CHUNK)
            self.k_block(turned, self.vectors, j, count, k)
            rows_block_dot(self.coef + j, k, count, part)
            for c in range(ROWS_BLOCK):
                values[c] += part[c]
            j += count
        for c in range(ROWS_BLOCK):
            values[c] = (values[c] + self.solver.b) / self.scale()
        return ROWS_BLOCK

    # -- adding and removing twins -----------------------------------------------------------------

    cdef int64_t place(self, const void *x, Row *known=NULL) noexcept nogil:
        """Add a twin without weight; return its slot. `known`: some of its row, or NULL."""
        cdef Solver *v = self.solver
        cdef int64_t p, i = v.n
        cdef int64_t n_rows = factor_rows(&self.factor, v.m)
        memmove(self.twin(i), x, self.row_bytes)
        v.n += 1
        self.fill_known_row(self.twin(i), known, self.row)
        self.g[i] = dot(self.row, self.coef, i) + v.b
        for p in range(n_rows):
            factor_row(&self.factor, p)[i] = self.row[self.S[p]]
        self.s_minus[i] = self.s_plus[i] = self.coef[i] = 0.0
        self.state[i] = self.side(self.g[i], True, True)
        return i

    cdef int side(self, double g, bint lower, bint upper) noexcept nogil:
        """The plateau of a twin without weight that has a lower step, an upper step, or both."""
        cdef double edge = self.solver.mu * (1.0 - EVENT_TOLERANCE)
        return 0 if lower and g < -edge else 4 if upper and g > edge else 2

    cdef void drop(self, int64_t i) noexcept nogil:
        """Remove a twin without weight; later ones move down by one."""
        cdef Solver *v = self.solver
        cdef int64_t p, behind = v.n - i - 1, n_bytes = behind * sizeof(double)
        if self.state[i] % 2:
            self.leave(self.place_on_S(i), 2)
        memmove(self.twin(i), self.twin(i + 1), behind * self.row_bytes)
        memmove(self.s_minus + i, self.s_minus + i + 1, n_bytes)
        memmove(self.s_plus + i, self.s_plus + i + 1, n_bytes)
        memmove(self.coef + i, self.coef + i + 1, n_bytes)
        memmove(self.g + i, self.g + i + 1, n_bytes)
        memmove(self.state + i, self.state + i + 1, behind)
        factor_drop_column(&self.factor, i, v.n)
        for p in range(v.m):
            self.S[p] -= self.S[p] > i
        v.n -= 1
        if v.n == 0:
            v.b = 0.0

    # -- the margin set ----------------------------------------------------------------------------

    cdef const double *row_of(self, int64_t p) noexcept nogil:
        """The row of the twin at place p of S; recomputed if there is no room for it."""
        if p < factor_rows(&self.factor, self.solver.m):
            return factor_row(&self.factor, p)
        self.fill_row(self.twin(self.S[p]), self.row)
        return self.row

    cdef int64_t place_on_S(self, int64_t i) noexcept nogil:
        cdef int64_t p
        for p in range(self.solver.m):
            if self.S[p] == i:
                return p
        return 0

    cdef void step_bounds(self, int64_t i, double *low, double *high) noexcept nogil:
        """Smallest and largest coef on twin i's step."""
        low[0] = plateau(self.state[i] + 1, self.s_minus[i], self.s_plus[i])
        high[0] = plateau(self.state[i] - 1, self.s_minus[i], self.s_plus[i])

    cdef double sensitivity(self, int64_t i, Row *known) noexcept nogil:
        """Fill `row` with that of twin i; return its Schur complement in K_SS + lift."""
        cdef Solver *v = self.solver
        cdef int64_t p
        self.fill_known_row(self.twin(i), known, self.row)
        if v.m == 0:
            v.lift = self.row[i] if self.row[i] > LEAST_NORM else 1.0
        for p in range(v.m):
            self.factor.border[1 + p] = self.row[self.S[p]] + v.lift
        return factor_complement(&self.factor, self.row[i])

    cdef void leave(self, int64_t p, int to) noexcept nogil:
        """Move the twin at place p of S to plateau `to`; later ones move up."""
        cdef Solver *v = self.solver
        cdef int64_t j, n_rows, i = self.S[p]
        self.state[i] = to
        self.coef[i] = plateau(to, self.s_minus[i], self.s_plus[i])
        memmove(self.S + p, self.S + p + 1, (v.m - 1 - p) * sizeof(int32_t))
        n_rows = factor_remove(&self.factor, p)
        for j in range(n_rows, factor_rows(&self.factor, v.m)):
            self.fill_row(self.twin(self.S[j]), factor_row(&self.factor, j))

    cdef Outcome enter(
        self, int64_t i, int step, int direction, Row *known=NULL
    ) noexcept nogil:
        """Twin i reaches a step; its coef will move in `direction`. `known`: some of its row, or
        NULL.

        If its kernel function is a linear combination of those on S, it is exchanged with one of
        them along the null direction, in which no g changes.
        """
        cdef Solver *v = self.solver
        cdef double delta
        cdef int _tries
        self.state[i] = step
        for _tries in range(MANY_EXCHANGES):
            delta = self.sensitivity(i, known)
            if delta > SINGULAR * (self.row[i] + v.lift):
                if not factor_has_room(&self.factor):
                    self.state[i] = step + direction
                    return OVERFLOWED
                self.S[v.m] = <int32_t> i
                factor_append(&self.factor, delta, self.row, v.n)
                return REACHED
            if not self.exchange(i, direction):
                return REACHED
        self.state[i] = step + direction
        return STUCK

    cdef bint exchange(self, int64_t i, int direction) noexcept nogil:
        """Move along the null direction until a twin on S leaves; False: twin i is through."""
        cdef Solver *v = self.solver
        cdef double *u = self.factor.solution
        cdef int64_t p, j, first = -1
        cdef int end = 0
        cdef double low, high, room, gap, rate, move
        v.n_exchanges += 1
        self.factor.border[0] = 1.0
        for p in range(v.m):
            self.factor.border[1 + p] = self.row[self.S[p]]
        factor_solve(&self.factor)
        self.step_bounds(i, &low, &high)
        room = high - self.coef[i] if direction > 0 else self.coef[i] - low
        for p in range(v.m):
            j = self.S[p]
            rate = -direction * u[1 + p]
            self.step_bounds(j, &low, &high)
            gap = fmax(high - self.coef[j] if rate > 0 else self.coef[j] - low, 0.0)
            if fabs(rate) > NULL_TOLERANCE and gap < room * fabs(rate):
                room, first, end = gap / fabs(rate), p, self.state[j] + (-1 if rate > 0 else 1)
        move = direction * room
        self.coef[i] += move
        v.b -= move * u[0]
        add_scaled(move, self.row, self.g, v.n)
        for j in range(v.n):
            self.g[j] -= move * u[0]
        for p in range(v.m):  # the last use of `row`
            self.coef[self.S[p]] -= move * u[1 + p]
            add_scaled(-move * u[1 + p], self.row_of(p), self.g, v.n)
        if first >= 0:
            self.leave(first, end)
            return True
        self.state[i] -= direction
        self.coef[i] = plateau(self.state[i], self.s_minus[i], self.s_plus[i])
        return False

    cdef Outcome restore_state(self, int64_t i) noexcept nogil:
        """Set the state of a twin from its weights, coef and g."""
        cdef double mu = self.solver.mu
        cdef double low = -self.s_minus[i], high = self.s_plus[i], middle = high + low
        if low < self.coef[i] < middle:
            return self.enter(i, 3, 1)
        if middle < self.coef[i] < high:
            return self.enter(i, 1, 1)
        if self.coef[i] == middle:
            self.state[i] = 2
            if middle == high and self.g[i] < -mu and low < 0.0:
                self.state[i] = 0
            elif middle == low and self.g[i] > mu and high > 0.0:
                self.state[i] = 4
        else:
            self.state[i] = 0 if self.coef[i] >= high else 4
        return REACHED

    # -- recomputing -------------------------------------------------------------------------------

    cdef void refresh(self) noexcept nogil:
        """Recompute g from its definition."""
        cdef Solver *v = self.solver
        cdef int64_t i
        v.n_refreshed += 1
        for i in range(v.n):
            self.g[i] = v.b - self.target(i)
        for i in range(v.n):
            if self.coef[i] != 0.0:
                self.fill_row(self.twin(i), self.row)
                add_scaled(self.coef[i], self.row, self.g, v.n)

    cdef void rebuild(self) noexcept nogil:
        """Rebuild the margin set: all twins whose coef is strictly between two plateaus."""
        cdef Solver *v = self.solver
        cdef int64_t i
        v.m = 0
        for i in range(v.n):
            self.state[i] = 2
            self.coef[i] = fmax(-self.s_minus[i], fmin(self.coef[i], self.s_plus[i]))
        for i in range(v.n):
            if self.restore_state(i) != REACHED:
                self.state[i] += self.state[i] % 2

    cdef void from_scratch(self) noexcept nogil:
        """Solve by sequential minimal optimisation from coef = 0, then rebuild the margin set."""
        cdef Solver *v = self.solver
        cdef int64_t i, j, c, left = 10000 + 2000 * v.n
        cdef double up, down, highest = 0.0, lowest = 0.0, middle, top, bottom, curve, step
        v.n_from_scratch += 1
        for i in range(v.n):
            self.coef[i] = 0.0
            self.g[i] = 0.0 - self.target(i)
        while left:
            left -= 1
            i = j = -1
            highest, lowest = -INFINITY, INFINITY
            for c in range(v.n):
                middle = self.s_plus[c] - self.s_minus[c]
                up = (v.mu if self.coef[c] < middle else -v.mu) - self.g[c]
                down = (-v.mu if self.coef[c] > middle else v.mu) - self.g[c]
                if self.coef[c] < self.s_plus[c] and up > highest:
                    highest, i = up, c
                if self.coef[c] > -self.s_minus[c] and down < lowest:
                    lowest, j = down, c
            if i < 0 or j < 0 or not highest - lowest > 1e-3 * EVENT_TOLERANCE * v.mu:
                break
            middle = self.s_plus[i] - self.s_minus[i]
            top = middle if self.coef[i] < middle else self.s_plus[i]
            middle = self.s_plus[j] - self.s_minus[j]
            bottom = middle if self.coef[j] > middle else -self.s_minus[j]
            self.fill_row(self.twin(i), self.row)
            self.fill_row(self.twin(j), self.rate)
            curve = fmax(self.row[i] + self.rate[j] - 2.0 * self.row[j],
                         1e-14 * (self.row[i] + self.rate[j]))
            step = (highest - lowest) / curve
            if step < top - self.coef[i] and step < self.coef[j] - bottom:
                self.coef[i] += step
                self.coef[j] -= step
            elif top - self.coef[i] <= self.coef[j] - bottom:
                step = top - self.coef[i]
                self.coef[i] = top
                self.coef[j] -= step
            else:
                step = self.coef[j] - bottom
                self.coef[i] += step
                self.coef[j] = bottom
            for c in range(v.n):
                self.g[c] += step * (self.row[c] - self.rate[c])
        if isfinite(highest) and isfinite(lowest):
            v.b = 0.5 * (highest + lowest)
        else:
            v.b = highest if isfinite(highest) else lowest if isfinite(lowest) else 0.0
        self.refresh()
        self.rebuild()
        if not self.is_sound():
            self.empty_margin()

    cdef void empty_margin(self) noexcept nogil:
        """What rounding cannot break: no twin is on a step, each coef is that of a plateau."""
        cdef Solver *v = self.solver
        cdef int64_t i
        v.m, v.b = 0, 0.0
        for i in range(v.n):
            self.state[i] = 2 if self.s_minus[i] > 0.0 and self.s_plus[i] > 0.0 else (
                4 if self.s_minus[i] == 0.0 else 0)
            self.coef[i] = plateau(self.state[i], self.s_minus[i], self.s_plus[i])
        self.refresh()

    # -- paths -------------------------------------------------------------------------------------

    cdef Outcome follow(self, Move *moves, int count, double mu) noexcept nogil:
        """Move the weights of some twins and mu linearly to new values, keeping the KT conditions.

        If the path cannot continue, everything is solved from scratch. If the margin set would
        overflow its room, the path is undone and nothing has changed (OVERFLOWED).
        """
        cdef Solver *v = self.solver
        cdef Outcome outcome
        cdef double mu_before = v.mu
        cdef int polish
        v.paths += 1
        if v.paths % REFRESH == 0:
            self.refresh()
        self.release_unused_weight(moves, count)
        outcome = self.walk(moves, count, mu)
        for polish in range(POLISHES):
            if outcome != REACHED or self.is_consistent():
                break
            self.refresh()
            if polish:
                v.n_refactored += 1
                self.rebuild()
            outcome = self.walk(NULL, 0, mu)
        if outcome == STUCK or (outcome == REACHED and not self.is_sound()):
            self.solve_at(moves, count, mu)
            return REACHED
        if outcome == OVERFLOWED:
            v.n_overflowed += 1
            self.walk_back(moves, count, mu_before)
        return outcome

    cdef void solve_at(self, const Move *moves, int count, double mu) noexcept nogil:
        """Set the weights at the end of a path and solve from scratch."""
        cdef int c
        for c in range(count):
            self.s_minus[moves[c].slot] = moves[c].to_minus
            self.s_plus[moves[c].slot] = moves[c].to_plus
        self.solver.mu = mu
        self.from_scratch()

    cdef void walk_back(self, Move *moves, int count, double mu) noexcept nogil:
        """Restore the weights; the margin set had room on the way here."""
        cdef Outcome outcome
        cdef int c
        cdef int64_t i
        for c in range(count):
            moves[c].to_minus, moves[c].to_plus = moves[c].released_minus, moves[c].released_plus
        outcome = self.walk(moves, count, mu)
        for c in range(count):
            i = moves[c].slot
            moves[c].to_minus, moves[c].to_plus = moves[c].from_minus, moves[c].from_plus
            self.s_minus[i], self.s_plus[i] = moves[c].from_minus, moves[c].from_plus
            if outcome == REACHED and self.state[i] % 2 == 0:
                outcome = self.restore_state(i)
        if outcome != REACHED:
            self.solve_at(moves, count, mu)

    cdef void release_unused_weight(self, Move *moves, int count) noexcept nogil:
        """Reduce the weight of a twin that goes to what its coefficient uses, off the margin."""
        cdef int c
        cdef int64_t i
        for c in range(count):
            i = moves[c].slot
            moves[c].from_minus, moves[c].from_plus = self.s_minus[i], self.s_plus[i]
            if moves[c].to_minus == 0.0 and moves[c].to_plus == 0.0:
                self.s_minus[i] = fmax(-self.coef[i], 0.0)
                self.s_plus[i] = fmax(self.coef[i], 0.0)
                if self.state[i] % 2:
                    self.leave(self.place_on_S(i), 2)
            moves[c].released_minus, moves[c].released_plus = self.s_minus[i], self.s_plus[i]

    cdef bint is_consistent(self) noexcept nogil:
        """Whether the maintained g agrees with its definition, at two twins on S."""
        cdef Solver *v = self.solver
        cdef int64_t p = 0
        cdef double aim, g
        while p < v.m:
            aim = v.mu if self.state[self.S[p]] == 3 else -v.mu
            g = dot(self.row_of(p), self.coef, v.n) + v.b - self.target(self.S[p])
            if not fabs(g - aim) <= DRIFT * v.mu:
                return False
            if p == v.m - 1:
                break
            p = v.m - 1
        return True

    cdef Outcome walk(self, Move *moves, int count, double mu) noexcept nogil:
        """Follow one path from event to event."""
        cdef Walk walk
        cdef Event event
        cdef Outcome outcome
        cdef double surplus
        cdef int64_t _event
        self.begin(&walk, moves, count, mu)
        for _event in range(MANY_EVENTS * (self.solver.n + 4) - 1):
            self.plateau_rates(&walk)
            if self.solver.m == 0:
                surplus = walk.push_sum - walk.total
                if fabs(surplus) > ROUNDING * self.size(&walk):
                    outcome = self.shift(surplus, &walk)
                    if outcome == REACHED:
                        continue
                    if outcome == OVERFLOWED:
                        return OVERFLOWED
            self.direct(&walk)
            self.first_event(&walk, &event)
            self.advance(&walk, event.length, event.place < 0 and event.twin < 0)
            if event.place < 0 and event.twin < 0:
                return REACHED
            self.solver.n_path_events += 1
            if event.twin < 0:
                self.leave(event.place, event.to)
                continue
            outcome = self.enter(
                event.twin, event.to, event.direction, self.known_row(&walk, event.twin))
            if outcome != REACHED:
                return outcome
        return STUCK

    # -- at the start ------------------------------------------------------------------------------

    cdef void begin(self, Walk *walk, Move *moves, int count, double mu) noexcept nogil:
        """Set rates, sides and offsets at t = 0."""
        cdef int64_t i
        cdef int c
        cdef double total = 0.0
        walk.moves, walk.count, walk.t = moves, count, 0.0
        walk.mu, walk.d_mu = mu, mu - self.solver.mu
        walk.farthest = walk.d_nu = 0.0
        for c in range(count):
            i = moves[c].slot
            moves[c].d_minus = moves[c].to_minus - self.s_minus[i]
            moves[c].d_plus = moves[c].to_plus - self.s_plus[i]
            moves[c].rate, moves[c].state = 0.0, -1
            self.resolve_sides(i, moves[c].d_minus, moves[c].d_plus)
        twin_offsets(self.g, self.state, self.s_minus, self.s_plus, self.solver.mu, self.solver.n,
                     self.off)
        memset(self.push, 0, self.solver.n * sizeof(double))
        for i in range(self.solver.n):
            total += self.coef[i]
        walk.total, walk.largest = total, 1.0
        if self.kernel.kind != RBF:
            walk.largest = 0.0
            for i in range(self.solver.n):
                walk.largest = fmax(walk.largest, self.norm_of(i))

    cdef void resolve_sides(self, int64_t i, double d_minus, double d_plus) noexcept nogil:
        """A twin without weight of one class has no step there; choose its plateau first."""
        if self.s_plus[i] == 0.0 and self.state[i] % 2 == 0 and self.state[i] > 0:
            self.state[i] = self.side(self.g[i], False, d_plus > 0.0)
        if self.s_minus[i] == 0.0 and self.state[i] % 2 == 0 and self.state[i] < 4:
            self.state[i] = self.side(self.g[i], d_minus > 0.0, False)

    cdef Row *known_row(self, const Walk *walk, int64_t i) noexcept nogil:
        """What is known of the row of twin i, or NULL"""
        cdef int c
        for c in range(walk.count):
            if walk.moves[c].slot == i:
                return walk.moves[c].known
        return NULL

    # -- rates -------------------------------------------------------------------------------------

    cdef void plateau_rates(self, Walk *walk) noexcept nogil:
        """The rate of coef of each moving twin on a plateau; push = their effect on g."""
        cdef Move *move
        cdef int c, state
        cdef double rate
        walk.push_sum = walk.push_size = 0.0
        for c in range(walk.count):
            move = walk.moves + c
            state = self.state[move.slot]
            if state != move.state:
                rate = 0.0 if state % 2 else plateau(state, move.d_minus, move.d_plus)
                if rate != move.rate:
                    self.fill_known_row(self.twin(move.slot), move.known, self.row)
                    add_scaled(rate - move.rate, self.row, self.push, self.solver.n)
                move.rate, move.state = rate, state
            walk.push_sum += move.rate
            walk.push_size += fabs(move.rate)

    cdef double size(self, const Walk *walk) noexcept nogil:
        """The rounding error of a sum of coefficients and rates, in units of `ROUNDING`"""
        cdef double size = walk.push_size
        cdef int64_t i
        for i in range(self.solver.n):
            size += fabs(self.coef[i])
        return size

    cdef void direct(self, Walk *walk) noexcept nogil:
        """The rates of b, coef_S and g per unit of t: db, solution[1:] and rate."""
        cdef Solver *v = self.solver
        cdef double *border = self.factor.border
        cdef double *rate = self.rate
        cdef const double *push = self.push
        cdef int64_t i, p, n_rows = factor_rows(&self.factor, v.m)
        if v.m == 0:
            walk.db = 0.0
            memcpy(self.rate, self.push, v.n * sizeof(double))
            return
        border[0] = -walk.total - walk.push_sum
        for p in range(v.m):
            i = self.S[p]
            border[1 + p] = (
                (walk.d_mu if self.state[i] == 3 else -walk.d_mu) - self.off[i] - self.push[i])
        factor_solve(&self.factor)
        walk.db = self.factor.solution[0]
        for i in range(v.n):
            rate[i] = push[i] + walk.db
        twin_add_rows(self.factor.solution + 1, factor_row(&self.factor, 0), -self.factor.width,
                      n_rows, self.rate, v.n)
        n_rows = twin_add_blocks(
            self.kernel.kind, self.kernel.gamma, self.is_float32, self.vectors, self.n_features,
            self.S, self.factor.solution + 1, n_rows, v.m, self.rate, v.n)
        for p in range(n_rows, v.m):
            add_scaled(self.factor.solution[1 + p], self.row_of(p), self.rate, v.n)

    # -- events ------------------------------------------------------------------------------------

    cdef void first_event(self, const Walk *walk, Event *event) noexcept nogil:
        """The distance to the first event, and which; none if the end comes first."""
        event.length, event.place, event.twin = 1.0 - walk.t, -1, -1
        event.to = event.direction = 0
        self.first_to_leave(walk, event)
        self.first_to_enter(walk, event)

    cdef void first_to_leave(self, const Walk *walk, Event *event) noexcept nogil:
        """The twin on a step that reaches an end of it before the first event so far, if any."""
        cdef Solver *v = self.solver
        cdef const Move *move
        cdef int64_t i, p
        cdef int c
        cdef double low, high, d_low, d_high, step, size, rest = 1.0 - walk.t
        for p in range(v.m):
            i, step = self.S[p], self.factor.solution[1 + p]
            size = fabs(self.coef[i]) + fabs(step) + (
                fabs(self.factor.border[1 + p] - walk.db) + 0.01 * fabs(walk.db)) / (
                    self.norm_of(i) + v.lift)
            self.step_bounds(i, &low, &high)
            d_low, d_high = 0.0, 0.0
            for c in range(walk.count):
                move = walk.moves + c
                if move.slot == i:
                    d_low = plateau(self.state[i] + 1, move.d_minus, move.d_plus)
                    d_high = plateau(self.state[i] - 1, move.d_minus, move.d_plus)
            if comes_first(high - self.coef[i], step - d_high, rest, ROUNDING * size,
                           &event.length):
                event.place, event.to = p, self.state[i] - 1
            if comes_first(self.coef[i] - low, d_low - step, rest, ROUNDING * size,
                           &event.length):
                event.place, event.to = p, self.state[i] + 1

    cdef void first_to_enter(self, const Walk *walk, Event *event) noexcept nogil:
        """The twin on a plateau that reaches a step before the first event found so far, if any."""
        cdef double rest = 1.0 - walk.t, mu = self.solver.mu, d_mu = fabs(walk.d_mu)
        cdef double tolerance = self.tolerance(walk)
        cdef Edge edges[2]
        cdef int64_t i = -1, n = self.solver.n
        cdef int c
        while True:
            i = twin_near(self.g, self.rate, self.off, self.state, i + 1, n, mu, d_mu, rest,
                          tolerance)
            if i == n:
                break
            for c in range(self.edges(walk, i, self.rate[i], edges)):
                if comes_first(edges[c].gap, edges[c].rate, rest, tolerance, &event.length):
                    event.twin = i
                    event.to, event.direction = edges[c].to, edges[c].direction

    cdef double tolerance(self, const Walk *walk) noexcept nogil:
        """How far g may pass a step before it is an event."""
        cdef double size, sums = 0.0
        cdef int64_t i
        for i in range(self.solver.n):
            size = fabs(self.coef[i])
            sums += size if self.kernel.kind == RBF else size * sqrt(self.norm_of(i))
        return EVENT_TOLERANCE * self.solver.mu + NOISE * (
            sqrt(walk.largest) * sums + walk.farthest)

    cdef int edges(self, const Walk *walk, int64_t i, double dg, Edge *edges) noexcept nogil:
        """The steps next to a twin's plateau that it has or gets; return how many, at most two."""
        cdef double g = self.g[i], off = self.off[i], rest = 1.0 - walk.t, up, down
        cdef double mu = self.solver.mu, d_mu = walk.d_mu
        cdef bint lower = self.s_minus[i] > 0.0, upper = self.s_plus[i] > 0.0
        cdef int c, count = 0
        for c in range(walk.count):
            if walk.moves[c].slot == i:
                lower |= walk.moves[c].d_minus > 0.0
                upper |= walk.moves[c].d_plus > 0.0
        if self.state[i] == 0 and lower:
            edges[0] = Edge(-mu + off * rest - g, dg + d_mu + off, 1, -1)
            count = 1
        elif self.state[i] == 4 and upper:
            edges[0] = Edge(g - mu - off * rest, d_mu - dg - off, 3, 1)
            count = 1
        elif self.state[i] == 2:
            up, down = fmax(off, 0.0), fmin(off, 0.0)
            if upper:
                edges[count] = Edge(mu + up * rest - g, dg - d_mu + up, 3, -1)
                count += 1
            if lower:
                edges[count] = Edge(g + mu - down * rest, -dg - d_mu - down, 1, 1)
                count += 1
        return count

    cdef void advance(self, Walk *walk, double length, bint arrived) noexcept nogil:
        """Move to the event, or to the end."""
        cdef Solver *v = self.solver
        cdef const Move *move
        cdef int64_t i, p
        cdef int c
        for p in range(v.m):
            self.coef[self.S[p]] += length * self.factor.solution[1 + p]
        add_scaled(length, self.rate, self.g, v.n)
        v.b += length * walk.db
        v.mu = walk.mu if arrived else v.mu + length * walk.d_mu
        walk.t += length
        for c in range(walk.count):
            move = walk.moves + c
            i = move.slot
            self.s_minus[i] = move.to_minus if arrived else self.s_minus[i] + length * move.d_minus
            self.s_plus[i] = move.to_plus if arrived else self.s_plus[i] + length * move.d_plus
            if self.state[i] % 2 == 0:
                self.coef[i] = plateau(self.state[i], self.s_minus[i], self.s_plus[i])

    cdef Outcome shift(self, double surplus, const Walk *walk) noexcept nogil:
        """No twin is on a step: move b until one reaches a step."""
        cdef Solver *v = self.solver
        cdef Edge edges[2]
        cdef Edge nearest
        cdef int64_t i, twin = -1
        cdef int c
        cdef double move
        nearest.gap = INFINITY
        for i in range(v.n):
            for c in range(self.edges(walk, i, 0.0, edges)):
                if edges[c].direction * surplus < 0.0 and edges[c].gap < nearest.gap:
                    nearest, twin = edges[c], i
        if twin < 0:
            return STUCK
        move = fmax(nearest.gap, 0.0) if surplus > 0.0 else -fmax(nearest.gap, 0.0)
        v.b += move
        for i in range(v.n):
            self.g[i] += move
        v.n_path_events += 1
        return self.enter(twin, nearest.to, nearest.direction)

    # -- checks ------------------------------------------------------------------------------------

    def kt_residual(self):
        """Largest violation of the KT conditions, from the definition."""
        return self.residual()

    def solve_from_scratch(self):
        """For tests."""
        self.from_scratch()

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = KernelCore.fault(self)
        cdef Solver *v = self.solver
        cdef int64_t i
        cdef double total = 0.0, most = fabs(v.b)
        if found != NULL:
            return found
        if v.n > self.slots or v.m > v.n or packed(v.m) > self.factor.length:
            return b"there are more twins than room"
        if v.mu == 0.0 and (v.n > 0 or self.n_learned() > 0):
            return b"the margin is zero"
        for i in range(v.n):
            if self.s_minus[i] + self.s_plus[i] == 0.0:
                return b"a twin has no weight"
            if not isfinite(self.norm(self.twin(i))):
                return b"a twin is too large"
            total += self.s_minus[i] + self.s_plus[i]
            most += fabs(self.coef[i]) * sqrt(self.norm_of(i)) * sqrt(LARGEST_NORM)
        if not total <= LARGEST_WEIGHT or (v.n == 0 and v.b != 0.0):
            return b"the weights are too large, or b is of no twin"
        if self.scale() > 0.0 and not isfinite(most / self.scale()):
            return b"a decision value may not be finite"
        return self.fault_of_solution()

    cdef const char *fault_of_solution(self) noexcept nogil:
        """Margin twins, a factor, coefficients and values that do not belong together."""
        cdef const char *found
        cdef int64_t i, p, q, left = self.solver.m
        for i in range(self.solver.n):
            left -= self.state[i] % 2
        for p in range(self.solver.m):
            if left or not 0 <= self.S[p] < self.solver.n or self.state[self.S[p]] % 2 == 0:
                return b"the margin set does not match the states"
            for q in range(p):
                if self.S[q] == self.S[p]:
                    return b"the margin set does not match the states"
        if left:
            return b"the margin set does not match the states"
        found = self.fault_of_coefficients()
        return self.fault_of_factor() if found == NULL else found

    cdef const char *fault_of_coefficients(self) noexcept nogil:
        """Coefficients beyond their weights, or b and g that do not match the twins, up to
        rounding. How near the optimum they are is not checked: of features or weights of very
        different size, rounding can leave a solver far from it."""
        cdef double noise, longest
        cdef int64_t i
        if not self.is_within_bounds(&noise, &longest):
            return b"a coefficient or b is beyond its bounds"
        if noise > 1e-3 * self.solver.mu:   # beyond what float64 resolves
            noise *= 1e6
        for i in range(self.solver.n):
            if not fabs(self.g_now(i) - self.g[i]) <= noise:
                return b"the decision values do not match the twins"
        return NULL

    cdef bint is_sound(self) noexcept nogil:
        """Whether the solution can be saved; what float64 resolves is not looked at closely."""
        cdef double noise, longest
        return self.is_within_bounds(&noise, &longest) and (
            (noise <= 1e-3 * self.solver.mu and SINGULAR * longest * longest <= self.solver.lift)
            or self.fault_of_solution() == NULL)

    cdef bint is_within_bounds(self, double *noise, double *longest) noexcept nogil:
        """Whether b and the coefficients are those of some solution, which a path over twins of
        very different size may leave; then how far rounding can have moved g, and |phi(q)| of the
        longest twin."""
        cdef Solver *v = self.solver
        cdef int64_t i
        cdef double sums = 0.0, size = 0.0, length, heaviest = 0.0, farthest = 0.0
        longest[0] = 0.0
        # |g| <= sum |coef_i| |phi(q_i)| times the longest phi(q); on its way here a coefficient may
        # have been as large as its weight.
        for i in range(v.n):
            length = sqrt(self.norm_of(i))
            sums += (fabs(self.coef[i]) + 1e-3 * (self.s_minus[i] + self.s_plus[i])) * length
            size += fabs(self.coef[i]) * length
            longest[0] = fmax(longest[0], length)
            heaviest = fmax(heaviest, fmax(self.s_minus[i], self.s_plus[i]))
            farthest = fmax(farthest, fabs(self.target(i)))
        for i in range(v.n):
            if not apart(self.coef[i], -self.s_minus[i], self.s_plus[i]) <= 1e-9 * heaviest:
                return False
        noise[0] = 1e-6 * v.mu + 1e-12 * (sums * longest[0] + fabs(v.b) + farthest)
        # one twin at least has -mu <= g <= mu, or had it when b moved last
        return v.n == 0 or fabs(v.b) <= 1e3 * (v.mu + size * longest[0] + farthest)

    cdef double g_now(self, int64_t i) noexcept nogil:
        """g at twin i, from its definition"""
        return self.g_of(self.twin(i)) - self.target(i)

    cdef double residual(self) noexcept nogil:
        """How far the pairs (f_i, coef_i) are from the staircase, and sum(coef) from 0"""
        cdef int64_t i, n = self.solver.n
        cdef double f, worst = 0.0, total = 0.0, weight = 0.0
        for i in range(n):
            f = self.g_now(i) / self.solver.mu
            worst = fmax(worst, distance(f, self.coef[i], self.s_minus[i], self.s_plus[i]))
            total += self.coef[i]
            weight += self.s_minus[i] + self.s_plus[i]
        return fmax(worst, fabs(total) / fmax(weight, 1e-300))

    cdef const char *fault_of_factor(self) noexcept nogil:
        """L L^T that is not K_SS + lift, or stored rows that are not rows of K"""
        cdef Solver *v = self.solver
        cdef const double *L
        cdef const double *pool = self.factor.pool
        cdef int64_t p, q, n_rows = factor_rows(&self.factor, v.m)
        cdef double ones, size, square
        if v.m > 0 and not 0.0 < v.lift <= LARGEST_NORM:
            return b"the lift of the factor is out of range"
        for p in range(v.m):
            L = pool + packed(p)
            ones, size = -1.0, 1.0
            for q in range(p + 1):
                ones += L[q] * self.factor.ones[q]
                size += fabs(L[q] * self.factor.ones[q])
            if not (L[p] > 0.0 and fabs(ones) < fmax(1e-3, 1e-12 * size)):
                return b"the factor does not match the margin set"
            square = self.norm_of(self.S[p]) + v.lift
            for q in range(p + 1):
                if not fabs(dot(L, pool + packed(q), q + 1) - v.lift
                            - self.k_wide(self.twin(self.S[p]), self.twin(self.S[q]))
                            ) <= 1e-9 * sqrt(square * (self.norm_of(self.S[q]) + v.lift)):
                    return b"the factor does not match the margin set"
            for q in range(v.n if p < n_rows else 0):
                if factor_row(&self.factor, p)[q] != (
                        self.k_wide(self.twin(self.S[p]), self.twin(q))):
                    return b"the kernel rows do not match the twins"
        return NULL


cdef struct TwinCounters:       # from "n_accepted" on
    int64_t n_accepted
    int64_t n_absorbed
    int64_t n_merged
    int64_t n_removed
    int64_t n_rejected
    int64_t n_forced

cdef struct Pair:
    double distortion
    int64_t i
    int64_t j


cdef void between(
    const real *x, const real *z, double part, real *q, int64_t n_features
) noexcept nogil:
    """q = x + part * (z - x)"""
    cdef int64_t j
    for j in range(n_features):
        q[j] = <real> (<double> x[j] + part * (<double> z[j] - <double> x[j]))


cdef inline bint is_after(Pair pair, Pair other) noexcept nogil:
    """By distortion, then by slots"""
    if pair.distortion != other.distortion:
        return pair.distortion > other.distortion
    return pair.i > other.i or (pair.i == other.i and pair.j > other.j)


cdef inline int insert_sorted(Pair *pairs, int count, Pair pair) noexcept nogil:
    """Put a pair behind all that are not above it; return how many there are then."""
    cdef int low = 0, high = count
    while low < high:
        if pair.distortion < pairs[(low + high) // 2].distortion:
            high = (low + high) // 2
        else:
            low = (low + high) // 2 + 1
    count = min(count + 1, <int> CANDIDATES)
    memmove(pairs + low + 1, pairs + low, (count - 1 - low) * sizeof(Pair))
    pairs[low] = pair
    return count


@cython.final
cdef class TwinVectorMachineCore(AdiabaticCore):
    """Algorithms 1 to 3 of Wang & Vucetic 2009.

    One path adds a new sample, removes the twins that make room for it, and changes C accordingly
    (UpdateTVM). The pair to merge is the one of smallest distortion that passes the test of 4.2.4.
    """
    cdef readonly double C, m1, m2, eta
    cdef readonly bint in_feature_space, one_sided, rejection, as_printed, control_C
    cdef readonly int64_t max_twins
    cdef readonly bint forgets
    cdef readonly double half_life      # 0: drifts say when
    cdef Forgetting *forgetting
    cdef TwinCounters *counters
    # (slots,): a lower bound on the distortion of this twin's pairs. If `one_sided`, of those on
    # the side of the boundary that its sign tells: minus, if only of -0, for g <= 0.
    cdef double *distortion_bound

    def __init__(self, *common, C, m1, m2, eta, merge, merge_side, rejection, control_C, forgetting,
                 kernel):
        super().__init__(*common, kernel=kernel)
        self.C, self.m1, self.m2, self.eta = C, m1, m2, eta
        self.in_feature_space = merge == "feature"
        self.one_sided, self.control_C = merge_side == "one", control_C
        self.rejection, self.as_printed = bool(rejection), rejection == "paper"
        self.forgets, self.half_life = forgetting >= 0.0, forgetting
        self.max_twins = self.slots - 2
        self.counters = <TwinCounters *> self.array("n_accepted")
        self.distortion_bound = <double *> self.array("distortion_bound")
        if self.forgets:
            self.forgetting = <Forgetting *> self.array("n_drifts")

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef int64_t i
        cdef double values[KEPT]
        cdef Row row
        cdef Outcome outcome
        row.n, row.k = 0, values
        if not isfinite(self.norm(x)):
            return NOT_FINITE
        if self.solver.n == 0:
            self.solver.mu = self.mu_for(weight)
        if not self.beneficial(x, y, &row):
            return UNCHANGED
        self.counters.n_accepted += 1
        i = self.twin_at(x)
        if i >= 0:
            self.counters.n_absorbed += 1
            outcome = self.absorb(i, y, weight)
        else:
            outcome = self.update_twins(x, y, weight, &row)
        if outcome == OVERFLOWED:
            outcome = self.merge_on_margin()
        return CHANGED if outcome == REACHED else UNCHANGED

    cdef bint beneficial(self, const void *x, double y, Row *kept) noexcept nogil:
        """Algorithm 2; after a drift an error is beneficial too. What is held is aged before."""
        cdef bint full = self.solver.n == self.max_twins, near
        cdef double g
        if self.solver.n == 0 or not (full or self.forgets):
            return True
        g = self.g_of(x, kept)
        near = fabs(g) <= self.m1 * self.solver.mu * (1.0 + EDGE)
        if self.forgets:
            self.forget(y * g <= 0.0)
        return near or not full or self.is_open(y * g)

    cdef void forget(self, bint is_wrong) noexcept nogil:
        """Age what is held before a sample about which it was wrong or not."""
        cdef double part = weight_left(self.forgetting, self.half_life, OF_TWINS, is_wrong)
        if part < 1.0:
            self.age(part)

    cdef bint is_open(self, double yg) noexcept nogil:
        """Whether a sample is learned, however far it is from the margin."""
        return self.forgets and yg <= 0.0 and after_a_drift(self.forgetting, OPEN_FOR)

    cdef void age(self, double part) noexcept nogil:
        """Multiply the weight of all that is held by a power of 2: the same solution, exactly."""
        cdef Solver *v = self.solver
        cdef int64_t i
        cdef double total = 0.0
        for i in range(v.n):
            total += self.weight_of(i)
        if not total * part > LEAST_TOTAL:
            return
        for i in range(v.n):
            if self.weight_of(i) > LEAST_SHARE:
                self.s_minus[i] *= part
                self.s_plus[i] *= part
                self.coef[i] *= part
            self.g[i] *= part
            self.distortion_bound[i] *= part
        v.b *= part
        v.mu *= part

    cdef int64_t twin_at(self, const void *x) noexcept nogil:
        """The twin equal to the new sample, or -1."""
        cdef int64_t i
        cdef const char *q = self.vectors
        for i in range(self.solver.n):
            if q[0] == (<const char *> x)[0] and memcmp(q, x, self.row_bytes) == 0:
                return i
            q += self.row_bytes
        return -1

    cdef Outcome absorb(self, int64_t i, double y, double weight) noexcept nogil:
        """Add the weight of a sample to the twin equal to it."""
        cdef Move move
        self.add_weight(&move, i, y, weight)
        return self.update(&move, 1)

    cdef Outcome update_twins(
        self, const void *x, double y, double weight, Row *known
    ) noexcept nogil:
        """Algorithm 3: make room by removing a twin far from the margin, or by a merge."""
        cdef Move moves[4]
        cdef Move *last
        cdef double values[KEPT]
        cdef Row merged
        cdef TwinCounters before = self.counters[0]
        cdef int n_removed = 0, n_placed = 1
        cdef int64_t i, k = 0
        merged.n, merged.k = 0, values
        if self.solver.n == self.max_twins:
            for i in range(self.solver.n):
                if fabs(self.g[i]) > fabs(self.g[k]):
                    k = i
            if (fabs(self.g[k]) > self.m2 * self.solver.mu * (1.0 + EDGE)
                    or self.max_twins == 1):
                self.counters.n_removed += 1
                moves[0].slot, n_removed = k, 1
                moves[0].to_minus = moves[0].to_plus = 0.0
                moves[0].known = NULL
            elif self.merge(moves, False, &merged):
                n_removed, n_placed = 2, 2
            else:
                return STUCK    # the new sample is ignored
        last = &moves[n_removed + n_placed - 1]
        self.add_weight(last, self.place(x, known), y, weight)
        last.known = known
        return self.change(moves, n_removed, n_placed, &before)

    cdef Outcome change(
        self, Move *moves, int n_removed, int n_placed, const TwinCounters *before
    ) noexcept nogil:
        """Follow one path, then remove the first `n_removed`; if undone, those placed last."""
        cdef Outcome outcome = self.update(moves, n_removed + n_placed)
        cdef int c, first = 0, last = n_removed
        cdef int64_t behind
        if outcome == OVERFLOWED:
            first, last = n_removed, n_removed + n_placed
            self.counters.n_merged = before.n_merged
            self.counters.n_removed = before.n_removed
            self.counters.n_forced = before.n_forced
        else:
            for c in range(n_removed, n_removed + n_placed):
                self.set_bound(moves[c].slot, MAX_DISTORTION)
            for c in range(n_removed, n_removed + n_placed):
                self.measure(moves[c].slot)
        for c in range(last - 1, first - 1, -1):
            behind = self.solver.n - moves[c].slot - 1
            memmove(self.distortion_bound + moves[c].slot,
                    self.distortion_bound + moves[c].slot + 1,
                    behind * sizeof(double))
            self.drop(moves[c].slot)
        return outcome

    cdef double fill_distortions(self, int64_t i, int64_t first) noexcept nogil:
        """row[j], j >= first: the distortions of twins i and j. Returns the least of them."""
        cdef int64_t j, n = self.solver.n - first
        cdef double k_ii = self.norm_of(i), least
        cdef double *row = self.row + first
        cdef bint itself = first <= i
        if self.in_feature_space:
            self.k_rows(self.twin(i), self.twin(first), n, row)
            for j in range(n):
                row[j] = k_ii + self.norm_of(first + j) - 2.0 * row[j]
        else:
            self.fill_squares(i, first, row)
        if itself:
            self.row[i] = INFINITY
        least = twin_weigh(self.weight_of(i), self.s_minus + first, self.s_plus + first, n,
                           MAX_DISTORTION, row)
        if itself:
            self.row[i] = MAX_DISTORTION
        return least

    cdef void measure(self, int64_t i) noexcept nogil:
        """Update `distortion_bound` for twin i, which is new or on another side than before."""
        self.fill_distortions(i, 0)
        self.set_bound(i, twin_lower(
            self.row, self.s_minus, self.s_plus, self.solver.n, self.counts_as_above(i),
            MAX_DISTORTION, self.distortion_bound))

    cdef bint counts_as_above(self, int64_t i) noexcept nogil:
        return not self.one_sided or self.g[i] > 0.0

    cdef void set_bound(self, int64_t i, double bound) noexcept nogil:
        self.distortion_bound[i] = bound if self.counts_as_above(i) else -bound

    cdef void keep_sides(self) noexcept nogil:
        """Measure the twins that are not on the side any more for which their bounds hold."""
        cdef int64_t i
        for i in range(self.solver.n if self.one_sided else 0):
            if (self.g[i] > 0.0) == (signbit(self.distortion_bound[i]) != 0):
                self.measure(i)

    cdef Outcome merge_on_margin(self) noexcept nogil:
        """The margin set has no room: drop the new sample and merge two margin twins instead."""
        cdef Move moves[3]
        cdef double values[KEPT]
        cdef Row merged
        cdef TwinCounters before = self.counters[0]
        if self.solver.m < 2 or self.solver.n < 3:
            return OVERFLOWED
        merged.n, merged.k = 0, values
        self.merge(moves, True, &merged)
        return self.change(moves, 2, 1, &before)

    cdef void add_weight(self, Move *move, int64_t i, double y, double weight) noexcept nogil:
        move.slot, move.to_minus, move.to_plus = i, self.s_minus[i], self.s_plus[i]
        move.known = NULL
        if y > 0:
            move.to_plus += weight
        else:
            move.to_minus += weight

    cdef Outcome update(self, Move *moves, int count) noexcept nogil:
        """UpdateTVM: follow one path, keeping C * sum(s) constant if C is controlled."""
        cdef int64_t i
        cdef int c
        cdef double minus = 0.0, plus = 0.0, total
        for i in range(self.solver.n):
            minus += self.s_minus[i]
            plus += self.s_plus[i]
        total = minus + plus
        for c in range(count):
            i = moves[c].slot
            total += moves[c].to_minus + moves[c].to_plus - self.s_minus[i] - self.s_plus[i]
        return self.follow(moves, count, self.mu_for(total))

    cdef double mu_for(self, double total) noexcept nogil:
        """1 / C for this sum of all weights (4.3)"""
        return total / (self.C * self.max_twins) if self.control_C else 1.0 / self.C

    # -- merging -----------------------------------------------------------------------------------

    cdef double weight_of(self, int64_t i) noexcept nogil:
        return self.s_minus[i] + self.s_plus[i]

    cdef bint merge(self, Move *moves, bint of_margin, Row *kept) noexcept nogil:
        """Merge the best pair that passes the test, else the best; as printed, none (False)."""
        cdef Pair pairs[CANDIDATES]
        cdef int best = 0
        self.keep_sides()
        if self.as_printed and not of_margin:
            if not self.first_accepted(pairs):
                return False
        elif of_margin or not (self.nearest(pairs) and (
                not self.rejection or self.passes(pairs[0].i, pairs[0].j, kept))):
            best = self.first_passing(pairs, self.candidates(pairs, of_margin), kept)
        self.merge_pair(moves, pairs[best].i, pairs[best].j, kept)
        return True

    cdef bint passes(self, int64_t i, int64_t j, Row *kept) noexcept nogil:
        """Whether a pair passes the test and hardly shifts the decision function"""
        cdef char *q = self.twin(self.solver.n)
        return self.join(i, j, q, kept) < self.eta and self.is_gentle(i, j, q)

    cdef int first_passing(self, const Pair *pairs, int count, Row *kept) noexcept nogil:
        """The first pair that passes and is gentle; else that passes; else of least error."""
        cdef int c, best = 0
        cdef int64_t i, j
        cdef double error, least = INFINITY
        cdef bint passed = False
        cdef char *q = self.twin(self.solver.n)
        for c in range(count):
            i, j = pairs[c].i, pairs[c].j
            self.blend(i, j, q)
            if passed and not self.is_gentle(i, j, q):  # which takes less than its error
                self.counters.n_rejected += 1
                continue
            error = self.error(i, j, q, kept)
            if not self.rejection or error < self.eta:
                if not self.rejection or passed or self.is_gentle(i, j, q):
                    return c
                best, passed = c, True
            elif not passed and error < least * (1.0 - TIE):
                best, least = c, error
            self.counters.n_rejected += 1
        self.counters.n_forced += not passed
        kept.n = 0
        return best

    cdef bint first_accepted(self, Pair *found) noexcept nogil:
        """The pair of smallest distortion that may be merged, by `distortion_bound`."""
        cdef Pair pairs[CANDIDATES]
        cdef Pair after
        cdef int c, count
        after.distortion, after.i, after.j = -1.0, 0, 0
        while True:
            count = self.search(pairs, self.one_sided, False, after)
            for c in range(count):
                if self.join(pairs[c].i, pairs[c].j, self.twin(self.solver.n), NULL) < self.eta:
                    found[0] = pairs[c]
                    return True
                self.counters.n_rejected += 1
            if count < CANDIDATES:
                self.fill_distortions(self.solver.n - 1, 0)     # what a full search leaves
                return False
            after = pairs[count - 1]

    cdef void merge_pair(self, Move *moves, int64_t i, int64_t j, Row *known) noexcept nogil:
        """moves[0] and moves[1] are the two, in order of their slots; moves[2] is the new one."""
        cdef int64_t new = self.solver.n
        self.counters.n_merged += 1
        self.blend(i, j, self.twin(new))
        self.place(self.twin(new), known)
        moves[0].known, moves[1].known, moves[2].known = NULL, NULL, known
        moves[0].slot, moves[0].to_minus, moves[0].to_plus = i, 0.0, 0.0
        moves[1].slot, moves[1].to_minus, moves[1].to_plus = j, 0.0, 0.0
        moves[2].slot = new
        moves[2].to_minus = self.s_minus[i] + self.s_minus[j]
        moves[2].to_plus = self.s_plus[i] + self.s_plus[j]

    cdef bint may_merge(self, int64_t i, int64_t j, bint one_sided, bint of_margin) noexcept nogil:
        if of_margin and not (self.state[i] % 2 and self.state[j] % 2):
            return False
        return not one_sided or (self.g[i] > 0.0) == (self.g[j] > 0.0)

    cdef bint nearest(self, Pair *best) noexcept nogil:
        """The pair of smallest distortion that may be merged, if there is one; thanks to
        `distortion_bound` most twins need not be examined."""
        cdef int64_t i, j
        best.distortion = MAX_DISTORTION
        for i in range(self.solver.n):
            if not fabs(self.distortion_bound[i]) < best.distortion:
                continue
            self.fill_distortions(i, 0)
            j = self.nearest_of(i, 0, MAX_DISTORTION)
            self.set_bound(i, self.row[j] if j >= 0 else MAX_DISTORTION)
            if j >= 0 and j < i:
                j = self.nearest_of(i, i + 1, best.distortion)
            if j >= 0 and self.row[j] < best.distortion:
                best.distortion, best.i, best.j = self.row[j], i, j
        return best.distortion < MAX_DISTORTION

    cdef int64_t nearest_of(self, int64_t i, int64_t first, double most) noexcept nogil:
        """The twin from `first` on that i may be merged with of least distortion, or -1."""
        cdef bint is_above = self.g[i] > 0.0
        cdef int64_t j, found = -1
        for j in range(first, self.solver.n):
            if self.row[j] < most and (not self.one_sided or (self.g[j] > 0.0) == is_above):
                most, found = self.row[j], j
        return found

    cdef int candidates(self, Pair *pairs, bint of_margin) noexcept nogil:
        """The pairs of smallest distortion, ascending, of one side of the boundary if any."""
        cdef int count = 0
        cdef Pair after
        after.distortion, after.i, after.j = -1.0, 0, 0
        if self.one_sided:
            count = self.search(pairs, True, of_margin, after)
        return count if count else self.search(pairs, False, of_margin, after)

    cdef int search(
        self, Pair *pairs, bint one_sided, bint of_margin, Pair after
    ) noexcept nogil:
        """The CANDIDATES pairs that come next after `after`, by distortion, then by slots."""
        cdef int64_t i, j, n = self.solver.n
        cdef int count = 0
        cdef Pair pair
        cdef double most = INFINITY     # what comes in is below it, once all are there
        cdef bint bounded = one_sided == self.one_sided
        for i in range(n):
            if bounded and fabs(self.distortion_bound[i]) >= most:
                continue
            self.fill_distortions(i, i + 1)
            for j in range(i + 1, n):
                pair.distortion, pair.i, pair.j = self.row[j], i, j
                if not fabs(self.row[j]) < most or not (
                        self.may_merge(i, j, one_sided, of_margin) and is_after(pair, after)):
                    continue
                count = insert_sorted(pairs, count, pair)
                if count == CANDIDATES:
                    most = pairs[count - 1].distortion
        return count

    cdef double join(self, int64_t i, int64_t j, char *q, Row *kept) noexcept nogil:
        """Write the merged vector to q; return its `error`."""
        self.blend(i, j, q)
        return self.error(i, j, q, kept)

    cdef double error(self, int64_t i, int64_t j, const void *q, Row *kept) noexcept nogil:
        """The relative error of g at the merged vector q against the line between the two"""
        cdef double s_i = self.weight_of(i), s_j = self.weight_of(j), expected
        expected = (s_i * self.g[i] + s_j * self.g[j]) / (s_i + s_j)
        return fabs(self.g_of(q, kept) - expected) / fmax(fabs(expected), 1e-300)

    cdef bint is_gentle(self, int64_t i, int64_t j, const void *q) noexcept nogil:
        """Whether g at q moves by at most MAX_SHIFT when q gets the coefficients of the two."""
        cdef double u = self.coef[i], v = self.coef[j], k_qq, square
        cdef double k[3]        # of i and j, q and i, q and j
        k_qq = 1.0 if self.kernel.kind == RBF else self.k_wide(q, q)
        self.sums(self.twin(i), self.twin(j), 1, k)
        self.sums(q, self.twin(i), 1, k + 1)
        self.sums(q, self.twin(j), 1, k + 2)
        kernel_of_sums(&self.kernel, k, 3)
        square = (u * u * self.norm_of(i) + v * v * self.norm_of(j) + (u + v) * (u + v) * k_qq
                  + 2.0 * u * v * k[0] - 2.0 * (u + v) * (u * k[1] + v * k[2]))
        return sqrt(fmax(square, 0.0) * k_qq) <= MAX_SHIFT * self.solver.mu

    cdef void blend(self, int64_t i, int64_t j, char *q) noexcept nogil:
        """Write the vector between the two with the smallest distortion to q."""
        cdef double s_i = self.weight_of(i), s_j = self.weight_of(j)
        self.mix(i, j, self.on_the_line(i, j, q) if self.in_feature_space else s_j / (s_i + s_j), q)

    cdef void mix(self, int64_t i, int64_t j, double part, char *q) noexcept nogil:
        if self.is_float32:
            between(<float *> self.twin(i), <float *> self.twin(j), part, <float *> q,
                    self.n_features)
        else:
            between(<double *> self.twin(i), <double *> self.twin(j), part, <double *> q,
                    self.n_features)

    cdef double cost(self, int64_t i, int64_t j, double part, char *q) noexcept nogil:
        """Distortion in feature space of the twin at `part` of the line, up to a constant."""
        self.mix(i, j, part, q)
        return ((self.weight_of(i) + self.weight_of(j)) * self.k_wide(q, q)
                - 2.0 * (self.weight_of(i) * self.k_wide(q, self.twin(i))
                         + self.weight_of(j) * self.k_wide(q, self.twin(j))))

    cdef double on_the_line(self, int64_t i, int64_t j, char *q) noexcept nogil:
        """The place on the line from q_i to q_j of smallest distortion in feature space."""
        cdef int c, _c, best = 0
        cdef double low, high, a, b, cost, least = 1e300
        for c in range(PLACES):
            cost = self.cost(i, j, c / (PLACES - 1.0), q)
            if cost < least - TIE * fabs(least):
                best, least = c, cost
        low = max(best - 1, 0) / (PLACES - 1.0)
        high = min(best + 1, PLACES - 1) / (PLACES - 1.0)
        for _c in range(SECTIONS):
            a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            if self.cost(i, j, a, q) <= self.cost(i, j, b, q):
                high = b
            else:
                low = a
        return 0.5 * (low + high)

    cdef const char *fault(self) noexcept nogil:
        if self.solver.n > self.max_twins:
            return b"there are more twins than are allowed"
        return AdiabaticCore.fault(self)


cdef enum WhenFull:
    LEAST_NEEDED = 0
    OLDEST = 1
    IGNORE = 2

cdef struct WindowCounters:     # from "n_unlearned" on
    int64_t n_unlearned
    int64_t n_forgotten
    int64_t n_ignored


cdef class IncrementalDecrementalSVMCore(AdiabaticCore):
    """Cauwenberghs & Poggio 2000: one path for each sample learned or unlearned and each change of
    C.

    A sample is a twin with weight on one side only. When there is no room, the sample chosen by
    `when_full` is removed on the same path that adds the new one.
    """
    cdef readonly WhenFull when_full
    cdef readonly int64_t max_vectors
    cdef readonly double C
    cdef WindowCounters *counters

    def __init__(self, *common, C, when_full, kernel):
        super().__init__(*common, kernel=kernel)
        self.C = C
        self.when_full = {"oldest": OLDEST, "ignore": IGNORE}.get(when_full, LEAST_NEEDED)
        self.max_vectors = self.slots - 1
        self.counters = <WindowCounters *> self.array("n_unlearned")
        if self.solver.mu == 0.0:
            self.solver.mu = 1.0 / C

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef Move moves[2]
        cdef int count = 0
        if not isfinite(self.norm(x)):
            return NOT_FINITE
        if self.solver.n == self.max_vectors:
            if self.when_full == IGNORE:
                self.counters.n_ignored += 1
                return UNCHANGED
            moves[0].slot = 0 if self.when_full == OLDEST else self.least_needed()
            moves[0].to_minus = moves[0].to_plus = 0.0
            moves[0].known = NULL
            count = 1
        moves[count].known = NULL
        self.take(x, y, weight, &moves[count])
        if self.follow(moves, count + 1, self.solver.mu) == OVERFLOWED:
            self.drop(moves[count].slot)
            return UNCHANGED
        if count:
            self.counters.n_forgotten += 1
            self.drop(moves[0].slot)
        return CHANGED

    cdef void take(self, const void *x, double y, double weight, Move *move) noexcept nogil:
        """Place a new sample, and say which weights it is to get."""
        move.slot = self.place(x)
        move.to_minus = 0.0 if y > 0 else weight
        move.to_plus = weight if y > 0 else 0.0

    cdef int64_t least_needed(self) noexcept nogil:
        """The vector farthest on the correct side; the first learned of equals."""
        cdef int64_t i, best = 0
        cdef double g, most = 0.0
        for i in range(self.solver.n):
            g = self.g[i] if self.s_plus[i] > 0.0 else -self.g[i]
            if i == 0 or g > most + TIE * self.solver.mu:
                most, best = g, i
        return best

    def unlearn(self, int64_t index):
        """Unlearn one sample; False if the margin set would have overflowed its room."""
        cdef Move move
        move.slot = index
        move.to_minus = move.to_plus = 0.0
        move.known = NULL
        if self.follow(&move, 1, self.solver.mu) == OVERFLOWED:
            return False
        self.drop(index)
        self.counters.n_unlearned += 1
        return True

    def set_C(self, double C):
        """Change C; False if the margin set would have overflowed its room."""
        return self.follow(NULL, 0, 1.0 / C) != OVERFLOWED

    cdef const char *fault(self) noexcept nogil:
        if self.solver.n > self.max_vectors:
            return b"there are more vectors than are allowed"
        if not fabs(self.solver.mu * self.C - 1.0) < 1e-9:
            return b"the margin is not that of C"
        return AdiabaticCore.fault(self)


cdef struct Scale:              # from "nu" on
    double nu                   # 1 / C
    double nu_to                # at the end of the path


@cython.final
cdef class IncrementalDecrementalSVRCore(IncrementalDecrementalSVMCore):
    """Ma, Theiler & Perkins 2003; Martin 2002: the same path, for support vector regression.

    A sample with target y and weight s is a twin with the weight s on both sides. With nu = 1 / C,
    what is measured at it is g = K coef + b - nu y, and mu = epsilon nu:

        g < -mu:         coef =  s
        g = -mu:         coef between 0 and s
        -mu < g < mu:    coef =  0
        g = mu:          coef between -s and 0
        g > mu:          coef = -s

    f = (K coef + b) / nu is the prediction. Another epsilon moves mu, another C moves mu and nu;
    the weights stay.
    """
    cdef readonly double epsilon
    cdef Scale *units
    cdef double *targets        # (slots,): y

    def __init__(self, *common, C, epsilon, when_full, kernel):
        super().__init__(*common, C=C, when_full=when_full, kernel=kernel)
        self.regresses, self.epsilon = True, epsilon
        self.units = <Scale *> self.array("nu")
        self.targets = <double *> self.array("targets")
        if self.units.nu == 0.0:
            self.units.nu = self.units.nu_to = 1.0 / C
            self.solver.mu = epsilon / C

    # -- samples -----------------------------------------------------------------------------------

    cdef double target(self, int64_t i) noexcept nogil:
        return self.units.nu * self.targets[i]

    cdef double scale(self) noexcept nogil:
        return self.units.nu

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        if not fabs(y) <= LARGEST_TARGET:
            return BAD_TARGET
        return IncrementalDecrementalSVMCore.step(self, x, y, weight)

    cdef void take(self, const void *x, double y, double weight, Move *move) noexcept nogil:
        cdef int64_t i = self.place(x)
        self.targets[i] = y
        self.g[i] -= self.target(i)
        self.state[i] = self.side(self.g[i], True, True)
        move.slot = i
        move.to_minus = move.to_plus = weight

    cdef void drop(self, int64_t i) noexcept nogil:
        memmove(self.targets + i, self.targets + i + 1, (self.solver.n - i - 1) * sizeof(double))
        IncrementalDecrementalSVMCore.drop(self, i)

    cdef int64_t least_needed(self) noexcept nogil:
        """The sample whose error is smallest; the first learned of equals."""
        cdef int64_t i, best = 0
        for i in range(1, self.solver.n):
            if fabs(self.g[i]) < fabs(self.g[best]) - TIE * self.solver.mu:
                best = i
        return best

    # -- paths -------------------------------------------------------------------------------------

    def set_C(self, double C):
        """Change C; False if the margin set would have overflowed its room."""
        self.units.nu_to = 1.0 / C
        if self.follow(NULL, 0, self.epsilon / C) == OVERFLOWED:
            return False
        self.C = C
        return True

    def set_epsilon(self, double epsilon):
        """Change epsilon; False if the margin set would have overflowed its room."""
        if self.follow(NULL, 0, epsilon / self.C) == OVERFLOWED:
            return False
        self.epsilon = epsilon
        return True

    cdef void begin(self, Walk *walk, Move *moves, int count, double mu) noexcept nogil:
        cdef int64_t i
        IncrementalDecrementalSVMCore.begin(self, walk, moves, count, mu)
        walk.d_nu = self.units.nu_to - self.units.nu
        for i in range(self.solver.n):
            self.push[i] = -walk.d_nu * self.targets[i]
            walk.farthest = fmax(walk.farthest, fabs(self.target(i)))

    cdef void advance(self, Walk *walk, double length, bint arrived) noexcept nogil:
        IncrementalDecrementalSVMCore.advance(self, walk, length, arrived)
        if arrived:
            self.units.nu = self.units.nu_to
        else:
            self.units.nu += length * walk.d_nu

    cdef void solve_at(self, const Move *moves, int count, double mu) noexcept nogil:
        self.units.nu = self.units.nu_to
        IncrementalDecrementalSVMCore.solve_at(self, moves, count, mu)

    cdef void walk_back(self, Move *moves, int count, double mu) noexcept nogil:
        self.units.nu_to = 1.0 / self.C
        IncrementalDecrementalSVMCore.walk_back(self, moves, count, mu)

    cdef const char *fault(self) noexcept nogil:
        cdef int64_t i
        if self.solver.n > self.max_vectors:
            return b"there are more vectors than are allowed"
        if not (self.units.nu == self.units.nu_to and fabs(self.units.nu * self.C - 1.0) < 1e-9):
            return b"the scale is not that of C"
        if not fabs(self.solver.mu - self.epsilon * self.units.nu) < 1e-9 * self.solver.mu:
            return b"the margin is not that of epsilon"
        for i in range(self.solver.n):
            if self.s_minus[i] != self.s_plus[i]:
                return b"a sample's weights are not the same on both sides"
        return AdiabaticCore.fault(self)


cdef struct SimpleCounters:     # from "n_forgotten" on
    int64_t n_forgotten
    int64_t n_ignored
    int64_t converged


@cython.final
cdef class SimpleSVMCore(AdiabaticCore):
    """Vishwanathan, Smola & Murty 2003: an active set that takes in one violator at a time.

    A sample is a twin with weight on one side only. The coefficients of the working set S, which
    are free, move towards the solution of their linear system until one reaches a bound and leaves;
    when all have arrived, the stored sample that violates most enters.
    """
    cdef readonly double C
    cdef readonly bint forgets
    cdef SimpleCounters *counters
    cdef int64_t *number        # (slots,): row of the data, or sample of the stream
    cdef readonly int64_t n_moves

    def __init__(self, *common, C, when_full, kernel):
        super().__init__(*common, kernel=kernel)
        self.C, self.forgets = C, when_full == "oldest"
        self.counters = <SimpleCounters *> self.array("n_forgotten")
        self.number = <int64_t *> self.array("number")
        if self.solver.mu == 0.0:
            self.solver.mu = 1.0 / C

    # -- one sample --------------------------------------------------------------------------------

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef Status status = self.refuses(x)
        if status != UNCHANGED or not self.violates(x, y):
            return status
        if self.solver.n == self.slots and not self.make_room():
            return UNCHANGED
        self.take(x, y, weight, self.common.n_seen)
        self.counters.converged = 0
        return CHANGED

    cdef Status refuses(self, const void *x) noexcept nogil:
        return UNCHANGED if isfinite(self.norm(x)) else NOT_FINITE

    cdef bint violates(self, const void *x, double y) noexcept nogil:
        """Whether y f(x) < 1, by more than rounding"""
        cdef double gap = self.solver.mu - y * self.g_of(x)
        cdef Walk walk
        if gap <= 0.0:
            return False
        self.begin(&walk, NULL, 0, self.solver.mu)
        return gap > self.tolerance(&walk)

    cdef void take(self, const void *x, double y, double weight, int64_t number) noexcept nogil:
        """Store a sample and solve."""
        cdef int64_t i = self.place(x)
        self.number[i] = number
        self.s_plus[i] = weight if y > 0.0 else 0.0
        self.s_minus[i] = 0.0 if y > 0.0 else weight
        self.state[i] = 4 if y > 0.0 else 0
        self.solve()

    cdef bint make_room(self) noexcept nogil:
        """Remove a sample that the solution does not need, or else the oldest; False: none."""
        cdef Move move
        cdef int64_t i = self.spare()
        if i >= 0:
            self.remove(i)
            return True
        if not self.forgets:
            self.counters.n_ignored += 1
            return False
        move.slot = 0
        move.to_minus = move.to_plus = 0.0
        move.known = NULL
        self.follow(&move, 1, self.solver.mu)
        self.remove(0)
        self.counters.n_forgotten += 1
        return True

    cdef int64_t spare(self) noexcept nogil:
        """The sample without a coefficient that is farthest beyond the margin; -1: none"""
        cdef int64_t i, best = -1
        for i in range(self.solver.n):
            if self.is_spare(i) and (
                    best < 0 or self.beyond(i) > self.beyond(best) + TIE * self.solver.mu):
                best = i
        return best

    cdef bint is_spare(self, int64_t i) noexcept nogil:
        return self.state[i] == 0 or self.state[i] == 4

    cdef double beyond(self, int64_t i) noexcept nogil:
        """How far a sample is beyond the margin: y g - mu"""
        return (self.g[i] if self.s_plus[i] > 0.0 else -self.g[i]) - self.solver.mu

    cdef void remove(self, int64_t i) noexcept nogil:
        """Remove a sample without a coefficient; later ones move down by one."""
        cdef int64_t n = self.solver.n
        memmove(self.number + i, self.number + i + 1, (n - 1 - i) * sizeof(int64_t))
        self.number[n - 1] = 0
        self.drop(i)

    # -- the active set ----------------------------------------------------------------------------

    cdef void solve(self) noexcept nogil:
        """Make the solution that of the stored samples."""
        cdef Solver *v = self.solver
        cdef Outcome outcome = REACHED
        cdef int polish
        v.paths += 1
        if v.paths % REFRESH == 0:
            self.refresh()
        for polish in range(POLISHES):
            outcome = self.improve()
            if outcome != REACHED or self.is_consistent():
                break
            self.refresh()
            if polish:
                v.n_refactored += 1
                self.rebuild()
        if outcome != REACHED or not self.is_sound():
            self.from_scratch()

    cdef Outcome improve(self) noexcept nogil:
        """Let the worst violator into the working set until there is none."""
        cdef Walk walk
        cdef int64_t i, _entry
        cdef int step
        for _entry in range(MANY_EVENTS * (self.solver.n + 4)):
            self.to_optimum(&walk)
            i = self.worst(self.tolerance(&walk))
            if i < 0:
                return REACHED
            self.n_moves += 1
            self.solver.n_path_events += 1
            step = 3 if self.s_plus[i] > 0.0 else 1
            if self.enter(i, step, self.state[i] - step) != REACHED:
                return STUCK
        return STUCK

    cdef void to_optimum(self, Walk *walk) noexcept nogil:
        """Move the coefficients of S to their solution; those at a bound on the way leave."""
        cdef double length
        cdef int64_t place
        cdef int to = 0
        while True:
            self.begin(walk, NULL, 0, self.solver.mu)
            self.plateau_rates(walk)
            self.direct(walk)
            place = self.first_at_bound(&length, &to)
            self.advance(walk, length, place < 0)
            if place < 0:
                return
            self.solver.n_path_events += 1
            self.leave(place, to)

    cdef int64_t first_at_bound(self, double *length, int *to) noexcept nogil:
        """The place on S of the coefficient first at a bound, and how far; -1: none."""
        cdef int64_t i, p, first = -1
        cdef double low, high, room, step, rounding
        length[0] = 1.0
        for p in range(self.solver.m):
            i, step = self.S[p], self.factor.solution[1 + p]
            self.step_bounds(i, &low, &high)
            rounding = ROUNDING * (high - low)
            room = fmax(high - self.coef[i] if step > 0.0 else self.coef[i] - low, 0.0)
            if fabs(step) > room + rounding and room < fabs(step) * length[0] * (1.0 - ROUNDING):
                first, length[0] = p, room / fabs(step)
                to[0] = self.state[i] - 1 if step > 0.0 else self.state[i] + 1
        return first

    cdef int64_t worst(self, double least) noexcept nogil:
        """The stored sample off S that violates most, by more than `least`; -1: none"""
        cdef int64_t i, found = -1
        cdef double gap, most = least
        for i in range(self.solver.n):
            if self.state[i] % 2 == 0:
                gap = -self.beyond(i) if self.is_spare(i) else self.beyond(i)
                if gap > most:
                    found, most = i, gap + TIE * self.solver.mu
        return found

    # -- a pass over rows --------------------------------------------------------------------------

    def sweep(self, X, cnp.ndarray slots not None, cnp.ndarray weights, int64_t first):
        """Take in the rows of X that violate, one by one; False: there was no room for one."""
        cdef Batch batch
        cdef cnp.ndarray scratch = scratch_for(X)
        cdef const signed char *slot = <const signed char *> cnp.PyArray_DATA(slots)
        cdef const double *weight = NULL
        cdef int64_t n = len(X), at = 0
        cdef Status status
        if weights is not None:
            weight = <const double *> cnp.PyArray_DATA(weights)
        while at < n:
            self.read(&batch, X, scratch, n)
            with nogil:
                status = self.sweep_rows(n, &at, &batch, slot, weight, first)
            if status > CHANGED:
                raise refusal(
                    status, f"{self.owner}: row {first + at}", self.dtype, self.labels.in_slots)
            if status == UNCHANGED:
                return False
            self.guard.look_at_signals()
        return True

    cdef Status sweep_rows(
        self, int64_t n, int64_t *at, Batch *batch, const signed char *slot, const double *weight,
        int64_t first
    ) except * nogil:
        """Look at rows from `at` on, until one is in (CHANGED), or has no room (UNCHANGED)."""
        cdef int64_t i, last = min(n, at[0] + ROWS)
        cdef double w, y
        cdef const void *x
        cdef Status status
        while at[0] < last:
            i = at[0]
            w = 1.0 if weight == NULL else weight[i]
            y = 1.0 if slot[i] else -1.0
            if w != 0.0:
                x = row_at(batch, i)
                if x == NULL:
                    with gil:
                        raise changed(self.owner)
                status = self.refuses(x)
                if status != UNCHANGED:
                    return status
                if self.violates(x, y) and not self.holds(first + i):
                    if self.solver.n == self.slots:
                        return UNCHANGED
                    self.take(x, y, w, first + i)
                    self.remove_spare()
                    at[0] += 1
                    return CHANGED
            at[0] += 1
        return CHANGED

    cdef bint holds(self, int64_t number) noexcept nogil:
        cdef int64_t i
        for i in range(self.solver.n):
            if self.number[i] == number:
                return True
        return False

    cdef void remove_spare(self) noexcept nogil:
        cdef int64_t i
        for i in range(self.solver.n - 1, -1, -1):
            if self.is_spare(i):
                self.remove(i)

    # -- checks of a loaded arena ------------------------------------------------------------------

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = AdiabaticCore.fault(self)
        cdef int64_t i, j
        if found != NULL:
            return found
        if not fabs(self.solver.mu * self.C - 1.0) < 1e-9:
            return b"the margin is not that of C"
        for i in range(self.solver.n):
            if self.state[i] > 2 if self.s_plus[i] == 0.0 else (
                    self.state[i] < 2 or self.s_minus[i] > 0.0):
                return b"a sample has the weight or the state of both classes"
            if self.number[i] >= self.common.n_seen:
                return b"a sample's number is out of range"
            for j in range(i):
                if self.number[j] == self.number[i]:
                    return b"two samples have one number"
        for i in range(self.solver.n, self.slots):
            if self.number[i] != 0:
                return b"a sample's number is out of range"
        return NULL
