"""AdaGradSVR, compiled: steps on x and 1, each weight by its own sum of squares.

The features f are x and 1, W = n_features + 1 of them; a learner that builds on this one has more,
ahead of x. The slope g of the loss moves each weight by

    G_d += (g f_d)^2      w_d += rate g f_d / sqrt(G_d).

Bytes: 2 W s, beside the regressor's.
"""

from libc.math cimport fabs, isfinite
from libc.stdint cimport int64_t

from edgesvm.core.linalg cimport any_dot, entry, item_bytes
from edgesvm.core.status cimport NOT_FINITE, UNCHANGED, Status
from edgesvm.learners.regression._regressor cimport RegressorCore

cdef extern from "lanes.h" nogil:      # f32: whether the arrays are float32
    void step_diagonal(
        bint f32, void *w, void *squares, const void *f, double g, double rate, int64_t n
    ) noexcept

cdef double MOST_WEIGHT, MOST_SLOPE, LARGEST_SQUARE
from edgesvm.learners.regression.constants import LARGEST_SQUARE, MOST_SLOPE, MOST_WEIGHT


cdef class AdaGradSVRCore(RegressorCore):
    """Weights. The public class has checked the parameters.

    Parameters
    ----------
    rate : float
    loss, parameter, miss, delay : as in `RegressorCore`
    """

    def __init__(self, *common, rate, loss, parameter, miss, delay):
        super().__init__(*common, loss=loss, parameter=parameter, miss=miss, delay=delay)
        self.rate = rate
        self.width = len(self.views["w"])
        self.n_ahead = self.width - self.n_features - 1
        self.w = self.array("w")
        self.squares = self.array("squares")

    cdef int64_t bytes_of(self, int64_t n) noexcept nogil:
        return n * item_bytes(self.is_float32)

    cdef bint overflows(self, const void *x, double weight) noexcept nogil:
        cdef double most = weight * MOST_SLOPE
        cdef double square = most * most * (any_dot(self.is_float32, x, x, self.n_features) + 1.0)
        return not square <= LARGEST_SQUARE

    cdef Status linear(self, const void *x, double *f) noexcept nogil:
        """What x and 1 have in the value"""
        cdef const char *w = self.w + self.bytes_of(self.n_ahead)
        f[0] = any_dot(self.is_float32, w, x, self.n_features) + entry(
            self.is_float32, w, self.n_features)
        if not isfinite(any_dot(self.is_float32, x, x, self.n_features)):
            return NOT_FINITE
        return UNCHANGED

    cdef void move_along(self, int64_t at, const void *f, int64_t n, double g) noexcept nogil:
        """Move the weights of n features from `at` on"""
        cdef int64_t first = self.bytes_of(at)
        step_diagonal(
            self.is_float32, self.w + first, self.squares + first, f, g, self.rate, n)

    cdef void move_linear(self, const void *x, double g) noexcept nogil:
        cdef double one = 1.0
        cdef float one_f = 1.0
        self.move_along(self.n_ahead, x, self.n_features, g)
        self.move_along(
            self.n_ahead + self.n_features,
            <const void *> &one_f if self.is_float32 else &one, 1, g)

    cdef Status value(self, const void *x, bint keep, double *f) noexcept nogil:
        return self.linear(x, f)

    cdef void move(self, const void *x, double g) noexcept nogil:
        self.move_linear(x, g)

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = RegressorCore.fault(self)
        cdef int64_t i
        if found != NULL:
            return found
        for i in range(self.width):
            if entry(self.is_float32, self.squares, i) < 0.0:
                return b"a sum of squares is negative"
            if not fabs(entry(self.is_float32, self.w, i)) <= MOST_WEIGHT:
                return b"the weights are too large"
        return NULL
