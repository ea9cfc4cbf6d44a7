/* Translated from edgesvm/core/status.*: change that, then `make translate`. */

#ifndef EDGESVM_STATUS_H
#define EDGESVM_STATUS_H

#include "floor.h"

typedef enum {
    status_UNCHANGED = 0, status_CHANGED = 1, status_NOT_FINITE = 2, status_BAD_WEIGHT = 3,
            status_UNKNOWN_LABEL = 4, status_FULL = 5
} status_Status;

#endif
