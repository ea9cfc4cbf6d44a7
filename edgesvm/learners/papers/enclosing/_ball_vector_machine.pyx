"""BallVectorMachine, compiled: a ball of fixed radius, moved by the smallest steps that enclose a
sample each, until it encloses all.

Tsang, Kocsor & Kwok 2007, Algorithms 2 and 4. A sample outside moves the centre towards itself
until it lies on the ball (6): c = phi~ + keep (c - phi~), keep = r / |c - phi~|. All coefficients
shrink, and the stored f of every core vector is updated by one kernel row (3.1.2). The centre first
moves towards the farthest of the core set, until none is outside; only then are other samples
examined.

`lift` is the square of the coordinate beyond the feature space of 3.3: the samples have 0 there,
the centre begins with r. It moves like any other coordinate, and its final value is what the ball's
squared radius is smaller by: |c - phi~|^2 <= (1 + epsilon)^2 r^2 - lift.

With sample weights K_ii is not the same for all, and each sample has a radius of its own: r_i^2 =
K_ii - shrunk, with shrunk = 0 at the beginning, when every sample's ball goes through the origin.

Bytes, M = max_core: see `plan`; D s + 60 per core vector, and the cache.
"""

cimport cython
from libc.math cimport INFINITY, fabs, fmax, sqrt
from libc.stdint cimport int64_t

from edgesvm.core.row_cache cimport (
    RowCache, cache_begin, cache_cut, cache_row, cache_slot, cache_wipe, padded)
from edgesvm.core.nonzeros cimport row_nonzeros
from edgesvm.core.status cimport Status
from edgesvm.core.tiles cimport kernel_row
from edgesvm.learners.papers.enclosing._enclosing cimport Block, EnclosingCore

cdef extern from "ball_pass.h" nogil:
    int64_t ball_pass(
        double *beta, double *f, const double *sign, const float *row, double keep, double gain,
        int64_t n) noexcept


cdef class BallVectorMachineCore(EnclosingCore):
    """State and step. The public class has checked the parameters."""
    cdef readonly bint lifted
    cdef bint has_cache
    cdef int64_t first      # the farthest core vector, -1 if not known
    cdef double *f          # (max_core,): (K alpha)_i
    cdef double *lift
    cdef double *shrunk     # kappa - r^2
    cdef int64_t *n_rounds
    cdef readonly int64_t max_rounds

    def __init__(self, *common, shrink, max_rounds, **params):
        super().__init__(*common, **params)
        self.lifted, self.max_rounds, self.first = shrink, max_rounds, -1
        self.n_rounds = <int64_t *> self.array("n_rounds")
        self.f = <double *> self.array("f")
        self.lift = <double *> self.array("lift")
        self.shrunk = <double *> self.array("shrunk")

    cdef double level(self) noexcept nogil:
        return 0.5 * (self.square[0] + self.lift[0] + self.shrunk[0])

    cdef double square_length(self) noexcept nogil:
        return self.kappa - self.shrunk[0]

    cdef bint settle(self) noexcept nogil:
        cdef int64_t p
        if self.n_core[0] == 0:
            return False
        if self.first < 0:
            self.first = 0
            for p in range(1, self.n_core[0]):
                if self.f[p] < self.f[self.first]:
                    self.first = p
        if not self.f[self.first] < self.threshold():
            return False
        self.move_to(self.first)
        return True

    cdef void take(self, int64_t p, double f) noexcept nogil:
        self.f[p] = f
        if p == 0:
            self.lift[0] = self.length(0) - self.shrunk[0] if self.lifted else 0.0
            self.move(0, 0.0)
        else:
            self.move_to(p)

    cdef void move_to(self, int64_t p) noexcept nogil:
        """Move the centre towards core vector p until p is on the surface."""
        if self.streaming:
            self.widen()
        cdef double k_pp = self.length(p)
        cdef double square = self.square[0] + self.lift[0] - 2.0 * self.f[p] + k_pp
        cdef double keep = sqrt(fmax(k_pp - self.shrunk[0], 0.0) / square)
        self.lift[0] *= keep * keep
        self.move(p, keep)

    cdef void widen(self) noexcept nogil:
        """Take back what the radius was reduced by, with the centre as much farther out: the same
        samples are inside, and those of a stream, which need a larger ball, can be."""
        self.lift[0] += self.shrunk[0] - self.not_shrunk()
        self.shrunk[0] = self.not_shrunk()

    cdef double not_shrunk(self) noexcept nogil:
        """`shrunk` at first"""
        return 0.0

    cdef void move(self, int64_t p, double keep) noexcept nogil:
        """c = keep c + (1 - keep) phi~_p, eq. 6"""
        cdef double f = self.f[p], y = self.sign[p], k_pp = self.length(p), gain = 1.0 - keep
        self.square[0] = keep * keep * self.square[0] + gain * (2.0 * keep * f + gain * k_pp)
        self.intercept[0] = keep * self.intercept[0] + gain * y
        self.f[p] = INFINITY
        self.first = ball_pass(
            self.beta, self.f, self.sign, self.row_of(p), keep, gain * y, self.n_core[0])
        self.f[p] = keep * f + gain * k_pp
        self.beta[p] += gain * y
        if self.first < 0 or self.f[p] < self.f[self.first]:
            self.first = p
        if self.is_sparse:
            self.is_stale = True
        self.move_block(p, keep, gain * y)
        self.n_iter[0] += 1
        self.budget -= 1

    cdef double length(self, int64_t p) noexcept nogil:
        """K_pp"""
        return self.k_core(p) + 1.0 + self.own[p]

    cdef void move_block(self, int64_t p, double keep, double gain) noexcept nogil:
        """Update f of the block after a move."""
        cdef Block *block = &self.block
        cdef int64_t i
        if block.n == 0:
            return
        self.get_core(p)
        if self.is_sparse:
            row_nonzeros(
                &self.nonzeros, &self.kernel, self.point, self.point_square, self.max_core,
                block.n, block.row)
        else:
            kernel_row(&block.rows, &self.kernel, self.point, 0, block.n, block.row)
        for i in range(block.n):
            if block.f[i] < INFINITY:
                block.f[i] = keep * block.f[i] + gain * block.sign[i] * (block.row[i] + 1.0)

    cdef const float *row_of(self, int64_t p) noexcept nogil:
        """k(x_p, .) of the core set, from the cache"""
        cdef RowCache *cache = &self.cache
        cdef int64_t n = self.n_core[0], k
        if not self.has_cache:
            cache_begin(cache, min(padded(n + n // 4), padded(self.max_core)), self.max_core)
            self.has_cache = True
        elif cache.stride < n:
            cache_cut(cache, min(padded(n + n // 4), padded(self.max_core)), self.max_core)
        k = cache_slot(cache, p)
        if cache.filled[k] < n:
            self.get_core(p)
            if self.is_sparse:
                row_nonzeros(
                    &self.nonzeros, &self.kernel, self.point, self.point_square, cache.filled[k],
                    n - cache.filled[k], cache_row(cache, k) + cache.filled[k])
            else:
                kernel_row(
                    &self.rows, &self.kernel, self.point, cache.filled[k], n, cache_row(cache, k))
            cache.filled[k] = <int> n
        return cache_row(cache, k)

    cdef bint make_room(self) noexcept nogil:
        """In a stream, drop the lightest; the others share its weight. Otherwise the ball stays as
        it is."""
        cdef int64_t q, j, last = self.n_core[0] - 1
        cdef double a, rest
        cdef const float *row
        if not self.streaming:
            return False
        q = self.lightest()
        a = fabs(self.beta[q])
        rest = 1.0 - a
        row = self.row_of(q)
        self.square[0] = fmax(
            self.square[0] - 2.0 * a * self.f[q] + a * a * self.length(q), 0.0) / (rest * rest)
        self.intercept[0] = (self.intercept[0] - self.beta[q]) / rest
        for j in range(last + 1):
            self.f[j] = (self.f[j] - self.beta[q] * self.sign[j] * (row[j] + 1.0)) / rest
            if j != q:
                self.beta[j] /= rest
        self.f[q], self.f[last] = self.f[last], 0.0
        self.remove(q)
        self.wipe()
        self.recompute_block()
        self.n_given_up[0] += 1
        return True

    cdef void wipe(self) noexcept nogil:
        self.first = -1
        if self.has_cache:
            cache_wipe(&self.cache, self.max_core)
            self.has_cache = False

    def shrink(self):
        """Algorithm 4, lines 3 and 4: reduce the radius; return whether it was reduced."""
        cdef double slack = 2.0 * self.allowed()
        if not self.lift[0] > slack:
            return False
        self.shrunk[0] += self.lift[0] - slack
        self.lift[0] = self.kappa - self.shrunk[0]
        return True

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = EnclosingCore.fault(self)
        cdef int64_t p
        if found != NULL:
            return found
        for p in range(self.n_core[0], self.max_core):
            if self.f[p] != 0.0:
                return b"a product with the centre is of no core vector"
        # The radius gets smaller between two rounds only; a stream has none.
        if self.n_rounds[0] > self.max_rounds or (self.shrunk[0] > self.not_shrunk() and not (
                self.lifted and self.n_rounds[0] >= 1 and self.max_rounds > 1)):
            return b"the ball's radius is out of range"
        # A first sample of small weight has a larger K_ii than kappa.
        if not 0.0 <= self.shrunk[0] <= self.kappa or self.too_small() or (
                not 0.0 <= self.lift[0] <= self.kappa + self.largest_own()):
            return b"the ball's radius is out of range"
        return NULL

    cdef bint is_product(self, int64_t p, double f, double rounding) noexcept nogil:
        return fabs(self.f[p] - f) <= rounding

    cdef bint too_small(self) noexcept nogil:
        """Whether no centre has all core vectors inside the (1 + epsilon) ball.

        Where one has, f >= threshold for all of them, and so sum alpha f = |c|^2 does not fall
        below it. A step that ran out of moves ends before that.
        """
        cdef double slack = (2.0 + self.epsilon) * self.epsilon * (self.kappa - self.shrunk[0])
        return self.n_iter[0] < self.max_iter and (
            self.shrunk[0] - slack > self.square[0] + self.rounding())


@cython.final
cdef class OneClassBallVectorMachineCore(BallVectorMachineCore):
    """The ball of samples without labels: all of them are of sign 1, which moves phi by 1 along an
    axis of its own, in which the ball need not reach the origin."""
    cdef double *cut        # how far the boundary is inside the surface, in units of f

    def __init__(self, *common, **params):
        super().__init__(*common, **params)
        self.one_class = True
        self.cut = <double *> self.array("cut")

    cdef double margin(self) noexcept nogil:
        return self.level() - 1.0

    cdef double not_shrunk(self) noexcept nogil:
        return 1.0

    cdef void take(self, int64_t p, double f) noexcept nogil:
        if p == 0:
            self.shrunk[0] = 1.0
        BallVectorMachineCore.take(self, p, f)

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        cdef Status status = BallVectorMachineCore.decide(self, x, value)
        value[0] -= self.level() + self.cut[0]
        return status

    @property
    def offset(self):
        """sum alpha k(x, .) of an x on the boundary"""
        return self.level() + self.cut[0] - 1.0

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = BallVectorMachineCore.fault(self)
        cdef int64_t p
        if found != NULL:
            return found
        if self.n_core[0] and self.shrunk[0] < 1.0:
            return b"the ball's radius is out of range"
        for p in range(self.n_core[0]):
            if self.sign[p] != 1.0:
                return b"a core vector is not of one class"
        return NULL
