/* Translated from edgesvm/learners/papers/enclosing/_enclosing.*: change that, then `make translate`. */

#ifndef EDGESVM_ENCLOSING_H
#define EDGESVM_ENCLOSING_H

#include "floor.h"
#include "tiles.h"

typedef struct {
    int64_t n;
    int64_t room;
    tiles_Tiles rows;
    double *f;
    double *sign;
    double *own;
    int64_t *number;
    float *row;
} enclosing_Block;
#define enclosing_LARGEST 1e+300
#define enclosing_FINEST 5e-08

#endif
