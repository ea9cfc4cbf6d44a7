/* Decisions of a kernel machine, a sum over its vectors, to the bit: by ESVM_SUM as core/sums_of.h, as
 * learners/twin/_adiabatic.pyx, or one after the other. Included by a NAME.c, which defines ESVM_NAME(f), the tables
 * NAME_rows and NAME_coef, and what export/dual.py names. */
enum { ESVM_TILES, ESVM_TWINS, ESVM_IN_ROWS, ESVM_IN_LANES };
enum { ESVM_BLOCK_ROWS = 64 }; /* as core/tiles.pxd */
#if ESVM_KIND != 1 || ESVM_WIDE || ESVM_SUM
#include "kernels.h"
#include "rows.h"
ESVM_STATIC const kernels_Kernel ESVM_NAME(kernel) = {
    (kernels_KernelKind)ESVM_KIND, ESVM_DEGREE, ESVM_GAMMA, ESVM_COEF0};
#endif

/* Whether a sample is too large for a decision */
ESVM_STATIC int ESVM_NAME(refuses)(const esvm_real *x) {
    return !esvm_is_finite((double)ESVM_TYPED(lanes_dot)(x, x, ESVM_FEATURES));
}

#if ESVM_SUM == 1
ESVM_STATIC double ESVM_NAME(value_of)(const esvm_real *x) {
    double k[128], g = 0.0;
    esvm_index i, n;
    for (i = 0; i < ESVM_VECTORS; i += n) {
        n = ESVM_VECTORS - i < 128 ? ESVM_VECTORS - i : 128;
        rows_any_kernel_values(
            &ESVM_NAME(kernel), x, ESVM_NAME(rows) + i * ESVM_FEATURES, ESVM_FEATURES, n, k);
        g += lanes_dot_f64(k, ESVM_NAME(coef) + i, n);
    }
    return ESVM_DIVIDE(g + ESVM_INTERCEPT, ESVM_MU);
}
#elif ESVM_SUM
/* One after the other */
ESVM_STATIC double ESVM_NAME(value_of)(const esvm_real *x) {
    const esvm_real *row = ESVM_NAME(rows);
    double f = 0.0, k;
    esvm_index i;
    for (i = 0; i < ESVM_VECTORS; i++, row += ESVM_FEATURES) {
        if (ESVM_SUM == ESVM_IN_ROWS)
            rows_any_kernel_values(&ESVM_NAME(kernel), x, row, ESVM_FEATURES, 1, &k);
        else k = kernels_any_kernel_value(&ESVM_NAME(kernel), x, row, ESVM_FEATURES);
        f += ESVM_NAME(coef)[i] * k;
    }
    return f;
}
#else
#if ESVM_WIDE
/* Kernel values in float64, a sum in lanes of each block of BLOCK_ROWS, as `weighted_kernel_f64` */
ESVM_STATIC double ESVM_NAME(wide_value_of)(const esvm_real *x) {
    const esvm_real *row = ESVM_NAME(rows);
    double k[ESVM_BLOCK_ROWS], total = 0.0;
    esvm_index i, j, n, d;
    for (i = 0; i < ESVM_VECTORS; i += n) {
        n = ESVM_VECTORS - i < ESVM_BLOCK_ROWS ? ESVM_VECTORS - i : ESVM_BLOCK_ROWS;
        for (j = 0; j < n; j++) {
            double sum = 0.0, u;
            for (d = 0; d < ESVM_FEATURES; d++) {
                u = (double)*row++;
                if (ESVM_KIND == 1) {
                    u -= (double)x[d];
                    sum += u * u;
                } else sum += u * (double)x[d];
            }
            k[j] = sum;
        }
#if ESVM_KIND == 1
        tiles_exp_f64(-ESVM_GAMMA, k, n);
#else
        tiles_kernel_of_sums(&ESVM_NAME(kernel), k, n);
#endif
        total += lanes_dot_f64(ESVM_NAME(coef) + i, k, n);
    }
    return ESVM_INTERCEPT + total;
}
#endif
#if ESVM_WIDE != 1
/* In the type of the rows; row i is in the sum i % 8 */
ESVM_STATIC double ESVM_NAME(value_of)(const esvm_real *x) {
    const esvm_real *row = ESVM_NAME(rows);
    double s[8] = {0};
    esvm_index i, j;
#if ESVM_WIDE == 2
    if (ESVM_NOISE * esvm_sqrt(kernels_any_kernel_value(&ESVM_NAME(kernel), x, x, ESVM_FEATURES))
        > ESVM_MOST_NOISE)
        return ESVM_NAME(wide_value_of)(x);
#endif
    for (i = 0; i < ESVM_VECTORS; i++, row += ESVM_FEATURES)
        s[i % 8] += ESVM_NAME(coef)[i]
                    * (double)ESVM_TYPED(tiles_value)(
                        ESVM_KIND, ESVM_GAMMA, ESVM_COEF0, ESVM_DEGREE, x, row, ESVM_FEATURES, 1);
    for (i = 4; i; i /= 2)
        for (j = 0; j < i; j++) s[j] += s[j + i];
    return ESVM_INTERCEPT + s[0];
}
#else
#define ESVM_VALUE_OF ESVM_NAME(wide_value_of)
#endif
#endif
#ifndef ESVM_VALUE_OF
#define ESVM_VALUE_OF ESVM_NAME(value_of)
#endif

int ESVM_NAME(decide)(const ESVM_NAME(value) *x, double *values) {
#if ESVM_SCALED || ESVM_NORMALIZED
    esvm_real changed[ESVM_FEATURES];
    esvm_index j;
#endif
#if ESVM_STANDS_NAN
    for (j = 0; j < ESVM_FEATURES; j++)
        changed[j] = x[j] != x[j] ? (esvm_real)ESVM_NAME(center)[j] : x[j];
    x = changed;
#endif
    if (ESVM_NAME(refuses)(x)) return -1;
#if ESVM_SCALED
    for (j = 0; j < ESVM_FEATURES; j++) {
        double scale = ESVM_NAME(scale)[j];
        double from = (double)x[j] - ESVM_NAME(center)[j];
        double z = scale > 0.0 ? ESVM_DIVIDE(from, scale) : 0.0;
        changed[j] = (esvm_real)ESVM_WITHIN(ESVM_CLIP, z);
    }
    x = changed;
    if (ESVM_NAME(refuses)(x)) return -1;
#endif
#if ESVM_NORMALIZED
    {
        double xx = (double)ESVM_TYPED(lanes_dot)(x, x, ESVM_FEATURES);
        double scale = xx > 0.0 ? ESVM_DIVIDE(1.0, esvm_sqrt(xx)) : 1.0;
        for (j = 0; j < ESVM_FEATURES; j++) changed[j] = (esvm_real)((double)x[j] * scale);
        x = changed;
    }
#elif ESVM_KIND != 1
    if (ESVM_SUM == ESVM_TWINS)
        rows_any_kernel_values(&ESVM_NAME(kernel), x, x, ESVM_FEATURES, 1, values);
    else values[0] = kernels_any_kernel_value(&ESVM_NAME(kernel), x, x, ESVM_FEATURES);
    if (!(values[0] <= ESVM_LARGEST_NORM)) return -1;
#endif
    values[0] = ESVM_VALUE_OF(x);
    if (ESVM_SUM != ESVM_TWINS && !esvm_is_finite(values[0])) return -1;
#ifdef ESVM_LARGEST_VALUE
    if (!(fabs(values[0]) <= ESVM_LARGEST_VALUE)) return -1;
#endif
#if ESVM_SUM > 1 && ESVM_HAS_INTERCEPT
    values[0] += ESVM_INTERCEPT;
#endif
    values[0] *= ESVM_SIGN;
    return 0;
}
