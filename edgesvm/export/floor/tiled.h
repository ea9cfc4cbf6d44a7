/* Kernel values of rows in tiles, as core/tiles.h, a row at a time. Included by floor.h.
 *
 * A tile is LANES rows, transposed. A row's sum runs over its features in order, in its own type;
 * what is zero in both adds +0, so that nothing need be known about where (`present` is NULL). */
#ifndef EDGESVM_TILED_H
#define EDGESVM_TILED_H

#define TILES_WORDS(width) (((width) + 63) / 64)
#define tiles_note_row_f32(x, width, present) (void)(present)
#define tiles_note_row_f64(x, width, present) (void)(present)

ESVM_STATIC int64_t tiles_next(const uint64_t *present, int64_t width, int64_t d) {
    (void)present, (void)width;
    return d;
}

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

/* A row of a tile, at `row`, whose features are LANES apart, and x; a whole tile. */
#define ESVM_MOVED(T, LANES, SUFFIX)                                                       \
    ESVM_STATIC void tiles_put_##SUFFIX(                                                   \
        T *row, const uint64_t *present, int64_t width, const T *x) {                      \
        esvm_index d;                                                                      \
        (void)present;                                                                     \
        for (d = 0; d < (esvm_index)width; d++) row[d * LANES] = x[d];                     \
    }                                                                                      \
    ESVM_STATIC void tiles_get_##SUFFIX(                                                   \
        const T *row, const uint64_t *present, int64_t width, T *x) {                      \
        esvm_index d;                                                                      \
        (void)present;                                                                     \
        for (d = 0; d < (esvm_index)width; d++) x[d] = row[d * LANES];                     \
    }                                                                                      \
    ESVM_STATIC void tiles_wipe_##SUFFIX(                                                  \
        T *tile, const uint64_t *present, int64_t width) {                                 \
        (void)present;                                                                     \
        memset(tile, 0, (size_t)width * LANES * sizeof(T));                                \
    }
ESVM_MOVED(float, 16, f32)
ESVM_MOVED(double, 8, f64)

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
    ESVM_STATIC void tiles_kernel_##SUFFIX(                                                \
        int kind, double gamma, double coef0, int degree, const T *x, const T *tile,       \
        const uint64_t *present, esvm_index width, esvm_index n_tiles, float *out) {       \
        esvm_index t;                                                                      \
        (void)present;                                                                     \
        for (t = 0; t < n_tiles * LANES; t++)                                              \
            out[t] = (float)tiles_value_##SUFFIX(                                          \
                kind, gamma, coef0, degree, x, ESVM_ROW(tile, LANES, t), width, LANES);    \
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

/* beta *= keep; f = keep f + gain sign (row + 1); argmin f, the first of equals:
 * learners/papers/enclosing/ball_pass.h */
ESVM_STATIC int64_t ball_pass(
    double *beta, double *f, const double *sign, const float *row, double keep, double gain,
    int64_t n) {
    double least = ESVM_INFINITY;
    esvm_index t, first = -1;
    for (t = 0; t < (esvm_index)n; t++) {
        beta[t] *= keep;
        f[t] = f[t] * keep + sign[t] * ((double)row[t] + 1.0) * gain;
        if (f[t] < least) {
            least = f[t];
            first = t;
        }
    }
    return first;
}

/* learners/twin/twin_passes.h; no kernel values are kept on the stack */
#define TWIN_KEPT 1

ESVM_STATIC void twin_add(double a, const double *x, double *y, esvm_index n) {
    for (; n > 0; n--) *y++ += a * *x++;
}

ESVM_STATIC void twin_add_rows(
    const double *a, const double *x, esvm_index stride, esvm_index m, double *y, esvm_index n) {
    for (; m > 0; m--, x += stride) twin_add(*a++, x, y, n);
}

ESVM_STATIC double twin_weigh(
    double s, const double *minus, const double *plus, esvm_index n, double most, double *row) {
    esvm_index j;
    for (j = 0; j < n; j++) {
        double v = minus[j] + plus[j];
        row[j] *= s * v / (s + v);
        if (row[j] < most) most = row[j];
    }
    return most;
}

/* whether a bound is of a twin above the boundary: it is not negative, and not -0 */
ESVM_STATIC int twin_is_above(double bound) {
    int64_t bits;
    memcpy(&bits, &bound, sizeof bits);
    return bits >= 0;
}

ESVM_STATIC double twin_lower(
    const double *row, const double *minus, const double *plus, esvm_index n, int above,
    double most, double *bound) {
    esvm_index j;
    for (j = 0; j < n; j++)
        if (minus[j] + plus[j] > 0.0 && twin_is_above(bound[j]) == !!above) {
            if (row[j] < fabs(bound[j])) bound[j] = above ? row[j] : -row[j];
            if (row[j] < most) most = row[j];
        }
    return most;
}

ESVM_STATIC esvm_index twin_moved(
    const double *bound, const double *g, esvm_index j, esvm_index n) {
    while (j < n && (g[j] > 0.0) == twin_is_above(bound[j])) j++;
    return j;
}

ESVM_STATIC esvm_index twin_below(const double *row, esvm_index j, esvm_index n, double most) {
    while (j < n && !(fabs(row[j]) < most)) j++;
    return j;
}

ESVM_STATIC esvm_index twin_farthest(const double *g, esvm_index n) {
    esvm_index j, k = 0;
    for (j = 1; j < n; j++)
        if (fabs(g[j]) > fabs(g[k])) k = j;
    return k;
}

ESVM_STATIC void twin_offsets(
    const double *g, const int8_t *state, const double *minus, const double *plus, double mu,
    esvm_index n, double *off) {
    esvm_index j;
    for (j = 0; j < n; j++) {
        double low = g[j] + mu, high = g[j] - mu;
        int s = state[j];
        if (s == 1 || s == 3) off[j] = s == 1 ? low : high;
        else if (s == 0) off[j] = low > 0.0 ? low : 0.0;
        else if (s == 4) off[j] = high < 0.0 ? high : 0.0;
        else if (g[j] > mu && plus[j] > 0.0) off[j] = high;
        else off[j] = g[j] < -mu && minus[j] > 0.0 ? low : 0.0;
    }
}

ESVM_STATIC esvm_index twin_near(
    const double *g, const double *rate, const double *off, const int8_t *state, esvm_index j,
    esvm_index n, double mu, double d_mu, double rest, double tolerance) {
    for (; j < n; j++)
        if (state[j] % 2 == 0 && !(fabs(fabs(g[j]) - mu) > rest *
                (fabs(rate[j]) + d_mu + 2.0 * fabs(off[j])) + tolerance))
            break;
    return j;
}

#define twin_add_blocks(kind, gamma, vectors, width, S, a, p, m, y, n) (p)

ESVM_STATIC int64_t twin_nearest(
    const double *row, const double *g, esvm_index n, int side, double most) {
    esvm_index j, first = -1;
    for (j = 0; j < n; j++)
        if (row[j] < most && (side < 0 || (g[j] > 0.0) == side)) {
            most = row[j];
            first = j;
        }
    return first;
}

#endif
