"""CoreVectorMachine, compiled: the minimum enclosing ball of a growing core set.

Tsang, Kocsor & Kwok 2007, Algorithm 1. The ball of the core set is the dual problem of eq. 1, K_ii
being one number kappa,

    min 1/2 alpha' K alpha,   sum alpha = 1,   alpha >= 0,   R^2 = kappa - alpha' K alpha

which is the problem of _smo.pyx with signs y, offset 1 and ridge 1 / (C weight). Its gradient is 1
- K alpha, its gap is kept below epsilon R^2 / 2, so that no core vector is outside. A new core
vector has coefficient zero, and the solver continues from its last solution. The R found is at most
that of the minimum enclosing ball of all samples, as alpha is feasible.

With sample weights, kappa is that of weight one, and the ball is centre-constrained: each sample
has one more axis that makes up the difference, on which the centre is 0.

Bytes, M = max_core: see `plan`; D s + 84 per core vector, and the cache.
"""

cimport cython
from libc.math cimport INFINITY, fmax
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from edgesvm.core.tiles cimport get_row
from edgesvm.learners.batch._smo cimport (
    RUNNING, Smo, smo_append, smo_begin, smo_complete, smo_run, smo_wipe)
from edgesvm.learners.batch._smo_core cimport map_solver
from edgesvm.learners.enclosing._enclosing cimport Block, EnclosingCore

import numpy as np

from edgesvm.errors import CorruptModelError

SOLVER = ("bound", "gradient", "curvature", "state", "spare", "order")
cdef int64_t ITERATIONS
cdef double FINEST
from edgesvm.learners.enclosing.constants import FINEST, ITERATIONS


@cython.final
cdef class CoreVectorMachineCore(EnclosingCore):
    """State and step. The public class has checked the parameters."""
    cdef Smo smo
    cdef bint begun         # the solver has the core set
    cdef bint solved        # alpha is its solution
    cdef double was         # the threshold before the last vector was added
    cdef double *alpha      # (wide,)

    def __init__(self, *common, **params):
        super().__init__(*common, **params)
        cdef Smo *s = &self.smo
        self.alpha = <double *> self.array("alpha")
        self.begun, self.solved = False, True
        map_solver(self, s, "curvature")
        self.note_tiles(&s.rows, "rows")
        s.beta, s.sign, s.ridge = self.alpha, self.sign, self.own
        s.linear, s.offset, s.shrinking, s.capacity = NULL, 1.0, False, self.max_core

    cdef double level(self) noexcept nogil:
        return self.square[0]

    cdef double square_length(self) noexcept nogil:
        return fmax(self.kappa - self.square[0], 0.0)

    cdef void take(self, int64_t p, double f) noexcept nogil:
        if p == 0:
            self.alpha[0] = 1.0
        self.was = INFINITY if p == 0 else self.threshold()
        if self.begun:
            self.smo.bound[p] = 1.0
            smo_append(&self.smo)
        self.solved = False

    cdef void unsettle(self) noexcept nogil:
        self.solved = self.n_core[0] == 0

    cdef bint settle(self) noexcept nogil:
        cdef Smo *s = &self.smo
        cdef int64_t before
        if self.solved:
            return False
        if not self.begun:
            self.set_up()
        before = s.n_iter
        s.tol = fmax(0.5 * self.allowed(), FINEST * self.square_length())
        self.solved = smo_run(s, min(ITERATIONS, self.budget)) != RUNNING
        self.budget -= s.n_iter - before
        self.n_iter[0] += s.n_iter - before
        self.find_centre()
        if self.solved:
            self.look_at_those_outside()
        return True

    cdef void look_at_those_outside(self) noexcept nogil:
        """Recompute f of the block's rows that were outside; the others count as inside until they
        are seen again, as they will be because the ball has moved."""
        cdef Block *block = &self.block
        cdef double least = self.threshold()
        cdef int64_t i
        for i in range(block.n):
            if block.f[i] < self.was:
                get_row(&block.rows, i, self.point)
                block.f[i] = block.sign[i] * self.output()
            else:
                block.f[i] = fmax(block.f[i], least)

    cdef void set_up(self) noexcept nogil:
        """Set up the solver with the core set and its coefficients."""
        cdef int64_t p
        self.smo.n = self.n_core[0]
        for p in range(self.smo.n):
            self.smo.bound[p] = 1.0
        smo_begin(&self.smo, True)
        self.begun = True

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

    cdef bint make_room(self) noexcept nogil:
        """Drop core vectors without a coefficient, which leaves the ball as it is."""
        cdef int64_t p, before = self.n_core[0]
        self.wipe()
        for p in range(before - 1, -1, -1):
            if self.alpha[p] == 0.0:
                self.give_up(p)
        return self.n_core[0] < before

    cdef void give_up(self, int64_t q) noexcept nogil:
        cdef int64_t last = self.n_core[0] - 1
        self.alpha[q], self.alpha[last] = self.alpha[last], 0.0
        self.remove(q)
        self.n_given_up[0] += 1

    cdef void wipe(self) noexcept nogil:
        self.solved = True      # as far as the next sample is concerned, like one that was loaded
        if self.begun:
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
