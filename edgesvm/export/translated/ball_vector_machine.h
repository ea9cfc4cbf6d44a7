/* Translated from edgesvm/learners/papers/enclosing/_ball_vector_machine.*: change that, then `make translate`. */

#ifndef EDGESVM_BALL_VECTOR_MACHINE_H
#define EDGESVM_BALL_VECTOR_MACHINE_H

#include "floor.h"
#include "core.h"
#include "enclosing.h"
#include "kernels.h"
#include "linalg.h"
#include "row_cache.h"
#include "status.h"
#include "tiles.h"

#ifdef BallVectorMachine_n_features

#define BallVectorMachine_common ((core_Common *)self)
#define BallVectorMachine_n_per_class ((int64_t *)(self + BallVectorMachine_AT_n_per_class))
#define BallVectorMachine_scores ((double *)ESVM_SCRATCH(BallVectorMachine_AT_scores))
#define BallVectorMachine_n_core ((int64_t *)(self + BallVectorMachine_AT_n_core))
#define BallVectorMachine_n_iter ((int64_t *)(self + BallVectorMachine_AT_n_iter))
#define BallVectorMachine_n_given_up ((int64_t *)(self + BallVectorMachine_AT_n_given_up))
#define BallVectorMachine_converged ((int64_t *)(self + BallVectorMachine_AT_converged))
#define BallVectorMachine_square ((double *)(self + BallVectorMachine_AT_square))
#define BallVectorMachine_intercept ((double *)(self + BallVectorMachine_AT_intercept))
#define BallVectorMachine_rows_data ((char *)(self + BallVectorMachine_AT_rows))
#define BallVectorMachine_beta ((double *)(self + BallVectorMachine_AT_beta))
#define BallVectorMachine_sign ((double *)(self + BallVectorMachine_AT_sign))
#define BallVectorMachine_own ((double *)(self + BallVectorMachine_AT_own))
#define BallVectorMachine_number ((int64_t *)(self + BallVectorMachine_AT_number))
#define BallVectorMachine_point ((char *)ESVM_SCRATCH(BallVectorMachine_AT_point))
#define BallVectorMachine_cache_block ((float *)(self + BallVectorMachine_AT_cache))
#define BallVectorMachine_cache_slot ((int32_t *)(self + BallVectorMachine_AT_slot))
#define BallVectorMachine_cache_owner ((int32_t *)(self + BallVectorMachine_AT_owner))
#define BallVectorMachine_cache_filled ((int32_t *)(self + BallVectorMachine_AT_filled))
#define BallVectorMachine_cache_used ((int64_t *)(self + BallVectorMachine_AT_used))
#define BallVectorMachine_block_rows_data ((char *)(self + BallVectorMachine_AT_block_rows))
#define BallVectorMachine_block_f ((double *)(self + BallVectorMachine_AT_block_f))
#define BallVectorMachine_block_sign ((double *)(self + BallVectorMachine_AT_block_sign))
#define BallVectorMachine_block_own ((double *)(self + BallVectorMachine_AT_block_own))
#define BallVectorMachine_block_number ((int64_t *)(self + BallVectorMachine_AT_block_number))
#define BallVectorMachine_block_row ((float *)(self + BallVectorMachine_AT_block_row))
#define BallVectorMachine_near_margin ((double *)(self + BallVectorMachine_AT_near_margin))
#define BallVectorMachine_near_number ((int64_t *)(self + BallVectorMachine_AT_near_number))
#define BallVectorMachine_f ((double *)(self + BallVectorMachine_AT_f))
#define BallVectorMachine_lift ((double *)(self + BallVectorMachine_AT_lift))
#define BallVectorMachine_shrunk ((double *)(self + BallVectorMachine_AT_shrunk))
#define BallVectorMachine_rows_width (BallVectorMachine_n_features)
#define BallVectorMachine_rows_present (NULL)
#define BallVectorMachine_cache_n_floats (BallVectorMachine_LEN_cache)
#define BallVectorMachine_block_rows_width (BallVectorMachine_n_features)
#define BallVectorMachine_block_rows_present (NULL)
#define BallVectorMachine_block_room (BallVectorMachine_LEN_block_f)
#define BallVectorMachine_near_room (BallVectorMachine_LEN_near_number)

static const kernels_Kernel BallVectorMachine_kernel = BallVectorMachine_KERNEL;

ESVM_STATIC tiles_Tiles BallVectorMachine_rows_of(char *self) {
    tiles_Tiles made;
    (void)self;
    made.data = BallVectorMachine_rows_data;
    made.width = BallVectorMachine_rows_width;
    made.is_float32 = ESVM_IS_FLOAT32;
    made.present = BallVectorMachine_rows_present;
    return made;
}

ESVM_STATIC row_cache_RowCache BallVectorMachine_cache_of(char *self) {
    row_cache_RowCache made;
    (void)self;
    made.block = BallVectorMachine_cache_block;
    made.n_floats = BallVectorMachine_cache_n_floats;
    made.stride = 0;
    made.n_slots = 0;
    made.n_used = 0;
    made.clock = 0;
    made.touched = 0;
    made.n_missed = 0;
    made.slot = BallVectorMachine_cache_slot;
    made.owner = BallVectorMachine_cache_owner;
    made.filled = BallVectorMachine_cache_filled;
    made.used = BallVectorMachine_cache_used;
    return made;
}

ESVM_STATIC tiles_Tiles BallVectorMachine_block_rows_of(char *self) {
    tiles_Tiles made;
    (void)self;
    made.data = BallVectorMachine_block_rows_data;
    made.width = BallVectorMachine_block_rows_width;
    made.is_float32 = ESVM_IS_FLOAT32;
    made.present = BallVectorMachine_block_rows_present;
    return made;
}

ESVM_STATIC enclosing_Block BallVectorMachine_block_of(char *self) {
    enclosing_Block made;
    (void)self;
    made.n = 0;
    made.room = BallVectorMachine_block_room;
    made.rows = BallVectorMachine_block_rows_of(self);
    made.f = BallVectorMachine_block_f;
    made.sign = BallVectorMachine_block_sign;
    made.own = BallVectorMachine_block_own;
    made.number = BallVectorMachine_block_number;
    made.row = BallVectorMachine_block_row;
    return made;
}

typedef struct {
    int streaming;
    int is_full;
    int64_t budget;
    int64_t n_taken;
    row_cache_RowCache cache;
    enclosing_Block block;
    int64_t n_near;
    int watching;
    int has_cache;
    int64_t first;
} BallVectorMachine_Step;

ESVM_STATIC BallVectorMachine_Step BallVectorMachine_step_of(char *self) {
    BallVectorMachine_Step made;
    (void)self;
    made.streaming = 0;
    made.is_full = 0;
    made.budget = 0;
    made.n_taken = 0;
    made.cache = BallVectorMachine_cache_of(self);
    made.block = BallVectorMachine_block_of(self);
    made.n_near = 0;
    made.watching = 0;
    made.has_cache = 0;
    made.first = -1;
    return made;
}

ESVM_STATIC status_Status BallVectorMachine_learn_row(char *self, const void *x, int slot,
        double weight);
ESVM_STATIC status_Status BallVectorMachine_answer(char *self, const void *x, double *out);
ESVM_STATIC int BallVectorMachine_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t BallVectorMachine_n_learned(char *self);
ESVM_STATIC status_Status BallVectorMachine_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status BallVectorMachine_decide(char *self, const void *x, double *value);
ESVM_STATIC void BallVectorMachine_take(char *self, BallVectorMachine_Step *now, esvm_index p,
        double f);
ESVM_STATIC void BallVectorMachine_count(char *self, int slot, status_Status status);
ESVM_STATIC void BallVectorMachine_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int BallVectorMachine_n_answers(char *self);
ESVM_STATIC int BallVectorMachine_slot_for(char *self, double value);
ESVM_STATIC status_Status BallVectorMachine_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC double BallVectorMachine_class_weight(char *self, double y);
ESVM_STATIC int BallVectorMachine_make_point(char *self, const void *x);
ESVM_STATIC double BallVectorMachine_output(char *self);
ESVM_STATIC double BallVectorMachine_length(char *self, esvm_index p);
ESVM_STATIC void BallVectorMachine_move(char *self, BallVectorMachine_Step *now, esvm_index p,
        double keep);
ESVM_STATIC void BallVectorMachine_move_to(char *self, BallVectorMachine_Step *now, esvm_index p);
ESVM_STATIC status_Status BallVectorMachine_load(char *self, BallVectorMachine_Step *now,
        const void *x, double y, double weight, int64_t number);
ESVM_STATIC int BallVectorMachine_improve(char *self, BallVectorMachine_Step *now);
ESVM_STATIC void BallVectorMachine_conclude(char *self, BallVectorMachine_Step *now);
ESVM_STATIC double BallVectorMachine_square_norm(char *self, const void *x);
ESVM_STATIC void BallVectorMachine_scale_point(char *self, double scale);
ESVM_STATIC double BallVectorMachine_k(char *self, const void *x, const void *z);
ESVM_STATIC const float *BallVectorMachine_row_of(char *self, BallVectorMachine_Step *now,
        esvm_index p);
ESVM_STATIC void BallVectorMachine_move_block(char *self, BallVectorMachine_Step *now,
        esvm_index p, double keep, double gain);
ESVM_STATIC void BallVectorMachine_widen(char *self);
ESVM_STATIC int BallVectorMachine_skips_core(char *self);
ESVM_STATIC int BallVectorMachine_is_core(char *self, int64_t number);
ESVM_STATIC int BallVectorMachine_settle(char *self, BallVectorMachine_Step *now);
ESVM_STATIC esvm_index BallVectorMachine_farthest(char *self, BallVectorMachine_Step *now);
ESVM_STATIC void BallVectorMachine_append_outside(char *self, BallVectorMachine_Step *now,
        esvm_index t);
ESVM_STATIC int BallVectorMachine_make_room(char *self, BallVectorMachine_Step *now);
ESVM_STATIC void BallVectorMachine_clear_block(char *self, BallVectorMachine_Step *now);
ESVM_STATIC void BallVectorMachine_clear_near(char *self, BallVectorMachine_Step *now);
ESVM_STATIC void BallVectorMachine_wipe(char *self, BallVectorMachine_Step *now);
ESVM_STATIC double BallVectorMachine_threshold(char *self);
ESVM_STATIC double BallVectorMachine_limit(char *self);
ESVM_STATIC void BallVectorMachine_append(char *self, BallVectorMachine_Step *now, esvm_index t);
ESVM_STATIC int BallVectorMachine_in_bulk(char *self);
ESVM_STATIC esvm_index BallVectorMachine_lightest(char *self);
ESVM_STATIC void BallVectorMachine_remove(char *self, esvm_index q);
ESVM_STATIC void BallVectorMachine_recompute_block(char *self, BallVectorMachine_Step *now);
ESVM_STATIC double BallVectorMachine_level(char *self);
ESVM_STATIC double BallVectorMachine_allowed(char *self);
ESVM_STATIC double BallVectorMachine_square_length(char *self);

ESVM_STATIC status_Status BallVectorMachine_learn_row(char *self, const void *x, int slot,
        double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        BallVectorMachine_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = BallVectorMachine_weighed_step(self, x, !BallVectorMachine_HAS_scores ? 2 * slot - 1 :
            slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    BallVectorMachine_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status BallVectorMachine_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!BallVectorMachine_HAS_scores) {
        status = BallVectorMachine_decide(self, x, out);
        out[0] *= BallVectorMachine_labels_sign;
        return status;
    }
    status = BallVectorMachine_decide(self, x, BallVectorMachine_HAS_scores ?
            BallVectorMachine_scores : NULL);
    BallVectorMachine_in_order(self, BallVectorMachine_HAS_scores ? BallVectorMachine_scores :
            NULL, out);
    memset(BallVectorMachine_scores, 0, BallVectorMachine_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int BallVectorMachine_winner(char *self, const double *answers, double *score) {
    int i;
    int n = BallVectorMachine_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!BallVectorMachine_HAS_scores) {
        return BallVectorMachine_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return BallVectorMachine_labels_order[BallVectorMachine_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return BallVectorMachine_labels_order[best];
}

ESVM_STATIC int64_t BallVectorMachine_n_learned(char *self) {
    int64_t total = BallVectorMachine_n_per_class[0] + BallVectorMachine_n_per_class[1];
    int slot;
    for (slot = 2; slot < BallVectorMachine_n_classes; slot++) {
        total += BallVectorMachine_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status BallVectorMachine_weighed_step(char *self, const void *x, double y,
        double weight) {
    return BallVectorMachine_step(self, x, y, BallVectorMachine_balanced ? weight *
            BallVectorMachine_class_weight(self, y) : weight);
}

ESVM_STATIC status_Status BallVectorMachine_decide(char *self, const void *x, double *value) {
    int fine = BallVectorMachine_make_point(self, x);
    value[0] = fine ? BallVectorMachine_output(self) : 0.0;
    memset(BallVectorMachine_point, 0, BallVectorMachine_row_bytes);
    return fine && esvm_is_finite(value[0]) ? status_UNCHANGED : status_NOT_FINITE;
}

ESVM_STATIC void BallVectorMachine_take(char *self, BallVectorMachine_Step *now, esvm_index p,
        double f) {
    BallVectorMachine_f[p] = f;
    if (p == 0) {
        BallVectorMachine_lift[0] = BallVectorMachine_lifted ? BallVectorMachine_length(self, 0) -
                BallVectorMachine_shrunk[0] : 0.0;
        BallVectorMachine_move(self, now, 0, 0.0);
    } else {
        BallVectorMachine_move_to(self, now, p);
    }
}

ESVM_STATIC void BallVectorMachine_count(char *self, int slot, status_Status status) {
    BallVectorMachine_common->n_seen += 1;
    BallVectorMachine_common->n_updates += status == status_CHANGED;
    BallVectorMachine_n_per_class[slot] += 1;
}

ESVM_STATIC void BallVectorMachine_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = BallVectorMachine_labels_n;
    const signed char *order = BallVectorMachine_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int BallVectorMachine_n_answers(char *self) {
    (void)self;
    return !BallVectorMachine_HAS_scores || BallVectorMachine_labels_n <= 2 ? 1 :
            BallVectorMachine_labels_n;
}

ESVM_STATIC int BallVectorMachine_slot_for(char *self, double value) {
    if (BallVectorMachine_one_class) {
        return value > 0.0;
    }
    if (BallVectorMachine_n_per_class[0] == 0) {
        return 1;
    }
    if (BallVectorMachine_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (BallVectorMachine_labels_sign < 0);
}

ESVM_STATIC status_Status BallVectorMachine_step(char *self, const void *x, double y,
        double weight) {
    BallVectorMachine_Step here = BallVectorMachine_step_of(self), *now = &here;
    int64_t before = BallVectorMachine_n_iter[0] + now->n_taken;
    status_Status status;
    now->budget = BallVectorMachine_max_iter;
    now->streaming = 1;
    now->is_full = 0;
    status = BallVectorMachine_load(self, now, x, y, weight, BallVectorMachine_common->n_seen);
    if (status == status_CHANGED) {
        BallVectorMachine_block_f[0] = y * BallVectorMachine_output(self);
    }
    while (status == status_CHANGED && BallVectorMachine_improve(self, now)) {
    }
    BallVectorMachine_conclude(self, now);
    if (status != status_CHANGED) {
        return status;
    }
    if (BallVectorMachine_n_iter[0] + now->n_taken > before || now->is_full) {
        BallVectorMachine_converged[0] = 0;
    }
    return BallVectorMachine_n_iter[0] + now->n_taken > before ? status_CHANGED : status_UNCHANGED;
}

ESVM_STATIC double BallVectorMachine_class_weight(char *self, double y) {
    int slot = !BallVectorMachine_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (BallVectorMachine_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < BallVectorMachine_n_classes; other++) {
            n_classes += BallVectorMachine_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(BallVectorMachine_n_learned(self) + 1, (double)n_classes *
            (BallVectorMachine_n_per_class[slot] + 1));
}

ESVM_STATIC int BallVectorMachine_make_point(char *self, const void *x) {
    double xx = BallVectorMachine_square_norm(self, x);
    if (!esvm_is_finite(xx)) {
        return 0;
    }
    memcpy(BallVectorMachine_point, x, BallVectorMachine_row_bytes);
    if (BallVectorMachine_normalize && xx > 0.0) {
        BallVectorMachine_scale_point(self, ESVM_DIVIDE(1.0, esvm_sqrt(xx)));
    }
    return 1;
}

ESVM_STATIC double BallVectorMachine_output(char *self) {
    tiles_Tiles rows_ = BallVectorMachine_rows_of(self);
    return BallVectorMachine_intercept[0] + tiles_weighted_kernel(&rows_,
            &BallVectorMachine_kernel, BallVectorMachine_point, BallVectorMachine_n_core[0],
            BallVectorMachine_beta);
}

ESVM_STATIC double BallVectorMachine_length(char *self, esvm_index p) {
    tiles_Tiles rows_ = BallVectorMachine_rows_of(self);
    tiles_get_row(&rows_, p, BallVectorMachine_point);
    return BallVectorMachine_k(self, BallVectorMachine_point, BallVectorMachine_point) + 1.0 +
            BallVectorMachine_own[p];
}

ESVM_STATIC void BallVectorMachine_move(char *self, BallVectorMachine_Step *now, esvm_index p,
        double keep) {
    double f = BallVectorMachine_f[p];
    double y = BallVectorMachine_sign[p];
    double k_pp = BallVectorMachine_length(self, p);
    double gain = 1.0 - keep;
    BallVectorMachine_square[0] = keep * keep * BallVectorMachine_square[0] + gain * (2.0 * keep *
            f + gain * k_pp);
    BallVectorMachine_intercept[0] = keep * BallVectorMachine_intercept[0] + gain * y;
    BallVectorMachine_f[p] = ESVM_INFINITY;
    now->first = ball_pass(BallVectorMachine_beta, BallVectorMachine_f, BallVectorMachine_sign,
            BallVectorMachine_row_of(self, now, p), keep, gain * y, BallVectorMachine_n_core[0]);
    BallVectorMachine_f[p] = keep * f + gain * k_pp;
    BallVectorMachine_beta[p] += gain * y;
    if (now->first < 0 || BallVectorMachine_f[p] < BallVectorMachine_f[now->first]) {
        now->first = p;
    }
    BallVectorMachine_move_block(self, now, p, keep, gain * y);
    BallVectorMachine_n_iter[0] += 1;
    now->budget -= 1;
}

ESVM_STATIC void BallVectorMachine_move_to(char *self, BallVectorMachine_Step *now, esvm_index p) {
    if (now->streaming) {
        BallVectorMachine_widen(self);
    }
    double k_pp = BallVectorMachine_length(self, p);
    double square = BallVectorMachine_square[0] + BallVectorMachine_lift[0] - 2.0 *
            BallVectorMachine_f[p] + k_pp;
    double keep = esvm_sqrt(ESVM_DIVIDE(esvm_max(k_pp - BallVectorMachine_shrunk[0], 0.0), square));
    BallVectorMachine_lift[0] *= keep * keep;
    BallVectorMachine_move(self, now, p, keep);
}

ESVM_STATIC status_Status BallVectorMachine_load(char *self, BallVectorMachine_Step *now,
        const void *x, double y, double weight, int64_t number) {
    enclosing_Block *block = &now->block;
    esvm_index i = block->n;
    double own = ESVM_DIVIDE(1.0, BallVectorMachine_C * weight);
    if (BallVectorMachine_skips_core(self) && BallVectorMachine_is_core(self, number)) {
        return status_CHANGED;
    }
    if (!BallVectorMachine_make_point(self, x)) {
        return status_NOT_FINITE;
    }
    if (!(0.0 < own && own <= enclosing_LARGEST)) {
        return status_BAD_WEIGHT;
    }
    tiles_put_row(&block->rows, i, BallVectorMachine_point);
    block->sign[i] = y;
    block->number[i] = number;
    block->own[i] = own;
    block->n += 1;
    return status_CHANGED;
}

ESVM_STATIC int BallVectorMachine_improve(char *self, BallVectorMachine_Step *now) {
    esvm_index t;
    if (now->budget <= 0) {
        return 0;
    }
    if (BallVectorMachine_settle(self, now)) {
        return 1;
    }
    t = BallVectorMachine_farthest(self, now);
    if (t < 0) {
        return 0;
    }
    if (BallVectorMachine_n_core[0] < BallVectorMachine_max_core) {
        BallVectorMachine_append_outside(self, now, t);
        return 1;
    }
    now->is_full = !BallVectorMachine_make_room(self, now);
    return !now->is_full;
}

ESVM_STATIC void BallVectorMachine_conclude(char *self, BallVectorMachine_Step *now) {
    BallVectorMachine_clear_block(self, now);
    BallVectorMachine_clear_near(self, now);
    BallVectorMachine_wipe(self, now);
}

ESVM_STATIC double BallVectorMachine_square_norm(char *self, const void *x) {
    (void)self;
    return linalg_any_dot(x, x, BallVectorMachine_n_features);
}

ESVM_STATIC void BallVectorMachine_scale_point(char *self, double scale) {
    esvm_index d;
    for (d = 0; d < BallVectorMachine_n_features; d++) {
#if ESVM_IS_FLOAT32
        ((float *)BallVectorMachine_point)[d] = (float)(((float *)BallVectorMachine_point)[d] *
                scale);
#else
        ((double *)BallVectorMachine_point)[d] *= scale;
#endif
    }
}

ESVM_STATIC double BallVectorMachine_k(char *self, const void *x, const void *z) {
    (void)self;
    return kernels_any_kernel_value(&BallVectorMachine_kernel, x, z, BallVectorMachine_n_features);
}

ESVM_STATIC const float *BallVectorMachine_row_of(char *self, BallVectorMachine_Step *now,
        esvm_index p) {
    tiles_Tiles rows_ = BallVectorMachine_rows_of(self);
    row_cache_RowCache *cache = &now->cache;
    esvm_index n = BallVectorMachine_n_core[0];
    esvm_index k;
    if (!now->has_cache) {
        row_cache_cache_begin(cache, row_cache_padded(BallVectorMachine_max_core) <
                row_cache_padded(n + n / 4) ? row_cache_padded(BallVectorMachine_max_core) :
                row_cache_padded(n + n / 4), BallVectorMachine_max_core);
        now->has_cache = 1;
    } else if (cache->stride < n) {
        row_cache_cache_cut(cache, row_cache_padded(BallVectorMachine_max_core) <
                row_cache_padded(n + n / 4) ? row_cache_padded(BallVectorMachine_max_core) :
                row_cache_padded(n + n / 4), BallVectorMachine_max_core);
    }
    k = row_cache_cache_slot(cache, p);
    if (cache->filled[k] < n) {
        tiles_get_row(&rows_, p, BallVectorMachine_point);
        tiles_kernel_row(&rows_, &BallVectorMachine_kernel, BallVectorMachine_point,
                cache->filled[k], n, row_cache_cache_row(cache, k));
        cache->filled[k] = (int)n;
    }
    return row_cache_cache_row(cache, k);
}

ESVM_STATIC void BallVectorMachine_move_block(char *self, BallVectorMachine_Step *now,
        esvm_index p, double keep, double gain) {
    tiles_Tiles rows_ = BallVectorMachine_rows_of(self);
    enclosing_Block *block = &now->block;
    esvm_index i;
    if (block->n == 0) {
        return;
    }
    tiles_get_row(&rows_, p, BallVectorMachine_point);
    tiles_kernel_row(&block->rows, &BallVectorMachine_kernel, BallVectorMachine_point, 0, block->n,
            block->row);
    esvm_index t1_ = block->n;
    for (i = 0; i < t1_; i++) {
        if (block->f[i] < ESVM_INFINITY) {
            block->f[i] = keep * block->f[i] + gain * block->sign[i] * (block->row[i] + 1.0);
        }
    }
}

ESVM_STATIC void BallVectorMachine_widen(char *self) {
    BallVectorMachine_lift[0] += BallVectorMachine_shrunk[0];
    BallVectorMachine_shrunk[0] = 0.0;
}

ESVM_STATIC int BallVectorMachine_skips_core(char *self) {
    (void)self;
    return 0;
}

ESVM_STATIC int BallVectorMachine_is_core(char *self, int64_t number) {
    esvm_index p;
    int found = 0;
    esvm_index t1_ = BallVectorMachine_n_core[0];
    for (p = 0; p < t1_; p++) {
        found |= BallVectorMachine_number[p] == number;
    }
    return found;
}

ESVM_STATIC int BallVectorMachine_settle(char *self, BallVectorMachine_Step *now) {
    esvm_index p;
    if (BallVectorMachine_n_core[0] == 0) {
        return 0;
    }
    if (now->first < 0) {
        now->first = 0;
        esvm_index t1_ = BallVectorMachine_n_core[0];
        for (p = 1; p < t1_; p++) {
            if (BallVectorMachine_f[p] < BallVectorMachine_f[now->first]) {
                now->first = p;
            }
        }
    }
    if (!(BallVectorMachine_f[now->first] < BallVectorMachine_threshold(self))) {
        return 0;
    }
    BallVectorMachine_move_to(self, now, now->first);
    return 1;
}

ESVM_STATIC esvm_index BallVectorMachine_farthest(char *self, BallVectorMachine_Step *now) {
    enclosing_Block *block = &now->block;
    double least = BallVectorMachine_n_core[0] == 0 ? ESVM_INFINITY : BallVectorMachine_limit(self);
    esvm_index i;
    esvm_index t = 0;
    while (t >= 0) {
        t = -1;
        esvm_index t1_ = block->n;
        for (i = 0; i < t1_; i++) {
            if (block->f[i] < (t < 0 ? least : block->f[t])) {
                t = i;
            }
        }
        if (t < 0 || !BallVectorMachine_is_core(self, block->number[t])) {
            return t;
        }
        block->f[t] = ESVM_INFINITY;
    }
    return -1;
}

ESVM_STATIC void BallVectorMachine_append_outside(char *self, BallVectorMachine_Step *now,
        esvm_index t) {
    BallVectorMachine_append(self, now, t);
    while (BallVectorMachine_in_bulk(self) && (1 < BallVectorMachine_n_core[0] &&
            BallVectorMachine_n_core[0] < BallVectorMachine_max_core)) {
        t = BallVectorMachine_farthest(self, now);
        if (t < 0) {
            return;
        }
        BallVectorMachine_append(self, now, t);
    }
}

ESVM_STATIC int BallVectorMachine_make_room(char *self, BallVectorMachine_Step *now) {
    esvm_index q, j;
    esvm_index last = BallVectorMachine_n_core[0] - 1;
    double a, rest;
    const float *row;
    if (!now->streaming) {
        return 0;
    }
    q = BallVectorMachine_lightest(self);
    a = fabs(BallVectorMachine_beta[q]);
    rest = 1.0 - a;
    row = BallVectorMachine_row_of(self, now, q);
    BallVectorMachine_square[0] = ESVM_DIVIDE(esvm_max(BallVectorMachine_square[0] - 2.0 * a *
            BallVectorMachine_f[q] + a * a * BallVectorMachine_length(self, q), 0.0), rest * rest);
    BallVectorMachine_intercept[0] = ESVM_DIVIDE(BallVectorMachine_intercept[0] -
            BallVectorMachine_beta[q], rest);
    for (j = 0; j < last + 1; j++) {
        BallVectorMachine_f[j] = ESVM_DIVIDE(BallVectorMachine_f[j] - BallVectorMachine_beta[q] *
                BallVectorMachine_sign[j] * (row[j] + 1.0), rest);
        if (j != q) {
            BallVectorMachine_beta[j] = ESVM_DIVIDE(BallVectorMachine_beta[j], rest);
        }
    }
    BallVectorMachine_f[q] = BallVectorMachine_f[last];
    BallVectorMachine_f[last] = 0.0;
    BallVectorMachine_remove(self, q);
    BallVectorMachine_wipe(self, now);
    BallVectorMachine_recompute_block(self, now);
    BallVectorMachine_n_given_up[0] += 1;
    return 1;
}

ESVM_STATIC void BallVectorMachine_clear_block(char *self, BallVectorMachine_Step *now) {
    enclosing_Block *block = &now->block;
    esvm_index i;
    memset(BallVectorMachine_point, 0, BallVectorMachine_row_bytes);
    tiles_clear_rows(&block->rows, block->n);
    esvm_index t1_ = block->n;
    for (i = 0; i < t1_; i++) {
        block->f[i] = 0.0;
        block->sign[i] = 0.0;
        block->own[i] = 0.0;
        block->number[i] = 0;
    }
    memset(block->row, 0, row_cache_padded(block->n) * sizeof(float));
    block->n = 0;
}

ESVM_STATIC void BallVectorMachine_clear_near(char *self, BallVectorMachine_Step *now) {
    memset(BallVectorMachine_near_margin, 0, now->n_near * sizeof(double));
    memset(BallVectorMachine_near_number, 0, now->n_near * sizeof(int64_t));
    now->n_near = 0;
    now->watching = 0;
}

ESVM_STATIC void BallVectorMachine_wipe(char *self, BallVectorMachine_Step *now) {
    (void)self;
    now->first = -1;
    if (now->has_cache) {
        row_cache_cache_wipe(&now->cache, BallVectorMachine_max_core);
        now->has_cache = 0;
    }
}

ESVM_STATIC double BallVectorMachine_threshold(char *self) {
    return BallVectorMachine_level(self) - BallVectorMachine_allowed(self);
}

ESVM_STATIC double BallVectorMachine_limit(char *self) {
    return BallVectorMachine_threshold(self);
}

ESVM_STATIC void BallVectorMachine_append(char *self, BallVectorMachine_Step *now, esvm_index t) {
    tiles_Tiles rows_ = BallVectorMachine_rows_of(self);
    enclosing_Block *block = &now->block;
    esvm_index p = BallVectorMachine_n_core[0];
    double f = block->f[t];
    tiles_get_row(&block->rows, t, BallVectorMachine_point);
    tiles_put_row(&rows_, p, BallVectorMachine_point);
    double t1_ = block->sign[t];
    double t2_ = block->own[t];
    BallVectorMachine_sign[p] = t1_;
    BallVectorMachine_own[p] = t2_;
    BallVectorMachine_number[p] = block->number[t];
    BallVectorMachine_beta[p] = 0.0;
    BallVectorMachine_n_core[0] = p + 1;
    now->n_taken += 1;
    block->f[t] = ESVM_INFINITY;
    BallVectorMachine_take(self, now, p, f);
}

ESVM_STATIC int BallVectorMachine_in_bulk(char *self) {
    (void)self;
    return 0;
}

ESVM_STATIC esvm_index BallVectorMachine_lightest(char *self) {
    esvm_index p;
    esvm_index q = 0;
    esvm_index t1_ = BallVectorMachine_n_core[0];
    for (p = 1; p < t1_; p++) {
        if (fabs(BallVectorMachine_beta[p]) < fabs(BallVectorMachine_beta[q])) {
            q = p;
        }
    }
    return q;
}

ESVM_STATIC void BallVectorMachine_remove(char *self, esvm_index q) {
    tiles_Tiles rows_ = BallVectorMachine_rows_of(self);
    esvm_index last = BallVectorMachine_n_core[0] - 1;
    tiles_get_row(&rows_, last, BallVectorMachine_point);
    tiles_put_row(&rows_, q, BallVectorMachine_point);
    memset(BallVectorMachine_point, 0, BallVectorMachine_row_bytes);
    tiles_put_row(&rows_, last, BallVectorMachine_point);
    double t1_ = BallVectorMachine_sign[last];
    double t2_ = BallVectorMachine_own[last];
    BallVectorMachine_sign[q] = t1_;
    BallVectorMachine_own[q] = t2_;
    int64_t t3_ = BallVectorMachine_number[last];
    double t4_ = BallVectorMachine_beta[last];
    BallVectorMachine_number[q] = t3_;
    BallVectorMachine_beta[q] = t4_;
    BallVectorMachine_sign[last] = 0.0;
    BallVectorMachine_own[last] = 0.0;
    BallVectorMachine_beta[last] = 0.0;
    BallVectorMachine_number[last] = 0;
    BallVectorMachine_n_core[0] = last;
}

ESVM_STATIC void BallVectorMachine_recompute_block(char *self, BallVectorMachine_Step *now) {
    enclosing_Block *block = &now->block;
    esvm_index i;
    esvm_index t1_ = block->n;
    for (i = 0; i < t1_; i++) {
        if (block->f[i] < ESVM_INFINITY) {
            tiles_get_row(&block->rows, i, BallVectorMachine_point);
            block->f[i] = block->sign[i] * BallVectorMachine_output(self);
        }
    }
}

ESVM_STATIC double BallVectorMachine_level(char *self) {
    return 0.5 * (BallVectorMachine_square[0] + BallVectorMachine_lift[0] +
            BallVectorMachine_shrunk[0]);
}

ESVM_STATIC double BallVectorMachine_allowed(char *self) {
    double square = BallVectorMachine_square_length(self);
    double slack = 0.5 * (2.0 + BallVectorMachine_epsilon) * BallVectorMachine_epsilon * square;
    if (BallVectorMachine_margin_tol == ESVM_INFINITY) {
        return slack;
    }
    return esvm_min(slack, esvm_max(BallVectorMachine_margin_tol * BallVectorMachine_level(self),
            enclosing_FINEST * square));
}

ESVM_STATIC double BallVectorMachine_square_length(char *self) {
    return BallVectorMachine_kappa - BallVectorMachine_shrunk[0];
}

#endif

#endif
