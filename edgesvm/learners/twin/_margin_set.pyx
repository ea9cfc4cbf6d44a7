"""Twins and their margin set, compiled: the state of the adiabatic solver, and how a twin enters
and leaves the margin.

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

With the paper's alpha, beta = alpha+ - alpha- = coef / mu. In terms of coef = beta / C the bounds
are the weights themselves and C appears only in mu, so that the control of C (4.3) changes one
number.

Twins on a step (states 1 and 3) are the margin set S. Their block of K is factored
(packed_factor.pyx): K_SS + lift is positive definite exactly when the bordered system is regular,
since the coefficients sum to 0. A row of K for which there is no room is recomputed when it is
needed: slower, with the same result.

A twin whose kernel function is a linear combination of those on S is exchanged with one of them
along the null direction, where no g changes.

Bytes: 96 + 8 (9 slots + 2 (slots + 1) + pool) + slots (5 + D s), and padding.
"""

from libc.math cimport INFINITY, NAN, fabs, fmax, isfinite
from libc.stdint cimport int8_t, int32_t, int64_t
from libc.string cimport memcpy, memmove

from edgesvm.contract.kernel_core cimport KernelCore
from edgesvm.core.kernels cimport RBF
from edgesvm.core.linalg cimport dot
from edgesvm.core.packed_factor cimport (
    factor_append, factor_complement, factor_drop_column, factor_has_room, factor_remove,
    factor_row, factor_rows, factor_solve)
from edgesvm.core.rows cimport (
    ROWS_BLOCK, ROWS_WIDEST, any_kernel_sums, rows_block_dot, square_distances)
from edgesvm.core.status cimport NOT_FINITE, UNCHANGED, Status

cdef double EVENT_TOLERANCE, SINGULAR, NULL_TOLERANCE, LARGEST_NORM, LARGEST_SQUARE
cdef int MANY_EXCHANGES
from edgesvm.learners.twin.constants import (
    EVENT_TOLERANCE, LARGEST_NORM, LARGEST_SQUARE, MANY_EXCHANGES, NULL_TOLERANCE,
    SINGULAR)

cdef enum:
    CHUNK = 128     # kernel values at a time, on the stack


cdef class MarginSetCore(KernelCore):
    """The state; the arena has the arrays of `AdiabaticLearner`."""

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
        """`fill_row`, where some of it may be known, or none (NULL); then all of it is, if there is
        room."""
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
        return 0.0

    cdef double scale(self) noexcept nogil:
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
        """Add a twin without weight, which does not change the solution; return its slot. `known`:
        some of its row, or NULL."""
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
            v.lift = self.row[i] if self.row[i] > 0.0 else 1.0
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
        """Move along the null direction until a twin on S reaches its bound and leaves (True), or
        twin i reaches the other end of its step (False)."""
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
        twin_add(move, self.row, self.g, v.n)
        for j in range(v.n):
            self.g[j] -= move * u[0]
        for p in range(v.m):  # the last use of `row`
            self.coef[self.S[p]] -= move * u[1 + p]
            twin_add(-move * u[1 + p], self.row_of(p), self.g, v.n)
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
                twin_add(self.coef[i], self.row, self.g, v.n)

    cdef void rebuild(self) noexcept nogil:
        """Rebuild the margin set: all twins whose coef is strictly between two plateaus."""
        cdef Solver *v = self.solver
        cdef int64_t i
        v.m = 0
        for i in range(v.n):
            self.state[i] = 2
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
