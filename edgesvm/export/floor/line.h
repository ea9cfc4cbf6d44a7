/* The target by folded.h, of a linear regressor that learns no more. Included at the end of a NAME.c, which defines
 * ESVM_NAME(f), ESVM_MEAN and ESVM_DEVIATION of the targets, ESVM_LEAST and ESVM_MOST, within which a prediction is,
 * and how far its interval reaches, ESVM_BELOW and ESVM_ABOVE. */

int ESVM_NAME(predict)(const ESVM_NAME(value) *x, double *value) {
    double deviations;
    if (ESVM_NAME(sums)(x, &deviations)) return -1;
    *value = ESVM_MEAN + ESVM_DEVIATION * deviations;
    *value = esvm_min(esvm_max(*value, ESVM_LEAST), ESVM_MOST);
    return 0;
}

int ESVM_NAME(interval)(const ESVM_NAME(value) *x, double out[2]) {
    double value;
    if (ESVM_NAME(predict)(x, &value)) return -1;
    out[0] = value - ESVM_BELOW;
    out[1] = value + ESVM_ABOVE;
    return 0;
}
