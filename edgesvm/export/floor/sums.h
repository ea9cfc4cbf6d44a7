/* The sums of core/sums.h, a lane at a time. Included by floor.h. */
#ifndef EDGESVM_SUMS_H
#define EDGESVM_SUMS_H

/* Lane j holds two sums, over even and over odd vectors of L numbers; then the two are added, then
 * the tail, then the lanes are folded in halves. Lanes beyond n are zero, and adding zero to a sum
 * that began at +0 changes no bit: they are passed over. */
#define ESVM_FOR_LANES(T, L, n, TERM, out)                                              \
    do {                                                                                \
        T lane_[L];                                                                     \
        esvm_index i_, j_, n_ = (n), full_ = n_ - n_ % L, used_ = full_ ? L : n_;       \
        lane_[0] = 0;                                                                   \
        for (j_ = 0; j_ < used_; j_++) {                                                \
            T a_ = 0;                                                                   \
            for (i_ = j_; i_ < full_; i_ += 2 * L) TERM(a_, i_);                        \
            if (full_ > L) {                                                            \
                T b_ = 0;                                                               \
                for (i_ = j_ + L; i_ < full_; i_ += 2 * L) TERM(b_, i_);                \
                a_ += b_;                                                               \
            }                                                                           \
            i_ = full_ ? n_ - L + j_ : j_;                                              \
            if (i_ >= full_) TERM(a_, i_);                                              \
            lane_[j_] = a_;                                                             \
        }                                                                               \
        for (i_ = L / 2; i_; i_ /= 2)                                                   \
            for (j_ = 0; j_ < i_ && j_ + i_ < used_; j_++) lane_[j_] += lane_[j_ + i_]; \
        out = lane_[0];                                                                 \
    } while (0)

#define ESVM_PRODUCT(sum, i) (sum) += x[i] * z[i]
#define ESVM_SQUARE(sum, i)   \
    do {                      \
        d_ = x[i] - z[i];     \
        (sum) += d_ * d_;     \
    } while (0)

#define ESVM_LANES(T, L, SUFFIX)                                                        \
    ESVM_STATIC T lanes_dot_##SUFFIX(const T *x, const T *z, esvm_index n) {            \
        T sum;                                                                          \
        ESVM_FOR_LANES(T, L, n, ESVM_PRODUCT, sum);                                     \
        return sum;                                                                     \
    }                                                                                   \
    ESVM_STATIC T lanes_square_distance_##SUFFIX(const T *x, const T *z, esvm_index n) { \
        T sum, d_;                                                                      \
        ESVM_FOR_LANES(T, L, n, ESVM_SQUARE, sum);                                      \
        return sum;                                                                     \
    }                                                                                   \
    ESVM_STATIC void lanes_sums_##SUFFIX(                                               \
        int apart, const T *w, const T *z, esvm_index n, esvm_index n_rows, double *out) { \
        for (; n_rows > 0; n_rows--, z += n)                                            \
            *out++ = (double)(apart ? lanes_square_distance_##SUFFIX(w, z, n)           \
                                    : lanes_dot_##SUFFIX(w, z, n));                     \
    }                                                                                   \
    ESVM_STATIC void lanes_dot_square_##SUFFIX(                                         \
        const T *x, const T *w, esvm_index n, T *dot, T *square) {                      \
        *dot = lanes_dot_##SUFFIX(x, w, n);                                             \
        *square = lanes_dot_##SUFFIX(x, x, n);                                          \
    }                                                                                   \
    ESVM_STATIC void lanes_axpby_##SUFFIX(T a, const T *x, T b, T *y, esvm_index n) {   \
        esvm_index i;                                                                   \
        for (i = 0; i < n; i++) y[i] = a * x[i] + b * y[i];                             \
    }                                                                                   \
    ESVM_STATIC void lanes_add_##SUFFIX(T a, const T *x, T *y, esvm_index n) {          \
        esvm_index i;                                                                   \
        for (i = 0; i < n; i++) y[i] += a * x[i];                                       \
    }                                                                                   \
    ESVM_STATIC void lanes_approach_##SUFFIX(T a, const T *x, T *y, esvm_index n) {     \
        esvm_index i;                                                                   \
        for (i = 0; i < n; i++) y[i] += a * (x[i] - y[i]);                              \
    }
ESVM_LANES(float, 16, f32)
ESVM_LANES(double, 8, f64)

#define ESVM_STANDARD(from, variance) \
    ((variance) > 0.0 ? ESVM_DIVIDE(from, esvm_sqrt(variance)) : 0.0)
/* Of a value that is nearer to 0 by its exponent alone, no arithmetic in double is asked */
#define ESVM_WITHIN(clip, z) \
    (esvm_exponent(z) < esvm_exponent(clip) ? (z) : (z) < -(clip) ? -(clip) : (z) > (clip) ? (clip) : (z))

/* Whether a value is further from the mean than `most` spreads allow */
ESVM_STATIC int esvm_is_far(double delta, double spread, double most) {
    return spread > 0.0 && delta * delta > most * spread;
}

ESVM_STATIC int esvm_exponent(double x) {
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return (int)(bits >> 52 & 0x7ff);
}

/* Twice the exponent of a deviation, less that of the spread, up to which a value cannot be far, told without
 * arithmetic in double */
ESVM_STATIC int esvm_near(double n, double bound) { return 2 * esvm_exponent(bound) - esvm_exponent(n - 1.0) - 4; }

ESVM_STATIC int esvm_may_be_far(double delta, double spread, int near) {
    int of_spread = esvm_exponent(spread);
    return !of_spread || 2 * esvm_exponent(delta) - of_spread > near;
}

/* As core/sums.c has it. */
ESVM_STATIC int moments_take(
    double *x, double *mean, double *spread, double n, double share, double bound, double most) {
    double delta = *x - *mean, half = esvm_sqrt(*spread * 0.5);
    int is_far = esvm_is_far(delta, *spread, most);
    if (n == 3.0 && fabs(fabs(delta) - half) * 6.0 * bound < half) {
        *mean = *x;
        *spread = 0.0;
        return is_far;
    }
    if (is_far) {
        delta = copysign(esvm_sqrt(most * *spread), delta);
        *x = *mean + delta;
    }
    *mean += delta * share;
    *spread += delta * (*x - *mean);
    return is_far;
}

#define ESVM_MOMENTS(T, SUFFIX)                                                         \
    ESVM_STATIC void moments_map_##SUFFIX(                                              \
        const T *x, const double *mean, const double *spread, double n, double clip, T *out,\
        esvm_index width) {                                                             \
        double share = ESVM_DIVIDE(1.0, n);                                             \
        esvm_index j;                                                                   \
        for (j = 0; j < width; j++) {                                                   \
            double z = ESVM_STANDARD((double)x[j] - mean[j], spread[j] * share);        \
            out[j] = (T)ESVM_WITHIN(clip, z);                                           \
        }                                                                               \
    }                                                                                   \
    ESVM_STATIC int moments_next_##SUFFIX(                                              \
        const T *x, const double *mean, const double *spread, double n, double bound,   \
        double clip, T *out, esvm_index width) {                                        \
        double share = ESVM_DIVIDE(1.0, n);                                             \
        int near = esvm_near(n, bound);                                                 \
        esvm_index j;                                                                   \
        if (n == 3.0) return 1;                                                         \
        for (j = 0; j < width; j++) {                                                   \
            double s = spread[j], from = (double)x[j] - mean[j], z;                     \
            if (esvm_may_be_far(from, s, near)                                          \
                && from * from > ESVM_DIVIDE(bound * bound, n - 1.0) * s) return 1;     \
            z = (double)x[j] - (mean[j] + from * share);                                \
            s += from * z;                                                              \
            if (!esvm_is_finite(s)) return -1;                                          \
            z = ESVM_STANDARD(z, s * share);                                            \
            out[j] = (T)ESVM_WITHIN(clip, z);                                           \
        }                                                                               \
        return 0;                                                                       \
    }                                                                                   \
    ESVM_STATIC int moments_far_##SUFFIX(                                               \
        const T *x, const double *mean, const double *spread, double n, double bound,   \
        esvm_index width) {                                                             \
        double most = ESVM_DIVIDE(bound * bound, n);                                    \
        esvm_index j;                                                                   \
        for (j = 0; j < width; j++)                                                     \
            if (esvm_is_far((double)x[j] - mean[j], spread[j], most)) return 1;         \
        return 0;                                                                       \
    }                                                                                   \
    ESVM_STATIC void moments_keep_##SUFFIX(                                             \
        const T *x, double *mean, double *spread, double n, esvm_index width) {         \
        double share = ESVM_DIVIDE(1.0, n);                                             \
        esvm_index j;                                                                   \
        for (j = 0; j < width; j++) {                                                   \
            double from = (double)x[j] - mean[j];                                       \
            mean[j] += from * share;                                                    \
            spread[j] += from * ((double)x[j] - mean[j]);                               \
        }                                                                               \
    }
ESVM_MOMENTS(float, f32)
ESVM_MOMENTS(double, f64)

/* One row after the other; the host takes four or eight at a time, with the same sums. */
#define ESVM_FOR_ROWS(T, TERM)                                                          \
    esvm_index i, d, j, tail = width - width % 8;                                       \
    for (i = 0; i < n; i++, rows += width) {                                            \
        double a[8] = {0}, s, u;                                                        \
        for (d = 0; d < tail; d += 8)                                                   \
            for (j = 0; j < 8; j++) {                                                   \
                u = (double)rows[d + j];                                                \
                TERM(a[j], u, (double)x[d + j]);                                        \
            }                                                                           \
        s = ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));          \
        for (d = tail; d < width; d++) {                                                \
            u = (double)rows[d];                                                        \
            TERM(s, u, (double)x[d]);                                                   \
        }                                                                               \
        out[i] = s;                                                                     \
    }
#define ESVM_ROW_PRODUCT(sum, u, v) (sum) += (u) * (v)
#define ESVM_ROW_SQUARE(sum, u, v) \
    do {                           \
        (u) -= (v);                \
        (sum) += (u) * (u);        \
    } while (0)
#define ESVM_ROWS(T, SUFFIX)                                                            \
    ESVM_STATIC void rows_dot_##SUFFIX(                                                 \
        const T *x, const T *rows, esvm_index width, esvm_index n, double *out) {       \
        ESVM_FOR_ROWS(T, ESVM_ROW_PRODUCT)                                              \
    }                                                                                   \
    ESVM_STATIC void rows_square_distance_##SUFFIX(                                     \
        const T *x, const T *rows, esvm_index width, esvm_index n, double *out) {       \
        ESVM_FOR_ROWS(T, ESVM_ROW_SQUARE)                                               \
    }
ESVM_ROWS(float, f32)
ESVM_ROWS(double, f64)

/* A square of codes' difference is below 2^32, and their sum is exact. */
ESVM_STATIC void codes_square_distances(
    const int16_t *x, const int16_t *rows, esvm_index width, esvm_index n, double unit,
    double *out) {
    esvm_index i, j;
    for (i = 0; i < n; i++, rows += width) {
        uint64_t total = 0;
        for (j = 0; j < width; j++) {
            uint32_t far = (uint32_t)((int32_t)x[j] - rows[j]);
            total += far * far;
        }
        out[i] = unit * unit * (double)total;
    }
}

/* exp(x), x <= 0: the nearest whole number by adding 1.5 * 2^52 */
ESVM_STATIC double tiles_exp_of_f64(double x) {
    static const double c[14] = {
        1.6059043836821613e-10, 2.0876756987868099e-09, 2.5052108385441719e-08,
        2.7557319223985891e-07, 2.7557319223985893e-06, 2.4801587301587302e-05,
        1.9841269841269841e-04, 1.3888888888888889e-03, 8.3333333333333333e-03,
        4.1666666666666666e-02, 1.6666666666666666e-01, 0.5, 1.0, 1.0};
    double t = x * 1.4426950408889634 + 6755399441055744.0;
    double k = t - 6755399441055744.0, p = c[0];
    double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    int i;
    for (i = 1; i < 14; i++) p = p * r + c[i];
    k = esvm_of_bits((esvm_bits_of(t) << 52) + ((uint64_t)1023 << 52));
    return x > -708.0 ? p * k : 0.0;
}

/* v[i] = exp(scale * v[i]), none of them above 0 */
ESVM_STATIC void tiles_exp_f64(double scale, double *v, esvm_index n) {
    for (; n > 0; n--, v++) *v = tiles_exp_of_f64(*v * scale);
}

#endif
