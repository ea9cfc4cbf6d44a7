/* Translated from edgesvm/core/codes.*: change that, then `make translate`. */

#ifndef EDGESVM_CODES_H
#define EDGESVM_CODES_H

#include "floor.h"

enum {
    codes_CODES_PER_UNIT = 1365
};

ESVM_STATIC void codes_code_distances(const int16_t *x, const int16_t *rows, esvm_index width,
        esvm_index n, double *out);
ESVM_STATIC int16_t codes_code_of(double z);

ESVM_STATIC void codes_code_distances(const int16_t *x, const int16_t *rows, esvm_index width,
        esvm_index n, double *out) {
    codes_square_distances(x, rows, width, n, 1.0 / codes_CODES_PER_UNIT, out);
}

ESVM_STATIC int16_t codes_code_of(double z) {
    return (int16_t)esvm_rint(z * codes_CODES_PER_UNIT);
}

#endif
