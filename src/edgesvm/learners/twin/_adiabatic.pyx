"""The adiabatic solver: a weighted kernel SVM kept at its exact optimum while its weights move.

Given twins q_i with weights s+_i and s-_i of either class, and the margin mu = 1 / C. Kept up are
gamma and b, so that g(x) = sum_i gamma_i k(q_i, x) + b satisfies at every twin the Kuhn-Tucker
conditions, a falling staircase of g_i = g(q_i) (f = g / mu is the decision value):

    state 0, g < -mu:         gamma =  s+
    state 1, g = -mu:         gamma between s+ - s- and s+
    state 2, -mu < g < mu:    gamma =  s+ - s-
    state 3, g = mu:          gamma between -s- and s+ - s-
    state 4, g > mu:          gamma = -s-                        and  sum_i gamma_i = 0

With the paper's alpha: beta = alpha+ - alpha- = gamma / mu. In gamma the bounds are the weights
themselves and C stands only in mu, so that the control of C (4.3) moves one number.

Twins on a step (states 1 and 3) are the margin set S. While weights and mu move linearly with t
from 0 to 1, gamma_S and b follow from the bordered system M, the g of all from them; events are a
twin that comes upon a step and one that comes to an end of its own. What rounding has left in a g
or a sum (`off`) goes linearly to 0 on the same path.

A twin whose kernel function is a combination of those on S
does not enter by growing: it changes places along the null direction, where no g moves.

M is solved by the Cholesky factor L of K_SS + lift, which is positive definite just where M is
regular, since the coefficients sum to 0. L is packed in the front of `pool`; rows of K of the twins
on S fill it from the back; a row that finds no room is computed when it is needed: slower, never
different.

Bytes: 96 + 8 (9 slots + 2 (slots + 1) + pool) + slots (5 + D s), and padding. Time of an event:
O(n |S|).
"""

cimport numpy as cnp
from libc.math cimport INFINITY, NAN, fabs, fmax, fmin, isfinite, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t
from libc.string cimport memcpy, memmove

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.kernels cimport POLYNOMIAL, RBF, Kernel, exp_, power
from edgesvm.core.linalg cimport dot, real
from edgesvm.core.status cimport NOT_FINITE, UNCHANGED, Status

import numpy as np

from edgesvm.errors import CorruptModelError
from edgesvm.learners.twin._adiabatic_ref import residual

# Violations of the KT conditions that no event is made for, in units of the margin.
cdef double HAIR = 1e-10
# A Schur complement below this share of k(x, x) is none.
cdef double SINGULAR = 1e-12
LEAST_WEIGHT = 1e-100
LARGEST_WEIGHT = 1e100
# Paths between two computations of g from its definition.
cdef int64_t REFRESH = 512
# Of k(x, x): its square is still a number.
cdef double LARGEST_NORM = 1e100
# A share in a null direction below this is none.
cdef double NOTHING = 1e-9
# Of g, as a share of what it is the sum of; of sums of coefficients.
cdef double NOISE = 1e-15
cdef double ROUNDING = 1e-12
# Of a decision value from its definition, for which all are computed anew.
cdef double DRIFT = 1e-9
# Paths that do nothing but bring offsets to 0; exchanges for one twin to enter; events for each
# twin held.
cdef int POLISHES = 3
cdef int MANY_EXCHANGES = 8
cdef int64_t MANY_EVENTS = 16


cnp.import_array()


cdef enum:
    CHUNK = 64      # kernel values at a time, on the stack


cdef inline int64_t packed(int64_t order) noexcept nogil:
    """Numbers in a symmetric matrix; also where row `order` begins."""
    return order * (order + 1) // 2


cdef inline double plateau(int state, double s_minus, double s_plus) noexcept nogil:
    """gamma on plateau 0, 2 or 4"""
    if state == 2:
        return s_plus - s_minus
    return s_plus if state == 0 else -s_minus


cdef inline bint comes_first(
    double gap, double rate, double rest, double hair, double *length
) noexcept nogil:
    """Whether a gap closing at this rate is the next event, and then length to it.

    It has to be overrun by more than a hair until the end; a gap below a hair is none, so that of
    events at one place the first in order comes first, whatever the rounding.
    """
    if not rate * rest > gap + hair:
        return False
    if gap <= hair:
        gap = 0.0
    if not gap < rate * length[0]:
        return False
    length[0] = gap / rate
    return True


cdef inline double product(const real *x, const real *z, int64_t n) noexcept nogil:
    """x @ z in float64"""
    cdef double a = 0.0, b = 0.0
    cdef int64_t i = 0
    while i + 2 <= n:
        a += <double> x[i] * <double> z[i]
        b += <double> x[i + 1] * <double> z[i + 1]
        i += 2
    if i < n:
        a += <double> x[i] * <double> z[i]
    return a + b


cdef inline double value_of(
    const Kernel *kernel, const real *x, const real *z, int64_t n
) noexcept nogil:
    """k(x, z) in float64 whatever the vectors' dtype: the Gram matrix stays positive."""
    if kernel.kind == RBF:
        return exp_(-kernel.gamma * distance(x, z, n))
    if kernel.kind == POLYNOMIAL:
        return power(kernel.gamma * product(x, z, n) + kernel.coef0, kernel.degree)
    return product(x, z, n)


cdef inline void add_scaled(double a, const double *x, double *y, int64_t n) noexcept nogil:
    """y += a * x"""
    cdef int64_t i
    for i in range(n):
        y[i] += a * x[i]


cdef class AdiabaticCore(LearnerCore):
    """State and paths; a learner adds which twins come and go."""

    def __init__(self, *common, kernel):
        super().__init__(*common)
        self.kernel.kind, self.kernel.gamma, self.kernel.coef0, self.kernel.degree = kernel.code
        self.slots = len(self.views["gamma"])
        self.row_bytes = self.n_features * self.dtype.itemsize
        self.pool_length = len(self.views["pool"])
        self.solver = <Solver *> self.array("mu")
        self.s_minus = <double *> self.array("s_minus")
        self.s_plus = <double *> self.array("s_plus")
        self.gamma = <double *> self.array("gamma")
        self.g = <double *> self.array("g")
        self.off = <double *> self.array("off")
        self.rate = <double *> self.array("rate")
        self.push = <double *> self.array("push")
        self.row = <double *> self.array("row")
        self.ones = <double *> self.array("ones")
        self.border = <double *> self.array("border")
        self.solution = <double *> self.array("solution")
        self.pool = <double *> self.array("pool")
        self.S = <int32_t *> self.array("S")
        self.state = <int8_t *> self.array("state")
        self.vectors = self.array("vectors")

    # -- kernel values -----------------------------------------------------------------------------

    cdef double k(self, const void *x, const void *z) noexcept nogil:
        if self.is_float32:
            return value_of(&self.kernel, <const float *> x, <const float *> z, self.n_features)
        return value_of(&self.kernel, <const double *> x, <const double *> z, self.n_features)

    cdef double norm(self, const void *x) noexcept nogil:
        """k(x, x), NaN where the sample is to be refused"""
        cdef double xx, k_xx
        if self.is_float32:
            xx = dot(<const float *> x, <const float *> x, self.n_features)
        else:
            xx = dot(<const double *> x, <const double *> x, self.n_features)
        k_xx = self.k(x, x)
        return k_xx if isfinite(xx) and k_xx <= LARGEST_NORM else NAN

    cdef double norm_of(self, int64_t i) noexcept nogil:
        """k(q_i, q_i)"""
        if self.kernel.kind == RBF:
            return 1.0
        return self.k(self.vectors + i * self.row_bytes, self.vectors + i * self.row_bytes)

    cdef void fill_row(self, const void *x, double *row) noexcept nogil:
        """row[j] = k(x, q_j)"""
        if self.is_float32:
            self.fill_typed(<const float *> x, <const float *> self.vectors, row)
        else:
            self.fill_typed(<const double *> x, <const double *> self.vectors, row)

    cdef void fill_typed(self, const real *x, const real *vectors, double *row) noexcept nogil:
        cdef int64_t j, n = self.solver.n, width = self.n_features
        cdef double gamma = self.kernel.gamma
        if self.kernel.kind == RBF:
            for j in range(n):
                row[j] = distance(x, vectors + j * width, width)
            for j in range(n):
                row[j] = exp_(-gamma * row[j])
        else:
            for j in range(n):
                row[j] = value_of(&self.kernel, x, vectors + j * width, width)

    cdef double g_of(self, const void *x) noexcept nogil:
        if self.is_float32:
            return self.g_typed(<const float *> x, <const float *> self.vectors)
        return self.g_typed(<const double *> x, <const double *> self.vectors)

    cdef double g_typed(self, const real *x, const real *vectors) noexcept nogil:
        """sum_j gamma_j k(q_j, x) + b"""
        cdef double k[CHUNK]
        cdef int64_t j = 0, c, count, n = self.solver.n, width = self.n_features
        cdef double g = 0.0, gamma = self.kernel.gamma
        while j < n:
            count = n - j if n - j < CHUNK else CHUNK
            if self.kernel.kind == RBF:
                for c in range(count):
                    k[c] = distance(x, vectors + (j + c) * width, width)
                for c in range(count):
                    k[c] = exp_(-gamma * k[c])
            else:
                for c in range(count):
                    k[c] = value_of(&self.kernel, x, vectors + (j + c) * width, width)
            for c in range(count):
                g += self.gamma[j + c] * k[c]
            j += count
        return g + self.solver.b

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        if not isfinite(self.norm(x)):
            return NOT_FINITE
        value[0] = self.g_of(x) / self.solver.mu
        return UNCHANGED

    # -- twins come and go -------------------------------------------------------------------------

    cdef int64_t place(self, const void *x) noexcept nogil:
        """A twin of no weight, which changes nothing yet; its slot."""
        cdef Solver *v = self.solver
        cdef int64_t p, i = v.n
        cdef int64_t n_rows = self.rows_with(v.m)
        memmove(self.vectors + i * self.row_bytes, x, self.row_bytes)
        v.n += 1
        self.fill_row(x, self.row)
        self.g[i] = v.b
        for p in range(i):
            self.g[i] += self.gamma[p] * self.row[p]
        for p in range(n_rows):
            self.row_at(p)[i] = self.row[self.S[p]]
        self.s_minus[i] = self.s_plus[i] = self.gamma[i] = 0.0
        self.state[i] = self.side(self.g[i], True, True)
        return i

    cdef int side(self, double g, bint lower, bint upper) noexcept nogil:
        """The plateau of a twin without weight, which has the steps that are told."""
        cdef double edge = self.solver.mu * (1.0 - HAIR)
        return 0 if lower and g < -edge else 4 if upper and g > edge else 2

    cdef void drop(self, int64_t i) noexcept nogil:
        """Forget a twin of no weight; later ones move down by one."""
        cdef Solver *v = self.solver
        cdef int64_t p, behind = v.n - i - 1, n_bytes = behind * sizeof(double)
        cdef double *row
        if self.state[i] % 2:
            self.leave(self.place_on_S(i), 2)
        memmove(self.vectors + i * self.row_bytes, self.vectors + (i + 1) * self.row_bytes,
                behind * self.row_bytes)
        memmove(self.s_minus + i, self.s_minus + i + 1, n_bytes)
        memmove(self.s_plus + i, self.s_plus + i + 1, n_bytes)
        memmove(self.gamma + i, self.gamma + i + 1, n_bytes)
        memmove(self.g + i, self.g + i + 1, n_bytes)
        memmove(self.state + i, self.state + i + 1, behind)
        for p in range(self.rows_with(v.m)):
            row = self.row_at(p)
            memmove(row + i, row + i + 1, n_bytes)
        for p in range(v.m):
            self.S[p] -= self.S[p] > i
        v.n -= 1
        if v.n == 0:
            v.b = 0.0

    # -- the margin set ----------------------------------------------------------------------------

    cdef double *row_at(self, int64_t p) noexcept nogil:
        """Where the row of the twin at place p of S is, if there is room for it."""
        return self.pool + self.pool_length - (p + 1) * self.slots

    cdef int64_t rows_with(self, int64_t m) noexcept nogil:
        """Rows of K there is room for beside the inverse of m twins, m at most."""
        cdef int64_t room = (self.pool_length - packed(m)) // self.slots
        return room if room < m else m

    cdef const double *row_of(self, int64_t p) noexcept nogil:
        """The row of the twin at place p of S, computed where it had no room."""
        if p < self.rows_with(self.solver.m):
            return self.row_at(p)
        self.fill_row(self.vectors + self.S[p] * self.row_bytes, self.row)
        return self.row

    cdef int64_t place_on_S(self, int64_t i) noexcept nogil:
        cdef int64_t p
        for p in range(self.solver.m):
            if self.S[p] == i:
                return p
        return 0

    cdef void low_high(self, int64_t i, double *low, double *high) noexcept nogil:
        """Least and largest gamma on twin i's step."""
        low[0] = plateau(self.state[i] + 1, self.s_minus[i], self.s_plus[i])
        high[0] = plateau(self.state[i] - 1, self.s_minus[i], self.s_plus[i])

    cdef void forward(self) noexcept nogil:
        """solution[1:] = L^-1 @ border[1:]"""
        cdef int64_t i
        cdef const double *row
        cdef double *y = self.solution + 1
        for i in range(self.solver.m):
            row = self.pool + packed(i)
            y[i] = (self.border[1 + i] - dot(row, y, i)) / row[i]

    cdef void solve(self) noexcept nogil:
        """solution = (b, x):  sum(x) = border[0],  K_SS x + b = border[1:]"""
        cdef int64_t i, m = self.solver.m
        cdef const double *row
        cdef double *x = self.solution + 1
        cdef double b
        self.forward()
        b = (dot(self.ones, x, m) - self.border[0]) / dot(self.ones, self.ones, m)
        add_scaled(-b, self.ones, x, m)
        for i in range(m - 1, -1, -1):
            row = self.pool + packed(i)
            x[i] /= row[i]
            add_scaled(-x[i], row, x, i)
        self.solution[0] = b + self.solver.lift * self.border[0]

    cdef double sensitivity(self, int64_t i) noexcept nogil:
        """Fill `row` of twin i, solution[1:] = L^-1 (K_Si + lift); its Schur complement."""
        cdef Solver *v = self.solver
        cdef int64_t p
        self.fill_row(self.vectors + i * self.row_bytes, self.row)
        if v.m == 0:
            v.lift = self.row[i] if self.row[i] > 0.0 else 1.0
        for p in range(v.m):
            self.border[1 + p] = self.row[self.S[p]] + v.lift
        self.forward()
        return self.row[i] + v.lift - dot(self.solution + 1, self.solution + 1, v.m)

    cdef void append(self, int64_t i, double delta) noexcept nogil:
        """Twin i onto S; `row`, `solution` and delta are of its sensitivity."""
        cdef Solver *v = self.solver
        cdef int64_t m = v.m
        cdef double *last = self.pool + packed(m)
        memcpy(last, self.solution + 1, m * sizeof(double))
        last[m] = sqrt(delta)
        self.ones[m] = (1.0 - dot(last, self.ones, m)) / last[m]
        self.S[m] = <int32_t> i
        v.m = m + 1
        if v.m <= self.rows_with(v.m):
            memcpy(self.row_at(m), self.row, v.n * sizeof(double))

    cdef void leave(self, int64_t p, int to) noexcept nogil:
        """The twin at place p of S goes to plateau `to`; those behind move up."""
        cdef Solver *v = self.solver
        cdef int64_t j, i = self.S[p], last = v.m - 1, n_rows = self.rows_with(v.m)
        self.state[i] = to
        self.gamma[i] = plateau(to, self.s_minus[i], self.s_plus[i])
        memmove(self.S + p, self.S + p + 1, (last - p) * sizeof(int32_t))
        if p < n_rows:
            n_rows -= 1
            memmove(self.row_at(n_rows - 1), self.row_at(n_rows),
                    (n_rows - p) * self.slots * sizeof(double))
        self.shrink_factor(p)
        v.m = last
        for j in range(n_rows, self.rows_with(last)):
            self.fill_row(self.vectors + self.S[j] * self.row_bytes, self.row_at(j))

    cdef void shrink_factor(self, int64_t p) noexcept nogil:
        """Take row p out of L: those behind are rotated back to a triangle, `ones` with them."""
        cdef int64_t i, k, m = self.solver.m
        cdef double *c = self.border    # TMP: cosines and sines of the rotations so far
        cdef double *s = self.solution
        cdef double *row
        cdef double a, b, length
        for i in range(p, m - 1):
            row = self.pool + packed(i + 1)
            for k in range(p, i):
                a, b = row[k], row[k + 1]
                row[k], row[k + 1] = c[k] * a + s[k] * b, c[k] * b - s[k] * a
            length = sqrt(row[i] * row[i] + row[i + 1] * row[i + 1])
            c[i], s[i] = row[i] / length, row[i + 1] / length
            row[i] = length
            a, b = self.ones[i], self.ones[i + 1]
            self.ones[i], self.ones[i + 1] = c[i] * a + s[i] * b, c[i] * b - s[i] * a
            memmove(self.pool + packed(i), row, (i + 1) * sizeof(double))

    cdef Outcome enter(self, int64_t i, int step, int direction) noexcept nogil:
        """Twin i comes upon a step, its gamma about to move in `direction`.

        Where its kernel function is a combination of those on S already, it changes places with
        one of them instead: along the null direction, in which no g changes.
        """
        cdef Solver *v = self.solver
        cdef double delta
        cdef int _tries
        self.state[i] = step
        for _tries in range(MANY_EXCHANGES):
            delta = self.sensitivity(i)
            if delta > SINGULAR * (self.row[i] + v.lift):
                if packed(v.m + 1) > self.pool_length:
                    self.state[i] = step + direction
                    return OVERFLOWED
                self.append(i, delta)
                return REACHED
            if not self.exchange(i, direction):
                return REACHED
        self.state[i] = step + direction
        return STUCK

    cdef bint exchange(self, int64_t i, int direction) noexcept nogil:
        """Along the null direction until a twin on S comes to its bound, and leaves (True), or
        twin i comes to the other end of its step."""
        cdef Solver *v = self.solver
        cdef double *u = self.solution
        cdef int64_t p, j, first = -1
        cdef int end = 0
        cdef double low, high, room, gap, rate, move
        v.n_exchanges += 1
        self.border[0] = 1.0
        for p in range(v.m):
            self.border[1 + p] = self.row[self.S[p]]
        self.solve()
        self.low_high(i, &low, &high)
        room = high - self.gamma[i] if direction > 0 else self.gamma[i] - low
        for p in range(v.m):
            j = self.S[p]
            rate = -direction * u[1 + p]
            self.low_high(j, &low, &high)
            gap = fmax(high - self.gamma[j] if rate > 0 else self.gamma[j] - low, 0.0)
            if fabs(rate) > NOTHING and gap < room * fabs(rate):
                room, first, end = gap / fabs(rate), p, self.state[j] + (-1 if rate > 0 else 1)
        move = direction * room
        self.gamma[i] += move
        v.b -= move * u[0]
        add_scaled(move, self.row, self.g, v.n)
        for j in range(v.n):
            self.g[j] -= move * u[0]
        for p in range(v.m):  # the last use of `row`
            self.gamma[self.S[p]] -= move * u[1 + p]
            add_scaled(-move * u[1 + p], self.row_of(p), self.g, v.n)
        if first >= 0:
            self.leave(first, end)
            return True
        self.state[i] -= direction
        self.gamma[i] = plateau(self.state[i], self.s_minus[i], self.s_plus[i])
        return False

    # -- the path ----------------------------------------------------------------------------------

    cdef Outcome follow(self, Move *moves, int count, double mu) noexcept nogil:
        """Let the weights of some twins and mu go linearly to new values, the KT conditions kept.

        Where the path cannot go on, all twins are solved from scratch. Where the margin set would
        outgrow its room, the path is walked back and all is as it was (OVERFLOWED).
        """
        cdef Solver *v = self.solver
        cdef Outcome outcome
        cdef double mu_before = v.mu
        cdef int c, polish
        v.paths += 1
        if v.paths % REFRESH == 0:
            self.refresh()
        self.loosen(moves, count)
        outcome = self.walk(moves, count, mu)
        for polish in range(POLISHES):
            if outcome != REACHED or self.is_sound():
                break
            self.refresh()
            if polish:
                v.n_refactored += 1
                self.rebuild()
            outcome = self.walk(NULL, 0, mu)
        if outcome == STUCK:
            for c in range(count):
                self.s_minus[moves[c].slot] = moves[c].to_minus
                self.s_plus[moves[c].slot] = moves[c].to_plus
            v.mu = mu
            self.from_scratch()
            return REACHED
        if outcome == OVERFLOWED:
            v.n_overflowed += 1
            self.walk_back(moves, count, mu_before)
        return outcome

    cdef void walk_back(self, Move *moves, int count, double mu) noexcept nogil:
        """The weights as they were; on the way there the margin set had room."""
        cdef Solver *v = self.solver
        cdef Outcome outcome
        cdef int c
        cdef int64_t i
        for c in range(count):
            moves[c].to_minus, moves[c].to_plus = moves[c].loose_minus, moves[c].loose_plus
        outcome = self.walk(moves, count, mu)
        for c in range(count):
            i = moves[c].slot
            self.s_minus[i], self.s_plus[i] = moves[c].from_minus, moves[c].from_plus
            if outcome == REACHED and self.state[i] % 2 == 0:
                outcome = self.settle(i)
        if outcome != REACHED:
            v.mu = mu
            self.from_scratch()

    cdef Outcome settle(self, int64_t i) noexcept nogil:
        """The state of a twin whose gamma and g are right, after its weights were restored."""
        cdef double mu = self.solver.mu
        cdef double low = -self.s_minus[i], high = self.s_plus[i], middle = high + low
        if low < self.gamma[i] < middle:
            return self.enter(i, 3, 1)
        if middle < self.gamma[i] < high:
            return self.enter(i, 1, 1)
        if self.gamma[i] == middle:
            self.state[i] = 2
            if middle == high and self.g[i] < -mu and low < 0.0:
                self.state[i] = 0
            elif middle == low and self.g[i] > mu and high > 0.0:
                self.state[i] = 4
        else:
            self.state[i] = 0 if self.gamma[i] >= high else 4
        return REACHED

    cdef void loosen(self, Move *moves, int count) noexcept nogil:
        """A twin that is to go keeps no more weight than its gamma needs, which is none of its
        neighbours' business, and leaves the margin set."""
        cdef int c
        cdef int64_t i
        for c in range(count):
            i = moves[c].slot
            moves[c].from_minus, moves[c].from_plus = self.s_minus[i], self.s_plus[i]
            if moves[c].to_minus == 0.0 and moves[c].to_plus == 0.0:
                self.s_minus[i] = fmax(-self.gamma[i], 0.0)
                self.s_plus[i] = fmax(self.gamma[i], 0.0)
                if self.state[i] % 2:
                    self.leave(self.place_on_S(i), 2)
            moves[c].loose_minus, moves[c].loose_plus = self.s_minus[i], self.s_plus[i]

    cdef bint is_sound(self) noexcept nogil:
        """Whether the g that was kept up is that of the definition, at two twins on S."""
        cdef Solver *v = self.solver
        cdef int64_t p = 0
        cdef double aim, g
        while p < v.m:
            aim = v.mu if self.state[self.S[p]] == 3 else -v.mu
            g = dot(self.row_of(p), self.gamma, v.n) + v.b
            if not fabs(g - aim) <= DRIFT * v.mu:
                return False
            if p == v.m - 1:
                break
            p = v.m - 1
        return True

    cdef Outcome walk(self, Move *moves, int count, double mu) noexcept nogil:
        cdef Solver *v = self.solver
        cdef int64_t n = v.n, left = MANY_EVENTS * (n + 4), i, p, place, twin
        cdef double d_mu = mu - v.mu, t = 0.0, total, size, surplus, largest, rest, length, hair
        cdef double low, high, d_low, d_high, gap, push_sum, db, step
        cdef int c, to, direction
        cdef Outcome outcome
        self.begin(moves, count)
        total, largest = 0.0, 0.0
        for i in range(n):
            total += self.gamma[i]
            largest = fmax(largest, self.norm_of(i))
        while True:
            left -= 1
            if left == 0:
                return STUCK
            self.update_push(moves, count)
            push_sum = size = surplus = 0.0
            for c in range(count):
                push_sum += moves[c].rate
                size += fabs(moves[c].rate)
            for i in range(n):
                size += fabs(self.gamma[i])
                surplus += fabs(self.gamma[i]) * sqrt(self.norm_of(i))
            hair = HAIR * v.mu + NOISE * sqrt(largest) * surplus
            rest = 1.0 - t
            if v.m == 0:
                surplus = push_sum - total
                if fabs(surplus) > ROUNDING * size:
                    outcome = self.shift(surplus, t, moves, count)
                    if outcome == REACHED:
                        continue
                    if outcome == OVERFLOWED:
                        return OVERFLOWED
                db = 0.0
                memcpy(self.rate, self.push, n * sizeof(double))
            else:
                db = self.direct(d_mu, -total - push_sum)
            # the first event
            length, place, twin, to, direction = rest, -1, -1, 0, 0
            for p in range(v.m):
                i, step = self.S[p], self.solution[1 + p]
                size = fabs(self.gamma[i]) + fabs(step) + (
                    fabs(self.border[1 + p] - db) + 0.01 * fabs(db)) / (
                        self.norm_of(i) + v.lift)
                self.low_high(i, &low, &high)
                d_low, d_high = 0.0, 0.0
                for c in range(count):
                    if moves[c].slot == i:
                        d_low = plateau(self.state[i] + 1, moves[c].d_minus, moves[c].d_plus)
                        d_high = plateau(self.state[i] - 1, moves[c].d_minus, moves[c].d_plus)
                gap = high - self.gamma[i]
                if comes_first(gap, step - d_high, rest, ROUNDING * size, &length):
                    place, to = p, self.state[i] - 1
                gap = self.gamma[i] - low
                if comes_first(gap, d_low - step, rest, ROUNDING * size, &length):
                    place, to = p, self.state[i] + 1
            self.first_to_enter(t, d_mu, hair, moves, count, &length, &twin, &to, &direction)
            # on to it
            for p in range(v.m):
                self.gamma[self.S[p]] += length * self.solution[1 + p]
            add_scaled(length, self.rate, self.g, n)
            v.b += length * db
            v.mu += length * d_mu
            t = t + length
            if place < 0 and twin < 0:
                self.arrive(moves, count)
                v.mu = mu
                return REACHED
            for c in range(count):
                i = moves[c].slot
                self.s_minus[i] += length * moves[c].d_minus
                self.s_plus[i] += length * moves[c].d_plus
                if self.state[i] % 2 == 0:
                    self.gamma[i] = plateau(self.state[i], self.s_minus[i], self.s_plus[i])
            v.n_path_events += 1
            if twin >= 0:
                outcome = self.enter(twin, to, direction)
                if outcome != REACHED:
                    return outcome
            else:
                self.leave(place, to)

    cdef void arrive(self, Move *moves, int count) noexcept nogil:
        cdef int c
        cdef int64_t i
        for c in range(count):
            i = moves[c].slot
            self.s_minus[i], self.s_plus[i] = moves[c].to_minus, moves[c].to_plus
            if self.state[i] % 2 == 0:
                self.gamma[i] = plateau(self.state[i], self.s_minus[i], self.s_plus[i])

    cdef void begin(self, Move *moves, int count) noexcept nogil:
        """Rates, sides and offsets at t = 0."""
        cdef Solver *v = self.solver
        cdef int64_t i
        cdef int c, state
        cdef double g
        for c in range(count):
            i = moves[c].slot
            moves[c].d_minus = moves[c].to_minus - self.s_minus[i]
            moves[c].d_plus = moves[c].to_plus - self.s_plus[i]
            moves[c].rate, moves[c].state = 0.0, -1
            self.tell_sides_apart(i, moves[c].d_minus, moves[c].d_plus)
        for i in range(v.n):
            g, state = self.g[i], self.state[i]
            self.push[i] = self.off[i] = 0.0
            if state == 1:
                self.off[i] = g + v.mu
            elif state == 3:
                self.off[i] = g - v.mu
            elif state == 0:
                self.off[i] = fmax(g + v.mu, 0.0)
            elif state == 4:
                self.off[i] = fmin(g - v.mu, 0.0)
            elif g > v.mu and self.s_plus[i] > 0.0:
                self.off[i] = g - v.mu
            elif g < -v.mu and self.s_minus[i] > 0.0:
                self.off[i] = g + v.mu

    cdef void tell_sides_apart(self, int64_t i, double d_minus, double d_plus) noexcept nogil:
        """A twin without weight on one side has no step there; where it gets one, it is told on
        which side of it it is."""
        if self.s_plus[i] == 0.0 and self.state[i] % 2 == 0 and self.state[i] > 0:
            self.state[i] = self.side(self.g[i], False, d_plus > 0.0)
        if self.s_minus[i] == 0.0 and self.state[i] % 2 == 0 and self.state[i] < 4:
            self.state[i] = self.side(self.g[i], d_minus > 0.0, False)

    cdef void update_push(self, Move *moves, int count) noexcept nogil:
        """push = sum over moving twins on a plateau of the rate of gamma_c times K_c"""
        cdef int c, state
        cdef double rate
        for c in range(count):
            state = self.state[moves[c].slot]
            if state == moves[c].state:
                continue
            rate = 0.0 if state % 2 else plateau(state, moves[c].d_minus, moves[c].d_plus)
            if rate != moves[c].rate:
                self.fill_row(self.vectors + moves[c].slot * self.row_bytes, self.row)
                add_scaled(rate - moves[c].rate, self.row, self.push, self.solver.n)
            moves[c].rate, moves[c].state = rate, state

    cdef double direct(self, double d_mu, double sum_rate) noexcept nogil:
        """solution = (b, gamma_S) per unit of t, rate = that of g; the first of them."""
        cdef Solver *v = self.solver
        cdef int64_t i, p
        cdef double db
        self.border[0] = sum_rate
        for p in range(v.m):
            i = self.S[p]
            self.border[1 + p] = (
                (d_mu if self.state[i] == 3 else -d_mu) - self.off[i] - self.push[i])
        self.solve()
        db = self.solution[0]
        for i in range(v.n):
            self.rate[i] = self.push[i] + db
        for p in range(v.m):
            add_scaled(self.solution[1 + p], self.row_of(p), self.rate, v.n)
        return db

    cdef void sides(
        self, int64_t i, const Move *moves, int count, bint *lower, bint *upper
    ) noexcept nogil:
        """Whether the twin has, or is about to get, a step on either side."""
        cdef int c
        lower[0], upper[0] = self.s_minus[i] > 0.0, self.s_plus[i] > 0.0
        for c in range(count):
            if moves[c].slot == i:
                lower[0] |= moves[c].d_minus > 0.0
                upper[0] |= moves[c].d_plus > 0.0

    cdef void first_to_enter(
        self, double t, double d_mu, double hair, const Move *moves, int count,
        double *length, int64_t *twin, int *to, int *direction
    ) noexcept nogil:
        """The twin on a plateau that comes upon a step before t + length, if any."""
        cdef int64_t i
        cdef int state
        cdef bint lower, upper
        cdef double rest = 1.0 - t, mu = self.solver.mu, g, dg, off, gap, rate
        for i in range(self.solver.n):
            state = self.state[i]
            if state % 2:
                continue
            self.sides(i, moves, count, &lower, &upper)
            g, dg, off = self.g[i], self.rate[i], self.off[i]
            if state == 0 and lower:
                gap, rate = -mu + off * rest - g, dg + d_mu + off
                if comes_first(gap, rate, rest, hair, length):
                    twin[0], to[0], direction[0] = i, 1, -1
            elif state == 4 and upper:
                gap, rate = g - mu - off * rest, d_mu - dg - off
                if comes_first(gap, rate, rest, hair, length):
                    twin[0], to[0], direction[0] = i, 3, 1
            elif state == 2:
                if upper:
                    gap, rate = mu + fmax(off, 0.0) * rest - g, dg - d_mu + fmax(off, 0.0)
                    if comes_first(gap, rate, rest, hair, length):
                        twin[0], to[0], direction[0] = i, 3, -1
                if lower:
                    gap, rate = g + mu - fmin(off, 0.0) * rest, -dg - d_mu - fmin(off, 0.0)
                    if comes_first(gap, rate, rest, hair, length):
                        twin[0], to[0], direction[0] = i, 1, 1

    cdef Outcome shift(
        self, double surplus, double t, const Move *moves, int count
    ) noexcept nogil:
        """Nobody is on a step and the coefficients would not sum to 0: b moves until one is."""
        cdef Solver *v = self.solver
        cdef int64_t i, found = -1
        cdef int state, to = 0, sign = 1 if surplus > 0 else -1
        cdef bint lower, upper
        cdef double rest = 1.0 - t, gap, nearest = INFINITY
        for i in range(v.n):
            state = self.state[i]
            self.sides(i, moves, count, &lower, &upper)
            if sign > 0 and state == 0 and lower:
                gap = -v.mu + self.off[i] * rest - self.g[i]
                if gap < nearest:
                    nearest, found, to = gap, i, 1
            elif sign > 0 and state == 2 and upper:
                gap = v.mu + fmax(self.off[i], 0.0) * rest - self.g[i]
                if gap < nearest:
                    nearest, found, to = gap, i, 3
            elif sign < 0 and state == 4 and upper:
                gap = self.g[i] - v.mu - self.off[i] * rest
                if gap < nearest:
                    nearest, found, to = gap, i, 3
            elif sign < 0 and state == 2 and lower:
                gap = self.g[i] + v.mu - fmin(self.off[i], 0.0) * rest
                if gap < nearest:
                    nearest, found, to = gap, i, 1
        if found < 0:
            return STUCK
        nearest = sign * fmax(nearest, 0.0)
        v.b += nearest
        for i in range(v.n):
            self.g[i] += nearest
        v.n_path_events += 1
        return self.enter(found, to, -sign)

    # -- when rounding has gathered ----------------------------------------------------------------

    cdef void refresh(self) noexcept nogil:
        """g from its definition"""
        cdef Solver *v = self.solver
        cdef int64_t i
        v.n_refreshed += 1
        for i in range(v.n):
            self.g[i] = v.b
        for i in range(v.n):
            if self.gamma[i] != 0.0:
                self.fill_row(self.vectors + i * self.row_bytes, self.row)
                add_scaled(self.gamma[i], self.row, self.g, v.n)

    cdef void from_scratch(self) noexcept nogil:
        """Sequential minimal optimisation from gamma = 0, then the margin set built anew."""
        cdef Solver *v = self.solver
        cdef int64_t i, j, c, left = 10000 + 2000 * v.n
        cdef double up, down, highest = 0.0, lowest = 0.0, middle, top, bottom, curve, step
        v.n_from_scratch += 1
        for i in range(v.n):
            self.gamma[i] = self.g[i] = 0.0
        while left:
            left -= 1
            i = j = -1
            highest, lowest = -INFINITY, INFINITY
            for c in range(v.n):
                middle = self.s_plus[c] - self.s_minus[c]
                up = (v.mu if self.gamma[c] < middle else -v.mu) - self.g[c]
                down = (-v.mu if self.gamma[c] > middle else v.mu) - self.g[c]
                if self.gamma[c] < self.s_plus[c] and up > highest:
                    highest, i = up, c
                if self.gamma[c] > -self.s_minus[c] and down < lowest:
                    lowest, j = down, c
            if i < 0 or j < 0 or not highest - lowest > 1e-3 * HAIR * v.mu:
                break
            middle = self.s_plus[i] - self.s_minus[i]
            top = middle if self.gamma[i] < middle else self.s_plus[i]
            middle = self.s_plus[j] - self.s_minus[j]
            bottom = middle if self.gamma[j] > middle else -self.s_minus[j]
            self.fill_row(self.vectors + i * self.row_bytes, self.row)
            self.fill_row(self.vectors + j * self.row_bytes, self.rate)
            curve = fmax(self.row[i] + self.rate[j] - 2.0 * self.row[j],
                         1e-14 * (self.row[i] + self.rate[j]))
            step = (highest - lowest) / curve
            if step < top - self.gamma[i] and step < self.gamma[j] - bottom:
                self.gamma[i] += step
                self.gamma[j] -= step
            elif top - self.gamma[i] <= self.gamma[j] - bottom:
                step = top - self.gamma[i]
                self.gamma[i] = top
                self.gamma[j] -= step
            else:
                step = self.gamma[j] - bottom
                self.gamma[i] += step
                self.gamma[j] = bottom
            for c in range(v.n):
                self.g[c] += step * (self.row[c] - self.rate[c])
        if isfinite(highest) and isfinite(lowest):
            v.b = 0.5 * (highest + lowest)
        else:
            v.b = highest if isfinite(highest) else lowest if isfinite(lowest) else 0.0
        self.refresh()
        self.rebuild()

    cdef void rebuild(self) noexcept nogil:
        """The margin set: all whose gamma is strictly between two plateaus."""
        cdef Solver *v = self.solver
        cdef int64_t i
        v.m = 0
        for i in range(v.n):
            self.state[i] = 2
        for i in range(v.n):
            if self.settle(i) != REACHED:
                self.state[i] += self.state[i] % 2

    # -- test doors and checks ---------------------------------------------------------------------

    def kt_residual(self):
        """Largest violation of the KT conditions, from the definition."""
        cdef int64_t i, n = self.solver.n
        if n == 0:
            return 0.0
        f = np.empty(n)
        for i in range(n):
            f[i] = self.g_of(self.vectors + i * self.row_bytes) / self.solver.mu
        held = [self.views[name][:n].copy() for name in ("gamma", "s_minus", "s_plus")]
        return residual(f, *held)

    def solve_from_scratch(self):
        """Test door."""
        self.from_scratch()

    def check(self):
        super().check()
        cdef Solver *v = self.solver
        if not 0 <= v.n <= self.slots or not 0 <= v.m <= v.n or packed(v.m) > self.pool_length:
            raise CorruptModelError(
                f"{v.n} twins, {v.m} of them on the margin, where there is room for {self.slots}")
        if min(v.n_path_events, v.n_exchanges, v.n_overflowed, v.n_refactored, v.n_refreshed,
               v.n_from_scratch, v.paths) < 0:
            raise CorruptModelError("a counter is negative")
        held = {name: self.views[name][:v.n] for name in ("s_minus", "s_plus", "gamma", "state")}
        weights, states = held["s_minus"] + held["s_plus"], held["state"]
        if (held["s_minus"] < 0).any() or (held["s_plus"] < 0).any() or (weights == 0).any():
            raise CorruptModelError("a weight is negative, or a twin has none")
        if not weights.sum() <= LARGEST_WEIGHT or not v.mu >= 0.0 or (v.n > 0 and v.mu == 0.0):
            raise CorruptModelError("the weights or the margin are out of range")
        if ((states < 0) | (states > 4)).any():
            raise CorruptModelError("a twin is in a state that does not exist")
        S = self.views["S"][:v.m]
        if not np.array_equal(np.sort(S), np.flatnonzero(states % 2)):
            raise CorruptModelError("the margin set is not that of the states")
        self.check_vectors()
        self.check_solution()
        self.check_factor()

    def check_vectors(self):
        cdef int64_t i
        for i in range(self.solver.n):
            if not isfinite(self.norm(self.vectors + i * self.row_bytes)):
                raise CorruptModelError(f"twin {i} is too far out")

    def check_solution(self):
        """gamma, b and g are those of the twins, as far as rounding can tell."""
        cdef Solver *v = self.solver
        cdef int64_t i
        cdef double noise = 0.0, g
        for i in range(v.n):
            noise += fabs(self.gamma[i]) * self.k(
                self.vectors + i * self.row_bytes, self.vectors + i * self.row_bytes)
        noise = 1e-6 * v.mu + 1e-12 * (noise + fabs(v.b))
        if noise > 1e-3 * v.mu:  # beyond what float64 resolves: nothing can be said
            return
        if not self.kt_residual() <= 1e-3:
            raise CorruptModelError("the coefficients are not those of the twins")
        for i in range(v.n):
            g = self.g_of(self.vectors + i * self.row_bytes)
            if not fabs(g - self.g[i]) <= noise:
                raise CorruptModelError("the decision values are not those of the twins")

    def check_factor(self):
        """L L^T is K_SS + lift, and the rows kept are rows of K."""
        cdef Solver *v = self.solver
        cdef int64_t p, q, n_rows = self.rows_with(v.m)
        cdef const double *L
        cdef double least = 0.0, ones
        scratch = np.empty(self.slots)
        cdef double *row = <double *> cnp.PyArray_DATA(scratch)
        if v.m > 0 and not 0.0 < v.lift <= LARGEST_NORM:
            raise CorruptModelError("the lift of the factor is out of range")
        for p in range(v.m):
            self.fill_row(self.vectors + self.S[p] * self.row_bytes, row)
            L = self.pool + packed(p)
            ones = dot(L, self.ones, p + 1) - 1.0
            least = 1e-9 * (row[self.S[p]] + v.lift)
            if not (L[p] > 0.0 and fabs(ones) < 1e-3):
                raise CorruptModelError("the factor is not that of the margin set")
            for q in range(p + 1):
                if not fabs(dot(L, self.pool + packed(q), q + 1)
                            - row[self.S[q]] - v.lift) <= least:
                    raise CorruptModelError("the factor is not that of the margin set")
            for q in range(v.n if p < n_rows else 0):
                if self.row_at(p)[q] != row[q]:
                    raise CorruptModelError("the kernel rows are not those of the twins")
