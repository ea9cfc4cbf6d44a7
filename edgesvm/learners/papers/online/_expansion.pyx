"""Base class of the compiled online learners with a kernel: f(x) = sum_i coef_i k(x_i, x) over the
stored samples x_i.

Bytes, M slots: 40 + M (D s + 8). Time: M kernel values per decision.
"""

from libc.math cimport fabs, sqrt
from libc.string cimport memcpy, memset

from edgesvm.core.rows cimport ROWS_BLOCK, ROWS_WIDEST, rows_block_weigh
from edgesvm.core.status cimport BAD_WEIGHT, NOT_FINITE, UNCHANGED, Status

from edgesvm.learners.papers.online.constants import LEAST_WEIGHT as _LEAST_WEIGHT, MOST as _MOST

cdef double LEAST_WEIGHT = _LEAST_WEIGHT, MOST = _MOST

cdef enum:
    BLOCK = 64      # kernel values computed at once, on the stack: a decision writes nothing else


cdef class ExpansionCore(KernelCore):
    """A kernel expansion, for a subclass to change. The public class has checked the parameters."""

    def __init__(self, *common, kernel):
        super().__init__(*common, kernel=kernel)
        self.capacity = len(self.views["coef"])
        self.n_held = <int64_t *> self.array("n_held")
        self.coef = <double *> self.array("coef")
        self.vectors = self.array("vectors")
        self.decides_in_blocks = True

    cdef char *vector(self, int64_t i) noexcept nogil:
        return self.vectors + i * self.row_bytes

    cdef double project(self, const void *x) noexcept nogil:
        """f(x)"""
        cdef double[BLOCK] k
        cdef double f = 0.0
        cdef int64_t i, n, begin = 0
        while begin < self.n_held[0]:
            n = min(<int64_t> BLOCK, self.n_held[0] - begin)
            self.k_rows(x, self.vector(begin), n, k)
            for i in range(n):
                f += self.coef[begin + i] * k[i]
            begin += n
        return f

    cdef Status refuses(self, const void *x, double weight) noexcept nogil:
        """UNCHANGED if the sample can be learned, otherwise the reason why not."""
        if not self.self_kernel(x) <= MOST:
            return NOT_FINITE
        return UNCHANGED if LEAST_WEIGHT <= weight <= MOST else BAD_WEIGHT

    cdef void put(self, int64_t i, const void *x, double coef) noexcept nogil:
        memcpy(self.vector(i), x, self.row_bytes)
        self.coef[i] = coef

    cdef int64_t held(self, const char **vectors) noexcept nogil:
        vectors[0] = self.vectors
        return self.n_held[0]

    cdef bint refuses_to_decide(self, const void *x) noexcept nogil:
        return not self.self_kernel(x) <= MOST

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        value[0] = 0.0
        if self.refuses_to_decide(x):
            return NOT_FINITE
        value[0] = self.project(x)
        return UNCHANGED if -MOST * MOST <= value[0] <= MOST * MOST else NOT_FINITE

    cdef int64_t decide_block(
        self, const void *x, const void *squares, int64_t n, double *values
    ) noexcept nogil:
        cdef double[ROWS_BLOCK * ROWS_WIDEST] turned
        cdef double[ROWS_BLOCK * BLOCK] k
        cdef int64_t c, begin = 0
        if not self.turn(x, n, turned):
            return 0
        memset(values, 0, ROWS_BLOCK * sizeof(double))
        while begin < self.n_held[0]:
            n = min(<int64_t> BLOCK, self.n_held[0] - begin)
            self.k_block(turned, self.vectors, begin, n, k)
            rows_block_weigh(self.coef + begin, k, n, values)
            begin += n
        for c in range(ROWS_BLOCK):
            if not -MOST * MOST <= values[c] <= MOST * MOST:
                return c
        return ROWS_BLOCK

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = KernelCore.fault(self)
        cdef int64_t i
        if found != NULL:
            return found
        if self.n_held[0] > self.capacity:
            return b"more vectors are stored than there is room for"
        for i in range(self.n_held[0]):
            if not self.self_kernel(self.vector(i)) <= MOST:
                return b"a vector is too large"
            if not fabs(self.coef[i]) <= MOST * sqrt(MOST):
                return b"a coefficient is too large"
        return NULL
