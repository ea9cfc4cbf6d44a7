/* Learning and predicting numbers, included by model.h in a regressor's NAME.c. */

esvm_status ESVM_NAME(learn)(
    ESVM_NAME(t) *model, const ESVM_NAME(value) *x, double target, double weight) {
    return (esvm_status)ESVM_TOP(learn_sample)(ESVM_SELF(model), x, target, 0, weight);
}

esvm_status ESVM_NAME(predict)(ESVM_NAME(t) *model, const ESVM_NAME(value) *x, double *value) {
    if (ESVM_TOP(n_learned)(ESVM_SELF(model)) == 0) return ESVM_NOT_FITTED;
    return (esvm_status)ESVM_TOP(decide)(ESVM_SELF(model), x, value);
}

esvm_status ESVM_NAME(forecast)(ESVM_NAME(t) *model, const ESVM_NAME(value) *x, double out[3]) {
    if (ESVM_TOP(n_learned)(ESVM_SELF(model)) == 0) return ESVM_NOT_FITTED;
    return (esvm_status)ESVM_TOP(forecast)(ESVM_SELF(model), x, out);
}

esvm_status ESVM_NAME(interval)(ESVM_NAME(t) *model, const ESVM_NAME(value) *x, double out[2]) {
    if (ESVM_TOP(n_learned)(ESVM_SELF(model)) == 0) return ESVM_NOT_FITTED;
    return (esvm_status)ESVM_TOP(probabilities)(ESVM_SELF(model), x, out);
}
