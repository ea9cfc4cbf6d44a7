"""KernelStreamSVM, compiled: StreamSVM's one ball in a kernel's feature space, with a fixed number
of vectors.

The centre is w = sum_i a_i y_i phi(x_i) over at most `max_vectors` vectors, a >= 0, sum a = 1; the
rest is as in _stream_svm.pyx with the kernel in place of the dot product.

When there is no room, with when_full="share", the older vector of the smallest share a_i is removed
and that share goes to the vector z_j nearest to it, which moves the centre by a_i |z_j - z_i|. With
bound="upper" R grows by as much, so the ball still encloses all that it enclosed; with "lower" V is
recomputed and, as the shares still sum to one, stays at most R*^2.

With when_full="newton" the ball ends there and the vectors stay. f = sum_j a_j y_j k(z_j, .) goes
on towards the minimum of the same l2-SVM over their span,

    |f|^2 / 2 + C / 2 sum_t max(0, 1 - y_t f(x_t))^2,

by one Newton step for each sample inside the margin, the vectors themselves first: with
k = (k(z_j, x))_j,

    A = K + C sum_t k_t k_t',      coefficients += C (1 - y f) y A^-1 k.

To forget, the samples lose weight in A: all of A but K is multiplied; the coefficients stay.

Bytes, M = max_vectors: 72 + (M + 1) (D s + 40) with "share", 72 + M (D s + 40) + 4 M (M + 1) with
"newton", and 72 more that say when to forget. Time: M kernel values per sample, 3 M for one that
changes the ball; for a Newton step M kernel values and 3 M^2 multiplications.
"""

cimport cython
from libc.math cimport INFINITY, fabs, fmax, fmin, isfinite, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from edgesvm.contract.kernel_core cimport KernelCore
from edgesvm.core.kernels cimport RBF
from edgesvm.core.rows cimport ROWS_BLOCK, ROWS_WIDEST, rows_block_weigh
from edgesvm.core.status cimport BAD_WEIGHT, CHANGED, NOT_FINITE, UNCHANGED, Status
from edgesvm.learners._forgetting cimport Forgetting, fault_of_forgetting, weight_left
from edgesvm.learners.stream._ball cimport SHARES_WITHIN, Ball, Point, move_towards, clearly_less
from edgesvm.learners.stream._ball cimport dual_radius, check_point, too_large, out_of_range
from edgesvm.learners.stream._ball cimport ball_out_of_range
from edgesvm.learners.stream._normal_matrix cimport (
    add_product, column, factorise, multiply_out, solve)

cdef double FACTOR_EXISTS, LEAST_NORM, LARGEST_NORM, LARGEST_PENALTY, LARGEST_WEIGHT, RIDGE
from edgesvm.core.constants import LARGEST_WEIGHT
from edgesvm.learners.constants import FACTOR_EXISTS
from edgesvm.learners.stream.constants import LARGEST_NORM, LARGEST_PENALTY, LEAST_NORM, RIDGE

cdef enum:
    CHUNK = 128     # kernel values at a time, on the stack
    BLOCK = 64      # of each sample of a block


@cython.final
cdef class KernelStreamSVMCore(KernelCore):
    """State and step. The public class has checked the parameters."""
    cdef readonly double C
    cdef readonly bint lower
    cdef readonly bint newton
    cdef readonly bint forgets
    cdef readonly double half_life      # 0: drifts say when
    cdef readonly double threshold      # of the first drift
    cdef readonly int64_t slots      # max_vectors, and with "share" one for the new sample
    cdef Ball *ball
    cdef int64_t *n_held
    cdef char *vectors      # (slots, n_features)
    cdef double *share      # (slots,): a; of any sign after the ball
    cdef double *sign       # (slots,): y, -1 or +1
    cdef double *row        # (slots,): TMP, kernel values of one sample
    # with "share"
    cdef double *norm       # (slots,): k(x_i, x_i)
    cdef double *own        # (slots,): squared length of the own axis, 1 / (C weight)
    # with "newton"
    cdef double *weight     # (slots,): of the sample
    cdef double *gain       # (slots,): TMP
    cdef Forgetting *forgetting
    cdef double *L          # (slots (slots + 1) / 2,): A = L L'; zero while there is room

    def __init__(self, *common, C, bound, when_full, half_life, threshold, kernel):
        super().__init__(*common, kernel=kernel)
        self.C = C
        self.lower = bound == "lower"
        self.newton = when_full == "newton"
        self.half_life, self.threshold = half_life, threshold
        self.forgets = half_life >= 0.0 and self.newton
        self.slots = len(self.views["share"])
        self.ball = <Ball *> self.array("R")
        self.n_held = <int64_t *> self.array("n_held")
        self.vectors = self.array("vectors")
        self.share = <double *> self.array("share")
        self.sign = <double *> self.array("sign")
        self.row = <double *> self.array("row")
        self.decides_in_blocks = True
        if self.newton:
            self.weight = <double *> self.array("weight")
            self.gain = <double *> self.array("gain")
            self.L = <double *> self.array("L")
        else:
            self.norm = <double *> self.array("norm")
            self.own = <double *> self.array("own")
        if self.forgets:
            self.forgetting = <Forgetting *> self.array("n_drifts")

    cdef double project(self, const void *x, double *row=NULL) noexcept nogil:
        """f(x) = sum_i a_i y_i k(x_i, x);  row[i] = k(x_i, x) if `row` is given; a decision writes
        nothing"""
        cdef double[CHUNK] k
        cdef double *values = k
        cdef int64_t i, count, begin = 0
        cdef double f = 0.0
        while begin < self.n_held[0]:
            count = min(self.n_held[0] - begin, <int64_t> CHUNK)
            if row != NULL:
                values = row + begin
            self.k_rows(x, self.vectors + begin * self.row_bytes, count, values)
            for i in range(count):
                f += self.share[begin + i] * self.sign[begin + i] * values[i]
            begin += count
        return f

    cdef bint at_newton(self) noexcept nogil:
        """Whether the ball has ended."""
        return self.newton and self.n_held[0] == self.slots

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        if self.at_newton():
            return self.refine(x, y, weight)
        return self.enclose(x, y, weight)

    # -- the ball ----------------------------------------------------------------------------------

    cdef Status enclose(self, const void *x, double y, double weight) noexcept nogil:
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
        if self.newton and k_xx > LARGEST_NORM:
            return NOT_FINITE
        if self.n_held[0] == 0:
            ball.R, ball.xi2, ball.q = sqrt(fmax(z.off, 0.0)), z.xi2, z.square
        else:
            if self.forgets:
                self.forget(self.error(y, f))
            step = move_towards(ball, &z, self.lower)
            if step == 0.0:
                return UNCHANGED
        # |w|^2 of w = (1 - step) w + step y phi(x)
        ball.ww = fmax(
            (1 - step) * (1 - step) * ball.ww + 2 * step * (1 - step) * z.wz
            + step * step * k_xx, 0.0)
        self.append(x, y, step)
        if self.newton:
            self.weight[self.n_held[0] - 1] = weight
        else:
            self.norm[self.n_held[0] - 1], self.own[self.n_held[0] - 1] = k_xx, z.xi2
            if self.n_held[0] == self.slots:
                self.drop_one()
        if self.lower:
            ball.R = dual_radius(ball)
        if self.at_newton():
            self.start()
        return CHANGED

    cdef void append(self, const void *x, double y, double step) noexcept nogil:
        cdef int64_t i, m = self.n_held[0]
        for i in range(m):
            self.share[i] *= 1.0 - step
        memcpy(self.vectors + m * self.row_bytes, x, self.row_bytes)
        self.share[m], self.sign[m] = step, y
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

    # -- after the ball ----------------------------------------------------------------------------

    cdef Status refine(self, const void *x, double y, double weight) noexcept nogil:
        """Learn a sample with the vectors that there are."""
        cdef double f
        if not self.self_kernel(x) <= LARGEST_NORM:
            return NOT_FINITE
        if too_large(1.0 / (self.C * weight)):
            return BAD_WEIGHT
        if self.is_first_of_its_sign(y):
            self.replace_newest(x, y, weight)
            return CHANGED
        self.k_rows(x, self.vectors, self.slots, self.row)
        f = self.f_of_row()
        if self.forgets:
            self.forget(self.error(y, f))
        return self.newton_step(f, y, weight)

    cdef bint is_first_of_its_sign(self, double y) noexcept nogil:
        """Whether all vectors are of the other sign."""
        cdef int64_t j
        for j in range(self.slots):
            if self.sign[j] == y:
                return False
        return True

    cdef void replace_newest(self, const void *x, double y, double weight) noexcept nogil:
        cdef int64_t last = self.slots - 1
        memcpy(self.vectors + last * self.row_bytes, x, self.row_bytes)
        self.sign[last], self.weight[last] = y, weight
        self.start()

    cdef void start(self) noexcept nogil:
        """A = K, and a step for each vector."""
        cdef int64_t j
        for j in range(self.slots):
            self.fill_column(j, self.L + column(j, self.slots))
            self.share[j] = 0.0
        factorise(self.L, self.slots)
        for j in range(self.slots):
            self.k_rows(self.vectors + j * self.row_bytes, self.vectors, self.slots, self.row)
            self.newton_step(self.f_of_row(), self.sign[j], self.weight[j])

    cdef void fill_column(self, int64_t j, double *col) noexcept nogil:
        """Column j of K, from its diagonal on"""
        cdef char *z = self.vectors + j * self.row_bytes
        self.k_rows(z, z, self.slots - j, col)
        col[0] = col[0] * (1.0 + RIDGE) if col[0] > LEAST_NORM else 1.0

    cdef double error(self, double y, double f) noexcept nogil:
        """1 where f is wrong; with balanced classes less of the larger one, by its weight"""
        if not y * f <= 0.0:
            return 0.0
        return fmin(self.class_weight(y) / self.class_weight(-y), 1.0) if self.balanced else 1.0

    cdef void forget(self, double error) noexcept nogil:
        """Age what is held before a sample about which it was wrong or not; a ball does not."""
        cdef double part = weight_left(self.forgetting, self.half_life, self.threshold, error)
        if part < 1.0 and self.at_newton():
            self.age(part)

    cdef void age(self, double part) noexcept nogil:
        """A = part A + (1 - part) K"""
        cdef int64_t j, k
        cdef double *col
        multiply_out(self.L, self.slots)
        for j in range(self.slots):
            col = self.L + column(j, self.slots)
            self.fill_column(j, self.gain)
            for k in range(self.slots - j):
                col[k] = part * col[k] + (1.0 - part) * self.gain[k]
            col[0] *= 1.0 + FACTOR_EXISTS
        factorise(self.L, self.slots)

    cdef double f_of_row(self) noexcept nogil:
        """f of the sample of `row`"""
        cdef int64_t j
        cdef double f = 0.0
        for j in range(self.slots):
            f += self.share[j] * self.sign[j] * self.row[j]
        return f

    cdef Status newton_step(self, double f, double y, double weight) noexcept nogil:
        """Learn the sample of `row`."""
        cdef int64_t j
        cdef double penalty = fmin(self.C * weight, LARGEST_PENALTY), scale
        if not y * f < 1.0:
            return UNCHANGED
        scale = sqrt(penalty)
        for j in range(self.slots):
            self.gain[j] = scale * self.row[j]
        add_product(self.L, self.gain, self.slots)
        solve(self.L, self.row, self.slots)
        for j in range(self.slots):
            self.share[j] += penalty * (1.0 - y * f) * y * self.sign[j] * self.row[j]
        return CHANGED

    # -- decisions and snapshots -------------------------------------------------------------------

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        value[0] = self.project(x)
        if self.refuses_to_decide(x) or not isfinite(value[0]):
            return NOT_FINITE
        return UNCHANGED

    cdef int64_t held(self, const char **vectors) noexcept nogil:
        vectors[0] = self.vectors
        return self.n_held[0]

    cdef bint sums_in_dtype(self) noexcept nogil:
        return not self.at_newton()

    cdef bint refuses_to_decide(self, const void *x) noexcept nogil:
        return too_large(self.self_kernel(x))

    cdef int64_t decide_block(
        self, const void *x, const void *squares, int64_t n, double *values
    ) noexcept nogil:
        cdef double[ROWS_BLOCK * ROWS_WIDEST] turned
        cdef double[ROWS_BLOCK * BLOCK] k
        cdef double[BLOCK] coef
        cdef int64_t c, i, begin = 0
        if not self.turn(x, n, turned):
            return 0
        memset(values, 0, ROWS_BLOCK * sizeof(double))
        while begin < self.n_held[0]:
            n = min(<int64_t> BLOCK, self.n_held[0] - begin)
            self.k_block(turned, self.vectors, begin, n, k)
            for i in range(n):
                coef[i] = self.share[begin + i] * self.sign[begin + i]
            rows_block_weigh(coef, k, n, values)
            begin += n
        for c in range(ROWS_BLOCK):
            if not isfinite(values[c]):
                return c
        return ROWS_BLOCK

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = KernelCore.fault(self)
        cdef int64_t i
        if found != NULL:
            return found
        if self.n_held[0] > self.slots - (not self.newton):
            return b"more vectors are stored than there is room for"
        if fmin(fmin(self.ball.R, self.ball.xi2), fmin(self.ball.ww, self.ball.q)) < 0.0:
            return b"a squared length or radius is negative"
        if ball_out_of_range(self.ball):
            return b"a squared length is too large"
        if self.forgets and fault_of_forgetting(self.forgetting) != NULL:
            return fault_of_forgetting(self.forgetting)
        for i in range(self.n_held[0]):
            if fabs(self.sign[i]) != 1.0:
                return b"a vector's label is neither -1 nor +1"
            if not self.fits(i):
                return b"a vector's weight or squared length is out of range"
        return self.fault_of_factor() if self.at_newton() else self.fault_of_shares()

    cdef bint fits(self, int64_t i) noexcept nogil:
        """Whether vector i is of a size that can be learned."""
        cdef double k_ii = self.self_kernel(self.vectors + i * self.row_bytes)
        if self.newton:
            return self.weight[i] > 0.0 and k_ii <= LARGEST_NORM
        return self.own[i] >= 0.0 and not (
            out_of_range(k_ii) or out_of_range(self.norm[i]) or out_of_range(self.own[i]))

    cdef const char *fault_of_shares(self) noexcept nogil:
        cdef int64_t i
        cdef double total = 0.0
        if self.newton:
            for i in range(self.slots * (self.slots + 1) // 2):
                if self.L[i] != 0.0:
                    return b"there are Newton steps before the vectors are complete"
        for i in range(self.n_held[0]):
            if self.share[i] < 0.0:
                return b"a share is negative"
            total += self.share[i]
        if self.n_held[0] and not fabs(total - 1.0) < SHARES_WITHIN:
            return b"the shares do not sum to one"
        return NULL

    cdef const char *fault_of_factor(self) noexcept nogil:
        """A is at least K and its ridge, so no number of L's diagonal is next to nothing, and at
        most C sum_t k(z, z) k(x_t, x_t) more."""
        cdef int64_t j
        cdef double most = 0.0, largest = 1.0, n = self.n_learned() + 1.0, k_jj
        for j in range(self.slots):
            k_jj = self.self_kernel(self.vectors + j * self.row_bytes)
            most += fabs(self.share[j]) * sqrt(k_jj)
            largest = fmax(largest, k_jj)
            if not self.L[column(j, self.slots)] > sqrt(
                    0.1 * FACTOR_EXISTS * (k_jj if k_jj > LEAST_NORM else 1.0)):
                return b"the factor's diagonal is too small"
        if not isfinite(most * LARGEST_NORM):
            return b"a decision value may not be finite"
        # balanced classes weigh a sample up to n times
        largest *= fmin(self.C * LARGEST_WEIGHT * n, LARGEST_PENALTY)
        largest *= 1.0 if self.kernel.kind == RBF else LARGEST_NORM
        for j in range(self.slots * (self.slots + 1) // 2):
            if not self.L[j] * self.L[j] <= largest * n:
                return b"the factor is not that of any samples"
        return NULL
