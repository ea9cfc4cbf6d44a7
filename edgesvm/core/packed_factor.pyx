"""The packed Cholesky factor of a matrix that gains and loses rows, rows of the matrix in the same
block, and the bordered system they solve.

K is symmetric and S is a set of its rows, in the caller's order. L is the lower triangular factor
of K_SS + lift, with lift > 0 added to every entry. It solves

    sum(x) = border[0],    K_SS x + b = border[1:]

The lift changes only b, by lift * border[0], so K_SS itself need not be positive definite.
ones = L^-1 1 is maintained.

L is packed by rows from the start of `pool`. The rows of K of the first members of S, each `width`
long, fill `pool` from its end, as many as fit. When L grows, they are overwritten from the last
one on. Nothing is allocated. Time: O(m^2) per operation, m = |S|.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memmove, memset

from edgesvm.core.linalg cimport add_scaled, dot


cdef double LARGEST = 1e152     # of L: its square is a sum of weights times squared kernel values


def packed_length(int64_t order):
    """Numbers in a symmetric matrix of that order."""
    return packed(order)


cdef void factor_forward(const PackedFactor *f) noexcept nogil:
    """solution[1:] = L^-1 @ border[1:]"""
    triangle_forward(f.pool, f.border + 1, f.solution + 1, f.order[0])


cdef void factor_wipe(const PackedFactor *f) noexcept nogil:
    """Clear `border` and `solution`, which a damaged factor may have made infinite: nothing that is
    not finite is saved."""
    memset(f.border, 0, (1 + f.order[0]) * sizeof(double))
    memset(f.solution, 0, (1 + f.order[0]) * sizeof(double))


cdef bint factor_is_sound(const PackedFactor *f) noexcept nogil:
    """Whether L may be a factor: a damaged one may have any numbers."""
    cdef int64_t i
    for i in range(packed(f.order[0])):
        if not fabs(f.pool[i]) <= LARGEST:
            return False
    for i in range(f.order[0]):
        if not f.pool[packed(i) + i] > 0.0:
            return False
    return True


cdef void factor_solve(const PackedFactor *f) noexcept nogil:
    """solution = (b, x) of the bordered system"""
    cdef int64_t m = f.order[0]
    cdef double *x = f.solution + 1
    cdef double b
    factor_forward(f)
    b = (dot(f.ones, x, m) - f.border[0]) / dot(f.ones, f.ones, m)
    add_scaled(-b, f.ones, x, m)
    factor_backward(f, x)
    f.solution[0] = b + f.lift[0] * f.border[0]


cdef void factor_backward(const PackedFactor *f, double *x) noexcept nogil:
    """x = L^-T @ x"""
    cdef int64_t i
    cdef const double *row
    for i in range(f.order[0] - 1, -1, -1):
        row = f.pool + packed(i)
        x[i] /= row[i]
        add_scaled(-x[i], row, x, i)


cdef double factor_complement(const PackedFactor *f, double k_ii) noexcept nogil:
    """The Schur complement of row i in K + lift, given border[1:] = K_iS + lift. Leaves
    solution[1:] = L^-1 border[1:] for `factor_append`."""
    factor_forward(f)
    return k_ii + f.lift[0] - dot(f.solution + 1, f.solution + 1, f.order[0])


cdef void factor_append(
    const PackedFactor *f, double delta, const double *row, int64_t n
) noexcept nogil:
    """Append the row of `factor_complement`, whose result is `delta`; store its n entries of K if
    they fit."""
    cdef int64_t m = f.order[0]
    cdef double *last = f.pool + packed(m)
    memcpy(last, f.solution + 1, m * sizeof(double))
    last[m] = sqrt(delta)
    f.ones[m] = (1.0 - dot(last, f.ones, m)) / last[m]
    m += 1
    f.order[0] = m
    if m <= factor_rows(f, m):
        memcpy(factor_row(f, m - 1), row, n * sizeof(double))


cdef int64_t factor_remove(const PackedFactor *f, int64_t p) noexcept nogil:
    """Remove row p and close the gap. Returns how many rows of K are still stored; there may now be
    room for more, which the caller can fill."""
    cdef int64_t m = f.order[0], n_rows = factor_rows(f, m)
    if p < n_rows:
        n_rows -= 1
        memmove(factor_row(f, n_rows - 1), factor_row(f, n_rows),
                (n_rows - p) * f.width * sizeof(double))
    triangle_remove(f.pool, f.ones, f.border, f.solution, m, p)
    f.order[0] = m - 1
    return n_rows


cdef void factor_add_outer(const PackedFactor *f, double rho) noexcept nogil:
    """L L^T += rho v v^T, rho > 0, given solution[1:] = z = L^-1 v. From then on L is no longer the
    factor of K + lift: `ones` and `border` are TMP.

    v v^T = L z z^T L^T, so the new factor is L times that of 1 + rho z z^T (Gill, Golub, Murray &
    Saunders 1974, method C1), whose diagonal is sqrt(tau_k / tau_k-1), with z_i share_k below it:
    tau_k = 1 + rho (z_0^2 + .. + z_k^2), share_k = rho z_k / sqrt(tau_k tau_k-1).
    """
    cdef int64_t i, k, m = f.order[0]
    cdef const double *z = f.solution + 1
    cdef double *diagonal = f.ones
    cdef double *share = f.border + 1
    cdef double *row
    cdef double tau, before = 1.0, below
    for k in range(m):
        tau = before + rho * z[k] * z[k]
        diagonal[k] = sqrt(tau / before)
        share[k] = rho * z[k] / sqrt(tau * before)
        before = tau
    for i in range(m):
        row = f.pool + packed(i)
        below = 0.0
        for k in range(i, -1, -1):
            tau = row[k]
            row[k] = diagonal[k] * tau + below * share[k]
            below += tau * z[k]


cdef void factor_drop_column(const PackedFactor *f, int64_t i, int64_t n) noexcept nogil:
    """Remove entry i from the stored rows of K, of length n; i is not in S."""
    cdef int64_t p
    cdef double *row
    for p in range(factor_rows(f, f.order[0])):
        row = factor_row(f, p)
        memmove(row + i, row + i + 1, (n - i - 1) * sizeof(double))
