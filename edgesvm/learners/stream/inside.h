/* A test of points of weight 1, four at a time, that needs no root and no division: whether they are
 * inside a ball however it is rounded. */
#ifndef EDGESVM_INSIDE_H
#define EDGESVM_INSIDE_H

#include <float.h>
#include <string.h>

#include "lanes.h"

/* A part of what is compiled for several targets */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

typedef int64_t quarter_i64 __attribute__((vector_size(16)));

typedef struct {
    int normalized;     /* |z|^2 is the same for all z */
    double cc;          /* |c|^2 */
    double own;         /* 1/C, the squared length of a point's own axis */
    double RR;          /* R^2 */
    int towards;        /* whether a point must be on the centre's side */
    double bar;         /* of (w.x)^2 / |x|^2 */
    double least, most; /* of |x|^2 */
} SureInside;

/* Which of two are: only if `check_point` and `move_towards` would say so; NaN is not. `along` is w.x
 * and `norm` |x|^2, of classes `slots`. In vectors from the beginning: numbers that are written one by
 * one and read together are waited for. Of 16 bytes: wider ones are taken apart where the target has
 * none. */
ALWAYS_INLINE quarter_i64 surely_inside(const SureInside *test, quarter_f64 along, quarter_f64 norm,
                                        const signed char *slots)
{
    quarter_i64 in = norm <= test->most, flip = {slots[0] ^ 1, slots[1] ^ 1};
    along = (quarter_f64)((quarter_i64)along ^ flip << 63);     /* y w.x */
    if (test->normalized) {
        quarter_f64 product = along * along, level = test->bar * norm;
        in &= (norm >= test->least) & (product <= test->most);
        in &= test->towards ? (along > 0.0) & (product >= level)
                            : (along >= 0.0) | (product <= level);
    } else {
        quarter_f64 square = norm + test->own;
        in &= (along <= DBL_MAX) & (along >= -DBL_MAX);
        in &= test->cc - 2.0 * along + square <= test->RR;
    }
    return in;
}

/* How many of four, from the first on */
ALWAYS_INLINE int n_leading(quarter_i64 first, quarter_i64 second)
{
    quarter_i64 both = first & second;
    if (both[0] & both[1])
        return 4;
    return !first[0] ? 0 : !first[1] ? 1 : !second[0] ? 2 : 3;
}

/* How many of four rows are inside, from the first on: by their products with w and themselves, and
 * the weight of the constant feature 1; `one` is 0 if there is none. */
EDGESVM_CLONES
static int n_inside_f32(const SureInside *test, const float *xw, const float *xx, float constant,
                               double one, const signed char *slots)
{
    quarter_i64 in[2];
    quarter_f32 sum;
    memcpy(&sum, xw, sizeof sum);
    sum += constant;
    for (int i = 0; i < 2; i++) {
        quarter_f64 along = {sum[2 * i], sum[2 * i + 1]}, norm = {xx[2 * i], xx[2 * i + 1]};
        in[i] = surely_inside(test, along, norm + one, slots + 2 * i);
    }
    return n_leading(in[0], in[1]);
}

EDGESVM_CLONES
static int n_inside_f64(const SureInside *test, const double *xw, const double *xx,
                               double constant, double one, const signed char *slots)
{
    quarter_i64 in[2];
    for (int i = 0; i < 2; i++) {
        quarter_f64 along, norm;
        memcpy(&along, xw + 2 * i, sizeof along);
        memcpy(&norm, xx + 2 * i, sizeof norm);
        in[i] = surely_inside(test, along + constant, norm + one, slots + 2 * i);
    }
    return n_leading(in[0], in[1]);
}

#undef ALWAYS_INLINE

#endif
