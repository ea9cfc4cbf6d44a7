/* Prints the bits of every sum of lanes.h over fixed pseudo-random vectors of lengths 0 to 200 and 784, normal
 * and subnormal, and those of rows.h, rows_block.h and lanes_block.h over rows of that width. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "lanes_block.h"

#define LONGEST 784

static uint64_t state = 20080710;

static uint64_t next_bits(void)  /* splitmix64 */
{
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int scale;  /* power of two that all numbers are multiplied by */

/* Exponents differ widely, so that another order of summation shows in the last bits. */
static double next_number(void)
{
    double mantissa = (double)(int64_t)next_bits() * 0x1p-63;
    return ldexp(mantissa, (int)(next_bits() % 17) - 8 + scale);
}

static void show_f32(float sum) { uint32_t bits; memcpy(&bits, &sum, 4); printf(" %08" PRIx32, bits); }
static void show_f64(double sum) { uint64_t bits; memcpy(&bits, &sum, 8); printf(" %016" PRIx64, bits); }

#define N_ROWS 11

#define SHOW_ROWS(T, NAME)                                      \
    do {                                                        \
        static T x[LONGEST], rows[N_ROWS * LONGEST];            \
        double out[N_ROWS];                                     \
        for (int i = 0; i < n; i++) x[i] = (T)next_number();    \
        for (int i = 0; i < N_ROWS * n; i++) rows[i] = (T)next_number(); \
        rows_dot_##NAME(x, rows, n, N_ROWS, out);               \
        for (int i = 0; i < N_ROWS; i++) show_f64(out[i]);      \
        rows_square_distance_##NAME(x, rows, n, N_ROWS, out);   \
        for (int i = 0; i < N_ROWS; i++) show_f64(out[i]);      \
        tiles_exp_f64(-0.01 / n, out, N_ROWS);                  \
        for (int i = 0; i < N_ROWS; i++) show_f64(out[i]);      \
        static double turned[ROWS_BLOCK * LONGEST], sums[ROWS_BLOCK * N_ROWS]; \
        double f[ROWS_BLOCK] = {0};                             \
        rows_block_turn_##NAME(rows, n, turned);                \
        for (int squares = 0; squares < 2; squares++) {         \
            rows_block_sums_##NAME(squares, turned, rows, n, N_ROWS, sums); \
            for (int i = 0; i < N_ROWS; i++) show_f64(sums[ROWS_BLOCK * i + i % 7]); \
            rows_block_weigh(out, sums, N_ROWS, f);             \
            for (int c = 0; c < ROWS_BLOCK; c++) show_f64(f[c]); \
            rows_block_dot(out, sums, N_ROWS, f);               \
            for (int c = 0; c < ROWS_BLOCK; c++) show_f64(f[c]); \
        }                                                       \
    } while (0)

#define SHOW_BLOCK(T, NAME)                                     \
    do {                                                        \
        static T w[LONGEST], rows[6 * LONGEST];                 \
        T dots[4], squares[4];                                  \
        for (int i = 0; i < n; i++) w[i] = (T)next_number();    \
        for (int i = 0; i < 6 * n; i++) rows[i] = (T)next_number(); \
        for (int more = 0; more < 3; more++) {                  \
            lanes_dot_square_rows_##NAME(rows, w, n, 4 + more, dots, squares); \
            for (int i = 0; i < 4; i++) { show_##NAME(dots[i]); show_##NAME(squares[i]); } \
            lanes_dot_rows_##NAME(rows, w, n, 4 + more, dots);  \
            lanes_square_rows_##NAME(rows, n, 4 + more, squares); \
            for (int i = 0; i < 4; i++) { show_##NAME(dots[i]); show_##NAME(squares[i]); } \
        }                                                       \
        static T turned[ROWS_BLOCK * LONGEST];                  \
        double sums[ROWS_BLOCK * 5];                            \
        memset(turned, 0, sizeof turned);                       \
        for (int i = 0; i < 6 * n; i++) turned[ROWS_BLOCK * (i % n) + i / n] = rows[i]; \
        for (int apart = 0; apart < 2; apart++) {               \
            lanes_sums_##NAME(apart, w, rows, n, 6, sums);      \
            for (int i = 0; i < 6; i++) show_f64(sums[i]);      \
            lanes_block_sums_##NAME(apart, turned, rows, n, 5, sums); \
            for (int i = 0; i < 5; i++) show_f64(sums[ROWS_BLOCK * i + i]); \
            for (int i = 0; i < 4; i++) show_f64(sums[ROWS_BLOCK * i + i + 1]); \
        }                                                       \
    } while (0)

#define SHOW_ALL(T, NAME)                                       \
    do {                                                        \
        T x[LONGEST], z[LONGEST], dot, square;                  \
        for (int i = 0; i < n; i++) {                           \
            x[i] = (T)next_number();                            \
            z[i] = (T)next_number();                            \
        }                                                       \
        show_##NAME(lanes_dot_##NAME(x, z, n));                 \
        lanes_dot_square_##NAME(x, z, n, &dot, &square);        \
        show_##NAME(dot);                                       \
        show_##NAME(square);                                    \
        show_##NAME(lanes_square_distance_##NAME(x, z, n));     \
    } while (0)

int main(void)
{
    for (int n = 0; n <= LONGEST; n += (n == 200 ? LONGEST - 200 : 1)) {
        printf("%d:", n);
        SHOW_ALL(float, f32);
        SHOW_ALL(double, f64);
        if (n) { SHOW_ROWS(float, f32); SHOW_ROWS(double, f64); }
        if (n) { SHOW_BLOCK(float, f32); SHOW_BLOCK(double, f64); }
        scale = -74;  /* products below the least normal float */
        SHOW_ALL(float, f32);
        scale = -524;
        SHOW_ALL(double, f64);
        scale = 0;
        printf("\n");
    }
    return 0;
}
