/* Sums in a stated order, the same bits on every target.
 *
 * A vector of LANES numbers (64 bytes) is added lane by lane, two vectors a step;
 * then the two are added, then the tail, then the lanes are folded in halves:
 *
 *     a[j] = sum over even vectors      b[j] = sum over odd vectors
 *     t    = (a + b) + tail
 *     sum  = fold(t):  t[j] + t[j + LANES/2], then LANES/4, ... 1
 *
 * The tail is the *last* LANES numbers with those already counted masked to zero
 * (below LANES numbers: zero-padded at the end), so no byte outside is ever read.
 * No pair is fused (-ffp-contract=off), so a wider unit changes speed and nothing else.
 * GCC does not vectorise lane arrays written as loops; hence vector types.
 */
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
#elif defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
/* Resolved once by the loader; clang and other C libraries take the baseline. */
#define EDGESVM_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define EDGESVM_CLONES
#endif

#ifdef EDGESVM_BOUNDS_CHECKS
#define EDGESVM_CHECK(condition) do { if (!(condition)) abort(); } while (0)
#else
#define EDGESVM_CHECK(condition) ((void)0)
#endif

typedef float vec_f32 __attribute__((vector_size(64)));
typedef float half_f32 __attribute__((vector_size(32)));
typedef float quarter_f32 __attribute__((vector_size(16)));
typedef int32_t mask_f32 __attribute__((vector_size(64)));
typedef double vec_f64 __attribute__((vector_size(64)));
typedef double half_f64 __attribute__((vector_size(32)));
typedef double quarter_f64 __attribute__((vector_size(16)));
typedef int64_t mask_f64 __attribute__((vector_size(64)));

#ifndef EDGESVM_SUM
#define EDGESVM_SUM static      /* sums.c, which others then need not compile again, has none */
#endif

#ifdef EDGESVM_SUMS_ELSEWHERE
#include "sums.h"
#else

/* Some of the numbers of two vectors, a's before b's */
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#endif
#endif
#ifndef PICK                    /* GCC before 12 */
#define PICK(a, b, ...) __builtin_shuffle(a, b, (NAME(picked)){__VA_ARGS__})
typedef int32_t picked_f32 __attribute__((vector_size(16)));
typedef int64_t picked_f64 __attribute__((vector_size(16)));
#endif
/* Ask for the cache line there, which need not be anybody's. */
#define FETCH(p) __builtin_prefetch((const void *)(uintptr_t)(p))

#define T float
#define BITS int32_t
#define LANES 16
#define NAME(stem) stem##_f32
#include "lanes_type.h"

#define T double
#define BITS int64_t
#define LANES 8
#define NAME(stem) stem##_f64
#include "lanes_type.h"

#undef PICK
#undef FETCH

#endif
#endif
