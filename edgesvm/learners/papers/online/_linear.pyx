"""Base class of the compiled linear online learners: the weights w, of which the last is that of a
constant feature 1, and w.w.

Bytes: 40 + (D + 1) s. Time: O(D).
"""

from libc.math cimport fabs, fmax, isfinite, sqrt
from libc.stdint cimport int64_t

from edgesvm.core.linalg cimport BLOCK, any_dot, any_score_rows, axpby, dot_square, entry
from edgesvm.core.linalg cimport item_at, item_bytes, real
from edgesvm.core.status cimport BAD_WEIGHT, CHANGED, NOT_FINITE, UNCHANGED, Status

cdef double WW_WITHIN
from edgesvm.learners.papers.online.constants import MOST_WW, WW_WITHIN


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
