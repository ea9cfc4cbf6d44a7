/* Raw samples, their windows, and the learner behind them: preprocessing/_windows.pyx. Included at the
 * end of the NAME.c of a Chain, which defines ESVM_WINDOWS(f), ESVM_AT_WINDOWS, ESVM_LAST and
 * ESVM_ONE_CLASS. */

esvm_status ESVM_NAME(push)(
    ESVM_NAME(t) *model, const ESVM_NAME(value) *x, int index, int *predicted, double *score) {
    char *self = (char *)model + ESVM_AT_WINDOWS;
    const ESVM_NAME(value) *row = (const ESVM_NAME(value) *)ESVM_WINDOWS(out);
    esvm_index at = (esvm_index)ESVM_WINDOWS(counts)->n_run;
    int complete, slot;
    double values[ESVM_VALUES];
    *predicted = -2;
    *score = 0.0;
    if (ESVM_ONE_CLASS) index = -1; /* every window is learned, whatever the labels */
    if (index >= ESVM_LABELS) return ESVM_UNKNOWN_LABEL;
    slot = index < 0 ? -1 : ESVM_SLOT_OF(index);
    if (ESVM_WINDOWS(is_too_large)(self, x)) return ESVM_NOT_FINITE;
    complete = ESVM_WINDOWS(take)(self, x);
    ESVM_WINDOWS(count_vote)(self, (int64_t *)model, ESVM_CLASSES, at, slot); /* the arena's first array */
    if (!complete) return ESVM_UNCHANGED;
    *predicted = -1;
    if (ESVM_TOP(n_learned)(ESVM_SELF(model)) > 0) {
        esvm_status status = ESVM_NAME(decide)(model, row, values);
        if (status > ESVM_CHANGED) return status;
        *predicted = ESVM_NAME(index_of)(ESVM_TOP(winner)(ESVM_SELF(model), values, score));
    }
    if (ESVM_ONE_CLASS) slot = ESVM_FIRST_LABEL;
    else if (!ESVM_LAST) slot = ESVM_WINDOWS(most_votes)(self, (const int64_t *)model, ESVM_CLASSES, at);
    if (slot < 0) return ESVM_UNCHANGED;
    return (esvm_status)ESVM_TOP(learn_row)(ESVM_SELF(model), row, slot, 1.0);
}

void ESVM_NAME(gap)(ESVM_NAME(t) *model) {
    ESVM_WINDOWS(drop_open)((char *)model + ESVM_AT_WINDOWS);
}
