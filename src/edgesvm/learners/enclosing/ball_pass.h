/* The pass of a ball vector machine's update over its core set, eight at a time.
 *
 * Nothing is added across lanes, so every target gives the same bits.
 */
#ifndef EDGESVM_BALL_PASS_H
#define EDGESVM_BALL_PASS_H

#include <math.h>

#include "lanes.h"

/* beta *= keep;  f = keep * f + gain * sign * (row + 1);  argmin f, the first of equals */
EDGESVM_CLONES
static int64_t ball_pass(double *beta, double *f, const double *sign, const float *row, double keep,
                         double gain, int64_t n)
{
    vec_f64 low = {0};
    mask_f64 at = {0}, here = {0, 1, 2, 3, 4, 5, 6, 7};
    double least = INFINITY;
    int64_t t = 0, first = -1;
    EDGESVM_CHECK(n >= 0);
    low += INFINITY; at -= 1;
    for (; t + 8 <= n; t += 8) {
        half_f32 k;
        vec_f64 b, v, s;
        mask_f64 better;
        memcpy(&k, row + t, 32); memcpy(&b, beta + t, 64);
        memcpy(&v, f + t, 64); memcpy(&s, sign + t, 64);
        b *= keep;
        v = v * keep + s * (__builtin_convertvector(k, vec_f64) + 1.0) * gain;
        memcpy(beta + t, &b, 64); memcpy(f + t, &v, 64);
        better = (mask_f64)(v < low);
        low = (vec_f64)((better & (mask_f64)v) | (~better & (mask_f64)low));
        at = (better & here) | (~better & at);
        here += 8;
    }
    for (int k = 0; k < 8; k++)
        if (at[k] >= 0 && (low[k] < least || (low[k] == least && at[k] < first))) {
            least = low[k]; first = at[k];
        }
    for (; t < n; t++) {
        beta[t] *= keep;
        f[t] = f[t] * keep + sign[t] * ((double)row[t] + 1.0) * gain;
        if (f[t] < least) { least = f[t]; first = t; }
    }
    return first;
}

#endif
