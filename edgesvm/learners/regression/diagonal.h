/* One step of a vector of weights along the features, each weight by its own sum of squares (diagonal AdaGrad):
 * squares += (g f)^2,  w += rate g f / sqrt(squares) */
#ifndef EDGESVM_DIAGONAL_H
#define EDGESVM_DIAGONAL_H

#include <math.h>

#include "lanes.h"

#define STEP_DIAGONAL(name, T, ROOT)                                                               \
    EDGESVM_CLONES                                                                                 \
    static void name(T *restrict w, T *restrict squares, const T *restrict f, T g, T rate, int64_t n) \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T slope = g * f[i], sum = squares[i] + slope * slope;                                  \
            squares[i] = sum;                                                                      \
            w[i] += sum > 0 ? rate * slope / ROOT(sum) : 0;                                        \
        }                                                                                          \
    }

STEP_DIAGONAL(step_diagonal_f32, float, sqrtf)
STEP_DIAGONAL(step_diagonal_f64, double, sqrt)

#endif
