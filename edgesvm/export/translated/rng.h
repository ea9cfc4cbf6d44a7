/* Translated from edgesvm/core/rng.*: change that, then `make translate`. */

#ifndef EDGESVM_RNG_H
#define EDGESVM_RNG_H

#include "floor.h"

ESVM_STATIC int64_t rng_rng_below(uint64_t *s, esvm_index n);
ESVM_STATIC uint64_t rng_rng_next(uint64_t *s);
ESVM_STATIC uint64_t rng_rotate_left(uint64_t x, int k);

ESVM_STATIC int64_t rng_rng_below(uint64_t *s, esvm_index n) {
    uint64_t limit = ((uint64_t)0 - (uint64_t)n) % (uint64_t)n;
    uint64_t draw = rng_rng_next(s);
    while (draw < limit) {
        draw = rng_rng_next(s);
    }
    return (int64_t)(draw % (uint64_t)n);
}

ESVM_STATIC uint64_t rng_rng_next(uint64_t *s) {
    uint64_t result = rng_rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rng_rotate_left(s[3], 45);
    return result;
}

ESVM_STATIC uint64_t rng_rotate_left(uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

#endif
