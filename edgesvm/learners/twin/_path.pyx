"""The path, compiled: weights and margin move linearly, and the Kuhn-Tucker conditions hold at
every point.

While weights and mu move linearly with t from 0 to 1, coef_S and b follow from the bordered system
of the margin set, and every g from them. An event is a twin that reaches a step or the end of its
step. Rounding errors left in g (`off`) are reduced linearly to 0 on the same path. Time of an
event: O(n |S|).
"""

from libc.math cimport INFINITY, fabs, fmax, fmin, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t
from libc.string cimport memcpy, memset

from edgesvm.core.kernels cimport RBF
from edgesvm.core.linalg cimport dot
from edgesvm.core.packed_factor cimport factor_row, factor_rows, factor_solve
from edgesvm.learners.twin._margin_set cimport (
    OVERFLOWED, REACHED, STUCK, MarginSetCore, Outcome, Row, Solver, plateau, twin_add,
    twin_add_rows)

cdef extern from "twin_passes.h" nogil:
    void twin_offsets(
        const double *g, const int8_t *state, const double *minus, const double *plus, double mu,
        int64_t n, double *off) noexcept
    int64_t twin_near(
        const double *g, const double *rate, const double *off, const int8_t *state, int64_t j,
        int64_t n, double mu, double d_mu, double rest, double tolerance) noexcept
    int64_t twin_add_blocks(
        int kind, double gamma, int is_float32, const char *vectors, int64_t width,
        const int32_t *S, const double *a, int64_t p, int64_t m, double *y, int64_t n) noexcept

cdef double EVENT_TOLERANCE, NOISE, ROUNDING, DRIFT
cdef int64_t REFRESH, MANY_EVENTS
cdef int POLISHES
from edgesvm.learners.twin.constants import (
    DRIFT, EVENT_TOLERANCE, MANY_EVENTS, NOISE, POLISHES, REFRESH, ROUNDING)


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


cdef class PathCore(MarginSetCore):
    """Paths from one set of weights to another."""

    def __init__(self, *common, kernel):
        super().__init__(*common, kernel=kernel)
        self.off = <double *> self.array("off")
        self.push = <double *> self.array("push")

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
        if outcome == STUCK:
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
        """Reduce the weight of a twin that will be removed to what its coefficient uses, and take
        it off the margin set. The other twins are not affected."""
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
        """A twin without weight of one class has no step on that side; before it gets one, decide
        which of the adjacent plateaus it is on."""
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
                    twin_add(rate - move.rate, self.row, self.push, self.solver.n)
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
            twin_add(self.factor.solution[1 + p], self.row_of(p), self.rate, v.n)

    # -- events ------------------------------------------------------------------------------------

    cdef void first_event(self, const Walk *walk, Event *event) noexcept nogil:
        """The distance to the first event, and which; none if the end comes first."""
        event.length, event.place, event.twin = 1.0 - walk.t, -1, -1
        event.to = event.direction = 0
        self.first_to_leave(walk, event)
        self.first_to_enter(walk, event)

    cdef void first_to_leave(self, const Walk *walk, Event *event) noexcept nogil:
        """The twin on a step that reaches an end of it before the first event found so far, if
        any."""
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
        """The steps next to a twin's plateau that it has or is about to get; return how many, at
        most two."""
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
        twin_add(length, self.rate, self.g, v.n)
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
        """No twin is on a step, and the coefficients would not sum to 0: move b until one twin
        reaches a step."""
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
