/* Included by waves.h once a type: T, BITS, UBITS, WHOLE_LANES and HALF_LANES (of 64 and 32
 * bytes), NAME, MAGIC. */

#define VEC NAME(vec)
#define MASK NAME(mask)
#define LANES WHOLE_LANES
#define TARGET BLOCK_NOT_HALVES
#define AT(stem) NAME(stem##_full)
#include "waves_width.h"

#define VEC NAME(half)
#define MASK NAME(half_mask)
#define LANES HALF_LANES
#define TARGET BLOCK_HALVES
#define AT(stem) NAME(stem##_halves)
#include "waves_width.h"

#define BY_HALVES(stem, ...)                                                        \
    (BLOCK_LANES == 4 ? NAME(stem##_halves)(__VA_ARGS__) : NAME(stem##_full)(__VA_ARGS__))

/* angle[p] of directions first .. first + n, in 1/65536 turn: that of scale[p % 4] * (x . direction),
 * given in turns */
static void NAME(waves_angles)(const T *x, int64_t width, uint32_t key, const double *scale,
                               int64_t first, int64_t n, int16_t *angle)
{
    BY_HALVES(waves_angles, x, width, key, scale, first, n, angle);
}

/* waves_angles of one, two or four rows, one behind the other; angle[r * apart + p] */
static void NAME(waves_angles_rows)(const T *x, int n_rows, int64_t width, uint32_t key,
                                    const double *scale, int64_t first, int64_t n, int16_t *angle,
                                    int64_t apart)
{
    BY_HALVES(waves_angles_rows, x, n_rows, width, key, scale, first, n, angle, apart);
}

/* angle[p] of the first n directions of an orthogonal block, d of them in all: that of
 * scale[p % 4] * (x . direction). v (d,): TMP */
static void NAME(waves_mixed)(const T *x, int64_t width, uint32_t key, const double *scale,
                              int64_t d, int64_t block, int64_t n, T *v, int16_t *angle)
{
    BY_HALVES(waves_mixed, x, width, key, scale, d, block, n, v, angle);
}

/* wave[p] = cos(angle[p]), wave[n + p] = sin(angle[p]), to 1e-7 */
static void NAME(waves_of)(const int16_t *angle, int64_t n, T *wave)
{
    BY_HALVES(waves_of, angle, n, wave);
}

/* wave[p] *= amplitude[p % 4] */
static void NAME(waves_weigh)(T *wave, int64_t n, const double *amplitude)
{
    BY_HALVES(waves_weigh, wave, n, amplitude);
}

/* dot[j] += scale * the sum of w[p] * wave[p] over p % 4 = j */
static void NAME(waves_dots)(const T *w, const T *wave, int64_t n, double scale, double *dot)
{
    BY_HALVES(waves_dots, w, wave, n, scale, dot);
}

#undef BY_HALVES
#undef T
#undef BITS
#undef UBITS
#undef WHOLE_LANES
#undef HALF_LANES
#undef NAME
#undef MAGIC
