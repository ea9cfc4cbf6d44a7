"""GaussianNovelty, compiled: the Mahalanobis distance of a sample in deviations.

With every sample kept, z in deviations, A += z z', from A = I on: one more sample of features that
do not go together, so A has an inverse from the first on. The score is

    sqrt(n z' A^-1 z / D),  n the rows in A;  diagonal:  sqrt(z' z / D)

L, A = L L', is kept instead of A (core/packed_factor): it only grows, so nothing cancels.

Bytes: none with a diagonal; else 4 D (D + 1) and 8 (3 D + 2) of scratch.
"""

cimport cython
from libc.math cimport sqrt
from libc.stdint cimport int64_t

from edgesvm.core.linalg cimport any_dot, dot, entry
from edgesvm.core.packed_factor cimport (
    PackedFactor, factor_add_outer, factor_backward, factor_forward, packed)
from edgesvm.learners.novelty._novelty cimport NoveltyCore

cdef double CLIP
from edgesvm.learners.novelty.constants import CLIP


@cython.final
cdef class GaussianNoveltyCore(NoveltyCore):
    cdef readonly bint is_diagonal   # then there is no factor, nor scratch for one
    cdef PackedFactor factor
    cdef int64_t order      # of the factor: D, or 0 with a diagonal
    cdef double lift        # of the factor: none

    def __init__(self, *common, **params):
        super().__init__(*common, **params)
        cdef PackedFactor *f = &self.factor
        cdef int64_t D = self.n_features
        self.order, self.lift = 0, 0.0
        self.is_diagonal = "factor" not in self.views
        if self.is_diagonal:
            return
        self.order = D
        f.pool = <double *> self.array("factor")
        f.length, f.width = packed(D), packed(D) + 1    # no room for rows of A
        f.order, f.lift = &self.order, &self.lift
        f.ones = self.scratch
        f.border = f.ones + D
        f.solution = f.border + D + 1

    cdef double score(self) noexcept nogil:
        cdef int64_t D = self.n_features
        cdef const double *y
        cdef double square
        if self.is_diagonal:
            square = any_dot(self.is_float32, self.scaled, self.scaled, D)
        elif self.n_fitted() == 0:
            square = 0.0
        else:
            self.forward()
            y = self.factor.solution + 1
            square = (self.n_fitted() + 1) * dot(y, y, D)
        return sqrt(square / D)

    cdef void forward(self) noexcept nogil:
        """solution[1:] = L^-1 scaled"""
        cdef int64_t j
        for j in range(self.order):
            self.factor.border[1 + j] = entry(self.is_float32, self.scaled, j)
        factor_forward(&self.factor)

    cdef void learn_scaled(self) noexcept nogil:
        cdef int64_t j
        if self.is_diagonal:
            return
        if self.n_fitted() == 1:
            for j in range(self.order):
                self.factor.pool[packed(j) + j] = 1.0
        self.forward()
        factor_add_outer(&self.factor, 1.0)

    cdef void drops(self, double *out) noexcept nogil:
        """out[j] = (A^-1 z)_j^2 / (A^-1)_jj, which z' A^-1 z loses where z_j is as the others say:
        reconstruction-based contributions (Alcala & Qin 2009)"""
        cdef int64_t D = self.n_features, i, j
        cdef double *y
        if self.is_diagonal or self.n_fitted() == 0:
            for j in range(D):
                out[j] = entry(self.is_float32, self.scaled, j) ** 2
            return
        self.forward()
        y = self.factor.solution + 1
        factor_backward(&self.factor, y)
        for j in range(D):
            out[j] = y[j] * y[j]
        for j in range(D):      # (A^-1)_jj = |L^-1 e_j|^2
            for i in range(D):
                self.factor.border[1 + i] = i == j
            factor_forward(&self.factor)
            out[j] /= dot(y, y, D)

    cdef const char *fault_of_model(self, int64_t n) noexcept nogil:
        cdef const char *found = NoveltyCore.fault_of_model(self, n)
        cdef const double *row
        cdef double most
        cdef int64_t j
        if found != NULL:
            return found
        for j in range(packed(self.order) if self.n_fitted() == 0 else 0):
            if self.factor.pool[j] != 0.0:
                return b"the snapshot's factor is of no sample"
        most = 1.01 * (1.0 + CLIP * CLIP * self.n_fitted())     # (L L')_jj but for rounding
        for j in range(self.order if self.n_fitted() else 0):
            row = self.factor.pool + packed(j)
            if not (row[j] >= 1.0 and dot(row, row, j + 1) <= most):
                return b"the snapshot's factor is not that of a covariance"
        return NULL
