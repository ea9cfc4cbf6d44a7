/* Translated from edgesvm/calibration/_calibrated.*: change that, then `make translate`. */

#ifndef EDGESVM_CALIBRATED_H
#define EDGESVM_CALIBRATED_H

#include "floor.h"
#include "core.h"
#include "kernels.h"
#include "logistic.h"
#include "status.h"

#define calibrated_MOST_WEIGHT 10.0
#define calibrated_FARTHEST 700.0
#define calibrated_MOST_RELATIVE 3.0
#define calibrated_FIRST_SLOPE 2.0
#define calibrated_SIZED_BY 50.0
#define calibrated_RECENT 500.0
#define calibrated_PRIOR 1.0
#define calibrated_QUANTILE_RECENT 20.0
#define calibrated_QUANTILE_GAIN 4.0

ESVM_STATIC double calibrated_within(double value, double most);

ESVM_STATIC double calibrated_within(double value, double most) {
    return esvm_min(esvm_max(value, -most), most);
}

#ifdef Calibrated_n_features

#define Calibrated_common ((core_Common *)self)
#define Calibrated_n_per_class ((int64_t *)(self + Calibrated_AT_n_per_class))
#define Calibrated_scores ((double *)ESVM_SCRATCH(Calibrated_AT_scores))
#define Calibrated_score_size ((double *)(self + Calibrated_AT_score_size))
#define Calibrated_slope ((double *)(self + Calibrated_AT_slope))
#define Calibrated_offset ((double *)(self + Calibrated_AT_offset))
#define Calibrated_information ((double *)(self + Calibrated_AT_information))
#define Calibrated_quantile ((double *)(self + Calibrated_AT_quantile))

static const double Calibrated_price[ESVM_CLASSES] = Calibrated_PRICE;

ESVM_STATIC status_Status Calibrated_learn_row(char *self, const void *x, int slot, double weight);
ESVM_STATIC status_Status Calibrated_answer(char *self, const void *x, double *out);
ESVM_STATIC int Calibrated_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t Calibrated_n_learned(char *self);
ESVM_STATIC status_Status Calibrated_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status Calibrated_decide(char *self, const void *x, double *value);
ESVM_STATIC status_Status Calibrated_probabilities(char *self, const void *x, double *out);
ESVM_STATIC void Calibrated_count(char *self, int slot, status_Status status);
ESVM_STATIC void Calibrated_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int Calibrated_n_answers(char *self);
ESVM_STATIC int Calibrated_slot_for(char *self, double value);
ESVM_STATIC status_Status Calibrated_step(char *self, const void *x, double y, double weight);
ESVM_STATIC double Calibrated_class_weight(char *self, double y);
ESVM_STATIC void Calibrated_calibrate(char *self, double *value);
ESVM_STATIC double Calibrated_lift(char *self, int slot);
ESVM_STATIC void Calibrated_put_last(char *self, double *score);
ESVM_STATIC void Calibrated_note(char *self, double *score, int slot, double weight);
ESVM_STATIC void Calibrated_begin(char *self, int slot);
ESVM_STATIC int Calibrated_n_seen_classes(char *self);
ESVM_STATIC void Calibrated_calibrate_one_class(char *self, double *value);
ESVM_STATIC double Calibrated_relative(char *self, double f);
ESVM_STATIC void Calibrated_size_up(char *self, const double *score);
ESVM_STATIC int Calibrated_has_begun(char *self, int k);
ESVM_STATIC void Calibrated_fit(char *self, int k, double g, int hit, double weight);
ESVM_STATIC void Calibrated_track(char *self, double margin);
ESVM_STATIC double Calibrated_margin(char *self, const double *value, int slot);

ESVM_STATIC status_Status Calibrated_learn_row(char *self, const void *x, int slot, double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        Calibrated_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = Calibrated_weighed_step(self, x, !Calibrated_HAS_scores ? 2 * slot - 1 : slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    Calibrated_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status Calibrated_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!Calibrated_HAS_scores) {
        status = Calibrated_decide(self, x, out);
        out[0] *= Calibrated_labels_sign;
        return status;
    }
    status = Calibrated_decide(self, x, Calibrated_HAS_scores ? Calibrated_scores : NULL);
    Calibrated_in_order(self, Calibrated_HAS_scores ? Calibrated_scores : NULL, out);
    memset(Calibrated_scores, 0, Calibrated_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int Calibrated_winner(char *self, const double *answers, double *score) {
    int i;
    int n = Calibrated_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!Calibrated_HAS_scores) {
        return Calibrated_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return Calibrated_labels_order[Calibrated_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return Calibrated_labels_order[best];
}

ESVM_STATIC int64_t Calibrated_n_learned(char *self) {
    int64_t total = Calibrated_n_per_class[0] + Calibrated_n_per_class[1];
    int slot;
    for (slot = 2; slot < Calibrated_n_classes; slot++) {
        total += Calibrated_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status Calibrated_weighed_step(char *self, const void *x, double y,
        double weight) {
    return Calibrated_step(self, x, y, Calibrated_balanced ? weight * Calibrated_class_weight(self,
            y) : weight);
}

ESVM_STATIC status_Status Calibrated_decide(char *self, const void *x, double *value) {
    int slot;
    status_Status status = Calibrated_inner(decide)(self, x, value);
    if (status > status_CHANGED) {
        return status;
    }
    Calibrated_calibrate(self, value);
    if (!Calibrated_HAS_scores) {
        value[0] += Calibrated_lift(self, 1) - Calibrated_lift(self, 0);
    } else {
        for (slot = 0; slot < Calibrated_n_classes; slot++) {
            value[slot] += Calibrated_lift(self, slot);
        }
        Calibrated_put_last(self, value);
    }
    return status_UNCHANGED;
}

ESVM_STATIC status_Status Calibrated_probabilities(char *self, const void *x, double *out) {
    double value[ESVM_CLASSES];
    double total = 0.0;
    int i, slot;
    int n = Calibrated_labels_n;
    status_Status status;
    memset(value, 0, Calibrated_n_classes * sizeof(double));
    status = Calibrated_inner(decide)(self, x, value);
    if (status > status_CHANGED) {
        return status;
    }
    Calibrated_calibrate(self, value);
    if (!Calibrated_HAS_scores) {
        double t1_ = logistic_log_sigmoid(-value[0]);
        double t2_ = logistic_log_sigmoid(value[0]);
        value[0] = t1_;
        value[1] = t2_;
    }
    for (i = 0; i < n; i++) {
        slot = Calibrated_labels_order[i];
        out[i] = !Calibrated_HAS_scores || Calibrated_n_per_class[slot] ?
                kernels_exp_(value[slot]) : 0.0;
        total += out[i];
    }
    for (i = 0; i < n; i++) {
        out[i] = ESVM_DIVIDE(out[i], total);
    }
    return status_UNCHANGED;
}

ESVM_STATIC void Calibrated_count(char *self, int slot, status_Status status) {
    Calibrated_common->n_seen += 1;
    Calibrated_common->n_updates += status == status_CHANGED;
    Calibrated_n_per_class[slot] += 1;
}

ESVM_STATIC void Calibrated_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = Calibrated_labels_n;
    const signed char *order = Calibrated_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int Calibrated_n_answers(char *self) {
    (void)self;
    return !Calibrated_HAS_scores || Calibrated_labels_n <= 2 ? 1 : Calibrated_labels_n;
}

ESVM_STATIC int Calibrated_slot_for(char *self, double value) {
    if (Calibrated_one_class) {
        return value > 0.0;
    }
    if (Calibrated_n_per_class[0] == 0) {
        return 1;
    }
    if (Calibrated_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (Calibrated_labels_sign < 0);
}

ESVM_STATIC status_Status Calibrated_step(char *self, const void *x, double y, double weight) {
    double score[ESVM_CLASSES];
    int slot = Calibrated_HAS_scores ? (int)y : y > 0.0;
    int is_scored = Calibrated_n_learned(self) > 0;
    status_Status status;
    if (is_scored) {
        memset(score, 0, Calibrated_n_classes * sizeof(double));
        status = Calibrated_inner(decide)(self, x, score);
        if (status > status_CHANGED) {
            return status;
        }
    }
    status = Calibrated_inner(weighed_step)(self, x, y, weight);
    if (status > status_CHANGED) {
        return status;
    }
    if (Calibrated_named_at != Calibrated_labels_n_changes) {
    }
    if (is_scored) {
        Calibrated_note(self, score, slot, esvm_min(weight, calibrated_MOST_WEIGHT));
    }
    if (Calibrated_n_per_class[slot] == 0) {
        Calibrated_begin(self, slot);
    }
    return status;
}

ESVM_STATIC double Calibrated_class_weight(char *self, double y) {
    int slot = !Calibrated_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (Calibrated_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < Calibrated_n_classes; other++) {
            n_classes += Calibrated_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(Calibrated_n_learned(self) + 1, (double)n_classes *
            (Calibrated_n_per_class[slot] + 1));
}

ESVM_STATIC void Calibrated_calibrate(char *self, double *value) {
    double z;
    int k;
    if (Calibrated_n_seen_classes(self) < 2) {
        Calibrated_calibrate_one_class(self, value);
        return;
    }
    for (k = 0; k < Calibrated_n_sigmoids; k++) {
        z = calibrated_within(Calibrated_slope[k] * Calibrated_relative(self, value[k]) +
                Calibrated_offset[k], calibrated_FARTHEST);
        value[k] = !Calibrated_HAS_scores ? z : logistic_log_sigmoid(z);
    }
}

ESVM_STATIC double Calibrated_lift(char *self, int slot) {
    if (slot == Calibrated_kept && Calibrated_HAS_quantile) {
        return -Calibrated_quantile[0];
    }
    return slot < Calibrated_labels_n ? Calibrated_price[slot] : 0.0;
}

ESVM_STATIC void Calibrated_put_last(char *self, double *score) {
    int slot;
    int any_yet = 0;
    double least = 0.0;
    for (slot = 0; slot < Calibrated_n_classes; slot++) {
        if (Calibrated_n_per_class[slot] && (!any_yet || score[slot] < least)) {
            least = score[slot];
            any_yet = 1;
        }
    }
    for (slot = 0; slot < Calibrated_n_classes; slot++) {
        if (!Calibrated_n_per_class[slot]) {
            score[slot] = least - (fabs(least) > 1.0 ? fabs(least) : 1.0);
        }
    }
}

ESVM_STATIC void Calibrated_note(char *self, double *score, int slot, double weight) {
    double f;
    int k;
    Calibrated_size_up(self, score);
    for (k = 0; k < Calibrated_n_sigmoids; k++) {
        if (Calibrated_has_begun(self, k)) {
            f = calibrated_within(Calibrated_relative(self, score[k]), calibrated_MOST_RELATIVE);
            Calibrated_fit(self, k, f, Calibrated_HAS_scores ? slot == k : slot == 1, weight);
        }
    }
    if (slot == Calibrated_kept && Calibrated_n_per_class[slot] &&
            Calibrated_n_seen_classes(self) > 1) {
        Calibrated_calibrate(self, score);
        Calibrated_track(self, Calibrated_margin(self, score, slot));
    }
}

ESVM_STATIC void Calibrated_begin(char *self, int slot) {
    double n = Calibrated_n_learned(self);
    int k;
    if (n == 0.0) {
        return;
    }
    if (!Calibrated_HAS_scores) {
        double t1_ = calibrated_FIRST_SLOPE;
        double t2_ = slot == 1 ? -logistic_log_(n) : logistic_log_(n);
        Calibrated_slope[0] = t1_;
        Calibrated_offset[0] = t2_;
        return;
    }
    for (k = 0; k < Calibrated_n_classes; k++) {
        if (k == slot || (Calibrated_n_per_class[k] && Calibrated_n_seen_classes(self) == 1)) {
            double t3_ = calibrated_FIRST_SLOPE;
            double t4_ = k == slot ? -logistic_log_(n) : logistic_log_(n);
            Calibrated_slope[k] = t3_;
            Calibrated_offset[k] = t4_;
        }
    }
}

ESVM_STATIC int Calibrated_n_seen_classes(char *self) {
    int slot;
    int n = 0;
    for (slot = 0; slot < Calibrated_n_classes; slot++) {
        n += Calibrated_n_per_class[slot] > 0;
    }
    return n;
}

ESVM_STATIC void Calibrated_calibrate_one_class(char *self, double *value) {
    double odds = logistic_log_(Calibrated_n_learned(self) + 1.0);
    if (!Calibrated_HAS_scores) {
        value[0] = Calibrated_n_per_class[1] ? odds : -odds;
    } else {
        memset(value, 0, Calibrated_n_classes * sizeof(double));
    }
}

ESVM_STATIC double Calibrated_relative(char *self, double f) {
    return Calibrated_score_size[0] > 0.0 ? calibrated_within(ESVM_DIVIDE(f,
            Calibrated_score_size[0]), 1e100) : 0.0;
}

ESVM_STATIC void Calibrated_size_up(char *self, const double *score) {
    double size = 0.0;
    int k;
    if (!Calibrated_HAS_scores) {
        size = fabs(score[0]);
    } else {
        for (k = 0; k < Calibrated_n_classes; k++) {
            if (Calibrated_n_per_class[k]) {
                size += ESVM_DIVIDE(fabs(score[k]), Calibrated_n_seen_classes(self));
            }
        }
    }
    Calibrated_score_size[0] += ESVM_DIVIDE(size - Calibrated_score_size[0],
            esvm_min(Calibrated_n_learned(self), calibrated_SIZED_BY));
}

ESVM_STATIC int Calibrated_has_begun(char *self, int k) {
    return Calibrated_n_seen_classes(self) > 1 && (!Calibrated_HAS_scores ||
            Calibrated_n_per_class[k] > 0);
}

ESVM_STATIC void Calibrated_fit(char *self, int k, double g, int hit, double weight) {
    double *A = Calibrated_information + 3 * k;
    double p = logistic_sigmoid(Calibrated_slope[k] * g + Calibrated_offset[k]);
    double r = weight * (hit - p);
    double h = weight * p * (1.0 - p);
    double keep = 1.0 - 1.0 / calibrated_RECENT;
    double aa, ab, bb, det;
    A[0] = keep * A[0] + h * g * g;
    A[1] = keep * A[1] + h * g;
    A[2] = keep * A[2] + h;
    aa = A[0] + calibrated_PRIOR;
    ab = A[1];
    bb = A[2] + calibrated_PRIOR;
    det = aa * bb - ab * ab;
    Calibrated_slope[k] = esvm_max(Calibrated_slope[k] + ESVM_DIVIDE((bb * g - ab) * r, det), 0.0);
    Calibrated_offset[k] += ESVM_DIVIDE((aa - ab * g) * r, det);
}

ESVM_STATIC void Calibrated_track(char *self, double margin) {
    double k = esvm_min(Calibrated_n_per_class[Calibrated_kept], calibrated_QUANTILE_RECENT);
    double q = Calibrated_quantile[0];
    double d = Calibrated_quantile[1];
    if (d == 0.0) {
        Calibrated_quantile[0] = esvm_min(margin, 0.0);
        Calibrated_quantile[1] = 1.0;
        return;
    }
    Calibrated_quantile[0] = calibrated_within(q + ESVM_DIVIDE(calibrated_QUANTILE_GAIN * d, k) *
            (Calibrated_missed - (margin <= q)), 2.0 * calibrated_FARTHEST);
    Calibrated_quantile[1] += ESVM_DIVIDE(fabs(margin - q) - d, k);
}

ESVM_STATIC double Calibrated_margin(char *self, const double *value, int slot) {
    double most = -calibrated_FARTHEST;
    int k;
    if (!Calibrated_HAS_scores) {
        return slot == 1 ? value[0] : -value[0];
    }
    for (k = 0; k < Calibrated_n_classes; k++) {
        if (k != slot && Calibrated_n_per_class[k]) {
            most = esvm_max(most, value[k]);
        }
    }
    return value[slot] - most;
}

#endif

#endif
