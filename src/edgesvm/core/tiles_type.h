/* Included by tiles.h once a type: T, BITS, LANES, NAME, and the constants of exp. Needs lanes.h. */

#define VEC NAME(vec)
#define MASK NAME(mask)
#define EIGHT NAME(tiles_eight)
#define LOAD(v, p) memcpy(&(v), (p), sizeof(v))

typedef T EIGHT __attribute__((vector_size(8 * sizeof(T))));

/* v = exp(v), v <= 0; 0 below LOWEST.  exp(v) = 2^k exp(r), |r| <= ln(2)/2, Taylor.
 * v log2(e) + MAGIC has the nearest whole number k in its low bits, and they become the exponent. */
#define EXP(v)                                                                      \
    do {                                                                            \
        VEC t_ = (v) * (T)1.4426950408889634 + MAGIC, k_ = t_ - MAGIC;              \
        VEC r_ = ((v) - k_ * LN2_HIGH) - k_ * LN2_LOW, p_;                          \
        TAYLOR(p_, r_);                                                             \
        p_ *= (VEC)(((MASK)t_ << MANTISSA) + ((BITS)BIAS << MANTISSA));             \
        v = (VEC)((MASK)p_ & (MASK)((v) > LOWEST));                                 \
    } while (0)

/* v = v ** degree, by squaring as power() of kernels.pxd */
#define POWER(v, degree)                                                            \
    do {                                                                            \
        VEC b_ = (v), one_ = {0}; one_ += (T)1; (v) = one_;                         \
        for (int e_ = (degree); e_; e_ >>= 1) { if (e_ & 1) (v) *= b_; b_ *= b_; }  \
    } while (0)

/* a[0..m) = kernel values of x and the rows of m tiles from `tile` on */
#define KERNEL_VALUES(a, m)                                                         \
    do {                                                                            \
        const T *p_ = tile;                                                         \
        const int64_t stride_ = width * LANES;                                      \
        for (int c_ = 0; c_ < (m); c_++) a[c_] = (VEC){0};                          \
        if (kind == TILES_RBF) {                                                    \
            for (int64_t d_ = 0; d_ < width; d_++, p_ += LANES)                     \
                for (int c_ = 0; c_ < (m); c_++) {                                  \
                    VEC u_; LOAD(u_, p_ + c_ * stride_); u_ -= x[d_]; a[c_] += u_ * u_; \
                }                                                                   \
            for (int c_ = 0; c_ < (m); c_++) { a[c_] *= -(T)gamma; EXP(a[c_]); }    \
        } else {                                                                    \
            for (int64_t d_ = 0; d_ < width; d_++, p_ += LANES)                     \
                for (int c_ = 0; c_ < (m); c_++) {                                  \
                    VEC u_; LOAD(u_, p_ + c_ * stride_); a[c_] += u_ * x[d_];       \
                }                                                                   \
            if (kind == TILES_POLYNOMIAL)                                           \
                for (int c_ = 0; c_ < (m); c_++) {                                  \
                    a[c_] = a[c_] * (T)gamma + (T)coef0; POWER(a[c_], degree);      \
                }                                                                   \
        }                                                                           \
        tile += (m) * stride_;                                                      \
    } while (0)

/* out[t] = (float) k(x, row t), for all rows of n_tiles tiles */
EDGESVM_CLONES
static void NAME(tiles_kernel)(int kind, double gamma, double coef0, int degree, const T *x,
                               const T *tile, int64_t width, int64_t n_tiles, float *out)
{
    VEC a[4];
    int64_t i = 0;
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    for (; i + 4 <= n_tiles; i += 4) {
        KERNEL_VALUES(a, 4);
        for (int c = 0; c < 4; c++) { AS_FLOATS(out, a[c]); out += LANES; }
    }
    for (; i < n_tiles; i++) {
        KERNEL_VALUES(a, 1);
        AS_FLOATS(out, a[0]); out += LANES;
    }
}

/* sum_t weight[t] k(x, row t), over all rows of n_tiles tiles: eight float64 lanes, folded in halves */
EDGESVM_CLONES
static double NAME(tiles_weighted)(int kind, double gamma, double coef0, int degree, const T *x,
                                   const T *tile, int64_t width, int64_t n_tiles, const double *weight)
{
    VEC a[4];
    vec_f64 f = {0};
    double s[8];
    int64_t i = 0;
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    for (; i + 4 <= n_tiles; i += 4) {
        KERNEL_VALUES(a, 4);
        for (int c = 0; c < 4; c++) { ADD_WEIGHTED(f, weight, a[c]); weight += LANES; }
    }
    for (; i < n_tiles; i++) {
        KERNEL_VALUES(a, 1);
        ADD_WEIGHTED(f, weight, a[0]); weight += LANES;
    }
    memcpy(s, &f, sizeof s);
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* out[t] = x . row t, or |x - row t|^2, for all rows of n_tiles tiles; summed in float64 */
EDGESVM_CLONES
static void NAME(tiles_sums)(int squares, const T *x, const T *tile, int64_t width, int64_t n_tiles,
                             double *out)
{
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    for (int64_t i = 0; i < n_tiles; i++) {
        vec_f64 a[LANES / 8] = {{0}};
        for (int64_t d = 0; d < width; d++, tile += LANES)
            for (int c = 0; c < LANES / 8; c++) {
                EIGHT h; LOAD(h, tile + 8 * c);
                vec_f64 u = __builtin_convertvector(h, vec_f64);
                if (squares) { u -= (double)x[d]; a[c] += u * u; } else a[c] += u * (double)x[d];
            }
        memcpy(out, a, sizeof a); out += LANES;
    }
}

/* v[i] = exp(scale * v[i]), none of them above 0 */
EDGESVM_CLONES
static void NAME(tiles_exp)(T scale, T *v, int64_t n)
{
    VEC a = {0};
    int64_t i = 0;
    EDGESVM_CHECK(n >= 0);
    for (; i + LANES <= n; i += LANES) {
        LOAD(a, v + i); a *= scale; EXP(a);
        memcpy(v + i, &a, sizeof a);
    }
    if (i < n) {
        memcpy(&a, v + i, (size_t)(n - i) * sizeof(T)); a *= scale; EXP(a);
        memcpy(v + i, &a, (size_t)(n - i) * sizeof(T));
    }
}

#undef VEC
#undef MASK
#undef EIGHT
#undef LOAD
#undef EXP
#undef POWER
#undef KERNEL_VALUES
#undef T
#undef BITS
#undef LANES
#undef NAME
#undef MAGIC
#undef LN2_HIGH
#undef LN2_LOW
#undef LOWEST
#undef MANTISSA
#undef BIAS
#undef TAYLOR
#undef AS_FLOATS
#undef ADD_WEIGHTED
