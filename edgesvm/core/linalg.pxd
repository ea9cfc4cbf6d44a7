# Entries, dot, distance and axpy for float32 and float64 vectors, given as pointer and length.
# sums_of.h defines the order of summation.

from libc.math cimport isfinite
from libc.stdint cimport int64_t

ctypedef fused real:
    float
    double

# f32: whether the numbers of arrays given as `void *` are float32, else float64
cdef extern from "lanes.h" nogil:
    double lanes_dot(bint f32, const void *x, const void *z, int64_t n) noexcept
    void lanes_dot_square(
        bint f32, const void *x, const void *w, int64_t n, void *dot, void *square) noexcept
    void lanes_dot_square_rows(
        bint f32, const void *x, const void *w, int64_t n, int64_t rows, void *dots,
        void *squares) noexcept
    void lanes_dot_rows(
        bint f32, const void *x, const void *w, int64_t n, int64_t rows, void *dots) noexcept
    void lanes_square_rows(
        bint f32, const void *x, int64_t n, int64_t rows, void *squares) noexcept
    void lanes_axpby(
        bint f32, double a, const void *x, double b, void *y, int64_t n) noexcept
    void lanes_add(bint f32, double a, const void *x, void *y, int64_t n) noexcept
    double plane_dot(bint f32, const void *x, const double *w, int64_t n) noexcept
    void plane_add(bint f32, double a, const void *x, double *w, int64_t n) noexcept
    void lanes_approach(bint f32, double a, const void *x, void *y, int64_t n) noexcept
    double lanes_square_distance(
        bint f32, const void *x, const void *z, int64_t n) noexcept


cdef inline real dot(const real *x, const real *z, int64_t n) noexcept nogil:
    """x @ z"""
    return <real> lanes_dot(real is float, x, z, n)


cdef inline double any_dot(bint is_float32, const void *x, const void *z, int64_t n) noexcept nogil:
    """x @ z, summed in the vectors' dtype"""
    return lanes_dot(is_float32, x, z, n)


cdef inline double entry(bint is_float32, const void *x, int64_t i) noexcept nogil:
    """x[i], read as `is_float32` says"""
    return (<const float *> x)[i] if is_float32 else (<const double *> x)[i]


cdef inline void put(bint is_float32, void *x, int64_t i, double value) noexcept nogil:
    """x[i] = value, written as `is_float32` says"""
    if is_float32:
        (<float *> x)[i] = <float> value
    else:
        (<double *> x)[i] = value


cdef inline int64_t item_bytes(bint is_float32) noexcept nogil:
    return sizeof(float) if is_float32 else sizeof(double)


cdef inline const void *item_at(bint is_float32, const void *x, int64_t i) noexcept nogil:
    """&x[i], or NULL if there is no x"""
    if x == NULL:
        return NULL
    return <const char *> x + i * item_bytes(is_float32)


cdef inline void dot_square(
    const real *x, const real *w, int64_t n, real *xw, real *xx
) noexcept nogil:
    """xw, xx = x @ w, x @ x"""
    lanes_dot_square(real is float, x, w, n, xw, xx)


cdef enum:
    BLOCK = 4           # rows that are looked at together


cdef inline void dot_square_rows(
    const real *x, const real *w, int64_t n, int64_t rows, real *xw, real *xx
) noexcept nogil:
    """xw, xx = (x @ w)[:4], (x * x).sum(1)[:4] of x (rows, n), rows >= 4, as `dot_square` row by
    row"""
    lanes_dot_square_rows(real is float, x, w, n, rows, xw, xx)


cdef inline void dot_rows(
    const real *x, const real *w, int64_t n, int64_t rows, real *xw
) noexcept nogil:
    """xw = (x @ w)[:4] of x (rows, n), rows >= 4, as `dot` row by row where a row is finite"""
    lanes_dot_rows(real is float, x, w, n, rows, xw)


cdef inline void square_rows(const real *x, int64_t n, int64_t rows, real *xx) noexcept nogil:
    """xx = (x * x).sum(1)[:4] of x (rows, n), rows >= 4, as `dot` row by row"""
    lanes_square_rows(real is float, x, n, rows, xx)


cdef inline bint score_rows(
    const real *x, const real *w, int64_t n, int64_t rows, const real *squares, double *xw
) noexcept nogil:
    """xw = (x @ w)[:4] of x (rows, n), rows >= 4, and whether these rows are finite. `squares` (4,)
    are x.x; NULL: they have not been found yet"""
    cdef real[BLOCK] dots
    cdef real[BLOCK] found
    cdef bint are_finite = True
    cdef int j
    if squares == NULL:
        dot_square_rows(x, w, n, rows, dots, found)
        squares = found
    else:
        dot_rows(x, w, n, rows, dots)
    for j in range(BLOCK):
        xw[j] = dots[j]
        are_finite &= isfinite(squares[j])
    return are_finite


cdef inline bint any_score_rows(
    bint is_float32, const void *x, const void *w, int64_t n, int64_t rows, const void *squares,
    double *xw
) noexcept nogil:
    """`score_rows`, in the vectors' dtype"""
    if is_float32:
        return score_rows(
            <const float *> x, <const float *> w, n, rows, <const float *> squares, xw)
    return score_rows(
        <const double *> x, <const double *> w, n, rows, <const double *> squares, xw)


cdef inline real square_distance(const real *x, const real *z, int64_t n) noexcept nogil:
    """((x - z) ** 2).sum()"""
    return <real> lanes_square_distance(real is float, x, z, n)


cdef inline void axpby(real a, const real *x, real b, real *y, int64_t n) noexcept nogil:
    """y[:] = a * x + b * y"""
    lanes_axpby(real is float, a, x, b, y, n)


cdef inline void approach(real a, const real *x, real *y, int64_t n) noexcept nogil:
    """y += a * (x - y)"""
    lanes_approach(real is float, a, x, y, n)


cdef inline void add_scaled(double a, const double *x, double *y, int64_t n) noexcept nogil:
    """y += a * x"""
    lanes_add(False, a, x, y, n)
