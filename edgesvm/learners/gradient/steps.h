/* One step of a vector of weights along the features, and of the mean of the weights on the way:
 * w += step * f,  mean += share * (w - mean) */
#ifndef EDGESVM_STEPS_H
#define EDGESVM_STEPS_H

#include "lanes.h"

#define STEP_BOTH(name, T)                                                                         \
    EDGESVM_CLONES                                                                                 \
    static void name(T *restrict w, T *restrict mean, const T *restrict f, T step, T share, int64_t n) \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            w[i] += step * f[i];                                                                   \
            mean[i] += share * (w[i] - mean[i]);                                                   \
        }                                                                                          \
    }

STEP_BOTH(step_both_f32, float)
STEP_BOTH(step_both_f64, double)

#endif
