/* The vectors of byte_lanes.h: in AVX2 eight directions, elsewhere four in 16 bytes: NEON, or what the compiler makes
 * of them. Arithmetic is the compiler's; here is what it has no operator for. */
#if defined(__x86_64__) && !defined(BYTE_PLAIN)
#include <immintrin.h>
#define BYTE_LANES 8
#else
#define BYTE_LANES 4
#ifdef __ARM_NEON
#include <arm_neon.h>
#endif
#endif

typedef int32_t byte_lanes __attribute__((vector_size(4 * BYTE_LANES))); /* one of each direction */
typedef uint32_t byte_bits __attribute__((vector_size(4 * BYTE_LANES)));
typedef int16_t byte_pairs __attribute__((vector_size(4 * BYTE_LANES))); /* two of each direction, or vector */
typedef int64_t byte_longs __attribute__((vector_size(4 * BYTE_LANES)));
typedef int8_t byte_small __attribute__((vector_size(2 * BYTE_LANES)));  /* pairs in bytes */
typedef int16_t byte_column __attribute__((vector_size(2 * BYTE_LANES))); /* such a pair as one number */

typedef struct { /* a word of 8 bytes for each direction: of 0, 1, 4, 5 and of 2, 3, 6, 7 */
    byte_longs a, b;
} byte_words;

#if defined(__clang__) || __GNUC__ >= 12
#define BYTE_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define BYTE_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (__typeof__(a)){__VA_ARGS__})
#endif

#if BYTE_LANES == 8
#define BYTE_FIRST_LANES {0, 1, 2, 3, 4, 5, 6, 7}
#define BYTE_WORDS(AT) {(byte_longs){AT(0), AT(1), AT(4), AT(5)}, (byte_longs){AT(2), AT(3), AT(6), AT(7)}}
#define BYTE_EVEN(a, b) BYTE_SHUFFLE(a, b, 0, 2, 8, 10, 4, 6, 12, 14) /* of words: their first halves in order */
#define BYTE_ODD(a, b) BYTE_SHUFFLE(a, b, 1, 3, 9, 11, 5, 7, 13, 15)
#define BYTE_ZIP_LOW(a, b) BYTE_SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define BYTE_ZIP_HIGH(a, b) BYTE_SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define BYTE_FIRST_LANES {0, 1, 2, 3}
#define BYTE_WORDS(AT) {(byte_longs){AT(0), AT(1)}, (byte_longs){AT(2), AT(3)}}
#define BYTE_EVEN(a, b) BYTE_SHUFFLE(a, b, 0, 2, 4, 6)
#define BYTE_ODD(a, b) BYTE_SHUFFLE(a, b, 1, 3, 5, 7)
#define BYTE_ZIP_LOW(a, b) BYTE_SHUFFLE(a, b, 0, 4, 1, 5)
#define BYTE_ZIP_HIGH(a, b) BYTE_SHUFFLE(a, b, 2, 6, 3, 7)
#endif

BYTE_INLINE byte_lanes byte_all(int32_t v) { return (byte_lanes){0} + v; }
BYTE_INLINE byte_pairs byte_all_pairs(int16_t v) { return (byte_pairs){0} + v; }
BYTE_INLINE byte_lanes byte_low_halves(byte_lanes v) { return v << 16 >> 16; }

#if BYTE_LANES == 8

#define BYTE_AVX(v) ((__m256i)(v))
BYTE_INLINE byte_lanes byte_by_width(const int32_t *v) { /* v[0..3] for each four directions */
    return (byte_lanes)_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)v));
}
BYTE_INLINE byte_words byte_load_words(const int8_t *from) { /* words that are one after the other */
    const __m128i *at = (const __m128i *)from;
    byte_words w;
    w.a = (byte_longs)_mm256_set_m128i(_mm_loadu_si128(at + 2), _mm_loadu_si128(at));
    w.b = (byte_longs)_mm256_set_m128i(_mm_loadu_si128(at + 3), _mm_loadu_si128(at + 1));
    return w;
}
BYTE_INLINE byte_pairs byte_widen_pairs(byte_column v) { return (byte_pairs)_mm256_cvtepi8_epi16((__m128i)v); }
BYTE_INLINE byte_column byte_narrow_pairs(byte_pairs v) { /* of 8 bits */
    return (byte_column)_mm_packs_epi16(_mm256_castsi256_si128(BYTE_AVX(v)), _mm256_extracti128_si256(BYTE_AVX(v), 1));
}
BYTE_INLINE byte_lanes byte_add_products(byte_pairs a, byte_pairs b) { /* a0 b0 + a1 b1 of each pair */
    return (byte_lanes)_mm256_madd_epi16(BYTE_AVX(a), BYTE_AVX(b));
}
BYTE_INLINE byte_lanes byte_dots(byte_words u, byte_words z) { /* of bytes of words: u z = |u| (z sign u) */
    __m256i one = _mm256_set1_epi16(1); /* two products have 16 bits, 2 128 127 < 2^15 */
    __m256i a = _mm256_maddubs_epi16(_mm256_abs_epi8(BYTE_AVX(u.a)), _mm256_sign_epi8(BYTE_AVX(z.a), BYTE_AVX(u.a)));
    __m256i b = _mm256_maddubs_epi16(_mm256_abs_epi8(BYTE_AVX(u.b)), _mm256_sign_epi8(BYTE_AVX(z.b), BYTE_AVX(u.b)));
    return (byte_lanes)_mm256_hadd_epi32(_mm256_madd_epi16(a, one), _mm256_madd_epi16(b, one));
}
BYTE_INLINE byte_pairs byte_high(byte_pairs a, byte_pairs b) { /* 2 a b >> 16, |a| < 2^14 */
    return (byte_pairs)_mm256_mulhi_epi16(BYTE_AVX(a + a), BYTE_AVX(b));
}
BYTE_INLINE byte_pairs byte_high_rounded(byte_pairs a, byte_pairs b) { /* (2 a b + 2^15) >> 16 */
    return (byte_pairs)_mm256_mulhrs_epi16(BYTE_AVX(a), BYTE_AVX(b));
}
BYTE_INLINE byte_lanes byte_clip_lanes(byte_lanes v, byte_lanes most) {
    return (byte_lanes)_mm256_max_epi32(_mm256_min_epi32(BYTE_AVX(v), BYTE_AVX(most)), BYTE_AVX(-most));
}
BYTE_INLINE byte_pairs byte_clip_pairs(byte_pairs v) {
    return (byte_pairs)_mm256_max_epi16(_mm256_min_epi16(BYTE_AVX(v), _mm256_set1_epi16(127)), _mm256_set1_epi16(-127));
}
BYTE_INLINE byte_pairs byte_signed(byte_pairs v, byte_pairs as) { /* v, or -v where `as` is negative */
    return (byte_pairs)_mm256_sign_epi16(BYTE_AVX(v), BYTE_AVX(as));
}
BYTE_INLINE byte_pairs byte_upper_halves(byte_lanes a, byte_lanes b) { /* as pairs */
    return (byte_pairs)_mm256_blend_epi16(_mm256_srli_epi32(BYTE_AVX(a), 16), BYTE_AVX(b), 0xAA);
}
BYTE_INLINE byte_longs byte_add_squares(byte_longs sum, byte_lanes q) {
    __m256i odd = _mm256_srli_epi64(BYTE_AVX(q), 32);
    return sum + (byte_longs)_mm256_mul_epi32(BYTE_AVX(q), BYTE_AVX(q)) + (byte_longs)_mm256_mul_epi32(odd, odd);
}

#else

BYTE_INLINE byte_lanes byte_by_width(const int32_t *v) {
    byte_lanes all;
    memcpy(&all, v, sizeof all);
    return all;
}
BYTE_INLINE byte_words byte_load_words(const int8_t *from) {
    byte_words w;
    memcpy(&w, from, sizeof w);
    return w;
}

BYTE_INLINE byte_pairs byte_widen_pairs(byte_column v) { return __builtin_convertvector((byte_small)v, byte_pairs); }
BYTE_INLINE byte_column byte_narrow_pairs(byte_pairs v) { return (byte_column)__builtin_convertvector(v, byte_small); }
BYTE_INLINE byte_pairs byte_signed(byte_pairs v, byte_pairs as) { return (v ^ as >> 15) - (as >> 15); }

#ifdef __ARM_NEON

BYTE_INLINE byte_pairs byte_upper_halves(byte_lanes a, byte_lanes b) {
    return vtrnq_s16((int16x8_t)a, (int16x8_t)b).val[1];
}
#ifdef __aarch64__
#define BYTE_ADD_NEIGHBOURS(a, b) vpaddq_s32(a, b)
#else
#define BYTE_ADD_NEIGHBOURS(a, b) \
    vcombine_s32(vpadd_s32(vget_low_s32(a), vget_high_s32(a)), vpadd_s32(vget_low_s32(b), vget_high_s32(b)))
#endif
BYTE_INLINE byte_lanes byte_add_products(byte_pairs a, byte_pairs b) {
    int32x4_t low = vmull_s16(vget_low_s16(a), vget_low_s16(b)), high = vmull_s16(vget_high_s16(a), vget_high_s16(b));
    return BYTE_ADD_NEIGHBOURS(low, high);
}
BYTE_INLINE int32x4_t byte_half_dots(int8x16_t u, int8x16_t z) { /* of two directions, two parts each */
    int16x8_t first = vmull_s8(vget_low_s8(u), vget_low_s8(z)), last = vmull_s8(vget_high_s8(u), vget_high_s8(z));
    return BYTE_ADD_NEIGHBOURS(vpaddlq_s16(first), vpaddlq_s16(last));
}
BYTE_INLINE byte_lanes byte_dots(byte_words u, byte_words z) {
    int32x4_t a = byte_half_dots((int8x16_t)u.a, (int8x16_t)z.a), b = byte_half_dots((int8x16_t)u.b, (int8x16_t)z.b);
    return BYTE_ADD_NEIGHBOURS(a, b);
}
BYTE_INLINE byte_pairs byte_high(byte_pairs a, byte_pairs b) { return vqdmulhq_s16(a, b); }
BYTE_INLINE byte_pairs byte_high_rounded(byte_pairs a, byte_pairs b) { return vqrdmulhq_s16(a, b); }
BYTE_INLINE byte_lanes byte_clip_lanes(byte_lanes v, byte_lanes most) {
    return vmaxq_s32(vminq_s32(v, most), -most);
}
BYTE_INLINE byte_pairs byte_clip_pairs(byte_pairs v) {
    return vmaxq_s16(vminq_s16(v, vdupq_n_s16(127)), vdupq_n_s16(-127));
}
BYTE_INLINE byte_longs byte_add_squares(byte_longs sum, byte_lanes q) {
    sum = vmlal_s32(sum, vget_low_s32(q), vget_low_s32(q));
    return vmlal_s32(sum, vget_high_s32(q), vget_high_s32(q));
}

#else

BYTE_INLINE byte_pairs byte_upper_halves(byte_lanes a, byte_lanes b) {
    return (byte_pairs)((byte_lanes)((byte_bits)a >> 16) | (b & ~0xFFFF));
}
BYTE_INLINE byte_lanes byte_add_products(byte_pairs a, byte_pairs b) {
    byte_lanes x = (byte_lanes)a, y = (byte_lanes)b;
    return byte_low_halves(x) * byte_low_halves(y) + (x >> 16) * (y >> 16);
}
BYTE_INLINE byte_lanes byte_dots(byte_words u, byte_words z) {
    byte_lanes part[2];
    int i;
    for (i = 0; i < 2; i++) {
        byte_pairs x = (byte_pairs)(i ? u.b : u.a), y = (byte_pairs)(i ? z.b : z.a);
        part[i] = byte_add_products(x << 8 >> 8, y << 8 >> 8) + byte_add_products(x >> 8, y >> 8);
    }
    return BYTE_EVEN(part[0], part[1]) + BYTE_ODD(part[0], part[1]);
}
BYTE_INLINE byte_pairs byte_high(byte_pairs a, byte_pairs b) {
    byte_lanes x = (byte_lanes)a, y = (byte_lanes)b, low = byte_low_halves(x) * byte_low_halves(y);
    return (byte_pairs)((byte_lanes)((byte_bits)(low + low) >> 16) | ((x >> 16) * (y >> 16) * 2 & ~0xFFFF));
}
BYTE_INLINE byte_pairs byte_high_rounded(byte_pairs a, byte_pairs b) {
    byte_lanes x = (byte_lanes)a, y = (byte_lanes)b, low = byte_low_halves(x) * byte_low_halves(y) * 2 + 32768;
    return (byte_pairs)((byte_lanes)((byte_bits)low >> 16) | (((x >> 16) * (y >> 16) * 2 + 32768) & ~0xFFFF));
}
BYTE_INLINE byte_lanes byte_clip_lanes(byte_lanes v, byte_lanes most) {
    v = ((v > most) & most) | ((v <= most) & v);
    return ((v < -most) & -most) | ((v >= -most) & v);
}
BYTE_INLINE byte_pairs byte_clip_pairs(byte_pairs v) {
    v = ((v > 127) & 127) | ((v <= 127) & v);
    return ((v < -127) & -127) | ((v >= -127) & v);
}
BYTE_INLINE byte_longs byte_add_squares(byte_longs sum, byte_lanes q) {
    int32_t at[BYTE_LANES];
    memcpy(at, &q, sizeof q);
    sum += (byte_longs){(int64_t)at[0] * at[0], (int64_t)at[1] * at[1]};
    return sum + (byte_longs){(int64_t)at[2] * at[2], (int64_t)at[3] * at[3]};
}

#endif
#endif
