/* The sums of sums.c. A name without a type asks, by its first argument, whether the numbers are float32. */
#ifndef EDGESVM_SUMS_H
#define EDGESVM_SUMS_H

#include <stdint.h>

#define ROWS_BLOCK 8            /* samples that are looked at together */
#define ROWS_WIDEST 1024        /* features of one of them, which are on the stack */
#define TILES_WORDS(width) (((width) + 63) / 64)
#define TILES_ROWS 16           /* rows whose kernel values are computed together, at most */
enum { TILES_LINEAR = 0, TILES_RBF = 1, TILES_POLYNOMIAL = 2 };  /* KernelKind of kernels.pxd */

typedef struct { int kind, degree; double gamma, coef0; } sums_kernel;  /* Kernel of kernels.pxd */

/* SUM(returns, name, parameters, arguments) */
#define SUMS_OF(SUM, T, NAME)                                                                           \
    SUM(T, NAME(lanes_dot), (const T *x, const T *z, int64_t n), (x, z, n))                             \
    SUM(T, NAME(lanes_square_distance), (const T *x, const T *z, int64_t n), (x, z, n))                 \
    SUM(void, NAME(lanes_dot_square), (const T *x, const T *w, int64_t n, T *dot, T *square),           \
        (x, w, n, dot, square))                                                                         \
    SUM(void, NAME(lanes_dot_square_rows), (const T *x, const T *w, int64_t n, int64_t rows, T *dots,   \
        T *squares), (x, w, n, rows, dots, squares))                                                    \
    SUM(void, NAME(lanes_dot_rows), (const T *x, const T *w, int64_t n, int64_t rows, T *dots),         \
        (x, w, n, rows, dots))                                                                          \
    SUM(void, NAME(lanes_square_rows), (const T *x, int64_t n, int64_t rows, T *squares),               \
        (x, n, rows, squares))                                                                          \
    SUM(void, NAME(lanes_sums), (int apart, const T *w, const T *z, int64_t n, int64_t n_rows,          \
        double *out), (apart, w, z, n, n_rows, out))                                                    \
    SUM(void, NAME(lanes_axpby), (T a, const T *x, T b, T *y, int64_t n), (a, x, b, y, n))              \
    SUM(void, NAME(lanes_approach), (T a, const T *x, T *y, int64_t n), (a, x, y, n))                   \
    SUM(void, NAME(lanes_block_turn), (const T *x, int64_t width, T *turned), (x, width, turned))       \
    SUM(void, NAME(lanes_block_sums), (int squares, const T *turned, const T *z, int64_t width,         \
        int64_t n, double *out), (squares, turned, z, width, n, out))                                   \
    SUM(void, NAME(rows_dot), (const T *x, const T *rows, int64_t width, int64_t n, double *out),       \
        (x, rows, width, n, out))                                                                       \
    SUM(void, NAME(rows_square_distance), (const T *x, const T *rows, int64_t width, int64_t n,         \
        double *out), (x, rows, width, n, out))                                                         \
    SUM(void, NAME(rows_block_turn), (const T *x, int64_t width, double *turned), (x, width, turned))   \
    SUM(void, NAME(rows_block_sums), (int squares, const double *turned, const T *rows, int64_t width,  \
        int64_t n, double *out), (squares, turned, rows, width, n, out))                                \
    SUM(void, NAME(tiles_note_row), (const T *x, int64_t width, uint64_t *present), (x, width, present)) \
    SUM(void, NAME(tiles_put), (T *row, const uint64_t *present, int64_t width, const T *x),            \
        (row, present, width, x))                                                                       \
    SUM(void, NAME(tiles_get), (const T *row, const uint64_t *present, int64_t width, T *x),            \
        (row, present, width, x))                                                                       \
    SUM(void, NAME(tiles_wipe), (T *tile, const uint64_t *present, int64_t width), (tile, present, width)) \
    SUM(void, NAME(tiles_kernel), (int kind, double gamma, double coef0, int degree, const T *x, const T *tile,                     \
        const uint64_t *present, int64_t width, int64_t n_tiles, float *out),                           \
        (kind, gamma, coef0, degree, x, tile, present, width, n_tiles, out))                                                     \
    SUM(double, NAME(tiles_weighted), (int kind, double gamma, double coef0, int degree, const T *x, const T *tile,                 \
        const uint64_t *present, int64_t width, int64_t n_tiles, const double *weight),                 \
        (kind, gamma, coef0, degree, x, tile, present, width, n_tiles, weight))                                                  \
    SUM(void, NAME(tiles_weighted_rows), (int kind, double gamma, double coef0, int degree, const T *x, const uint64_t *in_x,       \
        int64_t n, const T *tile, const uint64_t *present, int64_t width, int64_t n_tiles,              \
        const double *weight, double *out),                                                             \
        (kind, gamma, coef0, degree, x, in_x, n, tile, present, width, n_tiles, weight, out))                                    \
    SUM(void, NAME(tiles_kernel_rows), (int kind, double gamma, double coef0, int degree, const T *x, const uint64_t *in_x,         \
        int64_t n, const T *tile, const uint64_t *present, int64_t width, int64_t n_tiles,              \
        float *const *out), (kind, gamma, coef0, degree, x, in_x, n, tile, present, width, n_tiles, out))                        \
    SUM(void, NAME(tiles_sums), (int squares, const T *x, const T *tile, const uint64_t *present,       \
        int64_t width, int64_t n_tiles, double *out), (squares, x, tile, present, width, n_tiles, out)) \
    SUM(void, NAME(tiles_exp), (T scale, T *v, int64_t n), (scale, v, n))
#define SUMS_OF_NEITHER(SUM)                                                                            \
    SUM(void, rows_block_weigh, (const double *weight, const double *k, int64_t n, double *f),          \
        (weight, k, n, f))                                                                              \
    SUM(void, rows_block_dot, (const double *weight, const double *k, int64_t n, double *f),            \
        (weight, k, n, f))                                                                              \
    SUM(void, tiles_note, (const char *tile, int64_t width, int64_t n_tiles, uint64_t *present),        \
        (tile, width, n_tiles, present))
#define SUMS_F32(stem) stem##_f32
#define SUMS_F64(stem) stem##_f64
#define SUMS(SUM) SUMS_OF(SUM, float, SUMS_F32) SUMS_OF(SUM, double, SUMS_F64) SUMS_OF_NEITHER(SUM)
#define SUMS_DECLARED(R, name, parameters, arguments) R name parameters;
SUMS(SUMS_DECLARED)

/* The first feature from d on that is present in a tile, or at least `width`; d if that is not known */
static inline int64_t tiles_next(const uint64_t *present, int64_t width, int64_t d)
{
    if (!present || d >= width) return d;
    uint64_t word = present[d / 64] >> d % 64;
    if (word) return d + __builtin_ctzll(word);
    for (d = (d / 64 + 1) * 64; d < width; d += 64)
        if (present[d / 64]) return d + __builtin_ctzll(present[d / 64]);
    return width;
}

#endif
