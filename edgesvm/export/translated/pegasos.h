/* Translated from edgesvm/learners/papers/online/_pegasos.*: change that, then `make translate`. */

#ifndef EDGESVM_PEGASOS_H
#define EDGESVM_PEGASOS_H

#include "floor.h"
#include "core.h"
#include "linalg.h"
#include "linear.h"
#include "status.h"

#ifdef Pegasos_n_features

#define Pegasos_common ((core_Common *)self)
#define Pegasos_n_per_class ((int64_t *)(self + Pegasos_AT_n_per_class))
#define Pegasos_scores ((double *)ESVM_SCRATCH(Pegasos_AT_scores))
#define Pegasos_w ((char *)(self + Pegasos_AT_w))
#define Pegasos_ww ((double *)(self + Pegasos_AT_ww))
#define Pegasos_n_steps ((int64_t *)(self + Pegasos_AT_n_steps))
#define Pegasos_n_waiting ((int64_t *)(self + Pegasos_AT_n_waiting))
#define Pegasos_gradient ((char *)(self + Pegasos_AT_gradient))

ESVM_STATIC status_Status Pegasos_learn_row(char *self, const void *x, int slot, double weight);
ESVM_STATIC status_Status Pegasos_answer(char *self, const void *x, double *out);
ESVM_STATIC int Pegasos_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t Pegasos_n_learned(char *self);
ESVM_STATIC status_Status Pegasos_weighed_step(char *self, const void *x, double y, double weight);
ESVM_STATIC status_Status Pegasos_decide(char *self, const void *x, double *value);
ESVM_STATIC void Pegasos_count(char *self, int slot, status_Status status);
ESVM_STATIC void Pegasos_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int Pegasos_n_answers(char *self);
ESVM_STATIC int Pegasos_slot_for(char *self, double value);
ESVM_STATIC status_Status Pegasos_step(char *self, const void *x, double y, double weight);
ESVM_STATIC double Pegasos_class_weight(char *self, double y);
ESVM_STATIC status_Status Pegasos_measure(char *self, const void *x, double *wx, double *xx);
ESVM_STATIC double Pegasos_bound_of(char *self, double length);
ESVM_STATIC void Pegasos_add(char *self, double step, const void *x, char *sum_);
ESVM_STATIC void Pegasos_descend(char *self);
ESVM_STATIC void Pegasos_combine(char *self, double a, double b);
ESVM_STATIC esvm_index Pegasos_dtype_bytes(char *self);
ESVM_STATIC double Pegasos_square(char *self, const char *row);

ESVM_STATIC status_Status Pegasos_learn_row(char *self, const void *x, int slot, double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        Pegasos_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = Pegasos_weighed_step(self, x, !Pegasos_HAS_scores ? 2 * slot - 1 : slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    Pegasos_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status Pegasos_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!Pegasos_HAS_scores) {
        status = Pegasos_decide(self, x, out);
        out[0] *= Pegasos_labels_sign;
        return status;
    }
    status = Pegasos_decide(self, x, Pegasos_HAS_scores ? Pegasos_scores : NULL);
    Pegasos_in_order(self, Pegasos_HAS_scores ? Pegasos_scores : NULL, out);
    memset(Pegasos_scores, 0, Pegasos_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int Pegasos_winner(char *self, const double *answers, double *score) {
    int i;
    int n = Pegasos_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!Pegasos_HAS_scores) {
        return Pegasos_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return Pegasos_labels_order[Pegasos_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return Pegasos_labels_order[best];
}

ESVM_STATIC int64_t Pegasos_n_learned(char *self) {
    int64_t total = Pegasos_n_per_class[0] + Pegasos_n_per_class[1];
    int slot;
    for (slot = 2; slot < Pegasos_n_classes; slot++) {
        total += Pegasos_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status Pegasos_weighed_step(char *self, const void *x, double y, double weight) {
    return Pegasos_step(self, x, y, Pegasos_balanced ? weight * Pegasos_class_weight(self, y) :
            weight);
}

ESVM_STATIC status_Status Pegasos_decide(char *self, const void *x, double *value) {
    double xx;
    value[0] = 0.0;
    return Pegasos_measure(self, x, value, &xx);
}

ESVM_STATIC void Pegasos_count(char *self, int slot, status_Status status) {
    Pegasos_common->n_seen += 1;
    Pegasos_common->n_updates += status == status_CHANGED;
    Pegasos_n_per_class[slot] += 1;
}

ESVM_STATIC void Pegasos_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = Pegasos_labels_n;
    const signed char *order = Pegasos_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int Pegasos_n_answers(char *self) {
    (void)self;
    return !Pegasos_HAS_scores || Pegasos_labels_n <= 2 ? 1 : Pegasos_labels_n;
}

ESVM_STATIC int Pegasos_slot_for(char *self, double value) {
    if (Pegasos_one_class) {
        return value > 0.0;
    }
    if (Pegasos_n_per_class[0] == 0) {
        return 1;
    }
    if (Pegasos_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (Pegasos_labels_sign < 0);
}

ESVM_STATIC status_Status Pegasos_step(char *self, const void *x, double y, double weight) {
    double wx, xx;
    status_Status status = Pegasos_measure(self, x, &wx, &xx);
    if (status > status_CHANGED) {
        return status;
    }
    if (!(Pegasos_bound_of(self, weight * esvm_sqrt(xx)) <= Pegasos_most_ww)) {
        return weight == 1.0 ? status_NOT_FINITE : status_BAD_WEIGHT;
    }
    if (y * wx < 1.0) {
        Pegasos_add(self, weight * y, x, Pegasos_gradient);
        status = status_CHANGED;
    }
    Pegasos_n_waiting[0] += 1;
    if (Pegasos_n_waiting[0] == Pegasos_batch_size) {
        Pegasos_descend(self);
        status = status_CHANGED;
    }
    return status;
}

ESVM_STATIC double Pegasos_class_weight(char *self, double y) {
    int slot = !Pegasos_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (Pegasos_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < Pegasos_n_classes; other++) {
            n_classes += Pegasos_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(Pegasos_n_learned(self) + 1, (double)n_classes *
            (Pegasos_n_per_class[slot] + 1));
}

ESVM_STATIC status_Status Pegasos_measure(char *self, const void *x, double *wx, double *xx) {
#if ESVM_IS_FLOAT32
    linear_products_f32((const float *)x, (const float *)Pegasos_w, Pegasos_n_features, wx, xx);
#else
    linear_products_f64((const double *)x, (const double *)Pegasos_w, Pegasos_n_features, wx, xx);
#endif
    if (!esvm_is_finite(xx[0])) {
        return status_NOT_FINITE;
    }
    if (Pegasos_intercept) {
        wx[0] += linalg_entry(Pegasos_w, Pegasos_n_features);
        xx[0] += 1.0;
    }
    return status_UNCHANGED;
}

ESVM_STATIC double Pegasos_bound_of(char *self, double length) {
    (void)self;
    length *= esvm_max(1.0 / Pegasos_lambda_, (double)Pegasos_batch_size);
    return length * length;
}

ESVM_STATIC void Pegasos_add(char *self, double step, const void *x, char *sum_) {
    (void)self;
#if ESVM_IS_FLOAT32
    linear_add_typed_f32((float)step, (const float *)x, (float *)sum_, Pegasos_n_features,
            Pegasos_intercept);
#else
    linear_add_typed_f64(step, (const double *)x, (double *)sum_, Pegasos_n_features,
            Pegasos_intercept);
#endif
}

ESVM_STATIC void Pegasos_descend(char *self) {
    Pegasos_n_steps[0] += 1;
    double t = Pegasos_n_steps[0];
    Pegasos_combine(self, 1.0 - ESVM_DIVIDE(1.0, t), ESVM_DIVIDE(1.0, Pegasos_lambda_ * t *
            Pegasos_batch_size));
    if (Pegasos_project && Pegasos_ww[0] > 1.0 / Pegasos_lambda_) {
        Pegasos_combine(self, ESVM_DIVIDE(1.0, esvm_sqrt(Pegasos_lambda_ * Pegasos_ww[0])), 0.0);
    }
    memset(Pegasos_gradient, 0, Pegasos_width * Pegasos_dtype_bytes(self));
    Pegasos_n_waiting[0] = 0;
}

ESVM_STATIC void Pegasos_combine(char *self, double a, double b) {
#if ESVM_IS_FLOAT32
    linalg_axpby_f32((float)b, (const float *)Pegasos_gradient, (float)a, (float *)Pegasos_w,
            Pegasos_width);
#else
    linalg_axpby_f64(b, (const double *)Pegasos_gradient, a, (double *)Pegasos_w, Pegasos_width);
#endif
    Pegasos_ww[0] = Pegasos_square(self, Pegasos_w);
}

ESVM_STATIC esvm_index Pegasos_dtype_bytes(char *self) {
    (void)self;
    return ESVM_IS_FLOAT32 ? sizeof(float) : sizeof(double);
}

ESVM_STATIC double Pegasos_square(char *self, const char *row) {
    (void)self;
    return linalg_any_dot(row, row, Pegasos_width);
}

#endif

#endif
