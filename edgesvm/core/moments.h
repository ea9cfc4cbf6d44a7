/* A row by the running means and spreads of its features (moments.pxd), which are looked at feature
 * by feature: so every clone gives the same bits.
 */
#ifndef EDGESVM_MOMENTS_H
#define EDGESVM_MOMENTS_H

#include <float.h>
#include <math.h>

#include "lanes.h"

/* (x - mean) / sqrt(variance), 0 for a feature that has not varied */
#define STANDARD(x, mean, variance) ((variance) > 0.0 ? ((x) - (mean)) / sqrt(variance) : 0.0)

#define MOMENTS(T, NAME)                                                                           \
    /* out = x by the moments with x among them; returns whether these are finite */               \
    EDGESVM_CLONES                                                                                 \
    static int NAME(moments_next)(const T *restrict x, const double *restrict mean,                \
                                  const double *restrict spread, double share, T *restrict out,    \
                                  int64_t n)                                                       \
    {                                                                                              \
        int64_t n_bad = 0;                                                                         \
        for (int64_t j = 0; j < n; j++) {                                                          \
            double delta = x[j] - mean[j], m = mean[j] + delta * share;                            \
            double s = spread[j] + delta * (x[j] - m), variance = s * share;                       \
            n_bad += !(fabs(s) <= DBL_MAX);                                                        \
            out[j] = (T)STANDARD(x[j], m, variance);                                               \
        }                                                                                          \
        return n_bad == 0;                                                                         \
    }                                                                                              \
    /* take x into the moments */                                                                  \
    EDGESVM_CLONES                                                                                 \
    static void NAME(moments_keep)(const T *restrict x, double *restrict mean,                     \
                                   double *restrict spread, double share, int64_t n)               \
    {                                                                                              \
        for (int64_t j = 0; j < n; j++) {                                                          \
            double delta = x[j] - mean[j];                                                         \
            mean[j] += delta * share;                                                              \
            spread[j] += delta * (x[j] - mean[j]);                                                 \
        }                                                                                          \
    }                                                                                              \
    /* out = x by the moments as they are */                                                       \
    EDGESVM_CLONES                                                                                 \
    static void NAME(moments_map)(const T *restrict x, const double *restrict mean,                \
                                  const double *restrict spread, double share, T *restrict out,    \
                                  int64_t n)                                                       \
    {                                                                                              \
        for (int64_t j = 0; j < n; j++) {                                                          \
            double variance = spread[j] * share;                                                   \
            out[j] = (T)STANDARD(x[j], mean[j], variance);                                         \
        }                                                                                          \
    }

#define MOMENTS_F32(stem) stem##_f32
#define MOMENTS_F64(stem) stem##_f64
MOMENTS(float, MOMENTS_F32)
MOMENTS(double, MOMENTS_F64)

#endif
