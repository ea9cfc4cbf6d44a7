# Entries, dot, distance and axpy for float32 and float64 vectors, given as pointer and length.
# lanes.h defines the order of summation.

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


cdef inline real square_distance(const real *x, const real *z, int64_t n) noexcept nogil:
    """((x - z) ** 2).sum()"""
    if real is float:
        return lanes_square_distance_f32(x, z, n)
    else:
        return lanes_square_distance_f64(x, z, n)


cdef inline void axpby(real a, const real *x, real b, real *y, int64_t n) noexcept nogil:
    """y[:] = a * x + b * y"""
    cdef int64_t i
    for i in range(n):
        y[i] = a * x[i] + b * y[i]


cdef inline void approach(real a, const real *x, real *y, int64_t n) noexcept nogil:
    """y += a * (x - y)"""
    cdef int64_t i
    for i in range(n):
        y[i] += a * (x[i] - y[i])


cdef inline void add_scaled(double a, const double *x, double *y, int64_t n) noexcept nogil:
    """y += a * x"""
    cdef int64_t i
    for i in range(n):
        y[i] += a * x[i]
