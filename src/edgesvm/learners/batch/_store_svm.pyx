"""Samples held in a store of fixed size, and the SVM of those held, compiled: what BatchSVM and
ReservoirSVM live in.

The store is unsolved, its samples in the order of their slots and all else zero; or solved, the
support vectors in front, `order` telling each sample's slot. Learning a sample makes it unsolved;
the next decision solves it, from nothing, so that the bytes of a solved store are those of its
samples and do not tell when it was asked.

Bytes, M = max_samples, A = M rounded up to a multiple of 16: 96 + A (D s + 16) + 48 M, the row of
scratch, D s, and the cache.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY, fabs, isfinite
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.kernels cimport kernel_value
from edgesvm.core.linalg cimport dot
from edgesvm.core.rng cimport rng_below, rng_seed
from edgesvm.core.status cimport BAD_WEIGHT, CHANGED, FULL, NOT_FINITE, UNCHANGED, Status
from edgesvm.core.tiles cimport get_row, put_row, weighted_kernel
from edgesvm.learners.batch._smo cimport (
    CONVERGED, RUNNING, Outcome, Smo, smo_begin, smo_complete, smo_gap, smo_gather, smo_intercept,
    smo_objective, smo_restore, smo_run, smo_wipe)

import numpy as np

from edgesvm.errors import CorruptModelError

cnp.import_array()

cdef enum WhenFull:
    REFUSE = 0
    OLDEST = 1
    RANDOM = 2

WHEN_FULL = {"refuse": REFUSE, "oldest": OLDEST, "random": RANDOM}
SCRATCH = ("gradient", "diagonal", "state", "spare", "slot", "owner", "filled", "used", "point",
           "cache")
cdef double LARGEST_KERNEL = 1e37       # rows of the kernel are float32


@cython.final
cdef class StoreSVMCore(LearnerCore):
    """State and step; parameters as the public class has checked them."""
    cdef double C
    cdef int64_t max_iter
    cdef int64_t max_samples
    cdef WhenFull when_full
    cdef Smo smo
    cdef int64_t *n_held
    cdef int64_t *solved
    cdef int64_t *n_support
    cdef int64_t *n_iter
    cdef int64_t *converged
    cdef double *intercept
    cdef double *objective
    cdef double *gap
    cdef double *bound      # (max_samples,): y C weight
    cdef uint64_t *rng      # (4,), where samples are drawn

    def __init__(self, *common, C, kernel, tol, shrinking, max_iter, max_samples, when_full, seed):
        super().__init__(*common)
        cdef Smo *s = &self.smo
        self.C, self.max_samples = C, max_samples
        self.max_iter = max(10_000_000, 100 * max_samples) if max_iter is None else max_iter
        self.when_full = WHEN_FULL[when_full]
        self.n_held = <int64_t *> self.array("n_held")
        self.solved = <int64_t *> self.array("solved")
        self.n_support = <int64_t *> self.array("n_support")
        self.n_iter = <int64_t *> self.array("n_iter")
        self.converged = <int64_t *> self.array("converged")
        self.intercept = <double *> self.array("intercept")
        self.objective = <double *> self.array("objective")
        self.gap = <double *> self.array("gap")
        self.bound = <double *> self.array("bound")
        s.rows.data, s.rows.width = self.array("rows"), self.n_features
        s.rows.is_float32 = self.is_float32
        s.kernel.kind, s.kernel.gamma, s.kernel.coef0, s.kernel.degree = kernel.code
        s.capacity, s.tol, s.shrinking = max_samples, tol, shrinking
        s.bound, s.beta = self.bound, <double *> self.array("beta")
        s.linear, s.sign, s.ridge, s.offset = NULL, NULL, NULL, 0.0
        s.gradient = <double *> self.array("gradient")
        s.diagonal = <float *> self.array("diagonal")
        s.state = <float *> self.array("state")
        s.spare = <float *> self.array("spare")
        s.order = <int32_t *> self.array("order")
        s.point = self.array("point")
        s.cache.block = <float *> self.array("cache")
        s.cache.n_floats = self.views["cache"].size
        s.cache.slot = <int32_t *> self.array("slot")
        s.cache.owner = <int32_t *> self.array("owner")
        s.cache.filled = <int32_t *> self.array("filled")
        s.cache.used = <int64_t *> self.array("used")
        if self.when_full == RANDOM:
            self.rng = <uint64_t *> self.array("rng")
            if not self.views["rng"].any():
                rng_seed(self.rng, seed)

    # -- the store ---------------------------------------------------------------------------------

    cdef double self_kernel(self, const void *x) noexcept nogil:
        """k(x, x); infinite or NaN where a feature is not finite"""
        cdef double xx
        if self.is_float32:
            xx = dot(<const float *> x, <const float *> x, self.n_features)
            return xx if not isfinite(xx) else kernel_value(
                &self.smo.kernel, <const float *> x, <const float *> x, self.n_features)
        xx = dot(<const double *> x, <const double *> x, self.n_features)
        return xx if not isfinite(xx) else kernel_value(
            &self.smo.kernel, <const double *> x, <const double *> x, self.n_features)

    cdef int64_t place(self) noexcept nogil:
        """The slot of the sample that comes; -1: it is not taken; -2: there is none."""
        cdef int64_t n = self.n_learned(), draw
        if n < self.max_samples:
            return n
        if self.when_full == OLDEST:
            return n % self.max_samples
        if self.when_full == RANDOM:
            draw = rng_below(self.rng, n + 1)
            return draw if draw < self.max_samples else -1
        return -2

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef double k_xx = self.self_kernel(x)
        cdef int64_t place
        if not k_xx <= LARGEST_KERNEL:
            return NOT_FINITE
        if not 0.0 < self.C * weight < INFINITY:
            return BAD_WEIGHT
        place = self.place()
        if place < 0:
            return UNCHANGED if place == -1 else FULL
        self.forget_solution()
        put_row(&self.smo.rows, place, x)
        self.bound[place] = y * self.C * weight
        self.n_held[0] = max(self.n_held[0], place + 1)
        return CHANGED

    cdef void forget_solution(self) noexcept nogil:
        """Samples in the order of their slots again, and no trace of the solution."""
        if not self.solved[0]:
            return
        self.smo.n = self.n_held[0]
        smo_restore(&self.smo)
        memset(self.smo.beta, 0, self.smo.n * sizeof(double))
        memset(self.smo.order, 0, self.smo.n * sizeof(int32_t))
        self.solved[0] = self.n_support[0] = self.n_iter[0] = self.converged[0] = 0
        self.intercept[0] = self.objective[0] = self.gap[0] = 0.0

    # -- solving -----------------------------------------------------------------------------------

    @property
    def is_solved(self):
        return self.solved[0] != 0

    def begin(self, alpha=None):
        """Set up the solver; `alpha` (n_held,), float64, in the order of slots, where to start."""
        cdef const double *start = NULL
        if alpha is not None:
            start = <const double *> cnp.PyArray_DATA(alpha)
        self.forget_solution()
        self.smo.n = self.n_held[0]
        with nogil:
            if start != NULL:
                self.take_coefficients(start)
            smo_begin(&self.smo, start != NULL)

    cdef void take_coefficients(self, const double *alpha) noexcept nogil:
        """Into the box; then the heavier class lighter, until sum y alpha = 0."""
        cdef double *beta = self.smo.beta
        cdef double total[2]
        cdef double scale[2]
        cdef int64_t t
        cdef bint k
        total[0] = total[1] = 0.0
        for t in range(self.smo.n):
            k = self.bound[t] > 0.0
            beta[t] = min(alpha[t], fabs(self.bound[t])) if alpha[t] > 0.0 else 0.0
            total[k] += beta[t]
        for t in range(2):
            scale[t] = min(1.0, total[1 - t] / total[t]) if total[t] > 0.0 else 0.0
        for t in range(self.smo.n):
            k = self.bound[t] > 0.0
            beta[t] *= scale[k] if k else -scale[k]

    def advance(self, int64_t n_iter):
        """At most `n_iter` iterations more; whether there is something left to do."""
        cdef Outcome outcome
        with nogil:
            outcome = self.run(n_iter)
        return outcome == RUNNING and self.smo.n_iter < self.max_iter

    cdef Outcome run(self, int64_t n_iter) noexcept nogil:
        cdef Outcome outcome = smo_run(&self.smo, min(n_iter, self.max_iter - self.smo.n_iter))
        self.converged[0] = outcome == CONVERGED
        return outcome

    @property
    def progress(self):
        """(iterations done, gap)"""
        return self.smo.n_iter, smo_gap(&self.smo)

    def finish(self):
        with nogil:
            self.conclude()

    def abandon(self):
        """As if `begin` had not been called."""
        smo_restore(&self.smo)
        smo_wipe(&self.smo)
        self.solved[0] = 1
        self.forget_solution()

    cdef void conclude(self) noexcept nogil:
        """The answer, and the support vectors to the front."""
        cdef Smo *s = &self.smo
        smo_complete(s)
        self.intercept[0], self.objective[0] = smo_intercept(s), smo_objective(s)
        self.gap[0], self.n_iter[0] = smo_gap(s), s.n_iter
        smo_restore(s)
        self.n_support[0] = smo_gather(s)
        smo_wipe(s)
        self.solved[0] = 1

    cdef void settle(self) noexcept nogil:
        """Solve where that has been put off."""
        if not self.solved[0]:
            self.smo.n = self.n_held[0]
            smo_begin(&self.smo, False)
            self.run(self.max_iter)
            self.conclude()

    # -- decisions ---------------------------------------------------------------------------------

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        if not isfinite(self.self_kernel(x)):
            return NOT_FINITE
        self.settle()
        value[0] = self.intercept[0] + weighted_kernel(
            &self.smo.rows, &self.smo.kernel, x, self.n_support[0], self.smo.beta)
        return UNCHANGED if isfinite(value[0]) else NOT_FINITE

    # -- what came from a file ---------------------------------------------------------------------

    def check(self):
        super().check()
        held = self.n_held[0]
        if held != min(self.n_learned(), self.max_samples) or (
                self.when_full == REFUSE and self.n_learned() > self.max_samples):
            raise CorruptModelError(
                f"{held} samples are held of {self.n_learned()} learned, where there is room for"
                f" {self.max_samples}")
        if any(self.views[name].any() for name in SCRATCH):
            raise CorruptModelError("the solver's scratch was left behind")
        bound, beta, order = self.views["bound"], self.views["beta"], self.views["order"]
        if not bound[:held].all() or bound[held:].any():
            raise CorruptModelError("a sample that is held has no bound, or one that is not has")
        self.check_rows(held)
        if self.solved[0] not in (0, 1) or self.converged[0] not in (0, 1) or self.n_iter[0] < 0:
            raise CorruptModelError("a flag or a count of the solver cannot be")
        support = self.n_support[0]
        if not 0 <= support <= held * self.solved[0]:
            raise CorruptModelError(f"{support} support vectors among {held} samples")
        if not beta[:support].all() or beta[support:].any() or (
                np.abs(beta[:held]) > np.abs(bound[:held])).any() or (
                beta[:held] * bound[:held] < 0.0).any():
            raise CorruptModelError("a coefficient is beyond its bound")
        expected = np.arange(held) if self.solved[0] else np.zeros(held)
        if order[held:].any() or (np.sort(order[:held]) != expected).any():
            raise CorruptModelError("the order of the samples is none")

    def check_rows(self, int64_t held):
        cdef int64_t t
        cdef bint fine = True
        for t in range(held):
            get_row(&self.smo.rows, t, self.smo.point)
            fine = fine and self.self_kernel(self.smo.point) <= LARGEST_KERNEL
        memset(self.smo.point, 0, self.views["point"].nbytes)
        if not fine:
            raise CorruptModelError("a sample is larger than any that is learned")
