# The Cholesky factor of a matrix that gains and loses rows; see packed_factor.pyx.

from libc.stdint cimport int64_t

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
cdef void factor_solve(const PackedFactor *f) noexcept nogil
cdef double factor_complement(const PackedFactor *f, double k_ii) noexcept nogil
cdef void factor_append(
    const PackedFactor *f, double delta, const double *row, int64_t n) noexcept nogil
cdef int64_t factor_remove(const PackedFactor *f, int64_t p) noexcept nogil
cdef void factor_add_outer(const PackedFactor *f, double rho) noexcept nogil
cdef void factor_drop_column(const PackedFactor *f, int64_t i, int64_t n) noexcept nogil


cdef inline int64_t packed(int64_t order) noexcept nogil:
    """Number of entries of a packed symmetric matrix; also the offset of row `order` of L"""
    return order * (order + 1) // 2


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
