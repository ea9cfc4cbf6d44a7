/* Translated from edgesvm/learners/novelty/_gaussian_novelty.*: change that, then `make translate`. */

#ifndef EDGESVM_GAUSSIAN_NOVELTY_H
#define EDGESVM_GAUSSIAN_NOVELTY_H

#include "floor.h"
#include "core.h"
#include "linalg.h"
#include "moments.h"
#include "novelty.h"
#include "packed_factor.h"
#include "status.h"

#ifdef GaussianNovelty_n_features

#define GaussianNovelty_common ((core_Common *)self)
#define GaussianNovelty_n_per_class ((int64_t *)(self + GaussianNovelty_AT_n_per_class))
#define GaussianNovelty_scores ((double *)ESVM_SCRATCH(GaussianNovelty_AT_scores))
#define GaussianNovelty_mean ((double *)(self + GaussianNovelty_AT_mean))
#define GaussianNovelty_spread ((double *)(self + GaussianNovelty_AT_spread))
#define GaussianNovelty_scaled ((char *)ESVM_SCRATCH(GaussianNovelty_AT_scaled))
#define GaussianNovelty_tail ((novelty_Tail *)(self + GaussianNovelty_AT_tail))
#define GaussianNovelty_n_scored ((int64_t *)(self + GaussianNovelty_AT_n_scored))
#define GaussianNovelty_n_alarms ((int64_t *)(self + GaussianNovelty_AT_n_alarms))
#define GaussianNovelty_alarmed ((int64_t *)(self + GaussianNovelty_AT_alarmed))
#define GaussianNovelty_scratch ((double *)ESVM_SCRATCH(GaussianNovelty_AT_scratch))
#define GaussianNovelty_factor_pool ((double *)(self + GaussianNovelty_AT_factor))
#define GaussianNovelty_factor_order (&GaussianNovelty_order)
#define GaussianNovelty_factor_lift (&GaussianNovelty_lift)
#define GaussianNovelty_factor_ones (GaussianNovelty_scratch)
#define GaussianNovelty_factor_border (GaussianNovelty_factor_ones + GaussianNovelty_n_features)
#define GaussianNovelty_factor_solution (GaussianNovelty_factor_border + GaussianNovelty_n_features + 1)
#define GaussianNovelty_order (*(int64_t *)ESVM_SCRATCH(GaussianNovelty_AT_beside_order))
#define GaussianNovelty_lift (*(double *)ESVM_SCRATCH(GaussianNovelty_AT_beside_lift))

ESVM_STATIC packed_factor_PackedFactor GaussianNovelty_factor_of(char *self) {
    packed_factor_PackedFactor made;
    (void)self;
    made.pool = GaussianNovelty_factor_pool;
    made.length = GaussianNovelty_factor_length;
    made.width = GaussianNovelty_factor_width;
    made.order = GaussianNovelty_factor_order;
    made.lift = GaussianNovelty_factor_lift;
    made.ones = GaussianNovelty_factor_ones;
    made.border = GaussianNovelty_factor_border;
    made.solution = GaussianNovelty_factor_solution;
    return made;
}

ESVM_STATIC status_Status GaussianNovelty_learn_row(char *self, const void *x, int slot,
        double weight);
ESVM_STATIC status_Status GaussianNovelty_answer(char *self, const void *x, double *out);
ESVM_STATIC int GaussianNovelty_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t GaussianNovelty_n_learned(char *self);
ESVM_STATIC status_Status GaussianNovelty_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status GaussianNovelty_decide(char *self, const void *x, double *value);
ESVM_STATIC void GaussianNovelty_count(char *self, int slot, status_Status status);
ESVM_STATIC void GaussianNovelty_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int GaussianNovelty_n_answers(char *self);
ESVM_STATIC int GaussianNovelty_slot_for(char *self, double value);
ESVM_STATIC status_Status GaussianNovelty_step(char *self, const void *x, double y, double weight);
ESVM_STATIC double GaussianNovelty_class_weight(char *self, double y);
ESVM_STATIC void GaussianNovelty_scale(char *self, const void *x, int64_t n, int bends);
ESVM_STATIC int64_t GaussianNovelty_n_kept(char *self);
ESVM_STATIC double GaussianNovelty_threshold_now(char *self);
ESVM_STATIC double GaussianNovelty_score(char *self);
ESVM_STATIC void GaussianNovelty_wipe(char *self);
ESVM_STATIC int GaussianNovelty_is_frozen(char *self);
ESVM_STATIC int GaussianNovelty_can_keep(char *self, const void *x);
ESVM_STATIC void GaussianNovelty_follow_unless_held(char *self, double score, int alarm);
ESVM_STATIC void GaussianNovelty_keep(char *self, const void *x);
ESVM_STATIC void GaussianNovelty_learn_scaled(char *self);
ESVM_STATIC double GaussianNovelty_level_now(char *self);
ESVM_STATIC int64_t GaussianNovelty_n_fitted(char *self);
ESVM_STATIC void GaussianNovelty_forward(char *self);
ESVM_STATIC void GaussianNovelty_follow(char *self, double score);

ESVM_STATIC status_Status GaussianNovelty_learn_row(char *self, const void *x, int slot,
        double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        GaussianNovelty_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = GaussianNovelty_weighed_step(self, x, !GaussianNovelty_HAS_scores ? 2 * slot - 1 :
            slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    GaussianNovelty_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status GaussianNovelty_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!GaussianNovelty_HAS_scores) {
        status = GaussianNovelty_decide(self, x, out);
        out[0] *= GaussianNovelty_labels_sign;
        return status;
    }
    status = GaussianNovelty_decide(self, x, GaussianNovelty_HAS_scores ? GaussianNovelty_scores :
            NULL);
    GaussianNovelty_in_order(self, GaussianNovelty_HAS_scores ? GaussianNovelty_scores : NULL, out);
    memset(GaussianNovelty_scores, 0, GaussianNovelty_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int GaussianNovelty_winner(char *self, const double *answers, double *score) {
    int i;
    int n = GaussianNovelty_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!GaussianNovelty_HAS_scores) {
        return GaussianNovelty_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return GaussianNovelty_labels_order[GaussianNovelty_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return GaussianNovelty_labels_order[best];
}

ESVM_STATIC int64_t GaussianNovelty_n_learned(char *self) {
    int64_t total = GaussianNovelty_n_per_class[0] + GaussianNovelty_n_per_class[1];
    int slot;
    for (slot = 2; slot < GaussianNovelty_n_classes; slot++) {
        total += GaussianNovelty_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status GaussianNovelty_weighed_step(char *self, const void *x, double y,
        double weight) {
    return GaussianNovelty_step(self, x, y, GaussianNovelty_balanced ? weight *
            GaussianNovelty_class_weight(self, y) : weight);
}

ESVM_STATIC status_Status GaussianNovelty_decide(char *self, const void *x, double *value) {
    if (!esvm_is_finite(linalg_any_dot(x, x, GaussianNovelty_n_features))) {
        return status_NOT_FINITE;
    }
    GaussianNovelty_scale(self, x, GaussianNovelty_n_kept(self), 1);
    value[0] = GaussianNovelty_threshold_now(self) - GaussianNovelty_score(self);
    GaussianNovelty_wipe(self);
    return esvm_is_finite(value[0]) ? status_UNCHANGED : status_NOT_FINITE;
}

ESVM_STATIC void GaussianNovelty_count(char *self, int slot, status_Status status) {
    GaussianNovelty_common->n_seen += 1;
    GaussianNovelty_common->n_updates += status == status_CHANGED;
    GaussianNovelty_n_per_class[slot] += 1;
}

ESVM_STATIC void GaussianNovelty_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = GaussianNovelty_labels_n;
    const signed char *order = GaussianNovelty_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int GaussianNovelty_n_answers(char *self) {
    (void)self;
    return !GaussianNovelty_HAS_scores || GaussianNovelty_labels_n <= 2 ? 1 :
            GaussianNovelty_labels_n;
}

ESVM_STATIC int GaussianNovelty_slot_for(char *self, double value) {
    if (GaussianNovelty_one_class) {
        return value > 0.0;
    }
    if (GaussianNovelty_n_per_class[0] == 0) {
        return 1;
    }
    if (GaussianNovelty_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (GaussianNovelty_labels_sign < 0);
}

ESVM_STATIC status_Status GaussianNovelty_step(char *self, const void *x, double y, double weight) {
    (void)y;
    (void)weight;
    double score;
    int alarm;
    int resting = GaussianNovelty_is_frozen(self) || (GaussianNovelty_alarmed[0] &&
            !GaussianNovelty_learns_all);
    status_Status status = status_UNCHANGED;
    if (!GaussianNovelty_can_keep(self, x)) {
        return status_NOT_FINITE;
    }
    GaussianNovelty_scale(self, x, GaussianNovelty_n_kept(self), 1);
    score = GaussianNovelty_score(self);
    alarm = GaussianNovelty_n_kept(self) >= GaussianNovelty_warm_up && score >
            GaussianNovelty_threshold_now(self);
    if (GaussianNovelty_n_kept(self) >= novelty_SETTLED && !GaussianNovelty_is_frozen(self)) {
        GaussianNovelty_follow_unless_held(self, score, alarm);
    }
    GaussianNovelty_alarmed[0] = alarm ? novelty_CALM : 0 > GaussianNovelty_alarmed[0] - 1 ? 0 :
            GaussianNovelty_alarmed[0] - 1;
    GaussianNovelty_n_alarms[0] += alarm;
    if (!resting && (GaussianNovelty_learns_all || !alarm)) {
        GaussianNovelty_keep(self, x);
        if (GaussianNovelty_n_kept(self) >= novelty_SETTLED) {
            GaussianNovelty_scale(self, x, GaussianNovelty_n_kept(self) + 1, 0);
            GaussianNovelty_learn_scaled(self);
        }
        status = status_CHANGED;
    }
    GaussianNovelty_wipe(self);
    return status;
}

ESVM_STATIC double GaussianNovelty_class_weight(char *self, double y) {
    int slot = !GaussianNovelty_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (GaussianNovelty_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < GaussianNovelty_n_classes; other++) {
            n_classes += GaussianNovelty_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(GaussianNovelty_n_learned(self) + 1, (double)n_classes *
            (GaussianNovelty_n_per_class[slot] + 1));
}

ESVM_STATIC void GaussianNovelty_scale(char *self, const void *x, int64_t n, int bends) {
    esvm_index j;
    double far, variance;
    double share = n ? ESVM_DIVIDE(1.0, n) : 0.0;
    for (j = 0; j < GaussianNovelty_n_features; j++) {
        far = linalg_entry(x, j) - GaussianNovelty_mean[j];
        variance = GaussianNovelty_spread[j] * share;
        if (variance > 0.0) {
            far = bends ? novelty_bent(ESVM_DIVIDE(far, esvm_sqrt(variance))) :
                    novelty_cut(ESVM_DIVIDE(far, esvm_sqrt(variance)));
        } else if (far != 0.0) {
            far = copysign(novelty_CLIP, far);
        }
        linalg_put(GaussianNovelty_scaled, j, far);
    }
}

ESVM_STATIC int64_t GaussianNovelty_n_kept(char *self) {
    return GaussianNovelty_common->n_updates;
}

ESVM_STATIC double GaussianNovelty_threshold_now(char *self) {
    double scale = esvm_sqrt(GaussianNovelty_tail->variance) * (novelty_FIRST_EXCESS +
            GaussianNovelty_tail->excess);
    return GaussianNovelty_level_now(self) + scale * (GaussianNovelty_log_ratio +
            GaussianNovelty_tail->shift);
}

ESVM_STATIC double GaussianNovelty_score(char *self) {
    esvm_index D = GaussianNovelty_n_features;
    const double *y = GaussianNovelty_factor_solution + 1;
    double square;
    if (GaussianNovelty_order == 0) {
        square = linalg_any_dot(GaussianNovelty_scaled, GaussianNovelty_scaled, D);
    } else if (GaussianNovelty_n_fitted(self) == 0) {
        square = 0.0;
    } else {
        GaussianNovelty_forward(self);
        square = (GaussianNovelty_n_fitted(self) + 1) * linalg_dot_f64(y, y, D);
    }
    return esvm_sqrt(ESVM_DIVIDE(square, D));
}

ESVM_STATIC void GaussianNovelty_wipe(char *self) {
    memset(GaussianNovelty_scaled, 0, GaussianNovelty_n_features * linalg_item_bytes());
    if (GaussianNovelty_HAS_scratch) {
        memset(GaussianNovelty_scratch, 0, GaussianNovelty_n_scratch * sizeof(double));
    }
}

ESVM_STATIC int GaussianNovelty_is_frozen(char *self) {
    return 0 < GaussianNovelty_until && GaussianNovelty_until <= GaussianNovelty_n_kept(self);
}

ESVM_STATIC int GaussianNovelty_can_keep(char *self, const void *x) {
    esvm_index j;
    double delta;
    if (!esvm_is_finite(linalg_any_dot(x, x, GaussianNovelty_n_features))) {
        return 0;
    }
    for (j = 0; j < GaussianNovelty_n_features; j++) {
        delta = linalg_entry(x, j) - GaussianNovelty_mean[j];
        if (!esvm_is_finite(GaussianNovelty_spread[j] + delta * delta)) {
            return 0;
        }
    }
    return 1;
}

ESVM_STATIC void GaussianNovelty_follow_unless_held(char *self, double score, int alarm) {
    if (GaussianNovelty_learns_all || !(alarm || GaussianNovelty_alarmed[0])) {
        GaussianNovelty_follow(self, score);
    } else if (alarm && !GaussianNovelty_alarmed[0]) {
        GaussianNovelty_tail->held = score;
    } else if (!alarm && GaussianNovelty_alarmed[0] == 1) {
        GaussianNovelty_follow(self, GaussianNovelty_tail->held);
        GaussianNovelty_tail->held = 0.0;
    }
}

ESVM_STATIC void GaussianNovelty_keep(char *self, const void *x) {
    esvm_index j;
    double share = ESVM_DIVIDE(1.0, GaussianNovelty_n_kept(self) + 1);
    for (j = 0; j < GaussianNovelty_n_features; j++) {
        moments_welford(linalg_entry(x, j), share, GaussianNovelty_mean[j],
                GaussianNovelty_spread[j], GaussianNovelty_mean + j, GaussianNovelty_spread + j);
    }
}

ESVM_STATIC void GaussianNovelty_learn_scaled(char *self) {
    packed_factor_PackedFactor factor_ = GaussianNovelty_factor_of(self);
    esvm_index j;
    if (GaussianNovelty_order == 0) {
        return;
    }
    if (GaussianNovelty_n_fitted(self) == 0) {
        for (j = 0; j < GaussianNovelty_order; j++) {
            GaussianNovelty_factor_pool[packed_factor_packed(j) + j] = 1.0;
        }
    }
    GaussianNovelty_forward(self);
    packed_factor_factor_add_outer(&factor_, 1.0);
}

ESVM_STATIC double GaussianNovelty_level_now(char *self) {
    return GaussianNovelty_tail->mean + esvm_sqrt(GaussianNovelty_tail->variance) *
            (novelty_Z_ABOVE + GaussianNovelty_tail->level);
}

ESVM_STATIC int64_t GaussianNovelty_n_fitted(char *self) {
    return 0 > GaussianNovelty_n_kept(self) - novelty_SETTLED ? 0 : GaussianNovelty_n_kept(self) -
            novelty_SETTLED;
}

ESVM_STATIC void GaussianNovelty_forward(char *self) {
    packed_factor_PackedFactor factor_ = GaussianNovelty_factor_of(self);
    esvm_index j;
    for (j = 0; j < GaussianNovelty_order; j++) {
        GaussianNovelty_factor_border[1 + j] = linalg_entry(GaussianNovelty_scaled, j);
    }
    packed_factor_factor_forward(&factor_);
}

ESVM_STATIC void GaussianNovelty_follow(char *self, double score) {
    novelty_Tail *t = GaussianNovelty_tail;
    int64_t n = GaussianNovelty_n_scored[0];
    double level = GaussianNovelty_level_now(self);
    double deviation = esvm_sqrt(t->variance);
    double share, far;
    int above = score > level;
    int alarm = score > GaussianNovelty_threshold_now(self);
    if (deviation > 0.0) {
        t->shift += ESVM_DIVIDE(2.0 * (ESVM_DIVIDE(alarm, GaussianNovelty_rate) - 1.0), n +
                novelty_ALARMS_AFTER / GaussianNovelty_rate);
        t->shift = esvm_max(t->shift, -GaussianNovelty_log_ratio);
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
    GaussianNovelty_n_scored[0] = n + 1;
}

#endif

#endif
