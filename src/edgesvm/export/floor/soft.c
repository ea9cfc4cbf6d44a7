/* Quotient and root of doubles from integers, for a processor that has neither; compiled once. */
#define ESVM_IS_FLOAT32 0
#include "floor.h"

#if ESVM_SOFT_DOUBLE
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
#else
typedef int esvm_no_soft_double; /* a file must hold something */
#endif
