"""A training cycle, compiled: solve the rows in a workspace and keep the support vectors.

The workspace has room for `max_vectors` support vectors and a batch. A cycle starts from the
coefficients of its rows (zero for the batch), which are feasible, and ends with the support vectors
at the front, oldest first, and zeros after them.

If there are more support vectors than `max_vectors`, those farthest on the wrong side of the margin
(smallest y f(x), the oldest of equals) are dropped from each class in proportion, and the rest is
solved again, so that a model is always the SVM of what it stores.

Rows of one class have no support vectors; the newest `max_vectors` of them stay until the other
class appears.

Bytes: see `plan`; a row of the workspace takes D s + 60, and 64 of the default cache.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from edgesvm.core.tiles cimport put_row
from edgesvm.learners.batch._smo cimport (
    CONVERGED, Smo, smo_begin, smo_complete, smo_gather, smo_intercept, smo_restore, smo_run,
    smo_wipe)
from edgesvm.learners.batch._smo cimport SmoCore

from edgesvm.errors import CorruptModelError

SCHEMES = {
    "error_driven": ERROR_DRIVEN,
    "fixed_partition": FIXED_PARTITION,
    "exceeding_margin": EXCEEDING_MARGIN,
    "exceeding_margin_errors": EXCEEDING_MARGIN_ERRORS,
    "active": ACTIVE,
}


cdef class RetrainedSVMCore(SmoCore):
    """The workspace. The public class has checked the parameters."""

    def __init__(self, *common, C, kernel, tol, scheme, batch_size, max_vectors, max_iter):
        super().__init__(*common, C=C, kernel=kernel, tol=tol)
        self.scheme = SCHEMES[scheme]
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
        """Solve the first n rows; keep the support vectors, with their gradient, at the front and
        return how many. The gradient of the first `n_known` rows is already known."""
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
        """Drop all but `max_vectors` of n support vectors; move the rest to the front and balance
        their coefficients."""
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

    # -- checks of a loaded arena ------------------------------------------------------------------

    def check(self):
        super().check()
        self.check_scratch("order", kept=("gradient",))
        if self.converged[0] not in (0, 1) or min(
                self.n_cycles[0], self.n_given_up[0], self.n_iter[0]) < 0:
            raise CorruptModelError("a flag or a counter of the solver is out of range")
