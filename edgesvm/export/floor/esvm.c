/* CRC-32, and the test of a board's arithmetic; compiled once, however many models there are. */
#include "esvm.h"

#include <float.h>
#if DBL_MANT_DIG == 53 && !defined(ESVM_INTEGERS)
#define ESVM_IS_FLOAT32 0
#include "floor.h"
#include "kernels.h"
#endif

uint32_t esvm_crc32(uint32_t crc, const void *bytes, size_t n) {
    static const uint32_t quarter[16] ESVM_FLASH = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    const uint8_t *p = (const uint8_t *)bytes;
    uint32_t step;
    crc = ~crc;
    for (; n; n--, p++) {
        ESVM_FROM_FLASH(&step, &quarter[(crc ^ *p) & 15], 4);
        crc = crc >> 4 ^ step;
        ESVM_FROM_FLASH(&step, &quarter[(crc ^ *p >> 4) & 15], 4);
        crc = crc >> 4 ^ step;
    }
    return ~crc;
}

#if DBL_MANT_DIG == 53 && !defined(ESVM_INTEGERS)

/* The next number of a fixed sequence, of either sign and a size of 1/4 to 4 */
static double next(uint32_t *state) {
    uint64_t bits;
    *state = *state * 1664525u + 1013904223u;
    bits = (uint64_t)(1023 - 2 + (*state >> 30)) << 52 | (uint64_t)*state << 20;
    return esvm_of_bits(bits ^ (uint64_t)(*state >> 9) << 63);
}

static uint32_t add(uint32_t crc, double x) {
    uint64_t bits = esvm_bits_of(x);
    uint8_t bytes[8];
    int i;
    for (i = 0; i < 8; i++) bytes[i] = (uint8_t)(bits >> 8 * i);
    return esvm_crc32(crc, bytes, 8);
}

uint32_t esvm_self_test(void) {
    float f[70], tiny = 1.17549435e-38f;
    double d[24], least = 2.2250738585072014e-308;
    volatile double one = 1.0; /* libgcc's sums for ARM are one unit off here: soft.c has others */
    uint32_t state = 1, crc = add(0, one - 1.9980884828045733e-10);
    int i, n;
    for (n = 1; n <= 35; n++) {
        for (i = 0; i < 70; i++) f[i] = (float)next(&state);
        for (i = 0; i < 24; i++) d[i] = next(&state);
        crc = add(crc, (double)lanes_dot_f32(f, f + 35, n));
        crc = add(crc, (double)lanes_square_distance_f32(f, f + 35, n));
        crc = add(crc, lanes_dot_f64(d, d + 12, n / 3));
        crc = add(crc, ESVM_DIVIDE(d[0], d[n / 2 + 1]));
        crc = add(crc, esvm_sqrt(fabs(d[n / 3])));
        crc = add(crc, kernels_exp_(-fabs(d[n / 4]) * n));
        crc = add(crc, (double)(tiny / 3.0f * (float)n)); /* subnormal, in both types */
        crc = add(crc, ESVM_DIVIDE(least, 3.0) * n);
    }
    return crc;
}
#endif
