# The Cholesky factor of a matrix that gains and loses rows; see packed_factor.pyx.

from libc.math cimport sqrt
from libc.stdint cimport int64_t
from libc.string cimport memmove

from edgesvm.core.linalg cimport dot, real

cdef struct PackedFactor:   # all arrays and scalars are the caller's
    double *pool            # (length,): L from the start, rows of K from the end
    int64_t length
    int64_t width           # length of a row of K, free places included
    int64_t *order          # order of L
    double *lift            # L L^T = K_SS + lift
    double *ones            # (width,): L^-1 1
    double *border          # (width + 1,): right-hand side; TMP in `factor_remove`
    double *solution        # (width + 1,): (b, x); TMP in `factor_remove`

cdef void factor_forward(const PackedFactor *f) noexcept nogil
cdef void factor_backward(const PackedFactor *f, double *x) noexcept nogil
cdef void factor_wipe(const PackedFactor *f) noexcept nogil
cdef void factor_solve(const PackedFactor *f) noexcept nogil
cdef double factor_complement(const PackedFactor *f, double k_ii) noexcept nogil
cdef void factor_append(
    const PackedFactor *f, double delta, const double *row, int64_t n) noexcept nogil
cdef int64_t factor_remove(const PackedFactor *f, int64_t p) noexcept nogil
cdef void factor_add_outer(const PackedFactor *f, double rho) noexcept nogil
cdef void factor_drop_column(const PackedFactor *f, int64_t i, int64_t n) noexcept nogil
cdef bint factor_is_sound(const PackedFactor *f) noexcept nogil


cdef inline int64_t packed(int64_t order) noexcept nogil:
    """Number of entries of a packed symmetric matrix; also the offset of row `order` of L"""
    return order * (order + 1) // 2


# -- L alone, packed by rows, in either type -------------------------------------------------------

cdef inline void triangle_forward(
    const real *L, const real *border, real *y, int64_t m
) noexcept nogil:
    """y = L^-1 @ border"""
    cdef int64_t i
    cdef const real *row
    for i in range(m):
        row = L + packed(i)
        y[i] = (border[i] - dot(row, y, i)) / row[i]


cdef inline void triangle_remove(
    real *L, real *ones, real *c, real *s, int64_t m, int64_t p
) noexcept nogil:
    """Remove row p: rotate the rows after it back to a triangle, and `ones` (m,), unless NULL, with
    them. c and s, (m,), TMP: cosines and sines of the rotations."""
    cdef int64_t i, k
    cdef real *row
    cdef real a, b, length
    for i in range(p, m - 1):
        row = L + packed(i + 1)
        for k in range(p, i):
            a, b = row[k], row[k + 1]
            row[k], row[k + 1] = c[k] * a + s[k] * b, c[k] * b - s[k] * a
        length = <real> sqrt(row[i] * row[i] + row[i + 1] * row[i + 1])
        c[i], s[i] = row[i] / length, row[i + 1] / length
        row[i] = length
        if ones != NULL:
            a, b = ones[i], ones[i + 1]
            ones[i], ones[i + 1] = c[i] * a + s[i] * b, c[i] * b - s[i] * a
        memmove(L + packed(i), row, (i + 1) * sizeof(real))


# -- with the rows of K ----------------------------------------------------------------------------

cdef inline bint factor_has_room(const PackedFactor *f) noexcept nogil:
    """Whether there is room for one more row of L"""
    return packed(f.order[0] + 1) <= f.length


cdef inline int64_t factor_rows(const PackedFactor *f, int64_t order) noexcept nogil:
    """Number of rows of K, at most `order`, that fit next to an L of that order"""
    cdef int64_t room = (f.length - packed(order)) // f.width
    return room if room < order else order


cdef inline double *factor_row(const PackedFactor *f, int64_t p) noexcept nogil:
    """Row p of K, p < factor_rows(f, order)"""
    return f.pool + f.length - (p + 1) * f.width
