/* core/waves_of.h and the steps of core/sums_of.h, a number at a time. Included by floor.h. */
#ifndef EDGESVM_WAVES_H
#define EDGESVM_WAVES_H

ESVM_STATIC uint32_t esvm_mixed(uint32_t h) {
    h = (h ^ h >> 16) * 0x7FEB352Du;
    h = (h ^ h >> 15) * 0x846CA68Bu;
    return h ^ h >> 16;
}

/* Turns in 1/65536, of which only the low 16 bits count: the nearest whole number of those, by
 * adding 1.5 times the first number whose neighbours are 1 apart. */
ESVM_STATIC int16_t esvm_angle_f32(float turns) {
    int32_t bits;
    float rest = turns - ((turns + 12582912.0f) - 12582912.0f);
    rest = rest * 65536.0f + 12582912.0f;
    memcpy(&bits, &rest, 4);
    return (int16_t)bits;
}

ESVM_STATIC int16_t esvm_angle_f64(double turns) {
    double rest = turns - ((turns + 6755399441055744.0) - 6755399441055744.0);
    return (int16_t)esvm_bits_of(rest * 65536.0 + 6755399441055744.0);
}

#define ESVM_WAVES(T, L, SUFFIX)                                                                \
    ESVM_STATIC void waves_angles_##SUFFIX(                                                     \
        const T *x, int n_rows, esvm_index width, uint32_t key, const double *scale,            \
        esvm_index first, esvm_index n, int16_t *angle, esvm_index apart) {                     \
        esvm_index p, d;                                                                        \
        for (; n_rows > 0; n_rows--, x += width, angle += apart)                                \
            for (p = 0; p < n; p++) {                                                           \
                uint32_t row = (uint32_t)(first + p) * 0x9E3779B1u + key;                       \
                T sum = 0;                                                                      \
                for (d = 0; d < width; d++) {                                                   \
                    uint32_t h = esvm_mixed(row + (uint32_t)d * 0x85EBCA6Bu);                   \
                    h = (h & 0x00FF00FFu) + (h >> 8 & 0x00FF00FFu);                             \
                    sum += (T)((int32_t)((h & 0xFFFFu) + (h >> 16)) - 510) * x[d];              \
                }                                                                               \
                angle[p] = esvm_angle_##SUFFIX(sum * (T)scale[p % 4]);                          \
            }                                                                                   \
    }                                                                                           \
    ESVM_STATIC void waves_mixed_##SUFFIX(                                                      \
        const T *x, esvm_index width, uint32_t key, const double *scale, esvm_index d,          \
        esvm_index block, esvm_index n, T *v, int16_t *angle) {                                 \
        esvm_index i, j, h, round;                                                              \
        memcpy(v, x, (size_t)width * sizeof(T));                                                \
        memset(v + width, 0, (size_t)(d - width) * sizeof(T));                                  \
        for (round = 3 * block; round < 3 * block + 3; round++) {                               \
            uint32_t key_of_round = (uint32_t)round * 0x9E3779B1u + key;                        \
            for (i = 0; i < d; i++)                                                             \
                if (esvm_mixed(key_of_round + (uint32_t)(i / 32) * 0x85EBCA6Bu) >> i % 32 & 1)  \
                    v[i] = -v[i];                                                               \
            for (h = 1; h < d; h *= 2)                                                          \
                for (i = 0; i < d; i += 2 * h)                                                  \
                    for (j = i; j < i + h; j++) {                                               \
                        T sum = v[j] + v[j + h], difference = v[j] - v[j + h];                  \
                        v[j] = sum;                                                             \
                        v[j + h] = difference;                                                  \
                    }                                                                           \
        }                                                                                       \
        for (i = 0; i < n; i++) angle[i] = esvm_angle_##SUFFIX(v[i] * (T)scale[i % 4]);         \
        memset(v, 0, (size_t)d * sizeof(T));                                                    \
    }                                                                                           \
    ESVM_STATIC void waves_of_##SUFFIX(const int16_t *angle, esvm_index n, T *wave) {           \
        esvm_index p;                                                                           \
        for (p = 0; p < n; p++) {                                                               \
            T r = (T)angle[p] * (T)(1.0 / 65536), z = r * r, s, c;                              \
            s = z * (T)-7.3704309457143504e-03 + (T)8.2145886611128230e-02;                     \
            s = s * z + (T)-5.9926452932079211e-01;                                             \
            s = s * z + (T)2.5501640398773455e+00;                                              \
            s = s * z + (T)-5.1677127800499703e+00;                                             \
            s = (s * z + (T)3.1415926535897931e+00) * r;                                        \
            c = z * (T)1.9295743094039231e-03 + (T)-2.5806891390014061e-02;                     \
            c = c * z + (T)2.3533063035889320e-01;                                              \
            c = c * z + (T)-1.3352627688545895e+00;                                             \
            c = c * z + (T)4.0587121264167685e+00;                                              \
            c = c * z + (T)-4.9348022005446790e+00;                                             \
            c = c * z + (T)1;                                                                   \
            wave[p] = (T)1 - (s + s) * s;                                                       \
            wave[n + p] = c * (s + s);                                                          \
        }                                                                                       \
    }                                                                                           \
    ESVM_STATIC void waves_weigh_##SUFFIX(T *wave, esvm_index n, const double *amplitude) {     \
        esvm_index p;                                                                           \
        for (p = 0; p < n; p++) wave[p] *= (T)amplitude[p % 4];                                 \
    }                                                                                           \
    ESVM_STATIC void waves_dots_##SUFFIX(                                                       \
        const T *w, const T *wave, esvm_index n, double scale, double *dot) {                   \
        esvm_index p;                                                                           \
        T sum[L] = {0};                                                                         \
        for (p = 0; p < n; p++) sum[p % L] += w[p] * wave[p];                                   \
        for (p = 0; p < L; p++) dot[p % 4] += scale * (double)sum[p];                           \
    }                                                                                           \
    ESVM_STATIC void step_both_##SUFFIX(                                                        \
        T *w, T *mean, const T *f, T step, T share, esvm_index n) {                             \
        esvm_index i;                                                                           \
        for (i = 0; i < n; i++) {                                                               \
            w[i] += step * f[i];                                                                \
            mean[i] += share * (w[i] - mean[i]);                                                \
        }                                                                                       \
    }
ESVM_WAVES(float, 16, f32)
ESVM_WAVES(double, 8, f64)

#define ESVM_DIAGONAL(T, DIVIDE, ROOT, SUFFIX)                                                  \
    ESVM_STATIC void step_diagonal_##SUFFIX(                                                    \
        T *w, T *squares, const T *f, T g, T rate, esvm_index n) {                              \
        esvm_index i;                                                                           \
        for (i = 0; i < n; i++) {                                                               \
            T slope = g * f[i], sum = squares[i] + slope * slope;                               \
            squares[i] = sum;                                                                   \
            if (sum > 0) w[i] += DIVIDE(rate * slope, ROOT(sum));                               \
        }                                                                                       \
    }
#define ESVM_QUOTIENT(a, b) ((a) / (b))
ESVM_DIAGONAL(float, ESVM_QUOTIENT, esvm_root, f32)
ESVM_DIAGONAL(double, ESVM_DIVIDE, esvm_sqrt, f64)

#endif
