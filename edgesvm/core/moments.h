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
#define WITHIN(clip, z) ((z) < -(clip) ? -(clip) : (z) > (clip) ? (clip) : (z))
/* Whether a value is further from the mean than `most` spreads allow */
#define IS_FAR(delta, spread, most) ((delta) * (delta) > (most) * (spread))

/* Take x, the n-th value, into the moments of a feature, at most as far out as these allow, which is then x; returns
 * whether it is further. A spread of 0 has no scale. Of the first three values, one that the other two are 12 `bound`
 * times as far from as from each other is forgotten: nothing before them says that it is far out. */
static inline int moments_take(double *x, double *mean, double *spread, double n, double share, double bound,
                               double most)
{
    double delta = *x - *mean, half = sqrt(*spread / 2.0);
    int is_far = *spread > 0.0 && IS_FAR(delta, *spread, most);
    if (n == 3.0 && fabs(fabs(delta) - half) * 6.0 * bound < half) {
        *mean = *x;
        *spread = 0.0;
        return is_far;
    }
    if (is_far) {
        delta = copysign(sqrt(most * *spread), delta);
        *x = *mean + delta;
    }
    *mean += delta * share;
    *spread += delta * (*x - *mean);
    return is_far;
}

/* n: values in the moments with x; bound: deviations that count at most; clip: largest |out| */
#define MOMENTS(T, NAME)                                                                           \
    /* Whether a value may be far out: none is, if not */                                          \
    EDGESVM_CLONES                                                                                 \
    static int NAME(moments_may_be_far)(const T *restrict x, const double *restrict mean,          \
                                        const double *restrict spread, double most, int64_t width) \
    {                                                                                              \
        int64_t n_far = 0;                                                                         \
        for (int64_t j = 0; j < width; j++) {                                                      \
            double delta = x[j] - mean[j];                                                         \
            n_far += IS_FAR(delta, spread[j], most);                                               \
        }                                                                                          \
        return n_far > 0;                                                                          \
    }                                                                                              \
    /* out = x by the moments with x among them; returns whether these are finite */               \
    EDGESVM_CLONES                                                                                 \
    static int NAME(moments_next)(const T *restrict x, const double *restrict mean,                \
                                  const double *restrict spread, double n, double bound,           \
                                  double clip, T *restrict out, int64_t width)                     \
    {                                                                                              \
        int64_t n_bad = 0, n_far = n == 3.0;                                                       \
        double share = 1.0 / n, most = bound * bound / (n - 1.0);                                  \
        T end = (T)clip;                                                                           \
        for (int64_t j = 0; j < width; j++) {                                                      \
            double delta = x[j] - mean[j], m = mean[j] + delta * share;                            \
            double s = spread[j] + delta * (x[j] - m), variance = s * share;                       \
            n_bad += !(fabs(s) <= DBL_MAX);                                                        \
            n_far += IS_FAR(delta, spread[j], most);                                               \
            T z = (T)STANDARD(x[j], m, variance);                                                  \
            out[j] = WITHIN(end, z);                                                               \
        }                                                                                          \
        if (n_far == 0) return n_bad == 0;                                                         \
        n_bad = 0;                                                                                 \
        for (int64_t j = 0; j < width; j++) {                                                      \
            double within = x[j], m = mean[j], s = spread[j];                                      \
            moments_take(&within, &m, &s, n, share, bound, most);                                  \
            n_bad += !(fabs(s) <= DBL_MAX);                                                        \
            T z = (T)STANDARD(within, m, s * share);                                               \
            out[j] = WITHIN(end, z);                                                               \
        }                                                                                          \
        return n_bad == 0;                                                                         \
    }                                                                                              \
    /* take x into the moments; returns whether a value of it is far out of them */                \
    EDGESVM_CLONES                                                                                 \
    static int NAME(moments_keep)(const T *restrict x, double *restrict mean,                      \
                                  double *restrict spread, double n, double bound, int64_t width)  \
    {                                                                                              \
        double share = 1.0 / n, most = bound * bound / (n - 1.0);                                  \
        int is_far = 0;                                                                            \
        if (n == 3.0 || NAME(moments_may_be_far)(x, mean, spread, most, width)) {                  \
            for (int64_t j = 0; j < width; j++) {                                                  \
                double within = x[j];                                                              \
                is_far |= moments_take(&within, mean + j, spread + j, n, share, bound, most);      \
            }                                                                                      \
            return is_far;                                                                         \
        }                                                                                          \
        for (int64_t j = 0; j < width; j++) {                                                      \
            double delta = x[j] - mean[j];                                                         \
            mean[j] += delta * share;                                                              \
            spread[j] += delta * (x[j] - mean[j]);                                                 \
        }                                                                                          \
        return 0;                                                                                  \
    }                                                                                              \
    /* Whether a value of x is far out of the moments of n values */                               \
    static int NAME(moments_far)(const T *restrict x, const double *restrict mean,                 \
                                 const double *restrict spread, double n, double bound,            \
                                 int64_t width)                                                    \
    {                                                                                              \
        double most = bound * bound / n;                                                           \
        for (int64_t j = 0; j < width; j++) {                                                      \
            double delta = x[j] - mean[j];                                                         \
            if (spread[j] > 0.0 && IS_FAR(delta, spread[j], most)) return 1;                       \
        }                                                                                          \
        return 0;                                                                                  \
    }                                                                                              \
    /* out = x by the moments of n values */                                                       \
    EDGESVM_CLONES                                                                                 \
    static void NAME(moments_map)(const T *restrict x, const double *restrict mean,                \
                                  const double *restrict spread, double n, double clip,            \
                                  T *restrict out, int64_t width)                                  \
    {                                                                                              \
        double share = 1.0 / n;                                                                    \
        T end = (T)clip;                                                                           \
        for (int64_t j = 0; j < width; j++) {                                                      \
            double variance = spread[j] * share;                                                   \
            T z = (T)STANDARD(x[j], mean[j], variance);                                            \
            out[j] = WITHIN(end, z);                                                               \
        }                                                                                          \
    }

#define MOMENTS_F32(stem) stem##_f32
#define MOMENTS_F64(stem) stem##_f64
MOMENTS(float, MOMENTS_F32)
MOMENTS(double, MOMENTS_F64)

#endif
