# Entries, dot, distance and axpy for float32 and float64 vectors, given as pointer and length.
# lanes.h defines the order of summation.

from libc.math cimport isfinite
from libc.stdint cimport int64_t

ctypedef fused real:
    float
    double

cdef extern from "lanes.h" nogil:
    float lanes_dot_f32(const float *x, const float *z, int64_t n) noexcept
    double lanes_dot_f64(const double *x, const double *z, int64_t n) noexcept
    void lanes_dot_square_f32(
        const float *x, const float *w, int64_t n, float *dot, float *square) noexcept
    void lanes_dot_square_f64(
        const double *x, const double *w, int64_t n, double *dot, double *square) noexcept
    void lanes_dot_square_rows_f32(
        const float *x, const float *w, int64_t n, int64_t rows, float *dots, float *squares
    ) noexcept
    void lanes_dot_square_rows_f64(
        const double *x, const double *w, int64_t n, int64_t rows, double *dots, double *squares
    ) noexcept
    void lanes_dot_rows_f32(
        const float *x, const float *w, int64_t n, int64_t rows, float *dots) noexcept
    void lanes_dot_rows_f64(
        const double *x, const double *w, int64_t n, int64_t rows, double *dots) noexcept
    void lanes_square_rows_f32(const float *x, int64_t n, int64_t rows, float *squares) noexcept
    void lanes_square_rows_f64(const double *x, int64_t n, int64_t rows, double *squares) noexcept
    void lanes_sums_f32(
        bint apart, const float *w, const float *z, int64_t n, int64_t n_rows, double *out) noexcept
    void lanes_sums_f64(
        bint apart, const double *w, const double *z, int64_t n, int64_t n_rows, double *out
    ) noexcept
    void lanes_axpby_f32(float a, const float *x, float b, float *y, int64_t n) noexcept
    void lanes_axpby_f64(double a, const double *x, double b, double *y, int64_t n) noexcept
    void lanes_approach_f32(float a, const float *x, float *y, int64_t n) noexcept
    void lanes_approach_f64(double a, const double *x, double *y, int64_t n) noexcept
    float lanes_square_distance_f32(const float *x, const float *z, int64_t n) noexcept
    double lanes_square_distance_f64(const double *x, const double *z, int64_t n) noexcept


cdef inline real dot(const real *x, const real *z, int64_t n) noexcept nogil:
    """x @ z"""
    if real is float:
        return lanes_dot_f32(x, z, n)
    else:
        return lanes_dot_f64(x, z, n)


cdef inline double any_dot(bint is_float32, const void *x, const void *z, int64_t n) noexcept nogil:
    """x @ z, summed in the vectors' dtype"""
    if is_float32:
        return dot(<const float *> x, <const float *> z, n)
    return dot(<const double *> x, <const double *> z, n)


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
    if real is float:
        lanes_dot_square_f32(x, w, n, xw, xx)
    else:
        lanes_dot_square_f64(x, w, n, xw, xx)


cdef enum:
    BLOCK = 4           # rows that are looked at together


cdef inline void dot_square_rows(
    const real *x, const real *w, int64_t n, int64_t rows, real *xw, real *xx
) noexcept nogil:
    """xw, xx = (x @ w)[:4], (x * x).sum(1)[:4] of x (rows, n), rows >= 4, as `dot_square` row by
    row"""
    if real is float:
        lanes_dot_square_rows_f32(x, w, n, rows, xw, xx)
    else:
        lanes_dot_square_rows_f64(x, w, n, rows, xw, xx)


cdef inline void dot_rows(
    const real *x, const real *w, int64_t n, int64_t rows, real *xw
) noexcept nogil:
    """xw = (x @ w)[:4] of x (rows, n), rows >= 4, as `dot` row by row where a row is finite"""
    if real is float:
        lanes_dot_rows_f32(x, w, n, rows, xw)
    else:
        lanes_dot_rows_f64(x, w, n, rows, xw)


cdef inline void square_rows(const real *x, int64_t n, int64_t rows, real *xx) noexcept nogil:
    """xx = (x * x).sum(1)[:4] of x (rows, n), rows >= 4, as `dot` row by row"""
    if real is float:
        lanes_square_rows_f32(x, n, rows, xx)
    else:
        lanes_square_rows_f64(x, n, rows, xx)


cdef inline bint score_rows(
    const real *x, const real *w, int64_t n, int64_t rows, const real *squares, double *xw
) noexcept nogil:
    """xw = (x @ w)[:4], and whether these rows are finite. `squares` (4,) are x.x; NULL: they have
    not been found yet"""
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
    if real is float:
        return lanes_square_distance_f32(x, z, n)
    else:
        return lanes_square_distance_f64(x, z, n)


cdef inline void axpby(real a, const real *x, real b, real *y, int64_t n) noexcept nogil:
    """y[:] = a * x + b * y"""
    if real is float:
        lanes_axpby_f32(a, x, b, y, n)
    else:
        lanes_axpby_f64(a, x, b, y, n)


cdef inline void approach(real a, const real *x, real *y, int64_t n) noexcept nogil:
    """y += a * (x - y)"""
    if real is float:
        lanes_approach_f32(a, x, y, n)
    else:
        lanes_approach_f64(a, x, y, n)


cdef inline void add_scaled(double a, const double *x, double *y, int64_t n) noexcept nogil:
    """y += a * x"""
    cdef int64_t i
    for i in range(n):
        y[i] += a * x[i]
