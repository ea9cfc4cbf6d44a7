/* Translated from edgesvm/learners/novelty/_kernel_novelty.*: change that, then `make translate`. */

#ifndef EDGESVM_KERNEL_NOVELTY_H
#define EDGESVM_KERNEL_NOVELTY_H

#include "floor.h"
#include "codes.h"
#include "core.h"
#include "kernels.h"
#include "linalg.h"
#include "logistic.h"
#include "moments.h"
#include "novelty.h"
#include "packed_factor.h"
#include "rows.h"
#include "status.h"

#define kernel_novelty_FARTHEST 1e+100
#define kernel_novelty_TINY 1e-300

#ifdef KernelNovelty_n_features

#define KernelNovelty_common ((core_Common *)self)
#define KernelNovelty_n_per_class ((int64_t *)(self + KernelNovelty_AT_n_per_class))
#define KernelNovelty_scores ((double *)ESVM_SCRATCH(KernelNovelty_AT_scores))
#define KernelNovelty_mean ((double *)(self + KernelNovelty_AT_mean))
#define KernelNovelty_spread ((double *)(self + KernelNovelty_AT_spread))
#define KernelNovelty_scaled ((char *)ESVM_SCRATCH(KernelNovelty_AT_scaled))
#define KernelNovelty_tail ((novelty_Tail *)(self + KernelNovelty_AT_tail))
#define KernelNovelty_n_scored ((int64_t *)(self + KernelNovelty_AT_n_scored))
#define KernelNovelty_n_alarms ((int64_t *)(self + KernelNovelty_AT_n_alarms))
#define KernelNovelty_alarmed ((int64_t *)(self + KernelNovelty_AT_alarmed))
#define KernelNovelty_scratch ((double *)ESVM_SCRATCH(KernelNovelty_AT_scratch))
#define KernelNovelty_centres ((char *)(self + KernelNovelty_AT_centres))
#define KernelNovelty_counts ((double *)(self + KernelNovelty_AT_counts))
#define KernelNovelty_cost ((double *)(self + KernelNovelty_AT_cost))
#define KernelNovelty_partner ((int64_t *)(self + KernelNovelty_AT_partner))
#define KernelNovelty_n_held ((int64_t *)(self + KernelNovelty_AT_n_held))
#define KernelNovelty_merged ((char *)ESVM_SCRATCH(KernelNovelty_AT_merged))
#define KernelNovelty_coded (KernelNovelty_HAS_coded ? (char *)ESVM_SCRATCH(KernelNovelty_AT_coded) : KernelNovelty_scaled)
#define KernelNovelty_L ((char *)(self + KernelNovelty_AT_factor))
#define KernelNovelty_square (KernelNovelty_scratch)
#define KernelNovelty_rest (KernelNovelty_square + KernelNovelty_LEN_counts)
#define KernelNovelty_border (KernelNovelty_rest + KernelNovelty_LEN_counts)
#define KernelNovelty_solution ((char *)KernelNovelty_border + KernelNovelty_LEN_counts * (KernelNovelty_compact ? 4 : 8))

ESVM_STATIC status_Status KernelNovelty_learn_row(char *self, const void *x, int slot,
        double weight);
ESVM_STATIC status_Status KernelNovelty_answer(char *self, const void *x, double *out);
ESVM_STATIC int KernelNovelty_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t KernelNovelty_n_learned(char *self);
ESVM_STATIC status_Status KernelNovelty_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status KernelNovelty_decide(char *self, const void *x, double *value);
ESVM_STATIC void KernelNovelty_count(char *self, int slot, status_Status status);
ESVM_STATIC void KernelNovelty_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int KernelNovelty_n_answers(char *self);
ESVM_STATIC int KernelNovelty_slot_for(char *self, double value);
ESVM_STATIC status_Status KernelNovelty_step(char *self, const void *x, double y, double weight);
ESVM_STATIC double KernelNovelty_class_weight(char *self, double y);
ESVM_STATIC void KernelNovelty_scale(char *self, const void *x, int64_t n, int bends);
ESVM_STATIC int64_t KernelNovelty_n_kept(char *self);
ESVM_STATIC double KernelNovelty_threshold_now(char *self);
ESVM_STATIC double KernelNovelty_score(char *self);
ESVM_STATIC void KernelNovelty_wipe(char *self);
ESVM_STATIC int KernelNovelty_is_frozen(char *self);
ESVM_STATIC int KernelNovelty_can_keep(char *self, const void *x);
ESVM_STATIC void KernelNovelty_follow_unless_held(char *self, double score, int alarm);
ESVM_STATIC void KernelNovelty_keep(char *self, const void *x);
ESVM_STATIC void KernelNovelty_learn_scaled(char *self);
ESVM_STATIC double KernelNovelty_level_now(char *self);
ESVM_STATIC void KernelNovelty_measure(char *self, const void *x);
ESVM_STATIC char *KernelNovelty_sample(char *self);
ESVM_STATIC double KernelNovelty_far_score(char *self, const double *square);
ESVM_STATIC double KernelNovelty_explained(char *self, const double *square, double least);
ESVM_STATIC void KernelNovelty_Novelty_wipe(char *self);
ESVM_STATIC void KernelNovelty_follow(char *self, double score);
ESVM_STATIC esvm_index KernelNovelty_nearest(char *self, double count, esvm_index without);
ESVM_STATIC double KernelNovelty_merge_cost(char *self, double count, esvm_index i);
ESVM_STATIC void KernelNovelty_leave(char *self, esvm_index p);
ESVM_STATIC void KernelNovelty_look_again(char *self, esvm_index i);
ESVM_STATIC void KernelNovelty_find_lost(char *self);
ESVM_STATIC void KernelNovelty_append(char *self, const char *x, double count);
ESVM_STATIC esvm_index KernelNovelty_cheapest(char *self);
ESVM_STATIC double KernelNovelty_mean_of(char *self, const char *x, double count, esvm_index i);
ESVM_STATIC void KernelNovelty_remove(char *self, esvm_index p);
ESVM_STATIC char *KernelNovelty_centre(char *self, esvm_index i);
ESVM_STATIC void KernelNovelty_find_partner(char *self, esvm_index i);
ESVM_STATIC void KernelNovelty_append_row(char *self, double complement);
ESVM_STATIC double KernelNovelty_at(char *self, const char *x, esvm_index j);

ESVM_STATIC status_Status KernelNovelty_learn_row(char *self, const void *x, int slot,
        double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        KernelNovelty_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = KernelNovelty_weighed_step(self, x, !KernelNovelty_HAS_scores ? 2 * slot - 1 : slot,
            weight);
    if (status > status_CHANGED) {
        return status;
    }
    KernelNovelty_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status KernelNovelty_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!KernelNovelty_HAS_scores) {
        status = KernelNovelty_decide(self, x, out);
        out[0] *= KernelNovelty_labels_sign;
        return status;
    }
    status = KernelNovelty_decide(self, x, KernelNovelty_HAS_scores ? KernelNovelty_scores : NULL);
    KernelNovelty_in_order(self, KernelNovelty_HAS_scores ? KernelNovelty_scores : NULL, out);
    memset(KernelNovelty_scores, 0, KernelNovelty_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int KernelNovelty_winner(char *self, const double *answers, double *score) {
    int i;
    int n = KernelNovelty_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!KernelNovelty_HAS_scores) {
        return KernelNovelty_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return KernelNovelty_labels_order[KernelNovelty_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return KernelNovelty_labels_order[best];
}

ESVM_STATIC int64_t KernelNovelty_n_learned(char *self) {
    int64_t total = KernelNovelty_n_per_class[0] + KernelNovelty_n_per_class[1];
    int slot;
    for (slot = 2; slot < KernelNovelty_n_classes; slot++) {
        total += KernelNovelty_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status KernelNovelty_weighed_step(char *self, const void *x, double y,
        double weight) {
    return KernelNovelty_step(self, x, y, KernelNovelty_balanced ? weight *
            KernelNovelty_class_weight(self, y) : weight);
}

ESVM_STATIC status_Status KernelNovelty_decide(char *self, const void *x, double *value) {
    if (!esvm_is_finite(linalg_any_dot(x, x, KernelNovelty_n_features))) {
        return status_NOT_FINITE;
    }
    KernelNovelty_scale(self, x, KernelNovelty_n_kept(self), 1);
    value[0] = KernelNovelty_threshold_now(self) - KernelNovelty_score(self);
    KernelNovelty_wipe(self);
    return esvm_is_finite(value[0]) ? status_UNCHANGED : status_NOT_FINITE;
}

ESVM_STATIC void KernelNovelty_count(char *self, int slot, status_Status status) {
    KernelNovelty_common->n_seen += 1;
    KernelNovelty_common->n_updates += status == status_CHANGED;
    KernelNovelty_n_per_class[slot] += 1;
}

ESVM_STATIC void KernelNovelty_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = KernelNovelty_labels_n;
    const signed char *order = KernelNovelty_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int KernelNovelty_n_answers(char *self) {
    (void)self;
    return !KernelNovelty_HAS_scores || KernelNovelty_labels_n <= 2 ? 1 : KernelNovelty_labels_n;
}

ESVM_STATIC int KernelNovelty_slot_for(char *self, double value) {
    if (KernelNovelty_one_class) {
        return value > 0.0;
    }
    if (KernelNovelty_n_per_class[0] == 0) {
        return 1;
    }
    if (KernelNovelty_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (KernelNovelty_labels_sign < 0);
}

ESVM_STATIC status_Status KernelNovelty_step(char *self, const void *x, double y, double weight) {
    (void)y;
    (void)weight;
    double score;
    int alarm;
    int resting = KernelNovelty_is_frozen(self) || (KernelNovelty_alarmed[0] &&
            !KernelNovelty_learns_all);
    status_Status status = status_UNCHANGED;
    if (!KernelNovelty_can_keep(self, x)) {
        return status_NOT_FINITE;
    }
    KernelNovelty_scale(self, x, KernelNovelty_n_kept(self), 1);
    score = KernelNovelty_score(self);
    alarm = KernelNovelty_n_kept(self) >= KernelNovelty_warm_up && score >
            KernelNovelty_threshold_now(self);
    if (KernelNovelty_n_kept(self) >= novelty_SETTLED && !KernelNovelty_is_frozen(self)) {
        KernelNovelty_follow_unless_held(self, score, alarm);
    }
    KernelNovelty_alarmed[0] = alarm ? novelty_CALM : 0 > KernelNovelty_alarmed[0] - 1 ? 0 :
            KernelNovelty_alarmed[0] - 1;
    KernelNovelty_n_alarms[0] += alarm;
    if (!resting && (KernelNovelty_learns_all || !alarm)) {
        KernelNovelty_keep(self, x);
        if (KernelNovelty_n_kept(self) >= novelty_SETTLED) {
            KernelNovelty_scale(self, x, KernelNovelty_n_kept(self) + 1, 0);
            KernelNovelty_learn_scaled(self);
        }
        status = status_CHANGED;
    }
    KernelNovelty_wipe(self);
    return status;
}

ESVM_STATIC double KernelNovelty_class_weight(char *self, double y) {
    int slot = !KernelNovelty_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (KernelNovelty_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < KernelNovelty_n_classes; other++) {
            n_classes += KernelNovelty_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(KernelNovelty_n_learned(self) + 1, (double)n_classes *
            (KernelNovelty_n_per_class[slot] + 1));
}

ESVM_STATIC void KernelNovelty_scale(char *self, const void *x, int64_t n, int bends) {
    esvm_index j;
    double far, variance;
    double share = n ? ESVM_DIVIDE(1.0, n) : 0.0;
    for (j = 0; j < KernelNovelty_n_features; j++) {
        far = linalg_entry(x, j) - KernelNovelty_mean[j];
        variance = KernelNovelty_spread[j] * share;
        if (variance > 0.0) {
            far = bends ? novelty_bent(ESVM_DIVIDE(far, esvm_sqrt(variance))) :
                    novelty_cut(ESVM_DIVIDE(far, esvm_sqrt(variance)));
        } else if (far != 0.0) {
            far = copysign(novelty_CLIP, far);
        }
        linalg_put(KernelNovelty_scaled, j, far);
    }
}

ESVM_STATIC int64_t KernelNovelty_n_kept(char *self) {
    return KernelNovelty_common->n_updates;
}

ESVM_STATIC double KernelNovelty_threshold_now(char *self) {
    double scale = esvm_sqrt(KernelNovelty_tail->variance) * (novelty_FIRST_EXCESS +
            KernelNovelty_tail->excess);
    return KernelNovelty_level_now(self) + scale * (KernelNovelty_log_ratio +
            KernelNovelty_tail->shift);
}

ESVM_STATIC double KernelNovelty_score(char *self) {
    if (KernelNovelty_n_held[0] == 0) {
        return 0.0;
    }
    KernelNovelty_measure(self, KernelNovelty_sample(self));
    if (KernelNovelty_compact) {
        return esvm_min(KernelNovelty_far_score(self, KernelNovelty_square),
                kernel_novelty_FARTHEST);
    }
    return -logistic_log_(esvm_max(KernelNovelty_explained(self, KernelNovelty_square, 0.0),
            kernel_novelty_TINY));
}

ESVM_STATIC void KernelNovelty_wipe(char *self) {
    KernelNovelty_Novelty_wipe(self);
    memset(KernelNovelty_merged, 0, KernelNovelty_width);
    if (KernelNovelty_compact) {
        memset(KernelNovelty_coded, 0, KernelNovelty_width);
    }
}

ESVM_STATIC int KernelNovelty_is_frozen(char *self) {
    return 0 < KernelNovelty_until && KernelNovelty_until <= KernelNovelty_n_kept(self);
}

ESVM_STATIC int KernelNovelty_can_keep(char *self, const void *x) {
    esvm_index j;
    double delta;
    if (!esvm_is_finite(linalg_any_dot(x, x, KernelNovelty_n_features))) {
        return 0;
    }
    for (j = 0; j < KernelNovelty_n_features; j++) {
        delta = linalg_entry(x, j) - KernelNovelty_mean[j];
        if (!esvm_is_finite(KernelNovelty_spread[j] + delta * delta)) {
            return 0;
        }
    }
    return 1;
}

ESVM_STATIC void KernelNovelty_follow_unless_held(char *self, double score, int alarm) {
    if (KernelNovelty_learns_all || !(alarm || KernelNovelty_alarmed[0])) {
        KernelNovelty_follow(self, score);
    } else if (alarm && !KernelNovelty_alarmed[0]) {
        KernelNovelty_tail->held = score;
    } else if (!alarm && KernelNovelty_alarmed[0] == 1) {
        KernelNovelty_follow(self, KernelNovelty_tail->held);
        KernelNovelty_tail->held = 0.0;
    }
}

ESVM_STATIC void KernelNovelty_keep(char *self, const void *x) {
    esvm_index j;
    double share = ESVM_DIVIDE(1.0, KernelNovelty_n_kept(self) + 1);
    for (j = 0; j < KernelNovelty_n_features; j++) {
        moments_welford(linalg_entry(x, j), share, KernelNovelty_mean[j], KernelNovelty_spread[j],
                KernelNovelty_mean + j, KernelNovelty_spread + j);
    }
}

ESVM_STATIC void KernelNovelty_learn_scaled(char *self) {
    esvm_index i, j;
    double count;
    const char *x = KernelNovelty_sample(self);
    KernelNovelty_measure(self, x);
    i = KernelNovelty_nearest(self, 1.0, -1);
    if (i >= 0 && KernelNovelty_merge_cost(self, 1.0, i) == 0.0) {
        KernelNovelty_counts[i] += 1.0;
        KernelNovelty_leave(self, i);
        KernelNovelty_look_again(self, i);
        KernelNovelty_find_lost(self);
    } else if (KernelNovelty_n_held[0] < KernelNovelty_room) {
        KernelNovelty_append(self, x, 1.0);
    } else {
        j = KernelNovelty_cheapest(self);
        if (KernelNovelty_merge_cost(self, 1.0, i) <= KernelNovelty_cost[j]) {
            count = KernelNovelty_mean_of(self, x, 1.0, i);
            KernelNovelty_remove(self, i);
            KernelNovelty_append(self, KernelNovelty_merged, count);
        } else {
            i = KernelNovelty_partner[j];
            count = KernelNovelty_mean_of(self, KernelNovelty_centre(self, i),
                    KernelNovelty_counts[i], j);
            KernelNovelty_remove(self, j > i ? j : i);
            KernelNovelty_remove(self, j < i ? j : i);
            KernelNovelty_append(self, KernelNovelty_merged, count);
            KernelNovelty_append(self, x, 1.0);
        }
    }
}

ESVM_STATIC double KernelNovelty_level_now(char *self) {
    return KernelNovelty_tail->mean + esvm_sqrt(KernelNovelty_tail->variance) * (novelty_Z_ABOVE +
            KernelNovelty_tail->level);
}

ESVM_STATIC void KernelNovelty_measure(char *self, const void *x) {
    if (KernelNovelty_compact) {
        codes_code_distances((const int16_t *)x, (const int16_t *)KernelNovelty_centres,
                KernelNovelty_n_features, KernelNovelty_n_held[0], KernelNovelty_square);
    } else {
#if ESVM_IS_FLOAT32
        rows_square_distances_f32((const float *)x, (const float *)KernelNovelty_centres,
                KernelNovelty_n_features, KernelNovelty_n_held[0], KernelNovelty_square);
#else
        rows_square_distances_f64((const double *)x, (const double *)KernelNovelty_centres,
                KernelNovelty_n_features, KernelNovelty_n_held[0], KernelNovelty_square);
#endif
    }
}

ESVM_STATIC char *KernelNovelty_sample(char *self) {
    esvm_index j;
    if (KernelNovelty_compact) {
        for (j = 0; j < KernelNovelty_n_features; j++) {
            ((int16_t *)KernelNovelty_coded)[j] = codes_code_of(linalg_entry(KernelNovelty_scaled,
                    j));
        }
    }
    return KernelNovelty_coded;
}

ESVM_STATIC double KernelNovelty_far_score(char *self, const double *square) {
    esvm_index i;
    double least = ESVM_INFINITY;
    esvm_index t1_ = KernelNovelty_n_held[0];
    for (i = 0; i < t1_; i++) {
        least = esvm_min(least, square[i]);
    }
    return 2.0 * KernelNovelty_gamma * least - logistic_log_(KernelNovelty_explained(self, square,
            least));
}

ESVM_STATIC double KernelNovelty_explained(char *self, const double *square, double least) {
    esvm_index i;
    esvm_index m = KernelNovelty_n_held[0];
    for (i = 0; i < m; i++) {
        linalg_put_of(KernelNovelty_compact, KernelNovelty_border, i,
                kernels_exp_(-KernelNovelty_gamma * (square[i] - least)));
    }
    if (KernelNovelty_compact) {
        packed_factor_triangle_forward_f32((const float *)KernelNovelty_L,
                (const float *)KernelNovelty_border, (float *)KernelNovelty_solution, m);
    } else {
        packed_factor_triangle_forward_f64((const double *)KernelNovelty_L,
                (const double *)KernelNovelty_border, (double *)KernelNovelty_solution, m);
    }
    return linalg_any_dot_of(KernelNovelty_compact, KernelNovelty_solution, KernelNovelty_solution,
            m);
}

ESVM_STATIC void KernelNovelty_Novelty_wipe(char *self) {
    memset(KernelNovelty_scaled, 0, KernelNovelty_n_features * linalg_item_bytes());
    if (KernelNovelty_HAS_scratch) {
        memset(KernelNovelty_scratch, 0, KernelNovelty_n_scratch * sizeof(double));
    }
}

ESVM_STATIC void KernelNovelty_follow(char *self, double score) {
    novelty_Tail *t = KernelNovelty_tail;
    int64_t n = KernelNovelty_n_scored[0];
    double level = KernelNovelty_level_now(self);
    double deviation = esvm_sqrt(t->variance);
    double share, far;
    int above = score > level;
    int alarm = score > KernelNovelty_threshold_now(self);
    if (deviation > 0.0) {
        t->shift += ESVM_DIVIDE(2.0 * (ESVM_DIVIDE(alarm, KernelNovelty_rate) - 1.0), n +
                novelty_ALARMS_AFTER / KernelNovelty_rate);
        t->shift = esvm_max(t->shift, -KernelNovelty_log_ratio);
        t->level += ESVM_DIVIDE(2.0 * (above - novelty_ABOVE), novelty_DENSITY * (n +
                novelty_LEVEL_AFTER));
        if (above) {
            t->n_above += 1.0;
            far = ESVM_DIVIDE(score - level, deviation) - novelty_FIRST_EXCESS;
            t->excess += ESVM_DIVIDE(2.0, t->n_above + novelty_EXCESS_AFTER) * (far - t->excess);
        }
    }
    share = ESVM_DIVIDE(2.0, n + 2.0);
    far = score - t->mean;
    t->mean += share * far;
    t->variance = (1.0 - share) * (t->variance + share * far * far);
    KernelNovelty_n_scored[0] = n + 1;
}

ESVM_STATIC esvm_index KernelNovelty_nearest(char *self, double count, esvm_index without) {
    esvm_index i;
    esvm_index best = -1;
    esvm_index t1_ = KernelNovelty_n_held[0];
    for (i = 0; i < t1_; i++) {
        if (i != without && (best < 0 || KernelNovelty_merge_cost(self, count, i) <
                KernelNovelty_merge_cost(self, count, best))) {
            best = i;
        }
    }
    return best;
}

ESVM_STATIC double KernelNovelty_merge_cost(char *self, double count, esvm_index i) {
    return ESVM_DIVIDE(count * KernelNovelty_counts[i], count + KernelNovelty_counts[i]) *
            KernelNovelty_square[i];
}

ESVM_STATIC void KernelNovelty_leave(char *self, esvm_index p) {
    esvm_index i;
    esvm_index t1_ = KernelNovelty_n_held[0];
    for (i = 0; i < t1_; i++) {
        if (KernelNovelty_partner[i] == p) {
            KernelNovelty_partner[i] = -1;
        }
    }
}

ESVM_STATIC void KernelNovelty_look_again(char *self, esvm_index i) {
    KernelNovelty_measure(self, KernelNovelty_centre(self, i));
    KernelNovelty_find_partner(self, i);
}

ESVM_STATIC void KernelNovelty_find_lost(char *self) {
    esvm_index i;
    esvm_index t1_ = KernelNovelty_n_held[0];
    for (i = 0; i < t1_; i++) {
        if (KernelNovelty_partner[i] < 0) {
            KernelNovelty_look_again(self, i);
        }
    }
}

ESVM_STATIC void KernelNovelty_append(char *self, const char *x, double count) {
    esvm_index m = KernelNovelty_n_held[0];
    esvm_index i;
    KernelNovelty_measure(self, x);
    KernelNovelty_append_row(self, 1.0 + KernelNovelty_noise - KernelNovelty_explained(self,
            KernelNovelty_square, 0.0));
    memcpy(KernelNovelty_centre(self, m), x, KernelNovelty_width);
    KernelNovelty_counts[m] = count;
    for (i = 0; i < m; i++) {
        if (KernelNovelty_partner[i] >= 0 && KernelNovelty_merge_cost(self, count, i) <
                KernelNovelty_cost[i]) {
            KernelNovelty_cost[i] = KernelNovelty_merge_cost(self, count, i);
            KernelNovelty_partner[i] = m;
        }
    }
    KernelNovelty_find_partner(self, m);
    KernelNovelty_find_lost(self);
}

ESVM_STATIC esvm_index KernelNovelty_cheapest(char *self) {
    esvm_index i;
    esvm_index best = 0;
    esvm_index t1_ = KernelNovelty_n_held[0];
    for (i = 1; i < t1_; i++) {
        if (KernelNovelty_cost[i] < KernelNovelty_cost[best]) {
            best = i;
        }
    }
    return best;
}

ESVM_STATIC double KernelNovelty_mean_of(char *self, const char *x, double count, esvm_index i) {
    double total = count + KernelNovelty_counts[i];
    double c;
    double share = esvm_max(esvm_min(ESVM_DIVIDE(count, total), 1.0), 0.0);
    const char *centre = KernelNovelty_centre(self, i);
    esvm_index j;
    for (j = 0; j < KernelNovelty_n_features; j++) {
        c = KernelNovelty_at(self, centre, j);
        c += share * (KernelNovelty_at(self, x, j) - c);
        if (KernelNovelty_compact) {
            ((int16_t *)KernelNovelty_merged)[j] = (int16_t)esvm_rint(c);
        } else {
            linalg_put(KernelNovelty_merged, j, c);
        }
    }
    return total;
}

ESVM_STATIC void KernelNovelty_remove(char *self, esvm_index p) {
    esvm_index i;
    esvm_index n = KernelNovelty_n_held[0] - 1;
    KernelNovelty_leave(self, p);
    if (KernelNovelty_compact) {
        packed_factor_triangle_remove_f32((float *)KernelNovelty_L, (float *)NULL,
                (float *)KernelNovelty_border, (float *)KernelNovelty_solution, n + 1, p);
    } else {
        packed_factor_triangle_remove_f64((double *)KernelNovelty_L, (double *)NULL,
                (double *)KernelNovelty_border, (double *)KernelNovelty_solution, n + 1, p);
    }
    KernelNovelty_n_held[0] = n;
    memmove(KernelNovelty_centre(self, p), KernelNovelty_centre(self, p + 1), (n - p) *
            KernelNovelty_width);
    for (i = p; i < n; i++) {
        double t1_ = KernelNovelty_counts[i + 1];
        double t2_ = KernelNovelty_cost[i + 1];
        KernelNovelty_counts[i] = t1_;
        KernelNovelty_cost[i] = t2_;
        KernelNovelty_partner[i] = KernelNovelty_partner[i + 1];
    }
    for (i = 0; i < n; i++) {
        if (KernelNovelty_partner[i] > p) {
            KernelNovelty_partner[i] -= 1;
        }
    }
}

ESVM_STATIC char *KernelNovelty_centre(char *self, esvm_index i) {
    return KernelNovelty_centres + i * KernelNovelty_width;
}

ESVM_STATIC void KernelNovelty_find_partner(char *self, esvm_index i) {
    esvm_index best = KernelNovelty_nearest(self, KernelNovelty_counts[i], i);
    KernelNovelty_partner[i] = best;
    KernelNovelty_cost[i] = best >= 0 ? KernelNovelty_merge_cost(self, KernelNovelty_counts[i],
            best) : 0.0;
}

ESVM_STATIC void KernelNovelty_append_row(char *self, double complement) {
    esvm_index m = KernelNovelty_n_held[0];
    esvm_index size = KernelNovelty_compact ? 4 : 8;
    char *row = (char *)KernelNovelty_L + packed_factor_packed(m) * size;
    memcpy(row, KernelNovelty_solution, m * size);
    linalg_put_of(KernelNovelty_compact, row, m, esvm_sqrt(complement));
    KernelNovelty_n_held[0] = m + 1;
}

ESVM_STATIC double KernelNovelty_at(char *self, const char *x, esvm_index j) {
    (void)self;
    return KernelNovelty_compact ? ((const int16_t *)x)[j] : linalg_entry(x, j);
}

#endif

#endif
