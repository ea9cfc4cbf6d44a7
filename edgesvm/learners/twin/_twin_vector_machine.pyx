"""TwinVectorMachine, compiled: Algorithms 1 to 3 of Wang & Vucetic 2009 on the adiabatic solver.

One path adds a new sample, removes the twins that make room for it, and changes C accordingly
(UpdateTVM). The pair to merge is the one of smallest distortion that passes the test of 4.2.4,
preferably one that hardly shifts the decision function. If none of the CANDIDATES nearest passes,
the best of them is merged, so that learning never stops. With rejection="paper" the test alone
decides, over all pairs, and if none passes the new sample is ignored.
"""

from libc.math cimport INFINITY, fabs, fmax, isfinite, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcmp, memmove

from edgesvm.core.kernels cimport RBF
from edgesvm.core.linalg cimport real
from edgesvm.core.tiles cimport kernel_of_sums
from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, Status
from edgesvm.learners._forgetting cimport (
    Forgetting, after_a_drift, fault_of_forgetting, weight_left)
from edgesvm.learners.twin._adiabatic cimport AdiabaticCore
from edgesvm.learners.twin._margin_set cimport (
    KEPT, OVERFLOWED, REACHED, STUCK, Outcome, Row, Solver)
from edgesvm.learners.twin._path cimport Move

cdef extern from "twin_passes.h" nogil:
    double twin_weigh(
        double s, const double *minus, const double *plus, int64_t n, double most,
        double *row) noexcept
    double twin_lower(
        const double *row, const double *minus, const double *plus, int64_t n, int above,
        double most, double *bound) noexcept
    int64_t twin_nearest(
        const double *row, const double *g, int64_t n, int side, double most) noexcept
    int64_t twin_moved(const double *bound, const double *g, int64_t j, int64_t n) noexcept
    int64_t twin_below(const double *row, int64_t j, int64_t n, double most) noexcept
    int64_t twin_farthest(const double *g, int64_t n) noexcept
    double twin_sum(const double *x, int64_t n) noexcept

cdef double LEAST_SHARE, LEAST_TOTAL, OPEN_FOR
cdef double EDGE, MAX_SHIFT, TIE, GOLDEN
cdef int PLACES, SECTIONS
from edgesvm.learners.constants import LEAST_SHARE, LEAST_TOTAL, OPEN_FOR
from edgesvm.learners.twin.constants import (
    EDGE, GOLDEN, MAX_SHIFT, PLACES, SECTIONS, TIE)

cpdef enum:
    CANDIDATES = 64     # pairs tested for one merge

# Larger than every distortion, and finite.
cdef double MAX_DISTORTION = 1e300


cdef void between(
    const real *x, const real *z, double part, real *q, int64_t n_features
) noexcept nogil:
    """q = x + part * (z - x)"""
    cdef int64_t j
    for j in range(n_features):
        q[j] = <real> (<double> x[j] + part * (<double> z[j] - <double> x[j]))


cdef class TwinVectorMachineCore(AdiabaticCore):
    """State and step. The public class has checked the parameters."""

    def __init__(self, *common, C, m1, m2, eta, merge, merge_side, rejection, control_C, half_life,
                 threshold, kernel):
        super().__init__(*common, kernel=kernel)
        self.C, self.m1, self.m2, self.eta = C, m1, m2, eta
        self.in_feature_space = merge == "feature"
        self.one_sided, self.control_C = merge_side == "one", control_C
        self.rejection, self.as_printed = bool(rejection), rejection == "paper"
        self.forgets, self.half_life, self.threshold = half_life >= 0.0, half_life, threshold
        self.max_twins = self.slots - 2
        self.counters = <Counters *> self.array("n_accepted")
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
        cdef double part = weight_left(self.forgetting, self.half_life, self.threshold, is_wrong)
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
        """Algorithm 3: make room for the new sample by removing a twin far from the margin, or by a
        merge. `known`: some of the new sample's row of K."""
        cdef Move moves[4]
        cdef Move *last
        cdef double values[KEPT]
        cdef Row merged
        cdef Counters before = self.counters[0]
        cdef int n_removed = 0, n_placed = 1
        cdef int64_t k
        merged.n, merged.k = 0, values
        if self.solver.n == self.max_twins:
            k = twin_farthest(self.g, self.solver.n)
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
        self, Move *moves, int n_removed, int n_placed, const Counters *before
    ) noexcept nogil:
        """Follow one path, then remove the first `n_removed`, which have no weight left; or, if the
        path was undone, those placed last, and restore the counters."""
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
        """row[j] = s_i s_j / (s_i + s_j) times the squared distance of twins i and j, in input or
        feature space, from j = first on; MAX_DISTORTION for i itself. Returns the least of them."""
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
        cdef int64_t i = 0, n = self.solver.n
        while self.one_sided and i < n:
            i = twin_moved(self.distortion_bound, self.g, i, n)
            if i < n:
                self.measure(i)
            i += 1

    cdef Outcome merge_on_margin(self) noexcept nogil:
        """The margin set has no room: drop the new sample and merge two margin twins instead."""
        cdef Move moves[3]
        cdef double values[KEPT]
        cdef Row merged
        cdef Counters before = self.counters[0]
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
        """Merge the best pair that passes the test; if none passes, the best of all, or, as
        printed, none (False). `kept`: the merged twin's row of K, if it is known."""
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
        """The first pair that passes the test and is gentle; else the first that passes; else that
        of least error."""
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
        """The pair of smallest distortion that passes the test, if there is one."""
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
        cdef int64_t i = -1, j, n = self.solver.n
        best.distortion = MAX_DISTORTION
        while True:
            i = twin_below(self.distortion_bound, i + 1, n, best.distortion)
            if i == n:
                break
            self.fill_distortions(i, 0)
            j = self.nearest_of(i, 0, MAX_DISTORTION)
            self.set_bound(i, self.row[j] if j >= 0 else MAX_DISTORTION)
            if j >= 0 and j < i:
                j = self.nearest_of(i, i + 1, best.distortion)
            if j >= 0 and self.row[j] < best.distortion:
                best.distortion, best.i, best.j = self.row[j], i, j
        return best.distortion < MAX_DISTORTION

    cdef int64_t nearest_of(self, int64_t i, int64_t first, double most) noexcept nogil:
        """The twin from `first` on of least distortion with i, of those below `most` with which it
        may be merged; -1 if there is none."""
        cdef int side = self.g[i] > 0.0 if self.one_sided else -1
        cdef int64_t j = twin_nearest(
            self.row + first, self.g + first, self.solver.n - first, side, most)
        return first + j if j >= 0 else -1

    cdef int candidates(self, Pair *pairs, bint of_margin) noexcept nogil:
        """The pairs of smallest distortion, in ascending order; only those on one side of the
        boundary if there are any; only margin twins if `of_margin`."""
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
        cdef int count = 0, c, low
        cdef double distortion, most = INFINITY     # what comes in is below it, once all are there
        cdef bint bounded = one_sided == self.one_sided
        for i in range(n):
            if count == CANDIDATES and bounded and fabs(self.distortion_bound[i]) >= most:
                continue
            self.fill_distortions(i, i + 1)
            j = i
            while True:
                j += 1
                if count == CANDIDATES:
                    j = twin_below(self.row, j, n, most)
                if j >= n:
                    break
                distortion = self.row[j]
                if not self.may_merge(i, j, one_sided, of_margin):
                    continue
                if distortion < after.distortion or (distortion == after.distortion and (
                        i < after.i or (i == after.i and j <= after.j))):
                    continue
                low, c = 0, count       # its place is behind all that are not above it
                while low < c:
                    if distortion < pairs[(low + c) // 2].distortion:
                        c = (low + c) // 2
                    else:
                        low = (low + c) // 2 + 1
                count = min(count + 1, <int> CANDIDATES)
                memmove(pairs + c + 1, pairs + c, (count - 1 - c) * sizeof(Pair))
                pairs[c].distortion, pairs[c].i, pairs[c].j = distortion, i, j
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
        """Whether g at q moves by at most MAX_SHIFT when q gets the coefficients of the two;
        bounded by the norm of the change in feature space times that of q."""
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
        """The place on the line from q_i to q_j of smallest distortion in feature space: the best
        of `PLACES`, then golden sections between its neighbours."""
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
        if self.forgets and fault_of_forgetting(self.forgetting) != NULL:
            return fault_of_forgetting(self.forgetting)
        return AdiabaticCore.fault(self)
