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
        p_ *= (VEC)(((MASK)t_ + (BITS)BIAS) << MANTISSA);                           \
        v = (VEC)((MASK)p_ & (MASK)((v) > LOWEST));                                 \
    } while (0)

/* v = v ** degree, by squaring as power() of kernels.pxd */
#define POWER(v, degree)                                                            \
    do {                                                                            \
        VEC b_ = (v), one_ = {0}; one_ += (T)1; (v) = one_;                         \
        for (int e_ = (degree); e_; e_ >>= 1) { if (e_ & 1) (v) *= b_; b_ *= b_; }  \
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

/* a[0..m) = squared distances of x and the rows of m tiles */
#define DISTANCES(a, m)                                                             \
    do {                                                                            \
        const T *p_ = tile;                                                         \
        for (int64_t d_ = 0; d_ < width; d_++, p_ += LANES)                         \
            for (int c_ = 0; c_ < (m); c_++) {                                      \
                VEC u_; LOAD(u_, p_ + c_ * stride_); u_ -= x[d_]; a[c_] += u_ * u_; \
            }                                                                       \
    } while (0)

/* crowded = whether most features are present in x or in one of m tiles */
#define IS_CROWDED(crowded, m)                                                      \
    do {                                                                            \
        int64_t n_ = 0;                                                             \
        for (int c_ = 0; c_ < (m); c_++)                                            \
            for (int64_t k_ = 0; k_ < words; k_++)                                  \
                n_ += __builtin_popcountll(present[c_ * words + k_] | in_x[k_]);    \
        crowded = 2 * n_ > (m) * width;                                             \
    } while (0)

/* a[0..m) = the same. What is zero in x and in all rows of a tile adds +0, which changes no bit. */
#define HOLLOW_DISTANCES(a, m)                                                      \
    do {                                                                            \
        for (int c_ = 0; c_ < (m); c_++) {                                          \
            const T *p_ = tile + c_ * stride_;                                      \
            VEC s_ = {0}, u_;                                                       \
            for (int64_t k_ = 0; k_ < words; k_++)                                  \
                for (uint64_t w_ = present[c_ * words + k_] | in_x[k_]; w_; w_ &= w_ - 1) { \
                    int64_t d_ = 64 * k_ + __builtin_ctzll(w_);                     \
                    LOAD(u_, p_ + d_ * LANES); u_ -= x[d_]; s_ += u_ * u_;          \
                }                                                                   \
            a[c_] = s_;                                                             \
        }                                                                           \
    } while (0)

/* a[0..m) = kernel values of x and the rows of m tiles from `tile` on */
#define KERNEL_VALUES(a, m)                                                         \
    do {                                                                            \
        const int64_t stride_ = width * LANES;                                      \
        int crowded_ = 1;                                                           \
        for (int c_ = 0; c_ < (m); c_++) a[c_] = (VEC){0};                          \
        if (kind == TILES_RBF) {                                                    \
            if (hollow) IS_CROWDED(crowded_, m);                                    \
            if (crowded_) DISTANCES(a, m); else HOLLOW_DISTANCES(a, m);             \
            for (int c_ = 0; c_ < (m); c_++) { a[c_] *= -(T)gamma; EXP(a[c_]); }    \
        } else {                                                                    \
            PRODUCTS(a, m);                                                         \
            if (kind == TILES_POLYNOMIAL)                                           \
                for (int c_ = 0; c_ < (m); c_++) {                                  \
                    a[c_] = a[c_] * (T)gamma + (T)coef0; POWER(a[c_], degree);      \
                }                                                                   \
        }                                                                           \
        if (hollow && kind == TILES_RBF) present += (m) * words;                    \
        tile += (m) * stride_;                                                      \
    } while (0)

/* hollow = whether zeros of x may be passed over; in_x = the features of x, for a distance */
#define LOOK_AT_X(hollow, distance)                                                 \
    do {                                                                            \
        if (width > LANES && (!(distance) || (present && width <= TILES_WIDEST)))   \
            IS_HOLLOW(hollow);                                                      \
        if (hollow && (distance)) {                                                 \
            memset(in_x, 0, (size_t)words * sizeof(uint64_t));                      \
            NAME(tiles_note_row)(x, width, in_x);                                   \
        }                                                                           \
    } while (0)

/* Set the bits of the features of x that are not +0. */
EDGESVM_SUM void NAME(tiles_note_row)(const T *x, int64_t width, uint64_t *present)
{
    for (int64_t d = 0, end; d < width; d = end) {
        int blank = 0;
        end = width - d < LANES ? width : d + LANES;
        if (end - d == LANES) IS_BLANK(blank, x + d);
        if (blank) continue;
        for (int64_t e = d; e < end; e++) {
            BITS bits; LOAD(bits, x + e);
            present[e / 64] |= (uint64_t)(bits != 0) << e % 64;
        }
    }
}

/* out[t] = (float) k(x, row t), for all rows of n_tiles tiles */
EDGESVM_CLONES
EDGESVM_SUM void NAME(tiles_kernel)(int kind, double gamma, double coef0, int degree, const T *x,
                               const T *tile, const uint64_t *present, int64_t width,
                               int64_t n_tiles, float *out)
{
    VEC a[4];
    uint64_t in_x[TILES_WORDS(TILES_WIDEST)];
    const int64_t words = TILES_WORDS(width);
    int64_t i = 0;
    int hollow = 0;
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    LOOK_AT_X(hollow, kind == TILES_RBF);
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
EDGESVM_SUM double NAME(tiles_weighted)(int kind, double gamma, double coef0, int degree, const T *x,
                                   const T *tile, const uint64_t *present, int64_t width,
                                   int64_t n_tiles, const double *weight)
{
    VEC a[4];
    uint64_t in_x[TILES_WORDS(TILES_WIDEST)];
    const int64_t words = TILES_WORDS(width);
    vec_f64 f = {0};
    double s[8];
    int64_t i = 0;
    int hollow = 0;
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    LOOK_AT_X(hollow, kind == TILES_RBF);
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

/* a += what feature d adds, in float64 */
#define ADD_WIDE(a, d)                                                              \
    do {                                                                            \
        const int64_t d_ = (d);                                                     \
        for (int c_ = 0; c_ < LANES / 8; c_++) {                                    \
            EIGHT h_; LOAD(h_, tile + d_ * LANES + 8 * c_);                         \
            vec_f64 u_ = __builtin_convertvector(h_, vec_f64);                      \
            if (squares) { u_ -= (double)x[d_]; a[c_] += u_ * u_; }                 \
            else a[c_] += u_ * (double)x[d_];                                       \
        }                                                                           \
    } while (0)

/* out[t] = x . row t, or |x - row t|^2, for all rows of n_tiles tiles; summed in float64 */
EDGESVM_CLONES
EDGESVM_SUM void NAME(tiles_sums)(int squares, const T *x, const T *tile, const uint64_t *present,
                             int64_t width, int64_t n_tiles, double *out)
{
    uint64_t in_x[TILES_WORDS(TILES_WIDEST)];
    const int64_t words = TILES_WORDS(width);
    int hollow = 0;
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    if (squares) LOOK_AT_X(hollow, 1);
    for (int64_t i = 0; i < n_tiles; i++, tile += width * LANES) {
        vec_f64 a[LANES / 8] = {{0}};
        if (hollow) {
            for (int64_t k = 0; k < words; k++)
                for (uint64_t w = *present++ | in_x[k]; w; w &= w - 1)
                    ADD_WIDE(a, 64 * k + __builtin_ctzll(w));
        } else
            for (int64_t d = 0; d < width; d++) ADD_WIDE(a, d);
        memcpy(out, a, sizeof a); out += LANES;
    }
}

/* v[i] = exp(scale * v[i]), none of them above 0 */
EDGESVM_CLONES
EDGESVM_SUM void NAME(tiles_exp)(T scale, T *v, int64_t n)
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
#undef IS_HOLLOW
#undef ADD_FEATURE
#undef PRODUCTS
#undef DISTANCES
#undef IS_CROWDED
#undef HOLLOW_DISTANCES
#undef KERNEL_VALUES
#undef LOOK_AT_X
#undef ADD_WIDE
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
