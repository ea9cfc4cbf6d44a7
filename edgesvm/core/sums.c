/* The sums in vectors of one width, SUMS_WIDTH bytes; without it, in those of the target. Where the loader may
 * choose, this file is compiled for each width, and once with SUMS_CHOSEN, which calls what the processor has. */
#include <float.h>
#include <math.h>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "lanes.h"

#define OF_WIDTH(name, width) OF_WIDTH_(name, width)
#define OF_WIDTH_(name, width) name##_w##width

#ifdef SUMS_CHOSEN
#define CHOSEN_F32(R, stem, parameters, arguments) CHOSEN(R, stem##_f32, parameters, arguments)
#define CHOSEN_F64(R, stem, parameters, arguments) CHOSEN(R, stem##_f64, parameters, arguments)
#define CHOSEN(R, name, parameters, arguments)                                                      \
    R OF_WIDTH(name, 16) parameters; R OF_WIDTH(name, 32) parameters; R OF_WIDTH(name, 64) parameters; \
    R name parameters                                                                               \
    {                                                                                               \
        const int lanes = BLOCK_LANES;                                                              \
        return lanes == 8 ? OF_WIDTH(name, 64) arguments                                            \
               : lanes == 4 ? OF_WIDTH(name, 32) arguments : OF_WIDTH(name, 16) arguments;          \
    }
SUMS(CHOSEN)
#else
#ifdef SUMS_WIDTH
#define SUM(name) OF_WIDTH(name, SUMS_WIDTH)
#else
#define SUMS_WIDTH (8 * BLOCK_LANES)
#define SUM(name) name
#endif
#define PARTS (64 / SUMS_WIDTH)                     /* vectors that 64 bytes fill */
#define EACH for (int p = 0; p < PARTS; p++)
#define EIGHTH (SUMS_WIDTH / 8)                     /* numbers of float64 in a vector */
#define INLINE static inline __attribute__((always_inline))
#define FETCH(p) __builtin_prefetch((const void *)(uintptr_t)(p))
/* (x - mean) / sqrt(variance), 0 for a feature that has not varied */
#define STANDARD(x, mean, variance) ((variance) > 0.0 ? ((x) - (mean)) / sqrt(variance) : 0.0)
#define WITHIN(clip, z) ((z) < -(clip) ? -(clip) : (z) > (clip) ? (clip) : (z))
/* Whether a value is further from the mean than `most` spreads allow */
#define IS_FAR(delta, spread, most) ((delta) * (delta) > (most) * (spread))
#define TILES_WIDEST 65536      /* features of a sample whose zeros are passed over in a distance */
#define TILES_TOGETHER 64       /* rows that are weighed together, at most */
#define TILES_FOURS 4096        /* words of notes of each four of these: 16 rows of the widest */
#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define TURN(v, ...) __builtin_shufflevector(v, v, __VA_ARGS__)
#else                                               /* GCC before 12 */
#define PICK(a, b, ...) __builtin_shuffle(a, b, (OWN(picked)){__VA_ARGS__})
#define TURN(v, ...) __builtin_shuffle(v, (MASK){__VA_ARGS__})
typedef int32_t picked_f32 __attribute__((vector_size(16)));
typedef int64_t picked_f64 __attribute__((vector_size(16)));
#endif
enum { WITH = 1, APART = 2, SQUARE = 4, AHEAD = 8 };

typedef double wide __attribute__((vector_size(SUMS_WIDTH)));
typedef struct { wide p[PARTS]; } eight;            /* numbers of float64 */

INLINE eight load_eight(const double *x) { eight v; EACH memcpy(&v.p[p], x + p * EIGHTH, sizeof(wide)); return v; }

INLINE double fold_eight(const eight *v)
{
    double s[8];
    memcpy(s, v, sizeof s);
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

INLINE int is_blank(const void *p)
{
    uint64_t w[8];
    memcpy(w, p, 64);
    return !(((w[0] | w[1]) | (w[2] | w[3])) | ((w[4] | w[5]) | (w[6] | w[7])));
}

/* Set the bits of the features that are not zero, in n_tiles tiles of either type. */
void SUM(tiles_note)(const char *tile, int64_t width, int64_t n_tiles, uint64_t *present)
{
    EDGESVM_CHECK(n_tiles >= 0 && width > 0);
    for (int64_t i = 0; i < n_tiles; i++)
        for (int64_t first = 0; first < width; first += 64) {
            uint64_t word = 0;
            int64_t n = width - first < 64 ? width - first : 64;
            for (int64_t d = 0; d < n; d++, tile += 64) word |= (uint64_t)!is_blank(tile) << d;
            *present++ = word;
        }
}

/* f[c] += weight[i] k[8 i + c], row by row */
void SUM(rows_block_weigh)(const double *weight, const double *k, int64_t n, double *f)
{
    eight sum = load_eight(f);
    EDGESVM_CHECK(n >= 0);
    for (int64_t i = 0; i < n; i++, k += 8) {
        eight v = load_eight(k);
        EACH sum.p[p] += weight[i] * v.p[p];
    }
    EACH memcpy(f + p * EIGHTH, &sum.p[p], sizeof(wide));
}

INLINE void add_row(wide *sum, double weight, const double *k)
{
    wide v;
    memcpy(&v, k, sizeof v);
    *sum += weight * v;
}

/* f[c] = sum_i weight[i] k[8 i + c], each in the order of lanes_dot */
void SUM(rows_block_dot)(const double *weight, const double *k, int64_t n, double *f)
{
    const int64_t whole = n - n % 8;
    EDGESVM_CHECK(n >= 0);
    for (int c = 0; c < 8; c += EIGHTH) {
        wide s[8];
        for (int64_t j = 0, i; j < 8; j++) {
            wide a = {0}, b = {0};
            for (i = j; i < whole; i += 16) add_row(&a, weight[i], k + 8 * i + c);
            for (i = j + 8; i < whole; i += 16) add_row(&b, weight[i], k + 8 * i + c);
            a += b;
            i = whole ? n - 8 + j : j;      /* where lane j of the tail is */
            if (i >= whole && i < n) add_row(&a, weight[i], k + 8 * i + c);
            s[j] = a;
        }
        s[0] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
        memcpy(f + c, &s[0], sizeof s[0]);
    }
}

/* Take x, the n-th value, into the moments of a feature, at most as far out as these allow, which is then x; returns
 * whether it is further. A spread of 0 has no scale. Of the first three values, one that the other two are 12 `bound`
 * times as far from as from each other is forgotten: nothing before them says that it is far out. */
INLINE int take(double *x, double *mean, double *spread, double n, double share, double bound, double most)
{
    double delta = *x - *mean, half = sqrt(*spread / 2.0);
    int is_far = *spread > 0.0 && IS_FAR(delta, *spread, most);
    if (n == 3.0 && fabs(fabs(delta) - half) * 6.0 * bound < half) {
        *mean = *x;
        *spread = 0.0;
        return is_far;
    }
    if (is_far) {
        delta = copysign(sqrt(most * *spread), delta);
        *x = *mean + delta;
    }
    *mean += delta * share;
    *spread += delta * (*x - *mean);
    return is_far;
}

int SUM(moments_take)(double *x, double *mean, double *spread, double n, double share, double bound, double most)
{
    return take(x, mean, spread, n, share, bound, most);
}

/* out[i] = |x - row i|^2 of codes of 16 bits, times unit^2: they differ by less than 2^16, so a square is a uint32_t, and
 * the sum is exact in any order */
void SUM(codes_square_distances)(const int16_t *x, const int16_t *rows, int64_t width, int64_t n, double unit,
                                 double *out)
{
    for (int64_t i = 0; i < n; i++, rows += width) {
        uint64_t total = 0;
        for (int64_t j = 0; j < width; j++) {
            uint32_t far = (uint32_t)((int32_t)x[j] - rows[j]);
            total += far * far;
        }
        out[i] = unit * unit * (double)total;
    }
}

#define T float
#define BITS int32_t
#define UBITS uint32_t
#define ROOT sqrtf
#define LANES 16
#define FIRST(p, n) _mm512_maskz_loadu_ps((__mmask16)((1u << (n)) - 1u), p)
#define NAME(stem) SUM(stem##_f32)
#define OWN(stem) stem##_f32
#define MAGIC 12582912.0f                   /* 1.5 * 2^23 */
#define LN2_HIGH 0.693359375f               /* exact times a small k */
#define LN2_LOW (-2.12194440e-4f)
#define LOWEST (-87.0f)                     /* above the least normal number */
#define MANTISSA 23
#define BIAS 127
#define TAYLOR {1.9841270e-4f, 1.3888889e-3f, 8.3333333e-3f, 4.1666667e-2f, 1.6666667e-1f, 0.5f, 1.0f, 1.0f}
#include "sums_of.h"

#define T double
#define BITS int64_t
#define UBITS uint64_t
#define ROOT sqrt
#define LANES 8
#define FIRST(p, n) _mm512_maskz_loadu_pd((__mmask8)((1u << (n)) - 1u), p)
#define NAME(stem) SUM(stem##_f64)
#define OWN(stem) stem##_f64
#define MAGIC 6755399441055744.0            /* 1.5 * 2^52 */
#define LN2_HIGH 6.93147180369123816490e-01
#define LN2_LOW 1.90821492927058770002e-10
#define LOWEST (-708.0)
#define MANTISSA 52
#define BIAS 1023
#define TAYLOR                                                                                      \
    {1.6059043836821613e-10, 2.0876756987868099e-09, 2.5052108385441719e-08, 2.7557319223985891e-07, \
     2.7557319223985893e-06, 2.4801587301587302e-05, 1.9841269841269841e-04, 1.3888888888888889e-03, \
     8.3333333333333333e-03, 4.1666666666666666e-02, 1.6666666666666666e-01, 0.5, 1.0, 1.0}
#include "sums_of.h"
#endif
