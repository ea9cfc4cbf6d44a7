/* The class by NAME_decide, of a model that learns no more. Included at the end of a NAME.c, which
 * defines ESVM_NAME(f), ESVM_VALUES and ESVM_ONLY, the only class that was seen, or -1. */

#ifdef ESVM_FOLDED
int ESVM_NAME(decide)(const ESVM_NAME(value) *x, double *values) {
    return ESVM_NAME(sums)(x, values);
}
#endif

int ESVM_NAME(predict)(const ESVM_NAME(value) *x, double *score) {
    double values[ESVM_VALUES];
    int i, best = 0;
    if (ESVM_NAME(decide)(x, values)) return -1;
    if (ESVM_VALUES == 1) {
        *score = values[0];
        return ESVM_ONLY < 0 ? values[0] > 0.0 : ESVM_ONLY;
    }
    for (i = 1; i < ESVM_VALUES; i++)
        if (values[i] > values[best]) best = i;
    *score = values[best];
    return best;
}
