/* The pass of a ball vector machine's update over its core set, some at a time.
 *
 * Nothing is added across lanes, and of equals the first is taken, so every width gives the same bits.
 */
#ifndef EDGESVM_BALL_PASS_H
#define EDGESVM_BALL_PASS_H

#include <math.h>

#include "lanes.h"

#define BALL_PASS(name, VEC)                                                        \
    static int64_t name(double *beta, double *f, const double *sign, const float *row, double keep, \
                        double gain, int64_t n)                                     \
    {                                                                               \
        enum { WIDE = sizeof(VEC) / sizeof(double) };                               \
        typedef int64_t MASK __attribute__((vector_size(sizeof(VEC))));             \
        typedef float FLOATS __attribute__((vector_size(sizeof(VEC) / 2)));         \
        VEC low = {0};                                                              \
        MASK at = {0}, here;                                                        \
        double least = INFINITY;                                                    \
        int64_t t = 0, first = -1;                                                  \
        EDGESVM_CHECK(n >= 0);                                                      \
        low += INFINITY; at -= 1;                                                   \
        for (int k = 0; k < WIDE; k++) here[k] = k;                                 \
        for (; t + WIDE <= n; t += WIDE) {                                          \
            FLOATS k;                                                               \
            VEC b, v, s;                                                            \
            MASK better;                                                            \
            memcpy(&k, row + t, sizeof k); memcpy(&b, beta + t, sizeof b);          \
            memcpy(&v, f + t, sizeof v); memcpy(&s, sign + t, sizeof s);            \
            b *= keep;                                                              \
            v = v * keep + s * (__builtin_convertvector(k, VEC) + 1.0) * gain;      \
            memcpy(beta + t, &b, sizeof b); memcpy(f + t, &v, sizeof v);            \
            better = (MASK)(v < low);                                               \
            low = (VEC)((better & (MASK)v) | (~better & (MASK)low));                \
            at = (better & here) | (~better & at);                                  \
            here += WIDE;                                                           \
        }                                                                           \
        for (int k = 0; k < WIDE; k++)                                              \
            if (at[k] >= 0 && (low[k] < least || (low[k] == least && at[k] < first))) { \
                least = low[k]; first = at[k];                                      \
            }                                                                       \
        for (; t < n; t++) {                                                        \
            beta[t] *= keep;                                                        \
            f[t] = f[t] * keep + sign[t] * ((double)row[t] + 1.0) * gain;           \
            if (f[t] < least) { least = f[t]; first = t; }                          \
        }                                                                           \
        return first;                                                               \
    }

#define NAME(stem) stem
IN_EACH_WIDTH(BALL_PASS, ball_pass, vec_f64, half_f64, quarter_f64)

/* beta *= keep;  f = keep * f + gain * sign * (row + 1);  argmin f, the first of equals */
static int64_t ball_pass(double *beta, double *f, const double *sign, const float *row, double keep,
                         double gain, int64_t n)
{
    return BY_WIDTH(ball_pass, beta, f, sign, row, keep, gain, n);
}
#undef NAME
#undef BALL_PASS

#endif
