/* One column of Bierman's update of a covariance U D U' (1976): u += less b, b += more u of before. */
#ifndef EDGESVM_BIERMAN_H
#define EDGESVM_BIERMAN_H

#include "lanes.h"

#define BIERMAN_COLUMN(name, T)                                                                    \
    EDGESVM_CLONES                                                                                 \
    static void name(T *restrict u, T *restrict b, T less, T more, int64_t n)                      \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T before = u[i];                                                                       \
            u[i] = before + less * b[i];                                                           \
            b[i] += more * before;                                                                 \
        }                                                                                          \
    }

BIERMAN_COLUMN(bierman_column_f32, float)
BIERMAN_COLUMN(bierman_column_f64, double)

#endif
