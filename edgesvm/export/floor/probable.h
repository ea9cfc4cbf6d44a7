/* Probabilities of the labels, of a Calibrated model. Included at the end of its NAME.c. */

esvm_status ESVM_NAME(probabilities)(
    ESVM_NAME(t) *model, const ESVM_NAME(value) *x, double *out) {
    if (ESVM_TOP(n_learned)(ESVM_SELF(model)) == 0) return ESVM_NOT_FITTED;
    return (esvm_status)ESVM_TOP(probabilities)(ESVM_SELF(model), x, out);
}
