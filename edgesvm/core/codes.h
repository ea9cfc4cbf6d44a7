/* Squared distances of rows of 16-bit codes, which differ by less than 2^16: a square is a uint32_t,
 * and the sum is exact in any order, so every clone gives the same bits.
 */
#ifndef EDGESVM_CODES_H
#define EDGESVM_CODES_H

#include "lanes.h"

EDGESVM_CLONES
static void codes_square_distances(const int16_t *x, const int16_t *rows, int64_t width, int64_t n,
                                   double unit, double *out) {
    for (int64_t i = 0; i < n; i++) {
        const int16_t *row = rows + i * width;
        uint64_t total = 0;
        for (int64_t j = 0; j < width; j++) {
            uint32_t far = (uint32_t)((int32_t)x[j] - row[j]);
            total += far * far;
        }
        out[i] = unit * unit * (double)total;
    }
}

#endif
