/* Translated from edgesvm/learners/papers/online/_expansion.*: change that, then `make translate`. */

#ifndef EDGESVM_EXPANSION_H
#define EDGESVM_EXPANSION_H

#include "floor.h"

#define expansion__MOST 1e+100
#define expansion_MOST expansion__MOST
enum {
    expansion_BLOCK = 64
};
#define expansion__LEAST_WEIGHT 1e-100
#define expansion_LEAST_WEIGHT expansion__LEAST_WEIGHT

#endif
