/* Squared distances and products of one sample with many rows, in float64 whatever the rows' type.
 *
 * Narrow rows (below 8 features): eight rows at a time, a lane each. Wider ones: lanes along the
 * features, as lanes.h, four rows at a time. Which one is a matter of the width alone, so a row's
 * value does not depend on where the row is or on how many there are; and it is symmetric to the bit.
 * Eight numbers of a row become one vector of float64.
 */
#ifndef EDGESVM_ROWS_H
#define EDGESVM_ROWS_H

#include "tiles.h"

#ifndef EDGESVM_SUMS_ELSEWHERE

#define ROWS_LANES 8
#define ROWS_FOLD(s)                                                                \
    (((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])))

#define T float
#define NAME(stem) stem##_f32
#define WIDEN(v, p)                                                                 \
    do {                                                                            \
        tiles_f8 h_; memcpy(&h_, (p), sizeof h_);                                   \
        v = __builtin_convertvector(h_, vec_f64);                                   \
    } while (0)
#include "rows_type.h"

#define T double
#define NAME(stem) stem##_f64
#define WIDEN(v, p) memcpy(&(v), (p), sizeof(v))
#include "rows_type.h"

#endif
#endif
