/* Decisions of a linear model and its scaler, folded into one vector a value. Included by a NAME.c,
 * which defines ESVM_NAME(f), ESVM_VALUES, ESVM_FEATURES and the tables NAME_coef, NAME_intercept. */

int ESVM_NAME(decide)(const ESVM_NAME(value) *x, double *values) {
    esvm_index i, j;
    for (i = 0; i < ESVM_VALUES; i++) {
        esvm_real sum = ESVM_NAME(intercept)[i];
        for (j = 0; j < ESVM_FEATURES; j++) {
            if (!esvm_is_finite((double)x[j])) return -1;
            sum += ESVM_NAME(coef)[i * ESVM_FEATURES + j] * x[j];
        }
        values[i] = (double)sum;
        if (!esvm_is_finite(values[i])) return -1;
    }
    return 0;
}
