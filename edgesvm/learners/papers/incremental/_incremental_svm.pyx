"""IncrementalSVM, compiled: support vectors and the samples that a scheme adds to them, retrained
one batch at a time (Domeniconi & Gunopulos 2001, section 2).

The selected samples are in the workspace after the support vectors, without a coefficient, so that
a cycle needs no copy; and the gradient of the support vectors, c - K beta, stays from cycle to
cycle, so that a cycle starts with the kernel of the batch alone. The first batch is stored whole;
while it fills it is solved at each doubling, and all of it stays, so that there is a model before
the first cycle.

Bytes, N = max_vectors + batch_size, A = N rounded up to a multiple of 16: 88 + A (D s + 20) + 40 N,
the row of scratch, D s, and the cache.
"""

cimport cython
from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint64_t

from edgesvm.core.rng cimport rng_below, rng_seed
from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, Status
from edgesvm.learners.papers.incremental._retrained_svm cimport ACTIVE, FIXED_PARTITION
from edgesvm.learners.papers.incremental._retrained_svm cimport RetrainedSVMCore

import numpy as np

from edgesvm.errors import CorruptModelError

cdef int64_t FRESH_EVERY = 100      # cycles
cdef int64_t DRAWN_FROM = 1 << 53   # a share of it is exact


@cython.final
cdef class IncrementalSVMCore(RetrainedSVMCore):
    """State and step. The public class has checked the parameters."""
    cdef double *intercept
    cdef int64_t *n_support     # rows at the front, left by the last cycle
    cdef int64_t *n_held        # those and the batch so far
    cdef double noise           # of the model, see `noise_of`
    cdef double errors_kept     # shares that join a batch of the active scheme
    cdef double correct_kept
    cdef uint64_t *rng          # (4,), in that scheme

    def __init__(self, *common, errors_kept, correct_kept, seed, **params):
        super().__init__(*common, **params)
        self.note_tiles(&self.smo.rows, "rows")
        self.errors_kept, self.correct_kept = errors_kept, correct_kept
        if self.scheme == ACTIVE:
            self.rng = <uint64_t *> self.array("rng")
            if not self.views["rng"].any():
                rng_seed(self.rng, seed)
        self.intercept = <double *> self.array("intercept")
        self.n_support = <int64_t *> self.array("n_support")
        self.n_held = <int64_t *> self.array("n_held")

    cdef double value(self, const void *x) noexcept nogil:
        """f(x)"""
        return self.intercept[0] + self.weighted(
            &self.smo.rows, self.n_trained(), self.smo.beta, self.noise, x)

    cdef int64_t n_trained(self) noexcept nogil:
        """Rows that may have a coefficient: those of the batch have one only in the first batch."""
        return self.n_support[0] if self.n_cycles[0] else self.n_held[0]

    cdef bint wants(self, double yf) noexcept nogil:
        if self.scheme == ACTIVE:
            return rng_below(self.rng, DRAWN_FROM) < DRAWN_FROM * (
                self.errors_kept if yf <= 0.0 else self.correct_kept)
        return RetrainedSVMCore.wants(self, yf)

    cdef void note_noise(self) noexcept nogil:
        self.noise = self.noise_of(&self.smo.rows, self.n_trained(), self.smo.beta)

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef Status status = self.refuses(x, weight)
        cdef double f
        if status != UNCHANGED:
            return status
        if self.n_cycles[0] and self.scheme != FIXED_PARTITION:
            f = self.value(x)
            if not isfinite(f):
                return NOT_FINITE
            if not self.wants(y * f):
                return UNCHANGED
        self.put(self.n_held[0], x, y * self.C * weight)
        self.n_held[0] += 1
        if self.n_held[0] - self.n_support[0] == self.batch_size:
            self.cycle()
        elif not self.n_cycles[0] and (self.n_held[0] & (self.n_held[0] - 1)) == 0:
            self.n_iter[0] = 0
            self.solve(self.n_held[0], 0, self.intercept, True)
            self.note_noise()
        return CHANGED

    cdef void cycle(self) noexcept nogil:
        # The gradient of the support vectors is still known; recompute it now and then, against
        # rounding
        cdef int64_t n_known = self.n_support[0] if self.n_cycles[0] % FRESH_EVERY else 0
        self.n_support[0] = self.train(self.n_held[0], n_known, self.intercept)
        self.n_held[0] = self.n_support[0]
        self.note_noise()

    def update(self):
        """Run a cycle with the batch so far; return whether it had any samples."""
        if self.n_held[0] == self.n_support[0]:
            return False
        with nogil:
            self.cycle()
        return True

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        if not isfinite(self.self_kernel(x)):
            return NOT_FINITE
        value[0] = self.value(x)
        return UNCHANGED if isfinite(value[0]) else NOT_FINITE

    def check(self):
        super().check()
        if self.scheme == ACTIVE and not self.views["rng"].any():
            raise CorruptModelError("the generator's state is zero")
        held, support = self.n_held[0], self.n_support[0]
        if not (0 <= support <= self.max_vectors and 0 <= held - support < self.batch_size
                and held <= self.n_learned()):
            raise CorruptModelError(
                f"{held} samples are stored, {support} of them support vectors; there is room"
                f" for {self.max_vectors} and a batch of {self.batch_size}")
        if not self.n_cycles[0] and support:
            raise CorruptModelError("there are support vectors before the first cycle")
        trained = self.n_trained()
        views = self.views
        self.check_held(views["rows"], views["bound"], views["beta"], held)
        if views["beta"][trained:].any():
            raise CorruptModelError("a sample that waits has a coefficient")
        gradient = views["gradient"]
        if gradient[support:].any() or not np.isfinite(gradient[:support]).all():
            raise CorruptModelError("the gradient is not that of the support vectors")
        self.note_noise()
