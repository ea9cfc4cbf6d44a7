/* Translated from edgesvm/preprocessing/_robust_standardized.*: change that, then `make translate`. */

#ifndef EDGESVM_ROBUST_STANDARDIZED_H
#define EDGESVM_ROBUST_STANDARDIZED_H

#include "floor.h"
#include "core.h"
#include "linalg.h"
#include "status.h"

typedef struct {
    double center;
    double distance;
    int64_t n_apart;
} robust_standardized_Statistics;
#define robust_standardized_NORMAL 1.4826
#define robust_standardized_GAIN 2.0

ESVM_STATIC double robust_standardized_robust(robust_standardized_Statistics of, double x,
        double n, double clip);
ESVM_STATIC robust_standardized_Statistics robust_standardized_moved(
        robust_standardized_Statistics old, double x, double n);

ESVM_STATIC double robust_standardized_robust(robust_standardized_Statistics of, double x,
        double n, double clip) {
    double scale = robust_standardized_NORMAL * of.distance * esvm_sqrt(ESVM_DIVIDE(of.n_apart, n));
    return scale > 0.0 ? esvm_min(esvm_max(ESVM_DIVIDE(x - of.center, scale), -clip), clip) : 0.0;
}

ESVM_STATIC robust_standardized_Statistics robust_standardized_moved(
        robust_standardized_Statistics old, double x, double n) {
    double d = fabs(x - old.center);
    double step = ESVM_DIVIDE(robust_standardized_GAIN, n) * old.distance;
    int apart = d > step && n > 1.0;
    double k = apart ? old.n_apart + 1 : n * esvm_sqrt(esvm_max(old.n_apart, 1.0));
    double more = d > 0.0 ? k + robust_standardized_GAIN : k;
    double ratio = ESVM_DIVIDE(d > old.distance ? more : k, d < old.distance ? more : k);
    return (robust_standardized_Statistics){apart ? old.center + copysign(step, x - old.center) :
            x, old.n_apart > 0 || !apart ? old.distance * ratio : d, old.n_apart + apart};
}

#ifdef RobustStandardized_n_features

#define RobustStandardized_common ((core_Common *)self)
#define RobustStandardized_n_per_class ((int64_t *)(self + RobustStandardized_AT_n_per_class))
#define RobustStandardized_scores ((double *)ESVM_SCRATCH(RobustStandardized_AT_scores))
#define RobustStandardized_mapped ((char *)ESVM_SCRATCH(RobustStandardized_AT_mapped))
#define RobustStandardized_center ((double *)(self + RobustStandardized_AT_center))
#define RobustStandardized_distance ((double *)(self + RobustStandardized_AT_distance))
#define RobustStandardized_n_apart ((int64_t *)(self + RobustStandardized_AT_n_apart))

ESVM_STATIC status_Status RobustStandardized_learn_row(char *self, const void *x, int slot,
        double weight);
ESVM_STATIC status_Status RobustStandardized_answer(char *self, const void *x, double *out);
ESVM_STATIC int RobustStandardized_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t RobustStandardized_n_learned(char *self);
ESVM_STATIC status_Status RobustStandardized_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status RobustStandardized_decide(char *self, const void *x, double *value);
ESVM_STATIC int RobustStandardized_is_too_large(char *self, const void *x);
ESVM_STATIC void RobustStandardized_count(char *self, int slot, status_Status status);
ESVM_STATIC void RobustStandardized_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int RobustStandardized_n_answers(char *self);
ESVM_STATIC int RobustStandardized_slot_for(char *self, double value);
ESVM_STATIC status_Status RobustStandardized_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC double RobustStandardized_class_weight(char *self, double y);
ESVM_STATIC void RobustStandardized_map(char *self, const void *x, double n);
ESVM_STATIC void RobustStandardized_wipe(char *self);
ESVM_STATIC status_Status RobustStandardized_map_next(char *self, const void *x, double n);
ESVM_STATIC void RobustStandardized_keep(char *self, const void *x, double n);
ESVM_STATIC robust_standardized_Statistics RobustStandardized_of(char *self, esvm_index j);
ESVM_STATIC esvm_index RobustStandardized_row_bytes(char *self);

ESVM_STATIC status_Status RobustStandardized_learn_row(char *self, const void *x, int slot,
        double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        RobustStandardized_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = RobustStandardized_weighed_step(self, x, !RobustStandardized_HAS_scores ? 2 * slot -
            1 : slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    RobustStandardized_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status RobustStandardized_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!RobustStandardized_HAS_scores) {
        status = RobustStandardized_decide(self, x, out);
        out[0] *= RobustStandardized_labels_sign;
        return status;
    }
    status = RobustStandardized_decide(self, x, RobustStandardized_HAS_scores ?
            RobustStandardized_scores : NULL);
    RobustStandardized_in_order(self, RobustStandardized_HAS_scores ? RobustStandardized_scores :
            NULL, out);
    memset(RobustStandardized_scores, 0, RobustStandardized_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int RobustStandardized_winner(char *self, const double *answers, double *score) {
    int i;
    int n = RobustStandardized_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!RobustStandardized_HAS_scores) {
        return RobustStandardized_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return RobustStandardized_labels_order[RobustStandardized_labels_n == 2 && answers[0] >
                0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return RobustStandardized_labels_order[best];
}

ESVM_STATIC int64_t RobustStandardized_n_learned(char *self) {
    int64_t total = RobustStandardized_n_per_class[0] + RobustStandardized_n_per_class[1];
    int slot;
    for (slot = 2; slot < RobustStandardized_n_classes; slot++) {
        total += RobustStandardized_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status RobustStandardized_weighed_step(char *self, const void *x, double y,
        double weight) {
    return RobustStandardized_step(self, x, y, RobustStandardized_balanced ? weight *
            RobustStandardized_class_weight(self, y) : weight);
}

ESVM_STATIC status_Status RobustStandardized_decide(char *self, const void *x, double *value) {
    status_Status status;
    if (RobustStandardized_is_too_large(self, x)) {
        return status_NOT_FINITE;
    }
    RobustStandardized_map(self, x, RobustStandardized_n_learned(self));
    status = RobustStandardized_inner(decide)(self, RobustStandardized_mapped, value);
    RobustStandardized_wipe(self);
    return status;
}

ESVM_STATIC int RobustStandardized_is_too_large(char *self, const void *x) {
    (void)self;
    return !esvm_is_finite(linalg_any_dot(x, x, RobustStandardized_n_features));
}

ESVM_STATIC void RobustStandardized_count(char *self, int slot, status_Status status) {
    RobustStandardized_common->n_seen += 1;
    RobustStandardized_common->n_updates += status == status_CHANGED;
    RobustStandardized_n_per_class[slot] += 1;
}

ESVM_STATIC void RobustStandardized_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = RobustStandardized_labels_n;
    const signed char *order = RobustStandardized_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int RobustStandardized_n_answers(char *self) {
    (void)self;
    return !RobustStandardized_HAS_scores || RobustStandardized_labels_n <= 2 ? 1 :
            RobustStandardized_labels_n;
}

ESVM_STATIC int RobustStandardized_slot_for(char *self, double value) {
    if (RobustStandardized_one_class) {
        return value > 0.0;
    }
    if (RobustStandardized_n_per_class[0] == 0) {
        return 1;
    }
    if (RobustStandardized_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (RobustStandardized_labels_sign < 0);
}

ESVM_STATIC status_Status RobustStandardized_step(char *self, const void *x, double y,
        double weight) {
    double n = RobustStandardized_n_learned(self) + 1;
    status_Status status;
    if (RobustStandardized_is_too_large(self, x)) {
        return status_NOT_FINITE;
    }
    status = RobustStandardized_map_next(self, x, n);
    if (status == status_UNCHANGED) {
        status = RobustStandardized_inner(weighed_step)(self, RobustStandardized_mapped, y, weight);
    }
    if (status <= status_CHANGED) {
        RobustStandardized_keep(self, x, n);
    }
    RobustStandardized_wipe(self);
    return status;
}

ESVM_STATIC double RobustStandardized_class_weight(char *self, double y) {
    int slot = !RobustStandardized_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (RobustStandardized_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < RobustStandardized_n_classes; other++) {
            n_classes += RobustStandardized_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(RobustStandardized_n_learned(self) + 1, (double)n_classes *
            (RobustStandardized_n_per_class[slot] + 1));
}

ESVM_STATIC void RobustStandardized_map(char *self, const void *x, double n) {
    esvm_index j;
    for (j = 0; j < RobustStandardized_n_features; j++) {
        linalg_put(RobustStandardized_mapped, j,
                robust_standardized_robust(RobustStandardized_of(self, j), linalg_entry(x, j), n,
                RobustStandardized_clip));
    }
}

ESVM_STATIC void RobustStandardized_wipe(char *self) {
    memset(RobustStandardized_mapped, 0, RobustStandardized_row_bytes(self));
}

ESVM_STATIC status_Status RobustStandardized_map_next(char *self, const void *x, double n) {
    esvm_index j;
    double xj;
    for (j = 0; j < RobustStandardized_n_features; j++) {
        xj = linalg_entry(x, j);
        linalg_put(RobustStandardized_mapped, j,
                robust_standardized_robust(robust_standardized_moved(RobustStandardized_of(self,
                j), xj, n), xj, n, RobustStandardized_clip));
    }
    return status_UNCHANGED;
}

ESVM_STATIC void RobustStandardized_keep(char *self, const void *x, double n) {
    esvm_index j;
    robust_standardized_Statistics new = {0};
    for (j = 0; j < RobustStandardized_n_features; j++) {
        new = robust_standardized_moved(RobustStandardized_of(self, j), linalg_entry(x, j), n);
        double t1_ = new.center;
        double t2_ = new.distance;
        int64_t t3_ = new.n_apart;
        RobustStandardized_center[j] = t1_;
        RobustStandardized_distance[j] = t2_;
        RobustStandardized_n_apart[j] = t3_;
    }
}

ESVM_STATIC robust_standardized_Statistics RobustStandardized_of(char *self, esvm_index j) {
    return (robust_standardized_Statistics){RobustStandardized_center[j],
            RobustStandardized_distance[j], RobustStandardized_n_apart[j]};
}

ESVM_STATIC esvm_index RobustStandardized_row_bytes(char *self) {
    (void)self;
    return RobustStandardized_inner(n_features) * linalg_item_bytes();
}

#endif

#endif
