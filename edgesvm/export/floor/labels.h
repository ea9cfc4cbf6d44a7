/* Learning and predicting classes, included by model.h. The NAME.c defines
 *
 *   ESVM_VALUES      decision values of a sample
 *   ESVM_FIRST_LABEL, ESVM_LABELS     class indices that may be learned, and one more
 *
 * A learner may define ESVM_LEARN_ONE(self, x, slot), for samples of weight 1.
 */

#include "classes.h"

#ifndef ESVM_LEARN_ONE
#define ESVM_LEARN_ONE(self, x, slot) ESVM_TOP(learn_row)(self, x, slot, 1.0)
#endif

esvm_status ESVM_NAME(learn_weighted)(
    ESVM_NAME(t) *model, const ESVM_NAME(value) *x, int index, double weight) {
    if (index < ESVM_FIRST_LABEL || index >= ESVM_LABELS) return ESVM_UNKNOWN_LABEL;
    return (esvm_status)ESVM_TOP(learn_row)(ESVM_SELF(model), x, ESVM_SLOT_OF(index), weight);
}

esvm_status ESVM_NAME(learn)(ESVM_NAME(t) *model, const ESVM_NAME(value) *x, int index) {
    if (index < ESVM_FIRST_LABEL || index >= ESVM_LABELS) return ESVM_UNKNOWN_LABEL;
    return (esvm_status)ESVM_LEARN_ONE(ESVM_SELF(model), x, ESVM_SLOT_OF(index));
}

esvm_status ESVM_NAME(decide)(ESVM_NAME(t) *model, const ESVM_NAME(value) *x, double *values) {
    if (ESVM_TOP(n_learned)(ESVM_SELF(model)) == 0) return ESVM_NOT_FITTED;
    return (esvm_status)ESVM_TOP(answer)(ESVM_SELF(model), x, values);
}

int ESVM_NAME(predict)(ESVM_NAME(t) *model, const ESVM_NAME(value) *x, double *score) {
    double values[ESVM_VALUES] = {0.0};
    if (ESVM_NAME(decide)(model, x, values) > ESVM_CHANGED) return -1;
    return ESVM_NAME(index_of)(ESVM_TOP(winner)(ESVM_SELF(model), values, score));
}

#ifdef ESVM_PROBABLE
esvm_status ESVM_NAME(probabilities)(
    ESVM_NAME(t) *model, const ESVM_NAME(value) *x, double *out) {
    if (ESVM_TOP(n_learned)(ESVM_SELF(model)) == 0) return ESVM_NOT_FITTED;
    return (esvm_status)ESVM_TOP(probabilities)(ESVM_SELF(model), x, out);
}
#endif
