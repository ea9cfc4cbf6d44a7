/* Translated from edgesvm/learners/fourier/_fourier_svm.*: change that, then `make translate`. */

#ifndef EDGESVM_FOURIER_SVM_H
#define EDGESVM_FOURIER_SVM_H

#include "floor.h"
#include "adagrad_svm.h"
#include "core.h"
#include "directions.h"
#include "kernels.h"
#include "lapses.h"
#include "linalg.h"
#include "logistic.h"
#include "status.h"

enum {
    fourier_svm_OF_X = directions_WIDTHS, fourier_svm_GROUPS = (directions_WIDTHS + 1),
            fourier_svm_ROWS = 4
};
#define fourier_svm_LARGEST_SQUARE 1e+300
#define fourier_svm_FADED 4.605170185988092
#define fourier_svm_TILT_RATE 0.5

#ifdef FourierSVM_n_features

#define FourierSVM_common ((core_Common *)self)
#define FourierSVM_amplitude ((double *)ESVM_SCRATCH(FourierSVM_AT_beside_amplitude))
#define FourierSVM_n_per_class ((int64_t *)(self + FourierSVM_AT_n_per_class))
#define FourierSVM_scores ((double *)ESVM_SCRATCH(FourierSVM_AT_scores))
#define FourierSVM_G ((double *)(self + FourierSVM_AT_G))
#define FourierSVM_lapses ((double *)(self + FourierSVM_AT_lapses))
#define FourierSVM_w ((char *)(self + FourierSVM_AT_w))
#define FourierSVM_mean ((char *)(self + FourierSVM_AT_w_mean))
#define FourierSVM_directions_angle ((int16_t *)ESVM_SCRATCH(FourierSVM_AT_angle))
#define FourierSVM_directions_mixed ((void *)ESVM_SCRATCH(FourierSVM_AT_mixed))
#define FourierSVM_H ((double *)(self + FourierSVM_AT_tilt_squares))
#define FourierSVM_tilt ((double *)(self + FourierSVM_AT_tilt))

static const double FourierSVM_directions_scales[directions_WIDTHS] = FourierSVM_DIRECTIONS_SCALES;

static const double FourierSVM_first_tilt[fourier_svm_GROUPS] = FourierSVM_FIRST_TILT;

ESVM_STATIC directions_Directions FourierSVM_directions_of(char *self) {
    directions_Directions made;
    (void)self;
    made.key = FourierSVM_directions_key;
    memcpy(made.scales, FourierSVM_directions_scales, sizeof made.scales);
    made.n = FourierSVM_directions_n;
    made.n_features = FourierSVM_directions_n_features;
    made.n_mixed = FourierSVM_directions_n_mixed;
    made.angle = FourierSVM_HAS_angle ? FourierSVM_directions_angle : NULL;
    made.mixed = FourierSVM_HAS_mixed ? FourierSVM_directions_mixed : NULL;
    made.is_float32 = ESVM_IS_FLOAT32;
    return made;
}

ESVM_STATIC status_Status FourierSVM_learn_row(char *self, const void *x, int slot, double weight);
ESVM_STATIC status_Status FourierSVM_answer(char *self, const void *x, double *out);
ESVM_STATIC int FourierSVM_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t FourierSVM_n_learned(char *self);
ESVM_STATIC status_Status FourierSVM_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status FourierSVM_decide(char *self, const void *x, double *score);
ESVM_STATIC void FourierSVM_count(char *self, int slot, status_Status status);
ESVM_STATIC void FourierSVM_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int FourierSVM_n_answers(char *self);
ESVM_STATIC int FourierSVM_slot_for(char *self, double value);
ESVM_STATIC status_Status FourierSVM_step(char *self, const void *x, double y, double weight);
ESVM_STATIC double FourierSVM_class_weight(char *self, double y);
ESVM_STATIC void FourierSVM_add_score(char *self, const char *weights, const void *x,
        double *score);
ESVM_STATIC void FourierSVM_put_last(char *self, double *score);
ESVM_STATIC double FourierSVM_sum_of_squares(char *self, double xx);
ESVM_STATIC int FourierSVM_overflows(char *self, double most);
ESVM_STATIC void FourierSVM_score_both(char *self, const void *x, double *last, double *mean);
ESVM_STATIC int FourierSVM_is_wrong(char *self, const double *score, double y);
ESVM_STATIC double FourierSVM_take_step(char *self, int v, double score, double side,
        double weight, double square);
ESVM_STATIC double FourierSVM_side(char *self, int v, double y);
ESVM_STATIC void FourierSVM_learn_features(char *self, const void *x, const double *step);
ESVM_STATIC void FourierSVM_wipe(char *self);
ESVM_STATIC void FourierSVM_find_amplitudes(char *self, double *amplitude);
ESVM_STATIC void FourierSVM_add_row(char *self, const char *weights, const void *x,
        const double *amplitude, double *score);
ESVM_STATIC void FourierSVM_take_angles(char *self, const void *x);
ESVM_STATIC void *FourierSVM_place_of(char *self, esvm_index p, void *place);
ESVM_STATIC void FourierSVM_find_features(char *self, const int16_t *angle, esvm_index n,
        const double *amplitude, void *f);
ESVM_STATIC void FourierSVM_add_dots(char *self, const char *weights, esvm_index at, const void *f,
        esvm_index n, double *score);
ESVM_STATIC void FourierSVM_add_linear(char *self, const char *weights, const void *x,
        double amplitude, double *score);
ESVM_STATIC double FourierSVM_slope(char *self, double margin);
ESVM_STATIC double FourierSVM_linear_part(char *self, const void *x, const double *pull);
ESVM_STATIC void FourierSVM_add_parts(char *self, esvm_index at, const void *f, esvm_index n,
        const double *pull, double *c);
ESVM_STATIC void FourierSVM_move(char *self, esvm_index at, const void *f, esvm_index n,
        const double *step);
ESVM_STATIC void FourierSVM_AdaGradSVM_learn_features(char *self, const void *x,
        const double *step);
ESVM_STATIC void FourierSVM_learn_amplitudes(char *self, const double *c);
ESVM_STATIC const int16_t *FourierSVM_angles_ahead(char *self, const void *x);
ESVM_STATIC esvm_index FourierSVM_bytes_of(char *self, esvm_index n);
ESVM_STATIC void FourierSVM_AdaGradSVM_add_score(char *self, const char *weights, const void *x,
        double *score);

ESVM_STATIC status_Status FourierSVM_learn_row(char *self, const void *x, int slot, double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        FourierSVM_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = FourierSVM_weighed_step(self, x, !FourierSVM_HAS_scores ? 2 * slot - 1 : slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    FourierSVM_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status FourierSVM_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!FourierSVM_HAS_scores) {
        status = FourierSVM_decide(self, x, out);
        out[0] *= FourierSVM_labels_sign;
        return status;
    }
    status = FourierSVM_decide(self, x, FourierSVM_HAS_scores ? FourierSVM_scores : NULL);
    FourierSVM_in_order(self, FourierSVM_HAS_scores ? FourierSVM_scores : NULL, out);
    memset(FourierSVM_scores, 0, FourierSVM_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int FourierSVM_winner(char *self, const double *answers, double *score) {
    int i;
    int n = FourierSVM_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!FourierSVM_HAS_scores) {
        return FourierSVM_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return FourierSVM_labels_order[FourierSVM_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return FourierSVM_labels_order[best];
}

ESVM_STATIC int64_t FourierSVM_n_learned(char *self) {
    int64_t total = FourierSVM_n_per_class[0] + FourierSVM_n_per_class[1];
    int slot;
    for (slot = 2; slot < FourierSVM_n_classes; slot++) {
        total += FourierSVM_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status FourierSVM_weighed_step(char *self, const void *x, double y,
        double weight) {
    return FourierSVM_step(self, x, y, FourierSVM_balanced ? weight * FourierSVM_class_weight(self,
            y) : weight);
}

ESVM_STATIC status_Status FourierSVM_decide(char *self, const void *x, double *score) {
    int v;
    for (v = 0; v < FourierSVM_n_vectors; v++) {
        score[v] = 0.0;
    }
    FourierSVM_add_score(self, lapses_mean_decides(FourierSVM_lapses) ? FourierSVM_mean :
            FourierSVM_w, x, score);
    if (FourierSVM_HAS_scores) {
        FourierSVM_put_last(self, score);
    }
    if (!esvm_is_finite(linalg_any_dot(x, x, FourierSVM_n_features))) {
        return status_NOT_FINITE;
    }
    for (v = 0; v < FourierSVM_n_vectors; v++) {
        if (!esvm_is_finite(score[v])) {
            return status_NOT_FINITE;
        }
    }
    return status_UNCHANGED;
}

ESVM_STATIC void FourierSVM_count(char *self, int slot, status_Status status) {
    FourierSVM_common->n_seen += 1;
    FourierSVM_common->n_updates += status == status_CHANGED;
    FourierSVM_n_per_class[slot] += 1;
}

ESVM_STATIC void FourierSVM_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = FourierSVM_labels_n;
    const signed char *order = FourierSVM_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int FourierSVM_n_answers(char *self) {
    (void)self;
    return !FourierSVM_HAS_scores || FourierSVM_labels_n <= 2 ? 1 : FourierSVM_labels_n;
}

ESVM_STATIC int FourierSVM_slot_for(char *self, double value) {
    if (FourierSVM_one_class) {
        return value > 0.0;
    }
    if (FourierSVM_n_per_class[0] == 0) {
        return 1;
    }
    if (FourierSVM_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (FourierSVM_labels_sign < 0);
}

ESVM_STATIC status_Status FourierSVM_step(char *self, const void *x, double y, double weight) {
    double last[ESVM_CLASSES];
    double mean[ESVM_CLASSES];
    double xx = linalg_any_dot(x, x, FourierSVM_n_features);
    double square;
    double n = adagrad_svm_RECENT < FourierSVM_n_learned(self) + 1 ? adagrad_svm_RECENT :
            FourierSVM_n_learned(self) + 1;
    int v;
    if (!esvm_is_finite(xx)) {
        return status_NOT_FINITE;
    }
    if (!(adagrad_svm_LEAST_WEIGHT <= weight && weight <= 1.0 / adagrad_svm_LEAST_WEIGHT)) {
        return status_BAD_WEIGHT;
    }
    square = FourierSVM_sum_of_squares(self, xx);
    if (FourierSVM_overflows(self, weight * weight * square)) {
        return weight == 1.0 ? status_NOT_FINITE : status_BAD_WEIGHT;
    }
    memset(last, 0, FourierSVM_n_vectors * sizeof(double));
    memset(mean, 0, FourierSVM_n_vectors * sizeof(double));
    FourierSVM_score_both(self, x, last, mean);
    lapses_note_lapse(FourierSVM_lapses, lapses_LAST, FourierSVM_is_wrong(self, last, y), n);
    lapses_note_lapse(FourierSVM_lapses, lapses_MEAN, FourierSVM_is_wrong(self, mean, y), n);
    for (v = 0; v < FourierSVM_n_vectors; v++) {
        last[v] = FourierSVM_take_step(self, v, last[v], FourierSVM_side(self, v, y), weight,
                square);
    }
    FourierSVM_learn_features(self, x, last);
    FourierSVM_wipe(self);
    return status_CHANGED;
}

ESVM_STATIC double FourierSVM_class_weight(char *self, double y) {
    int slot = !FourierSVM_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (FourierSVM_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < FourierSVM_n_classes; other++) {
            n_classes += FourierSVM_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(FourierSVM_n_learned(self) + 1, (double)n_classes *
            (FourierSVM_n_per_class[slot] + 1));
}

ESVM_STATIC void FourierSVM_add_score(char *self, const char *weights, const void *x,
        double *score) {
    double amplitude[fourier_svm_GROUPS];
    FourierSVM_find_amplitudes(self, amplitude);
    FourierSVM_add_row(self, weights, x, amplitude, score);
}

ESVM_STATIC void FourierSVM_put_last(char *self, double *score) {
    int slot;
    int any_yet = 0;
    double least = 0.0;
    for (slot = 0; slot < FourierSVM_n_classes; slot++) {
        if (FourierSVM_n_per_class[slot] && (!any_yet || score[slot] < least)) {
            least = score[slot];
            any_yet = 1;
        }
    }
    for (slot = 0; slot < FourierSVM_n_classes; slot++) {
        if (!FourierSVM_n_per_class[slot]) {
            score[slot] = least - (fabs(least) > 1.0 ? fabs(least) : 1.0);
        }
    }
}

ESVM_STATIC double FourierSVM_sum_of_squares(char *self, double xx) {
    double *a = FourierSVM_amplitude;
    double square;
    int k;
    FourierSVM_find_amplitudes(self, a);
    square = a[fourier_svm_OF_X] * a[fourier_svm_OF_X] * (xx + 1.0);
    for (k = 0; k < directions_WIDTHS; k++) {
        square += a[k] * a[k] * ((FourierSVM_directions_n + directions_WIDTHS - 1 - k) /
                directions_WIDTHS);
    }
    return square;
}

ESVM_STATIC int FourierSVM_overflows(char *self, double most) {
    int v;
    for (v = 0; v < FourierSVM_n_vectors; v++) {
        if (!esvm_is_finite(FourierSVM_G[v] + most)) {
            return 1;
        }
    }
    return 0;
}

ESVM_STATIC void FourierSVM_score_both(char *self, const void *x, double *last, double *mean) {
    double place[2 * directions_BLOCK];
    void *f;
    esvm_index p = 0;
    esvm_index n;
    FourierSVM_take_angles(self, x);
    while (p < FourierSVM_directions_n) {
        n = FourierSVM_directions_n - p < directions_BLOCK ? FourierSVM_directions_n - p :
                directions_BLOCK;
        f = FourierSVM_place_of(self, p, place);
        FourierSVM_find_features(self, FourierSVM_directions_angle + p, n, FourierSVM_amplitude, f);
        FourierSVM_add_dots(self, FourierSVM_w, 2 * p, f, 2 * n, last);
        FourierSVM_add_dots(self, FourierSVM_mean, 2 * p, f, 2 * n, mean);
        p += n;
    }
    FourierSVM_add_linear(self, FourierSVM_w, x, FourierSVM_amplitude[fourier_svm_OF_X], last);
    FourierSVM_add_linear(self, FourierSVM_mean, x, FourierSVM_amplitude[fourier_svm_OF_X], mean);
}

ESVM_STATIC int FourierSVM_is_wrong(char *self, const double *score, double y) {
    int v;
    int best = 0;
    if (!FourierSVM_HAS_scores) {
        return y * score[0] <= 0.0;
    }
    for (v = 0; v < FourierSVM_n_vectors; v++) {
        if (FourierSVM_n_per_class[v] && (score[v] > score[best] ||
                !FourierSVM_n_per_class[best])) {
            best = v;
        }
    }
    return best != y;
}

ESVM_STATIC double FourierSVM_take_step(char *self, int v, double score, double side,
        double weight, double square) {
    double g = weight * FourierSVM_slope(self, side * score);
    FourierSVM_G[v] += ESVM_DIVIDE(g * g * square, FourierSVM_width);
    return g > 0.0 ? ESVM_DIVIDE(FourierSVM_rate * g * side, esvm_sqrt(FourierSVM_G[v])) : 0.0;
}

ESVM_STATIC double FourierSVM_side(char *self, int v, double y) {
    (void)self;
    return !FourierSVM_HAS_scores ? y : y == v ? 1.0 : -1.0;
}

ESVM_STATIC void FourierSVM_learn_features(char *self, const void *x, const double *step) {
    double place[2 * directions_BLOCK];
    void *f;
    double c[fourier_svm_GROUPS];
    double pull[ESVM_CLASSES];
    esvm_index p = 0;
    esvm_index n;
    int v;
    memset(c, 0, sizeof(c));
    for (v = 0; v < FourierSVM_n_vectors; v++) {
        pull[v] = ESVM_DIVIDE(step[v] * esvm_sqrt(FourierSVM_G[v]), FourierSVM_rate);
    }
    if (FourierSVM_HAS_tilt) {
        c[fourier_svm_OF_X] = FourierSVM_linear_part(self, x, pull);
    }
    while (p < FourierSVM_directions_n) {
        n = FourierSVM_directions_n - p < directions_BLOCK ? FourierSVM_directions_n - p :
                directions_BLOCK;
        f = FourierSVM_place_of(self, p, place);
        if (FourierSVM_waves == NULL) {
            FourierSVM_find_features(self, FourierSVM_directions_angle + p, n,
                    FourierSVM_amplitude, f);
        }
        if (FourierSVM_HAS_tilt) {
            FourierSVM_add_parts(self, 2 * p, f, n, pull, c);
        }
        FourierSVM_move(self, 2 * p, f, 2 * n, step);
        p += n;
    }
    for (v = 0; v < FourierSVM_n_vectors; v++) {
        pull[v] = step[v] * FourierSVM_amplitude[fourier_svm_OF_X];
    }
    FourierSVM_AdaGradSVM_learn_features(self, x, pull);
    if (FourierSVM_HAS_tilt) {
        FourierSVM_learn_amplitudes(self, c);
    }
}

ESVM_STATIC void FourierSVM_wipe(char *self) {
    directions_Directions directions_ = FourierSVM_directions_of(self);
    directions_forget_angles(&directions_);
}

ESVM_STATIC void FourierSVM_find_amplitudes(char *self, double *amplitude) {
    int k;
    double square = 0.0;
    for (k = 0; k < fourier_svm_GROUPS; k++) {
        amplitude[k] = !FourierSVM_HAS_tilt ? 1.0 : kernels_exp_(FourierSVM_first_tilt[k] +
                FourierSVM_tilt[k]);
        square += amplitude[k] * amplitude[k];
    }
    for (k = 0; k < fourier_svm_GROUPS; k++) {
        amplitude[k] *= esvm_sqrt(ESVM_DIVIDE(fourier_svm_GROUPS, square));
    }
}

ESVM_STATIC void FourierSVM_add_row(char *self, const char *weights, const void *x,
        const double *amplitude, double *score) {
    directions_Directions directions_ = FourierSVM_directions_of(self);
    double f[2 * directions_BLOCK];
    int16_t place[directions_BLOCK];
    const int16_t *found = FourierSVM_angles_ahead(self, x);
    const int16_t *angle;
    esvm_index p = 0;
    esvm_index n;
    while (p < FourierSVM_directions_n) {
        n = FourierSVM_directions_n - p < directions_BLOCK ? FourierSVM_directions_n - p :
                directions_BLOCK;
        if (found == NULL) {
            angle = directions_angles_from(&directions_, x, p, n, place);
        } else {
            angle = found + p;
        }
        FourierSVM_find_features(self, angle, n, amplitude, f);
        FourierSVM_add_dots(self, weights, 2 * p, f, 2 * n, score);
        p += n;
    }
    if (FourierSVM_directions_n_mixed) {
        directions_forget_angles(&directions_);
    }
    FourierSVM_add_linear(self, weights, x, amplitude[fourier_svm_OF_X], score);
}

ESVM_STATIC void FourierSVM_take_angles(char *self, const void *x) {
    directions_Directions directions_ = FourierSVM_directions_of(self);
    const int16_t *found = FourierSVM_angles_ahead(self, x);
    esvm_index p;
    if (found == NULL) {
        directions_find_angles(&directions_, x);
        return;
    }
    for (p = 0; p < FourierSVM_directions_n; p++) {
        FourierSVM_directions_angle[p] = found[p];
    }
}

ESVM_STATIC void *FourierSVM_place_of(char *self, esvm_index p, void *place) {
    return FourierSVM_waves == NULL ? place : FourierSVM_waves + FourierSVM_bytes_of(self, 2 * p);
}

ESVM_STATIC void FourierSVM_find_features(char *self, const int16_t *angle, esvm_index n,
        const double *amplitude, void *f) {
    directions_Directions directions_ = FourierSVM_directions_of(self);
    directions_find_waves(&directions_, angle, n, f);
    if (FourierSVM_HAS_tilt) {
        directions_weigh_waves(&directions_, f, n, amplitude);
    }
}

ESVM_STATIC void FourierSVM_add_dots(char *self, const char *weights, esvm_index at, const void *f,
        esvm_index n, double *score) {
    int v;
    for (v = 0; v < FourierSVM_n_vectors; v++) {
        score[v] += linalg_any_dot(weights + FourierSVM_bytes_of(self, v * FourierSVM_width + at),
                f, n);
    }
}

ESVM_STATIC void FourierSVM_add_linear(char *self, const char *weights, const void *x,
        double amplitude, double *score) {
    double linear[ESVM_CLASSES];
    int v;
    if (!FourierSVM_HAS_tilt) {
        FourierSVM_AdaGradSVM_add_score(self, weights, x, score);
        return;
    }
    memset(linear, 0, FourierSVM_n_vectors * sizeof(double));
    FourierSVM_AdaGradSVM_add_score(self, weights, x, linear);
    for (v = 0; v < FourierSVM_n_vectors; v++) {
        score[v] += amplitude * linear[v];
    }
}

ESVM_STATIC double FourierSVM_slope(char *self, double margin) {
    (void)self;
    if (FourierSVM_is_hinge) {
        return margin < 1.0 ? 1.0 : 0.0;
    }
    return logistic_sigmoid(-margin);
}

ESVM_STATIC double FourierSVM_linear_part(char *self, const void *x, const double *pull) {
    double linear[ESVM_CLASSES];
    double total = 0.0;
    int v;
    memset(linear, 0, FourierSVM_n_vectors * sizeof(double));
    FourierSVM_add_linear(self, FourierSVM_w, x, FourierSVM_amplitude[fourier_svm_OF_X], linear);
    for (v = 0; v < FourierSVM_n_vectors; v++) {
        total += pull[v] * linear[v];
    }
    return total;
}

ESVM_STATIC void FourierSVM_add_parts(char *self, esvm_index at, const void *f, esvm_index n,
        const double *pull, double *c) {
    directions_Directions directions_ = FourierSVM_directions_of(self);
    int v;
    for (v = 0; v < FourierSVM_n_vectors; v++) {
        if (pull[v] != 0.0) {
            directions_add_dots_of_widths(&directions_, FourierSVM_w + FourierSVM_bytes_of(self,
                    v * FourierSVM_width + at), f, n, pull[v], c);
        }
    }
}

ESVM_STATIC void FourierSVM_move(char *self, esvm_index at, const void *f, esvm_index n,
        const double *step) {
    double share = ESVM_DIVIDE(2.0, FourierSVM_n_learned(self) + 2.0);
    esvm_index first;
    int v;
    for (v = 0; v < FourierSVM_n_vectors; v++) {
        first = FourierSVM_bytes_of(self, v * FourierSVM_width + at);
#if ESVM_IS_FLOAT32
        step_both_f32((float *)(FourierSVM_w + first), (float *)(FourierSVM_mean + first),
                (const float *)f, (float)step[v], (float)share, n);
#else
        step_both_f64((double *)(FourierSVM_w + first), (double *)(FourierSVM_mean + first),
                (const double *)f, step[v], share, n);
#endif
    }
}

ESVM_STATIC void FourierSVM_AdaGradSVM_learn_features(char *self, const void *x,
        const double *step) {
    double one = 1.0;
    float one_f = 1.0;
    FourierSVM_move(self, FourierSVM_n_ahead, x, FourierSVM_n_features, step);
    FourierSVM_move(self, FourierSVM_n_ahead + FourierSVM_n_features, ESVM_IS_FLOAT32 ?
            (const void *)&one_f : &one, 1, step);
}

ESVM_STATIC void FourierSVM_learn_amplitudes(char *self, const double *c) {
    double most;
    double square = 0.0;
    int k;
    for (k = 0; k < fourier_svm_GROUPS; k++) {
        square += c[k] * c[k];
    }
    if (!esvm_is_finite(square)) {
        return;
    }
    FourierSVM_H[0] = esvm_min(FourierSVM_H[0] + square, fourier_svm_LARGEST_SQUARE);
    most = -fourier_svm_FADED;
    for (k = 0; k < fourier_svm_GROUPS; k++) {
        FourierSVM_tilt[k] += ESVM_DIVIDE(fourier_svm_TILT_RATE * c[k], esvm_sqrt(1.0 +
                FourierSVM_H[0]));
        most = esvm_max(most, FourierSVM_first_tilt[k] + FourierSVM_tilt[k]);
    }
    for (k = 0; k < fourier_svm_GROUPS; k++) {
        FourierSVM_tilt[k] = esvm_max(FourierSVM_tilt[k] - most, -fourier_svm_FADED -
                FourierSVM_first_tilt[k]);
    }
}

ESVM_STATIC const int16_t *FourierSVM_angles_ahead(char *self, const void *x) {
    esvm_index size = FourierSVM_bytes_of(self, FourierSVM_n_features);
    int r;
    for (r = 0; r < FourierSVM_rows_ahead; r++) {
        if (memcmp(FourierSVM_row_ahead + r * size, x, size) == 0) {
            return FourierSVM_ahead + r * FourierSVM_directions_n;
        }
    }
    return NULL;
}

ESVM_STATIC esvm_index FourierSVM_bytes_of(char *self, esvm_index n) {
    (void)self;
    return n * linalg_item_bytes();
}

ESVM_STATIC void FourierSVM_AdaGradSVM_add_score(char *self, const char *weights, const void *x,
        double *score) {
    esvm_index end = FourierSVM_n_ahead + FourierSVM_n_features;
    int v;
    FourierSVM_add_dots(self, weights, FourierSVM_n_ahead, x, FourierSVM_n_features, score);
    for (v = 0; v < FourierSVM_n_vectors; v++) {
        score[v] += linalg_entry(weights, v * FourierSVM_width + end);
    }
}

#endif

#endif
