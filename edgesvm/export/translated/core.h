/* Translated from edgesvm/contract/core.*: change that, then `make translate`. */

#ifndef EDGESVM_CORE_H
#define EDGESVM_CORE_H

#include "floor.h"

typedef struct {
    int64_t n_seen;
    int64_t n_updates;
} core_Common;

#endif
