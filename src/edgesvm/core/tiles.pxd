# Rows in tiles (tiles.h): put, get, swap, and kernel values of one sample with many rows.

from libc.stdint cimport int64_t

from edgesvm.core.kernels cimport Kernel

cdef extern from "tiles.h" nogil:
    void tiles_kernel_f32(
        int kind, double gamma, double coef0, int degree, const float *x,
        const float *tile, int64_t width, int64_t n_tiles, float *out) noexcept
    void tiles_kernel_f64(
        int kind, double gamma, double coef0, int degree, const double *x,
        const double *tile, int64_t width, int64_t n_tiles, float *out) noexcept
    double tiles_weighted_f32(
        int kind, double gamma, double coef0, int degree, const float *x,
        const float *tile, int64_t width, int64_t n_tiles, const double *weight) noexcept
    double tiles_weighted_f64(
        int kind, double gamma, double coef0, int degree, const double *x,
        const double *tile, int64_t width, int64_t n_tiles, const double *weight) noexcept

cdef struct Tiles:              # rows of `width` features, float32 or float64
    char *data                  # (tiles, width, lanes), lanes = 16 of float32, 8 of float64
    int64_t width
    bint is_float32


cdef inline int64_t lanes_of(const Tiles *rows) noexcept nogil:
    return 16 if rows.is_float32 else 8


cdef inline void put_row(const Tiles *rows, int64_t t, const void *x) noexcept nogil:
    """rows[t] = x"""
    cdef int64_t d, lanes = lanes_of(rows), at = (t // lanes) * lanes * rows.width + t % lanes
    for d in range(rows.width):
        if rows.is_float32:
            (<float *> rows.data)[at + d * lanes] = (<const float *> x)[d]
        else:
            (<double *> rows.data)[at + d * lanes] = (<const double *> x)[d]


cdef inline void get_row(const Tiles *rows, int64_t t, void *x) noexcept nogil:
    """x = rows[t]"""
    cdef int64_t d, lanes = lanes_of(rows), at = (t // lanes) * lanes * rows.width + t % lanes
    for d in range(rows.width):
        if rows.is_float32:
            (<float *> x)[d] = (<float *> rows.data)[at + d * lanes]
        else:
            (<double *> x)[d] = (<double *> rows.data)[at + d * lanes]


cdef inline void swap_rows(const Tiles *rows, int64_t s, int64_t t) noexcept nogil:
    """rows[s], rows[t] = rows[t], rows[s]"""
    cdef int64_t d, lanes = lanes_of(rows)
    cdef int64_t a = (s // lanes) * lanes * rows.width + s % lanes
    cdef int64_t b = (t // lanes) * lanes * rows.width + t % lanes
    cdef float *f = <float *> rows.data
    cdef double *g = <double *> rows.data
    for d in range(rows.width):
        if rows.is_float32:
            f[a + d * lanes], f[b + d * lanes] = f[b + d * lanes], f[a + d * lanes]
        else:
            g[a + d * lanes], g[b + d * lanes] = g[b + d * lanes], g[a + d * lanes]


cdef inline void kernel_row(
    const Tiles *rows, const Kernel *kernel, const void *x, int64_t first, int64_t last, float *out
) noexcept nogil:
    """out[t] = k(x, rows[t]) for first <= t < last, and for all other rows of their tiles; rounded
    to float32"""
    cdef int64_t lanes = lanes_of(rows)
    cdef int64_t tile = first // lanes, n_tiles = (last + lanes - 1) // lanes - tile
    cdef int64_t at = tile * lanes * rows.width
    if rows.is_float32:
        tiles_kernel_f32(
            kernel.kind, kernel.gamma, kernel.coef0, kernel.degree, <const float *> x,
            <const float *> rows.data + at, rows.width, n_tiles, out + tile * lanes)
    else:
        tiles_kernel_f64(
            kernel.kind, kernel.gamma, kernel.coef0, kernel.degree, <const double *> x,
            <const double *> rows.data + at, rows.width, n_tiles, out + tile * lanes)


cdef inline double weighted_kernel(
    const Tiles *rows, const Kernel *kernel, const void *x, int64_t n, const double *weight
) noexcept nogil:
    """sum_t weight[t] k(x, rows[t]) over the first n rows; weight must be zero from n to the end of
    the last tile"""
    cdef int64_t lanes = lanes_of(rows)
    if rows.is_float32:
        return tiles_weighted_f32(
            kernel.kind, kernel.gamma, kernel.coef0, kernel.degree, <const float *> x,
            <const float *> rows.data, rows.width, (n + lanes - 1) // lanes, weight)
    return tiles_weighted_f64(
        kernel.kind, kernel.gamma, kernel.coef0, kernel.degree, <const double *> x,
        <const double *> rows.data, rows.width, (n + lanes - 1) // lanes, weight)
