# Rows in tiles (sums_of.h): put, get, swap, and kernel values of one sample with many rows,
# summed in
# the rows' dtype or in float64.

from libc.math cimport isfinite, sqrt
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

from edgesvm.core.kernels cimport POLYNOMIAL, RBF, Kernel, any_kernel_value, power
from edgesvm.core.linalg cimport dot, entry, item_bytes, put

cdef extern from "lanes.h" nogil:
    void tiles_kernel(
        bint f32, int kind, double gamma, double coef0, int degree, const void *x, const void *tile,
        const uint64_t *present, int64_t width, int64_t n_tiles, float *out) noexcept
    double tiles_weighted(
        bint f32, int kind, double gamma, double coef0, int degree, const void *x, const void *tile,
        const uint64_t *present, int64_t width, int64_t n_tiles, const double *weight) noexcept
    void tiles_weighted_rows(
        bint f32, int kind, double gamma, double coef0, int degree, const void *x,
        const uint64_t *in_x, int64_t n, const void *tile, const uint64_t *present, int64_t width,
        int64_t n_tiles, const double *weight, double *out) noexcept
    void tiles_kernel_rows(
        bint f32, int kind, double gamma, double coef0, int degree, const void *x,
        const uint64_t *in_x, int64_t n, const void *tile, const uint64_t *present, int64_t width,
        int64_t n_tiles, float **out) noexcept
    void tiles_sums(
        bint f32, bint squares, const void *x, const void *tile, const uint64_t *present,
        int64_t width, int64_t n_tiles, double *out) noexcept
    void tiles_exp_f64(double scale, double *v, int64_t n) noexcept
    void tiles_note(
        const char *tile, int64_t width, int64_t n_tiles, uint64_t *present) noexcept
    void tiles_note_row(bint f32, const void *x, int64_t width, uint64_t *present) noexcept
    void tiles_put(
        bint f32, void *row, const uint64_t *present, int64_t width, const void *x) noexcept
    void tiles_get(
        bint f32, const void *row, const uint64_t *present, int64_t width, void *x) noexcept
    void tiles_wipe(bint f32, void *tile, const uint64_t *present, int64_t width) noexcept
    int64_t tiles_next(const uint64_t *present, int64_t width, int64_t d) noexcept
    int64_t TILES_WORDS(int64_t width) noexcept

cdef enum:
    TILES_ROWS = 16             # rows whose kernel values are computed together, at most
    BLOCK_ROWS = 64             # rows whose kernel values in float64 are computed at a time

cdef struct Tiles:              # rows of `width` features, float32 or float64
    char *data                  # (tiles, width, lanes), lanes = 16 of float32, 8 of float64
    int64_t width
    bint is_float32
    bint alone                  # lanes = 1: each row is a tile
    uint64_t *present           # (tiles, words): see sums_of.h; kept up to date by what is below


cdef inline int64_t lanes_of(const Tiles *rows) noexcept nogil:
    return 1 if rows.alone else 16 if rows.is_float32 else 8


cdef inline uint64_t *present_in(const Tiles *rows, int64_t t) noexcept nogil:
    """The bits of row t's tile; NULL if they are not known"""
    if rows.present == NULL:
        return NULL
    return rows.present + t // lanes_of(rows) * TILES_WORDS(rows.width)


cdef inline char *row_at(const Tiles *rows, int64_t t) noexcept nogil:
    """The first number of row t; the next are `lanes_of` numbers apart"""
    cdef int64_t lanes = lanes_of(rows)
    return rows.data + item_bytes(rows.is_float32) * (t // lanes * lanes * rows.width + t % lanes)


cdef inline void put_row(const Tiles *rows, int64_t t, const void *x) noexcept nogil:
    """rows[t] = x"""
    cdef uint64_t *present = present_in(rows, t)
    if rows.alone:
        memcpy(row_at(rows, t), x, rows.width * item_bytes(rows.is_float32))
        return
    if present != NULL:
        tiles_note_row(rows.is_float32, x, rows.width, present)
    tiles_put(rows.is_float32, row_at(rows, t), present, rows.width, x)


cdef inline void get_row(const Tiles *rows, int64_t t, void *x) noexcept nogil:
    """x = rows[t]"""
    if rows.alone:
        memcpy(x, row_at(rows, t), rows.width * item_bytes(rows.is_float32))
        return
    tiles_get(rows.is_float32, row_at(rows, t), present_in(rows, t), rows.width, x)


cdef inline void swap_rows(const Tiles *rows, int64_t s, int64_t t) noexcept nogil:
    """rows[s], rows[t] = rows[t], rows[s]"""
    cdef int64_t d, lanes = lanes_of(rows)
    cdef char *p = row_at(rows, s)
    cdef char *q = row_at(rows, t)
    cdef uint64_t *present = present_in(rows, s)
    cdef double v
    if present != NULL:
        share_present(rows, present, present_in(rows, t))
    d = tiles_next(present, rows.width, 0)
    while d < rows.width:
        v = entry(rows.is_float32, p, d * lanes)
        put(rows.is_float32, p, d * lanes, entry(rows.is_float32, q, d * lanes))
        put(rows.is_float32, q, d * lanes, v)
        d = tiles_next(present, rows.width, d + 1)


cdef inline void share_present(const Tiles *rows, uint64_t *p, uint64_t *q) noexcept nogil:
    """p = q = p | q, of two tiles"""
    cdef int64_t k
    for k in range(TILES_WORDS(rows.width)):
        p[k] |= q[k]
        q[k] = p[k]


cdef inline void clear_rows(const Tiles *rows, int64_t n) noexcept nogil:
    """rows[:n] = 0, and so are the rest of their tiles"""
    cdef int64_t i, lanes = lanes_of(rows)
    cdef uint64_t *present
    for i in range((n + lanes - 1) // lanes):
        present = present_in(rows, i * lanes)
        tiles_wipe(rows.is_float32, rows.data + 64 * i * rows.width, present, rows.width)
        if present != NULL:
            memset(present, 0, TILES_WORDS(rows.width) * sizeof(uint64_t))


cdef inline void kernel_row(
    const Tiles *rows, const Kernel *kernel, const void *x, int64_t first, int64_t last, float *out
) noexcept nogil:
    """out[t] = k(x, rows[t]) for first <= t < last, and for all other rows of their tiles; rounded
    to float32"""
    cdef int64_t lanes = lanes_of(rows)
    cdef int64_t tile = first // lanes, n_tiles = (last + lanes - 1) // lanes - tile
    tiles_kernel(
        rows.is_float32, kernel.kind, kernel.gamma, kernel.coef0, kernel.degree, x,
        rows.data + 64 * tile * rows.width, present_in(rows, first), rows.width, n_tiles,
        out + tile * lanes)


cdef inline void kernel_rows(
    const Tiles *rows, const Kernel *kernel, const Tiles *points, int64_t n_points, int64_t n,
    float **out
) noexcept nogil:
    """`kernel_row` of each of the points, at most `TILES_ROWS`, from the first row on; both tiles
    are noted, or neither"""
    cdef int64_t n_tiles = (n + lanes_of(rows) - 1) // lanes_of(rows)
    tiles_kernel_rows(
        rows.is_float32, kernel.kind, kernel.gamma, kernel.coef0, kernel.degree, points.data,
        points.present, n_points, rows.data, rows.present, rows.width, n_tiles, out)


cdef inline double weighted_kernel(
    const Tiles *rows, const Kernel *kernel, const void *x, int64_t n, const double *weight
) noexcept nogil:
    """sum_t weight[t] k(x, rows[t]) over the first n rows; weight must be zero from n to the end of
    the last tile"""
    cdef int64_t lanes = lanes_of(rows)
    return tiles_weighted(
        rows.is_float32, kernel.kind, kernel.gamma, kernel.coef0, kernel.degree, x, rows.data,
        rows.present, rows.width, (n + lanes - 1) // lanes, weight)


cdef inline void weighted_kernels(
    const Tiles *rows, const Kernel *kernel, const Tiles *points, int64_t n_points, int64_t n,
    const double *weight, double *out
) noexcept nogil:
    """out[i] = `weighted_kernel` of points[i], the same bits; both tiles are noted, or neither"""
    cdef int64_t n_tiles = (n + lanes_of(rows) - 1) // lanes_of(rows)
    tiles_weighted_rows(
        rows.is_float32, kernel.kind, kernel.gamma, kernel.coef0, kernel.degree, points.data,
        points.present, n_points, rows.data, rows.present, rows.width, n_tiles, weight, out)


cdef inline void kernel_of_sums(const Kernel *kernel, double *v, int64_t n) noexcept nogil:
    """v[i], a product x.z or a squared distance |x - z|^2, becomes k(x, z)"""
    cdef int64_t i
    if kernel.kind == RBF:
        tiles_exp_f64(-kernel.gamma, v, n)
    elif kernel.kind == POLYNOMIAL:
        for i in range(n):
            v[i] = power(kernel.gamma * v[i] + kernel.coef0, kernel.degree)


cdef inline double kernel_of_square(const Kernel *kernel, double square) noexcept nogil:
    """k(x, x) of x.x; infinite or NaN if that is"""
    if isfinite(square) and kernel.kind == RBF:
        return 1.0
    if isfinite(square):
        kernel_of_sums(kernel, &square, 1)
    return square


cdef inline int64_t kernel_block(
    const Tiles *rows, const Kernel *kernel, const void *x, int64_t first, int64_t last, double *out
) noexcept nogil:
    """out[t] = k(x, rows[first + t]) in float64, for rows before `last`, at most `BLOCK_ROWS`;
    return how many. `first` is a multiple of that."""
    cdef int64_t n = min(last - first, <int64_t> BLOCK_ROWS), lanes = lanes_of(rows)
    tiles_sums(
        rows.is_float32, kernel.kind == RBF, x, row_at(rows, first), present_in(rows, first),
        rows.width, (n + lanes - 1) // lanes, out)
    kernel_of_sums(kernel, out, n)
    return n


cdef inline double weighted_kernel_f64(
    const Tiles *rows, const Kernel *kernel, const void *x, int64_t n, const double *weight
) noexcept nogil:
    """sum_t weight[t] k(x, rows[t]) over the first n rows, kernel values in float64"""
    cdef double values[BLOCK_ROWS]
    cdef double total = 0.0
    cdef int64_t first = 0, count
    while first < n:
        count = kernel_block(rows, kernel, x, first, n, values)
        total += dot(weight + first, values, count)
        first += count
    return total


cdef inline double kernel_noise(
    const Tiles *rows, const Kernel *kernel, int64_t n, const double *weight, void *point
) noexcept nogil:
    """What rounding to float32 leaves uncertain of sum_t weight[t] k(x, rows[t]), divided by
    sqrt(k(x, x)): 2^-24 sqrt(sum_t weight[t]^2 k(rows[t], rows[t])) for the values' own rounding,
    and in float32 rows another width / 4 times its square for that of the sum over features.
    `point`, (width,), is TMP."""
    cdef int64_t t
    cdef double square = 0.0
    for t in range(n):
        if weight[t] != 0.0:
            get_row(rows, t, point)
            square += weight[t] * weight[t] * any_kernel_value(
                kernel, rows.is_float32, point, point, rows.width)
    if rows.is_float32:
        square *= 1.0 + 0.25 * rows.width
    return 5.9604644775390625e-08 * sqrt(square)     # 2^-24
