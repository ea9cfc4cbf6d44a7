"""IncrementalSVM and WindowedSVM, compiled: SVMs trained one batch at a time, on the support
vectors of the cycle before and what a scheme takes of the batch (Domeniconi & Gunopulos 2001).

A cycle solves the rows in a workspace, which has room for `max_vectors` support vectors and a
batch. It starts from the coefficients of its rows (zero for the batch), which are feasible, and
ends with the support vectors at the front, oldest first, and zeros after them.
"""

cimport cython
from libc.math cimport INFINITY, fabs, isfinite
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from edgesvm.core.rng cimport rng_below, rng_seed
from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, Status
from edgesvm.core.tiles cimport Tiles, put_row
from edgesvm.learners.batch._smo cimport (
    CONVERGED, Smo, SmoCore, smo_begin, smo_complete, smo_gather, smo_intercept, smo_restore,
    smo_run, smo_wipe)

import numpy as np

from edgesvm.errors import CorruptModelError

cdef int64_t FRESH_EVERY = 100      # cycles
cdef int64_t DRAWN_FROM = 1 << 53   # a share of it is exact
WORKSPACE = ("rows", "bound", "beta", "gradient")
SCHEMES = (
    "error_driven", "fixed_partition", "exceeding_margin", "exceeding_margin_errors", "active")

cdef enum Scheme:       # in this order
    ERROR_DRIVEN = 0
    FIXED_PARTITION = 1
    EXCEEDING_MARGIN = 2
    EXCEEDING_MARGIN_ERRORS = 3
    ACTIVE = 4


cdef class RetrainedSVMCore(SmoCore):
    """The workspace. The public class has checked the parameters."""
    cdef Scheme scheme
    cdef int64_t batch_size
    cdef int64_t max_vectors
    cdef int64_t max_iter
    cdef int64_t *n_cycles
    cdef int64_t *n_given_up
    cdef int64_t *n_iter
    cdef int64_t *converged

    def __init__(self, *common, C, kernel, tol, scheme, batch_size, max_vectors, max_iter):
        super().__init__(*common, C=C, kernel=kernel, tol=tol)
        self.scheme = SCHEMES.index(scheme)
        self.batch_size, self.max_vectors, self.max_iter = batch_size, max_vectors, max_iter
        self.n_cycles = <int64_t *> self.array("n_cycles")
        self.n_given_up = <int64_t *> self.array("n_given_up")
        self.n_iter = <int64_t *> self.array("n_iter")
        self.converged = <int64_t *> self.array("converged")

    # -- samples -----------------------------------------------------------------------------------

    cdef bint wants(self, double yf) noexcept nogil:
        """Whether the scheme keeps a sample of margin y f(x)"""
        if self.scheme == ERROR_DRIVEN:
            return yf <= 0.0
        if self.scheme == EXCEEDING_MARGIN:
            return fabs(yf) <= 1.0
        if self.scheme == EXCEEDING_MARGIN_ERRORS:
            return yf <= 1.0
        return True

    cdef void put(self, int64_t t, const void *x, double bound) noexcept nogil:
        """Set row t of the workspace; its coefficient stays zero."""
        put_row(&self.smo.rows, t, x)
        self.smo.bound[t] = bound

    cdef void clear(self, int64_t first, int64_t last) noexcept nogil:
        """Zero rows first <= t < last; `point` is zero between solutions."""
        cdef int64_t t
        for t in range(first, last):
            put_row(&self.smo.rows, t, self.smo.point)
            self.smo.bound[t] = self.smo.beta[t] = self.smo.gradient[t] = 0.0

    # -- a cycle -----------------------------------------------------------------------------------

    cdef int64_t train(self, int64_t n, int64_t n_known, double *intercept) noexcept nogil:
        """Solve the first n rows, of `n_known` with a gradient; how many support vectors stay."""
        cdef int64_t n_support
        self.n_iter[0] = 0
        n_support = self.solve(n, n_known, intercept, False)
        if n_support > self.max_vectors:
            self.n_given_up[0] += n_support - self.max_vectors
            self.clear(self.max_vectors, n)
            n = self.max_vectors
            n_support = self.solve(n, 0, intercept, False)
        if n_support == 0:
            n_support = self.keep_newest(n)
        self.clear(n_support, n)
        self.n_cycles[0] += 1
        return n_support

    cdef int64_t solve(
        self, int64_t n, int64_t n_known, double *intercept, bint keep_all
    ) noexcept nogil:
        """Solve from the rows' coefficients. Move the support vectors to the front and drop those
        beyond `max_vectors`; with `keep_all`, every row stays where it was. Return how many there
        were."""
        cdef Smo *s = &self.smo
        s.n = n
        smo_begin(s, True, n_known)
        self.converged[0] = smo_run(s, self.max_iter) == CONVERGED
        smo_complete(s)
        intercept[0] = smo_intercept(s)
        self.n_iter[0] += s.n_iter
        smo_restore(s)
        if not keep_all:
            n = smo_gather(s)
            if n > self.max_vectors:
                self.give_up(n, intercept[0])
        smo_wipe(s, 0 if keep_all else s.n)
        memset(s.order, 0, s.n * sizeof(int32_t))
        return n

    cdef void give_up(self, int64_t n, double b) noexcept nogil:
        """Drop all but `max_vectors` of n support vectors, and balance the coefficients."""
        cdef int64_t t, n_positive = 0, kept
        for t in range(n):
            n_positive += self.smo.bound[t] > 0.0
        kept = (2 * self.max_vectors * n_positive + n) // (2 * n)
        kept = min(max(kept, 1), self.max_vectors - 1)
        self.give_up_of(n, n_positive - kept, 1.0, b)
        self.give_up_of(n, (n - n_positive) - (self.max_vectors - kept), -1.0, b)
        smo_gather(&self.smo)
        self.balance(self.max_vectors)

    cdef void give_up_of(self, int64_t n, int64_t n_less, double y, double b) noexcept nogil:
        """Drop the `n_less` support vectors of class y with the smallest y f."""
        cdef Smo *s = &self.smo
        cdef double beyond, most
        cdef int64_t t, worst
        for _ in range(n_less):
            worst, most = -1, -INFINITY
            for t in range(n):
                if s.bound[t] * y > 0.0 and s.beta[t] != 0.0:
                    # y f = 1 - y (g - b); for free ones it is 1, whatever the tolerance leaves
                    beyond = y * (s.gradient[t] - b) if s.beta[t] == s.bound[t] else 0.0
                    if beyond > most:
                        worst, most = t, beyond
            s.beta[worst] = 0.0

    cdef void balance(self, int64_t n) noexcept nogil:
        """Scale down the class with the larger sum until sum beta = 0."""
        cdef double *beta = self.smo.beta
        cdef double up = 0.0, down = 0.0
        cdef int64_t t
        for t in range(n):
            if beta[t] > 0.0:
                up += beta[t]
            else:
                down -= beta[t]
        for t in range(n):
            if up > down and beta[t] > 0.0:
                beta[t] *= down / up
            elif down > up and beta[t] < 0.0:
                beta[t] *= up / down

    cdef int64_t keep_newest(self, int64_t n) noexcept nogil:
        """There are no support vectors: move the newest `max_vectors` rows to the front."""
        cdef Smo *s = &self.smo
        cdef int64_t t, n_kept = min(n, self.max_vectors)
        for t in range(n - n_kept, n):
            s.beta[t] = 1.0     # what `smo_gather` moves to the front
        s.n = n
        smo_gather(s)
        memset(s.order, 0, n * sizeof(int32_t))
        memset(s.beta, 0, n * sizeof(double))
        return n_kept


@cython.final
cdef class IncrementalSVMCore(RetrainedSVMCore):
    """One model. The selected samples are in the workspace after the support vectors, without a
    coefficient, so that a cycle needs no copy; and the gradient of the support vectors stays
    from cycle to cycle, so that a cycle starts with the kernel of the batch alone."""
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
        if not (0 <= held - support < self.batch_size and held <= self.n_learned()):
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


@cython.final
cdef class WindowedSVMCore(RetrainedSVMCore):
    """Models of the last 1, 2, ..., w batches, the oldest of which predicts. When a batch is
    complete, the model of w batches is replaced by the SVM of the new batch alone; each other model
    is trained with what its scheme takes of the batch. Model m started with a batch whose number is
    m modulo w, so that models stay in place."""
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
        if n_batches * self.batch_size + waiting != self.n_learned():
            raise CorruptModelError(
                f"{n_batches} batches of {self.batch_size} and {waiting} waiting samples are not"
                f" the {self.n_learned()} samples learned")
        self.check_held(views["batch"], views["batch_bound"], np.zeros(self.batch_size), waiting)
        for m in range(self.window):
            support = self.n_support[m]
            if support and m >= max(n_batches, 1):
                raise CorruptModelError("a model of no batch has support vectors")
            self.check_held(
                views["model_rows"][m], views["model_bound"][m], views["model_beta"][m], support)
        self.note_noise()


cdef void copy_row(const Tiles *source, const Tiles *target, int64_t t) noexcept nogil:
    """target[t] = source[t]"""
    cdef int64_t d, size = 4 if source.is_float32 else 8, lanes = 64 // size
    cdef int64_t at = ((t // lanes) * lanes * source.width + t % lanes) * size
    for d in range(source.width):
        memcpy(target.data + at + d * lanes * size, source.data + at + d * lanes * size, size)
