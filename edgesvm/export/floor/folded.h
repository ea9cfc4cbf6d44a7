/* Decisions of a linear model and its scaler, folded into one vector a value. Included by a NAME.c,
 * which defines ESVM_NAME(f), ESVM_VALUES, ESVM_FEATURES and the tables NAME_coef, NAME_intercept; with ESVM_LIMITED
 * NAME_limits too, the least and the greatest value of each feature that the scaler lets through; with ESVM_STANDS_NAN
 * NAME_means, what NaN counts as. */

ESVM_STATIC int ESVM_NAME(sums)(const ESVM_NAME(value) *x, double *values) {
    esvm_index i, j;
    for (i = 0; i < ESVM_VALUES; i++) {
        esvm_real sum = ESVM_NAME(intercept)[i];
        for (j = 0; j < ESVM_FEATURES; j++) {
            esvm_real value = x[j];
#if ESVM_STANDS_NAN
            if (value != value) value = ESVM_NAME(means)[j];
#endif
            if (!esvm_is_finite((double)value)) return -1;
#if ESVM_LIMITED
            if (value < ESVM_NAME(limits)[j]) value = ESVM_NAME(limits)[j];
            if (value > ESVM_NAME(limits)[ESVM_FEATURES + j])
                value = ESVM_NAME(limits)[ESVM_FEATURES + j];
#endif
            sum += ESVM_NAME(coef)[i * ESVM_FEATURES + j] * value;
        }
        values[i] = (double)sum;
        if (!esvm_is_finite(values[i])) return -1;
    }
    return 0;
}
