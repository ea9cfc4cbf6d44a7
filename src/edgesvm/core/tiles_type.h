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
EDGESVM_CLONES
EDGESVM_SUM void NAME(tiles_note_row)(const T *x, int64_t width, uint64_t *present)
{
    MASK places = {0};
    int64_t d = 0;
    EDGESVM_CHECK(width > 0);
    for (int c = 0; c < LANES; c++) places[c] = (BITS)((uint32_t)1 << c);
    for (; d + LANES <= width; d += LANES) {
        int blank;
        MASK bits;
        uint64_t w[8], all;
        IS_BLANK(blank, x + d);
        if (blank) continue;
        LOAD(bits, x + d);
        bits = (MASK)(bits != 0) & places;
        memcpy(w, &bits, sizeof w);
        all = ((w[0] | w[1]) | (w[2] | w[3])) | ((w[4] | w[5]) | (w[6] | w[7]));
        present[d / 64] |= (LANES == 16 ? (all | all >> 32) & 0xffff : all) << d % 64;
    }
    for (; d < width; d++) {
        BITS bits; LOAD(bits, x + d);
        present[d / 64] |= (uint64_t)(bits != 0) << d % 64;
    }
}

/* DO(d) of the features that are noted in a tile, or of 64 at once where most of them are; CLEAR(d, n)
 * before, where not all n from d on are done */
#define NOTED(DO, CLEAR)                                                            \
    do {                                                                            \
        for (int64_t d_ = 0, end_; d_ < width; d_ = end_) {                         \
            uint64_t w_ = present ? present[d_ / 64] : ~(uint64_t)0;                \
            end_ = width - d_ < 64 ? width : d_ + 64;                               \
            if (!present || 2 * __builtin_popcountll(w_) > end_ - d_) {             \
                for (; d_ < end_; d_++) DO(d_);                                     \
                continue;                                                           \
            }                                                                       \
            CLEAR(d_, end_ - d_);                                                   \
            for (; w_; w_ &= w_ - 1) DO(d_ + __builtin_ctzll(w_));                  \
        }                                                                           \
    } while (0)
#define PUT(d) row[(d) * LANES] = x[d]
#define GET(d) x[d] = row[(d) * LANES]
#define WIPE(d) memset(tile + (d) * LANES, 0, 64)
#define NOTHING(d, n) (void)0
#define CLEAR_X(d, n) memset(x + (d), 0, (size_t)(n) * sizeof(T))

/* row = x, a row of a tile: its features are LANES apart, and noted if `present` is not NULL */
EDGESVM_CLONES
EDGESVM_SUM void NAME(tiles_put)(T *row, const uint64_t *present, int64_t width, const T *x)
{
    EDGESVM_CHECK(width > 0);
    NOTED(PUT, NOTHING);
}

/* x = row */
EDGESVM_CLONES
EDGESVM_SUM void NAME(tiles_get)(const T *row, const uint64_t *present, int64_t width, T *x)
{
    EDGESVM_CHECK(width > 0);
    NOTED(GET, CLEAR_X);
}

/* A tile becomes zero; its notes stay. */
EDGESVM_CLONES
EDGESVM_SUM void NAME(tiles_wipe)(T *tile, const uint64_t *present, int64_t width)
{
    EDGESVM_CHECK(width > 0);
    NOTED(WIPE, NOTHING);
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
    return FOLD_EIGHT(s);
}

/* a[0..4) += what a feature adds: its LANES values in a tile, at z, with those of four rows, at y */
#define ADD_DISTANCE(a, z, y)                                                       \
    do {                                                                            \
        VEC v_; LOAD(v_, (z));                                                      \
        for (int c_ = 0; c_ < 4; c_++) { VEC u_ = v_ - (y)[c_]; a[c_] += u_ * u_; } \
    } while (0)
#define ADD_PRODUCT(a, z, y)                                                        \
    do {                                                                            \
        VEC v_; LOAD(v_, (z));                                                      \
        for (int c_ = 0; c_ < 4; c_++) a[c_] += v_ * (y)[c_];                       \
    } while (0)

/* ADD of all features, or of those that can add more than a zero: COMMON tells them from two words */
#define ADD_FEATURES(ADD, COMMON, a)                                                \
    do {                                                                            \
        int64_t n_ = 0;                                                             \
        if (noted) for (int64_t k_ = 0; k_ < words; k_++)                           \
            n_ += __builtin_popcountll(COMMON(in_z[k_], in_y[k_]));                 \
        if (!noted || 2 * n_ > width) {                                             \
            for (int64_t d_ = 0; d_ < width; d_++)                                  \
                ADD(a, z + d_ * LANES, y + d_ * LANES);                             \
            break;                                                                  \
        }                                                                           \
        for (int64_t k_ = 0; k_ < words; k_++)                                      \
            for (uint64_t w_ = COMMON(in_z[k_], in_y[k_]); w_; w_ &= w_ - 1) {      \
                int64_t d_ = 64 * k_ + __builtin_ctzll(w_);                         \
                ADD(a, z + d_ * LANES, y + d_ * LANES);                             \
            }                                                                       \
    } while (0)
#define EITHER(v, w) ((v) | (w))
#define BOTH(v, w) ((v) & (w))

/* Of each four rows of a tile, `present`: the features in which one of them is not +0; all features,
 * if most are present in the tile. */
static inline void NAME(note_fours)(const T *tile, const uint64_t *present, int64_t width,
                                    uint64_t *four)
{
    const int64_t words = TILES_WORDS(width);
    int64_t n = 0;
    for (int64_t k = 0; k < words; k++) n += __builtin_popcountll(present[k]);
    memset(four, 2 * n > width ? 0xff : 0, (size_t)(words * LANES / 4) * sizeof *four);
    for (int64_t k = 0; k < words && 2 * n <= width; k++)
        for (uint64_t w = present[k]; w; w &= w - 1) {
            const T *p = tile + (64 * k + __builtin_ctzll(w)) * LANES;
            for (int g = 0; g < LANES / 4; g++) {
                BITS b[4]; memcpy(b, p + 4 * g, sizeof b);
                if (b[0] | b[1] | b[2] | b[3]) four[g * words + k] |= w & -w;
            }
        }
}

/* a[0..4) = kernel values of the four rows of y, features LANES apart, with the rows of the tile z */\
#define FOUR_VALUES(a, z, y)                                                        \
    do {                                                                            \
        if (kind == TILES_RBF) {                                                    \
            ADD_FEATURES(ADD_DISTANCE, EITHER, a);                                  \
            for (int g_ = 0; g_ < 4; g_++) { a[g_] *= -(T)gamma; EXP(a[g_]); }      \
        } else {                                                                    \
            ADD_FEATURES(ADD_PRODUCT, BOTH, a);                                     \
            if (kind == TILES_POLYNOMIAL)                                           \
                for (int g_ = 0; g_ < 4; g_++) {                                    \
                    a[g_] = a[g_] * (T)gamma + (T)coef0; POWER(a[g_], degree);      \
                }                                                                   \
        }                                                                           \
    } while (0)

/* Fetch what is noted of the tile behind z. */
#define FETCH_NEXT(z, in_z)                                                         \
    do {                                                                            \
        for (int64_t k_ = 0; k_ < words; k_++)                                      \
            for (uint64_t w_ = (in_z)[words + k_]; w_; w_ &= w_ - 1)                \
                __builtin_prefetch((z) + (width + 64 * k_ + __builtin_ctzll(w_)) * LANES, 0, 2);\
    } while (0)

/* out[j] = sum_t weight[t] k(row j of x, row t), for n rows x, which lie in tiles too: what
 * tiles_weighted gives for each, to the bit, but a tile is fetched once for TOGETHER of them, and
 * each of its features for four. in_x are the notes of x; it and `present` are NULL, or neither. */
EDGESVM_CLONES
EDGESVM_SUM void NAME(tiles_weighted_rows)(int kind, double gamma, double coef0, int degree,
                                           const T *x, const uint64_t *in_x, int64_t n,
                                           const T *tile, const uint64_t *present, int64_t width,
                                           int64_t n_tiles, const double *weight, double *out)
{
    uint64_t fours[TILES_FOURS];
    const int64_t words = TILES_WORDS(width);
    const int noted = in_x && width <= TILES_WIDEST;
    int64_t together = TILES_TOGETHER;
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    if (noted && words * together / 4 > TILES_FOURS)
        together = TILES_FOURS / (words * LANES / 4) * LANES;
    for (int64_t first = 0; first < n; first += together) {
        vec_f64 f[TILES_TOGETHER] = {{0}};
        const int64_t rows = n - first < together ? n - first : together;
        if (noted) for (int64_t j = 0; j < rows; j += LANES) {
            NAME(note_fours)(x + (first + j) * width, in_x, width, fours + j / 4 * words);
            in_x += words;
        }
        for (int64_t i = 0; i < n_tiles; i++) {
            const T *z = tile + i * width * LANES;
            const uint64_t *in_z = noted ? present + i * words : NULL;
            if (noted && i + 1 < n_tiles) FETCH_NEXT(z, in_z);
            for (int64_t j = 0; j < rows; j += 4) {
                const T *y = x + (first + j) / LANES * LANES * width + j % LANES;
                const uint64_t *in_y = fours + j / 4 * words;
                VEC a[4] = {{0}};
                FOUR_VALUES(a, z, y);
                for (int c = 0; c < 4; c++) ADD_WEIGHTED(f[j + c], weight + i * LANES, a[c]);
            }
        }
        for (int64_t j = 0; j < rows; j++) {
            double s[8];
            memcpy(s, &f[j], sizeof s);
            out[first + j] = FOLD_EIGHT(s);
        }
    }
}

/* out[j] = what tiles_kernel gives of row j of x, to the bit, for n rows x, at most TILES_ROWS, which
 * lie in tiles too: a tile is fetched once for all of them. in_x as in tiles_weighted_rows. */
EDGESVM_CLONES
EDGESVM_SUM void NAME(tiles_kernel_rows)(int kind, double gamma, double coef0, int degree,
                                         const T *x, const uint64_t *in_x, int64_t n,
                                         const T *tile, const uint64_t *present, int64_t width,
                                         int64_t n_tiles, float *const *out)
{
    uint64_t fours[TILES_FOURS];
    const int64_t words = TILES_WORDS(width);
    const int noted = in_x && width <= TILES_WIDEST;
    EDGESVM_CHECK(n >= 0 && n <= TILES_ROWS && n_tiles >= 0 && width > 0);
    if (noted) for (int64_t j = 0; j < n; j += LANES)
        NAME(note_fours)(x + j * width, in_x + j / LANES * words, width, fours + j / 4 * words);
    for (int64_t i = 0; i < n_tiles; i++) {
        const T *z = tile + i * width * LANES;
        const uint64_t *in_z = noted ? present + i * words : NULL;
        if (noted && i + 1 < n_tiles) FETCH_NEXT(z, in_z);
        for (int64_t j = 0; j < n; j += 4) {
            const T *y = x + j / LANES * LANES * width + j % LANES;
            const uint64_t *in_y = fours + j / 4 * words;
            VEC a[4] = {{0}};
            FOUR_VALUES(a, z, y);
            for (int c = 0; c < 4 && j + c < n; c++) AS_FLOATS(out[j + c] + i * LANES, a[c]);
        }
    }
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
#undef NOTED
#undef PUT
#undef GET
#undef WIPE
#undef NOTHING
#undef CLEAR_X
#undef ADD_DISTANCE
#undef ADD_PRODUCT
#undef ADD_FEATURES
#undef FOUR_VALUES
#undef FETCH_NEXT
#undef EITHER
#undef BOTH
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
