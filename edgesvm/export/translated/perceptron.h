/* Translated from edgesvm/learners/papers/online/_perceptron.*: change that, then `make translate`. */

#ifndef EDGESVM_PERCEPTRON_H
#define EDGESVM_PERCEPTRON_H

#include "floor.h"
#include "core.h"
#include "linalg.h"
#include "linear.h"
#include "status.h"

#ifdef Perceptron_n_features

#define Perceptron_common ((core_Common *)self)
#define Perceptron_n_per_class ((int64_t *)(self + Perceptron_AT_n_per_class))
#define Perceptron_scores ((double *)ESVM_SCRATCH(Perceptron_AT_scores))
#define Perceptron_w ((char *)(self + Perceptron_AT_w))
#define Perceptron_ww ((double *)(self + Perceptron_AT_ww))

ESVM_STATIC status_Status Perceptron_learn_row(char *self, const void *x, int slot, double weight);
ESVM_STATIC status_Status Perceptron_answer(char *self, const void *x, double *out);
ESVM_STATIC int Perceptron_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t Perceptron_n_learned(char *self);
ESVM_STATIC status_Status Perceptron_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status Perceptron_decide(char *self, const void *x, double *value);
ESVM_STATIC void Perceptron_count(char *self, int slot, status_Status status);
ESVM_STATIC void Perceptron_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int Perceptron_n_answers(char *self);
ESVM_STATIC int Perceptron_slot_for(char *self, double value);
ESVM_STATIC status_Status Perceptron_step(char *self, const void *x, double y, double weight);
ESVM_STATIC double Perceptron_class_weight(char *self, double y);
ESVM_STATIC status_Status Perceptron_measure(char *self, const void *x, double *wx, double *xx);
ESVM_STATIC status_Status Perceptron_move(char *self, double step, const void *x, double xx,
        double weight);
ESVM_STATIC void Perceptron_add(char *self, double step, const void *x, char *sum_);
ESVM_STATIC double Perceptron_square(char *self, const char *row);

ESVM_STATIC status_Status Perceptron_learn_row(char *self, const void *x, int slot, double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        Perceptron_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = Perceptron_weighed_step(self, x, !Perceptron_HAS_scores ? 2 * slot - 1 : slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    Perceptron_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status Perceptron_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!Perceptron_HAS_scores) {
        status = Perceptron_decide(self, x, out);
        out[0] *= Perceptron_labels_sign;
        return status;
    }
    status = Perceptron_decide(self, x, Perceptron_HAS_scores ? Perceptron_scores : NULL);
    Perceptron_in_order(self, Perceptron_HAS_scores ? Perceptron_scores : NULL, out);
    memset(Perceptron_scores, 0, Perceptron_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int Perceptron_winner(char *self, const double *answers, double *score) {
    int i;
    int n = Perceptron_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!Perceptron_HAS_scores) {
        return Perceptron_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return Perceptron_labels_order[Perceptron_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return Perceptron_labels_order[best];
}

ESVM_STATIC int64_t Perceptron_n_learned(char *self) {
    int64_t total = Perceptron_n_per_class[0] + Perceptron_n_per_class[1];
    int slot;
    for (slot = 2; slot < Perceptron_n_classes; slot++) {
        total += Perceptron_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status Perceptron_weighed_step(char *self, const void *x, double y,
        double weight) {
    return Perceptron_step(self, x, y, Perceptron_balanced ? weight * Perceptron_class_weight(self,
            y) : weight);
}

ESVM_STATIC status_Status Perceptron_decide(char *self, const void *x, double *value) {
    double xx;
    value[0] = 0.0;
    return Perceptron_measure(self, x, value, &xx);
}

ESVM_STATIC void Perceptron_count(char *self, int slot, status_Status status) {
    Perceptron_common->n_seen += 1;
    Perceptron_common->n_updates += status == status_CHANGED;
    Perceptron_n_per_class[slot] += 1;
}

ESVM_STATIC void Perceptron_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = Perceptron_labels_n;
    const signed char *order = Perceptron_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int Perceptron_n_answers(char *self) {
    (void)self;
    return !Perceptron_HAS_scores || Perceptron_labels_n <= 2 ? 1 : Perceptron_labels_n;
}

ESVM_STATIC int Perceptron_slot_for(char *self, double value) {
    if (Perceptron_one_class) {
        return value > 0.0;
    }
    if (Perceptron_n_per_class[0] == 0) {
        return 1;
    }
    if (Perceptron_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (Perceptron_labels_sign < 0);
}

ESVM_STATIC status_Status Perceptron_step(char *self, const void *x, double y, double weight) {
    double wx, xx;
    status_Status status = Perceptron_measure(self, x, &wx, &xx);
    if (status > status_CHANGED) {
        return status;
    }
    if (y * wx > 0.0) {
        return status_UNCHANGED;
    }
    return Perceptron_move(self, weight * y, x, xx, weight);
}

ESVM_STATIC double Perceptron_class_weight(char *self, double y) {
    int slot = !Perceptron_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (Perceptron_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < Perceptron_n_classes; other++) {
            n_classes += Perceptron_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(Perceptron_n_learned(self) + 1, (double)n_classes *
            (Perceptron_n_per_class[slot] + 1));
}

ESVM_STATIC status_Status Perceptron_measure(char *self, const void *x, double *wx, double *xx) {
#if ESVM_IS_FLOAT32
    linear_products_f32((const float *)x, (const float *)Perceptron_w, Perceptron_n_features, wx,
            xx);
#else
    linear_products_f64((const double *)x, (const double *)Perceptron_w, Perceptron_n_features, wx,
            xx);
#endif
    if (!esvm_is_finite(xx[0])) {
        return status_NOT_FINITE;
    }
    if (Perceptron_intercept) {
        wx[0] += linalg_entry(Perceptron_w, Perceptron_n_features);
        xx[0] += 1.0;
    }
    return status_UNCHANGED;
}

ESVM_STATIC status_Status Perceptron_move(char *self, double step, const void *x, double xx,
        double weight) {
    double norm = esvm_sqrt(Perceptron_ww[0]) + fabs(step) * esvm_sqrt(xx);
    if (!(norm * norm <= Perceptron_most_ww)) {
        return weight == 1.0 ? status_NOT_FINITE : status_BAD_WEIGHT;
    }
    Perceptron_add(self, step, x, Perceptron_w);
    Perceptron_ww[0] = Perceptron_square(self, Perceptron_w);
    return status_CHANGED;
}

ESVM_STATIC void Perceptron_add(char *self, double step, const void *x, char *sum_) {
    (void)self;
#if ESVM_IS_FLOAT32
    linear_add_typed_f32((float)step, (const float *)x, (float *)sum_, Perceptron_n_features,
            Perceptron_intercept);
#else
    linear_add_typed_f64(step, (const double *)x, (double *)sum_, Perceptron_n_features,
            Perceptron_intercept);
#endif
}

ESVM_STATIC double Perceptron_square(char *self, const char *row) {
    (void)self;
    return linalg_any_dot(row, row, Perceptron_width);
}

#endif

#endif
