/* Decisions of a model that learns no more: tables in flash and one loop. Included at the end of a
 * NAME.c, which defines ESVM_NAME(f), ESVM_VALUES, ESVM_FEATURES, ESVM_N_VECTORS (0: linear), and its
 * tables. */

#if ESVM_N_VECTORS
ESVM_STATIC double ESVM_NAME(kernel)(const esvm_real *x, const esvm_real *z) {
    static const kernels_Kernel kernel = ESVM_KERNEL;
    return ESVM_TYPED(kernels_kernel_value)(&kernel, x, z, ESVM_FEATURES);
}
#endif

int ESVM_NAME(decide)(const ESVM_NAME(value) *x, double *values) {
    esvm_index i, j;
    for (j = 0; j < ESVM_FEATURES; j++)
        if (!esvm_is_finite(x[j])) return -1;
#if ESVM_N_VECTORS
    esvm_real scaled[ESVM_FEATURES];
    for (j = 0; j < ESVM_FEATURES; j++)
        scaled[j] = (x[j] - ESVM_NAME(center)[j]) * ESVM_NAME(inverse)[j];
    values[0] = ESVM_NAME(intercept)[0];
    for (i = 0; i < ESVM_N_VECTORS; i++)
        values[0] += ESVM_NAME(coef)[i]
                     * ESVM_NAME(kernel)(scaled, ESVM_NAME(rows) + i * ESVM_FEATURES);
    if (!esvm_is_finite(values[0])) return -1;
#else
    for (i = 0; i < ESVM_VALUES; i++) {
        esvm_real sum = ESVM_NAME(intercept)[i];
        for (j = 0; j < ESVM_FEATURES; j++) sum += ESVM_NAME(coef)[i * ESVM_FEATURES + j] * x[j];
        values[i] = sum;
        if (!esvm_is_finite(values[i])) return -1;
    }
#endif
    return 0;
}

int ESVM_NAME(predict)(const ESVM_NAME(value) *x, double *score) {
    double values[ESVM_VALUES];
    int i, best = 0;
    if (ESVM_NAME(decide)(x, values)) return -1;
    if (ESVM_VALUES == 1) {
        *score = values[0];
        return ESVM_NAME(order)[values[0] > 0.0];
    }
    for (i = 1; i < ESVM_VALUES; i++)
        if (values[i] > values[best]) best = i;
    *score = values[best];
    return ESVM_NAME(order)[best];
}
