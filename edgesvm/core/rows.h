/* Squared distances and products of one sample with many rows, in float64 whatever the rows' type.
 *
 * Narrow rows (below 8 features): eight rows at a time, a lane each; the last eight may have some that
 * were there before. Wider ones: lanes along the
 * features, as lanes.h, four rows at a time. Which one is a matter of the width alone, so a row's
 * value does not depend on where the row is or on how many there are; and it is symmetric to the bit.
 * Eight numbers of a row become one vector of float64.
 */
#ifndef EDGESVM_ROWS_H
#define EDGESVM_ROWS_H

#include "tiles.h"

#ifndef EDGESVM_SUMS_ELSEWHERE

/* On AVX2 the eight lanes are two vectors; where vectors are of eight or of two, one does better. */
typedef struct { half_f64 low, high; } rows_f64;

/* Pairs of numbers, taken apart in registers; before GCC 12 they are loaded one by one. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define ROWS_PAIRS 1
#define EVENS(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define ODDS(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#define EVENS_4(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6)
#define ODDS_4(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7)
#endif
#endif
#ifndef ROWS_PAIRS
#define ROWS_PAIRS 0
#define EVENS(a, b) (a)
#define ODDS(a, b) (b)
#define EVENS_4(a, b) (a)
#define ODDS_4(a, b) (b)
#endif
#define TAKE_APART(VEC, EVEN, ODD, u, v, p, n)                                      \
    do {                                                                            \
        VEC a_, b_;                                                                 \
        memcpy(&a_, (p), sizeof a_); memcpy(&b_, (p) + (n), sizeof b_);             \
        u = EVEN(a_, b_);                                                           \
        v = ODD(a_, b_);                                                            \
    } while (0)

#define ROWS_LANES 8
#define ROWS_FOLD_HALVES(sum, s)                                                    \
    do {                                                                            \
        half_f64 t_ = (s).low + (s).high;                                           \
        sum = (t_[0] + t_[2]) + (t_[1] + t_[3]);                                    \
    } while (0)
#define ROWS_FOLD(s)                                                                \
    (((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])))

#define T float
#define NAME(stem) stem##_f32
#define WIDEN(v, p)                                                                 \
    do {                                                                            \
        tiles_eight_f32 h_; memcpy(&h_, (p), sizeof h_);                                   \
        v = __builtin_convertvector(h_, vec_f64);                                   \
    } while (0)
#define WIDEN_4(v, p)                                                               \
    do {                                                                            \
        quarter_f32 q_; memcpy(&q_, (p), sizeof q_);                                \
        v = __builtin_convertvector(q_, half_f64);                                  \
    } while (0)
#define GATHER_4(v, p, s)                                                           \
    do {                                                                            \
        quarter_f32 q_ = {(p)[0], (p)[s], (p)[2 * (s)], (p)[3 * (s)]};              \
        v = __builtin_convertvector(q_, half_f64);                                  \
    } while (0)
#define APART(u, v, p)                                                              \
    do {                                                                            \
        vec_f64 u_, v_;                                                             \
        WIDEN(u_, p); WIDEN(v_, (p) + 8);                                           \
        u = EVENS(u_, v_);                                                          \
        v = ODDS(u_, v_);                                                           \
    } while (0)
#define APART_4(u, v, p)                                                            \
    do {                                                                            \
        quarter_f32 u_, v_;                                                         \
        TAKE_APART(quarter_f32, EVENS_4, ODDS_4, u_, v_, p, 4);                     \
        u = __builtin_convertvector(u_, half_f64);                                  \
        v = __builtin_convertvector(v_, half_f64);                                  \
    } while (0)
#include "rows_type.h"

#define T double
#define NAME(stem) stem##_f64
#define WIDEN(v, p) memcpy(&(v), (p), sizeof(v))
#define WIDEN_4(v, p) memcpy(&(v), (p), sizeof(v))
#define GATHER_4(v, p, s)                                                           \
    do {                                                                            \
        half_f64 q_ = {(p)[0], (p)[s], (p)[2 * (s)], (p)[3 * (s)]};                 \
        v = q_;                                                                     \
    } while (0)
#define APART(u, v, p) TAKE_APART(vec_f64, EVENS, ODDS, u, v, p, 8)
#define APART_4(u, v, p) TAKE_APART(half_f64, EVENS_4, ODDS_4, u, v, p, 4)
#include "rows_type.h"

#endif
#endif
