"""WindowedSVM, compiled: w models of the last 1, 2, ..., w batches, the oldest of which predicts
(Domeniconi & Gunopulos 2001, section 3).

When a batch is complete, the model of w batches is replaced by the SVM of the new batch alone; each
other model is trained with the samples of the batch that its scheme selects. Model m started with a
batch whose number is m modulo w, so that models stay in place.

Each model is its support vectors, their coefficients and bounds; they are copied into the one
workspace for a cycle and back. The batch is stored separately, as w models learn from it.

Bytes, V = max_vectors, b = batch_size, N = V + b, A = N rounded up to a multiple of 16, B = V to
whole tiles: 80 + w (B (D s + 16) + 16) + b (D s + 8) + A (D s + 20) + 40 N, the row of scratch,
D s, and the cache.
"""

cimport cython
from libc.math cimport isfinite
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, Status
from edgesvm.core.tiles cimport Tiles
from edgesvm.learners.papers.incremental._retrained_svm cimport RetrainedSVMCore

import numpy as np

from edgesvm.errors import CorruptModelError

WORKSPACE = ("rows", "bound", "beta", "gradient")


@cython.final
cdef class WindowedSVMCore(RetrainedSVMCore):
    """State and step. The public class has checked the parameters."""
    cdef int64_t window
    cdef int64_t row_count      # of a model's rows, whole tiles
    cdef int64_t *n_batches
    cdef int64_t *n_waiting
    cdef int64_t *n_support     # (window,)
    cdef double *intercept      # (window,)
    cdef char *model_rows       # (window, tiles, width, lanes)
    cdef double *model_bound    # (window, row_count)
    cdef double *model_beta     # (window, row_count)
    cdef char *batch            # (batch_size, width)
    cdef double *batch_bound    # (batch_size,)
    cdef double noise           # of the model that predicts, see `noise_of`; follows from the arena

    def __init__(self, *common, window, **params):
        super().__init__(*common, **params)
        self.window = window
        self.row_count = self.views["model_beta"].shape[1]
        self.n_batches = <int64_t *> self.array("n_batches")
        self.n_waiting = <int64_t *> self.array("n_waiting")
        self.n_support = <int64_t *> self.array("n_support")
        self.intercept = <double *> self.array("intercept")
        self.model_rows = self.array("model_rows")
        self.model_bound = <double *> self.array("model_bound")
        self.model_beta = <double *> self.array("model_beta")
        self.batch = self.array("batch")
        self.batch_bound = <double *> self.array("batch_bound")

    cdef int64_t oldest(self) noexcept nogil:
        """The model of the most batches"""
        return self.n_batches[0] % self.window if self.n_batches[0] > self.window else 0

    cdef Tiles rows_of(self, int64_t m) noexcept nogil:
        cdef Tiles rows = self.smo.rows
        rows.data = self.model_rows + m * self.row_count * self.row_bytes
        return rows

    cdef double value(self, int64_t m, double noise, const void *x) noexcept nogil:
        """f(x) of model m"""
        cdef Tiles rows = self.rows_of(m)
        return self.intercept[m] + self.weighted(
            &rows, self.n_support[m], self.model_beta + m * self.row_count, noise, x)

    cdef double noise_of_model(self, int64_t m) noexcept nogil:
        cdef Tiles rows = self.rows_of(m)
        return self.noise_of(&rows, self.n_support[m], self.model_beta + m * self.row_count)

    cdef void note_noise(self) noexcept nogil:
        self.noise = self.noise_of_model(self.oldest())

    # -- learning ----------------------------------------------------------------------------------

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef Status status = self.refuses(x, weight)
        cdef int64_t n = self.n_waiting[0]
        if status != UNCHANGED:
            return status
        memcpy(self.batch + n * self.row_bytes, x, self.row_bytes)
        self.batch_bound[n] = y * self.C * weight
        n += 1
        self.n_waiting[0] = n
        if n == self.batch_size:
            self.learn_batch()
        elif not self.n_batches[0] and (n & (n - 1)) == 0:
            self.begin_model(0)
            self.note_noise()
            self.n_cycles[0] = self.n_given_up[0] = 0   # the batch is still complete
        return CHANGED

    cdef void learn_batch(self) noexcept nogil:
        cdef int64_t m, newest = self.n_batches[0] % self.window
        for m in range(min(self.n_batches[0], self.window)):
            if m != newest:
                self.extend_model(m)
        self.begin_model(newest)
        memset(self.batch, 0, self.batch_size * self.row_bytes)
        memset(self.batch_bound, 0, self.batch_size * sizeof(double))
        self.n_waiting[0] = 0
        self.n_batches[0] += 1
        self.note_noise()

    cdef void begin_model(self, int64_t m) noexcept nogil:
        """Train model m on the batch alone."""
        cdef int64_t k
        for k in range(self.n_waiting[0]):
            self.put(k, self.batch + k * self.row_bytes, self.batch_bound[k])
        self.train_model(m, self.n_waiting[0])

    cdef void extend_model(self, int64_t m) noexcept nogil:
        """Train model m with the samples of the batch that its scheme selects."""
        cdef int64_t k, old = self.n_support[m], n = old
        cdef const char *x
        cdef double side, noise = self.noise_of_model(m)
        for k in range(self.n_waiting[0]):
            x = self.batch + k * self.row_bytes
            side = 1.0 if self.batch_bound[k] > 0.0 else -1.0
            if self.wants(side * self.value(m, noise, x)):
                self.put(n, x, self.batch_bound[k])
                n += 1
        if n == old:
            return
        self.load(m, old)
        self.train_model(m, n)

    cdef void load(self, int64_t m, int64_t n) noexcept nogil:
        """Copy model m to the first n rows of the workspace; later rows stay."""
        cdef Tiles rows = self.rows_of(m)
        cdef int64_t t
        for t in range(n):
            copy_row(&rows, &self.smo.rows, t)
            self.smo.bound[t] = self.model_bound[m * self.row_count + t]
            self.smo.beta[t] = self.model_beta[m * self.row_count + t]

    cdef void train_model(self, int64_t m, int64_t n) noexcept nogil:
        """Run a cycle with the n rows in the workspace, then empty it."""
        cdef Tiles rows = self.rows_of(m)
        cdef double *bound = self.model_bound + m * self.row_count
        cdef double *beta = self.model_beta + m * self.row_count
        cdef int64_t t
        self.n_support[m] = self.train(n, 0, &self.intercept[m])
        memset(rows.data, 0, self.row_count * self.row_bytes)
        memset(bound, 0, self.row_count * sizeof(double))
        memset(beta, 0, self.row_count * sizeof(double))
        for t in range(self.n_support[m]):
            copy_row(&self.smo.rows, &rows, t)
            bound[t], beta[t] = self.smo.bound[t], self.smo.beta[t]
        self.clear(0, self.n_support[m])

    # -- decisions ---------------------------------------------------------------------------------

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        if not isfinite(self.self_kernel(x)):
            return NOT_FINITE
        value[0] = self.value(self.oldest(), self.noise, x)
        return UNCHANGED if isfinite(value[0]) else NOT_FINITE

    @property
    def answering(self):
        """The index of the model that predicts."""
        return self.oldest()

    # -- checks of a loaded arena ------------------------------------------------------------------

    def check(self):
        super().check()
        views = self.views
        if any(views[name].any() for name in WORKSPACE):
            raise CorruptModelError("the workspace is not zero")
        waiting, n_batches = self.n_waiting[0], self.n_batches[0]
        if not (0 <= waiting < self.batch_size and 0 <= n_batches <= self.n_learned()
                and n_batches * self.batch_size + waiting == self.n_learned()):
            raise CorruptModelError(
                f"{n_batches} batches of {self.batch_size} and {waiting} waiting samples are not"
                f" the {self.n_learned()} samples learned")
        self.check_held(views["batch"], views["batch_bound"], np.zeros(self.batch_size), waiting)
        for m in range(self.window):
            support = self.n_support[m]
            if not 0 <= support <= (self.max_vectors if m < max(n_batches, 1) else 0):
                raise CorruptModelError(
                    f"{support} support vectors, there is room for {self.max_vectors}")
            self.check_held(
                views["model_rows"][m], views["model_bound"][m], views["model_beta"][m], support)
        self.note_noise()


cdef void copy_row(const Tiles *source, const Tiles *target, int64_t t) noexcept nogil:
    """target[t] = source[t]"""
    cdef int64_t d, size = 4 if source.is_float32 else 8, lanes = 64 // size
    cdef int64_t at = ((t // lanes) * lanes * source.width + t % lanes) * size
    for d in range(source.width):
        memcpy(target.data + at + d * lanes * size, source.data + at + d * lanes * size, size)
