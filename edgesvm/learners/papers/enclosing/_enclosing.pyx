"""CoreVectorMachine and BallVectorMachine, compiled: a core set and the ball that encloses it.

Tsang, Kocsor & Kwok 2007. Sample i is phi~_i = (y phi(x), y, e_i / sqrt(C weight)), so that, eq. 3,

    K_ij = y_i y_j (k(x_i, x_j) + 1) + [i = j] / (C weight_i)

and the centre is c = sum alpha_i phi~_i over the core set, alpha >= 0, sum alpha = 1. Stored are
beta = y alpha and |c|^2. With f_i = (K alpha)_i a sample's squared distance is |c|^2 - 2 f_i +
K_ii, and a sample is outside if f_i is below a threshold, the same for all. By eq. 4 sum beta k(x,
.) + sum beta is the decision value.

Samples are examined in blocks, of 59 for example, whose f is updated after each change (3.1.2). The
farthest of a block is added to the core set, until none is outside. A sample has a number, so that
one seen again is known. A pass over all data records the numbers of the samples that are inside but
nearest to the surface.

Normalised, k(x, z) / sqrt(k(x, x) k(z, z)) of a polynomial kernel is (u.v)^degree, u being (x,
sqrt(coef0 / gamma)) of unit norm. So a point has one feature more than its sample, `constant`.

With a budget of non-zeros, those of the core set and of the block are in one store. Of the linear
kernel there is w = sum beta_i x_i, by which f is computed.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY, fabs, fmax, fmin, isfinite, sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from edgesvm.contract.kernel_core cimport MANY_ROWS, KernelCore
from edgesvm.contract.sparse cimport Batch, row_at, scratch_for
from edgesvm.core.kernels cimport any_kernel_value
from edgesvm.core.nonzeros cimport (
    Sample, add_nonzeros, dot_nonzeros, drop_nonzeros, get_nonzeros, is_sound, lacking, measure,
    put_nonzeros, row_nonzeros, sample_dot, square_nonzeros, swap_nonzeros, weighted_nonzeros)
from edgesvm.core.rng cimport rng_below, rng_seed
from edgesvm.core.row_cache cimport (
    RowCache, cache_begin, cache_cut, cache_row, cache_slot, cache_wipe, padded)
from edgesvm.core.status cimport BAD_WEIGHT, CHANGED, FULL, NOT_FINITE, UNCHANGED, Status
from edgesvm.core.tiles cimport (
    Tiles, clear_rows, get_row, kernel_of_square, kernel_row, lanes_of, put_row, weighted_kernel,
    weighted_kernels)
from edgesvm.learners.batch._smo cimport (
    RUNNING, Smo, map_solver, smo_append, smo_append_known, smo_begin, smo_complete, smo_cut,
    smo_intercept, smo_replace, smo_run, smo_wipe)

import numpy as np

from edgesvm.contract.core import changed
from edgesvm.errors import CorruptModelError, refusal, too_long

cdef extern from "ball_pass.h" nogil:
    int64_t ball_pass(
        double *beta, double *f, const double *sign, const float *row, double keep, double gain,
        int64_t n) noexcept

cnp.import_array()

cdef int64_t STEPS = 1000       # between two checks for Ctrl-C
cdef double WITHIN = 1e-6       # tolerance for sums of coefficients
cdef int64_t IDLE, ITERATIONS, OF_A_SAMPLE, SHARE, WIDE
cdef double FAR, FINEST, LARGEST, LOOSE
from edgesvm.learners.papers.enclosing.constants import (
    FAR, FINEST, IDLE, ITERATIONS, LARGEST, LOOSE, OF_A_SAMPLE, SHARE, WIDE)

cdef struct Block:      # rows examined together
    int64_t n
    int64_t room
    Tiles rows          # those of non-zeros follow the core set instead
    double *f           # (K c)_i, infinite for rows in the core set
    double *sign
    double *own         # 1 / (C weight)
    int64_t *number
    float *row          # kernel values of one core vector, in whole tiles


cdef class EnclosingCore(KernelCore):
    """The core set and the block. The public class has checked the parameters."""
    cdef readonly double epsilon    # the current one
    cdef readonly double margin_tol  # the current one; infinite: epsilon alone counts
    cdef readonly double C, kappa   # K_ii of a sample of weight one
    cdef readonly bint normalize
    cdef readonly int64_t width     # features of a point: those of a sample and, maybe, `constant`
    cdef readonly int64_t point_bytes
    cdef readonly double constant
    cdef bint streaming             # make room if the core set is full
    cdef readonly bint is_full      # there was no room
    cdef bint has_all               # the core set is all rows
    cdef bint waits                 # steps within the core set may wait until more was added
    cdef readonly int64_t max_core, max_iter
    cdef int64_t budget             # steps that may still be made
    cdef int64_t n_taken            # into the core set
    cdef uint64_t draws[4]
    cdef Tiles rows
    cdef int64_t *n_core
    cdef int64_t *n_iter
    cdef int64_t *n_given_up
    cdef int64_t *converged
    cdef double *square             # |c|^2
    cdef double *intercept          # sum of beta
    cdef double *beta               # (wide,): y alpha, c = sum alpha phi~
    cdef double *sign               # (max_core,): y
    cdef double *own                # (max_core,): 1 / (C weight)
    cdef int64_t *number            # (max_core,): of the sample in the stream, or the data
    cdef RowCache cache
    cdef Block block
    cdef double *near_margin        # (near_room,): f less the threshold, a heap, the largest first
    cdef int64_t *near_number
    cdef int64_t near_room, n_near
    cdef bint watching
    cdef char *point
    # of rows of non-zeros
    cdef double point_square        # point.point
    cdef Sample sample              # the point that was made last
    cdef int64_t n_nonzeros         # its non-zeros
    cdef double *w                  # (n_features,): c, if the kernel is linear; else NULL
    cdef bint is_stale              # w is not that of the coefficients

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
        """Add a row to the block, without its f; CHANGED if it can be learned."""
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
        """`load` of the first row of a block; UNCHANGED: it is inside, or the core set is full."""
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
        """Record the block's rows that are inside and nearest to the surface."""
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
        """By how much a sample's f may be below the level, for epsilon and `margin_tol`."""
        cdef double square = self.square_length()
        cdef double slack = 0.5 * (2.0 + self.epsilon) * self.epsilon * square
        if self.margin_tol == INFINITY:
            return slack
        return fmin(slack, fmax(self.margin_tol * self.margin(), FINEST * square))

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
        self.budget = min(self.max_iter, OF_A_SAMPLE * self.max_core)
        self.streaming, self.is_full = True, False
        status = self.load_alone(x, y, weight, self.common.n_seen)
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
        cdef int64_t n = len(X), at = 0, before, t
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
                for t in range(self.block.n):
                    self.append(t)
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
        """Load rows from `at` into the block, as many as fit, those of the core set counted."""
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
        """Make all possible steps; unless `fully`, those in the core set may wait."""
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
        cdef int64_t p, n = self.n_core[0]
        cdef double total = 0.0, sum_ = 0.0
        if found != NULL:
            return found
        if n > self.n_learned() or (n == 0) != (self.n_learned() == 0):
            return b"there are more core vectors than samples, or none"
        for p in range(n):
            if fabs(self.sign[p]) != 1.0 or (self.one_class and self.sign[p] < 0.0):
                return b"a core vector's label is none that there is"
            if self.beta[p] * self.sign[p] < 0.0:
                return b"the coefficients are not a convex combination"
            if self.own[p] == 0.0:
                return b"a core vector's weight is infinite"
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
            fine = fine and fabs(k) <= self.kappa * (1.0 + WITHIN)  # up to rounding
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


cdef class BallVectorMachineCore(EnclosingCore):
    """A ball of fixed radius, moved by the smallest steps that enclose a sample each, until it
    encloses all: Algorithms 2 and 4.

    A sample outside moves the centre towards itself until it lies on the ball (6): c = phi~ + keep
    (c - phi~), keep = r / |c - phi~|. The centre first moves towards the farthest of the core set,
    until none is outside; only then are other samples examined.

    `lift` is the square of the coordinate beyond the feature space of 3.3, which begins with r^2;
    the ball's squared radius is smaller by it: |c - phi~|^2 <= (1 + epsilon)^2 r^2 - lift.

    With sample weights each sample has a radius of its own: r_i^2 = K_ii - shrunk.
    """
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
        """Take back what the radius was reduced by, with the centre as much farther out."""
        self.lift[0] += self.shrunk[0] - self.not_shrunk()
        self.shrunk[0] = self.not_shrunk()

    cdef double not_shrunk(self) noexcept nogil:
        """`shrunk` at first"""
        return 0.0

    cdef void move(self, int64_t p, double keep) noexcept nogil:
        """c = keep c + (1 - keep) phi~_p, eq. 6"""
        cdef double f = self.f[p], y = self.sign[p], k_pp = self.length(p), gain = 1.0 - keep
        self.square[0] = fmax(
            keep * keep * self.square[0] + gain * (2.0 * keep * f + gain * k_pp), 0.0)
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
        """In a stream, drop the lightest; the others share its weight."""
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
        if self.shrunk[0] > self.not_shrunk() and not (
                self.lifted and self.n_rounds[0] >= 1 and self.max_rounds > 1):
            return b"the ball's radius is out of range"
        # A first sample of small weight has a larger K_ii than kappa.
        if not self.shrunk[0] <= self.kappa or self.too_small() or (
                not self.lift[0] <= self.kappa + self.largest_own()):
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
        if found == NULL and self.n_core[0] and self.shrunk[0] < 1.0:
            return b"the ball's radius is out of range"
        return found


cdef class CoreVectorMachineCore(EnclosingCore):
    """The minimum enclosing ball of a growing core set: Algorithm 1, the dual problem of eq. 1,
    K_ii being one number kappa,

        min 1/2 alpha' K alpha,   sum alpha = 1,   alpha >= 0,   R^2 = kappa - alpha' K alpha

    which is the problem of _smo.pyx with signs y, offset 1 and ridge 1 / (C weight). Its gap is
    kept below epsilon R^2 / 2, so that no core vector is outside. The solver continues from its
    last solution.

    A stream solves after each new vector, and so does `fit` unless in `bulk`: then see the public
    class for FAR, SHARE and LOOSE.

    With sample weights the ball is centre-constrained: each sample has one more axis.
    """
    cdef Smo smo
    cdef readonly bint bulk  # `fit` may add many samples before it solves
    cdef bint begun         # the solver has the core set
    cdef int64_t n_held     # the most that it has had
    cdef double reached     # the tolerance to which alpha solves it
    cdef int64_t n_new      # core vectors added since then, if the tolerance stayed
    cdef double worst       # by how much the farthest of them was below the level
    cdef double was         # the threshold before the last vector was added
    cdef double *alpha      # (wide,)

    def __init__(self, *common, bulk, **params):
        super().__init__(*common, **params)
        cdef Smo *s = &self.smo
        self.bulk = bulk
        self.alpha = <double *> self.array("alpha")
        self.begun = False
        self.settled_at(0.0)
        map_solver(self, s, "curvature")
        if self.is_sparse:
            s.rows.width = self.width
        else:
            self.note_tiles(&s.rows, "rows")
        s.beta, s.sign, s.ridge = self.alpha, self.sign, self.own
        s.linear, s.offset, s.shrinking, s.capacity = NULL, 1.0, False, self.max_core

    cdef double level(self) noexcept nogil:
        return self.square[0]

    cdef double square_length(self) noexcept nogil:
        return fmax(self.kappa - self.square[0], 0.0)

    cdef void take(self, int64_t p, double f) noexcept nogil:
        self.was = INFINITY if p == 0 else self.threshold()
        if self.begun:
            self.smo.bound[p] = self.largest()
            self.n_held = max(self.n_held, p + 1)
            if self.in_bulk():
                smo_append_known(&self.smo, 1.0 - f)
            else:
                smo_append(&self.smo)
        self.reached = INFINITY
        self.n_new += 1
        self.worst = fmax(self.worst, self.level() - f)
        if p == 0:
            self.stand_on_first()

    cdef void stand_on_first(self) noexcept nogil:
        """The centre is the first core vector."""
        self.alpha[0] = 1.0
        self.beta[0] = self.intercept[0] = self.sign[0]
        self.is_stale = True
        self.square[0] = self.k_core(0) + 1.0 + self.own[0]
        self.find_surface()

    cdef bint in_bulk(self) noexcept nogil:
        return self.bulk and not self.streaming

    cdef bint skips_core(self) noexcept nogil:
        return self.in_bulk() and not self.has_all

    cdef double limit(self) noexcept nogil:
        """In bulk, samples not nearly as far outside as the worst wait until the ball has moved."""
        if not self.in_bulk():
            return self.threshold()
        return fmin(self.threshold(), self.level() - FAR * self.worst)

    cdef void unsettle(self) noexcept nogil:
        self.settled_at(0.0 if self.n_core[0] == 0 else INFINITY)

    cdef void settled_at(self, double tol) noexcept nogil:
        self.reached, self.n_new, self.worst = tol, 0, 0.0

    cdef bint settle(self) noexcept nogil:
        cdef Smo *s = &self.smo
        cdef bint loosely = self.in_bulk() and self.waits
        cdef int64_t before
        cdef double share = 1.0 if self.has_all else 0.5    # so that others have some room
        cdef double tol = fmax(share * self.allowed(), FINEST * self.square_length())
        if loosely:
            tol = fmax(tol, LOOSE * self.worst)
        if self.reached <= tol or (loosely and (self.reached < INFINITY or self.may_wait())):
            return False
        if not self.begun:
            self.set_up()
        before = s.n_iter
        s.tol = tol
        if smo_run(s, min(ITERATIONS, self.budget)) != RUNNING:
            self.settled_at(tol)
        self.budget -= s.n_iter - before
        self.n_iter[0] += s.n_iter - before
        self.find_centre()
        if self.reached < INFINITY:
            self.look_at_those_outside()
            if self.skips_core():
                self.thin()
        return True

    cdef bint may_wait(self) noexcept nogil:
        """Whether new core vectors are few, and there is room for more"""
        return 0 < SHARE * self.n_new < self.n_core[0] < self.max_core

    cdef void look_at_those_outside(self) noexcept nogil:
        """Recompute f of the block's rows that were outside."""
        cdef Block *block = &self.block
        cdef double least = self.threshold()
        cdef int64_t i
        for i in range(block.n):
            if block.f[i] < self.was:
                block.f[i] = block.sign[i] * self.output_block(i)
            else:
                block.f[i] = fmax(block.f[i], least)

    cdef void set_up(self) noexcept nogil:
        """Set up the solver with the core set and its coefficients."""
        cdef int64_t p
        self.smo.n = self.n_core[0]
        self.smo.ahead = &self.block.rows if self.has_all and self.is_wide() else NULL
        for p in range(self.smo.n):
            self.smo.bound[p] = self.largest()
        smo_begin(&self.smo, True)
        self.begun, self.n_held = True, self.smo.n

    cdef bint is_wide(self) noexcept nogil:
        """Whether a core's own cache does not hold the core set: then it is read once for many."""
        return not self.is_sparse and self.n_core[0] * self.point_bytes > WIDE

    cdef void find_centre(self) noexcept nogil:
        """Compute square, intercept and beta from the coefficients."""
        cdef int64_t p
        cdef double square = 0.0, intercept = 0.0
        smo_complete(&self.smo)
        for p in range(self.n_core[0]):
            square += self.alpha[p] * (1.0 - self.smo.gradient[p])
            self.beta[p] = self.sign[p] * self.alpha[p]
            intercept += self.beta[p]
        self.square[0], self.intercept[0] = fmax(square, 0.0), intercept
        self.is_stale = True
        self.find_surface()

    cdef double largest(self) noexcept nogil:
        """Of a core vector's coefficient"""
        return 1.0

    cdef void find_surface(self) noexcept nogil:
        """Compute the level, where it is not |c|^2."""

    cdef bint make_room(self) noexcept nogil:
        cdef int64_t before = self.n_core[0]
        if self.streaming:
            self.wipe()
        self.drop_idle()
        if self.streaming:
            self.n_given_up[0] += before - self.n_core[0]
        return self.n_core[0] < before

    cdef void thin(self) noexcept nogil:
        """Drop what the ball does not need, if it is much."""
        cdef int64_t p, n_idle = 0
        for p in range(self.n_core[0]):
            n_idle += self.alpha[p] == 0.0
        if IDLE * n_idle > self.n_core[0]:
            self.drop_idle()

    cdef void drop_idle(self) noexcept nogil:
        """Drop core vectors without a coefficient, which leaves the ball as it is."""
        cdef int64_t p, last, n_pairs = 0
        for p in range(self.n_core[0] - 1, -1, -1):
            if self.alpha[p] == 0.0:
                last = self.n_core[0] - 1
                self.alpha[p], self.alpha[last] = self.alpha[last], 0.0
                self.remove(p)
                if self.begun:
                    n_pairs = smo_replace(&self.smo, p, last, n_pairs)
        if self.begun:
            smo_cut(&self.smo, self.n_core[0], n_pairs)

    def keep_supports(self):
        """Drop all core vectors without a coefficient."""
        self.wipe()
        self.drop_idle()

    cdef void wipe(self) noexcept nogil:
        self.settled_at(0.0)    # as far as the next sample is concerned, like one that was loaded
        if self.begun:
            # slots of dropped core vectors are not used again
            self.smo.n = max(self.n_held, self.smo.cache.n_used)
            smo_wipe(&self.smo)
            memset(self.smo.order, 0, self.smo.n * sizeof(int32_t))
            memset(self.smo.bound, 0, self.smo.n * sizeof(double))
            self.begun = False

    def check(self):
        super().check()
        if not (self.views["alpha"] == np.abs(self.views["beta"])).all():
            raise CorruptModelError("the coefficients contradict one another")


@cython.final
cdef class OneClassCoreVectorMachineCore(CoreVectorMachineCore):
    """The ball of samples without labels: all of them are of sign 1, which moves phi by 1 along an
    axis of its own.

    With `most`, no coefficient is larger (Tax & Duin 2004): those that have it may be outside, and
    the surface is where the others with a coefficient are.
    """
    cdef double *surface    # f of a sample there
    cdef double *most       # 1 / (nu n); 0 before a fit

    def __init__(self, *common, **params):
        super().__init__(*common, **params)
        self.one_class = True
        self.surface = <double *> self.array("surface")
        self.most = <double *> self.array("most")

    cdef double level(self) noexcept nogil:
        return self.surface[0]

    cdef double margin(self) noexcept nogil:
        return self.surface[0] - 1.0

    cdef double square_length(self) noexcept nogil:
        return fmax(self.kappa + self.square[0] - 2.0 * self.surface[0], 0.0)

    cdef double largest(self) noexcept nogil:
        return self.most[0] if self.most[0] > 0.0 else 1.0

    cdef void find_surface(self) noexcept nogil:
        self.surface[0] = self.square[0]
        if self.begun and self.largest() < 1.0:
            self.surface[0] = 1.0 - smo_intercept(&self.smo)

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        cdef Status status = CoreVectorMachineCore.decide(self, x, value)
        value[0] -= self.surface[0]
        return status

    @property
    def offset(self):
        """sum alpha k(x, .) of an x on the boundary"""
        return self.surface[0] - 1.0

    def spread(self, double most):
        """No coefficient is to be larger than `most`; that of each core vector is the same now."""
        cdef int64_t p, n = self.n_core[0]
        self.most[0] = most
        for p in range(n):
            self.alpha[p] = self.beta[p] = 1.0 / n
        self.intercept[0] = 1.0
        self.is_stale = True

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = CoreVectorMachineCore.fault(self)
        cdef int64_t p
        if found != NULL:
            return found
        for p in range(self.n_core[0]):
            if self.beta[p] > self.largest() + WITHIN:
                return b"a coefficient is larger than any may be"
        return NULL
