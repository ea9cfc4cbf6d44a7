"""The adiabatic solver: a weighted kernel SVM kept at its exact optimum while its weights move.

The state and its margin set are in _margin_set.pyx, the path in _path.pyx; this module checks that
a loaded state is one they can lead to.
"""

cimport numpy as cnp
from libc.math cimport fabs, fmax, isfinite, sqrt
from libc.stdint cimport int64_t

from edgesvm.core.linalg cimport dot
from edgesvm.core.packed_factor cimport factor_row, factor_rows, packed
from edgesvm.learners.twin._margin_set cimport Solver
from edgesvm.learners.twin._path cimport PathCore

import numpy as np

from edgesvm.errors import CorruptModelError
from edgesvm.learners.twin.kuhn_tucker import residual

cdef double LARGEST_NORM, LARGEST_WEIGHT
from edgesvm.learners.twin.constants import LARGEST_NORM, LARGEST_WEIGHT

cnp.import_array()


cdef class AdiabaticCore(PathCore):
    """State, paths and checks; a learner adds when twins are added and removed."""

    def kt_residual(self):
        """Largest violation of the KT conditions, from the definition."""
        cdef int64_t i, n = self.solver.n
        if n == 0:
            return 0.0
        f = np.empty(n)
        for i in range(n):
            f[i] = self.g_of(self.twin(i)) / self.solver.mu
        held = [self.views[name][:n].copy() for name in ("coef", "s_minus", "s_plus")]
        return residual(f, *held)

    def solve_from_scratch(self):
        """For tests."""
        self.from_scratch()

    def check(self):
        super().check()
        cdef Solver *v = self.solver
        if not 0 <= v.n <= self.slots or not 0 <= v.m <= v.n or packed(v.m) > self.factor.length:
            raise CorruptModelError(
                f"{v.n} twins, {v.m} of them on the margin; there is room for {self.slots}")
        if min(v.n_path_events, v.n_exchanges, v.n_overflowed, v.n_refactored, v.n_refreshed,
               v.n_from_scratch, v.paths) < 0:
            raise CorruptModelError("a counter is negative")
        held = {name: self.views[name][:v.n] for name in ("s_minus", "s_plus", "coef", "state")}
        weights, states = held["s_minus"] + held["s_plus"], held["state"]
        if (held["s_minus"] < 0).any() or (held["s_plus"] < 0).any() or (weights == 0).any():
            raise CorruptModelError("a weight is negative, or a twin has no weight")
        if not weights.sum() <= LARGEST_WEIGHT or not v.mu >= 0.0 or (v.n > 0 and v.mu == 0.0):
            raise CorruptModelError("the weights or the margin are out of range")
        if ((states < 0) | (states > 4)).any():
            raise CorruptModelError("a twin's state is out of range")
        self.check_vectors()
        self.check_solution()

    def check_vectors(self):
        cdef int64_t i
        for i in range(self.solver.n):
            if not isfinite(self.norm(self.twin(i))):
                raise CorruptModelError(f"twin {i} is too large")

    def check_solution(self):
        """Check that the twins on the margin are those of their states, that the factor is theirs,
        and that coefficients and decision values belong together."""
        S, states = self.views["S"][:self.solver.m], self.views["state"][:self.solver.n]
        if not np.array_equal(np.sort(S), np.flatnonzero(states % 2)):
            raise CorruptModelError("the margin set does not match the states")
        self.check_coefficients()
        self.check_factor()

    def check_coefficients(self):
        """Check that the coefficients are within their weights and that b and g match the twins, up
        to rounding. How near the optimum they are is not checked: of features or weights of very
        different size, rounding can leave a solver far from it."""
        cdef Solver *v = self.solver
        cdef int64_t i
        cdef double noise = 0.0, g, length, longest = 0.0
        cdef bint fits = True
        # |g| <= sum |coef_i| |phi(q_i)| times the longest phi(q); on its way here a coefficient may
        # have been as large as its weight.
        for i in range(v.n):
            length = sqrt(self.k_wide(self.twin(i), self.twin(i)))
            noise += (fabs(self.coef[i]) + 1e-3 * (self.s_minus[i] + self.s_plus[i])) * length
            longest = fmax(longest, length)
        coef, plus, minus = (self.views[name][:v.n] for name in ("coef", "s_plus", "s_minus"))
        beyond = 1e-9 * max(plus.max(initial=0.0), minus.max(initial=0.0))
        if (coef > plus + beyond).any() or (-coef > minus + beyond).any():
            raise CorruptModelError("the coefficients do not match the twins")
        noise = 1e-6 * v.mu + 1e-12 * (noise * longest + fabs(v.b))
        if noise > 1e-3 * v.mu:  # below what float64 resolves: cannot be checked
            return
        with nogil:
            for i in range(v.n):
                g = self.g_of(self.twin(i))
                fits = fits and fabs(g - self.g[i]) <= noise
        if not fits:
            raise CorruptModelError("the decision values do not match the twins")

    def check_factor(self):
        """Check that L L^T is K_SS + lift and that the stored rows are rows of K."""
        cdef Solver *v = self.solver
        cdef int64_t p, q, n_rows = factor_rows(&self.factor, v.m)
        cdef const double *L
        cdef const double *pool = self.factor.pool
        cdef double ones, size
        cdef bint fits = True, are_rows = True
        lengths, scratch = np.empty(self.slots), np.empty(self.slots)
        cdef double *length = <double *> cnp.PyArray_DATA(lengths)  # of the rows of L
        cdef double *row = <double *> cnp.PyArray_DATA(scratch)
        if v.m > 0 and not 0.0 < v.lift <= LARGEST_NORM:
            raise CorruptModelError("the lift of the factor is out of range")
        with nogil:
            for p in range(v.m):
                self.fill_row(self.twin(self.S[p]), row)
                L = pool + packed(p)
                length[p] = sqrt(dot(L, L, p + 1))
                ones, size = -1.0, 1.0
                for q in range(p + 1):
                    ones += L[q] * self.factor.ones[q]
                    size += fabs(L[q] * self.factor.ones[q])
                fits = L[p] > 0.0 and fabs(ones) < fmax(1e-3, 1e-12 * size)
                for q in range(p + 1):
                    if not fabs(dot(L, pool + packed(q), q + 1) - row[self.S[q]] - v.lift) <= (
                            1e-9 * length[p] * length[q]):
                        fits = False
                for q in range(v.n if p < n_rows else 0):
                    if factor_row(&self.factor, p)[q] != row[q]:
                        are_rows = False
                if not (fits and are_rows):
                    break
        if not fits:
            raise CorruptModelError("the factor does not match the margin set")
        if not are_rows:
            raise CorruptModelError("the kernel rows do not match the twins")
