/* The two passes of an SMO iteration over the active examples, some at a time.
 *
 * `state` is -1 at the lower bound, +1 at the upper, between them otherwise: a coefficient may still
 * grow where it is < 1, still fall where > -1. Of equals the last is taken, as LIBSVM does, and
 * nothing is added across lanes, so every width gives the same bits.
 *
 * With `bends` a regression's cost has a bend at zero: epsilon |beta|. There g is less by epsilon where beta
 * grows away from zero, more by epsilon where it grows towards it; the sign of `state` is that of beta.
 */
#ifndef EDGESVM_SMO_PASSES_H
#define EDGESVM_SMO_PASSES_H

#include <math.h>

#include "lanes.h"

/* Where the mask is set a, else b. */
#define PICK(type, m, a, b) ((type)(((m) & (__typeof__(m))(a)) | (~(m) & (__typeof__(m))(b))))

#define SMO_STEP(name, VEC)                                                                      \
    static void name(int bends, double epsilon, double *g, const float *state, const float *row_i, \
                     const float *row_j, double delta, int64_t n, double *most, int64_t *i,      \
                     double *least)                                                              \
    {                                                                                            \
        enum { WIDE = sizeof(VEC) / sizeof(double) };                                            \
        typedef int64_t MASK __attribute__((vector_size(sizeof(VEC))));                          \
        typedef float FLOATS __attribute__((vector_size(sizeof(VEC) / 2)));                      \
        const VEC nothing = (VEC){0} - INFINITY, everything = (VEC){0} + INFINITY;               \
        const VEC more = (VEC){0} + epsilon, less = (VEC){0} - epsilon;                          \
        VEC best = nothing, low = everything;                                                    \
        MASK at = (MASK){0} - 1, here;                                                           \
        double top = -INFINITY, bottom = INFINITY;                                               \
        int64_t t = 0, winner = -1;                                                              \
        for (int k = 0; k < WIDE; k++) here[k] = k;                                              \
        for (; t + WIDE <= n; t += WIDE) {                                                       \
            FLOATS a, b, f;                                                                      \
            VEC v, s, up, down;                                                                  \
            MASK better;                                                                         \
            memcpy(&a, row_i + t, sizeof a); memcpy(&b, row_j + t, sizeof b);                    \
            memcpy(&f, state + t, sizeof f); memcpy(&v, g + t, sizeof v);                        \
            v -= delta * (__builtin_convertvector(a, VEC) - __builtin_convertvector(b, VEC));    \
            memcpy(g + t, &v, sizeof v);                                                         \
            s = __builtin_convertvector(f, VEC);                                                 \
            up = down = v;                                                                       \
            if (bends) {                                                                         \
                up = v + PICK(VEC, s < 0.0, more, less);                                         \
                down = v + PICK(VEC, s > 0.0, less, more);                                       \
            }                                                                                    \
            up = PICK(VEC, s < 1.0, up, nothing);                                                \
            down = PICK(VEC, s > -1.0, down, everything);                                        \
            better = (MASK)(up >= best);                                                         \
            best = PICK(VEC, better, up, best);                                                  \
            at = PICK(MASK, better, here, at);                                                   \
            low = PICK(VEC, down < low, down, low);                                              \
            here += WIDE;                                                                        \
        }                                                                                        \
        for (int k = 0; k < WIDE; k++) {                                                         \
            double u = best[k];                                                                  \
            if (u > top || (u == top && at[k] > winner)) { top = u; winner = at[k]; }            \
            if (low[k] < bottom) bottom = low[k];                                                \
        }                                                                                        \
        for (; t < n; t++) {                                                                     \
            double up, down;                                                                     \
            g[t] -= delta * ((double)row_i[t] - (double)row_j[t]);                               \
            up = bends ? g[t] + (state[t] < 0.0f ? epsilon : -epsilon) : g[t];                   \
            down = bends ? g[t] + (state[t] > 0.0f ? -epsilon : epsilon) : g[t];                 \
            if (state[t] < 1.0f && up >= top) { top = up; winner = t; }                          \
            if (state[t] > -1.0f && down < bottom) bottom = down;                                \
        }                                                                                        \
        *most = top; *i = winner; *least = bottom;                                               \
    }

#define NAME(stem) stem
IN_EACH_WIDTH(SMO_STEP, smo_step, vec_f64, half_f64, quarter_f64)

/* g -= delta * (row_i - row_j); then *i = argmax of g where it may grow, *most that value;
 * *least = min of g where it may fall */
static void smo_step(int bends, double epsilon, double *g, const float *state, const float *row_i,
                     const float *row_j, double delta, int64_t n, double *most, int64_t *i,
                     double *least)
{
    BY_WIDTH(smo_step, bends, epsilon, g, state, row_i, row_j, delta, n, most, i, least);
}

#define SMO_SECOND(name, VEC)                                                                    \
    static int64_t name(int bends, double epsilon, const double *g, const float *state,          \
                        const float *diagonal, const float *row_i, double g_i, float k_ii,       \
                        float least_curvature, int64_t n)                                        \
    {                                                                                            \
        enum { WIDE = sizeof(VEC) / sizeof(double) };                                            \
        typedef float FLOATS __attribute__((vector_size(sizeof(VEC) / 2)));                      \
        typedef int32_t MASK __attribute__((vector_size(sizeof(VEC) / 2)));                      \
        const VEC more = (VEC){0} + epsilon, less = (VEC){0} - epsilon;                          \
        const FLOATS least = (FLOATS){0} + least_curvature;                                      \
        FLOATS best = {0};                                                                       \
        MASK at = (MASK){0} - 1, here;                                                           \
        float top = 0.0f;                                                                        \
        int64_t t = 0, winner = -1;                                                              \
        for (int k = 0; k < WIDE; k++) here[k] = k;                                              \
        for (; t + WIDE <= n; t += WIDE) {                                                       \
            VEC v;                                                                               \
            FLOATS d, q, k, s;                                                                   \
            MASK better;                                                                         \
            memcpy(&v, g + t, sizeof v); memcpy(&s, state + t, sizeof s);                        \
            memcpy(&q, diagonal + t, sizeof q); memcpy(&k, row_i + t, sizeof k);                 \
            if (bends) v += PICK(VEC, __builtin_convertvector(s, VEC) > 0.0, less, more);        \
            d = __builtin_convertvector(g_i - v, FLOATS);                                        \
            q = (q + k_ii) - 2.0f * k;                                                           \
            q = PICK(FLOATS, q > 0.0f, q, least);                                                \
            q = (d * d) / q;                                                                     \
            better = (MASK)(s > -1.0f) & (MASK)(d > 0.0f) & (MASK)(q >= best);                   \
            best = PICK(FLOATS, better, q, best);                                                \
            at = PICK(MASK, better, here, at);                                                   \
            here += WIDE;                                                                        \
        }                                                                                        \
        for (int k = 0; k < WIDE; k++)                                                           \
            if (at[k] >= 0 && (best[k] > top || (best[k] == top && at[k] > winner))) {           \
                top = best[k]; winner = at[k];                                                   \
            }                                                                                    \
        for (; t < n; t++) {                                                                     \
            double down = bends ? g[t] + (state[t] > 0.0f ? -epsilon : epsilon) : g[t];          \
            float d = (float)(g_i - down), q = (diagonal[t] + k_ii) - 2.0f * row_i[t];           \
            q = d * d / (q > 0.0f ? q : least_curvature);                                        \
            if (state[t] > -1.0f && d > 0.0f && q >= top) { top = q; winner = t; }               \
        }                                                                                        \
        return winner;                                                                           \
    }

/* Of each twice as many as float64 has lanes: the ratio is of float32 */
IN_EACH_WIDTH(SMO_SECOND, smo_second, vec_f64, half_f64, half_f64)

/* argmax (g_i - g_t)^2 / max(k_ii + k_tt - 2 k_it, tiny) over what may fall and has g_t < g_i;
 * -1 where there is none.  The ratio in float32: it ranks, it does not step. */
static int64_t smo_second(int bends, double epsilon, const double *g, const float *state,
                          const float *diagonal, const float *row_i, double g_i, float k_ii,
                          float least_curvature, int64_t n)
{
    return BY_WIDTH(smo_second, bends, epsilon, g, state, diagonal, row_i, g_i, k_ii, least_curvature, n);
}
#undef NAME

/* row = s_i * sign * (row + offset), in float64 */
EDGESVM_CLONES
static void smo_sign(float *row, const double *sign, double s_i, double offset, int64_t n)
{
    for (int64_t t = 0; t < n; t++) row[t] = (float)(s_i * sign[t] * ((double)row[t] + offset));
}

#undef SMO_STEP
#undef SMO_SECOND
#undef PICK

#endif
