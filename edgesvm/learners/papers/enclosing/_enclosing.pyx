"""A core set and the ball that encloses it, compiled: the base of CoreVectorMachine and
BallVectorMachine.

Tsang, Kocsor & Kwok 2007. Sample i is phi~_i = (y phi(x), y, e_i / sqrt(C weight)), so that, eq. 3,

    K_ij = y_i y_j (k(x_i, x_j) + 1) + [i = j] / (C weight_i)

and the centre is c = sum alpha_i phi~_i over the core set, alpha >= 0, sum alpha = 1. Stored are
beta = y alpha and |c|^2. With f_i = (K alpha)_i a sample's squared distance is |c|^2 - 2 f_i +
K_ii, and a sample is outside if f_i is below a threshold, the same for all. By eq. 4 sum beta k(x,
.) + sum beta is the decision value.

Samples are examined in blocks, of 59 for example, of which at least one is among the farthest 5 %
of all with probability 0.95. f of a block takes n_core kernel values per row; then it is updated
after each change (3.1.2). The farthest of a block is added to the core set, until none is outside.

Normalised, k(x, z) / sqrt(k(x, x) k(z, z)) of a polynomial kernel is (u.v)^degree, u being (x,
sqrt(coef0 / gamma)) of unit norm. So a point has one feature more than its sample, `constant`.

With a budget of non-zeros, those of the core set and of the block are in one store, and a row of
the block joins the core set by its place alone. A block is shorter where there is no room for more,
and where there is none beside the core set, a row that is outside finds it full. Of the linear
kernel there is w = sum beta_i x_i, by which f is computed.

A sample has a number, so that one seen again is known to be in the core set. A pass over all data
records the numbers of the samples that are inside but nearest to the surface: they are the first to
be outside when the ball has moved.
"""

cimport numpy as cnp
from libc.math cimport INFINITY, fabs, fmax, fmin, isfinite, sqrt
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

from edgesvm.contract.kernel_core cimport MANY_ROWS, KernelCore
from edgesvm.contract.sparse cimport Batch, row_at, scratch_for
from edgesvm.core.kernels cimport any_kernel_value
from edgesvm.core.nonzeros cimport (
    add_nonzeros, dot_nonzeros, drop_nonzeros, get_nonzeros, is_sound, lacking, measure,
    put_nonzeros, sample_dot, square_nonzeros, swap_nonzeros, weighted_nonzeros)
from edgesvm.core.rng cimport rng_below, rng_seed
from edgesvm.core.row_cache cimport padded
from edgesvm.core.status cimport BAD_WEIGHT, CHANGED, FULL, NOT_FINITE, UNCHANGED, Status
from edgesvm.core.tiles cimport (
    clear_rows, get_row, kernel_of_square, lanes_of, put_row, weighted_kernel, weighted_kernels)

import numpy as np

from edgesvm.contract.core import changed
from edgesvm.errors import CorruptModelError, refusal, too_long

cnp.import_array()

cdef int64_t STEPS = 1000       # between two checks for Ctrl-C
cdef double WITHIN = 1e-6       # tolerance for sums of coefficients
cdef double FINEST, LARGEST
from edgesvm.learners.papers.enclosing.constants import FINEST, LARGEST


cdef class EnclosingCore(KernelCore):
    """The core set and the block. The public class has checked the parameters."""

    def __init__(self, *common, C, kernel, normalize, width, constant, epsilon, margin_tol,
                 max_core, max_iter, kappa):
        super().__init__(*common, kernel=kernel)
        cdef Block *block = &self.block
        self.C, self.kappa, self.normalize = C, kappa, normalize
        self.width, self.constant = width, constant
        self.point_bytes = width * self.dtype.itemsize
        self.epsilon, self.margin_tol = epsilon, margin_tol
        self.max_core, self.max_iter = max_core, max_iter
        self.n_core = <int64_t *> self.array("n_core")
        self.n_iter = <int64_t *> self.array("n_iter")
        self.n_given_up = <int64_t *> self.array("n_given_up")
        self.converged = <int64_t *> self.array("converged")
        self.square = <double *> self.array("square")
        self.intercept = <double *> self.array("intercept")
        self.w = <double *> self.array("w") if "w" in self.views else NULL
        self.nonzeros.width = width
        self.beta = <double *> self.array("beta")
        self.sign = <double *> self.array("sign")
        self.own = <double *> self.array("own")
        self.number = <int64_t *> self.array("number")
        self.point = self.array("point")
        self.map_cache(&self.cache)
        if not self.is_sparse:
            self.map_tiles(&self.rows, "rows")
            self.map_tiles(&block.rows, "block_rows")
            self.note_tiles(&self.rows, "rows")
            self.note_tiles(&block.rows, "block_rows")
        block.f = <double *> self.array("block_f")
        block.sign = <double *> self.array("block_sign")
        block.own = <double *> self.array("block_own")
        block.number = <int64_t *> self.array("block_number")
        block.row = <float *> self.array("block_row")
        block.room = self.views["block_f"].size
        self.near_margin = <double *> self.array("near_margin")
        self.near_number = <int64_t *> self.array("near_number")
        self.near_room = self.views["near_number"].size

    cdef int64_t n_in_tiles(self) noexcept nogil:
        return self.n_core[0]

    # -- samples -----------------------------------------------------------------------------------

    cdef bint make_point(self, const void *x) noexcept nogil:
        """Set point = x, scaled to unit norm if `normalize`; return whether x can be learned."""
        cdef double xx
        if self.is_sparse:
            return self.make_sparse_point(x)
        xx = self.square_norm(x)
        if not isfinite(xx):
            return False
        memcpy(self.point, x, self.row_bytes)
        if self.width > self.n_features:
            self.append_constant(1.0)
            xx += self.constant * self.constant
        if self.normalize and xx > 0.0:
            self.scale_point(1.0 / sqrt(xx))
        return True

    cdef bint make_sparse_point(self, const void *x) noexcept nogil:
        cdef Sample *s = &self.sample
        cdef double xx, scale = 1.0
        cdef int64_t k, d
        s[0] = self.sample_of(x)
        measure(self.is_float32, s, &self.n_nonzeros, &xx)
        if not isfinite(xx):
            return False
        memset(self.point, 0, self.point_bytes)
        if self.normalize and xx + self.constant * self.constant > 0.0:
            scale = 1.0 / sqrt(xx + self.constant * self.constant)
        for k in range(s.n):
            d = k if s.columns == NULL else s.columns[k]
            if self.is_float32:
                (<float *> self.point)[d] = <float> ((<const float *> x)[d] * scale)
            else:
                (<double *> self.point)[d] = (<const double *> x)[d] * scale
        if self.width > self.n_features:
            self.append_constant(scale)
            s.columns, s.n = NULL, self.width
        s.x = self.point
        measure(self.is_float32, s, &self.n_nonzeros, &self.point_square)
        return True

    cdef void append_constant(self, double scale) noexcept nogil:
        if self.is_float32:
            (<float *> self.point)[self.n_features] = <float> (<float> self.constant * scale)
        else:
            (<double *> self.point)[self.n_features] = self.constant * scale

    cdef double k_point(self) noexcept nogil:
        """k of `point` with itself"""
        return any_kernel_value(
            &self.kernel, self.is_float32, self.point, self.point, self.width)

    cdef void get_core(self, int64_t p) noexcept nogil:
        """point = core vector p"""
        if self.is_sparse:
            self.get_stored(p)
        else:
            get_row(&self.rows, p, self.point)

    cdef void get_stored(self, int64_t t) noexcept nogil:
        get_nonzeros(&self.nonzeros, t, self.point)
        self.point_square = square_nonzeros(&self.nonzeros, t)

    cdef double k_core(self, int64_t p) noexcept nogil:
        """k of core vector p with itself"""
        if self.is_sparse:
            return kernel_of_square(&self.kernel, square_nonzeros(&self.nonzeros, p))
        get_row(&self.rows, p, self.point)
        return self.k_point()

    cdef void scale_point(self, double scale) noexcept nogil:
        cdef int64_t d
        for d in range(self.width):
            if self.is_float32:
                (<float *> self.point)[d] = <float> ((<float *> self.point)[d] * scale)
            else:
                (<double *> self.point)[d] *= scale

    cdef double output(self) noexcept nogil:
        """w.phi(x) + b of `point`"""
        if self.is_sparse:
            return self.intercept[0] + self.sparse_output()
        return self.intercept[0] + weighted_kernel(
            &self.rows, &self.kernel, self.point, self.n_core[0], self.beta)

    cdef double sparse_output(self) noexcept nogil:
        """w.phi(x) of `point`; with `w`, of the point that was made last"""
        if self.w == NULL:
            return weighted_nonzeros(
                &self.nonzeros, &self.kernel, self.point, self.point_square, self.n_core[0],
                self.beta)
        self.sum_up()
        return sample_dot(self.is_float32, &self.sample, self.w)

    cdef double stored_output(self, int64_t t) noexcept nogil:
        """w.phi(x) + b of a row of the store"""
        if self.w == NULL:
            self.get_stored(t)
            return self.output()
        self.sum_up()
        return self.intercept[0] + dot_nonzeros(&self.nonzeros, t, self.w)

    cdef double output_core(self, int64_t p) noexcept nogil:
        """`output` of core vector p"""
        if self.is_sparse:
            return self.stored_output(p)
        get_row(&self.rows, p, self.point)
        return self.output()

    cdef double output_block(self, int64_t i) noexcept nogil:
        """`output` of row i of the block"""
        if self.is_sparse:
            return self.stored_output(self.max_core + i)
        get_row(&self.block.rows, i, self.point)
        return self.output()

    cdef void sum_up(self) noexcept nogil:
        """w = sum beta_p x_p, if it is not that"""
        cdef int64_t p
        if self.w == NULL or not self.is_stale:
            return
        memset(self.w, 0, self.n_features * sizeof(double))
        for p in range(self.n_core[0]):
            add_nonzeros(&self.nonzeros, p, self.beta[p], self.w)
        self.is_stale = False

    # -- the block ---------------------------------------------------------------------------------

    cdef Status load(
        self, const void *x, double y, double weight, int64_t number
    ) noexcept nogil:
        """Add a row to the block, without its f; CHANGED if it can be learned. Those of
        the core set may be passed over: the solver keeps them inside."""
        cdef Block *block = &self.block
        cdef int64_t i = block.n
        cdef double own = 1.0 / (self.C * weight)
        if self.skips_core() and self.is_core(number):
            return CHANGED
        if not self.make_point(x):
            return NOT_FINITE
        if not 0.0 < own <= LARGEST:
            return BAD_WEIGHT
        if self.is_sparse:
            if self.is_long() or lacking(&self.nonzeros, self.max_core + i, self.n_nonzeros) > 0:
                return FULL
            put_nonzeros(&self.nonzeros, self.max_core + i, &self.sample)
        else:
            put_row(&block.rows, i, self.point)
        block.sign[i], block.number[i] = y, number
        block.own[i] = own
        block.n += 1
        return CHANGED

    cdef Status load_alone(
        self, const void *x, double y, double weight, int64_t number
    ) noexcept nogil:
        """`load` of the first row of a block. Where there is no room beside the core set, some is
        made if the row is outside; UNCHANGED: it is inside, or the core set `is_full`."""
        cdef Status status = self.load(x, y, weight, number)
        if status != FULL or self.is_long():
            return status
        self.is_full = self.has_all
        self.waits = False
        while not self.is_full and self.improve():
            pass    # what has just come into the core set has no coefficient, and is not idle
        while not self.is_full:
            status = self.load(x, y, weight, number)
            if status != FULL:
                return status
            if self.is_core(number) or y * self.output() >= self.threshold():
                return UNCHANGED
            self.is_full = not self.make_room()
        return UNCHANGED

    cdef bint is_long(self) noexcept nogil:
        """Whether the point is refused. A shorter one has room besides any one core vector."""
        return 2 * self.n_nonzeros > self.max_nonzeros()

    cdef int64_t max_nonzeros(self) noexcept nogil:
        return self.nonzeros.room - self.max_core - self.block.room

    cdef void score_block(self) noexcept nogil:
        """Compute f of the block."""
        cdef Block *block = &self.block
        cdef int64_t i
        if self.is_sparse:
            self.recompute_block()  # all of its f are 0
            return
        weighted_kernels(
            &self.rows, &self.kernel, &block.rows, block.n, self.n_core[0], self.beta, block.f)
        for i in range(block.n):
            block.f[i] = block.sign[i] * (self.intercept[0] + block.f[i])

    cdef void note_near(self) noexcept nogil:
        """Record the block's rows that are inside and nearest to the surface, replacing less near
        ones."""
        cdef Block *block = &self.block
        cdef double least = self.threshold()
        cdef int64_t i
        for i in range(block.n):
            if not block.f[i] < INFINITY:
                continue
            if self.n_near < self.near_room:
                self.n_near += 1
                self.sift_up(self.n_near - 1, block.f[i] - least, block.number[i])
            elif block.f[i] - least < self.near_margin[0]:
                self.sift_down(block.f[i] - least, block.number[i])

    cdef void sift_up(self, int64_t at, double margin, int64_t number) noexcept nogil:
        """The heap has the least near row on top: insert at the end and move up."""
        cdef int64_t above
        while at > 0:
            above = (at - 1) // 2
            if self.near_margin[above] >= margin:
                break
            self.near_margin[at], self.near_number[at] = (
                self.near_margin[above], self.near_number[above])
            at = above
        self.near_margin[at], self.near_number[at] = margin, number

    cdef void sift_down(self, double margin, int64_t number) noexcept nogil:
        """Replace the top and move down."""
        cdef int64_t at = 0, below = 1
        while below < self.n_near:
            if below + 1 < self.n_near and (
                    self.near_margin[below + 1] > self.near_margin[below]):
                below += 1
            if self.near_margin[below] <= margin:
                break
            self.near_margin[at], self.near_number[at] = (
                self.near_margin[below], self.near_number[below])
            at, below = below, 2 * below + 1
        self.near_margin[at], self.near_number[at] = margin, number

    cdef void clear_near(self) noexcept nogil:
        memset(self.near_margin, 0, self.n_near * sizeof(double))
        memset(self.near_number, 0, self.n_near * sizeof(int64_t))
        self.n_near, self.watching = 0, False

    cdef void clear_block(self) noexcept nogil:
        cdef Block *block = &self.block
        cdef int64_t i
        memset(self.point, 0, self.point_bytes)
        if self.is_sparse:
            for i in range(block.n, 0, -1):
                drop_nonzeros(&self.nonzeros, self.max_core + i - 1)
        else:
            clear_rows(&block.rows, block.n)
        for i in range(block.n):
            block.f[i] = block.sign[i] = block.own[i] = 0.0
            block.number[i] = 0
        memset(block.row, 0, padded(block.n) * sizeof(float))
        block.n = 0

    cdef void recompute_block(self) noexcept nogil:
        """Recompute f of the block."""
        cdef Block *block = &self.block
        cdef int64_t i
        for i in range(block.n):
            if block.f[i] < INFINITY:
                block.f[i] = block.sign[i] * self.output_block(i)

    cdef int64_t farthest(self) noexcept nogil:
        """The row of the block that is farthest beyond the limit, or -1."""
        cdef Block *block = &self.block
        cdef double least = INFINITY if self.n_core[0] == 0 else self.limit()
        cdef int64_t i, t = 0
        while t >= 0:
            t = -1
            for i in range(block.n):
                if block.f[i] < (least if t < 0 else block.f[t]):
                    t = i
            if t < 0 or not self.is_core(block.number[t]):
                return t
            block.f[t] = INFINITY       # outside without its own axis, inside with it
        return -1

    cdef bint is_core(self, int64_t number) noexcept nogil:
        cdef int64_t p
        cdef bint found = False
        for p in range(self.n_core[0]):     # to the end, in vectors
            found |= self.number[p] == number
        return found

    # -- the core set ------------------------------------------------------------------------------

    cdef bint improve(self) noexcept nogil:
        """Make one step; return whether there was one to make."""
        cdef int64_t t
        if self.budget <= 0:
            return False
        if self.settle():
            return True
        t = self.farthest()
        if t < 0:
            return False
        if self.n_core[0] < self.max_core:
            self.append_outside(t)
            return True
        self.is_full = not self.make_room()     # the centre has moved: examine again
        return not self.is_full

    cdef void append_outside(self, int64_t t) noexcept nogil:
        """Add row t of the block to the core set; in bulk, all that are outside a ball."""
        self.append(t)
        while self.in_bulk() and 1 < self.n_core[0] < self.max_core:
            t = self.farthest()
            if t < 0:
                return
            self.append(t)

    cdef void append(self, int64_t t) noexcept nogil:
        """Add row t of the block to the core set."""
        cdef Block *block = &self.block
        cdef int64_t p = self.n_core[0]
        cdef double f = block.f[t]
        if self.is_sparse:
            swap_nonzeros(&self.nonzeros, p, self.max_core + t)
        else:
            get_row(&block.rows, t, self.point)
            put_row(&self.rows, p, self.point)
        self.sign[p], self.own[p] = block.sign[t], block.own[t]
        self.number[p], self.beta[p] = block.number[t], 0.0
        self.n_core[0] = p + 1
        self.n_taken += 1
        block.f[t] = INFINITY
        self.take(p, f)

    cdef void append_all(self) noexcept nogil:
        """Add the whole block to the core set, for which there is room."""
        cdef int64_t t
        for t in range(self.block.n):
            self.append(t)

    cdef void remove(self, int64_t q) noexcept nogil:
        """Move the last core vector to the place of q."""
        cdef int64_t last = self.n_core[0] - 1
        if self.is_sparse:
            swap_nonzeros(&self.nonzeros, q, last)
            drop_nonzeros(&self.nonzeros, last)
            self.is_stale = True
        else:
            get_row(&self.rows, last, self.point)
            put_row(&self.rows, q, self.point)
            memset(self.point, 0, self.point_bytes)
            put_row(&self.rows, last, self.point)
        self.sign[q], self.own[q] = self.sign[last], self.own[last]
        self.number[q], self.beta[q] = self.number[last], self.beta[last]
        self.sign[last] = self.own[last] = self.beta[last] = 0.0
        self.number[last] = 0
        self.n_core[0] = last

    cdef int64_t lightest(self) noexcept nogil:
        """The place of the smallest coefficient, the oldest of equals."""
        cdef int64_t p, q = 0
        for p in range(1, self.n_core[0]):
            if fabs(self.beta[p]) < fabs(self.beta[q]):
                q = p
        return q

    # -- the tolerance -----------------------------------------------------------------------------

    cdef double threshold(self) noexcept nogil:
        """Least f of a sample inside"""
        return self.level() - self.allowed()

    cdef double limit(self) noexcept nogil:
        """Least f of a sample that is not added now"""
        return self.threshold()

    cdef double allowed(self) noexcept nogil:
        """By how much a sample's f may be below the level: by what (1 + epsilon) times the radius
        allows, but by no more than the share `margin_tol` of the level, as far as float32 kernel
        rows resolve it."""
        cdef double square = self.square_length()
        cdef double slack = 0.5 * (2.0 + self.epsilon) * self.epsilon * square
        if self.margin_tol == INFINITY:
            return slack
        return fmin(slack, fmax(self.margin_tol * self.margin(), FINEST * square))

    @property
    def least_inside(self):
        """`threshold`; infinite while there is no ball"""
        return self.threshold() if self.n_core[0] else INFINITY

    @property
    def square_distance(self):
        """Of the farthest sample inside, its weight being one"""
        return self.kappa + self.square[0] - 2.0 * self.threshold()

    def allow(self, double epsilon, double margin_tol):
        """Set the tolerances; return what they allow, in units of f."""
        self.epsilon, self.margin_tol = epsilon, margin_tol
        self.unsettle()
        return self.allowed()

    @property
    def is_resolved(self):
        """Whether the tolerance is that share of the level or, with epsilon alone, less than it"""
        if self.margin_tol == INFINITY:
            return self.allowed() < self.margin()
        return self.allowed() <= self.margin_tol * self.margin()

    # -- what a machine adds -----------------------------------------------------------------------

    cdef double level(self) noexcept nogil:
        """f of a sample on the surface of the ball"""
        return 0.0

    cdef double margin(self) noexcept nogil:
        """What `margin_tol` is a share of"""
        return self.level()

    cdef double square_length(self) noexcept nogil:
        """Of the ball's radius"""
        return 0.0

    cdef void unsettle(self) noexcept nogil:
        """The tolerance was changed."""

    cdef bint settle(self) noexcept nogil:
        """Make a step within the core set; return whether there was one to make."""
        return False

    cdef void take(self, int64_t p, double f) noexcept nogil:
        """Sample p, the last, has come into the core set, with no coefficient yet"""

    cdef bint in_bulk(self) noexcept nogil:
        """Whether more than one sample may be added before the next step within the core set"""
        return False

    cdef bint skips_core(self) noexcept nogil:
        """Whether rows of the core set may be offered again, and are passed over"""
        return False

    cdef bint make_room(self) noexcept nogil:
        """Drop some of a full core set; return whether there is room now."""
        return False

    cdef void wipe(self) noexcept nogil:
        """Zero what was scratch"""

    # -- one sample, many samples ------------------------------------------------------------------

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef int64_t before = self.n_iter[0] + self.n_taken
        cdef Status status
        self.budget, self.streaming, self.is_full = self.max_iter, True, False
        if self.is_sparse:
            status = self.load_alone(x, y, weight, self.common.n_seen)
        else:
            status = self.load(x, y, weight, self.common.n_seen)
        if status == CHANGED:
            self.block.f[0] = y * self.output()
        while status == CHANGED and self.improve():
            pass
        self.conclude()
        if status > CHANGED:
            return status
        if self.n_iter[0] + self.n_taken > before or self.is_full:
            self.converged[0] = 0
        return CHANGED if self.n_iter[0] + self.n_taken > before else UNCHANGED

    cdef void conclude(self) noexcept nogil:
        self.clear_block()
        self.clear_near()
        self.wipe()
        if self.is_sparse:
            self.sum_up()

    cdef bint decides_alone(self) noexcept nogil:
        return True

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        cdef bint fine = self.make_point(x)
        value[0] = self.output() if fine else 0.0
        memset(self.point, 0, self.point_bytes)
        return UNCHANGED if fine and isfinite(value[0]) else NOT_FINITE

    # -- data that is read more than once ----------------------------------------------------------

    def begin(self, uint64_t seed):
        """Ready for `offer`; `end` must follow."""
        self.begin_rows(MANY_ROWS)
        self.budget, self.streaming, self.is_full = self.max_iter, False, False
        rng_seed(self.draws, seed)

    def end(self):
        """Zero what was scratch."""
        self.conclude()
        self.has_all = False
        self.end_rows()

    def watch(self):
        """Start recording the rows that are inside but nearest to the surface."""
        self.watching = True

    def take_near(self):
        """Return their numbers, ndarray of int64, ascending, and stop recording."""
        numbers = np.sort(self.views["near_number"][:self.n_near])
        self.clear_near()
        return numbers

    def draw(self, int64_t n, cnp.ndarray numbers not None):
        """Fill `numbers`, int64, with draws from 0 to n - 1."""
        cdef int64_t *number = <int64_t *> cnp.PyArray_DATA(numbers)
        cdef int64_t i
        for i in range(len(numbers)):
            number[i] = rng_below(self.draws, n)

    @property
    def n_moves(self):
        """Changes whenever the ball does."""
        return self.n_iter[0] + self.n_taken

    @property
    def is_spent(self):
        """Whether no more steps may be made."""
        return self.is_full or self.budget <= 0

    def offer(self, X not None, cnp.ndarray slots not None, cnp.ndarray weights,
              numbers not None, bint until_quiet=False, *, bint unseen=False):
        """Learn the rows of X (n, n_features) that are outside, one block at a time.

        slots : int8, 0 or 1; weights : float64 or None; numbers : integers. With `until_quiet`,
        stop after the first block that added nothing; return whether there was one. With `unseen`,
        add all of them to the core set, which has room, and make no step.
        """
        cdef Batch batch
        cdef cnp.ndarray scratch = scratch_for(X)
        cdef const signed char *slot = <const signed char *> cnp.PyArray_DATA(slots)
        cdef cnp.ndarray held = np.ascontiguousarray(numbers, np.int64)  # `arange` may give int32
        cdef const int64_t *number = <const int64_t *> cnp.PyArray_DATA(held)
        cdef const double *weight = NULL
        cdef int64_t n = len(X), at = 0, before
        cdef Status status
        if weights is not None:
            weight = <const double *> cnp.PyArray_DATA(weights)
        self.has_all = unseen
        while at < n and not self.is_spent:
            before = self.n_taken
            self.read(&batch, X, scratch, n)
            with nogil:
                status = self.load_block(n, &at, &batch, slot, weight, number)
            if status > CHANGED:
                raise self.explained(refusal(
                    status, f"{self.owner}: row {number[at]}", self.dtype, self.labels.in_slots))
            if unseen:
                self.append_all()
            else:
                self.score_block()
                self.improve_all(False)
            if self.watching:
                self.note_near()
            self.clear_block()
            if until_quiet and self.n_taken == before:
                return True
        return False

    def explained(self, error):
        if error.status != FULL:
            return error
        sample = str(error).partition(" does not fit")[0]
        return too_long(sample, self.n_nonzeros, self.max_nonzeros())

    cdef Status load_block(
        self, int64_t n, int64_t *at, Batch *batch, const signed char *slot, const double *weight,
        const int64_t *number
    ) except * nogil:
        """Load rows from `at` into the block, as many as fit. Those of the core set are counted, so
        that blocks do not depend on how the rows are divided into chunks."""
        cdef int64_t i, n_read = 0
        cdef double w
        cdef const void *x
        cdef Status status
        while at[0] < n and n_read < self.block.room:
            i = at[0]
            w = 1.0 if weight == NULL else weight[i]
            if w != 0.0:
                x = row_at(batch, i)
                if x == NULL:
                    with gil:
                        raise changed(self.owner)
                status = self.load(x, 1.0 if slot[i] else -1.0, w, number[i])
                if status == FULL and self.block.n:
                    return CHANGED
                if status == FULL:
                    status = self.load_alone(x, 1.0 if slot[i] else -1.0, w, number[i])
                if status > CHANGED:
                    return status
                if self.is_full:
                    return CHANGED
                n_read += 1
            at[0] += 1
        return CHANGED

    def improve_all(self, bint fully=True):
        """Make all possible steps, in the core set and the block; unless `fully`, those in the core
        set may wait until more has been added."""
        cdef bint more = True
        self.waits = not fully
        while more:
            with nogil:
                for _ in range(STEPS):
                    more = self.improve()
                    if not more:
                        break
            self.guard.look_at_signals()

    # -- checks of a loaded arena ------------------------------------------------------------------

    def check(self):
        super().check()
        if self.w != NULL:
            w = self.views["w"].tobytes()
            self.is_stale = True
            self.sum_up()
            if w != self.views["w"].tobytes():
                raise CorruptModelError("w is not the sum of the core vectors")

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = KernelCore.fault(self)
        cdef int64_t p, n = min(self.max_core, self.n_learned())
        cdef double total = 0.0, sum_ = 0.0
        if found != NULL:
            return found
        if self.n_core[0] > n or (self.n_core[0] == 0) != (n == 0):
            return b"there are more core vectors than room or samples, or none"
        if self.converged[0] > 1 or not 0.0 <= self.square[0] <= 2.0 * LARGEST:
            return b"a flag or a squared length is out of range"
        n = self.n_core[0]
        for p in range(n):
            if fabs(self.sign[p]) != 1.0:
                return b"a core vector's label is neither -1 nor +1"
            if self.beta[p] * self.sign[p] < 0.0:
                return b"the coefficients are not a convex combination"
            if not 0.0 < self.own[p] <= LARGEST:
                return b"a squared length is out of range"
            if not self.is_new(p):
                return b"a core vector's number is out of range"
            total += fabs(self.beta[p])
            sum_ += self.beta[p]
        if n and not fabs(total - 1.0) < WITHIN:
            return b"the coefficients are not a convex combination"
        if not fabs(sum_ - self.intercept[0]) < WITHIN:
            return b"the intercept is not the sum of the coefficients"
        if not self.is_empty_behind(n):
            return b"there is something behind the core vectors"
        return self.fault_of_products()

    cdef bint is_new(self, int64_t p) noexcept nogil:
        """Whether the number of core vector p is that of a sample, and of none before it."""
        cdef int64_t q
        for q in range(p):
            if self.number[q] == self.number[p]:
                return False
        return self.number[p] < self.common.n_seen

    cdef bint is_empty_behind(self, int64_t n) noexcept nogil:
        """Whether all is zero behind the first n core vectors, of the rows behind their tiles."""
        cdef int64_t i, lanes = lanes_of(&self.rows), last = padded(self.max_core)
        for i in range(n, self.max_core):
            if self.sign[i] != 0.0 or self.own[i] != 0.0 or self.number[i] != 0:
                return False
        for i in range(n, last):
            if self.beta[i] != 0.0:
                return False
        if self.is_sparse:
            return self.holds_just(n)
        n = (n + lanes - 1) // lanes * lanes
        for i in range(n * self.point_bytes, last * self.point_bytes):
            if self.rows.data[i] != 0:
                return False
        return True

    cdef bint holds_just(self, int64_t n) noexcept nogil:
        """Whether the store has n rows and nothing else."""
        cdef int64_t i
        for i in range(n, self.max_core + self.block.room):
            if self.nonzeros.start[i] or self.nonzeros.length[i]:
                return False
        return is_sound(&self.nonzeros, n)

    cdef const char *fault_of_products(self) noexcept nogil:
        """Core vectors that cannot have been learned, or a centre that is not theirs."""
        cdef int64_t p
        cdef double k, f, square = 0.0
        cdef double rounding = self.rounding()
        cdef bint fine = True, matches = True
        for p in range(self.n_core[0]):
            k = self.k_core(p)
            fine = fine and fabs(k) <= self.kappa
            f = self.sign[p] * self.output_core(p) + fabs(self.beta[p]) * self.own[p]
            square += fabs(self.beta[p]) * f
            matches = matches and self.is_product(p, f, rounding)
        memset(self.point, 0, self.point_bytes)
        if not fine:
            return b"a core vector is larger than any that can be learned"
        if not matches:
            return b"a product with the centre is wrong"
        if not fabs(square - self.square[0]) <= rounding:
            return b"the centre is not that of the core vectors"
        return NULL

    cdef bint is_product(self, int64_t p, double f, double rounding) noexcept nogil:
        """Whether what is kept of core vector p agrees with its product f with the centre."""
        return True

    cdef double rounding(self) noexcept nogil:
        """How far stored products may differ from recomputed ones."""
        return 1e-4 * fmax(self.kappa, self.largest_own())

    cdef double largest_own(self) noexcept nogil:
        cdef int64_t p
        cdef double largest = 0.0
        for p in range(self.n_core[0]):
            largest = fmax(largest, self.own[p])
        return largest
