"""A store of a fixed number of samples and its SVM, compiled: the core of BatchSVM, ReservoirSVM
and BatchSVR.

The store is either unsolved, with its samples in the order of their slots and all else zero; or
solved, with the support vectors first and each sample's slot in `order`. Learning a sample makes it
unsolved; the next decision solves it from zero coefficients, so that the bytes of a solved store
depend on its samples only.

With a budget of non-zeros see core/nonzeros.pyx. With an array "w" the linear kernel has dual
coordinate descent, and decides by w = sum beta_t x_t, in the order of the support vectors.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY, fabs, isfinite
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from edgesvm.core.nonzeros cimport (
    Sample, is_sound, lacking, measure, put_nonzeros, sample_dot, square_nonzeros,
    weighted_nonzeros)
from edgesvm.core.linalg cimport entry, plane_dot
from edgesvm.core.rng cimport rng_below, rng_seed
from edgesvm.core.status cimport BAD_TARGET, CHANGED, FULL, NOT_FINITE, UNCHANGED, Status
from edgesvm.core.tiles cimport kernel_of_square, put_row
from edgesvm.learners.batch._smo cimport (
    CONVERGED, RUNNING, Outcome, Smo, SmoCore, add_row, dot_row, smo_begin, smo_complete, smo_gap,
    smo_gather, smo_intercept, smo_objective, smo_recompute, smo_restore, smo_run, smo_wipe)

import numpy as np

from edgesvm.errors import CorruptModelError, SampleRefused
from edgesvm.learners.batch.constants import most_iterations

cnp.import_array()

cdef double BALANCED, LARGEST_NORM, LARGEST_TARGET, SHARE, SUM_SQUARE
from edgesvm.core.constants import LARGEST_NORM
from edgesvm.learners.batch.constants import BALANCED, LARGEST_TARGET, SHARE, SUM_SQUARE

cdef int64_t BLOCK = 1000       # iterations between two looks at signals

cdef enum WhenFull:
    REFUSE = 0
    OLDEST = 1
    RANDOM = 2

WHEN_FULL = {"refuse": REFUSE, "oldest": OLDEST, "random": RANDOM}


# -- the linear kernel without kernel rows: dual coordinate descent --------------------------------
#
# With w = sum beta_t x_t the gradient of one sample, g_t = y_t - w.x_t, costs its non-zeros: Hsieh,
# Chang, Lin, Keerthi & Sundararajan 2008, Algorithm 3. Here the intercept is
# free, so that sum beta must be zero, by the method of multipliers (Hestenes 1969, Powell 1969): b
# is the multiplier, and each pass over the active samples, in an order that is drawn, minimizes
#
#     1/2 |w|^2 - sum |beta_t| + b sum beta + rho / 2 (sum beta)^2
#
# one coefficient at a time, beta_t <- beta_t + (g_t - b - rho sum beta) / (x_t.x_t + rho), clipped;
# after it b <- b + rho sum beta. A large rho brings the sum to zero in few passes of short steps.
#
# A coefficient that stays at its bound is set aside until the gap of the others is SHARE of what
# it was. The gradients of a pass are each of its moment. Once the gap among all is below `tol`, the
# rest of the sum is taken off coefficients between their bounds, and the gap of gradients computed
# anew decides. If it is not below `tol`, a pass has to have half of it.

cdef struct LinearDual:
    double b                # the multiplier of sum beta = 0
    double rho
    double total            # sum beta
    double tol              # of the gap in a pass of all samples
    double inner            # of that in a pass of those not set aside
    double most             # so far in this pass, as in Smo, where they are those of all samples
    double least
    bint whole              # this pass began with all samples
    int64_t n_active
    int64_t at              # samples visited in this pass
    uint64_t draws[4]


cdef void dual_begin(Smo *s, LinearDual *d, bint warm) noexcept nogil:
    """As `smo_begin`."""
    cdef int64_t t
    cdef double squares = 0.0
    smo_begin(s, warm)
    d.total = 0.0
    for t in range(s.n):
        order_of(s)[t] = <int32_t> t
        squares += s.diagonal[t]
        d.total += s.beta[t]
    d.rho = SUM_SQUARE * squares / s.n if squares > 0.0 else 1.0
    d.b, d.tol = smo_intercept(s), s.tol
    d.whole, d.n_active, d.at, d.most, d.least = True, s.n, 0, -INFINITY, INFINITY
    rng_seed(d.draws, 0)


cdef Outcome dual_run(Smo *s, LinearDual *d, int64_t n_more) noexcept nogil:
    """Make at most `n_more` iterations."""
    while True:
        if d.at == d.n_active and end_pass(s, d):
            return CONVERGED
        if n_more <= 0:
            return RUNNING
        if d.at < d.n_active:
            visit(s, d)
        s.n_iter += 1
        n_more -= 1


cdef inline int32_t *order_of(Smo *s) noexcept nogil:
    return <int32_t *> s.spare


cdef void visit(Smo *s, LinearDual *d) noexcept nogil:
    """Draw a sample not yet visited; move its coefficient to the minimum, or set it aside."""
    cdef int32_t *order = order_of(s)
    cdef int64_t j = d.at + rng_below(d.draws, d.n_active - d.at), t = order[j]
    cdef double low = min(s.bound[t], 0.0), high = max(s.bound[t], 0.0), beta = s.beta[t]
    cdef double g = (1.0 if high > 0.0 else -1.0) - dot_row(s, t), change
    cdef double to = beta + (g - d.b - d.rho * d.total) / (s.diagonal[t] + d.rho)
    if beta < high:
        d.most = max(d.most, g)
    if beta > low:
        d.least = min(d.least, g)
    if s.shrinking and ((beta == low and to <= low) or (beta == high and to >= high)):
        d.n_active -= 1
        order[j], order[d.n_active] = order[d.n_active], order[j]
        return
    order[j], order[d.at] = order[d.at], order[j]
    d.at += 1
    s.beta[t] = max(low, min(high, to))
    change = s.beta[t] - beta
    if change != 0.0:
        d.total += change
        add_row(s, t, change, s.w)


cdef bint end_pass(Smo *s, LinearDual *d) noexcept nogil:
    """Whether the solution is found; else begin the next pass."""
    cdef double gap = d.most - d.least, rest = 2.0 * fabs(d.total) * max(s.k_max, d.rho)
    if d.whole:
        s.most, s.least = d.most, d.least
        if gap < d.tol and rest <= s.tol:
            dual_complete(s, d)
            if not s.most - s.least >= s.tol:
                return True
            d.tol *= 0.5
        d.inner = max(d.tol, SHARE * gap)
    d.b += d.rho * d.total
    d.whole = not d.whole and gap < d.inner
    d.n_active, d.at, d.most, d.least = s.n if d.whole else d.n_active, 0, -INFINITY, INFINITY
    return False


cdef void dual_complete(Smo *s, LinearDual *d) noexcept nogil:
    """Take the rest of the sum off free coefficients; compute w, the gradient and the gap."""
    cdef int64_t t
    cdef double low, high, before
    for t in range(s.n):
        low, high, before = min(s.bound[t], 0.0), max(s.bound[t], 0.0), s.beta[t]
        if low < before < high:
            s.beta[t] = max(low, min(high, before - d.total))
            d.total += s.beta[t] - before
    smo_recompute(s)


# -- the store -------------------------------------------------------------------------------------

@cython.final
cdef class StoreSVMCore(SmoCore):
    """State and step. The public class has checked the parameters."""
    cdef int64_t max_iter
    cdef int64_t max_samples
    cdef WhenFull when_full
    cdef int64_t *n_held
    cdef int64_t *solved
    cdef int64_t *n_support
    cdef int64_t *n_iter
    cdef int64_t *converged
    cdef double *intercept
    cdef double *objective
    cdef double *gap
    cdef double *bound      # (max_samples,): y C weight; of a regressor C weight
    cdef double *targets    # (max_samples,), by slot; NULL: this is no regressor
    cdef uint64_t *rng      # (4,), if samples are drawn
    cdef double noise       # of the solution, see `noise_of`
    cdef LinearDual dual    # if there is a w
    cdef int64_t count      # non-zeros of the last sample

    def __init__(
        self, *common, C, kernel, tol, shrinking, max_iter, max_samples, when_full, seed=0,
        epsilon=None
    ):
        super().__init__(*common, C=C, kernel=kernel, tol=tol, shrinking=shrinking)
        self.decides_in_blocks = self.smo.rows.alone
        self.in_tiles = not self.is_sparse and not self.smo.rows.alone
        if self.in_tiles:
            self.note_tiles(&self.smo.rows, "rows")
        self.max_samples = max_samples
        self.max_iter = most_iterations(max_iter, max_samples, by_w=self.smo.w != NULL)
        self.when_full = WHEN_FULL[when_full]
        self.n_held = <int64_t *> self.array("n_held")
        self.solved = <int64_t *> self.array("solved")
        self.n_support = <int64_t *> self.array("n_support")
        self.n_iter = <int64_t *> self.array("n_iter")
        self.converged = <int64_t *> self.array("converged")
        self.intercept = <double *> self.array("intercept")
        self.objective = <double *> self.array("objective")
        self.gap = <double *> self.array("gap")
        self.bound = <double *> self.array("bound")
        if epsilon is not None:
            self.regresses = self.smo.bends = True
            self.smo.epsilon = epsilon
            self.smo.linear = self.targets = <double *> self.array("targets")
        if self.when_full == RANDOM:
            self.rng = <uint64_t *> self.array("rng")
            if not self.views["rng"].any():
                rng_seed(self.rng, seed)

    # -- samples -----------------------------------------------------------------------------------

    cdef double k_of(self, const void *x, double *square) noexcept nogil:
        """k(x, x), and of a sparse store x.x; infinite or NaN if it cannot be squared"""
        cdef Sample sample
        if not self.is_sparse:
            return self.self_kernel(x)
        sample = self.sample_of(x)
        measure(self.is_float32, &sample, &self.count, square)
        return kernel_of_square(&self.kernel, square[0])

    # -- the store ---------------------------------------------------------------------------------

    cdef int64_t place(self) noexcept nogil:
        """The slot of the next sample; -1: the sample is not stored; -2: the store is full."""
        cdef int64_t n = self.n_learned(), draw
        if n < self.max_samples:
            return n
        if self.when_full == OLDEST:
            return n % self.max_samples
        if self.when_full == RANDOM:
            draw = rng_below(self.rng, n + 1)
            return draw if draw < self.max_samples else -1
        return -2

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef double square
        cdef Status status = self.refuses_kernel(self.k_of(x, &square), weight)
        cdef int64_t place
        cdef Sample sample
        if self.targets != NULL and not fabs(y) <= LARGEST_TARGET:
            return BAD_TARGET
        if status != UNCHANGED:
            return status
        place = self.place()
        if place < 0:
            return UNCHANGED if place == -1 else FULL
        if self.is_sparse:
            if self.lacks(place) > 0:
                return FULL
            self.forget_solution()
            sample = self.sample_of(x)
            put_nonzeros(&self.nonzeros, place, &sample)
        else:
            self.forget_solution()
            put_row(&self.smo.rows, place, x)
        if self.targets != NULL:
            self.targets[place], y = y, 1.0
        self.bound[place] = y * self.C * weight
        self.n_held[0] = max(self.n_held[0], place + 1)
        return CHANGED

    cdef int64_t lacks(self, int64_t place) noexcept nogil:
        """Entries that are too few for the last sample to be stored at a place; <= 0: none"""
        cdef int64_t t = place
        if self.solved[0] and place < self.n_held[0]:
            t = 0       # where the row of that slot is now
            while self.smo.order[t] != place:
                t += 1
        return lacking(&self.nonzeros, t, self.count)

    def explained(self, error):
        if error.status != FULL or not self.is_sparse or (
                self.when_full == REFUSE and self.n_learned() >= self.max_samples):
            return error
        size = 4 + self.dtype.itemsize
        sample = str(error).partition(" does not fit")[0]
        return SampleRefused(
            f"{sample} does not fit: it takes {size * (self.count + 1):,} bytes for its"
            f" {self.count:,} non-zeros, and"
            f" {size * (self.nonzeros.room - self.nonzeros.taken[1]):,} of"
            f" {size * self.nonzeros.room:,} are free; give a larger max_nonzeros", FULL)

    cdef void forget_solution(self) noexcept nogil:
        """Restore the order of the slots and clear the solution."""
        if not self.solved[0]:
            return
        self.smo.n = self.n_held[0]
        smo_restore(&self.smo)
        memset(self.smo.beta, 0, self.smo.n * sizeof(double))
        memset(self.smo.order, 0, self.smo.n * sizeof(int32_t))
        self.solved[0] = self.n_support[0] = self.n_iter[0] = self.converged[0] = 0
        self.intercept[0] = self.objective[0] = self.gap[0] = 0.0
        if self.smo.w != NULL:
            memset(self.smo.w, 0, self.n_features * sizeof(double))

    # -- solving -----------------------------------------------------------------------------------

    @property
    def is_solved(self):
        return self.solved[0] != 0

    def begin(self, alpha=None):
        """Set up the solver; `alpha` (n_held,), float64, in the order of slots, is the start."""
        cdef const double *start = NULL
        if alpha is not None:
            start = <const double *> cnp.PyArray_DATA(alpha)
        self.begin_rows(self.n_held[0])
        self.forget_solution()
        self.smo.n = self.n_held[0]
        with nogil:
            if start != NULL:
                self.take_coefficients(start)
            self.begin_solver(start != NULL)

    cdef void begin_solver(self, bint warm) noexcept nogil:
        if self.smo.w != NULL:
            dual_begin(&self.smo, &self.dual, warm)
        else:
            smo_begin(&self.smo, warm)

    cdef void take_coefficients(self, const double *alpha) noexcept nogil:
        """Clip to the box, then scale down the side with the larger sum until sum beta = 0."""
        cdef double *beta = self.smo.beta
        cdef double total[2]
        cdef double scale[2]
        cdef double size
        cdef int64_t t
        cdef bint k
        total[0] = total[1] = 0.0
        for t in range(self.smo.n):
            size = fabs(alpha[t]) if self.targets != NULL else alpha[t]
            beta[t] = min(size, fabs(self.bound[t])) if size > 0.0 else 0.0
            total[self.grows(alpha, t)] += beta[t]
        if fabs(total[0] - total[1]) <= BALANCED * total[0]:
            total[0] = total[1]     # coefficients at their bounds stay there
        for t in range(2):
            scale[t] = min(1.0, total[1 - t] / total[t]) if total[t] > 0.0 else 0.0
        for t in range(self.smo.n):
            k = self.grows(alpha, t)
            beta[t] *= scale[k] if k else -scale[k]

    cdef bint grows(self, const double *alpha, int64_t t) noexcept nogil:
        """Whether the coefficient is above zero"""
        return (alpha[t] if self.targets != NULL else self.bound[t]) > 0.0

    def advance(self, int64_t n_iter):
        """Make at most `n_iter` more iterations; return whether the solution is unfinished."""
        cdef Outcome outcome
        with nogil:
            outcome = self.run(n_iter)
        self.guard.look_at_signals()
        return outcome == RUNNING and self.smo.n_iter < self.max_iter

    cdef Outcome run(self, int64_t n_iter) noexcept nogil:
        cdef int64_t n = min(n_iter, self.max_iter - self.smo.n_iter)
        cdef Outcome outcome
        if self.smo.w != NULL:
            outcome = dual_run(&self.smo, &self.dual, n)
        else:
            outcome = smo_run(&self.smo, n)
        self.converged[0] = outcome == CONVERGED
        return outcome

    @property
    def progress(self):
        """(iterations done, gap)"""
        return self.smo.n_iter, smo_gap(&self.smo)

    def finish(self):
        with nogil:
            self.conclude()
        self.end_rows()

    def abandon(self):
        """As if `begin` had not been called."""
        self.end_rows()
        self.undo()

    cdef void undo(self) noexcept nogil:
        smo_restore(&self.smo)
        smo_wipe(&self.smo)
        self.solved[0] = 1
        self.forget_solution()

    cdef void conclude(self) noexcept nogil:
        """Store the solution and move the support vectors to the front."""
        cdef Smo *s = &self.smo
        if s.w != NULL:
            dual_complete(s, &self.dual)
        else:
            smo_complete(s)
        self.intercept[0], self.objective[0] = smo_intercept(s), smo_objective(s)
        self.gap[0], self.n_iter[0] = smo_gap(s), s.n_iter
        smo_restore(s)
        self.n_support[0] = smo_gather(s)
        smo_wipe(s)
        self.solved[0] = 1
        if s.w != NULL:
            self.sum_up(s.w)
        elif not self.is_sparse:
            self.noise = self.noise_of(&s.rows, self.n_support[0], s.beta)

    cdef void sum_up(self, double *w) noexcept nogil:
        """w = sum beta_t x_t over the support vectors"""
        cdef int64_t t
        memset(w, 0, self.n_features * sizeof(double))
        for t in range(self.n_support[0]):
            add_row(&self.smo, t, self.smo.beta[t], w)

    def solve_if_due(self):
        """Solve what `decide` would have to, with looks at signals."""
        if self.guard.is_taken():
            self.guard.await_reading(False)     # what is looked at here may be half written
        if self.solved[0] or self.n_learned() == 0:
            return
        self.guard.begin()
        try:
            # another thread may have solved, or emptied the store, while this one waited
            if not self.solved[0] and self.n_learned() > 0 and self.successor is None:
                self.solve_in_blocks()
        finally:
            self.guard.end()

    cdef int solve_in_blocks(self) except -1:
        """Without notes of the tiles, since a sample must not allocate."""
        cdef Outcome outcome = RUNNING
        self.smo.n = self.n_held[0]
        try:
            with nogil:
                self.begin_solver(False)
            while outcome == RUNNING and self.smo.n_iter < self.max_iter:
                with nogil:
                    outcome = self.run(BLOCK)
                self.guard.look_at_signals()
        except BaseException:
            self.undo()
            raise
        with nogil:
            self.conclude()
        return 0

    cdef void settle(self) noexcept nogil:
        """Solve unless the solution is up to date."""
        if not self.solved[0]:
            self.smo.n = self.n_held[0]
            self.begin_solver(False)
            self.run(self.max_iter)
            self.conclude()

    # -- decisions ---------------------------------------------------------------------------------

    cdef bint decides_alone(self) noexcept nogil:
        return self.is_sparse or not self.solved[0]     # a sparse row is known by `batch`

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        cdef double square
        cdef Sample sample
        if not isfinite(self.k_of(x, &square)):
            return NOT_FINITE
        self.settle()
        if self.smo.rows.alone:
            value[0] = plane_dot(self.is_float32, x, self.smo.w, self.n_features)
            value[0] += self.intercept[0]
        elif self.smo.w != NULL:
            sample = self.sample_of(x)
            value[0] = self.intercept[0] + sample_dot(self.is_float32, &sample, self.smo.w)
        elif self.is_sparse:
            value[0] = self.intercept[0] + weighted_nonzeros(
                &self.nonzeros, &self.kernel, x, square, self.n_support[0], self.smo.beta)
        else:
            value[0] = self.intercept[0] + self.weighted(
                &self.smo.rows, self.n_support[0], self.smo.beta, self.noise, x)
        return UNCHANGED if isfinite(value[0]) else NOT_FINITE

    cdef int64_t decide_block(
        self, const void *x, const void *squares, int64_t n, double *values
    ) noexcept nogil:
        cdef int64_t i = 0
        while i < n and self.decide(
                <const char *> x + i * self.row_bytes, values + i) == UNCHANGED:
            i += 1
        return i

    cdef int64_t held(self, const char **vectors) noexcept nogil:
        if not (self.in_tiles and self.n_per_class[0] and self.n_per_class[1]):
            return 0
        self.settle()
        vectors[0] = self.smo.rows.data
        return self.n_support[0]

    cdef int64_t decide_known(
        self, const double *known, const int32_t *number, const void *x, int64_t n, double *values
    ) noexcept nogil:
        """In eight lanes, as `weighted_kernel` adds"""
        cdef double[8] s
        cdef int64_t t
        if not isfinite(self.self_kernel(x)) or self.hides(self.noise, x):
            return 0
        memset(s, 0, sizeof(s))
        for t in range(self.n_support[0]):
            s[t % 8] += self.smo.beta[t] * entry(self.is_float32, known, number[t])
        values[0] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
        values[0] += self.intercept[0]
        return isfinite(values[0])

    # -- checks of a loaded arena ------------------------------------------------------------------

    def check(self):
        super().check()
        held = self.n_held[0]
        if held != min(self.n_learned(), self.max_samples) or (
                self.when_full == REFUSE and self.n_learned() > self.max_samples):
            raise CorruptModelError(
                f"{held} of {self.n_learned()} samples learned are stored, there is room for"
                f" {self.max_samples}")
        if self.targets != NULL and self.views["targets"][held:].any():
            raise CorruptModelError("an unused row has a target")
        beta, order = self.views["beta"], self.views["order"]
        self.check_held(self.views.get("rows"), self.views["bound"], beta, held)
        if self.is_sparse:
            self.check_nonzeros(held)
        support = self.n_support[0]
        if support > held * self.solved[0]:
            raise CorruptModelError(f"{support} support vectors among {held} samples")
        if not beta[:support].all() or beta[support:].any():
            raise CorruptModelError(f"the first {support} samples are not the support vectors")
        expected = np.arange(held) if self.solved[0] else np.zeros(held)
        if order[held:].any() or (np.sort(order[:held]) != expected).any():
            raise CorruptModelError("the order of the samples is not a permutation")
        if self.smo.w == NULL and not self.is_sparse:
            self.noise = self.noise_of(&self.smo.rows, support, self.smo.beta)
        elif self.smo.w != NULL:
            w = np.zeros(self.n_features)
            if self.solved[0]:
                self.sum_up(<double *> cnp.PyArray_DATA(w))
            if w.tobytes() != self.views["w"].tobytes():
                raise CorruptModelError("w is not the sum of the support vectors")

    cdef int check_nonzeros(self, int64_t held) except -1:
        cdef bint fine = is_sound(&self.nonzeros, held)
        cdef int64_t t
        if not fine or self.views["starts"][held:].any() or self.views["lengths"][held:].any():
            raise CorruptModelError("the entries are not those of the rows that are held")
        for t in range(held):
            fine = fine and kernel_of_square(
                &self.kernel, square_nonzeros(&self.nonzeros, t)) <= LARGEST_NORM
        if not fine:
            raise CorruptModelError("a sample is larger than any that can be learned")
        return 0
