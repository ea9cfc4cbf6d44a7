/* Arithmetic of single numbers: exact, so the same everywhere. Included by floor.h. */
#ifndef EDGESVM_ARITH_H
#define EDGESVM_ARITH_H

#define ESVM_INFINITY ((double)INFINITY)
#define ESVM_NAN ((double)NAN)
#define esvm_floor floor
#define esvm_rint rint /* of two as near, the even one */
#define esvm_frexp frexp

/* What the host keeps beside the arena: none. Compilers warn of NULL where it would be used. */
ESVM_STATIC void *esvm_none(void) {
    return NULL;
}

ESVM_STATIC uint64_t esvm_bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return bits;
}

ESVM_STATIC double esvm_of_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

ESVM_STATIC int esvm_is_finite(double x) {
    return (esvm_bits_of(x) >> 52 & 0x7ff) != 0x7ff;
}

ESVM_STATIC int esvm_is_nan(double x) {
    return x != x;
}

/* As fmax and fmin: of a number and NaN, the number; of two zeros, the second. */
ESVM_STATIC double esvm_max(double a, double b) {
    return a > b || b != b ? a : b;
}

ESVM_STATIC double esvm_min(double a, double b) {
    return a < b || b != b ? a : b;
}

/* Whether double has no unit of its own, so that quotient and root are computed from integers. */
#if !defined(ESVM_SOFT_DOUBLE)
#if defined(__arm__) && (!defined(__ARM_FP) || !(__ARM_FP & 8))
#define ESVM_SOFT_DOUBLE 1
#elif defined(__riscv) && (!defined(__riscv_flen) || __riscv_flen < 64)
#define ESVM_SOFT_DOUBLE 1
#elif defined(__XTENSA__)
#define ESVM_SOFT_DOUBLE 1
#else
#define ESVM_SOFT_DOUBLE 0
#endif
#endif

#if !ESVM_SOFT_DOUBLE
#define ESVM_DIVIDE(a, b) ((a) / (b))
#define esvm_sqrt sqrt
#else
#define ESVM_DIVIDE(a, b) esvm_divide(a, b)
double esvm_divide(double a, double b);
double esvm_sqrt(double x);
#endif

/* Whether float has no unit of its own either */
#if ESVM_SOFT_DOUBLE && !(defined(__ARM_FP) && (__ARM_FP & 4)) && \
    !(defined(__riscv_flen) && __riscv_flen >= 32)
#define ESVM_SOFT_FLOAT 1
float esvm_root(float x);
#else
#define ESVM_SOFT_FLOAT 0
#define esvm_root sqrtf
#endif

#endif
