/* The two passes of an SMO iteration over the active examples, eight at a time.
 *
 * `state` is -1 at the lower bound, +1 at the upper, between them otherwise: a coefficient may still
 * grow where it is < 1, still fall where > -1. Of equals the last is taken, as LIBSVM does.
 *
 * A regression's cost has a bend at zero: epsilon |beta|. There g is less by epsilon where beta grows
 * away from zero, more by epsilon where it grows towards it; the sign of `state` is that of beta.
 */
#ifndef EDGESVM_SMO_PASSES_H
#define EDGESVM_SMO_PASSES_H

#include <math.h>

#include "lanes.h"

typedef float smo_f8 __attribute__((vector_size(32)));
typedef int32_t smo_i8 __attribute__((vector_size(32)));

/* Where the mask is set a, else b. */
#define PICK(m, a, b) (((m) & (a)) | (~(m) & (b)))
#define PICK_F64(m, a, b) ((vec_f64)PICK(m, (mask_f64)(a), (mask_f64)(b)))

/* The bodies of the passes, once with the bend at zero of a regression's cost and once without. */
#if defined(__GNUC__)
#define SMO_BODY static inline __attribute__((always_inline))
#else
#define SMO_BODY static inline
#endif

/* g -= delta * (row_i - row_j); then *i = argmax of g where it may grow, *most that value;
 * *least = min of g where it may fall */
SMO_BODY void smo_step_body(int bends, double epsilon, double *g, const float *state,
                            const float *row_i, const float *row_j, double delta, int64_t n,
                            double *most, int64_t *i, double *least)
{
    vec_f64 best = {0}, low = {0};
    mask_f64 at = {0}, here = {0, 1, 2, 3, 4, 5, 6, 7};
    double top = -INFINITY, bottom = INFINITY;
    int64_t t = 0, winner = -1;
    const vec_f64 nothing = best - INFINITY, everything = best + INFINITY;
    const vec_f64 more = best + epsilon, less = best - epsilon;
    best = nothing; low = everything; at -= 1;
    for (; t + 8 <= n; t += 8) {
        smo_f8 a, b, s8;
        vec_f64 v, s, up, down;
        mask_f64 better;
        memcpy(&a, row_i + t, 32); memcpy(&b, row_j + t, 32); memcpy(&s8, state + t, 32);
        memcpy(&v, g + t, 64);
        v -= delta * (__builtin_convertvector(a, vec_f64) - __builtin_convertvector(b, vec_f64));
        memcpy(g + t, &v, 64);
        s = __builtin_convertvector(s8, vec_f64);
        up = down = v;
        if (bends) {
            up = v + PICK_F64((mask_f64)(s < 0.0), more, less);
            down = v + PICK_F64((mask_f64)(s > 0.0), less, more);
        }
        up = PICK_F64((mask_f64)(s < 1.0), up, nothing);
        down = PICK_F64((mask_f64)(s > -1.0), down, everything);
        better = (mask_f64)(up >= best);
        best = PICK_F64(better, up, best);
        at = PICK(better, here, at);
        low = PICK_F64((mask_f64)(down < low), down, low);
        here += 8;
    }
    for (int k = 0; k < 8; k++) {
        double u = best[k];
        if (u > top || (u == top && at[k] > winner)) { top = u; winner = at[k]; }
        if (low[k] < bottom) bottom = low[k];
    }
    for (; t < n; t++) {
        double up, down;
        g[t] -= delta * ((double)row_i[t] - (double)row_j[t]);
        up = bends ? g[t] + (state[t] < 0.0f ? epsilon : -epsilon) : g[t];
        down = bends ? g[t] + (state[t] > 0.0f ? -epsilon : epsilon) : g[t];
        if (state[t] < 1.0f && up >= top) { top = up; winner = t; }
        if (state[t] > -1.0f && down < bottom) bottom = down;
    }
    *most = top; *i = winner; *least = bottom;
}

EDGESVM_CLONES
static void smo_step(double *g, const float *state, const float *row_i, const float *row_j,
                     double delta, int64_t n, double *most, int64_t *i, double *least)
{
    smo_step_body(0, 0.0, g, state, row_i, row_j, delta, n, most, i, least);
}

EDGESVM_CLONES
static void smo_step_bent(double epsilon, double *g, const float *state, const float *row_i,
                          const float *row_j, double delta, int64_t n, double *most, int64_t *i,
                          double *least)
{
    smo_step_body(1, epsilon, g, state, row_i, row_j, delta, n, most, i, least);
}

/* argmax (g_i - g_t)^2 / max(k_ii + k_tt - 2 k_it, tiny) over what may fall and has g_t < g_i;
 * -1 where there is none.  The ratio in float32: it ranks, it does not step. */
SMO_BODY int64_t smo_second_body(int bends, double epsilon, const double *g, const float *state,
                                 const float *diagonal, const float *row_i, double g_i, float k_ii,
                                 float least_curvature, int64_t n)
{
    smo_f8 best = {0};
    smo_i8 at = {0}, here = {0, 1, 2, 3, 4, 5, 6, 7};
    float top = 0.0f;
    int64_t t = 0, winner = -1;
    vec_f64 more = {0}, less = {0};
    more += epsilon; less -= epsilon;
    at -= 1;
    for (; t + 8 <= n; t += 8) {
        vec_f64 v;
        smo_f8 d, q, k, s;
        smo_i8 better;
        memcpy(&v, g + t, 64);
        memcpy(&s, state + t, 32); memcpy(&q, diagonal + t, 32); memcpy(&k, row_i + t, 32);
        if (bends)
            v += PICK_F64((mask_f64)(__builtin_convertvector(s, vec_f64) > 0.0), less, more);
        d = __builtin_convertvector(g_i - v, smo_f8);
        q = (q + k_ii) - 2.0f * k;
        q = (smo_f8)PICK((smo_i8)(q > 0.0f), (smo_i8)q, (smo_i8)((q - q) + least_curvature));
        q = (d * d) / q;
        better = (smo_i8)(s > -1.0f) & (smo_i8)(d > 0.0f) & (smo_i8)(q >= best);
        best = (smo_f8)PICK(better, (smo_i8)q, (smo_i8)best);
        at = PICK(better, here, at);
        here += 8;
    }
    for (int k = 0; k < 8; k++)
        if (at[k] >= 0 && (best[k] > top || (best[k] == top && at[k] > winner))) {
            top = best[k]; winner = at[k];
        }
    for (; t < n; t++) {
        double down = bends ? g[t] + (state[t] > 0.0f ? -epsilon : epsilon) : g[t];
        float d = (float)(g_i - down), q = (diagonal[t] + k_ii) - 2.0f * row_i[t];
        q = d * d / (q > 0.0f ? q : least_curvature);
        if (state[t] > -1.0f && d > 0.0f && q >= top) { top = q; winner = t; }
    }
    return winner;
}

EDGESVM_CLONES
static int64_t smo_second(const double *g, const float *state, const float *diagonal,
                          const float *row_i, double g_i, float k_ii,
                          float least_curvature, int64_t n)
{
    return smo_second_body(0, 0.0, g, state, diagonal, row_i, g_i, k_ii, least_curvature, n);
}

EDGESVM_CLONES
static int64_t smo_second_bent(double epsilon, const double *g, const float *state,
                               const float *diagonal, const float *row_i, double g_i, float k_ii,
                               float least_curvature, int64_t n)
{
    return smo_second_body(1, epsilon, g, state, diagonal, row_i, g_i, k_ii, least_curvature, n);
}

/* row = s_i * sign * (row + offset), in float64 */
EDGESVM_CLONES
static void smo_sign(float *row, const double *sign, double s_i, double offset, int64_t n)
{
    int64_t t = 0;
    for (; t + 8 <= n; t += 8) {
        smo_f8 k;
        vec_f64 s;
        memcpy(&k, row + t, 32); memcpy(&s, sign + t, 64);
        k = __builtin_convertvector(s_i * s * (__builtin_convertvector(k, vec_f64) + offset), smo_f8);
        memcpy(row + t, &k, 32);
    }
    for (; t < n; t++) row[t] = (float)(s_i * sign[t] * ((double)row[t] + offset));
}

#undef SMO_BODY
#undef PICK
#undef PICK_F64

#endif
