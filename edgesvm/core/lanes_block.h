/* Squared distances and products of eight samples with many rows, each to the bit as lanes.h has it.
 *
 * The samples lie side by side (`turned`): number 8 d + c is feature d of sample c. So a vector's lanes
 * are samples, and a lane of lanes.h is a sum of its own, one lane after another; what lanes.h folds in
 * halves are then whole vectors. Lanes beyond the width are zero, and are passed over.
 */
#ifndef EDGESVM_LANES_BLOCK_H
#define EDGESVM_LANES_BLOCK_H

#include "rows_block.h"

#ifndef EDGESVM_SUMS_ELSEWHERE

/* Put eight samples, one behind the other, side by side; those of float64 by rows_block_turn_f64. */
EDGESVM_SUM void lanes_block_turn_f32(const float *x, int64_t width, float *turned)
{
    EDGESVM_CHECK(width > 0 && width <= ROWS_WIDEST);
    for (int64_t d = 0; d < width; d++)
        for (int c = 0; c < ROWS_BLOCK; c++) turned[ROWS_BLOCK * d + c] = x[c * width + d];
}

#define SQUARE(sum, z, x) do { VEC u_ = (z) - (x); (sum) += u_ * u_; } while (0)
#define PRODUCT(sum, z, x) do { VEC u_ = (z) * (x); (sum) += u_; } while (0)

/* sum[r] += TERM(row r, x) of feature d */
#define OF_FEATURE(TERM, R, sum, d)                                                 \
    do {                                                                            \
        VEC x_;                                                                     \
        memcpy(&x_, x + ROWS_BLOCK * (d), sizeof x_);                               \
        for (int r_ = 0; r_ < (R); r_++) TERM((sum)[r_], z[r_ * width + (d)], x_);  \
    } while (0)

/* out[8 r + c] = sum over features of TERM(row r, x_c), of the first R rows from z on */
#define LANES_OF_ROWS(TERM, R)                                                      \
    for (int c = 0; c < ROWS_BLOCK; c += (int)(sizeof(VEC) / sizeof(T))) {          \
        const T *const x = turned + c;                                              \
        VEC lane[LANES][R];                                                         \
        for (int j = 0; j < used; j++) {                                            \
            VEC a[R] = {{0}}, b[R] = {{0}};                                         \
            int64_t d = j;                                                          \
            for (; d + LANES < whole; d += 2 * LANES) {                             \
                OF_FEATURE(TERM, R, a, d); OF_FEATURE(TERM, R, b, d + LANES);       \
            }                                                                       \
            if (d < whole) OF_FEATURE(TERM, R, a, d);                               \
            for (int r = 0; r < (R); r++) a[r] += b[r];                             \
            d = whole ? width - LANES + j : j;                                      \
            if (d >= whole) OF_FEATURE(TERM, R, a, d);                              \
            for (int r = 0; r < (R); r++) lane[j][r] = a[r];                        \
        }                                                                           \
        for (int h = LANES / 2; h; h /= 2)                                          \
            for (int j = 0; j < h && j + h < used; j++)                             \
                for (int r = 0; r < (R); r++) lane[j][r] += lane[j + h][r];         \
        for (int r = 0; r < (R); r++) PUT(out + ROWS_BLOCK * r + c, lane[0][r]);    \
    }

#define LANES_WITH_BLOCK(name, V)                                                   \
    static void name(                                                               \
        int squares, const T *turned, const T *z, int64_t width, int64_t n, double *out) \
    {                                                                               \
        typedef V VEC;                                                              \
        const int64_t whole = width - width % LANES;                                \
        const int used = whole ? LANES : (int)width;                                \
        EDGESVM_CHECK(n >= 0 && width > 0 && width <= ROWS_WIDEST);                 \
        for (; n >= 4; n -= 4, z += 4 * width, out += 4 * ROWS_BLOCK) {             \
            if (squares) LANES_OF_ROWS(SQUARE, 4) else LANES_OF_ROWS(PRODUCT, 4)    \
        }                                                                           \
        for (; n > 0; n--, z += width, out += ROWS_BLOCK) {                         \
            if (squares) LANES_OF_ROWS(SQUARE, 1) else LANES_OF_ROWS(PRODUCT, 1)    \
        }                                                                           \
    }

#define T float
#define LANES 16
#define NAME(stem) stem##_f32
#define FULL half_f32
#define HALVES half_f32
#define QUARTERS quarter_f32
#define PUT(out, v) for (int k_ = 0; k_ < (int)(sizeof(v) / sizeof(T)); k_++) (out)[k_] = (v)[k_]
#include "lanes_block_type.h"

#define T double
#define LANES 8
#define NAME(stem) stem##_f64
#define FULL vec_f64
#define HALVES half_f64
#define QUARTERS quarter_f64
#define PUT(out, v) memcpy((out), &(v), sizeof(v))
#include "lanes_block_type.h"

#undef SQUARE
#undef PRODUCT
#undef OF_FEATURE
#undef LANES_OF_ROWS
#undef LANES_WITH_BLOCK

#endif
#endif
