/* Quotient and roots from integers, for a processor that has none; compiled once. */
#include <float.h>
#if DBL_MANT_DIG == 53
#define ESVM_IS_FLOAT32 0
#include "floor.h"
#endif

#if ESVM_SOFT_DOUBLE
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O2") /* most of the time of learning is spent here */
#endif
#define ESVM_MANTISSA ((uint64_t)0xfffffffffffff)
#define ESVM_HIDDEN ((uint64_t)1 << 52)

/* a / b, rounded to nearest. A quotient of 32 bits, by the reciprocal of b's first 32, is corrected
 * once by what is left; then it is at most a few units off, which the remainder tells. */
double esvm_divide(double a, double b) {
    uint64_t u = esvm_bits_of(a), v = esvm_bits_of(b), m, n, q;
    int32_t e = (int32_t)(u >> 52 & 0x7ff), f = (int32_t)(v >> 52 & 0x7ff), k = e - f + 1023;
    uint32_t d, r, q1;
    int64_t left;
    if (e == 0 || f == 0 || e == 0x7ff || f == 0x7ff || k < 2 || k > 0x7fd) return a / b;
    m = (u & ESVM_MANTISSA) | ESVM_HIDDEN;
    n = (v & ESVM_MANTISSA) | ESVM_HIDDEN;
    if (m < n) {
        m <<= 1;
        k--;
    }
    d = (uint32_t)(n >> 21);
    r = 0xffffffffu / (d >> 16) << 14;                           /* 2^62 / d to 15 bits */
    r = (uint32_t)((uint64_t)r * (0u - (uint32_t)((uint64_t)d * r >> 31)) >> 31); /* to 29 */
    r -= 2; /* below 1 / n, so that the quotient has 32 bits */
    q1 = (uint32_t)((m >> 22) * r >> 30);                        /* m / n in [1, 2), times 2^31 */
    left = (int64_t)((m << 31) - q1 * n);
    q = ((uint64_t)q1 << 21) + (uint64_t)((left >> 26) * (int64_t)r >> 36);
    left = (int64_t)((m << 52) - q * n);
    for (; left < 0; left += (int64_t)n) q--;
    for (; left >= (int64_t)n; left -= (int64_t)n) q++;
    left += left;
    q += left > (int64_t)n || (left == (int64_t)n && (q & 1));
    return esvm_of_bits(((u ^ v) >> 63 << 63) + ((uint64_t)(k - 1) << 52) + q);
}

/* sqrt(x), rounded to nearest: 1 / sqrt by Newton's steps to 29 bits, then as above. */
double esvm_sqrt(double x) {
    /* 128 / sqrt(v) in the middle of [1 + i / 8, 1 + (i + 1) / 8) */
    static const uint8_t first[24] = {248, 235, 225, 215, 206, 198, 191, 185, 180, 174, 170, 165,
                                      161, 157, 154, 151, 148, 145, 142, 139, 137, 134, 132, 130};
    uint64_t u = esvm_bits_of(x), m, q;
    int32_t e = (int32_t)(u >> 52), i;
    uint32_t v, r, q1;
    int64_t left;
    if (u << 1 == 0 || (u << 1) > (uint64_t)0x7ff << 53 || u == (uint64_t)0x7ff << 52) return x;
    if (u >> 63) return ESVM_NAN;
    if (e == 0) return esvm_sqrt(x * 18014398509481984.0) * 7.450580596923828e-09; /* 2^54, 2^-27 */
    m = (u & ESVM_MANTISSA) | ESVM_HIDDEN;
    if (!(e & 1)) m <<= 1;
    v = (uint32_t)(m >> 22); /* [1, 4) times 2^30 */
    r = (uint32_t)first[(v >> 27) - 8] << 23;
    for (i = 0; i < 3; i++) {
        uint32_t vrr = (uint32_t)((uint64_t)v * (uint32_t)((uint64_t)r * r >> 31) >> 31);
        r = (uint32_t)((uint64_t)r * (0xc0000000u - vrr) >> 31);
    }
    q1 = (uint32_t)((uint64_t)v * r >> 30); /* sqrt in [1, 2), times 2^31 */
    left = (int64_t)((m << 10) - (uint64_t)q1 * q1);
    q = ((uint64_t)q1 << 21) + (uint64_t)((left >> 10) * (int64_t)(r >> 1) >> 31);
    left = (int64_t)((m << 52) - q * q);
    for (; left < 0; left += (int64_t)(q + q + 1)) q--;
    for (; left > (int64_t)(q + q); q++) left -= (int64_t)(q + q + 1);
    q += left > (int64_t)q;
    return esvm_of_bits(((uint64_t)((e + 1023) >> 1) << 52) - ESVM_HIDDEN + q);
}

#if ESVM_SOFT_FLOAT
/* The same of a float, bit by bit; the library's takes RAM to note an error. */
float esvm_root(float x) {
    uint32_t u, left, q = 0, twice = 0, bit, next;
    int32_t e;
    memcpy(&u, &x, 4);
    e = (int32_t)(u >> 23);
    if (u << 1 == 0 || u << 1 > 0xff000000u || u == 0x7f800000u) return x;
    if (u >> 31) return (float)ESVM_NAN;
    if (e == 0) return esvm_root(x * 16777216.0f) * 2.44140625e-4f; /* 2^24, 2^-12 */
    left = ((u & 0x7fffff) | 0x800000) << (e & 1 ? 1 : 2);
    for (bit = 0x1000000; bit; bit >>= 1) {
        next = twice + bit;
        if (next <= left) {
            left -= next;
            twice = next + bit;
            q += bit;
        }
        left <<= 1;
    }
    u = ((uint32_t)((e + 127) >> 1) << 23) - 0x800000 + (q >> 1) + (q & 1);
    memcpy(&x, &u, 4);
    return x;
}
#endif

#if defined(__arm__) && defined(__GNUC__) && !defined(ESVM_LIBRARY_SUMS)
/* libgcc's sums for ARM are one unit off where a number loses its first bit to another 2^33 times
 * smaller: 1.0 - 0x1.b76261bfc8d5fp-33, say. These take their place in the whole program, with all
 * else that libgcc has in the same object. */
#define ESVM_AEABI __attribute__((pcs("aapcs"), used))
#define ESVM_SIGN ((uint64_t)1 << 63)

/* The double nearest to m 2^(e - 1085), of the given sign; m < 2^63, its lowest bit may be sticky */
static inline __attribute__((always_inline)) double esvm_rounded(
    uint64_t sign, int32_t e, uint64_t m) {
    uint32_t low;
    int32_t shift;
    if (!(m >> 62)) {
        if (m == 0) return esvm_of_bits(sign);
        if (!(m >> 32)) {
            shift = m >> 31 ? 31 : 32;
            m <<= shift;
            e -= shift;
        }
        shift = __builtin_clz((uint32_t)(m >> 32)) - 1;
        if (shift > 0) {
            uint32_t high_word = (uint32_t)(m >> 32), word = (uint32_t)m;
            m = (uint64_t)(high_word << shift | word >> (32 - shift)) << 32 | word << shift;
            e -= shift;
        }
    }
    if ((uint32_t)(e - 1) >= 0x7fe) {
        if (e > 0) return esvm_of_bits(sign | (uint64_t)0x7ff << 52);
        shift = 1 - e; /* subnormal */
        m = shift > 62 ? 1 : m >> shift | (m << (64 - shift) != 0);
        e = 1;
    }
    low = (uint32_t)m & 0x3ff;
    m = (m >> 10) + ((uint64_t)(uint32_t)(e - 1) << 52);
    m += low > 0x200 || (low == 0x200 && ((uint32_t)m & 1));
    return esvm_of_bits(sign | m);
}

ESVM_AEABI double __aeabi_dadd(double a, double b) {
    uint64_t u = esvm_bits_of(a), v = esvm_bits_of(b), m, n, t;
    int32_t e, f, gap;
    if ((u & ~ESVM_SIGN) < (v & ~ESVM_SIGN)) {
        t = u;
        u = v;
        v = t;
    }
    e = (int32_t)(u >> 52 & 0x7ff);
    f = (int32_t)(v >> 52 & 0x7ff);
    if (e == 0x7ff) { /* u is NaN or infinite, and so may v be */
        if (u << 12 || (f == 0x7ff && (v << 12 || u != v))) return ESVM_NAN;
        return esvm_of_bits(u);
    }
    m = (u & ESVM_MANTISSA) << 10;
    n = (v & ESVM_MANTISSA) << 10;
    if (f) n |= (uint64_t)1 << 62;
    else f = 1;
    if (e) m |= (uint64_t)1 << 62;
    else e = 1;
    gap = e - f;
    if (gap >= 32) {
        uint32_t high = (uint32_t)(n >> 32);
        gap -= 32;
        if (gap > 31) n = n != 0;
        else n = high >> gap | ((uint32_t)n != 0 || (gap && high << (32 - gap)));
    } else if (gap) { /* in words: a shift of 64 bits by a variable has more cases */
        uint32_t high = (uint32_t)(n >> 32), low = (uint32_t)n;
        uint32_t lost = low << (32 - gap) != 0;
        n = (uint64_t)(high >> gap) << 32 | (low >> gap | high << (32 - gap) | lost);
    }
    t = u & ESVM_SIGN;
    if ((u ^ v) >> 63) {
        m -= n;
        if (m == 0) t = 0;
    } else {
        m += n;
        if (m >> 63) {
            m = m >> 1 | (m & 1);
            e++;
        } else if (m == 0) t = u & v & ESVM_SIGN;
    }
    return esvm_rounded(t, e, m);
}

ESVM_AEABI double __aeabi_dsub(double a, double b) {
    return __aeabi_dadd(a, esvm_of_bits(esvm_bits_of(b) ^ ESVM_SIGN));
}

ESVM_AEABI double __aeabi_drsub(double a, double b) {
    return __aeabi_dadd(b, esvm_of_bits(esvm_bits_of(a) ^ ESVM_SIGN));
}

ESVM_AEABI double __aeabi_ul2d(uint64_t m) {
    return m >> 63 ? esvm_rounded(0, 1086, m >> 1 | (m & 1)) : esvm_rounded(0, 1085, m);
}

ESVM_AEABI double __aeabi_l2d(int64_t i) {
    uint64_t sign = i < 0 ? ESVM_SIGN : 0, m = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    return esvm_of_bits(esvm_bits_of(__aeabi_ul2d(m)) | sign);
}

ESVM_AEABI double __aeabi_ui2d(uint32_t i) {
    return __aeabi_ul2d(i);
}

ESVM_AEABI double __aeabi_i2d(int32_t i) {
    return __aeabi_l2d(i);
}

ESVM_AEABI double __aeabi_f2d(float x) {
    uint32_t u;
    uint64_t sign;
    memcpy(&u, &x, 4);
    sign = (uint64_t)(u >> 31) << 63;
    if ((u >> 23 & 0xff) == 0xff) return esvm_of_bits(sign | (uint64_t)0x7ff << 52 | (uint64_t)(u & 0x7fffff) << 29);
    if (u >> 23 & 0xff) return esvm_of_bits(sign | (((uint64_t)(u << 1) << 28) + ((uint64_t)896 << 52)));
    return esvm_rounded(sign, 936, u & 0x7fffff);
}
#endif
#else
typedef int esvm_no_soft_double; /* a file must hold something */
#endif
