/* Passes over all twins, four at a time. No number is a sum over twins, so any width gives the same
 * bits. A twin's weight is minus + plus.
 */
#ifndef EDGESVM_TWIN_PASSES_H
#define EDGESVM_TWIN_PASSES_H

#include <math.h>

#include "lanes.h"

typedef int64_t mask_half __attribute__((vector_size(32)));
typedef int64_t mask_quarter __attribute__((vector_size(16)));
typedef int8_t states_4 __attribute__((vector_size(4)));

#define PICK_F64(m, a, b) ((half_f64)(((m) & (mask_half)(a)) | (~(m) & (mask_half)(b))))
#define ABS_F64(v) ((half_f64)((mask_half)(v) & INT64_MAX))
/* whether any lane is set */
#define ANY(found, m)                                                               \
    do {                                                                            \
        mask_quarter a_, b_;                                                        \
        memcpy(&a_, &(m), 16); memcpy(&b_, (const char *)&(m) + 16, 16);            \
        a_ |= b_;                                                                   \
        found = (a_[0] | a_[1]) != 0;                                               \
    } while (0)

/* y += a x */
EDGESVM_CLONES
static void twin_add(double a, const double *x, double *y, int64_t n)
{
    int64_t j = 0;
    for (; j + 8 <= n; j += 8) {
        vec_f64 u, v;
        memcpy(&u, x + j, 64); memcpy(&v, y + j, 64);
        v += a * u;
        memcpy(y + j, &v, 64);
    }
    for (; j < n; j++) y[j] += a * x[j];
}

/* y += a[p] x_p, one after another, for m rows x_p that are `stride` apart */
EDGESVM_CLONES
static void twin_add_rows(const double *a, const double *x, int64_t stride, int64_t m, double *y,
                          int64_t n)
{
    int64_t j = 0;
    for (; j + 16 <= n; j += 16) {
        const double *row = x + j;
        half_f64 s[4], u;
        for (int c = 0; c < 4; c++) memcpy(&s[c], y + j + 4 * c, 32);
        for (int64_t p = 0; p < m; p++, row += stride)
            for (int c = 0; c < 4; c++) { memcpy(&u, row + 4 * c, 32); s[c] += a[p] * u; }
        for (int c = 0; c < 4; c++) memcpy(y + j + 4 * c, &s[c], 32);
    }
    for (; j < n; j++)
        for (int64_t p = 0; p < m; p++) y[j] += a[p] * x[p * stride + j];
}

/* row[j] *= s s_j / (s + s_j), with the weights s_j; the least of `most` and these */
EDGESVM_CLONES
static double twin_weigh(double s, const double *minus, const double *plus, int64_t n, double most,
                         double *row)
{
    half_f64 least = {0};
    int64_t j = 0;
    least += most;
    for (; j + 4 <= n; j += 4) {
        half_f64 u, v, d;
        memcpy(&u, minus + j, 32); memcpy(&v, plus + j, 32); memcpy(&d, row + j, 32);
        v += u;
        d *= s * v / (s + v);
        least = PICK_F64((mask_half)(d < least), d, least);
        memcpy(row + j, &d, 32);
    }
    for (int k = 0; k < 4; k++)
        if (least[k] < most) most = least[k];
    for (; j < n; j++) {
        double v = minus[j] + plus[j];
        row[j] *= s * v / (s + v);
        if (row[j] < most) most = row[j];
    }
    return most;
}

/* A bound is negative, if only -0, where it is of a twin below the boundary. |bound[j]| becomes row[j], if
 * that is less, where twin j has weight and is on the side `above` says; the least of `most` and these
 * of row */
EDGESVM_CLONES
static double twin_lower(const double *row, const double *minus, const double *plus, int64_t n,
                         int above, double most, double *bound)
{
    const int64_t sign = above ? 0 : INT64_MIN;
    half_f64 least = {0}, none, u, v, d, b;
    int64_t j = 0;
    least += most;
    none = least;
    for (; j + 4 <= n; j += 4) {
        memcpy(&u, minus + j, 32); memcpy(&v, plus + j, 32);
        memcpy(&d, row + j, 32); memcpy(&b, bound + j, 32);
        b = (half_f64)((mask_half)b ^ sign);
        d = PICK_F64((mask_half)(u + v > 0.0) & ((mask_half)b >= 0), d, none);
        b = PICK_F64((mask_half)(d < b), d, b);
        least = PICK_F64((mask_half)(d < least), d, least);
        b = (half_f64)((mask_half)b ^ sign);
        memcpy(bound + j, &b, 32);
    }
    for (int k = 0; k < 4; k++)
        if (least[k] < most) most = least[k];
    for (; j < n; j++)
        if (minus[j] + plus[j] > 0.0 && !signbit(bound[j]) == !!above) {
            if (row[j] < fabs(bound[j])) bound[j] = above ? row[j] : -row[j];
            if (row[j] < most) most = row[j];
        }
    return most;
}

/* The first twin from j on that is on the other side, g[j] > 0 or not, than its bound says; n: none */
EDGESVM_CLONES
static int64_t twin_moved(const double *bound, const double *g, int64_t j, int64_t n)
{
    half_f64 u, b;
    mask_half m;
    int any;
    for (; j + 4 <= n; j += 4) {
        memcpy(&u, g + j, 32); memcpy(&b, bound + j, 32);
        m = (mask_half)(u > 0.0) ^ ((mask_half)b >= 0);
        ANY(any, m);
        if (any) break;
    }
    for (; j < n; j++)
        if ((g[j] > 0.0) != !signbit(bound[j])) return j;
    return n;
}

/* The first j of the least row[j] below `most`, of those with g[j] > 0 or not as `side` says, or of all
 * if `side` is below zero; -1 if there is none. */
EDGESVM_CLONES
static int64_t twin_nearest(const double *row, const double *g, int64_t n, int side, double most)
{
    const int64_t any = -(side < 0), below = -(side <= 0);
    half_f64 least = {0}, none, d, u;
    mask_half at = {-1, -1, -1, -1}, here = {0, 1, 2, 3}, m;
    int64_t j = 0, first = -1;
    least += most;
    none = least;
    for (; j + 4 <= n; j += 4, here += 4) {
        memcpy(&d, row + j, 32); memcpy(&u, g + j, 32);
        d = PICK_F64(((mask_half)(u > 0.0) ^ below) | any, d, none);
        m = (mask_half)(d < least);
        least = PICK_F64(m, d, least);
        at = (m & here) | (~m & at);
    }
    for (int k = 0; k < 4; k++)
        if (least[k] < most || (least[k] == most && at[k] >= 0 && at[k] < first)) {
            most = least[k];
            first = at[k];
        }
    for (; j < n; j++)
        if ((side < 0 || (g[j] > 0.0) == side) && row[j] < most) {
            most = row[j];
            first = j;
        }
    return first;
}

/* The first j, from there on, with |row[j]| < most; n: none */
EDGESVM_CLONES
static int64_t twin_below(const double *row, int64_t j, int64_t n, double most)
{
    half_f64 d;
    mask_half m;
    int any;
    for (; j + 4 <= n; j += 4) {
        memcpy(&d, row + j, 32);
        m = (mask_half)(ABS_F64(d) < most);
        ANY(any, m);
        if (any) break;
    }
    for (; j < n; j++)
        if (fabs(row[j]) < most) return j;
    return n;
}

/* The first j of the largest |g[j]| */
EDGESVM_CLONES
static int64_t twin_farthest(const double *g, int64_t n)
{
    half_f64 far = {0}, u;
    double most = 0.0;
    int64_t j = 0;
    for (; j + 4 <= n; j += 4) {
        memcpy(&u, g + j, 32);
        u = ABS_F64(u);
        far = PICK_F64((mask_half)(u > far), u, far);
    }
    for (int k = 0; k < 4; k++)
        if (far[k] > most) most = far[k];
    for (; j < n; j++)
        if (fabs(g[j]) > most) most = fabs(g[j]);
    for (j = 0; j < n; j++)
        if (fabs(g[j]) == most) return j;
    return 0;
}

/* off[j] = how far g[j] is from its place, where the state says that it is on a step, or on one side of it */
EDGESVM_CLONES
static void twin_offsets(const double *g, const int8_t *state, const double *minus, const double *plus,
                         double mu, int64_t n, double *off)
{
    int64_t j = 0;
    for (; j + 4 <= n; j += 4) {
        states_4 s4;
        half_f64 u, low, high, above, below, none = {0}, p, q, r;
        mask_half s;
        memcpy(&s4, state + j, 4); memcpy(&u, g + j, 32);
        memcpy(&p, minus + j, 32); memcpy(&q, plus + j, 32);
        s = __builtin_convertvector(s4, mask_half);
        low = u + mu;
        high = u - mu;
        above = PICK_F64((mask_half)(low > 0.0), low, none);
        below = PICK_F64((mask_half)(high < 0.0), high, none);
        r = PICK_F64((mask_half)(u < -mu) & (mask_half)(p > 0.0), low, none);
        r = PICK_F64((mask_half)(u > mu) & (mask_half)(q > 0.0), high, r);
        r = PICK_F64((mask_half)(s == 0), above, r);
        r = PICK_F64((mask_half)(s == 4), below, r);
        r = PICK_F64((mask_half)(s == 1), low, r);
        r = PICK_F64((mask_half)(s == 3), high, r);
        memcpy(off + j, &r, 32);
    }
    for (; j < n; j++) {
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
#define TOO_FAR(abs, g, rate, off) \
    (abs(abs(g) - mu) > rest * (abs(rate) + d_mu + 2.0 * abs(off)) + tolerance)
EDGESVM_CLONES
static int64_t twin_near(const double *g, const double *rate, const double *off, const int8_t *state,
                         int64_t j, int64_t n, double mu, double d_mu, double rest, double tolerance)
{
    for (; j + 4 <= n; j += 4) {
        states_4 s4;
        half_f64 u, v, w;
        mask_half m;
        int any;
        memcpy(&s4, state + j, 4); memcpy(&u, g + j, 32);
        memcpy(&v, rate + j, 32); memcpy(&w, off + j, 32);
        m = __builtin_convertvector(s4, mask_half);
        m = ~(mask_half)TOO_FAR(ABS_F64, u, v, w) & ((m & 1) == 0);
        ANY(any, m);
        if (any) break;
    }
    for (; j < n; j++)
        if (state[j] % 2 == 0 && !TOO_FAR(fabs, g[j], rate[j], off[j])) return j;
    return n;
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

#undef TOO_FAR
#undef ANY
#undef ABS_F64
#undef PICK_F64

#endif
