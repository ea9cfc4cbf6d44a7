/* Decisions by an arena in flash. Included at the end of a NAME.c, which defines ESVM_NAME(f),
 * ESVM_TOP(f), ESVM_VALUES, ESVM_AT, and the table NAME_arena. */

#include "classes.h"

#define ESVM_SELF ((char *)(uintptr_t)ESVM_NAME(arena) + ESVM_AT) /* nothing is written there */

int ESVM_NAME(decide)(const ESVM_NAME(value) *x, double *values) {
    return (int)ESVM_TOP(answer)(ESVM_SELF, x, values) > 1 ? -1 : 0;
}

int ESVM_NAME(predict)(const ESVM_NAME(value) *x, double *score) {
    double values[ESVM_VALUES];
    if (ESVM_NAME(decide)(x, values)) return -1;
    return ESVM_NAME(index_of)(ESVM_TOP(winner)(ESVM_SELF, values, score));
}

#ifdef ESVM_PROBABLE
int ESVM_NAME(probabilities)(const ESVM_NAME(value) *x, double *out) {
    return (int)ESVM_TOP(probabilities)(ESVM_SELF, x, out) > 1 ? -1 : 0;
}
#endif
