/* Decisions by an arena in flash. Included at the end of a NAME.c, which defines ESVM_NAME(f),
 * ESVM_TOP(f), ESVM_AT, the table NAME_arena, and ESVM_VALUES, or ESVM_REGRESSES. */

#define ESVM_SELF ((char *)(uintptr_t)ESVM_NAME(arena) + ESVM_AT) /* nothing is written there */

#ifdef ESVM_REGRESSES
int ESVM_NAME(predict)(const ESVM_NAME(value) *x, double *value) {
    return (int)ESVM_TOP(decide)(ESVM_SELF, x, value) > 1 ? -1 : 0;
}

int ESVM_NAME(interval)(const ESVM_NAME(value) *x, double out[2]) {
    return (int)ESVM_TOP(probabilities)(ESVM_SELF, x, out) > 1 ? -1 : 0;
}
#else
#include "classes.h"

int ESVM_NAME(decide)(const ESVM_NAME(value) *x, double *values) {
    return (int)ESVM_TOP(answer)(ESVM_SELF, x, values) > 1 ? -1 : 0;
}

int ESVM_NAME(predict)(const ESVM_NAME(value) *x, double *score) {
    double values[ESVM_VALUES] = {0.0};
    if (ESVM_NAME(decide)(x, values)) return -1;
    return ESVM_NAME(index_of)(ESVM_TOP(winner)(ESVM_SELF, values, score));
}
#endif

#ifdef ESVM_PROBABLE
int ESVM_NAME(probabilities)(const ESVM_NAME(value) *x, double *out) {
    return (int)ESVM_TOP(probabilities)(ESVM_SELF, x, out) > 1 ? -1 : 0;
}
#endif
