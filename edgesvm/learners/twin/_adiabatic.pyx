"""The adiabatic solver: a weighted kernel SVM kept at its exact optimum while its weights move.

The state and its margin set are in _margin_set.pyx, the path in _path.pyx; this module checks that
a loaded state is one they can lead to.
"""

from libc.math cimport INFINITY, fabs, fmax, fmin, isfinite, sqrt
from libc.stdint cimport int64_t

from edgesvm.core.linalg cimport dot
from edgesvm.core.packed_factor cimport factor_row, factor_rows, packed
from edgesvm.learners.twin._margin_set cimport Solver
from edgesvm.learners.twin._path cimport PathCore

cdef double LARGEST_NORM, LARGEST_WEIGHT
from edgesvm.learners.twin.constants import LARGEST_NORM, LARGEST_WEIGHT


cdef double distance(double f, double coef, double s_minus, double s_plus) noexcept nogil:
    """How far a twin is from the staircase: the smallest, over its five pieces, of how far f has to
    move plus how far coef has to move as a share of the twin's weight"""
    cdef double middle = s_plus - s_minus, weight = fmax(s_plus + s_minus, 1e-300)
    cdef double least = apart(f, -INFINITY, -1.0) + apart(coef, s_plus, s_plus) / weight
    least = fmin(least, fabs(f + 1.0) + apart(coef, middle, s_plus) / weight)
    least = fmin(least, apart(f, -1.0, 1.0) + apart(coef, middle, middle) / weight)
    least = fmin(least, fabs(f - 1.0) + apart(coef, -s_minus, middle) / weight)
    return fmin(least, apart(f, 1.0, INFINITY) + apart(coef, -s_minus, -s_minus) / weight)


cdef inline double apart(double x, double low, double high) noexcept nogil:
    return fmax(fmax(low - x, x - high), 0.0)


cdef class AdiabaticCore(PathCore):
    """State, paths and checks; a learner adds when twins are added and removed."""

    def kt_residual(self):
        """Largest violation of the KT conditions, from the definition."""
        return self.residual()

    def solve_from_scratch(self):
        """For tests."""
        self.from_scratch()

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = PathCore.fault(self)
        cdef Solver *v = self.solver
        cdef int64_t i
        cdef double total = 0.0, most = fabs(v.b)
        if found != NULL:
            return found
        if v.n > self.slots or v.m > v.n or packed(v.m) > self.factor.length:
            return b"there are more twins than room"
        if not 0.0 <= v.mu <= LARGEST_NORM or (v.mu == 0.0 and (v.n > 0 or self.n_learned() > 0)):
            return b"the margin is not positive, or too large"
        for i in range(v.n):
            if not fmin(self.s_minus[i], self.s_plus[i]) >= 0.0 or (
                    self.s_minus[i] + self.s_plus[i] == 0.0):
                return b"a weight is negative, or a twin has no weight"
            if not 0 <= self.state[i] <= 4:
                return b"a twin's state is out of range"
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
        """Twins on the margin that are not those of their states, a factor that is not theirs, and
        coefficients and decision values that do not belong together."""
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
        cdef Solver *v = self.solver
        cdef int64_t i
        cdef double noise = 0.0, size = 0.0, length, longest = 0.0, heaviest = 0.0, farthest = 0.0
        # |g| <= sum |coef_i| |phi(q_i)| times the longest phi(q); on its way here a coefficient may
        # have been as large as its weight.
        for i in range(v.n):
            length = sqrt(self.norm_of(i))
            noise += (fabs(self.coef[i]) + 1e-3 * (self.s_minus[i] + self.s_plus[i])) * length
            size += fabs(self.coef[i]) * length
            longest = fmax(longest, length)
            heaviest = fmax(heaviest, fmax(self.s_minus[i], self.s_plus[i]))
            farthest = fmax(farthest, fabs(self.target(i)))
        for i in range(v.n):
            if apart(self.coef[i], -self.s_minus[i], self.s_plus[i]) > 1e-9 * heaviest:
                return b"a coefficient is beyond its bounds"
        # one twin at least has -mu <= g <= mu, or had it when b moved last
        if v.n and not fabs(v.b) <= 1e3 * (v.mu + size * longest + farthest):
            return b"b is out of range"
        noise = 1e-6 * v.mu + 1e-12 * (noise * longest + fabs(v.b) + farthest)
        if noise > 1e-3 * v.mu:     # beyond what float64 resolves: g is refused where it is far out
            noise *= 1e6
        for i in range(v.n):
            if not fabs(self.g_now(i) - self.g[i]) <= noise:
                return b"the decision values do not match the twins"
        return NULL

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
