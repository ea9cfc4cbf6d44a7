/* Raw samples, their windows, and the learner behind them: preprocessing/_chain.pyx. Included at the
 * end of the NAME.c of a Chain, which defines ESVM_WINDOWS(f), ESVM_AT_WINDOWS, ESVM_LAST and
 * ESVM_ONE_CLASS. */

/* Count the label of the sample `at` in every window that it is in. */
static void ESVM_NAME(count)(ESVM_NAME(t) *model, int64_t at, int slot) {
    int64_t *votes = (int64_t *)model; /* (n_windows, classes), the arena's first array */
    int64_t newest = at / ESVM_WINDOWS(hop), k = newest - ESVM_WINDOWS(n_windows) + 1;
    if (at % ESVM_WINDOWS(hop) == 0)
        memset(votes + newest % ESVM_WINDOWS(n_windows) * ESVM_CLASSES, 0,
               ESVM_CLASSES * sizeof(int64_t));
    if (slot < 0) return;
    for (k = k > 0 ? k : 0; k <= newest; k++)
        if (at - k * ESVM_WINDOWS(hop) < ESVM_WINDOWS(window))
            votes[k % ESVM_WINDOWS(n_windows) * ESVM_CLASSES + slot] += 1;
}

/* The first class with most votes in the window that ends at `at`; -1 without a vote */
static int ESVM_NAME(majority)(const ESVM_NAME(t) *model, int64_t at) {
    int64_t k = (at - ESVM_WINDOWS(window) + 1) / ESVM_WINDOWS(hop), most = 0;
    const int64_t *votes = (const int64_t *)model;
    int slot, best = -1;
    votes += k % ESVM_WINDOWS(n_windows) * ESVM_CLASSES;
    for (slot = 0; slot < ESVM_CLASSES; slot++)
        if (votes[slot] > most) {
            most = votes[slot];
            best = slot;
        }
    return best;
}

esvm_status ESVM_NAME(push)(
    ESVM_NAME(t) *model, const ESVM_NAME(value) *x, int index, int *predicted, double *score) {
    char *self = (char *)model + ESVM_AT_WINDOWS;
    const ESVM_NAME(value) *row = (const ESVM_NAME(value) *)ESVM_WINDOWS(out);
    int64_t at = ESVM_WINDOWS(counts)->n_run;
    int complete, slot;
    double values[ESVM_VALUES];
    *predicted = -2;
    *score = 0.0;
    if (ESVM_ONE_CLASS) index = -1; /* every window is learned, whatever the labels */
    if (index >= ESVM_LABELS) return ESVM_UNKNOWN_LABEL;
    slot = index < 0 ? -1 : ESVM_SLOT_OF(index);
    if (ESVM_WINDOWS(is_too_large)(self, x)) return ESVM_NOT_FINITE;
    complete = ESVM_WINDOWS(take)(self, x);
    ESVM_NAME(count)(model, at, slot);
    if (!complete) return ESVM_UNCHANGED;
    *predicted = -1;
    if (ESVM_TOP(n_learned)(ESVM_SELF(model)) > 0) {
        esvm_status status = ESVM_NAME(decide)(model, row, values);
        if (status > ESVM_CHANGED) return status;
        *predicted = ESVM_NAME(index_of)(ESVM_TOP(winner)(ESVM_SELF(model), values, score));
    }
    if (ESVM_ONE_CLASS) slot = ESVM_FIRST_LABEL;
    else if (!ESVM_LAST) slot = ESVM_NAME(majority)(model, at);
    if (slot < 0) return ESVM_UNCHANGED;
    return (esvm_status)ESVM_TOP(learn_row)(ESVM_SELF(model), row, slot, 1.0);
}

#include "gap.h"
