"""KernelStreamSVM, compiled: StreamSVM's one ball in a kernel's feature space, with a fixed number
of vectors.

The centre is w = sum_i a_i y_i phi(x_i) over at most `max_vectors` vectors, a >= 0, sum a = 1; the
rest is as in _stream_svm.pyx with the kernel in place of the dot product. When a new sample needs
room, the older vector of the smallest share a_i is removed and that share goes to the vector z_j
nearest to it, which moves the centre by a_i |z_j - z_i|. With bound="upper" R grows by as much, so
the ball still encloses all that it enclosed; with "lower" V is recomputed and, as the shares still
sum to one, stays at most R*^2.

Bytes, M = max_vectors: 72 + (M + 1) (D s + 40). Time: M kernel values per sample, 3 M for one that
changes the ball.
"""

cimport cython
from libc.math cimport INFINITY, fmax, isfinite, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from edgesvm.contract.kernel_core cimport KernelCore
from edgesvm.core.kernels cimport any_kernel_value
from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, Status
from edgesvm.learners.stream._ball cimport SHARES_WITHIN, Ball, Point, move_towards, clearly_less
from edgesvm.learners.stream._ball cimport dual_radius, check_point, too_large, out_of_range
from edgesvm.learners.stream._ball cimport ball_out_of_range

import numpy as np

from edgesvm.errors import CorruptModelError


@cython.final
cdef class KernelStreamSVMCore(KernelCore):
    """State and step. The public class has checked the parameters."""
    cdef double C
    cdef bint lower
    cdef int64_t slots      # max_vectors + 1: one for the new sample
    cdef Ball *ball
    cdef int64_t *n_held
    cdef char *vectors      # (slots, n_features)
    cdef double *share      # (slots,): a
    cdef double *sign       # (slots,): y, -1 or +1
    cdef double *norm       # (slots,): k(x_i, x_i)
    cdef double *own        # (slots,): squared length of the own axis, 1 / (C weight)
    cdef double *row        # (slots,): TMP, kernel values of one sample

    def __init__(self, *common, C, bound, kernel):
        super().__init__(*common, kernel=kernel)
        self.C = C
        self.lower = bound == "lower"
        self.slots = len(self.views["share"])
        self.ball = <Ball *> self.array("R")
        self.n_held = <int64_t *> self.array("n_held")
        self.vectors = self.array("vectors")
        self.share = <double *> self.array("share")
        self.sign = <double *> self.array("sign")
        self.norm = <double *> self.array("norm")
        self.own = <double *> self.array("own")
        self.row = <double *> self.array("row")

    cdef double project(self, const void *x, double *row=NULL) noexcept nogil:
        """f(x) = sum_i a_i y_i k(x_i, x);  row[i] = k(x_i, x) if `row` is given; a decision writes
        nothing"""
        cdef int64_t i
        cdef double k, f = 0.0
        for i in range(self.n_held[0]):
            k = any_kernel_value(&self.kernel, self.is_float32, x,
                                 self.vectors + i * self.row_bytes, self.n_features)
            f += self.share[i] * self.sign[i] * k
            if row != NULL:
                row[i] = k
        return f

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef Ball *ball = self.ball
        cdef Point z
        cdef double step = 1.0, f = self.project(x), k_xx = self.self_kernel(x)
        cdef Status status
        z.wz = y * f
        z.square = k_xx + 1.0 / self.C
        z.xi2 = 1.0 / (self.C * weight)
        z.zz = k_xx + z.xi2
        z.off = z.square - z.zz
        z.R = 0.0
        status = check_point(&z)
        if status > CHANGED:
            return status
        if self.n_held[0] == 0:
            ball.R, ball.xi2, ball.q = sqrt(fmax(z.off, 0.0)), z.xi2, z.square
        else:
            step = move_towards(ball, &z, self.lower)
            if step == 0.0:
                return UNCHANGED
        # |w|^2 of w = (1 - step) w + step y phi(x)
        ball.ww = fmax(
            (1 - step) * (1 - step) * ball.ww + 2 * step * (1 - step) * z.wz
            + step * step * k_xx, 0.0)
        self.append(x, y, step, k_xx, z.xi2)
        if self.n_held[0] == self.slots:
            self.drop_one()
        if self.lower:
            ball.R = dual_radius(ball)
        return CHANGED

    cdef void append(
        self, const void *x, double y, double step, double k_xx, double xi2
    ) noexcept nogil:
        cdef int64_t i, m = self.n_held[0]
        for i in range(m):
            self.share[i] *= 1.0 - step
        memcpy(self.vectors + m * self.row_bytes, x, self.row_bytes)
        self.share[m], self.sign[m], self.norm[m], self.own[m] = step, y, k_xx, xi2
        self.n_held[0] = m + 1

    cdef double distance_square(self, int64_t i, int64_t j, double k_ij) noexcept nogil:
        """|z_i - z_j|^2 without the own axes"""
        return fmax(self.norm[i] + self.norm[j] - 2.0 * self.sign[i] * self.sign[j] * k_ij, 0.0)

    cdef void drop_one(self) noexcept nogil:
        """Remove the older vector of the smallest share; its share goes to the nearest vector, its
        slot to the newest."""
        cdef Ball *ball = self.ball
        cdef int64_t k, i = 0, j = 0, last = self.n_held[0] - 1
        cdef double f_i, f_j, d2, a, apart = INFINITY
        for k in range(1, last):
            if clearly_less(self.share[k], self.share[i]):
                i = k
        f_i = self.project(self.vectors + i * self.row_bytes, self.row)
        for k in range(last + 1):
            d2 = self.distance_square(i, k, self.row[k]) + self.own[i] + self.own[k]
            if k != i and clearly_less(d2, apart):
                apart, j = d2, k
        d2 = self.distance_square(i, j, self.row[j])
        f_j = self.project(self.vectors + j * self.row_bytes)
        a = self.share[i]
        # c = c + a (z_j - z_i)
        ball.ww = fmax(
            ball.ww + 2.0 * a * (self.sign[j] * f_j - self.sign[i] * f_i) + a * a * d2, 0.0)
        ball.xi2 = fmax(
            ball.xi2 + a * a * (self.own[j] - self.own[i])
            + 2.0 * a * self.share[j] * self.own[j], 0.0)
        ball.q = fmax(ball.q + a * (self.norm[j] - self.norm[i]), 0.0)
        if not self.lower:
            ball.R += a * sqrt(apart)
        self.share[j] += a
        if i != last:
            memcpy(self.vectors + i * self.row_bytes, self.vectors + last * self.row_bytes,
                   self.row_bytes)
            self.share[i], self.sign[i] = self.share[last], self.sign[last]
            self.norm[i], self.own[i] = self.norm[last], self.own[last]
        self.n_held[0] = last

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        value[0] = self.project(x)
        if too_large(self.self_kernel(x)) or not isfinite(value[0]):
            return NOT_FINITE
        return UNCHANGED

    def check(self):
        super().check()
        if not 0 <= self.n_held[0] < self.slots:
            raise CorruptModelError(
                f"{self.n_held[0]} vectors are stored, there is room for {self.slots - 1}")
        held = slice(0, self.n_held[0])
        if (min(self.ball.R, self.ball.xi2, self.ball.ww, self.ball.q) < 0.0
                or (self.views["share"][held] < 0).any() or (self.views["own"][held] < 0).any()):
            raise CorruptModelError("a squared length, radius or share is negative")
        if not (np.abs(self.views["sign"][held]) == 1.0).all():
            raise CorruptModelError("a vector's label is neither -1 nor +1")
        if self.n_held[0] and not abs(self.views["share"][held].sum() - 1.0) < SHARES_WITHIN:
            raise CorruptModelError("the shares do not sum to one")
        if self.any_out_of_range():
            raise CorruptModelError("a squared length is too large")

    cdef bint any_out_of_range(self) noexcept nogil:
        """Whether any length is too large to come from a stream of samples"""
        cdef int64_t i
        cdef bint found = ball_out_of_range(self.ball)
        for i in range(self.n_held[0]):
            found |= out_of_range(self.self_kernel(self.vectors + i * self.row_bytes))
            found |= out_of_range(self.norm[i]) or out_of_range(self.own[i])
        return found
