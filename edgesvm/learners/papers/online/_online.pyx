"""The online learners that the papers compare with, compiled: those with a plane, the weights w of
which the last is that of a constant feature 1, and w.w; and those with a kernel expansion
f(x) = sum_i coef_i k(x_i, x) over the stored samples x_i. Each class says which paper it is of.

Bytes: of a plane 40 + (D + 1) s, time O(D); of M slots 40 + M (D s + 8), time M kernel values.
"""

cimport cython
from libc.math cimport INFINITY, fabs, fmax, fmin, isfinite, sqrt
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from edgesvm.contract.kernel_core cimport KernelCore
from edgesvm.core.linalg cimport BLOCK, any_dot, any_score_rows, axpby, dot_square, entry
from edgesvm.core.linalg cimport item_at, item_bytes, real
from edgesvm.core.rng cimport rng_below, rng_seed
from edgesvm.core.rows cimport ROWS_BLOCK, ROWS_WIDEST, rows_block_weigh
from edgesvm.core.status cimport BAD_WEIGHT, CHANGED, NOT_FINITE, UNCHANGED, Status

cdef double AT_BOUND, FORGETRON_SHARE, LEAST_WEIGHT, LEVEL, MOST, WW_WITHIN
from edgesvm.learners.papers.online.constants import (
    AT_BOUND, FORGETRON_SHARE, LEAST_WEIGHT, LEVEL, MOST, MOST_WW, WW_WITHIN)

cdef enum:
    TOGETHER = 64   # kernel values computed at once, on the stack: a decision writes nothing else


cdef class LinearCore(LearnerCore):
    """A plane, for a subclass to move. The public class has checked the parameters."""

    def __init__(self, *common, fit_intercept):
        super().__init__(*common)
        self.intercept = fit_intercept
        self.width = self.n_features + self.intercept
        self.w = self.array("w")
        self.ww = <double *> self.array("ww")
        self.most_ww = MOST_WW[self.dtype.name]
        self.decides_in_blocks = True

    cdef Status measure(self, const void *x, double *wx, double *xx) noexcept nogil:
        """w.x and x.x, the constant feature included"""
        if self.is_float32:
            products(<const float *> x, <const float *> self.w, self.n_features, wx, xx)
        else:
            products(<const double *> x, <const double *> self.w, self.n_features, wx, xx)
        if not isfinite(xx[0]):
            return NOT_FINITE
        if self.intercept:
            wx[0] += entry(self.is_float32, self.w, self.n_features)
            xx[0] += 1.0
        return UNCHANGED

    cdef Status move(self, double step, const void *x, double xx, double weight) noexcept nogil:
        """w += step x, unless w would become too long."""
        cdef double norm = sqrt(self.ww[0]) + fabs(step) * sqrt(xx)
        if not norm * norm <= self.most_ww:
            return NOT_FINITE if weight == 1.0 else BAD_WEIGHT
        self.add(step, x, self.w)
        self.ww[0] = self.square(self.w)
        return CHANGED

    cdef void add(self, double step, const void *x, char *sum_) noexcept nogil:
        """sum_ += step x, the constant feature included"""
        if self.is_float32:
            add_typed(
                <float> step, <const float *> x, <float *> sum_, self.n_features, self.intercept)
        else:
            add_typed(step, <const double *> x, <double *> sum_, self.n_features, self.intercept)

    cdef double square(self, const char *row) noexcept nogil:
        """row.row, of `width` numbers"""
        return any_dot(self.is_float32, row, row, self.width)

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        cdef double xx
        value[0] = 0.0
        return self.measure(x, value, &xx)

    cdef int64_t decide_block(
        self, const void *x, const void *squares, int64_t n, double *values
    ) noexcept nogil:
        cdef int64_t i = 0, j, row = self.n_features * item_bytes(self.is_float32)
        cdef double constant = 0.0
        if self.intercept:
            constant = entry(self.is_float32, self.w, self.n_features)
        while i + BLOCK <= n and any_score_rows(
                self.is_float32, <const char *> x + i * row, self.w, self.n_features, n - i,
                item_at(self.is_float32, squares, i), values + i):
            for j in range(i, i + BLOCK):
                values[j] += constant
            i += BLOCK
        return i

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = LearnerCore.fault(self)
        cdef double square = self.square(self.w)
        if found != NULL:
            return found
        if not fabs(self.ww[0] - square) <= WW_WITHIN * square:
            return b"w.w is not that of the weights"
        if not fmax(square, self.ww[0]) <= self.most_ww:
            return b"the weights are too large"
        return NULL


cdef inline void products(
    const real *x, const real *w, int64_t n, double *wx, double *xx
) noexcept nogil:
    """wx, xx = w @ x, x @ x"""
    cdef real product, square
    dot_square(x, w, n, &product, &square)
    wx[0], xx[0] = product, square


cdef inline void add_typed(
    real step, const real *x, real *sum_, int64_t n, bint constant
) noexcept nogil:
    """sum_ += step * x, with a 1 appended to x if `constant`"""
    axpby(step, x, <real> 1.0, sum_, n)
    if constant:
        sum_[n] += step


@cython.final
cdef class PerceptronCore(LinearCore):
    """Rosenblatt 1958: w = w + y x for each sample with y w.x <= 0."""

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef double wx, xx
        cdef Status status = self.measure(x, &wx, &xx)
        if status > CHANGED:
            return status
        if y * wx > 0.0:
            return UNCHANGED
        return self.move(weight * y, x, xx, weight)


cdef enum Variant:
    PA
    PA_I
    PA_II

VARIANTS = {"PA": PA, "PA-I": PA_I, "PA-II": PA_II}


@cython.final
cdef class PassiveAggressiveCore(LinearCore):
    """Crammer et al. 2006, Figure 1: w = w + tau y x, with tau by the variant."""
    cdef readonly double C
    cdef readonly Variant variant

    def __init__(self, *common, fit_intercept, C, variant):
        super().__init__(*common, fit_intercept=fit_intercept)
        self.C = C
        self.variant = VARIANTS[variant]

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef double wx, xx, loss
        cdef Status status = self.measure(x, &wx, &xx)
        if status > CHANGED:
            return status
        loss = 1.0 - y * wx
        if loss <= 0.0 or xx == 0.0:
            return UNCHANGED
        return self.move(self.tau(loss, xx, self.C * weight) * y, x, xx, weight)

    cdef double tau(self, double loss, double xx, double C) noexcept nogil:
        """The length of the step, in units of x"""
        if self.variant == PA_II:
            return loss / (xx + 0.5 / C)
        if self.variant == PA_I:
            return fmin(C, loss / xx)
        return loss / xx


@cython.final
cdef class PegasosCore(LinearCore):
    """Shalev-Shwartz, Singer & Srebro 2007, Figure 1. The sum of y x over the samples of a batch
    with y w.x < 1 is collected in `gradient`; the last sample of the batch takes the step. As w is
    a mean of such sums divided by lambda k, |w| <= max s |x| / lambda: samples longer than that
    allows are refused, so nothing overflows later."""
    cdef readonly double lambda_
    cdef readonly int64_t batch_size
    cdef readonly bint project
    cdef int64_t *n_steps       # t - 1
    cdef int64_t *n_waiting     # samples of the current batch
    cdef char *gradient         # (width,): sum of y x over those with y w.x < 1

    def __init__(self, *common, fit_intercept, lambda_, batch_size, project):
        super().__init__(*common, fit_intercept=fit_intercept)
        self.lambda_ = lambda_
        self.batch_size = batch_size
        self.project = project
        self.n_steps = <int64_t *> self.array("n_steps")
        self.n_waiting = <int64_t *> self.array("n_waiting")
        self.gradient = self.array("gradient")

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef double wx, xx
        cdef Status status = self.measure(x, &wx, &xx)
        if status > CHANGED:
            return status
        if not self.bound_of(weight * sqrt(xx)) <= self.most_ww:
            return NOT_FINITE if weight == 1.0 else BAD_WEIGHT
        if y * wx < 1.0:
            self.add(weight * y, x, self.gradient)
            status = CHANGED
        self.n_waiting[0] += 1
        if self.n_waiting[0] == self.batch_size:
            self.descend()
            status = CHANGED
        return status

    cdef double bound_of(self, double length) noexcept nogil:
        """Bound of |w|^2 and of |gradient|^2, if no sample is longer than `length`"""
        length *= fmax(1.0 / self.lambda_, <double> self.batch_size)
        return length * length

    cdef void descend(self) noexcept nogil:
        """w = (1 - eta lambda) w + eta / k gradient,  eta = 1 / (lambda t)"""
        self.n_steps[0] += 1
        cdef double t = self.n_steps[0]
        self.combine(1.0 - 1.0 / t, 1.0 / (self.lambda_ * t * self.batch_size))
        if self.project and self.ww[0] > 1.0 / self.lambda_:
            self.combine(1.0 / sqrt(self.lambda_ * self.ww[0]), 0.0)
        memset(self.gradient, 0, self.width * item_bytes(self.is_float32))
        self.n_waiting[0] = 0

    cdef void combine(self, double a, double b) noexcept nogil:
        """w = a w + b gradient"""
        if self.is_float32:
            axpby(<float> b, <const float *> self.gradient, <float> a, <float *> self.w, self.width)
        else:
            axpby(b, <const double *> self.gradient, a, <double *> self.w, self.width)
        self.ww[0] = self.square(self.w)

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = LinearCore.fault(self)
        if found != NULL:
            return found
        if self.n_steps[0] * self.batch_size + self.n_waiting[0] > self.n_learned():
            return b"the snapshot's steps are not those of its samples"
        if not self.square(self.gradient) <= self.most_ww:
            return b"the snapshot's gradient is too large"
        return NULL


cdef class ExpansionCore(KernelCore):
    """A kernel expansion, for a subclass to change. The public class has checked the parameters."""
    cdef readonly int64_t capacity
    cdef int64_t *n_held
    cdef double *coef       # (capacity,)
    cdef char *vectors      # (capacity, n_features)

    def __init__(self, *common, kernel):
        super().__init__(*common, kernel=kernel)
        self.capacity = len(self.views["coef"])
        self.n_held = <int64_t *> self.array("n_held")
        self.coef = <double *> self.array("coef")
        self.vectors = self.array("vectors")
        self.decides_in_blocks = True

    @cython.final
    cdef char *vector(self, int64_t i) noexcept nogil:
        return self.vectors + i * self.row_bytes

    @cython.final
    cdef double project(self, const void *x) noexcept nogil:
        """f(x)"""
        cdef double[TOGETHER] k
        cdef double f = 0.0
        cdef int64_t i, n, begin = 0
        while begin < self.n_held[0]:
            n = min(<int64_t> TOGETHER, self.n_held[0] - begin)
            self.k_rows(x, self.vector(begin), n, k)
            for i in range(n):
                f += self.coef[begin + i] * k[i]
            begin += n
        return f

    @cython.final
    cdef Status refuses(self, const void *x, double weight) noexcept nogil:
        """UNCHANGED if the sample can be learned, otherwise the reason why not."""
        if not self.self_kernel(x) <= MOST:
            return NOT_FINITE
        return UNCHANGED if LEAST_WEIGHT <= weight <= MOST else BAD_WEIGHT

    @cython.final
    cdef void put(self, int64_t i, const void *x, double coef) noexcept nogil:
        memcpy(self.vector(i), x, self.row_bytes)
        self.coef[i] = coef

    cdef int64_t held(self, const char **vectors) noexcept nogil:
        vectors[0] = self.vectors
        return self.n_held[0]

    cdef bint refuses_to_decide(self, const void *x) noexcept nogil:
        return not self.self_kernel(x) <= MOST

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        value[0] = 0.0
        if self.refuses_to_decide(x):
            return NOT_FINITE
        value[0] = self.project(x)
        return UNCHANGED if -MOST * MOST <= value[0] <= MOST * MOST else NOT_FINITE

    cdef int64_t decide_block(
        self, const void *x, const void *squares, int64_t n, double *values
    ) noexcept nogil:
        cdef double[ROWS_BLOCK * ROWS_WIDEST] turned
        cdef double[ROWS_BLOCK * TOGETHER] k
        cdef int64_t c, begin = 0
        if not self.turn(x, n, turned):
            return 0
        memset(values, 0, ROWS_BLOCK * sizeof(double))
        while begin < self.n_held[0]:
            n = min(<int64_t> TOGETHER, self.n_held[0] - begin)
            self.k_block(turned, self.vectors, begin, n, k)
            rows_block_weigh(self.coef + begin, k, n, values)
            begin += n
        for c in range(ROWS_BLOCK):
            if not -MOST * MOST <= values[c] <= MOST * MOST:
                return c
        return ROWS_BLOCK

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = KernelCore.fault(self)
        cdef int64_t i
        if found != NULL:
            return found
        for i in range(self.n_held[0]):
            if not self.self_kernel(self.vector(i)) <= MOST:
                return b"a vector is too large"
        return NULL


cdef enum WhenFull:
    REPLACE_RANDOM
    REPLACE_OLDEST
    IGNORE

WHEN_FULL = {"random": REPLACE_RANDOM, "oldest": REPLACE_OLDEST, "ignore": IGNORE}


@cython.final
cdef class KernelPerceptronCore(ExpansionCore):
    """f = f + y k(x, .) for each sample with y f(x) <= 0, while there is room for it."""
    cdef readonly WhenFull when_full
    cdef int64_t *n_ignored
    cdef int64_t *oldest    # its slot, once there is no room
    cdef uint64_t *rng      # (4,)

    def __init__(self, *common, kernel, when_full, seed):
        super().__init__(*common, kernel=kernel)
        self.when_full = WHEN_FULL[when_full]
        self.n_ignored = <int64_t *> self.array("n_ignored")
        self.oldest = <int64_t *> self.array("oldest")
        self.rng = <uint64_t *> self.array("rng")
        if not self.views["rng"].any():
            rng_seed(self.rng, seed)

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef Status status = self.refuses(x, weight)
        cdef int64_t i
        if status > CHANGED:
            return status
        if y * self.project(x) > 0.0:
            return UNCHANGED
        i = self.slot_for_another()
        if i < 0:
            self.n_ignored[0] += 1
            return UNCHANGED
        self.put(i, x, y * weight)
        return CHANGED

    cdef int64_t slot_for_another(self) noexcept nogil:
        """The slot of the next vector; -1: it is not stored."""
        cdef int64_t i = self.n_held[0]
        if i < self.capacity:
            self.n_held[0] = i + 1
            return i
        if self.when_full == IGNORE:
            return -1
        if self.when_full == REPLACE_RANDOM:
            return rng_below(self.rng, self.capacity)
        i = self.oldest[0]
        self.oldest[0] = (i + 1) % self.capacity
        return i

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = ExpansionCore.fault(self)
        if found == NULL and not (self.rng[0] or self.rng[1] or self.rng[2] or self.rng[3]):
            return b"the generator's state is zero"
        return found


cdef inline double psi(double sigma, double mu) noexcept nogil:
    """The paper's deviation: what removing a vector with coefficient sigma and margin mu costs"""
    return sigma * sigma + 2.0 * sigma * (1.0 - mu)


cdef inline double largest_phi(double sigma, double mu, double room) noexcept nogil:
    """The largest phi <= 1 with psi(phi sigma, phi mu) <= room, room > 0"""
    cdef double a
    if psi(sigma, mu) <= room:
        return 1.0
    # a phi^2 + 2 sigma phi - room is negative at 0 and positive at 1: one root lies between
    a = sigma * sigma - 2.0 * sigma * mu
    return room / (sigma + sqrt(fmax(sigma * sigma + a * room, 0.0)))


@cython.final
cdef class ForgetronCore(ExpansionCore):
    """The self-tuned form; the vectors lie in a ring, whose oldest slot the newest takes."""
    cdef double *Q          # sum of the deviations
    cdef int64_t *oldest    # its slot, once there is no room

    def __init__(self, *common, kernel):
        super().__init__(*common, kernel=kernel)
        self.Q = <double *> self.array("Q")
        self.oldest = <int64_t *> self.array("oldest")

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef Status status = self.refuses(x, weight)
        if status > CHANGED:
            return status
        if y * self.project(x) > 0.0:
            return UNCHANGED
        if self.n_held[0] < self.capacity:
            self.put(self.n_held[0], x, y * weight)
            self.n_held[0] += 1
        else:
            self.replace_oldest(x, y * weight)
        return CHANGED

    cdef void replace_oldest(self, const void *x, double coef) noexcept nogil:
        cdef int64_t i, r = self.oldest[0]
        cdef char *x_r = self.vector(r)
        cdef double k_rx, f_r, sigma, y_r, phi, most = FORGETRON_SHARE * (self.common.n_updates + 1)
        self.k_rows(x, x_r, 1, &k_rx)
        f_r = self.project(x_r) + coef * k_rx
        y_r = 1.0 if self.coef[r] > 0.0 else -1.0
        sigma = y_r * self.coef[r]
        phi = largest_phi(sigma, y_r * f_r, most - self.Q[0])
        self.Q[0] = fmin(self.Q[0] + psi(phi * sigma, phi * y_r * f_r), most)   # but for rounding
        for i in range(self.capacity):
            self.coef[i] *= phi
        self.put(r, x, phi * coef)
        self.oldest[0] = (r + 1) % self.capacity

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = ExpansionCore.fault(self)
        if found == NULL and not self.Q[0] < FORGETRON_SHARE * (self.common.n_updates + 1):
            return b"the sum of the deviations is too large"
        return found


cdef inline bint clearly_more(double a, double b) noexcept nogil:
    """Whether a > b by more than rounding, which must not choose between equal gradients"""
    return a > b + LEVEL * (1.0 + fabs(b))


@cython.final
cdef class LASVMCore(ExpansionCore):
    """Bordes, Ertekin, Weston & Bottou 2005. S is the set of stored samples. Sample s has a signed
    coefficient A_s <= alpha_s <= B_s, with A_s = min(0, y C) and B_s = max(0, y C), and the
    gradient g_s = y_s - sum_t alpha_t k(x_s, x_t). A pair (i, j) violates if alpha_i < B_i, alpha_j
    > A_j and g_i - g_j > tau; a step adds lambda to alpha_i and takes it from alpha_j."""
    cdef readonly double C
    cdef readonly double tau
    cdef double *intercept
    cdef double *gap            # the paper's delta
    cdef int64_t *n_given_up
    cdef double *bound          # (capacity,): y C weight
    cdef double *gradient       # (capacity,): g
    cdef double *row            # (capacity,): TMP, kernel values of i
    cdef double *other_row      # (capacity,): TMP, of j

    def __init__(self, *common, kernel, C, tau):
        super().__init__(*common, kernel=kernel)
        self.C = C
        self.tau = tau
        self.intercept = <double *> self.array("intercept")
        self.gap = <double *> self.array("gap")
        self.n_given_up = <int64_t *> self.array("n_given_up")
        self.bound = <double *> self.array("bound")
        self.gradient = <double *> self.array("gradient")
        self.row = <double *> self.array("row")
        self.other_row = <double *> self.array("other_row")

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef Status status = self.refuses(x, self.C * weight)
        cdef double before = self.intercept[0]
        cdef bint moved
        if status > CHANGED:
            return status
        moved = self.process(x, y, y * self.C * weight)
        moved |= self.reprocess()
        if self.n_held[0] == self.capacity:
            moved |= self.give_up_oldest()
        self.set_intercept()
        return CHANGED if moved or self.intercept[0] != before else UNCHANGED

    cdef bint process(self, const void *x, double y, double bound) noexcept nogil:
        """PROCESS: store the sample, and step with the one of the most opposed gradient."""
        cdef int64_t i, k = self.n_held[0]
        self.put(k, x, 0.0)
        self.bound[k] = bound
        self.n_held[0] = k + 1
        self.k_rows(x, self.vectors, k, self.row)
        self.gradient[k] = y
        for i in range(k):
            self.gradient[k] -= self.coef[i] * self.row[i]
        if y > 0.0:
            return self.step_of_pair(k, self.lowest(-1))
        return self.step_of_pair(self.highest(-1), k)

    cdef bint reprocess(self) noexcept nogil:
        """REPROCESS: step with the worst pair, and remove what is no longer needed."""
        cdef int64_t s, i, j
        cdef double g_i, g_j
        if not self.step_of_pair(self.highest(-1), self.lowest(-1)):
            return False
        i, j = self.highest(-1), self.lowest(-1)
        g_i = self.gradient[i] if i >= 0 else INFINITY
        g_j = self.gradient[j] if j >= 0 else -INFINITY
        for s in range(self.n_held[0] - 1, -1, -1):
            if self.coef[s] == 0.0 and (
                    self.gradient[s] >= g_i if self.bound[s] < 0.0 else self.gradient[s] <= g_j):
                self.remove(s)
        return True

    cdef int64_t highest(self, int64_t but) noexcept nogil:
        """argmax g_s with alpha_s < B_s, the first of equals, without sample `but`; -1: none"""
        cdef int64_t s, i = -1
        for s in range(self.n_held[0]):
            if s != but and self.coef[s] < fmax(0.0, self.bound[s]) and (
                    i < 0 or clearly_more(self.gradient[s], self.gradient[i])):
                i = s
        return i

    cdef int64_t lowest(self, int64_t but) noexcept nogil:
        """argmin g_s with alpha_s > A_s, the first of equals, without sample `but`; -1: none"""
        cdef int64_t s, j = -1
        for s in range(self.n_held[0]):
            if s != but and self.coef[s] > fmin(0.0, self.bound[s]) and (
                    j < 0 or clearly_more(-self.gradient[s], -self.gradient[j])):
                j = s
        return j

    cdef bint step_of_pair(self, int64_t i, int64_t j) noexcept nogil:
        """The best step with (i, j); False: it is not a violating pair."""
        cdef double curvature, step = INFINITY
        if i < 0 or j < 0 or not self.gradient[i] - self.gradient[j] > self.tau:
            return False
        self.fetch_rows(i, j)
        curvature = self.row[i] + self.other_row[j] - 2.0 * self.row[j]
        if curvature > 0.0:
            step = (self.gradient[i] - self.gradient[j]) / curvature
        self.transfer(i, j, step)
        return True

    cdef void fetch_rows(self, int64_t i, int64_t j) noexcept nogil:
        self.k_rows(self.vector(i), self.vectors, self.n_held[0], self.row)
        self.k_rows(self.vector(j), self.vectors, self.n_held[0], self.other_row)

    cdef void transfer(self, int64_t i, int64_t j, double step) noexcept nogil:
        """Move `step`, or what the bounds leave of it, from alpha_j to alpha_i."""
        cdef int64_t s
        cdef double highest = fmax(0.0, self.bound[i]), lowest = fmin(0.0, self.bound[j])
        cdef double above = highest - self.coef[i], below = self.coef[j] - lowest
        step = fmin(step, fmin(above, below))
        self.coef[i] += step
        self.coef[j] -= step
        if above - step <= AT_BOUND * fabs(self.bound[i]):
            self.coef[i] = highest
        if below - step <= AT_BOUND * fabs(self.bound[j]):
            self.coef[j] = lowest
        for s in range(self.n_held[0]):
            self.gradient[s] -= step * (self.row[s] - self.other_row[s])

    # -- no room -----------------------------------------------------------------------------------

    cdef bint give_up_oldest(self) noexcept nogil:
        """Remove the first sample. Before, its coefficient goes where the gradient gains most."""
        cdef int64_t other
        cdef bint moved = self.coef[0] != 0.0
        while self.coef[0] != 0.0:
            other = self.highest(0) if self.coef[0] > 0.0 else self.lowest(0)
            if other < 0:   # rounding has left a rest
                self.drop_coefficient(0)
            elif self.coef[0] > 0.0:
                self.fetch_rows(other, 0)
                self.transfer(other, 0, INFINITY)
            else:
                self.fetch_rows(0, other)
                self.transfer(0, other, INFINITY)
        self.remove(0)
        self.n_given_up[0] += 1
        return moved

    cdef void drop_coefficient(self, int64_t i) noexcept nogil:
        cdef int64_t s
        self.k_rows(self.vector(i), self.vectors, self.n_held[0], self.row)
        for s in range(self.n_held[0]):
            self.gradient[s] += self.coef[i] * self.row[s]
        self.coef[i] = 0.0

    cdef void remove(self, int64_t i) noexcept nogil:
        """Remove a sample without a coefficient; later ones move down."""
        cdef int64_t after = self.n_held[0] - 1 - i
        memmove(self.vector(i), self.vector(i + 1), after * self.row_bytes)
        memmove(self.coef + i, self.coef + i + 1, after * sizeof(double))
        memmove(self.bound + i, self.bound + i + 1, after * sizeof(double))
        memmove(self.gradient + i, self.gradient + i + 1, after * sizeof(double))
        self.n_held[0] -= 1

    cdef void set_intercept(self) noexcept nogil:
        """b = (g_i + g_j) / 2,  delta = g_i - g_j"""
        cdef int64_t i = self.highest(-1), j = self.lowest(-1)
        if i >= 0 and j >= 0:
            self.intercept[0] = 0.5 * (self.gradient[i] + self.gradient[j])
            self.gap[0] = self.gradient[i] - self.gradient[j]

    def finish(self, int64_t n):
        """REPROCESS at most n times. Returns the number of steps; fewer than n: none is left."""
        cdef int64_t done = 0
        with nogil:
            while done < n and self.reprocess():
                done += 1
            self.set_intercept()
        return done

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        cdef Status status = ExpansionCore.decide(self, x, value)
        value[0] += self.intercept[0]
        return status

    cdef int64_t decide_block(
        self, const void *x, const void *squares, int64_t n, double *values
    ) noexcept nogil:
        cdef int64_t c
        n = ExpansionCore.decide_block(self, x, squares, n, values)
        for c in range(n):
            values[c] += self.intercept[0]
        return n

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = ExpansionCore.fault(self)
        cdef int64_t s
        if found != NULL:
            return found
        if self.n_held[0] == self.capacity:
            return b"there is no room for another sample"
        for s in range(self.n_held[0]):
            if fabs(self.bound[s]) < LEAST_WEIGHT:
                return b"a bound is out of range"
            if not fmin(0.0, self.bound[s]) <= self.coef[s] <= fmax(0.0, self.bound[s]):
                return b"a coefficient is beyond its bound"
        return NULL
