/* Included by tiles.h once a type: T, BITS, LANES, NAME, and the constants of exp. Needs lanes.h. */

#define LOAD(v, p) memcpy(&(v), (p), sizeof(v))

typedef T NAME(tiles_eight) __attribute__((vector_size(8 * sizeof(T))));
typedef T NAME(tiles_four) __attribute__((vector_size(4 * sizeof(T))));
typedef T NAME(tiles_two) __attribute__((vector_size(2 * sizeof(T))));

/* hollow = whether most of x is zero */
#define IS_HOLLOW(hollow)                                                           \
    do {                                                                            \
        int64_t n_ = 0;                                                             \
        for (int64_t d_ = 0; d_ < width; d_++) n_ += x[d_] != 0;                    \
        hollow = 2 * n_ < width;                                                    \
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
    NAME(mask) places = {0};
    int64_t d = 0;
    EDGESVM_CHECK(width > 0);
    for (int c = 0; c < LANES; c++) places[c] = (BITS)((uint32_t)1 << c);
    for (; d + LANES <= width; d += LANES) {
        int blank;
        NAME(mask) bits;
        uint64_t w[8], all;
        IS_BLANK(blank, x + d);
        if (blank) continue;
        LOAD(bits, x + d);
        bits = (NAME(mask))(bits != 0) & places;
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

/* Fetch what is noted of the tile behind z. */
#define FETCH_NEXT(z, in_z)                                                         \
    do {                                                                            \
        for (int64_t k_ = 0; k_ < words; k_++)                                      \
            for (uint64_t w_ = (in_z)[words + k_]; w_; w_ &= w_ - 1)                \
                __builtin_prefetch((z) + (width + 64 * k_ + __builtin_ctzll(w_)) * LANES, 0, 2);\
    } while (0)

/* Rows do not meet: a tile may be looked at in parts, which are as wide as the target's vectors. */
#define PART NAME(vec)
#define PARTS 1
#define MASK NAME(mask)
#define WIDE vec_f64
#define NARROW NAME(tiles_eight)
#define FLOATS tiles_eight_f32
#define TILES 4
#define TARGET BLOCK_FULL
#define AT(stem) NAME(stem##_full)
#include "tiles_parts.h"

#define PART NAME(half)
#define PARTS 2
#define MASK NAME(half_mask)
#define WIDE half_f64
#define NARROW NAME(tiles_four)
#define FLOATS tiles_four_f32
#define TILES 4
#define TARGET BLOCK_HALVES
#define AT(stem) NAME(stem##_halves)
#include "tiles_parts.h"

#define PART NAME(quarter)
#define PARTS 4
#define MASK NAME(quarter_mask)
#define WIDE quarter_f64
#define NARROW NAME(tiles_two)
#define FLOATS tiles_two_f32
#define TILES 2
#define TARGET
#define AT(stem) NAME(stem##_quarters)
#include "tiles_parts.h"

/* out[t] = (float) k(x, row t), for all rows of n_tiles tiles */
EDGESVM_SUM void NAME(tiles_kernel)(int kind, double gamma, double coef0, int degree, const T *x,
                                    const T *tile, const uint64_t *present, int64_t width,
                                    int64_t n_tiles, float *out)
{
    BY_WIDTH(tiles_kernel, kind, gamma, coef0, degree, x, tile, present, width, n_tiles, out);
}

/* sum_t weight[t] k(x, row t), over all rows of n_tiles tiles: eight float64 lanes, folded in halves */
EDGESVM_SUM double NAME(tiles_weighted)(int kind, double gamma, double coef0, int degree, const T *x,
                                        const T *tile, const uint64_t *present, int64_t width,
                                        int64_t n_tiles, const double *weight)
{
    return BY_WIDTH(
        tiles_weighted, kind, gamma, coef0, degree, x, tile, present, width, n_tiles, weight);
}

/* out[j] = what tiles_weighted gives for row j of x, to the bit, for n rows x, which lie in tiles too.
 * in_x are the notes of x; it and `present` are NULL, or neither. */
EDGESVM_SUM void NAME(tiles_weighted_rows)(int kind, double gamma, double coef0, int degree,
                                           const T *x, const uint64_t *in_x, int64_t n,
                                           const T *tile, const uint64_t *present, int64_t width,
                                           int64_t n_tiles, const double *weight, double *out)
{
    BY_WIDTH(tiles_weighted_rows, kind, gamma, coef0, degree, x, in_x, n, tile, present, width, n_tiles,
             weight, out);
}

/* out[j] = what tiles_kernel gives of row j of x, to the bit, for n rows x, at most TILES_ROWS, which
 * lie in tiles too; in_x as in tiles_weighted_rows */
EDGESVM_SUM void NAME(tiles_kernel_rows)(int kind, double gamma, double coef0, int degree,
                                         const T *x, const uint64_t *in_x, int64_t n,
                                         const T *tile, const uint64_t *present, int64_t width,
                                         int64_t n_tiles, float *const *out)
{
    BY_WIDTH(tiles_kernel_rows, kind, gamma, coef0, degree, x, in_x, n, tile, present, width, n_tiles, out);
}

/* out[t] = x . row t, or |x - row t|^2, for all rows of n_tiles tiles; summed in float64 */
EDGESVM_SUM void NAME(tiles_sums)(int squares, const T *x, const T *tile, const uint64_t *present,
                                  int64_t width, int64_t n_tiles, double *out)
{
    BY_WIDTH(tiles_sums, squares, x, tile, present, width, n_tiles, out);
}

/* v[i] = exp(scale * v[i]), none of them above 0 */
EDGESVM_SUM void NAME(tiles_exp)(T scale, T *v, int64_t n)
{
    BY_WIDTH(tiles_exp, scale, v, n);
}

#undef LOAD
#undef IS_HOLLOW
#undef IS_CROWDED
#undef LOOK_AT_X
#undef NOTED
#undef PUT
#undef GET
#undef WIPE
#undef NOTHING
#undef CLEAR_X
#undef FETCH_NEXT
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
#undef TO_FLOATS
