/* Passes over all twins. No number is a sum over twins, so the compiler may take as many at a time as
 * it likes. A twin's weight is minus + plus.
 */
#ifndef EDGESVM_TWIN_PASSES_H
#define EDGESVM_TWIN_PASSES_H

#include <math.h>

#include "lanes.h"

/* y += a[p] x_p, one after another, for m rows x_p that are `stride` apart */
EDGESVM_CLONES
static void twin_add_rows(const double *a, const double *x, int64_t stride, int64_t m,
                          double *restrict y, int64_t n)
{
    int64_t p = 0;
    for (; p + 4 <= m; p += 4, x += 4 * stride)
        for (int64_t j = 0; j < n; j++)
            y[j] = y[j] + a[p] * x[j] + a[p + 1] * x[j + stride] + a[p + 2] * x[j + 2 * stride]
                 + a[p + 3] * x[j + 3 * stride];
    for (; p < m; p++, x += stride)
        for (int64_t j = 0; j < n; j++) y[j] += a[p] * x[j];
}

/* row[j] *= s s_j / (s + s_j), with the weights s_j; the least of `most` and these */
EDGESVM_CLONES
static double twin_weigh(double s, const double *minus, const double *plus, int64_t n, double most,
                         double *restrict row)
{
    for (int64_t j = 0; j < n; j++) {
        double v = minus[j] + plus[j];
        row[j] *= s * v / (s + v);
    }
    for (int64_t j = 0; j < n; j++)
        if (row[j] < most) most = row[j];
    return most;
}

/* A bound is negative, if only -0, where it is of a twin below the boundary. |bound[j]| becomes row[j], if
 * that is less, where twin j has weight and is on the side `above` says; the least of `most` and these
 * of row */
EDGESVM_CLONES
static double twin_lower(const double *row, const double *minus, const double *plus, int64_t n,
                         int above, double most, double *bound)
{
    for (int64_t j = 0; j < n; j++)
        if (minus[j] + plus[j] > 0.0 && !signbit(bound[j]) == !!above) {
            if (row[j] < fabs(bound[j])) bound[j] = above ? row[j] : -row[j];
            if (row[j] < most) most = row[j];
        }
    return most;
}

/* off[j] = how far g[j] is from its place, where the state says that it is on a step, or on one side of it */
EDGESVM_CLONES
static void twin_offsets(const double *g, const int8_t *state, const double *minus, const double *plus,
                         double mu, int64_t n, double *restrict off)
{
    for (int64_t j = 0; j < n; j++) {
        double low = g[j] + mu, high = g[j] - mu;
        int s = state[j];
        if (s == 1 || s == 3) off[j] = s == 1 ? low : high;
        else if (s == 0) off[j] = low > 0.0 ? low : 0.0;
        else if (s == 4) off[j] = high < 0.0 ? high : 0.0;
        else if (g[j] > mu && plus[j] > 0.0) off[j] = high;
        else off[j] = g[j] < -mu && minus[j] > 0.0 ? low : 0.0;
    }
}

/* The first twin from j on that is on a plateau, and near enough to a step to reach it in the rest of the
 * path; n: none */
static int64_t twin_near(const double *g, const double *rate, const double *off, const int8_t *state,
                         int64_t j, int64_t n, double mu, double d_mu, double rest, double tolerance)
{
    while (j < n && (state[j] % 2 || fabs(fabs(g[j]) - mu)
            > rest * (fabs(rate[j]) + d_mu + 2.0 * fabs(off[j])) + tolerance))
        j++;
    return j;
}

/* y += a[c] k(q, vectors) of the twins q at the places p to m of S, one after another, eight at a time. The
 * first place that is left: the last one is, and all of kernels other than x.z (kind 0) and RBF (1). */
EDGESVM_CLONES
static int64_t twin_add_blocks(int kind, double gamma, int is_float32, const char *vectors, int64_t width,
                               const int32_t *S, const double *a, int64_t p, int64_t m, double *y,
                               int64_t n)
{
    const int64_t bytes = width * (is_float32 ? 4 : 8), most = 128;
    double turned[ROWS_BLOCK * ROWS_WIDEST], k[ROWS_BLOCK * 128];
    if (kind > 1 || width > ROWS_WIDEST) return p;
    for (; p + ROWS_BLOCK < m; p += ROWS_BLOCK) {
        for (int c = 0; c < ROWS_BLOCK; c++) {
            const char *q = vectors + S[p + c] * bytes;
            for (int64_t d = 0; d < width; d++)
                turned[ROWS_BLOCK * d + c] = is_float32 ? ((const float *)q)[d] : ((const double *)q)[d];
        }
        for (int64_t i = 0, count; i < n; i += count) {
            count = n - i < most ? n - i : most;
            if (is_float32)
                rows_block_sums_f32(kind, turned, (const float *)(vectors + i * bytes), width, count, k);
            else
                rows_block_sums_f64(kind, turned, (const double *)(vectors + i * bytes), width, count, k);
            if (kind) tiles_exp_f64(-gamma, k, ROWS_BLOCK * count);
            for (int64_t j = 0; j < count; j++)
                for (int c = 0; c < ROWS_BLOCK; c++) y[i + j] += a[p + c] * k[ROWS_BLOCK * j + c];
        }
    }
    return p;
}

#endif
