/* Prints the bits of every sum of sums.h over fixed pseudo-random vectors of lengths 0 to 200 and 784, normal
 * and subnormal, or over rows of that width; the waves of n directions, and a ball's pass over n core vectors; then
 * a hash of models of ByteSVM, of few and many classes and features. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "lanes.h"
#include "../learners/batch/smo_passes.h"
#include "../learners/byte/byte.h"
#include "../learners/papers/enclosing/ball_pass.h"

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

/* 7 tiles: four or two of them together, and some that are left; x with zeros or without, with notes or without */
#define N_TILES 7
#define SHOW_TILES(T, NAME, LANES)                              \
    do {                                                        \
        static T x[2 * LANES * LONGEST], tiles[N_TILES * LANES * LONGEST]; \
        static uint64_t present[N_TILES * TILES_WORDS(LONGEST)], in_x[2 * TILES_WORDS(LONGEST)]; \
        const int hollow = n % 3 == 0;                           \
        const T *const row = tiles;                             \
        double weight[N_TILES * LANES], sums[N_TILES * LANES];  \
        float values[5][N_TILES * LANES], *out[5];              \
        for (int i = 0; i < 2 * LANES * n; i++)                 \
            x[i] = (T)(hollow && i / LANES % 5 ? 0.0 : next_number()); \
        for (int i = 0; i < N_TILES * LANES * n; i++)           \
            tiles[i] = (T)(hollow && i / LANES % 4 ? 0.0 : next_number()); \
        for (int i = 0; i < N_TILES * LANES; i++) weight[i] = next_number(); \
        for (int i = 0; i < 5; i++) out[i] = values[i];         \
        tiles_note((const char *)tiles, n, N_TILES, present);   \
        tiles_note((const char *)x, n, 2, in_x);                \
        for (int kind = 0; kind < 3; kind++)                    \
            for (int notes = 0; notes < 2; notes++) {           \
                const uint64_t *const at = notes ? present : NULL; \
                tiles_kernel_##NAME(kind, 0.01 / n, 0.5, 3, row, tiles, at, n, N_TILES, values[0]); \
                for (int i = 0; i < N_TILES * LANES; i += 5) show_f32(values[0][i]); \
                show_f64(tiles_weighted_##NAME(kind, 0.01 / n, 0.5, 3, row, tiles, at, n, N_TILES, weight)); \
                tiles_weighted_rows_##NAME(kind, 0.01 / n, 0.5, 3, x, notes ? in_x : NULL, 2 * LANES, \
                                           tiles, at, n, N_TILES, weight, sums); \
                for (int i = 0; i < 2 * LANES; i++) show_f64(sums[i]); \
                tiles_kernel_rows_##NAME(kind, 0.01 / n, 0.5, 3, x, notes ? in_x : NULL, 5, \
                                         tiles, at, n, N_TILES, out); \
                for (int i = 0; i < N_TILES * LANES; i += 5) show_f32(values[i % 3 + 2][i]); \
                if (kind == 2) continue;                        \
                tiles_sums_##NAME(kind, row, tiles, at, n, N_TILES, sums); \
                for (int i = 0; i < N_TILES * LANES; i += 5) show_f64(sums[i]); \
            }                                                   \
    } while (0)

#define SHOW_WAVES(T, NAME)                                     \
    do {                                                        \
        static T x[4 * LONGEST], waves[2 * LONGEST], w[2 * LONGEST], v[128]; \
        static int16_t angle[4 * LONGEST];                      \
        const double scale[] = {0.31, 0.27, 0.11, 0.93};        \
        double dot[4] = {0};                                    \
        for (int i = 0; i < 4 * 21; i++) x[i] = (T)next_number(); \
        for (int i = 0; i < 2 * n; i++) w[i] = (T)next_number(); \
        for (int rows = 1; rows <= 4; rows *= 2) {              \
            waves_angles_##NAME(x, rows, 21, 20080710, scale, 8, n, angle, n); \
            for (int i = 0; i < rows * n; i += 3) printf(" %d", angle[i]); \
        }                                                       \
        waves_angles_##NAME(x, 1, 21, 20080710, scale, 8, n, angle, 0); \
        if (n <= 128) waves_mixed_##NAME(x, 16, 20080710, scale, 128, 1, n / 2, v, angle); \
        waves_of_##NAME(angle, n, waves);                       \
        waves_weigh_##NAME(waves, n, scale);                    \
        for (int i = 0; i < 2 * n; i += 3) show_##NAME(waves[i]); \
        waves_dots_##NAME(w, waves, 2 * n, 0.5, dot);           \
        for (int i = 0; i < 4; i++) show_f64(dot[i]);           \
    } while (0)

static void show_ball_pass(int n)
{
    double beta[LONGEST], f[LONGEST], sign[LONGEST];
    float row[LONGEST];
    for (int i = 0; i < n; i++) {
        beta[i] = next_number(); f[i] = i % 7 ? next_number() : -200.0;     /* some of them equal */
        sign[i] = i % 7 ? 1.0 : 0.0; row[i] = (float)next_number();
    }
    printf(" %" PRId64, ball_pass(beta, f, sign, row, 0.9, 0.1, n));
    for (int i = 0; i < n; i++) { show_f64(beta[i]); show_f64(f[i]); }
}

static void show_smo_passes(int bends, int n)
{
    double g[LONGEST], most, least;
    float state[LONGEST], row_i[LONGEST], row_j[LONGEST], diagonal[LONGEST];
    int64_t i;
    for (int t = 0; t < n; t++) {
        g[t] = t % 5 ? next_number() : 200.0;               /* some of them equal */
        row_i[t] = t % 5 ? (float)next_number() : 0.5f; row_j[t] = t % 5 ? (float)next_number() : 0.5f;
        state[t] = (float)(t % 4) / 2.0f - 1.0f; diagonal[t] = 1.0f;
    }
    smo_step(bends, 0.5, g, state, row_i, row_j, 0.1, n, &most, &i, &least);
    printf(" %" PRId64 " %" PRId64, i, smo_second(bends, 0.5, g, state, diagonal, row_i, most, 1.0f, 1e-12f, n));
    show_f64(most); show_f64(least);
    for (int t = 0; t < n; t++) show_f64(g[t]);
}

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

/* A row by the moments of those before it, one of its values far out; and steps of weights */
#define SHOW_STEPS(T, NAME)                                     \
    do {                                                        \
        static T x[LONGEST], out[LONGEST], w[LONGEST], mean[LONGEST]; \
        static double mu[LONGEST], spread[LONGEST];             \
        memset(mu, 0, sizeof mu), memset(spread, 0, sizeof spread); \
        memset(w, 0, sizeof w), memset(mean, 0, sizeof mean);   \
        for (int k = 1; k < 7; k++) {                           \
            for (int i = 0; i < n; i++) x[i] = (T)next_number(); \
            if (n) x[n / 2] *= k == 5 ? 1000 : 1;               \
            if (k > 1) printf(" %d", moments_next_##NAME(x, mu, spread, k, 3.0, 4.0, out, n)); \
            for (int i = 0; i < n && k > 1; i += 7) show_##NAME(out[i]); \
            printf(" %d", moments_far_##NAME(x, mu, spread, k, 3.0, n)); \
            moments_keep_##NAME(x, mu, spread, k, n);           \
            step_both_##NAME(w, mean, x, (T)0.1, (T)0.2, n);    \
            step_diagonal_##NAME(w, mean, x, (T)0.3, (T)0.7, n); \
            bierman_column_##NAME(w, mean, (T)0.3, (T)0.01, n); \
        }                                                       \
        moments_map_##NAME(x, mu, spread, 7.0, 4.0, out, n);    \
        for (int i = 0; i < n; i += 3) { show_##NAME(out[i]); show_f64(spread[i]); show_##NAME(w[i]); } \
    } while (0)

#define N_BYTES 24000

static void show_byte_model(int n_bytes, int n_features, int n_classes)
{
    static char model[N_BYTES + 64];
    static int8_t z[LONGEST];
    static float x[LONGEST];
    int64_t counts[BYTE_MOST_VECTORS] = {0};
    int32_t logit[BYTE_MOST_VECTORS];
    uint32_t hash = 2166136261u;
    byte_shape s;
    byte_lay_out(&s, n_bytes, n_features, n_classes, 0, 1, 0, 1, 0, 7);
    memset(model, 0, sizeof model);
    byte_reset(&s, model);
    for (uint32_t n = 1; n <= 400; n++) {
        double sum = 0;
        for (int d = 0; d < n_features; d++) sum += x[d] = (float)next_number();
        int y = (int)fabs(sum) % n_classes;
        byte_learn(&s, model, x, z, y, 256 + (int)(next_bits() % 512), n, counts);
        counts[y]++;
        byte_decide(&s, model, x, z, logit);
        hash = (hash ^ (uint32_t)logit[0]) * 16777619u;
    }
    for (int i = 0; i < N_BYTES; i++) hash = (hash ^ (unsigned char)model[i]) * 16777619u;
    printf("%d %d %d: %08" PRIx32 "\n", n_bytes, n_features, n_classes, hash);
}

int main(void)
{
    static const int byte_models[][3] = {
        {700, 6, 2}, {1024, 3, 2}, {2048, 1, 2}, {2048, 64, 5}, {3000, 2, 7}, {4096, 9, 2}, {6000, 7, 100},
        {8192, LONGEST, 10}, {16384, 40, 26}, {N_BYTES, 5, 3}, {N_BYTES, LONGEST, 2}};
    for (size_t i = 0; i < sizeof byte_models / sizeof *byte_models; i++)
        show_byte_model(byte_models[i][0], byte_models[i][1], byte_models[i][2]);
    for (int n = 0; n <= LONGEST; n += (n == 200 ? LONGEST - 200 : 1)) {
        printf("%d:", n);
        SHOW_ALL(float, f32);
        SHOW_ALL(double, f64);
        if (n) { SHOW_ROWS(float, f32); SHOW_ROWS(double, f64); }
        if (n) { SHOW_BLOCK(float, f32); SHOW_BLOCK(double, f64); }
        SHOW_WAVES(float, f32); SHOW_WAVES(double, f64);
        SHOW_STEPS(float, f32); SHOW_STEPS(double, f64);
        show_ball_pass(n); show_smo_passes(0, n); show_smo_passes(1, n);
        if (n) { SHOW_TILES(float, f32, 16); SHOW_TILES(double, f64, 8); }
        scale = -74;  /* products below the least normal float */
        SHOW_ALL(float, f32);
        scale = -524;
        SHOW_ALL(double, f64);
        scale = 0;
        printf("\n");
    }
    return 0;
}
#include "sums.c"
