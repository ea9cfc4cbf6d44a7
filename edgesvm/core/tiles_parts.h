/* Included by tiles_type.h once a target, for vectors of 64, 32 or 16 bytes, which hold LANES rows of a tile
 * in one part, in two or in four: PART, PARTS, MASK (integers as wide), WIDE (float64 as wide), NARROW and
 * FLOATS (as many T and float as WIDE has numbers), TILES (looked at together), TARGET, AT (a name). */

#define VEC PART
#define WIDES (LANES * sizeof(double) / sizeof(WIDE))       /* vectors of float64 that a tile's rows fill */

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

/* v = part c of tiles that are stride_ apart, of the feature at p */
#define LOAD_PART(v, p, c) LOAD(v, (p) + (c) / PARTS * stride_ + (c) % PARTS * (LANES / PARTS))

/* a += feature d, which is at p, of the rows of m tiles, times x[d] */
#define ADD_FEATURE(a, m, d, p)                                                     \
    do {                                                                            \
        for (int c_ = 0; c_ < (m) * PARTS; c_++) {                                  \
            VEC u_; LOAD_PART(u_, p, c_); a[c_] += u_ * x[d];                       \
        }                                                                           \
    } while (0)

/* a = products of x and the rows of m tiles. What a zero of x would add, a zero, changes no
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

/* a = squared distances of x and the rows of m tiles */
#define DISTANCES(a, m)                                                             \
    do {                                                                            \
        const T *p_ = tile;                                                         \
        for (int64_t d_ = 0; d_ < width; d_++, p_ += LANES)                         \
            for (int c_ = 0; c_ < (m) * PARTS; c_++) {                              \
                VEC u_; LOAD_PART(u_, p_, c_); u_ -= x[d_]; a[c_] += u_ * u_;       \
            }                                                                       \
    } while (0)

/* a = the same. What is zero in x and in all rows of a tile adds +0, which changes no bit. */
#define HOLLOW_DISTANCES(a, m)                                                      \
    do {                                                                            \
        for (int c_ = 0; c_ < (m); c_++) {                                          \
            const T *p_ = tile + c_ * stride_;                                      \
            VEC s_[PARTS] = {{0}}, u_;                                              \
            for (int64_t k_ = 0; k_ < words; k_++)                                  \
                for (uint64_t w_ = present[c_ * words + k_] | in_x[k_]; w_; w_ &= w_ - 1) { \
                    int64_t d_ = 64 * k_ + __builtin_ctzll(w_);                     \
                    for (int q_ = 0; q_ < PARTS; q_++) {                            \
                        LOAD_PART(u_, p_ + d_ * LANES, q_);                         \
                        u_ -= x[d_]; s_[q_] += u_ * u_;                             \
                    }                                                               \
                }                                                                   \
            for (int q_ = 0; q_ < PARTS; q_++) a[c_ * PARTS + q_] = s_[q_];         \
        }                                                                           \
    } while (0)

/* a = kernel values of x and the rows of m tiles from `tile` on */
#define KERNEL_VALUES(a, m)                                                         \
    do {                                                                            \
        const int64_t stride_ = width * LANES;                                      \
        int crowded_ = 1;                                                           \
        for (int c_ = 0; c_ < (m) * PARTS; c_++) a[c_] = (VEC){0};                  \
        if (kind == TILES_RBF) {                                                    \
            if (hollow) IS_CROWDED(crowded_, m);                                    \
            if (crowded_) DISTANCES(a, m); else HOLLOW_DISTANCES(a, m);             \
        } else {                                                                    \
            PRODUCTS(a, m);                                                         \
        }                                                                           \
        OF_SUMS(a, (m) * PARTS);                                                    \
        if (hollow && kind == TILES_RBF) present += (m) * words;                    \
        tile += (m) * stride_;                                                      \
    } while (0)

/* n vectors of products or squared distances become kernel values. */
#define OF_SUMS(a, n)                                                               \
    do {                                                                            \
        if (kind == TILES_RBF)                                                      \
            for (int c_ = 0; c_ < (n); c_++) { a[c_] *= -(T)gamma; EXP(a[c_]); }    \
        else if (kind == TILES_POLYNOMIAL)                                          \
            for (int c_ = 0; c_ < (n); c_++) {                                      \
                a[c_] = a[c_] * (T)gamma + (T)coef0; POWER(a[c_], degree);          \
            }                                                                       \
    } while (0)

/* out = a tile's values in float32 */
#define AS_FLOATS(out, a)                                                           \
    do {                                                                            \
        for (int c_ = 0; c_ < PARTS; c_++) TO_FLOATS((out) + c_ * (LANES / PARTS), (a)[c_]); \
    } while (0)

/* f += a tile's values times w, in float64 */
#define ADD_WEIGHTED(f, w, a)                                                       \
    do {                                                                            \
        for (int c_ = 0; c_ < PARTS; c_++) {                                        \
            NARROW u_[LANES / 8]; WIDE w_;                                          \
            memcpy(u_, &(a)[c_], sizeof u_);                                        \
            for (int k_ = 0; k_ < LANES / 8; k_++) {                                \
                memcpy(&w_, (w) + (c_ * (LANES / 8) + k_) * (8 / PARTS), sizeof w_); \
                (f)[(c_ * (LANES / 8) + k_) % PARTS] += w_ * __builtin_convertvector(u_[k_], WIDE); \
            }                                                                       \
        }                                                                           \
    } while (0)

/* out[t] = (float) k(x, row t), for all rows of n_tiles tiles */
TARGET
static void AT(tiles_kernel)(int kind, double gamma, double coef0, int degree, const T *x, const T *tile,
                             const uint64_t *present, int64_t width, int64_t n_tiles, float *out)
{
    VEC a[TILES * PARTS];
    uint64_t in_x[TILES_WORDS(TILES_WIDEST)];
    const int64_t words = TILES_WORDS(width);
    int64_t i = 0;
    int hollow = 0;
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    LOOK_AT_X(hollow, kind == TILES_RBF);
    for (; i + TILES <= n_tiles; i += TILES) {
        KERNEL_VALUES(a, TILES);
        for (int c = 0; c < TILES; c++) { AS_FLOATS(out, a + c * PARTS); out += LANES; }
    }
    for (; i < n_tiles; i++) {
        KERNEL_VALUES(a, 1);
        AS_FLOATS(out, a); out += LANES;
    }
}

/* sum_t weight[t] k(x, row t), over all rows of n_tiles tiles: eight float64 lanes, folded in halves */
TARGET
static double AT(tiles_weighted)(int kind, double gamma, double coef0, int degree, const T *x,
                                 const T *tile, const uint64_t *present, int64_t width,
                                 int64_t n_tiles, const double *weight)
{
    VEC a[TILES * PARTS];
    uint64_t in_x[TILES_WORDS(TILES_WIDEST)];
    const int64_t words = TILES_WORDS(width);
    WIDE f[PARTS] = {{0}};
    double s[8];
    int64_t i = 0;
    int hollow = 0;
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    LOOK_AT_X(hollow, kind == TILES_RBF);
    for (; i + TILES <= n_tiles; i += TILES) {
        KERNEL_VALUES(a, TILES);
        for (int c = 0; c < TILES; c++) { ADD_WEIGHTED(f, weight, a + c * PARTS); weight += LANES; }
    }
    for (; i < n_tiles; i++) {
        KERNEL_VALUES(a, 1);
        ADD_WEIGHTED(f, weight, a); weight += LANES;
    }
    memcpy(s, f, sizeof s);
    return FOLD_EIGHT(s);
}

/* a += what a feature adds: its LANES values in a tile, at z, with those of four rows, at y */
#define ADD_DISTANCE(u, v, y) do { VEC t_ = (v) - (y); (u) += t_ * t_; } while (0)
#define ADD_PRODUCT(u, v, y) do { (u) += (v) * (y); } while (0)
#define ADD_TO_FOUR(ADD, a, z, y)                                                   \
    do {                                                                            \
        VEC v_[PARTS];                                                              \
        for (int c_ = 0; c_ < PARTS; c_++) LOAD(v_[c_], (z) + c_ * (LANES / PARTS)); \
        for (int c_ = 0; c_ < 4 * PARTS; c_++) ADD(a[c_], v_[c_ % PARTS], (y)[c_ / PARTS]); \
    } while (0)

/* ADD of all features, or of those that can add more than a zero: COMMON tells them from two words */
#define ADD_FEATURES(ADD, COMMON, a)                                                \
    do {                                                                            \
        int64_t n_ = 0;                                                             \
        if (noted) for (int64_t k_ = 0; k_ < words; k_++)                           \
            n_ += __builtin_popcountll(COMMON(in_z[k_], in_y[k_]));                 \
        if (!noted || 2 * n_ > width) {                                             \
            for (int64_t d_ = 0; d_ < width; d_++)                                  \
                ADD_TO_FOUR(ADD, a, z + d_ * LANES, y + d_ * LANES);                \
            break;                                                                  \
        }                                                                           \
        for (int64_t k_ = 0; k_ < words; k_++)                                      \
            for (uint64_t w_ = COMMON(in_z[k_], in_y[k_]); w_; w_ &= w_ - 1) {      \
                int64_t d_ = 64 * k_ + __builtin_ctzll(w_);                         \
                ADD_TO_FOUR(ADD, a, z + d_ * LANES, y + d_ * LANES);                \
            }                                                                       \
    } while (0)
#define EITHER(v, w) ((v) | (w))
#define BOTH(v, w) ((v) & (w))

/* a = kernel values of the four rows of y, features LANES apart, with the rows of the tile z */
#define FOUR_VALUES(a, z, y)                                                        \
    do {                                                                            \
        for (int c_ = 0; c_ < 4 * PARTS; c_++) a[c_] = (VEC){0};                    \
        if (kind == TILES_RBF)                                                      \
            ADD_FEATURES(ADD_DISTANCE, EITHER, a);                                  \
        else                                                                        \
            ADD_FEATURES(ADD_PRODUCT, BOTH, a);                                     \
        OF_SUMS(a, 4 * PARTS);                                                      \
    } while (0)

/* out[j] = sum_t weight[t] k(row j of x, row t), for n rows x, which lie in tiles too: what
 * tiles_weighted gives for each, to the bit, but a tile is fetched once for TOGETHER of them, and
 * each of its features for four. in_x are the notes of x; it and `present` are NULL, or neither. */
TARGET
static void AT(tiles_weighted_rows)(int kind, double gamma, double coef0, int degree, const T *x,
                                    const uint64_t *in_x, int64_t n, const T *tile,
                                    const uint64_t *present, int64_t width, int64_t n_tiles,
                                    const double *weight, double *out)
{
    uint64_t fours[TILES_FOURS];
    const int64_t words = TILES_WORDS(width);
    const int noted = in_x && width <= TILES_WIDEST;
    int64_t together = TILES_TOGETHER;
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    if (noted && words * together / 4 > TILES_FOURS)
        together = TILES_FOURS / (words * LANES / 4) * LANES;
    for (int64_t first = 0; first < n; first += together) {
        WIDE f[TILES_TOGETHER][PARTS] = {{{0}}};
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
                VEC a[4 * PARTS];
                FOUR_VALUES(a, z, y);
                for (int c = 0; c < 4; c++) ADD_WEIGHTED(f[j + c], weight + i * LANES, a + c * PARTS);
            }
        }
        for (int64_t j = 0; j < rows; j++) {
            double s[8];
            memcpy(s, f[j], sizeof s);
            out[first + j] = FOLD_EIGHT(s);
        }
    }
}

/* out[j] = what tiles_kernel gives of row j of x, to the bit, for n rows x, at most TILES_ROWS, which
 * lie in tiles too: a tile is fetched once for all of them. in_x as in tiles_weighted_rows. */
TARGET
static void AT(tiles_kernel_rows)(int kind, double gamma, double coef0, int degree, const T *x,
                                  const uint64_t *in_x, int64_t n, const T *tile,
                                  const uint64_t *present, int64_t width, int64_t n_tiles,
                                  float *const *out)
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
            VEC a[4 * PARTS];
            FOUR_VALUES(a, z, y);
            for (int c = 0; c < 4 && j + c < n; c++) AS_FLOATS(out[j + c] + i * LANES, a + c * PARTS);
        }
    }
}

/* a += what feature d adds, in float64 */
#define ADD_WIDE(a, d)                                                              \
    do {                                                                            \
        const T *p_ = tile + (d) * LANES;                                           \
        const double x_ = x[d];                                                     \
        for (size_t c_ = 0; c_ < WIDES; c_++) {                                     \
            NARROW h_; LOAD(h_, p_ + c_ * (8 / PARTS));                             \
            WIDE u_ = __builtin_convertvector(h_, WIDE);                            \
            if (squares) { u_ -= x_; a[c_] += u_ * u_; } else a[c_] += u_ * x_;     \
        }                                                                           \
    } while (0)

/* out[t] = x . row t, or |x - row t|^2, for all rows of n_tiles tiles; summed in float64 */
TARGET
static void AT(tiles_sums)(int squares, const T *x, const T *tile, const uint64_t *present,
                           int64_t width, int64_t n_tiles, double *out)
{
    uint64_t in_x[TILES_WORDS(TILES_WIDEST)];
    const int64_t words = TILES_WORDS(width);
    int hollow = 0;
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    if (squares) LOOK_AT_X(hollow, 1);
    for (int64_t i = 0; i < n_tiles; i++, tile += width * LANES) {
        WIDE a[WIDES] = {{0}};
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
TARGET
static void AT(tiles_exp)(T scale, T *v, int64_t n)
{
    const int64_t lanes = LANES / PARTS;
    VEC a = {0};
    int64_t i = 0;
    EDGESVM_CHECK(n >= 0);
    for (; i + lanes <= n; i += lanes) {
        LOAD(a, v + i); a *= scale; EXP(a);
        memcpy(v + i, &a, sizeof a);
    }
    if (i < n) {
        memcpy(&a, v + i, (size_t)(n - i) * sizeof(T)); a *= scale; EXP(a);
        memcpy(v + i, &a, (size_t)(n - i) * sizeof(T));
    }
}

#undef VEC
#undef WIDES
#undef EXP
#undef POWER
#undef LOAD_PART
#undef ADD_FEATURE
#undef PRODUCTS
#undef DISTANCES
#undef HOLLOW_DISTANCES
#undef KERNEL_VALUES
#undef OF_SUMS
#undef AS_FLOATS
#undef ADD_WEIGHTED
#undef ADD_DISTANCE
#undef ADD_PRODUCT
#undef ADD_TO_FOUR
#undef ADD_FEATURES
#undef EITHER
#undef BOTH
#undef FOUR_VALUES
#undef ADD_WIDE
#undef PART
#undef PARTS
#undef MASK
#undef WIDE
#undef NARROW
#undef FLOATS
#undef TILES
#undef TARGET
#undef AT
