/* Kernel values of one sample and many rows, the rows lying side by side in tiles.
 *
 * A tile is LANES rows (64 bytes: 16 of float32, 8 of float64), transposed: feature d of row t is
 * number d * LANES + t % LANES of tile t / LANES. One vector is then one feature of LANES rows, so
 * that two features cost as little as they are: no sum across lanes, no tail, exp in vectors too.
 * Each row's sum runs over its features in order, the same bits on every target.
 *
 * `present` has 64 features a word, TILES_WORDS(width) words a tile: where its bit is not set, a
 * feature is zero in all rows of the tile. It may be NULL, and a bit may be set without need.
 */
#ifndef EDGESVM_TILES_H
#define EDGESVM_TILES_H

#include "lanes.h"

#define TILES_WORDS(width) (((width) + 63) / 64)
#define TILES_WIDEST 65536      /* features of a sample whose zeros are passed over in a distance */
#define TILES_TOGETHER 64       /* rows that are weighed together, at most */
#define TILES_ROWS 16           /* rows whose kernel values are computed together, at most */
#define TILES_FOURS 4096        /* words of notes of each four of these: 16 rows of the widest */

/* blank = whether the 64 bytes from p on are all zero */
#define IS_BLANK(blank, p)                                                          \
    do {                                                                            \
        uint64_t w_[8];                                                             \
        memcpy(w_, (p), 64);                                                        \
        blank = !(((w_[0] | w_[1]) | (w_[2] | w_[3])) | ((w_[4] | w_[5]) | (w_[6] | w_[7]))); \
    } while (0)

#define FOLD_EIGHT(s) (((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])))

#ifndef EDGESVM_SUMS_ELSEWHERE
/* Set the bits of the features that are not zero, in n_tiles tiles of either type. */
EDGESVM_CLONES
EDGESVM_SUM void tiles_note(const char *tile, int64_t width, int64_t n_tiles, uint64_t *present)
{
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    for (int64_t i = 0; i < n_tiles; i++)
        for (int64_t first = 0; first < width; first += 64) {
            uint64_t word = 0;
            int64_t n = width - first < 64 ? width - first : 64;
            for (int64_t d = 0; d < n; d++, tile += 64) {
                int blank; IS_BLANK(blank, tile); word |= (uint64_t)!blank << d;
            }
            *present++ = word;
        }
}

#endif

/* The first feature from d on that is present in a tile, or at least `width`; d if that is not known */
static inline int64_t tiles_next(const uint64_t *present, int64_t width, int64_t d)
{
    if (!present || d >= width) return d;
    uint64_t word = present[d / 64] >> d % 64;
    if (word) return d + __builtin_ctzll(word);
    for (d = (d / 64 + 1) * 64; d < width; d += 64)
        if (present[d / 64]) return d + __builtin_ctzll(present[d / 64]);
    return width;
}

enum { TILES_LINEAR = 0, TILES_RBF = 1, TILES_POLYNOMIAL = 2 };  /* KernelKind of kernels.pxd */

#ifndef EDGESVM_SUMS_ELSEWHERE

#define T float
#define BITS int32_t
#define LANES 16
#define NAME(stem) stem##_f32
#define MAGIC 12582912.0f                   /* 1.5 * 2^23 */
#define LN2_HIGH 0.693359375f               /* exact times a small k */
#define LN2_LOW (-2.12194440e-4f)
#define LOWEST (-87.0f)                     /* above the least normal number */
#define MANTISSA 23
#define BIAS 127
#define TAYLOR(p, r)                                                                \
    p = (r) * 1.9841270e-4f + 1.3888889e-3f; p = p * (r) + 8.3333333e-3f;           \
    p = p * (r) + 4.1666667e-2f; p = p * (r) + 1.6666667e-1f; p = p * (r) + 0.5f;   \
    p = p * (r) + 1.0f; p = p * (r) + 1.0f
#define TO_FLOATS(out, v) memcpy((out), &(v), sizeof(v))
#include "tiles_type.h"

#define T double
#define BITS int64_t
#define LANES 8
#define NAME(stem) stem##_f64
#define MAGIC 6755399441055744.0            /* 1.5 * 2^52 */
#define LN2_HIGH 6.93147180369123816490e-01
#define LN2_LOW 1.90821492927058770002e-10
#define LOWEST (-708.0)
#define MANTISSA 52
#define BIAS 1023
#define TAYLOR(p, r)                                                                \
    p = (r) * 1.6059043836821613e-10 + 2.0876756987868099e-09;                      \
    p = p * (r) + 2.5052108385441719e-08; p = p * (r) + 2.7557319223985891e-07;     \
    p = p * (r) + 2.7557319223985893e-06; p = p * (r) + 2.4801587301587302e-05;     \
    p = p * (r) + 1.9841269841269841e-04; p = p * (r) + 1.3888888888888889e-03;     \
    p = p * (r) + 8.3333333333333333e-03; p = p * (r) + 4.1666666666666666e-02;     \
    p = p * (r) + 1.6666666666666666e-01; p = p * (r) + 0.5;                        \
    p = p * (r) + 1.0; p = p * (r) + 1.0
#define TO_FLOATS(out, v)                                                           \
    do { FLOATS h_ = __builtin_convertvector(v, FLOATS); memcpy((out), &h_, sizeof h_); } while (0)
#include "tiles_type.h"

#undef IS_BLANK
#undef FOLD_EIGHT
#endif
#endif
