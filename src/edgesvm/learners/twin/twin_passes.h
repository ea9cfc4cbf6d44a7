/* Passes over all twins, four at a time. No number is a sum over twins, so any width gives the same
 * bits. A twin's weight is minus + plus.
 */
#ifndef EDGESVM_TWIN_PASSES_H
#define EDGESVM_TWIN_PASSES_H

#include "lanes.h"

typedef int64_t mask_half __attribute__((vector_size(32)));

#define PICK_F64(m, a, b) ((half_f64)(((m) & (mask_half)(a)) | (~(m) & (mask_half)(b))))

/* y += a x */
EDGESVM_CLONES
static void twin_add(double a, const double *x, double *y, int64_t n)
{
    int64_t j = 0;
    for (; j + 4 <= n; j += 4) {
        half_f64 u, v;
        memcpy(&u, x + j, 32); memcpy(&v, y + j, 32);
        v += a * u;
        memcpy(y + j, &v, 32);
    }
    for (; j < n; j++) y[j] += a * x[j];
}

/* row[j] *= s s_j / (s + s_j), with the weights s_j; the least of `most` and these */
EDGESVM_CLONES
static double twin_weigh(double s, const double *minus, const double *plus, int64_t n, double most,
                         double *row)
{
    half_f64 least = {0};
    int64_t j = 0;
    least += most;
    for (; j + 4 <= n; j += 4) {
        half_f64 u, v, d;
        memcpy(&u, minus + j, 32); memcpy(&v, plus + j, 32); memcpy(&d, row + j, 32);
        v += u;
        d *= s * v / (s + v);
        least = PICK_F64((mask_half)(d < least), d, least);
        memcpy(row + j, &d, 32);
    }
    for (int k = 0; k < 4; k++)
        if (least[k] < most) most = least[k];
    for (; j < n; j++) {
        double v = minus[j] + plus[j];
        row[j] *= s * v / (s + v);
        if (row[j] < most) most = row[j];
    }
    return most;
}

/* bound[j] = min(bound[j], row[j]) where twin j has weight; the least of `most` and these of row */
EDGESVM_CLONES
static double twin_lower(const double *row, const double *minus, const double *plus, int64_t n,
                         double most, double *bound)
{
    half_f64 least = {0}, none, u, v, d, b;
    int64_t j = 0;
    least += most;
    none = least;
    for (; j + 4 <= n; j += 4) {
        memcpy(&u, minus + j, 32); memcpy(&v, plus + j, 32);
        memcpy(&d, row + j, 32); memcpy(&b, bound + j, 32);
        d = PICK_F64((mask_half)(u + v > 0.0), d, none);
        b = PICK_F64((mask_half)(d < b), d, b);
        least = PICK_F64((mask_half)(d < least), d, least);
        memcpy(bound + j, &b, 32);
    }
    for (int k = 0; k < 4; k++)
        if (least[k] < most) most = least[k];
    for (; j < n; j++)
        if (minus[j] + plus[j] > 0.0) {
            if (row[j] < bound[j]) bound[j] = row[j];
            if (row[j] < most) most = row[j];
        }
    return most;
}

#undef PICK_F64

#endif
