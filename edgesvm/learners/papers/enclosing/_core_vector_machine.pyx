"""CoreVectorMachine, compiled: the minimum enclosing ball of a growing core set.

Tsang, Kocsor & Kwok 2007, Algorithm 1. The ball of the core set is the dual problem of eq. 1, K_ii
being one number kappa,

    min 1/2 alpha' K alpha,   sum alpha = 1,   alpha >= 0,   R^2 = kappa - alpha' K alpha

which is the problem of _smo.pyx with signs y, offset 1 and ridge 1 / (C weight). Its gradient is 1
- K alpha, its gap is kept below epsilon R^2 / 2, so that no core vector is outside. A new core
vector has coefficient zero, and the solver continues from its last solution. The R found is at most
that of the minimum enclosing ball of all samples, as alpha is feasible.

A stream solves after each new vector, and so does `fit` unless in `bulk`, as the paper does. In
bulk it adds all that are at least FAR times as far outside as the worst that it found since it
solved, and solves when the core set has grown by 1 / SHARE, to the share LOOSE of that violation;
at the end of a pass, to the tolerance. Then vectors without a coefficient go, if they are many. f =
(K alpha)_p, by which a vector was found outside, is its gradient too. Where all rows fit, the first
core set is all of them: one solution encloses them, and then those without a coefficient go.

With sample weights, kappa is that of weight one, and the ball is centre-constrained: each sample
has one more axis that makes up the difference, on which the centre is 0.

Bytes, M = max_core: see `plan`; D s + 84 per core vector, and the cache.
"""

cimport cython
from libc.math cimport INFINITY, fmax, fmin
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from edgesvm.core.status cimport Status
from edgesvm.learners.batch._smo cimport (
    RUNNING, Smo, smo_append, smo_append_known, smo_begin, smo_complete, smo_cut, smo_intercept,
    smo_replace, smo_run, smo_wipe)
from edgesvm.learners.batch._smo cimport map_solver
from edgesvm.learners.papers.enclosing._enclosing cimport Block, EnclosingCore

import numpy as np

from edgesvm.errors import CorruptModelError

SOLVER = ("bound", "gradient", "curvature", "state", "spare", "order")
cdef int64_t IDLE, ITERATIONS, SHARE, WIDE
cdef double FAR, FINEST, LARGEST, LOOSE
cdef double WITHIN = 1e-6       # tolerance for sums of coefficients
from edgesvm.learners.papers.enclosing.constants import (
    FAR, FINEST, IDLE, ITERATIONS, LARGEST, LOOSE, SHARE, WIDE)


cdef class CoreVectorMachineCore(EnclosingCore):
    """State and step. The public class has checked the parameters."""
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
        """Recompute f of the block's rows that were outside; the others count as inside until they
        are seen again, as they will be because the ball has moved."""
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
        """Whether a core's own cache does not hold the core set: then it is read once for many rows
        of the kernel."""
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
        """Drop core vectors without a coefficient, which leaves the ball as it is. The solver goes
        on with the others and their cached rows."""
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
        alpha = self.views["alpha"]
        if any(self.views[name].any() for name in SOLVER):
            raise CorruptModelError("the solver's scratch is not zero")
        if not (alpha == np.abs(self.views["beta"])).all():
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
        if not 0.0 <= self.most[0] <= 1.0 or not 0.0 <= self.surface[0] <= 2.0 * LARGEST:
            return b"the largest coefficient or the surface is out of range"
        for p in range(self.n_core[0]):
            if self.beta[p] > self.largest() + WITHIN or self.sign[p] != 1.0:
                return b"a coefficient is not of one class"
        return NULL
