/* Translated from edgesvm/learners/_multiclass.*: change that, then `make translate`. */

#ifndef EDGESVM_MULTICLASS_H
#define EDGESVM_MULTICLASS_H

#include "floor.h"
#include "core.h"
#include "linalg.h"
#include "status.h"

#ifdef Multiclass_n_features

#define Multiclass_common ((core_Common *)self)
#define Multiclass_n_per_class ((int64_t *)(self + Multiclass_AT_n_per_class))
#define Multiclass_scores ((double *)ESVM_SCRATCH(Multiclass_AT_scores))
#define Multiclass_n_left_out ((int64_t *)(self + Multiclass_AT_n_left_out))
#define Multiclass_sums ((double *)ESVM_SCRATCH(Multiclass_AT_sums))
#define Multiclass_part(p) (self + Multiclass_AT_parts + (p) * Multiclass_part_bytes)

ESVM_STATIC status_Status Multiclass_learn_row(char *self, const void *x, int slot, double weight);
ESVM_STATIC status_Status Multiclass_answer(char *self, const void *x, double *out);
ESVM_STATIC int Multiclass_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t Multiclass_n_learned(char *self);
ESVM_STATIC status_Status Multiclass_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status Multiclass_decide(char *self, const void *x, double *score);
ESVM_STATIC void Multiclass_count(char *self, int slot, status_Status status);
ESVM_STATIC void Multiclass_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int Multiclass_n_answers(char *self);
ESVM_STATIC int Multiclass_slot_for(char *self, double value);
ESVM_STATIC status_Status Multiclass_step(char *self, const void *x, double y, double weight);
ESVM_STATIC double Multiclass_class_weight(char *self, double y);
ESVM_STATIC int Multiclass_competing(char *self, int *last);
ESVM_STATIC status_Status Multiclass_score_alone(char *self, double *score);
ESVM_STATIC int Multiclass_is_finite(char *self, const void *x);
ESVM_STATIC status_Status Multiclass_weigh(char *self, const void *x, const double *found,
        double *score, int n_competing, const int *last);
ESVM_STATIC int Multiclass_is_full(char *self, int slot);
ESVM_STATIC esvm_index Multiclass_part_between(char *self, int slot, int other);
ESVM_STATIC int Multiclass_side_of(char *self, int slot, int other);
ESVM_STATIC void Multiclass_put_last(char *self, double *score);
ESVM_STATIC status_Status Multiclass_vote(char *self, const void *x, const double *found,
        double *score, int two);
ESVM_STATIC status_Status Multiclass_compare(char *self, const void *x, const double *found,
        double *score);
ESVM_STATIC int Multiclass_has_both(char *self, esvm_index p);
ESVM_STATIC status_Status Multiclass_value_of(char *self, esvm_index p, const void *x,
        const double *found, double *value);

ESVM_STATIC status_Status Multiclass_learn_row(char *self, const void *x, int slot, double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        Multiclass_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = Multiclass_weighed_step(self, x, !Multiclass_HAS_scores ? 2 * slot - 1 : slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    Multiclass_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status Multiclass_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!Multiclass_HAS_scores) {
        status = Multiclass_decide(self, x, out);
        out[0] *= Multiclass_labels_sign;
        return status;
    }
    status = Multiclass_decide(self, x, Multiclass_HAS_scores ? Multiclass_scores : NULL);
    Multiclass_in_order(self, Multiclass_HAS_scores ? Multiclass_scores : NULL, out);
    memset(Multiclass_scores, 0, Multiclass_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int Multiclass_winner(char *self, const double *answers, double *score) {
    int i;
    int n = Multiclass_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!Multiclass_HAS_scores) {
        return Multiclass_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return Multiclass_labels_order[Multiclass_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return Multiclass_labels_order[best];
}

ESVM_STATIC int64_t Multiclass_n_learned(char *self) {
    int64_t total = Multiclass_n_per_class[0] + Multiclass_n_per_class[1];
    int slot;
    for (slot = 2; slot < Multiclass_n_classes; slot++) {
        total += Multiclass_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status Multiclass_weighed_step(char *self, const void *x, double y,
        double weight) {
    return Multiclass_step(self, x, y, Multiclass_balanced ? weight * Multiclass_class_weight(self,
            y) : weight);
}

ESVM_STATIC status_Status Multiclass_decide(char *self, const void *x, double *score) {
    int last[2];
    int n_competing = Multiclass_competing(self, last);
    if (n_competing == 1) {
        return Multiclass_is_finite(self, x) ? Multiclass_score_alone(self, score) :
                status_NOT_FINITE;
    }
    return Multiclass_weigh(self, x, NULL, score, n_competing, last);
}

ESVM_STATIC void Multiclass_count(char *self, int slot, status_Status status) {
    Multiclass_common->n_seen += 1;
    Multiclass_common->n_updates += status == status_CHANGED;
    Multiclass_n_per_class[slot] += 1;
}

ESVM_STATIC void Multiclass_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = Multiclass_labels_n;
    const signed char *order = Multiclass_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int Multiclass_n_answers(char *self) {
    (void)self;
    return !Multiclass_HAS_scores || Multiclass_labels_n <= 2 ? 1 : Multiclass_labels_n;
}

ESVM_STATIC int Multiclass_slot_for(char *self, double value) {
    if (Multiclass_one_class) {
        return value > 0.0;
    }
    if (Multiclass_n_per_class[0] == 0) {
        return 1;
    }
    if (Multiclass_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (Multiclass_labels_sign < 0);
}

ESVM_STATIC status_Status Multiclass_step(char *self, const void *x, double y, double weight) {
    int slot = (int)y;
    int other;
    esvm_index n_taken = 0;
    esvm_index n_moved = 0;
    status_Status status;
    if (Multiclass_is_full(self, slot)) {
        return status_FULL;
    }
    for (other = 0; other < Multiclass_n_classes; other++) {
        if (Multiclass_pairs && other == slot) {
            continue;
        }
        status = Multiclass_each(learn_row)(Multiclass_part(Multiclass_part_between(self, slot,
                other)), x, Multiclass_side_of(self, slot, other), weight);
        if (status <= status_CHANGED) {
            n_taken += 1;
            n_moved += status == status_CHANGED;
        } else if (n_taken == 0) {
            return status;
        } else {
            Multiclass_n_left_out[0] += 1;
        }
    }
    return n_moved ? status_CHANGED : status_UNCHANGED;
}

ESVM_STATIC double Multiclass_class_weight(char *self, double y) {
    int slot = !Multiclass_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (Multiclass_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < Multiclass_n_classes; other++) {
            n_classes += Multiclass_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(Multiclass_n_learned(self) + 1, (double)n_classes *
            (Multiclass_n_per_class[slot] + 1));
}

ESVM_STATIC int Multiclass_competing(char *self, int *last) {
    int i;
    int n = 0;
    last[0] = 0;
    last[1] = 0;
    for (i = 0; i < Multiclass_labels_n; i++) {
        if (Multiclass_n_per_class[Multiclass_labels_order[i]]) {
            int t1_ = last[1];
            int t2_ = Multiclass_labels_order[i];
            last[0] = t1_;
            last[1] = t2_;
            n += 1;
        }
    }
    return n;
}

ESVM_STATIC status_Status Multiclass_score_alone(char *self, double *score) {
    Multiclass_put_last(self, score);
    return status_UNCHANGED;
}

ESVM_STATIC int Multiclass_is_finite(char *self, const void *x) {
    (void)self;
#if ESVM_IS_FLOAT32
    return esvm_is_finite(linalg_dot_f32((const float *)x, (const float *)x,
            Multiclass_n_features));
#else
    return esvm_is_finite(linalg_dot_f64((const double *)x, (const double *)x,
            Multiclass_n_features));
#endif
}

ESVM_STATIC status_Status Multiclass_weigh(char *self, const void *x, const double *found,
        double *score, int n_competing, const int *last) {
    int i;
    status_Status status;
    if (Multiclass_pairs) {
        status = Multiclass_vote(self, x, found, score, n_competing == 2);
    } else {
        status = Multiclass_compare(self, x, found, score);
    }
    if (status > status_CHANGED) {
        return status;
    }
    if (n_competing == 2 && !Multiclass_pairs) {
        score[last[1]] = ESVM_DIVIDE(score[last[1]] - score[last[0]], 4.0);
        score[last[0]] = -score[last[1]];
    }
    Multiclass_put_last(self, score);
    for (i = 0; i < Multiclass_n_classes; i++) {
        if (!esvm_is_finite(score[i])) {
            return status_NOT_FINITE;
        }
    }
    return status_UNCHANGED;
}

ESVM_STATIC int Multiclass_is_full(char *self, int slot) {
    int other;
    if (Multiclass_most < 0) {
        return 0;
    }
    for (other = 0; other < Multiclass_n_classes; other++) {
        if (Multiclass_pairs && other == slot) {
            continue;
        }
        if (Multiclass_each(n_learned)(Multiclass_part(Multiclass_part_between(self, slot,
                other))) >= Multiclass_most) {
            return 1;
        }
    }
    return 0;
}

ESVM_STATIC esvm_index Multiclass_part_between(char *self, int slot, int other) {
    (void)self;
    if (!Multiclass_pairs) {
        return other;
    }
    return slot > other ? slot * (slot - 1) / 2 + other : other * (other - 1) / 2 + slot;
}

ESVM_STATIC int Multiclass_side_of(char *self, int slot, int other) {
    (void)self;
    return Multiclass_pairs ? slot > other : slot == other;
}

ESVM_STATIC void Multiclass_put_last(char *self, double *score) {
    int slot;
    int any_yet = 0;
    double least = 0.0;
    for (slot = 0; slot < Multiclass_n_classes; slot++) {
        if (Multiclass_n_per_class[slot] && (!any_yet || score[slot] < least)) {
            least = score[slot];
            any_yet = 1;
        }
    }
    for (slot = 0; slot < Multiclass_n_classes; slot++) {
        if (!Multiclass_n_per_class[slot]) {
            score[slot] = least - (fabs(least) > 1.0 ? fabs(least) : 1.0);
        }
    }
}

ESVM_STATIC status_Status Multiclass_vote(char *self, const void *x, const double *found,
        double *score, int two) {
    int a, b, low, high;
    esvm_index p;
    double f;
    status_Status status = status_UNCHANGED;
    for (b = 0; b < Multiclass_labels_n; b++) {
        high = Multiclass_labels_order[b];
        for (a = 0; a < b; a++) {
            low = Multiclass_labels_order[a];
            p = Multiclass_part_between(self, low, high);
            if (!(Multiclass_n_per_class[low] && Multiclass_n_per_class[high] &&
                    Multiclass_has_both(self, p))) {
                continue;
            }
            status = Multiclass_value_of(self, p, x, found, &f);
            if (status > status_CHANGED) {
                break;
            }
            if (high < low) {
                f = -f;
            }
            score[f > 0.0 ? high : low] += 1.0;
            Multiclass_sums[high] += f;
            Multiclass_sums[low] -= f;
        }
        if (status > status_CHANGED) {
            break;
        }
    }
    for (b = 0; b < Multiclass_n_classes; b++) {
        score[b] = two ? ESVM_DIVIDE(Multiclass_sums[b], 2.0) : score[b] +
                ESVM_DIVIDE(ESVM_DIVIDE(Multiclass_sums[b], 1.0 + fabs(Multiclass_sums[b])), 3.0);
    }
    memset(Multiclass_sums, 0, Multiclass_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC status_Status Multiclass_compare(char *self, const void *x, const double *found,
        double *score) {
    int slot;
    status_Status status;
    for (slot = 0; slot < Multiclass_n_classes; slot++) {
        if (Multiclass_n_per_class[slot] && Multiclass_has_both(self, slot)) {
            status = Multiclass_value_of(self, slot, x, found, &score[slot]);
            if (status > status_CHANGED) {
                return status;
            }
        }
    }
    return status_UNCHANGED;
}

ESVM_STATIC int Multiclass_has_both(char *self, esvm_index p) {
    return ((int64_t *)(Multiclass_part(p) + Multiclass_each(AT_n_per_class)))[0] &&
            ((int64_t *)(Multiclass_part(p) + Multiclass_each(AT_n_per_class)))[1];
}

ESVM_STATIC status_Status Multiclass_value_of(char *self, esvm_index p, const void *x,
        const double *found, double *value) {
    if (found == NULL) {
        return Multiclass_each(decide)(Multiclass_part(p), x, value);
    }
    value[0] = found[p];
    return status_UNCHANGED;
}

#endif

#endif
