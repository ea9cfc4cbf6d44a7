/* Squared distances and products of eight samples with many rows, each to the bit as rows.h has it.
 *
 * The samples lie side by side (`turned`): number 8 d + c is feature d of sample c, in float64. So a
 * vector's lanes are samples, and what rows.h keeps in its eight lanes along the features are eight sums
 * one after another, folded in the same order without moving a number across lanes.
 */
#ifndef EDGESVM_ROWS_BLOCK_H
#define EDGESVM_ROWS_BLOCK_H

#include "rows.h"

#define ROWS_BLOCK 8            /* samples */
#define ROWS_WIDEST 1024        /* features of a sample in a block, which is on the stack */

#ifndef EDGESVM_SUMS_ELSEWHERE

#define WEIGH(name, VEC)                                                            \
    static void name(const double *weight, const double *k, int64_t n, double *f)   \
    {                                                                               \
        enum { PARTS = ROWS_BLOCK * sizeof(double) / sizeof(VEC), WIDE = ROWS_BLOCK / PARTS }; \
        VEC sum[PARTS], v;                                                          \
        EDGESVM_CHECK(n >= 0);                                                      \
        for (int c = 0; c < PARTS; c++) memcpy(&sum[c], f + c * WIDE, sizeof v);    \
        for (int64_t i = 0; i < n; i++, k += ROWS_BLOCK)                            \
            for (int c = 0; c < PARTS; c++) {                                       \
                memcpy(&v, k + c * WIDE, sizeof v); sum[c] += weight[i] * v;        \
            }                                                                       \
        for (int c = 0; c < PARTS; c++) memcpy(f + c * WIDE, &sum[c], sizeof v);    \
    }

#define ADD_ROW(sum, i)                                                             \
    do { VEC v_; memcpy(&v_, k + ROWS_BLOCK * (i) + c, sizeof v_); sum += weight[i] * v_; } while (0)
#define DOT(name, V)                                                                \
    static void name(const double *weight, const double *k, int64_t n, double *f)   \
    {                                                                               \
        typedef V VEC;                                                              \
        const int64_t rest = n % ROWS_LANES, whole = n - rest;                      \
        EDGESVM_CHECK(n >= 0);                                                      \
        for (int c = 0; c < ROWS_BLOCK; c += (int)(sizeof(VEC) / sizeof(double))) { \
            VEC s[ROWS_LANES];                                                      \
            for (int64_t j = 0, i; j < ROWS_LANES; j++) {                           \
                VEC a = {0}, b = {0};                                               \
                for (i = j; i < whole; i += 2 * ROWS_LANES) ADD_ROW(a, i);          \
                for (i = j + ROWS_LANES; i < whole; i += 2 * ROWS_LANES) ADD_ROW(b, i); \
                a += b;                                                             \
                i = whole ? n - ROWS_LANES + j : j;     /* where lane j of the tail is */ \
                if (i >= whole && i < n) ADD_ROW(a, i);                             \
                s[j] = a;                                                           \
            }                                                                       \
            s[0] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])); \
            memcpy(f + c, &s[0], sizeof(VEC));                                      \
        }                                                                           \
    }

#define NAME(stem) stem
IN_EACH_WIDTH(WEIGH, rows_block_weigh, vec_f64, half_f64, quarter_f64)
IN_EACH_WIDTH(DOT, rows_block_dot, vec_f64, half_f64, quarter_f64)

/* f[c] += weight[i] k[8 i + c], row by row */
EDGESVM_SUM void rows_block_weigh(const double *weight, const double *k, int64_t n, double *f)
{
    BY_WIDTH(rows_block_weigh, weight, k, n, f);
}

/* f[c] = sum_i weight[i] k[8 i + c], each in the order of lanes_dot */
EDGESVM_SUM void rows_block_dot(const double *weight, const double *k, int64_t n, double *f)
{
    BY_WIDTH(rows_block_dot, weight, k, n, f);
}
#undef NAME

#define SQUARE(sum, z, x) do { VEC u_ = (z) - (x); (sum) += u_ * u_; } while (0)
#define PRODUCT(sum, z, x) do { VEC u_ = (z) * (x); (sum) += u_; } while (0)

/* s[r] = lane j of rows.h's sum with row r, plus its lane j + 4 */
#define LANE_PAIR(TERM, s, j)                                                       \
    do {                                                                            \
        VEC p_[4] = {{0}}, q_[4] = {{0}}, x_, y_;                                   \
        for (int64_t d_ = (j); d_ < tail; d_ += ROWS_LANES) {                       \
            memcpy(&x_, x + ROWS_BLOCK * d_, sizeof x_);                            \
            memcpy(&y_, x + ROWS_BLOCK * (d_ + 4), sizeof y_);                      \
            for (int r_ = 0; r_ < 4; r_++) {                                        \
                TERM(p_[r_], z[r_][d_], x_); TERM(q_[r_], z[r_][d_ + 4], y_);       \
            }                                                                       \
        }                                                                           \
        for (int r_ = 0; r_ < 4; r_++) s[r_] = p_[r_] + q_[r_];                     \
    } while (0)

/* s[r] = sum over features of TERM(sum, row r, x), of four rows */
#define FOUR_ROWS(TERM)                                                             \
    do {                                                                            \
        if (tail) {                                                                 \
            VEC t_[4], v_[4];                                                       \
            LANE_PAIR(TERM, s, 0); LANE_PAIR(TERM, t_, 2);                          \
            for (int r_ = 0; r_ < 4; r_++) s[r_] += t_[r_];                         \
            LANE_PAIR(TERM, t_, 1); LANE_PAIR(TERM, v_, 3);                         \
            for (int r_ = 0; r_ < 4; r_++) s[r_] += t_[r_] + v_[r_];                \
        }                                                                           \
        for (int64_t d_ = tail; d_ < width; d_++) {                                 \
            VEC x_; memcpy(&x_, x + ROWS_BLOCK * d_, sizeof x_);                    \
            for (int r_ = 0; r_ < 4; r_++) TERM(s[r_], z[r_][d_], x_);              \
        }                                                                           \
    } while (0)

/* out[8 i + c] = that of row i and sample c. Of less than four rows the last stands for the missing. */
#define ROWS_WITH_BLOCK(name, V)                                                    \
    static void name(                                                               \
        int squares, const double *turned, const T *rows, int64_t width, int64_t n, double *out) \
    {                                                                               \
        typedef V VEC;                                                              \
        const int64_t tail = width - width % ROWS_LANES;                            \
        const double *z[4];                                                         \
        EDGESVM_CHECK(n >= 0 && width > 0 && width <= ROWS_WIDEST);                 \
        for (int64_t i = 0, m; i < n; i += m, rows += m * width) {                  \
            m = n - i < 4 ? n - i : 4;                                              \
            WIDE_ROWS(z[0], rows, m * width);                                       \
            for (int r = 1; r < 4; r++) z[r] = z[r - 1] + (r < m ? width : 0);      \
            for (int c = 0; c < ROWS_BLOCK; c += (int)(sizeof(VEC) / sizeof(double))) { \
                const double *x = turned + c;                                       \
                VEC s[4] = {{0}};                                                   \
                if (squares) FOUR_ROWS(SQUARE); else FOUR_ROWS(PRODUCT);            \
                for (int r = 0; r < m; r++)                                         \
                    memcpy(out + ROWS_BLOCK * (i + r) + c, &s[r], sizeof(VEC));     \
            }                                                                       \
        }                                                                           \
    }

#define T float
#define NAME(stem) stem##_f32
#define WIDE_ROWS(p, rows, n)                                                       \
    double wide_[4 * ROWS_WIDEST];                                                  \
    for (int64_t k_ = 0; k_ < (n); k_++) wide_[k_] = (rows)[k_];                    \
    p = wide_
#include "rows_block_type.h"

#define T double
#define NAME(stem) stem##_f64
#define WIDE_ROWS(p, rows, n) p = (rows)
#include "rows_block_type.h"

#undef WEIGH
#undef ADD_ROW
#undef DOT
#undef SQUARE
#undef PRODUCT
#undef LANE_PAIR
#undef FOUR_ROWS
#undef ROWS_WITH_BLOCK

#endif
#endif
