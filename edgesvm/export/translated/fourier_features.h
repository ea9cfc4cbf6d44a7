/* Translated from edgesvm/preprocessing/_fourier_features.*: change that, then `make translate`. */

#ifndef EDGESVM_FOURIER_FEATURES_H
#define EDGESVM_FOURIER_FEATURES_H

#include "floor.h"
#include "core.h"
#include "directions.h"
#include "linalg.h"
#include "status.h"

#ifdef FourierFeatures_n_features

#define FourierFeatures_common ((core_Common *)self)
#define FourierFeatures_n_per_class ((int64_t *)(self + FourierFeatures_AT_n_per_class))
#define FourierFeatures_scores ((double *)ESVM_SCRATCH(FourierFeatures_AT_scores))
#define FourierFeatures_mapped ((char *)ESVM_SCRATCH(FourierFeatures_AT_mapped))
#define FourierFeatures_directions_angle ((int16_t *)ESVM_SCRATCH(FourierFeatures_AT_angle))
#define FourierFeatures_directions_mixed ((void *)ESVM_SCRATCH(FourierFeatures_AT_mixed))

static const double FourierFeatures_directions_scales[directions_WIDTHS] = FourierFeatures_DIRECTIONS_SCALES;

ESVM_STATIC directions_Directions FourierFeatures_directions_of(char *self) {
    directions_Directions made;
    (void)self;
    made.key = FourierFeatures_directions_key;
    memcpy(made.scales, FourierFeatures_directions_scales, sizeof made.scales);
    made.n = FourierFeatures_directions_n;
    made.n_features = FourierFeatures_directions_n_features;
    made.n_mixed = FourierFeatures_directions_n_mixed;
    made.angle = FourierFeatures_HAS_angle ? FourierFeatures_directions_angle : NULL;
    made.mixed = FourierFeatures_HAS_mixed ? FourierFeatures_directions_mixed : NULL;
    made.is_float32 = ESVM_IS_FLOAT32;
    return made;
}

ESVM_STATIC status_Status FourierFeatures_learn_row(char *self, const void *x, int slot,
        double weight);
ESVM_STATIC status_Status FourierFeatures_answer(char *self, const void *x, double *out);
ESVM_STATIC int FourierFeatures_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t FourierFeatures_n_learned(char *self);
ESVM_STATIC status_Status FourierFeatures_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status FourierFeatures_decide(char *self, const void *x, double *value);
ESVM_STATIC int FourierFeatures_is_too_large(char *self, const void *x);
ESVM_STATIC void FourierFeatures_count(char *self, int slot, status_Status status);
ESVM_STATIC void FourierFeatures_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int FourierFeatures_n_answers(char *self);
ESVM_STATIC int FourierFeatures_slot_for(char *self, double value);
ESVM_STATIC status_Status FourierFeatures_step(char *self, const void *x, double y, double weight);
ESVM_STATIC double FourierFeatures_class_weight(char *self, double y);
ESVM_STATIC void FourierFeatures_map(char *self, const void *x, double n);
ESVM_STATIC void FourierFeatures_wipe(char *self);
ESVM_STATIC status_Status FourierFeatures_map_next(char *self, const void *x, double n);
ESVM_STATIC void FourierFeatures_keep(char *self, const void *x, double n);
ESVM_STATIC esvm_index FourierFeatures_row_bytes(char *self);

ESVM_STATIC status_Status FourierFeatures_learn_row(char *self, const void *x, int slot,
        double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        FourierFeatures_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = FourierFeatures_weighed_step(self, x, !FourierFeatures_HAS_scores ? 2 * slot - 1 :
            slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    FourierFeatures_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status FourierFeatures_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!FourierFeatures_HAS_scores) {
        status = FourierFeatures_decide(self, x, out);
        out[0] *= FourierFeatures_labels_sign;
        return status;
    }
    status = FourierFeatures_decide(self, x, FourierFeatures_HAS_scores ? FourierFeatures_scores :
            NULL);
    FourierFeatures_in_order(self, FourierFeatures_HAS_scores ? FourierFeatures_scores : NULL, out);
    memset(FourierFeatures_scores, 0, FourierFeatures_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int FourierFeatures_winner(char *self, const double *answers, double *score) {
    int i;
    int n = FourierFeatures_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!FourierFeatures_HAS_scores) {
        return FourierFeatures_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return FourierFeatures_labels_order[FourierFeatures_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return FourierFeatures_labels_order[best];
}

ESVM_STATIC int64_t FourierFeatures_n_learned(char *self) {
    int64_t total = FourierFeatures_n_per_class[0] + FourierFeatures_n_per_class[1];
    int slot;
    for (slot = 2; slot < FourierFeatures_n_classes; slot++) {
        total += FourierFeatures_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status FourierFeatures_weighed_step(char *self, const void *x, double y,
        double weight) {
    return FourierFeatures_step(self, x, y, FourierFeatures_balanced ? weight *
            FourierFeatures_class_weight(self, y) : weight);
}

ESVM_STATIC status_Status FourierFeatures_decide(char *self, const void *x, double *value) {
    status_Status status;
    if (FourierFeatures_is_too_large(self, x)) {
        return status_NOT_FINITE;
    }
    FourierFeatures_map(self, x, FourierFeatures_n_learned(self));
    status = FourierFeatures_inner(decide)(self, FourierFeatures_mapped, value);
    FourierFeatures_wipe(self);
    return status;
}

ESVM_STATIC int FourierFeatures_is_too_large(char *self, const void *x) {
    (void)self;
    return !esvm_is_finite(linalg_any_dot(x, x, FourierFeatures_n_features));
}

ESVM_STATIC void FourierFeatures_count(char *self, int slot, status_Status status) {
    FourierFeatures_common->n_seen += 1;
    FourierFeatures_common->n_updates += status == status_CHANGED;
    FourierFeatures_n_per_class[slot] += 1;
}

ESVM_STATIC void FourierFeatures_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = FourierFeatures_labels_n;
    const signed char *order = FourierFeatures_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int FourierFeatures_n_answers(char *self) {
    (void)self;
    return !FourierFeatures_HAS_scores || FourierFeatures_labels_n <= 2 ? 1 :
            FourierFeatures_labels_n;
}

ESVM_STATIC int FourierFeatures_slot_for(char *self, double value) {
    if (FourierFeatures_one_class) {
        return value > 0.0;
    }
    if (FourierFeatures_n_per_class[0] == 0) {
        return 1;
    }
    if (FourierFeatures_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (FourierFeatures_labels_sign < 0);
}

ESVM_STATIC status_Status FourierFeatures_step(char *self, const void *x, double y, double weight) {
    double n = FourierFeatures_n_learned(self) + 1;
    status_Status status;
    if (FourierFeatures_is_too_large(self, x)) {
        return status_NOT_FINITE;
    }
    status = FourierFeatures_map_next(self, x, n);
    if (status == status_UNCHANGED) {
        status = FourierFeatures_inner(weighed_step)(self, FourierFeatures_mapped, y, weight);
    }
    if (status <= status_CHANGED) {
        FourierFeatures_keep(self, x, n);
    }
    FourierFeatures_wipe(self);
    return status;
}

ESVM_STATIC double FourierFeatures_class_weight(char *self, double y) {
    int slot = !FourierFeatures_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (FourierFeatures_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < FourierFeatures_n_classes; other++) {
            n_classes += FourierFeatures_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(FourierFeatures_n_learned(self) + 1, (double)n_classes *
            (FourierFeatures_n_per_class[slot] + 1));
}

ESVM_STATIC void FourierFeatures_map(char *self, const void *x, double n) {
    directions_Directions directions_ = FourierFeatures_directions_of(self);
    (void)n;
    int16_t place[directions_BLOCK];
    const int16_t *angle;
    esvm_index size = linalg_item_bytes();
    esvm_index p = 0;
    esvm_index many;
    while (p < FourierFeatures_directions_n) {
        many = FourierFeatures_directions_n - p < directions_BLOCK ? FourierFeatures_directions_n -
                p : directions_BLOCK;
        angle = directions_angles_from(&directions_, x, p, many, place);
        directions_find_waves(&directions_, angle, many, FourierFeatures_mapped + 2 * p * size);
        p += many;
    }
    memcpy(FourierFeatures_mapped + 2 * p * size, x, FourierFeatures_n_features * size);
    directions_forget_angles(&directions_);
}

ESVM_STATIC void FourierFeatures_wipe(char *self) {
    memset(FourierFeatures_mapped, 0, FourierFeatures_row_bytes(self));
}

ESVM_STATIC status_Status FourierFeatures_map_next(char *self, const void *x, double n) {
    FourierFeatures_map(self, x, n);
    return status_UNCHANGED;
}

ESVM_STATIC void FourierFeatures_keep(char *self, const void *x, double n) {
    (void)self;
    (void)x;
    (void)n;
}

ESVM_STATIC esvm_index FourierFeatures_row_bytes(char *self) {
    (void)self;
    return FourierFeatures_inner(n_features) * linalg_item_bytes();
}

#endif

#endif
