/* The sums and passes of sums.c, by the type of the numbers: stem_f32, stem_f64, and stem, which asks by its first
 * argument whether they are float32. */
#ifndef EDGESVM_SUMS_H
#define EDGESVM_SUMS_H

#include <stdint.h>

#define ROWS_BLOCK 8            /* samples that are looked at together */
#define ROWS_WIDEST 1024        /* features of one of them, which are on the stack */
#define TILES_WORDS(width) (((width) + 63) / 64)
#define TILES_ROWS 16           /* rows whose kernel values are computed together, at most */
enum { TILES_LINEAR = 0, TILES_RBF = 1, TILES_POLYNOMIAL = 2 };  /* KernelKind of kernels.pxd */

typedef struct { int kind, degree; double gamma, coef0; } sums_kernel;  /* Kernel of kernels.pxd */

#define SUMS_KERNEL int kind, double gamma, double coef0, int degree
#define KERNEL_OF kind, gamma, coef0, degree

/* SUM(returns, stem, parameters, arguments), of arrays of T and numbers of R */
#define SUMS_OF(SUM, T, R)                                                                              \
    SUM(R, lanes_dot, (const T *x, const T *z, int64_t n), (x, z, n))                                   \
    SUM(R, lanes_square_distance, (const T *x, const T *z, int64_t n), (x, z, n))                       \
    SUM(void, lanes_dot_square, (const T *x, const T *w, int64_t n, T *dot, T *square),                 \
        (x, w, n, dot, square))                                                                         \
    SUM(void, lanes_dot_square_rows, (const T *x, const T *w, int64_t n, int64_t rows, T *dots,         \
        T *squares), (x, w, n, rows, dots, squares))                                                    \
    SUM(void, lanes_dot_rows, (const T *x, const T *w, int64_t n, int64_t rows, T *dots),               \
        (x, w, n, rows, dots))                                                                          \
    SUM(void, lanes_square_rows, (const T *x, int64_t n, int64_t rows, T *squares),                     \
        (x, n, rows, squares))                                                                          \
    SUM(void, lanes_sums, (int apart, const T *w, const T *z, int64_t n, int64_t n_rows, double *out),  \
        (apart, w, z, n, n_rows, out))                                                                  \
    SUM(void, lanes_axpby, (R a, const T *x, R b, T *y, int64_t n), (a, x, b, y, n))                    \
    SUM(void, lanes_add, (R a, const T *x, T *y, int64_t n), (a, x, y, n))                              \
    SUM(void, lanes_approach, (R a, const T *x, T *y, int64_t n), (a, x, y, n))                         \
    SUM(void, lanes_block_turn, (const T *x, int64_t width, T *turned), (x, width, turned))             \
    SUM(void, lanes_block_sums, (int squares, const T *turned, const T *z, int64_t width, int64_t n,    \
        double *out), (squares, turned, z, width, n, out))                                              \
    SUM(void, rows_dot, (const T *x, const T *rows, int64_t width, int64_t n, double *out),             \
        (x, rows, width, n, out))                                                                       \
    SUM(void, rows_square_distance, (const T *x, const T *rows, int64_t width, int64_t n, double *out), \
        (x, rows, width, n, out))                                                                       \
    SUM(double, plane_dot, (const T *x, const double *w, int64_t width), (x, w, width))                 \
    SUM(void, plane_add, (double a, const T *x, double *w, int64_t width), (a, x, w, width))            \
    SUM(void, rows_block_turn, (const T *x, int64_t width, double *turned), (x, width, turned))         \
    SUM(void, rows_block_sums, (int squares, const double *turned, const T *rows, int64_t width,        \
        int64_t n, double *out), (squares, turned, rows, width, n, out))                                \
    SUM(void, tiles_note_row, (const T *x, int64_t width, uint64_t *present), (x, width, present))      \
    SUM(void, tiles_put, (T *row, const uint64_t *present, int64_t width, const T *x),                  \
        (row, present, width, x))                                                                       \
    SUM(void, tiles_get, (const T *row, const uint64_t *present, int64_t width, T *x),                  \
        (row, present, width, x))                                                                       \
    SUM(void, tiles_wipe, (T *tile, const uint64_t *present, int64_t width), (tile, present, width))    \
    SUM(void, tiles_kernel, (SUMS_KERNEL, const T *x, const T *tile, const uint64_t *present,           \
        int64_t width, int64_t n_tiles, float *out), (KERNEL_OF, x, tile, present, width, n_tiles, out)) \
    SUM(double, tiles_weighted, (SUMS_KERNEL, const T *x, const T *tile, const uint64_t *present,       \
        int64_t width, int64_t n_tiles, const double *weight),                                          \
        (KERNEL_OF, x, tile, present, width, n_tiles, weight))                                          \
    SUM(void, tiles_weighted_rows, (SUMS_KERNEL, const T *x, const uint64_t *in_x, int64_t n,           \
        const T *tile, const uint64_t *present, int64_t width, int64_t n_tiles, const double *weight,   \
        double *out), (KERNEL_OF, x, in_x, n, tile, present, width, n_tiles, weight, out))              \
    SUM(void, tiles_kernel_rows, (SUMS_KERNEL, const T *x, const uint64_t *in_x, int64_t n,             \
        const T *tile, const uint64_t *present, int64_t width, int64_t n_tiles, float *const *out),     \
        (KERNEL_OF, x, in_x, n, tile, present, width, n_tiles, out))                                    \
    SUM(void, tiles_sums, (int squares, const T *x, const T *tile, const uint64_t *present,             \
        int64_t width, int64_t n_tiles, double *out), (squares, x, tile, present, width, n_tiles, out)) \
    SUM(void, tiles_exp, (R scale, T *v, int64_t n), (scale, v, n))                                     \
    SUM(int, moments_next, (const T *x, const double *mean, const double *spread, double n,             \
        double bound, double clip, T *out, int64_t width),                                              \
        (x, mean, spread, n, bound, clip, out, width))                                                  \
    SUM(void, moments_keep, (const T *x, double *mean, double *spread, double n, int64_t width),        \
        (x, mean, spread, n, width))                                                                    \
    SUM(int, moments_far, (const T *x, const double *mean, const double *spread, double n,              \
        double bound, int64_t width), (x, mean, spread, n, bound, width))                               \
    SUM(void, moments_map, (const T *x, const double *mean, const double *spread, double n,             \
        double clip, T *out, int64_t width), (x, mean, spread, n, clip, out, width))                    \
    SUM(void, step_both, (T *w, T *mean, const T *f, R step, R share, int64_t n),                       \
        (w, mean, f, step, share, n))                                                                   \
    SUM(void, step_diagonal, (T *w, T *squares, const T *f, R g, R rate, int64_t n),                    \
        (w, squares, f, g, rate, n))                                                                    \
    SUM(void, bierman_column, (T *u, T *b, R less, R more, int64_t n), (u, b, less, more, n))           \
    SUM(void, waves_angles, (const T *x, int n_rows, int64_t width, uint32_t key, const double *scale,  \
        int64_t first, int64_t n, int16_t *angle, int64_t apart),                                       \
        (x, n_rows, width, key, scale, first, n, angle, apart))                                         \
    SUM(void, waves_mixed, (const T *x, int64_t width, uint32_t key, const double *scale, int64_t d,    \
        int64_t block, int64_t n, T *v, int16_t *angle), (x, width, key, scale, d, block, n, v, angle)) \
    SUM(void, waves_of, (const int16_t *angle, int64_t n, T *wave), (angle, n, wave))                   \
    SUM(void, waves_weigh, (T *wave, int64_t n, const double *amplitude), (wave, n, amplitude))         \
    SUM(void, waves_dots, (const T *w, const T *wave, int64_t n, double scale, double *dot),            \
        (w, wave, n, scale, dot))
#define SUMS_OF_NEITHER(SUM)                                                                            \
    SUM(void, rows_block_weigh, (const double *weight, const double *k, int64_t n, double *f),          \
        (weight, k, n, f))                                                                              \
    SUM(void, rows_block_dot, (const double *weight, const double *k, int64_t n, double *f),            \
        (weight, k, n, f))                                                                              \
    SUM(void, tiles_note, (const char *tile, int64_t width, int64_t n_tiles, uint64_t *present),        \
        (tile, width, n_tiles, present))                                                                \
    SUM(int, moments_take, (double *x, double *mean, double *spread, double n, double share,            \
        double bound, double most), (x, mean, spread, n, share, bound, most))                           \
    SUM(void, codes_square_distances, (const int16_t *x, const int16_t *rows, int64_t width, int64_t n, \
        double unit, double *out), (x, rows, width, n, unit, out))

/* All sums, each by its own name */
#define SUMS(SUM) SUMS_OF(SUM##_F32, float, float) SUMS_OF(SUM##_F64, double, double) SUMS_OF_NEITHER(SUM)
#define DECLARED(R, name, parameters, arguments) R name parameters;
#define DECLARED_F32(R, stem, parameters, arguments) DECLARED(R, stem##_f32, parameters, arguments)
#define DECLARED_F64(R, stem, parameters, arguments) DECLARED(R, stem##_f64, parameters, arguments)
SUMS(DECLARED)

#define LIST(...) __VA_ARGS__
#define BY_TYPE(R, stem, parameters, arguments)                                                         \
    static inline R stem(int is_float32, LIST parameters)                                               \
    {                                                                                                   \
        if (is_float32) return stem##_f32 arguments;                                                    \
        return stem##_f64 arguments;                                                                    \
    }
SUMS_OF(BY_TYPE, void, double)

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
