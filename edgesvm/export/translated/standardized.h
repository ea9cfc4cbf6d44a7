/* Translated from edgesvm/preprocessing/_standardized.*: change that, then `make translate`. */

#ifndef EDGESVM_STANDARDIZED_H
#define EDGESVM_STANDARDIZED_H

#include "floor.h"
#include "core.h"
#include "linalg.h"
#include "status.h"

#ifdef Standardized_n_features

#define Standardized_common ((core_Common *)self)
#define Standardized_n_per_class ((int64_t *)(self + Standardized_AT_n_per_class))
#define Standardized_scores ((double *)ESVM_SCRATCH(Standardized_AT_scores))
#define Standardized_mapped ((char *)ESVM_SCRATCH(Standardized_AT_mapped))
#define Standardized_mean ((double *)(self + Standardized_AT_mean))
#define Standardized_spread ((double *)(self + Standardized_AT_spread))
#define Standardized_n_scaled ((int64_t *)(self + Standardized_AT_n_scaled))

ESVM_STATIC status_Status Standardized_learn_row(char *self, const void *x, int slot,
        double weight);
ESVM_STATIC status_Status Standardized_answer(char *self, const void *x, double *out);
ESVM_STATIC int Standardized_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t Standardized_n_learned(char *self);
ESVM_STATIC status_Status Standardized_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status Standardized_decide(char *self, const void *x, double *value);
ESVM_STATIC int Standardized_is_too_large(char *self, const void *x);
ESVM_STATIC void Standardized_count(char *self, int slot, status_Status status);
ESVM_STATIC void Standardized_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int Standardized_n_answers(char *self);
ESVM_STATIC int Standardized_slot_for(char *self, double value);
ESVM_STATIC status_Status Standardized_step(char *self, const void *x, double y, double weight);
ESVM_STATIC double Standardized_class_weight(char *self, double y);
ESVM_STATIC void Standardized_map(char *self, const void *x, double n);
ESVM_STATIC void Standardized_wipe(char *self);
ESVM_STATIC status_Status Standardized_map_next(char *self, const void *x, double n);
ESVM_STATIC void Standardized_keep(char *self, const void *x, double n);
ESVM_STATIC esvm_index Standardized_row_bytes(char *self);
ESVM_STATIC double Standardized_count_with_next(char *self, double n);
ESVM_STATIC int Standardized_is_settled(char *self);

ESVM_STATIC status_Status Standardized_learn_row(char *self, const void *x, int slot,
        double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        Standardized_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = Standardized_weighed_step(self, x, !Standardized_HAS_scores ? 2 * slot - 1 : slot,
            weight);
    if (status > status_CHANGED) {
        return status;
    }
    Standardized_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status Standardized_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!Standardized_HAS_scores) {
        status = Standardized_decide(self, x, out);
        out[0] *= Standardized_labels_sign;
        return status;
    }
    status = Standardized_decide(self, x, Standardized_HAS_scores ? Standardized_scores : NULL);
    Standardized_in_order(self, Standardized_HAS_scores ? Standardized_scores : NULL, out);
    memset(Standardized_scores, 0, Standardized_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int Standardized_winner(char *self, const double *answers, double *score) {
    int i;
    int n = Standardized_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!Standardized_HAS_scores) {
        return Standardized_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return Standardized_labels_order[Standardized_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return Standardized_labels_order[best];
}

ESVM_STATIC int64_t Standardized_n_learned(char *self) {
    int64_t total = Standardized_n_per_class[0] + Standardized_n_per_class[1];
    int slot;
    for (slot = 2; slot < Standardized_n_classes; slot++) {
        total += Standardized_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status Standardized_weighed_step(char *self, const void *x, double y,
        double weight) {
    return Standardized_step(self, x, y, Standardized_balanced ? weight *
            Standardized_class_weight(self, y) : weight);
}

ESVM_STATIC status_Status Standardized_decide(char *self, const void *x, double *value) {
    status_Status status;
    if (Standardized_is_too_large(self, x)) {
        return status_NOT_FINITE;
    }
    Standardized_map(self, x, Standardized_n_learned(self));
    status = Standardized_inner(decide)(self, Standardized_mapped, value);
    Standardized_wipe(self);
    return status;
}

ESVM_STATIC int Standardized_is_too_large(char *self, const void *x) {
    (void)self;
    return !esvm_is_finite(linalg_any_dot(x, x, Standardized_n_features));
}

ESVM_STATIC void Standardized_count(char *self, int slot, status_Status status) {
    Standardized_common->n_seen += 1;
    Standardized_common->n_updates += status == status_CHANGED;
    Standardized_n_per_class[slot] += 1;
}

ESVM_STATIC void Standardized_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = Standardized_labels_n;
    const signed char *order = Standardized_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int Standardized_n_answers(char *self) {
    (void)self;
    return !Standardized_HAS_scores || Standardized_labels_n <= 2 ? 1 : Standardized_labels_n;
}

ESVM_STATIC int Standardized_slot_for(char *self, double value) {
    if (Standardized_one_class) {
        return value > 0.0;
    }
    if (Standardized_n_per_class[0] == 0) {
        return 1;
    }
    if (Standardized_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (Standardized_labels_sign < 0);
}

ESVM_STATIC status_Status Standardized_step(char *self, const void *x, double y, double weight) {
    double n = Standardized_n_learned(self) + 1;
    status_Status status;
    if (Standardized_is_too_large(self, x)) {
        return status_NOT_FINITE;
    }
    status = Standardized_map_next(self, x, n);
    if (status == status_UNCHANGED) {
        status = Standardized_inner(weighed_step)(self, Standardized_mapped, y, weight);
    }
    if (status <= status_CHANGED) {
        Standardized_keep(self, x, n);
    }
    Standardized_wipe(self);
    return status;
}

ESVM_STATIC double Standardized_class_weight(char *self, double y) {
    int slot = !Standardized_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (Standardized_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < Standardized_n_classes; other++) {
            n_classes += Standardized_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(Standardized_n_learned(self) + 1, (double)n_classes *
            (Standardized_n_per_class[slot] + 1));
}

ESVM_STATIC void Standardized_map(char *self, const void *x, double n) {
    double share = ESVM_DIVIDE(1.0, !Standardized_HAS_n_scaled ? n :
            (double)Standardized_n_scaled[0]);
#if ESVM_IS_FLOAT32
    moments_map_f32((const float *)x, Standardized_mean, Standardized_spread, share,
            (float *)Standardized_mapped, Standardized_n_features);
#else
    moments_map_f64((const double *)x, Standardized_mean, Standardized_spread, share,
            (double *)Standardized_mapped, Standardized_n_features);
#endif
}

ESVM_STATIC void Standardized_wipe(char *self) {
    memset(Standardized_mapped, 0, Standardized_row_bytes(self));
}

ESVM_STATIC status_Status Standardized_map_next(char *self, const void *x, double n) {
    int is_finite;
    double share = ESVM_DIVIDE(1.0, Standardized_count_with_next(self, n));
    if (Standardized_is_settled(self)) {
        Standardized_map(self, x, n);
        return status_UNCHANGED;
    }
#if ESVM_IS_FLOAT32
    is_finite = moments_next_f32((const float *)x, Standardized_mean, Standardized_spread, share,
            (float *)Standardized_mapped, Standardized_n_features);
#else
    is_finite = moments_next_f64((const double *)x, Standardized_mean, Standardized_spread, share,
            (double *)Standardized_mapped, Standardized_n_features);
#endif
    return is_finite ? status_UNCHANGED : status_NOT_FINITE;
}

ESVM_STATIC void Standardized_keep(char *self, const void *x, double n) {
    double share = ESVM_DIVIDE(1.0, Standardized_count_with_next(self, n));
    if (Standardized_is_settled(self)) {
        return;
    }
    if (Standardized_HAS_n_scaled) {
        Standardized_n_scaled[0] += 1;
    }
#if ESVM_IS_FLOAT32
    moments_keep_f32((const float *)x, Standardized_mean, Standardized_spread, share,
            Standardized_n_features);
#else
    moments_keep_f64((const double *)x, Standardized_mean, Standardized_spread, share,
            Standardized_n_features);
#endif
}

ESVM_STATIC esvm_index Standardized_row_bytes(char *self) {
    (void)self;
    return Standardized_inner(n_features) * linalg_item_bytes();
}

ESVM_STATIC double Standardized_count_with_next(char *self, double n) {
    return !Standardized_HAS_n_scaled ? n : (double)Standardized_n_scaled[0] + 1.0;
}

ESVM_STATIC int Standardized_is_settled(char *self) {
    return Standardized_HAS_n_scaled && Standardized_n_scaled[0] >= Standardized_until;
}

#endif

#endif
