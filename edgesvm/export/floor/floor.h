/* What the translated learners stand on: numbers, and the sums of core/lanes.h, core/rows.h and
 * core/tiles.h in scalars, in the same order, to the bit.
 *
 * Needs IEEE 754 float and double, rounded to nearest, subnormal numbers kept, and no fused
 * multiply-add. A compiler that does otherwise is refused here where it says so; where it does not,
 * `esvm_self_test` finds out on the board.
 */
#ifndef EDGESVM_FLOOR_H
#define EDGESVM_FLOOR_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "edgesvm: -ffast-math and its parts change the model; leave them out for this file"
#endif
#if defined(__arm__) && defined(__ARM_NEON) && defined(__clang__)
#error "edgesvm: 32-bit NEON takes subnormal numbers for zero: clang needs -mfpu=vfpv3-d16"
#endif
#if !defined(FLT_EVAL_METHOD) || FLT_EVAL_METHOD != 0
#error "edgesvm: sums must be rounded to their own type (on 32-bit x86: -msse2 -mfpmath=sse)"
#endif
#if DBL_MANT_DIG != 53
#error "edgesvm: a double must have 64 bits; on AVR it has 32: ByteSVM needs none"
#endif

/* An Arduino sketch cannot say -ffp-contract=off on the command line. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#pragma GCC optimize("no-math-errno") /* a root is one instruction where there is one */
#if defined(__FMA__) /* on x86, gcc 12 fuses a vector of sums and differences all the same */
#pragma GCC optimize("no-tree-slp-vectorize")
#endif
#else
#pragma STDC FP_CONTRACT OFF
#endif

#include "types.h"

typedef int32_t esvm_index; /* of what lies in an arena, which is smaller than 2 GiB */
#if ESVM_IS_FLOAT32
typedef float esvm_real;
#define ESVM_TYPED(stem) stem##_f32
#else
typedef double esvm_real;
#define ESVM_TYPED(stem) stem##_f64
#endif

#include "arith.h"
#include "sums.h"
#include "tiled.h"
#include "waves.h"

#endif
