"""LASVM, compiled (Bordes, Ertekin, Weston & Bottou 2005).

S is the set of stored samples. Sample s has a signed coefficient A_s <= alpha_s <= B_s, with A_s =
min(0, y C) and B_s = max(0, y C), and the gradient g_s = y_s - sum_t alpha_t k(x_s, x_t). A pair
(i, j) violates if alpha_i < B_i, alpha_j > A_j and g_i - g_j > tau; a step adds lambda to alpha_i
and takes it from alpha_j.
"""

cimport cython
from libc.math cimport INFINITY, fabs, fmax, fmin
from libc.stdint cimport int64_t
from libc.string cimport memmove

from edgesvm.core.status cimport CHANGED, UNCHANGED, Status
from edgesvm.learners.papers.online._expansion cimport ExpansionCore

cdef double AT_BOUND, LEAST_WEIGHT, LEVEL, MOST
from edgesvm.learners.papers.online.constants import AT_BOUND, LEAST_WEIGHT, LEVEL, MOST


cdef inline bint clearly_more(double a, double b) noexcept nogil:
    """Whether a > b by more than rounding: exact steps leave gradients equal, and which of them is
    then taken must not depend on it"""
    return a > b + LEVEL * (1.0 + fabs(b))


@cython.final
cdef class LASVMCore(ExpansionCore):
    """State and step. The public class has checked the parameters."""
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
        """Move `step`, or what the bounds leave of it, from alpha_j to alpha_i. `row` and
        `other_row` hold their kernel values."""
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
            if not LEAST_WEIGHT <= fabs(self.bound[s]) <= MOST:
                return b"a bound is out of range"
            if not fmin(0.0, self.bound[s]) <= self.coef[s] <= fmax(0.0, self.bound[s]):
                return b"a coefficient is beyond its bound"
            if not fabs(self.gradient[s]) <= MOST * MOST:
                return b"a gradient is too large"
        if not fmax(fabs(self.intercept[0]), fabs(self.gap[0])) <= MOST * MOST:
            return b"the intercept is too large"
        return NULL
