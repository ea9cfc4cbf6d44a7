/* For passes in vectors: how they are compiled for several targets, and the vectors. The sums are in sums.h. */
#ifndef EDGESVM_LANES_H
#define EDGESVM_LANES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__arm__) && defined(__ARM_NEON) && (defined(__clang__) || defined(__FAST_MATH__))
/* GCC uses NEON for float only under -ffast-math; clang always does. */
#error "32-bit NEON takes subnormal numbers for zero: compile with -mfpu=vfpv3-d16 and without -ffast-math"
#endif

#if defined(EDGESVM_CLONES)
/* Chosen by whoever compiles: the tests compare one target with another. */
#elif defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__)
/* Resolved once by the loader; clang and other C libraries take the baseline. So does the thread
 * sanitizer: GCC has each resolver call it, before the loader has found where it is. */
#define EDGESVM_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#define EDGESVM_DISPATCHES
#else
#define EDGESVM_CLONES
#endif

/* Where ByteSVM's integers go in vectors: on machines of 64 bits, and ARM of 32 by GCC; the lowest byte comes first */
#if defined(EDGESVM_NO_VECTORS) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#elif defined(__SIZEOF_INT128__) || (defined(__ARM_PCS_VFP) && !defined(__clang__))
#define EDGESVM_VECTORS
#endif

/* How many numbers of float64 the processor's vectors have, and targets for functions in such vectors */
#ifdef EDGESVM_DISPATCHES
#define BLOCK_FULL __attribute__((target("avx512f")))
#define BLOCK_HALVES __attribute__((target("avx2")))
#define BLOCK_LANES (__builtin_cpu_supports("avx512f") ? 8 : __builtin_cpu_supports("avx2") ? 4 : 2)
#else
#define BLOCK_FULL EDGESVM_CLONES
#define BLOCK_HALVES EDGESVM_CLONES
#if defined(__AVX512F__)
#define BLOCK_LANES 8
#elif defined(__AVX2__)
#define BLOCK_LANES 4
#else
#define BLOCK_LANES 2
#endif
#endif

/* DEFINE(name, VEC) for vectors of 64, 32 and 16 bytes, and `stem` of the width that the processor has: one
 * vector of 64 bytes GCC puts into memory and back at every step, where the target's are narrower. */
#define IN_EACH_WIDTH(DEFINE, stem, FULL, HALVES, QUARTERS)                         \
    BLOCK_FULL DEFINE(NAME(stem##_full), FULL)                                      \
    BLOCK_HALVES DEFINE(NAME(stem##_halves), HALVES)                                \
    DEFINE(NAME(stem##_quarters), QUARTERS)
#define BY_WIDTH(stem, ...)                                                         \
    (BLOCK_LANES == 8 ? NAME(stem##_full)(__VA_ARGS__)                              \
     : BLOCK_LANES == 4 ? NAME(stem##_halves)(__VA_ARGS__) : NAME(stem##_quarters)(__VA_ARGS__))

#ifdef EDGESVM_BOUNDS_CHECKS
#define EDGESVM_CHECK(condition) do { if (!(condition)) abort(); } while (0)
#else
#define EDGESVM_CHECK(condition) ((void)0)
#endif

typedef double vec_f64 __attribute__((vector_size(64)));
typedef double half_f64 __attribute__((vector_size(32)));
typedef double quarter_f64 __attribute__((vector_size(16)));
typedef int64_t mask_f64 __attribute__((vector_size(64)));

#include "sums.h"

#endif
