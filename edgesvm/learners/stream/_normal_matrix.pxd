# The Cholesky factor L of a positive definite matrix that grows by products v v'.
#
# L is packed column by column, so that every inner loop runs over consecutive numbers: column j of
# order n begins at `column(j, n)`, with its diagonal. Nothing is allocated. Time: O(n^2) for a
# product and a solution, O(n^3) / 6 for a factor.

from libc.math cimport sqrt
from libc.stdint cimport int64_t

from edgesvm.core.linalg cimport add_scaled, dot


cdef inline int64_t column(int64_t j, int64_t n) noexcept nogil:
    """Where column j begins; column(n, n) is the length of the whole"""
    return j * n - j * (j - 1) // 2


cdef inline void factorise(double *A, int64_t n) noexcept nogil:
    """Replace the lower triangle of A by that of L, A = L L'."""
    cdef int64_t i, j, k
    cdef double *col
    cdef double inverse
    for j in range(n):
        col = A + column(j, n)
        col[0] = sqrt(col[0])
        inverse = 1.0 / col[0]
        for k in range(1, n - j):
            col[k] *= inverse
        for i in range(j + 1, n):
            add_scaled(-col[i - j], col + i - j, A + column(i, n), n - i)


cdef inline void multiply_out(double *L, int64_t n) noexcept nogil:
    """The inverse of `factorise`"""
    cdef int64_t j, k
    cdef double *col
    for j in range(n - 1, -1, -1):
        col = L + column(j, n)
        for k in range(n - j - 1, -1, -1):
            col[k] *= col[0]
        for k in range(j):
            add_scaled(L[column(k, n) + j - k], L + column(k, n) + j - k, col, n - j)


cdef inline void add_product(double *L, double *v, int64_t n) noexcept nogil:
    """L L' += v v'; v is used up."""
    cdef int64_t j, k
    cdef double *col
    cdef double length, c, s, inverse
    for j in range(n):
        col = L + column(j, n)
        length = sqrt(col[0] * col[0] + v[j] * v[j])
        c, s, inverse = length / col[0], v[j] / col[0], col[0] / length
        col[0] = length
        for k in range(1, n - j):
            col[k] = (col[k] + s * v[j + k]) * inverse
            v[j + k] = c * v[j + k] - s * col[k]


cdef inline void solve(const double *L, double *x, int64_t n) noexcept nogil:
    """x = (L L')^-1 x"""
    cdef int64_t j
    cdef const double *col
    for j in range(n):
        col = L + column(j, n)
        x[j] /= col[0]
        add_scaled(-x[j], col + 1, x + j + 1, n - j - 1)
    for j in range(n - 1, -1, -1):
        col = L + column(j, n)
        x[j] = (x[j] - dot(col + 1, x + j + 1, n - j - 1)) / col[0]
