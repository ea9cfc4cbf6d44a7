/* Translated from edgesvm/learners/papers/online/_passive_aggressive.*: change that, then `make translate`. */

#ifndef EDGESVM_PASSIVE_AGGRESSIVE_H
#define EDGESVM_PASSIVE_AGGRESSIVE_H

#include "floor.h"
#include "core.h"
#include "linalg.h"
#include "linear.h"
#include "status.h"

typedef enum {
    passive_aggressive_PA, passive_aggressive_PA_I, passive_aggressive_PA_II
} passive_aggressive_Variant;

#ifdef PassiveAggressive_n_features

#define PassiveAggressive_common ((core_Common *)self)
#define PassiveAggressive_n_per_class ((int64_t *)(self + PassiveAggressive_AT_n_per_class))
#define PassiveAggressive_scores ((double *)ESVM_SCRATCH(PassiveAggressive_AT_scores))
#define PassiveAggressive_w ((char *)(self + PassiveAggressive_AT_w))
#define PassiveAggressive_ww ((double *)(self + PassiveAggressive_AT_ww))

ESVM_STATIC status_Status PassiveAggressive_learn_row(char *self, const void *x, int slot,
        double weight);
ESVM_STATIC status_Status PassiveAggressive_answer(char *self, const void *x, double *out);
ESVM_STATIC int PassiveAggressive_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t PassiveAggressive_n_learned(char *self);
ESVM_STATIC status_Status PassiveAggressive_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status PassiveAggressive_decide(char *self, const void *x, double *value);
ESVM_STATIC void PassiveAggressive_count(char *self, int slot, status_Status status);
ESVM_STATIC void PassiveAggressive_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int PassiveAggressive_n_answers(char *self);
ESVM_STATIC int PassiveAggressive_slot_for(char *self, double value);
ESVM_STATIC status_Status PassiveAggressive_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC double PassiveAggressive_class_weight(char *self, double y);
ESVM_STATIC status_Status PassiveAggressive_measure(char *self, const void *x, double *wx,
        double *xx);
ESVM_STATIC status_Status PassiveAggressive_move(char *self, double step, const void *x, double xx,
        double weight);
ESVM_STATIC double PassiveAggressive_tau(char *self, double loss, double xx, double C);
ESVM_STATIC void PassiveAggressive_add(char *self, double step, const void *x, char *sum_);
ESVM_STATIC double PassiveAggressive_square(char *self, const char *row);

ESVM_STATIC status_Status PassiveAggressive_learn_row(char *self, const void *x, int slot,
        double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        PassiveAggressive_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = PassiveAggressive_weighed_step(self, x, !PassiveAggressive_HAS_scores ? 2 * slot - 1 :
            slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    PassiveAggressive_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status PassiveAggressive_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!PassiveAggressive_HAS_scores) {
        status = PassiveAggressive_decide(self, x, out);
        out[0] *= PassiveAggressive_labels_sign;
        return status;
    }
    status = PassiveAggressive_decide(self, x, PassiveAggressive_HAS_scores ?
            PassiveAggressive_scores : NULL);
    PassiveAggressive_in_order(self, PassiveAggressive_HAS_scores ? PassiveAggressive_scores :
            NULL, out);
    memset(PassiveAggressive_scores, 0, PassiveAggressive_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int PassiveAggressive_winner(char *self, const double *answers, double *score) {
    int i;
    int n = PassiveAggressive_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!PassiveAggressive_HAS_scores) {
        return PassiveAggressive_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return PassiveAggressive_labels_order[PassiveAggressive_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return PassiveAggressive_labels_order[best];
}

ESVM_STATIC int64_t PassiveAggressive_n_learned(char *self) {
    int64_t total = PassiveAggressive_n_per_class[0] + PassiveAggressive_n_per_class[1];
    int slot;
    for (slot = 2; slot < PassiveAggressive_n_classes; slot++) {
        total += PassiveAggressive_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status PassiveAggressive_weighed_step(char *self, const void *x, double y,
        double weight) {
    return PassiveAggressive_step(self, x, y, PassiveAggressive_balanced ? weight *
            PassiveAggressive_class_weight(self, y) : weight);
}

ESVM_STATIC status_Status PassiveAggressive_decide(char *self, const void *x, double *value) {
    double xx;
    value[0] = 0.0;
    return PassiveAggressive_measure(self, x, value, &xx);
}

ESVM_STATIC void PassiveAggressive_count(char *self, int slot, status_Status status) {
    PassiveAggressive_common->n_seen += 1;
    PassiveAggressive_common->n_updates += status == status_CHANGED;
    PassiveAggressive_n_per_class[slot] += 1;
}

ESVM_STATIC void PassiveAggressive_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = PassiveAggressive_labels_n;
    const signed char *order = PassiveAggressive_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int PassiveAggressive_n_answers(char *self) {
    (void)self;
    return !PassiveAggressive_HAS_scores || PassiveAggressive_labels_n <= 2 ? 1 :
            PassiveAggressive_labels_n;
}

ESVM_STATIC int PassiveAggressive_slot_for(char *self, double value) {
    if (PassiveAggressive_one_class) {
        return value > 0.0;
    }
    if (PassiveAggressive_n_per_class[0] == 0) {
        return 1;
    }
    if (PassiveAggressive_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (PassiveAggressive_labels_sign < 0);
}

ESVM_STATIC status_Status PassiveAggressive_step(char *self, const void *x, double y,
        double weight) {
    double wx, xx, loss;
    status_Status status = PassiveAggressive_measure(self, x, &wx, &xx);
    if (status > status_CHANGED) {
        return status;
    }
    loss = 1.0 - y * wx;
    if (loss <= 0.0 || xx == 0.0) {
        return status_UNCHANGED;
    }
    return PassiveAggressive_move(self, PassiveAggressive_tau(self, loss, xx, PassiveAggressive_C *
            weight) * y, x, xx, weight);
}

ESVM_STATIC double PassiveAggressive_class_weight(char *self, double y) {
    int slot = !PassiveAggressive_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (PassiveAggressive_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < PassiveAggressive_n_classes; other++) {
            n_classes += PassiveAggressive_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(PassiveAggressive_n_learned(self) + 1, (double)n_classes *
            (PassiveAggressive_n_per_class[slot] + 1));
}

ESVM_STATIC status_Status PassiveAggressive_measure(char *self, const void *x, double *wx,
        double *xx) {
#if ESVM_IS_FLOAT32
    linear_products_f32((const float *)x, (const float *)PassiveAggressive_w,
            PassiveAggressive_n_features, wx, xx);
#else
    linear_products_f64((const double *)x, (const double *)PassiveAggressive_w,
            PassiveAggressive_n_features, wx, xx);
#endif
    if (!esvm_is_finite(xx[0])) {
        return status_NOT_FINITE;
    }
    if (PassiveAggressive_intercept) {
        wx[0] += linalg_entry(PassiveAggressive_w, PassiveAggressive_n_features);
        xx[0] += 1.0;
    }
    return status_UNCHANGED;
}

ESVM_STATIC status_Status PassiveAggressive_move(char *self, double step, const void *x, double xx,
        double weight) {
    double norm = esvm_sqrt(PassiveAggressive_ww[0]) + fabs(step) * esvm_sqrt(xx);
    if (!(norm * norm <= PassiveAggressive_most_ww)) {
        return weight == 1.0 ? status_NOT_FINITE : status_BAD_WEIGHT;
    }
    PassiveAggressive_add(self, step, x, PassiveAggressive_w);
    PassiveAggressive_ww[0] = PassiveAggressive_square(self, PassiveAggressive_w);
    return status_CHANGED;
}

ESVM_STATIC double PassiveAggressive_tau(char *self, double loss, double xx, double C) {
    (void)self;
    if (PassiveAggressive_variant == passive_aggressive_PA_II) {
        return ESVM_DIVIDE(loss, xx + ESVM_DIVIDE(0.5, C));
    }
    if (PassiveAggressive_variant == passive_aggressive_PA_I) {
        return esvm_min(C, ESVM_DIVIDE(loss, xx));
    }
    return ESVM_DIVIDE(loss, xx);
}

ESVM_STATIC void PassiveAggressive_add(char *self, double step, const void *x, char *sum_) {
    (void)self;
#if ESVM_IS_FLOAT32
    linear_add_typed_f32((float)step, (const float *)x, (float *)sum_,
            PassiveAggressive_n_features, PassiveAggressive_intercept);
#else
    linear_add_typed_f64(step, (const double *)x, (double *)sum_, PassiveAggressive_n_features,
            PassiveAggressive_intercept);
#endif
}

ESVM_STATIC double PassiveAggressive_square(char *self, const char *row) {
    (void)self;
    return linalg_any_dot(row, row, PassiveAggressive_width);
}

#endif

#endif
