/* Kernel values of rows in tiles, as core/sums_of.h, a row at a time. Included by floor.h.
 *
 * A tile is LANES rows, transposed. A row's sum runs over its features in order, in its own type;
 * what is zero in both adds +0, so that nothing need be known about where (`present` is NULL). */
#ifndef EDGESVM_TILED_H
#define EDGESVM_TILED_H

/* exp(v), v <= 0: the nearest whole number by adding 1.5 * 2^23 */
ESVM_STATIC float tiles_exp_of_f32(float v) {
    static const float c[8] = {1.9841270e-4f, 1.3888889e-3f, 8.3333333e-3f, 4.1666667e-2f,
                               1.6666667e-1f, 0.5f,          1.0f,          1.0f};
    float t = v * 1.4426950408889634f + 12582912.0f, k = t - 12582912.0f, p = c[0], power;
    float r = (v - k * 0.693359375f) - k * -2.12194440e-4f;
    uint32_t bits;
    int i;
    memcpy(&bits, &t, 4);
    bits = (bits << 23) + ((uint32_t)127 << 23);
    memcpy(&power, &bits, 4);
    for (i = 1; i < 8; i++) p = p * r + c[i];
    return v > -87.0f ? p * power : 0.0f;
}

/* row t of tiles */
#define ESVM_ROW(tile, LANES, t) ((tile) + (t) / LANES * LANES * width + (t) % LANES)
#define ESVM_TILED(T, LANES, SUFFIX)                                                       \
    /* of a product, or of a squared distance; kind as KernelKind of core/kernels.pxd */   \
    ESVM_STATIC T tiles_of_sum_##SUFFIX(                                                   \
        int kind, double gamma, double coef0, int degree, T sum) {                         \
        T power = 1;                                                                       \
        if (kind == 1) return tiles_exp_of_##SUFFIX(sum * -(T)gamma);                      \
        if (kind == 0) return sum;                                                         \
        sum = sum * (T)gamma + (T)coef0;                                                   \
        for (; degree; degree >>= 1) {                                                     \
            if (degree & 1) power *= sum;                                                  \
            sum *= sum;                                                                    \
        }                                                                                  \
        return power;                                                                      \
    }                                                                                      \
    /* k(x, row), whose features are `apart` numbers from each other */                    \
    ESVM_STATIC T tiles_value_##SUFFIX(                                                    \
        int kind, double gamma, double coef0, int degree, const T *x, const T *row,        \
        esvm_index width, esvm_index apart) {                                              \
        T sum = 0, u;                                                                      \
        esvm_index d;                                                                      \
        for (d = 0; d < width; d++, row += apart)                                          \
            if (kind == 1) {                                                               \
                u = *row - x[d];                                                           \
                sum += u * u;                                                              \
            } else sum += *row * x[d];                                                     \
        return tiles_of_sum_##SUFFIX(kind, gamma, coef0, degree, sum);                     \
    }                                                                                      \
    ESVM_STATIC double tiles_weighted_##SUFFIX(                                            \
        int kind, double gamma, double coef0, int degree, const T *x, const T *tile,       \
        const uint64_t *present, esvm_index width, esvm_index n_tiles,                     \
        const double *weight) {                                                            \
        double s[8] = {0};                                                                 \
        esvm_index t;                                                                      \
        (void)present;                                                                     \
        for (t = 0; t < n_tiles * LANES; t++)                                              \
            s[t % 8] += weight[t] * (double)tiles_value_##SUFFIX(                          \
                kind, gamma, coef0, degree, x, ESVM_ROW(tile, LANES, t), width, LANES);    \
        return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));          \
    }
ESVM_TILED(float, 16, f32)
ESVM_TILED(double, 8, f64)

#define TWIN_KEPT 1 /* no kernel values are kept on the stack */

#endif
