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

/* blank = whether x[0..LANES) are all +0 */
#define IS_BLANK(blank, x)                                                          \
    do {                                                                            \
        uint64_t w_[8];                                                             \
        memcpy(w_, (x), 64);                                                        \
        blank = !(((w_[0] | w_[1]) | (w_[2] | w_[3])) | ((w_[4] | w_[5]) | (w_[6] | w_[7]))); \
    } while (0)

/* hollow = whether most of x is zero */
#define IS_HOLLOW(hollow)                                                           \
    do {                                                                            \
        int64_t n_ = 0;                                                             \
        for (int64_t d_ = 0; d_ < width; d_++) n_ += x[d_] != 0;                    \
        hollow = 2 * n_ < width;                                                    \
    } while (0)

/* a[0..m) += feature d, which is at p, of the rows of m tiles, times x[d] */
#define ADD_FEATURE(a, m, d, p)                                                     \
    do {                                                                            \
        for (int c_ = 0; c_ < (m); c_++) {                                          \
            VEC u_; LOAD(u_, (p) + c_ * stride_); a[c_] += u_ * x[d];               \
        }                                                                           \
    } while (0)

/* a[0..m) = products of x and the rows of m tiles. What a zero of x would add, a zero, changes no
 * bit of a sum that began at +0: in a hollow x zeros are passed over, LANES at once where all are. */
#define PRODUCTS(a, m)                                                              \
    do {                                                                            \
        if (!hollow) {                                                              \
            const T *p_ = tile;                                                     \
            for (int64_t d_ = 0; d_ < width; d_++, p_ += LANES)                     \
                ADD_FEATURE(a, m, d_, p_);                                          \
            break;                                                                  \
        }                                                                           \
        for (int64_t d_ = 0, end_; d_ < width; d_ = end_) {                         \
            int blank_ = 0;                                                         \
            end_ = width - d_ < LANES ? width : d_ + LANES;                         \
            if (end_ - d_ == LANES) IS_BLANK(blank_, x + d_);                       \
            if (blank_) continue;                                                   \
            for (int64_t e_ = d_; e_ < end_; e_++)                                  \
                if (x[e_] != 0) ADD_FEATURE(a, m, e_, tile + e_ * LANES);           \
        }                                                                           \
    } while (0)

/* a[0..m) = kernel values of x and the rows of m tiles from `tile` on */
#define KERNEL_VALUES(a, m)                                                         \
    do {                                                                            \
        const int64_t stride_ = width * LANES;                                      \
        for (int c_ = 0; c_ < (m); c_++) a[c_] = (VEC){0};                          \
        if (kind == TILES_RBF) {                                                    \
            const T *p_ = tile;                                                     \
            for (int64_t d_ = 0; d_ < width; d_++, p_ += LANES)                     \
                for (int c_ = 0; c_ < (m); c_++) {                                  \
                    VEC u_; LOAD(u_, p_ + c_ * stride_); u_ -= x[d_]; a[c_] += u_ * u_; \
                }                                                                   \
            for (int c_ = 0; c_ < (m); c_++) { a[c_] *= -(T)gamma; EXP(a[c_]); }    \
        } else {                                                                    \
            PRODUCTS(a, m);                                                         \
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
    int hollow = 0;
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    if (kind != TILES_RBF && width > LANES) IS_HOLLOW(hollow);
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
    int hollow = 0;
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    if (kind != TILES_RBF && width > LANES) IS_HOLLOW(hollow);
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
#undef IS_BLANK
#undef IS_HOLLOW
#undef ADD_FEATURE
#undef PRODUCTS
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
