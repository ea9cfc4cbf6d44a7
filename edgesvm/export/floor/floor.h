/* What the translated learners stand on: numbers, and the sums of core/sums_of.h in
 * scalars, in the same order, to the bit.
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

/* Of arrays of either type: the first argument says whether they are float32. */
#define ESVM_EITHER(f32, stem, ...) ((f32) ? stem##_f32(__VA_ARGS__) : stem##_f64(__VA_ARGS__))
#ifdef __cplusplus /* which makes no float * of a void * by itself */
struct esvm_in {
    const void *p;
    explicit esvm_in(const void *of) : p(of) {}
    template <class T> operator const T *() const { return (const T *)p; }
};
struct esvm_out {
    void *p;
    explicit esvm_out(void *of) : p(of) {}
    template <class T> operator T *() const { return (T *)p; }
};
#define ESVM_IN(p) (esvm_in(p))
#define ESVM_OUT(p) (esvm_out(p))
#else
#define ESVM_IN(p) ((const void *)(p))
#define ESVM_OUT(p) ((void *)(p))
#endif
#define lanes_dot(f32, x, z, n)                                                          \
    ((f32) ? (double)lanes_dot_f32(ESVM_IN(x), ESVM_IN(z), n)                            \
           : lanes_dot_f64(ESVM_IN(x), ESVM_IN(z), n))
#define lanes_square_distance(f32, x, z, n)                                              \
    ((f32) ? (double)lanes_square_distance_f32(ESVM_IN(x), ESVM_IN(z), n)                \
           : lanes_square_distance_f64(ESVM_IN(x), ESVM_IN(z), n))
#define lanes_sums(f32, apart, w, z, n, n_rows, out) \
    ESVM_EITHER(f32, lanes_sums, apart, ESVM_IN(w), ESVM_IN(z), n, n_rows, out)
#define lanes_dot_square(f32, x, w, n, dot, square) \
    ESVM_EITHER(f32, lanes_dot_square, ESVM_IN(x), ESVM_IN(w), n, ESVM_OUT(dot), ESVM_OUT(square))
#define rows_dot(f32, x, rows, width, n, out) \
    ESVM_EITHER(f32, rows_dot, ESVM_IN(x), ESVM_IN(rows), width, n, out)
#define rows_square_distance(f32, x, rows, width, n, out) \
    ESVM_EITHER(f32, rows_square_distance, ESVM_IN(x), ESVM_IN(rows), width, n, out)
#define moments_map(f32, x, mean, spread, n, clip, out, width) \
    ESVM_EITHER(f32, moments_map, ESVM_IN(x), mean, spread, n, clip, ESVM_OUT(out), width)
#define moments_next(f32, x, mean, spread, n, bound, clip, out, width) \
    ESVM_EITHER(f32, moments_next, ESVM_IN(x), mean, spread, n, bound, clip, ESVM_OUT(out), width)
#define moments_far(f32, x, mean, spread, n, bound, width) \
    ESVM_EITHER(f32, moments_far, ESVM_IN(x), mean, spread, n, bound, width)
#define moments_keep(f32, x, mean, spread, n, width) \
    ESVM_EITHER(f32, moments_keep, ESVM_IN(x), mean, spread, n, width)
#define tiles_weighted(f32, kind, gamma, coef0, degree, x, tile, present, width, n_tiles, weight) \
    ESVM_EITHER(f32, tiles_weighted, kind, gamma, coef0, degree, ESVM_IN(x), ESVM_IN(tile), present, \
                width, n_tiles, weight)
#define waves_angles(f32, x, n_rows, width, key, scale, first, n, angle, apart) \
    ESVM_EITHER(f32, waves_angles, ESVM_IN(x), n_rows, width, key, scale, first, n, angle, apart)
#define waves_mixed(f32, x, width, key, scale, d, block, n, v, angle) \
    ESVM_EITHER(f32, waves_mixed, ESVM_IN(x), width, key, scale, d, block, n, ESVM_OUT(v), angle)
#define waves_of(f32, angle, n, wave) ESVM_EITHER(f32, waves_of, angle, n, ESVM_OUT(wave))
#define waves_weigh(f32, wave, n, amplitude) \
    ESVM_EITHER(f32, waves_weigh, ESVM_OUT(wave), n, amplitude)
#define waves_dots(f32, w, wave, n, scale, dot) \
    ESVM_EITHER(f32, waves_dots, ESVM_IN(w), ESVM_IN(wave), n, scale, dot)
/* ... and with numbers, which are rounded to the type */
#define ESVM_STEP(f32, call_f32, call_f64) \
    do {                                   \
        if (f32) call_f32;                 \
        else call_f64;                     \
    } while (0)
#define lanes_axpby(f32, a, x, b, y, n)                                              \
    ESVM_STEP(f32, lanes_axpby_f32((float)(a), ESVM_IN(x), (float)(b), ESVM_OUT(y), n), \
              lanes_axpby_f64(a, ESVM_IN(x), b, ESVM_OUT(y), n))
#define lanes_add(f32, a, x, y, n)                                             \
    ESVM_STEP(f32, lanes_add_f32((float)(a), ESVM_IN(x), ESVM_OUT(y), n),      \
              lanes_add_f64(a, ESVM_IN(x), ESVM_OUT(y), n))
#define lanes_approach(f32, a, x, y, n)                                   \
    ESVM_STEP(f32, lanes_approach_f32((float)(a), ESVM_IN(x), ESVM_OUT(y), n), \
              lanes_approach_f64(a, ESVM_IN(x), ESVM_OUT(y), n))
#define step_both(f32, w, mean, f, step, share, n)                                             \
    ESVM_STEP(f32, step_both_f32(ESVM_OUT(w), ESVM_OUT(mean), ESVM_IN(f), (float)(step),       \
                                 (float)(share), n),                                           \
              step_both_f64(ESVM_OUT(w), ESVM_OUT(mean), ESVM_IN(f), step, share, n))
#define step_diagonal(f32, w, squares, f, g, rate, n)                                          \
    ESVM_STEP(f32, step_diagonal_f32(ESVM_OUT(w), ESVM_OUT(squares), ESVM_IN(f), (float)(g),   \
                                     (float)(rate), n),                                        \
              step_diagonal_f64(ESVM_OUT(w), ESVM_OUT(squares), ESVM_IN(f), g, rate, n))

#endif
