/* What sums.c has, for whoever is linked with it: lanes.h, tiles.h and rows.h then only declare. */
#ifndef EDGESVM_SUMS_H
#define EDGESVM_SUMS_H

#include <stdint.h>

#define SUMS_OF(T, NAME)                                                                          \
    T NAME(lanes_dot)(const T *x, const T *z, int64_t n);                                         \
    void NAME(lanes_dot_square)(const T *x, const T *w, int64_t n, T *dot, T *square);            \
    void NAME(lanes_dot_square_rows)(const T *x, const T *w, int64_t n, int64_t rows, T *dots,    \
                                     T *squares);                                                 \
    void NAME(lanes_dot_rows)(const T *x, const T *w, int64_t n, int64_t rows, T *dots);          \
    void NAME(lanes_square_rows)(const T *x, int64_t n, int64_t rows, T *squares);                \
    void NAME(lanes_sums)(int apart, const T *w, const T *z, int64_t n, int64_t n_rows,           \
                          double *out);                                                           \
    void NAME(lanes_block_sums)(int squares, const T *turned, const T *z, int64_t width,          \
                                int64_t n, double *out);                                          \
    void NAME(lanes_axpby)(T a, const T *x, T b, T *y, int64_t n);                                \
    void NAME(lanes_approach)(T a, const T *x, T *y, int64_t n);                                  \
    T NAME(lanes_square_distance)(const T *x, const T *z, int64_t n);                             \
    void NAME(rows_square_distance)(const T *x, const T *rows, int64_t width, int64_t n,          \
                                    double *out);                                                 \
    void NAME(rows_dot)(const T *x, const T *rows, int64_t width, int64_t n, double *out);        \
    void NAME(rows_block_turn)(const T *x, int64_t width, double *turned);                        \
    void NAME(rows_block_sums)(int squares, const double *turned, const T *rows, int64_t width,   \
                               int64_t n, double *out);                                           \
    void NAME(tiles_note_row)(const T *x, int64_t width, uint64_t *present);                      \
    void NAME(tiles_put)(T *row, const uint64_t *present, int64_t width, const T *x);             \
    void NAME(tiles_get)(const T *row, const uint64_t *present, int64_t width, T *x);             \
    void NAME(tiles_wipe)(T *tile, const uint64_t *present, int64_t width);                       \
    void NAME(tiles_kernel)(int kind, double gamma, double coef0, int degree, const T *x,         \
                            const T *tile, const uint64_t *present, int64_t width,                \
                            int64_t n_tiles, float *out);                                         \
    double NAME(tiles_weighted)(int kind, double gamma, double coef0, int degree, const T *x,     \
                                const T *tile, const uint64_t *present, int64_t width,            \
                                int64_t n_tiles, const double *weight);                           \
    void NAME(tiles_weighted_rows)(int kind, double gamma, double coef0, int degree, const T *x,  \
                                   const uint64_t *in_x, int64_t n, const T *tile,                \
                                   const uint64_t *present, int64_t width, int64_t n_tiles,       \
                                   const double *weight, double *out);                            \
    void NAME(tiles_kernel_rows)(int kind, double gamma, double coef0, int degree, const T *x,    \
                                 const uint64_t *in_x, int64_t n, const T *tile,                  \
                                 const uint64_t *present, int64_t width, int64_t n_tiles,         \
                                 float *const *out);                                              \
    void NAME(tiles_sums)(int squares, const T *x, const T *tile, const uint64_t *present,        \
                          int64_t width, int64_t n_tiles, double *out);                           \
    void NAME(tiles_exp)(T scale, T *v, int64_t n);
#define F32(stem) stem##_f32
#define F64(stem) stem##_f64

void lanes_block_turn_f32(const float *x, int64_t width, float *turned);
void rows_block_weigh(const double *weight, const double *k, int64_t n, double *f);
void rows_block_dot(const double *weight, const double *k, int64_t n, double *f);
void tiles_note(const char *tile, int64_t width, int64_t n_tiles, uint64_t *present);
SUMS_OF(float, F32)
SUMS_OF(double, F64)

#undef SUMS_OF
#undef F32
#undef F64

#endif
