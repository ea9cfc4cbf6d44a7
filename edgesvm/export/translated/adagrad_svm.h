/* Translated from edgesvm/learners/gradient/_adagrad_svm.*: change that, then `make translate`. */

#ifndef EDGESVM_ADAGRAD_SVM_H
#define EDGESVM_ADAGRAD_SVM_H

#include "floor.h"
#include "core.h"
#include "lapses.h"
#include "linalg.h"
#include "logistic.h"
#include "status.h"

#define adagrad_svm_RECENT 1000
#define adagrad_svm_LEAST_WEIGHT 1e-100

#ifdef AdaGradSVM_n_features

#define AdaGradSVM_common ((core_Common *)self)
#define AdaGradSVM_n_per_class ((int64_t *)(self + AdaGradSVM_AT_n_per_class))
#define AdaGradSVM_scores ((double *)ESVM_SCRATCH(AdaGradSVM_AT_scores))
#define AdaGradSVM_G ((double *)(self + AdaGradSVM_AT_G))
#define AdaGradSVM_lapses ((double *)(self + AdaGradSVM_AT_lapses))
#define AdaGradSVM_w ((char *)(self + AdaGradSVM_AT_w))
#define AdaGradSVM_mean ((char *)(self + AdaGradSVM_AT_w_mean))

ESVM_STATIC status_Status AdaGradSVM_learn_row(char *self, const void *x, int slot, double weight);
ESVM_STATIC status_Status AdaGradSVM_answer(char *self, const void *x, double *out);
ESVM_STATIC int AdaGradSVM_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t AdaGradSVM_n_learned(char *self);
ESVM_STATIC status_Status AdaGradSVM_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status AdaGradSVM_decide(char *self, const void *x, double *score);
ESVM_STATIC void AdaGradSVM_count(char *self, int slot, status_Status status);
ESVM_STATIC void AdaGradSVM_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int AdaGradSVM_n_answers(char *self);
ESVM_STATIC int AdaGradSVM_slot_for(char *self, double value);
ESVM_STATIC status_Status AdaGradSVM_step(char *self, const void *x, double y, double weight);
ESVM_STATIC double AdaGradSVM_class_weight(char *self, double y);
ESVM_STATIC void AdaGradSVM_add_score(char *self, const char *weights, const void *x,
        double *score);
ESVM_STATIC void AdaGradSVM_put_last(char *self, double *score);
ESVM_STATIC double AdaGradSVM_sum_of_squares(char *self, double xx);
ESVM_STATIC int AdaGradSVM_overflows(char *self, double most);
ESVM_STATIC void AdaGradSVM_score_both(char *self, const void *x, double *last, double *mean);
ESVM_STATIC int AdaGradSVM_is_wrong(char *self, const double *score, double y);
ESVM_STATIC double AdaGradSVM_take_step(char *self, int v, double score, double side,
        double weight, double square);
ESVM_STATIC double AdaGradSVM_side(char *self, int v, double y);
ESVM_STATIC void AdaGradSVM_learn_features(char *self, const void *x, const double *step);
ESVM_STATIC void AdaGradSVM_wipe(char *self);
ESVM_STATIC void AdaGradSVM_add_dots(char *self, const char *weights, esvm_index at, const void *f,
        esvm_index n, double *score);
ESVM_STATIC void AdaGradSVM_AdaGradSVM_add_score(char *self, const char *weights, const void *x,
        double *score);
ESVM_STATIC double AdaGradSVM_slope(char *self, double margin);
ESVM_STATIC void AdaGradSVM_move(char *self, esvm_index at, const void *f, esvm_index n,
        const double *step);
ESVM_STATIC esvm_index AdaGradSVM_bytes_of(char *self, esvm_index n);

ESVM_STATIC status_Status AdaGradSVM_learn_row(char *self, const void *x, int slot, double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        AdaGradSVM_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = AdaGradSVM_weighed_step(self, x, !AdaGradSVM_HAS_scores ? 2 * slot - 1 : slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    AdaGradSVM_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status AdaGradSVM_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!AdaGradSVM_HAS_scores) {
        status = AdaGradSVM_decide(self, x, out);
        out[0] *= AdaGradSVM_labels_sign;
        return status;
    }
    status = AdaGradSVM_decide(self, x, AdaGradSVM_HAS_scores ? AdaGradSVM_scores : NULL);
    AdaGradSVM_in_order(self, AdaGradSVM_HAS_scores ? AdaGradSVM_scores : NULL, out);
    memset(AdaGradSVM_scores, 0, AdaGradSVM_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int AdaGradSVM_winner(char *self, const double *answers, double *score) {
    int i;
    int n = AdaGradSVM_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!AdaGradSVM_HAS_scores) {
        return AdaGradSVM_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return AdaGradSVM_labels_order[AdaGradSVM_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return AdaGradSVM_labels_order[best];
}

ESVM_STATIC int64_t AdaGradSVM_n_learned(char *self) {
    int64_t total = AdaGradSVM_n_per_class[0] + AdaGradSVM_n_per_class[1];
    int slot;
    for (slot = 2; slot < AdaGradSVM_n_classes; slot++) {
        total += AdaGradSVM_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status AdaGradSVM_weighed_step(char *self, const void *x, double y,
        double weight) {
    return AdaGradSVM_step(self, x, y, AdaGradSVM_balanced ? weight * AdaGradSVM_class_weight(self,
            y) : weight);
}

ESVM_STATIC status_Status AdaGradSVM_decide(char *self, const void *x, double *score) {
    int v;
    for (v = 0; v < AdaGradSVM_n_vectors; v++) {
        score[v] = 0.0;
    }
    AdaGradSVM_add_score(self, lapses_mean_decides(AdaGradSVM_lapses) ? AdaGradSVM_mean :
            AdaGradSVM_w, x, score);
    if (AdaGradSVM_HAS_scores) {
        AdaGradSVM_put_last(self, score);
    }
    if (!esvm_is_finite(linalg_any_dot(x, x, AdaGradSVM_n_features))) {
        return status_NOT_FINITE;
    }
    for (v = 0; v < AdaGradSVM_n_vectors; v++) {
        if (!esvm_is_finite(score[v])) {
            return status_NOT_FINITE;
        }
    }
    return status_UNCHANGED;
}

ESVM_STATIC void AdaGradSVM_count(char *self, int slot, status_Status status) {
    AdaGradSVM_common->n_seen += 1;
    AdaGradSVM_common->n_updates += status == status_CHANGED;
    AdaGradSVM_n_per_class[slot] += 1;
}

ESVM_STATIC void AdaGradSVM_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = AdaGradSVM_labels_n;
    const signed char *order = AdaGradSVM_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int AdaGradSVM_n_answers(char *self) {
    (void)self;
    return !AdaGradSVM_HAS_scores || AdaGradSVM_labels_n <= 2 ? 1 : AdaGradSVM_labels_n;
}

ESVM_STATIC int AdaGradSVM_slot_for(char *self, double value) {
    if (AdaGradSVM_one_class) {
        return value > 0.0;
    }
    if (AdaGradSVM_n_per_class[0] == 0) {
        return 1;
    }
    if (AdaGradSVM_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (AdaGradSVM_labels_sign < 0);
}

ESVM_STATIC status_Status AdaGradSVM_step(char *self, const void *x, double y, double weight) {
    double last[ESVM_CLASSES];
    double mean[ESVM_CLASSES];
    double xx = linalg_any_dot(x, x, AdaGradSVM_n_features);
    double square;
    double n = adagrad_svm_RECENT < AdaGradSVM_n_learned(self) + 1 ? adagrad_svm_RECENT :
            AdaGradSVM_n_learned(self) + 1;
    int v;
    if (!esvm_is_finite(xx)) {
        return status_NOT_FINITE;
    }
    if (!(adagrad_svm_LEAST_WEIGHT <= weight && weight <= 1.0 / adagrad_svm_LEAST_WEIGHT)) {
        return status_BAD_WEIGHT;
    }
    square = AdaGradSVM_sum_of_squares(self, xx);
    if (AdaGradSVM_overflows(self, weight * weight * square)) {
        return weight == 1.0 ? status_NOT_FINITE : status_BAD_WEIGHT;
    }
    memset(last, 0, AdaGradSVM_n_vectors * sizeof(double));
    memset(mean, 0, AdaGradSVM_n_vectors * sizeof(double));
    AdaGradSVM_score_both(self, x, last, mean);
    lapses_note_lapse(AdaGradSVM_lapses, lapses_LAST, AdaGradSVM_is_wrong(self, last, y), n);
    lapses_note_lapse(AdaGradSVM_lapses, lapses_MEAN, AdaGradSVM_is_wrong(self, mean, y), n);
    for (v = 0; v < AdaGradSVM_n_vectors; v++) {
        last[v] = AdaGradSVM_take_step(self, v, last[v], AdaGradSVM_side(self, v, y), weight,
                square);
    }
    AdaGradSVM_learn_features(self, x, last);
    AdaGradSVM_wipe(self);
    return status_CHANGED;
}

ESVM_STATIC double AdaGradSVM_class_weight(char *self, double y) {
    int slot = !AdaGradSVM_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (AdaGradSVM_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < AdaGradSVM_n_classes; other++) {
            n_classes += AdaGradSVM_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(AdaGradSVM_n_learned(self) + 1, (double)n_classes *
            (AdaGradSVM_n_per_class[slot] + 1));
}

ESVM_STATIC void AdaGradSVM_add_score(char *self, const char *weights, const void *x,
        double *score) {
    esvm_index end = AdaGradSVM_n_ahead + AdaGradSVM_n_features;
    int v;
    AdaGradSVM_add_dots(self, weights, AdaGradSVM_n_ahead, x, AdaGradSVM_n_features, score);
    for (v = 0; v < AdaGradSVM_n_vectors; v++) {
        score[v] += linalg_entry(weights, v * AdaGradSVM_width + end);
    }
}

ESVM_STATIC void AdaGradSVM_put_last(char *self, double *score) {
    int slot;
    int any_yet = 0;
    double least = 0.0;
    for (slot = 0; slot < AdaGradSVM_n_classes; slot++) {
        if (AdaGradSVM_n_per_class[slot] && (!any_yet || score[slot] < least)) {
            least = score[slot];
            any_yet = 1;
        }
    }
    for (slot = 0; slot < AdaGradSVM_n_classes; slot++) {
        if (!AdaGradSVM_n_per_class[slot]) {
            score[slot] = least - (fabs(least) > 1.0 ? fabs(least) : 1.0);
        }
    }
}

ESVM_STATIC double AdaGradSVM_sum_of_squares(char *self, double xx) {
    (void)self;
    return xx + 1.0;
}

ESVM_STATIC int AdaGradSVM_overflows(char *self, double most) {
    int v;
    for (v = 0; v < AdaGradSVM_n_vectors; v++) {
        if (!esvm_is_finite(AdaGradSVM_G[v] + most)) {
            return 1;
        }
    }
    return 0;
}

ESVM_STATIC void AdaGradSVM_score_both(char *self, const void *x, double *last, double *mean) {
    AdaGradSVM_AdaGradSVM_add_score(self, AdaGradSVM_w, x, last);
    AdaGradSVM_AdaGradSVM_add_score(self, AdaGradSVM_mean, x, mean);
}

ESVM_STATIC int AdaGradSVM_is_wrong(char *self, const double *score, double y) {
    int v;
    int best = 0;
    if (!AdaGradSVM_HAS_scores) {
        return y * score[0] <= 0.0;
    }
    for (v = 0; v < AdaGradSVM_n_vectors; v++) {
        if (AdaGradSVM_n_per_class[v] && (score[v] > score[best] ||
                !AdaGradSVM_n_per_class[best])) {
            best = v;
        }
    }
    return best != y;
}

ESVM_STATIC double AdaGradSVM_take_step(char *self, int v, double score, double side,
        double weight, double square) {
    double g = weight * AdaGradSVM_slope(self, side * score);
    AdaGradSVM_G[v] += ESVM_DIVIDE(g * g * square, AdaGradSVM_width);
    return g > 0.0 ? ESVM_DIVIDE(AdaGradSVM_rate * g * side, esvm_sqrt(AdaGradSVM_G[v])) : 0.0;
}

ESVM_STATIC double AdaGradSVM_side(char *self, int v, double y) {
    (void)self;
    return !AdaGradSVM_HAS_scores ? y : y == v ? 1.0 : -1.0;
}

ESVM_STATIC void AdaGradSVM_learn_features(char *self, const void *x, const double *step) {
    double one = 1.0;
    float one_f = 1.0;
    AdaGradSVM_move(self, AdaGradSVM_n_ahead, x, AdaGradSVM_n_features, step);
    AdaGradSVM_move(self, AdaGradSVM_n_ahead + AdaGradSVM_n_features, ESVM_IS_FLOAT32 ?
            (const void *)&one_f : &one, 1, step);
}

ESVM_STATIC void AdaGradSVM_wipe(char *self) {
    (void)self;
}

ESVM_STATIC void AdaGradSVM_add_dots(char *self, const char *weights, esvm_index at, const void *f,
        esvm_index n, double *score) {
    int v;
    for (v = 0; v < AdaGradSVM_n_vectors; v++) {
        score[v] += linalg_any_dot(weights + AdaGradSVM_bytes_of(self, v * AdaGradSVM_width + at),
                f, n);
    }
}

ESVM_STATIC void AdaGradSVM_AdaGradSVM_add_score(char *self, const char *weights, const void *x,
        double *score) {
    esvm_index end = AdaGradSVM_n_ahead + AdaGradSVM_n_features;
    int v;
    AdaGradSVM_add_dots(self, weights, AdaGradSVM_n_ahead, x, AdaGradSVM_n_features, score);
    for (v = 0; v < AdaGradSVM_n_vectors; v++) {
        score[v] += linalg_entry(weights, v * AdaGradSVM_width + end);
    }
}

ESVM_STATIC double AdaGradSVM_slope(char *self, double margin) {
    (void)self;
    if (AdaGradSVM_is_hinge) {
        return margin < 1.0 ? 1.0 : 0.0;
    }
    return logistic_sigmoid(-margin);
}

ESVM_STATIC void AdaGradSVM_move(char *self, esvm_index at, const void *f, esvm_index n,
        const double *step) {
    double share = ESVM_DIVIDE(2.0, AdaGradSVM_n_learned(self) + 2.0);
    esvm_index first;
    int v;
    for (v = 0; v < AdaGradSVM_n_vectors; v++) {
        first = AdaGradSVM_bytes_of(self, v * AdaGradSVM_width + at);
#if ESVM_IS_FLOAT32
        step_both_f32((float *)(AdaGradSVM_w + first), (float *)(AdaGradSVM_mean + first),
                (const float *)f, (float)step[v], (float)share, n);
#else
        step_both_f64((double *)(AdaGradSVM_w + first), (double *)(AdaGradSVM_mean + first),
                (const double *)f, step[v], share, n);
#endif
    }
}

ESVM_STATIC esvm_index AdaGradSVM_bytes_of(char *self, esvm_index n) {
    (void)self;
    return n * linalg_item_bytes();
}

#endif

#endif
