/* Translated from edgesvm/learners/twin/_twin_vector_machine.*: change that, then `make translate`. */

#ifndef EDGESVM_TWIN_VECTOR_MACHINE_H
#define EDGESVM_TWIN_VECTOR_MACHINE_H

#include "floor.h"
#include "core.h"
#include "kernels.h"
#include "linalg.h"
#include "margin_set.h"
#include "packed_factor.h"
#include "path.h"
#include "rows.h"
#include "status.h"
#include "tiles.h"

#define twin_vector_machine_LEAST_WEIGHT 1e-100
#define twin_vector_machine_LARGEST_WEIGHT 1e+100
#define twin_vector_machine_EDGE 1e-09
typedef struct {
    int64_t n_accepted;
    int64_t n_absorbed;
    int64_t n_merged;
    int64_t n_removed;
    int64_t n_rejected;
    int64_t n_forced;
} twin_vector_machine_Counters;
enum {
    twin_vector_machine_CANDIDATES = 64
};
typedef struct {
    double distortion;
    int64_t i;
    int64_t j;
} twin_vector_machine_Pair;
#define twin_vector_machine_MAX_DISTORTION 1e300
#define twin_vector_machine_TIE 1e-09
#define twin_vector_machine_MAX_SHIFT 1.0
#define twin_vector_machine_PLACES 33
#define twin_vector_machine_SECTIONS 18
#define twin_vector_machine_GOLDEN 0.6180339887498949

ESVM_STATIC void twin_vector_machine_between_f32(const float *x, const float *z, double part,
        float *q, esvm_index n_features);
ESVM_STATIC void twin_vector_machine_between_f64(const double *x, const double *z, double part,
        double *q, esvm_index n_features);

ESVM_STATIC void twin_vector_machine_between_f32(const float *x, const float *z, double part,
        float *q, esvm_index n_features) {
    esvm_index j;
    for (j = 0; j < n_features; j++) {
        q[j] = (float)((double)x[j] + part * ((double)z[j] - (double)x[j]));
    }
}

ESVM_STATIC void twin_vector_machine_between_f64(const double *x, const double *z, double part,
        double *q, esvm_index n_features) {
    esvm_index j;
    for (j = 0; j < n_features; j++) {
        q[j] = (double)((double)x[j] + part * ((double)z[j] - (double)x[j]));
    }
}

#ifdef TwinVectorMachine_n_features

#define TwinVectorMachine_common ((core_Common *)self)
#define TwinVectorMachine_n_per_class ((int64_t *)(self + TwinVectorMachine_AT_n_per_class))
#define TwinVectorMachine_scores ((double *)ESVM_SCRATCH(TwinVectorMachine_AT_scores))
#define TwinVectorMachine_solver ((margin_set_Solver *)(self + TwinVectorMachine_AT_mu))
#define TwinVectorMachine_s_minus ((double *)(self + TwinVectorMachine_AT_s_minus))
#define TwinVectorMachine_s_plus ((double *)(self + TwinVectorMachine_AT_s_plus))
#define TwinVectorMachine_coef ((double *)(self + TwinVectorMachine_AT_coef))
#define TwinVectorMachine_g ((double *)(self + TwinVectorMachine_AT_g))
#define TwinVectorMachine_rate ((double *)(self + TwinVectorMachine_AT_rate))
#define TwinVectorMachine_row ((double *)(self + TwinVectorMachine_AT_row))
#define TwinVectorMachine_S ((int32_t *)(self + TwinVectorMachine_AT_S))
#define TwinVectorMachine_state ((int8_t *)(self + TwinVectorMachine_AT_state))
#define TwinVectorMachine_vectors ((char *)(self + TwinVectorMachine_AT_vectors))
#define TwinVectorMachine_factor_pool ((double *)(self + TwinVectorMachine_AT_pool))
#define TwinVectorMachine_factor_ones ((double *)(self + TwinVectorMachine_AT_ones))
#define TwinVectorMachine_factor_border ((double *)(self + TwinVectorMachine_AT_border))
#define TwinVectorMachine_factor_solution ((double *)(self + TwinVectorMachine_AT_solution))
#define TwinVectorMachine_off ((double *)(self + TwinVectorMachine_AT_off))
#define TwinVectorMachine_push ((double *)(self + TwinVectorMachine_AT_push))
#define TwinVectorMachine_counters ((twin_vector_machine_Counters *)(self + TwinVectorMachine_AT_n_accepted))
#define TwinVectorMachine_distortion_bound ((double *)(self + TwinVectorMachine_AT_distortion_bound))
#define TwinVectorMachine_factor_order (&TwinVectorMachine_solver->m)
#define TwinVectorMachine_factor_lift (&TwinVectorMachine_solver->lift)

static const kernels_Kernel TwinVectorMachine_kernel = TwinVectorMachine_KERNEL;

ESVM_STATIC packed_factor_PackedFactor TwinVectorMachine_factor_of(char *self) {
    packed_factor_PackedFactor made;
    (void)self;
    made.pool = TwinVectorMachine_factor_pool;
    made.length = TwinVectorMachine_factor_length;
    made.width = TwinVectorMachine_factor_width;
    made.order = TwinVectorMachine_factor_order;
    made.lift = TwinVectorMachine_factor_lift;
    made.ones = TwinVectorMachine_factor_ones;
    made.border = TwinVectorMachine_factor_border;
    made.solution = TwinVectorMachine_factor_solution;
    return made;
}

ESVM_STATIC status_Status TwinVectorMachine_learn_row(char *self, const void *x, int slot,
        double weight);
ESVM_STATIC status_Status TwinVectorMachine_answer(char *self, const void *x, double *out);
ESVM_STATIC int TwinVectorMachine_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t TwinVectorMachine_n_learned(char *self);
ESVM_STATIC status_Status TwinVectorMachine_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status TwinVectorMachine_decide(char *self, const void *x, double *value);
ESVM_STATIC void TwinVectorMachine_count(char *self, int slot, status_Status status);
ESVM_STATIC void TwinVectorMachine_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int TwinVectorMachine_n_answers(char *self);
ESVM_STATIC int TwinVectorMachine_slot_for(char *self, double value);
ESVM_STATIC status_Status TwinVectorMachine_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC double TwinVectorMachine_class_weight(char *self, double y);
ESVM_STATIC int TwinVectorMachine_refuses_to_decide(char *self, const void *x);
ESVM_STATIC double TwinVectorMachine_g_of(char *self, const void *x, margin_set_Row *kept);
ESVM_STATIC double TwinVectorMachine_norm(char *self, const void *x);
ESVM_STATIC int TwinVectorMachine_can_bear(char *self, double weight);
ESVM_STATIC double TwinVectorMachine_mu_for(char *self, double total);
ESVM_STATIC int TwinVectorMachine_beneficial(char *self, const void *x, margin_set_Row *kept);
ESVM_STATIC esvm_index TwinVectorMachine_twin_at(char *self, const void *x);
ESVM_STATIC margin_set_Outcome TwinVectorMachine_absorb(char *self, esvm_index i, double y,
        double weight);
ESVM_STATIC margin_set_Outcome TwinVectorMachine_update_twins(char *self, const void *x, double y,
        double weight, margin_set_Row *known);
ESVM_STATIC margin_set_Outcome TwinVectorMachine_merge_on_margin(char *self);
ESVM_STATIC void TwinVectorMachine_k_rows(char *self, const void *x, const void *rows,
        esvm_index n, double *out);
ESVM_STATIC char *TwinVectorMachine_twin(char *self, int64_t i);
ESVM_STATIC double TwinVectorMachine_k_wide(char *self, const void *x, const void *z);
ESVM_STATIC double TwinVectorMachine_square_norm(char *self, const void *x);
ESVM_STATIC void TwinVectorMachine_add_weight(char *self, path_Move *move, esvm_index i, double y,
        double weight);
ESVM_STATIC margin_set_Outcome TwinVectorMachine_update(char *self, path_Move *moves, int count);
ESVM_STATIC int TwinVectorMachine_merge(char *self, path_Move *moves, int of_margin,
        margin_set_Row *kept);
ESVM_STATIC esvm_index TwinVectorMachine_place(char *self, const void *x, margin_set_Row *known);
ESVM_STATIC margin_set_Outcome TwinVectorMachine_change(char *self, path_Move *moves,
        int n_removed, int n_placed, const twin_vector_machine_Counters *before);
ESVM_STATIC int TwinVectorMachine_sums_in_dtype(char *self);
ESVM_STATIC margin_set_Outcome TwinVectorMachine_follow(char *self, path_Move *moves, int count,
        double mu);
ESVM_STATIC void TwinVectorMachine_keep_sides(char *self);
ESVM_STATIC int TwinVectorMachine_first_accepted(char *self, twin_vector_machine_Pair *found);
ESVM_STATIC int TwinVectorMachine_nearest(char *self, twin_vector_machine_Pair *best);
ESVM_STATIC int TwinVectorMachine_passes(char *self, esvm_index i, esvm_index j,
        margin_set_Row *kept);
ESVM_STATIC int TwinVectorMachine_first_passing(char *self, const twin_vector_machine_Pair *pairs,
        int count, margin_set_Row *kept);
ESVM_STATIC int TwinVectorMachine_candidates(char *self, twin_vector_machine_Pair *pairs,
        int of_margin);
ESVM_STATIC void TwinVectorMachine_merge_pair(char *self, path_Move *moves, esvm_index i,
        esvm_index j, margin_set_Row *known);
ESVM_STATIC void TwinVectorMachine_fill_known_row(char *self, const void *x, margin_set_Row *known,
        double *row);
ESVM_STATIC int TwinVectorMachine_side(char *self, double g, int lower, int upper);
ESVM_STATIC void TwinVectorMachine_set_bound(char *self, int64_t i, double bound);
ESVM_STATIC void TwinVectorMachine_measure(char *self, int64_t i);
ESVM_STATIC void TwinVectorMachine_drop(char *self, esvm_index i);
ESVM_STATIC void TwinVectorMachine_refresh(char *self);
ESVM_STATIC void TwinVectorMachine_release_unused_weight(char *self, path_Move *moves, int count);
ESVM_STATIC margin_set_Outcome TwinVectorMachine_walk(char *self, path_Move *moves, int count,
        double mu);
ESVM_STATIC int TwinVectorMachine_is_consistent(char *self);
ESVM_STATIC void TwinVectorMachine_rebuild(char *self);
ESVM_STATIC void TwinVectorMachine_solve_at(char *self, const path_Move *moves, int count,
        double mu);
ESVM_STATIC void TwinVectorMachine_walk_back(char *self, path_Move *moves, int count, double mu);
ESVM_STATIC int TwinVectorMachine_search(char *self, twin_vector_machine_Pair *pairs,
        int one_sided, int of_margin, twin_vector_machine_Pair after);
ESVM_STATIC double TwinVectorMachine_join(char *self, esvm_index i, esvm_index j, char *q,
        margin_set_Row *kept);
ESVM_STATIC double TwinVectorMachine_fill_distortions(char *self, int64_t i, esvm_index first);
ESVM_STATIC int64_t TwinVectorMachine_nearest_of(char *self, int64_t i, int64_t first, double most);
ESVM_STATIC int TwinVectorMachine_is_gentle(char *self, esvm_index i, esvm_index j, const void *q);
ESVM_STATIC void TwinVectorMachine_blend(char *self, esvm_index i, esvm_index j, char *q);
ESVM_STATIC double TwinVectorMachine_error(char *self, esvm_index i, esvm_index j, const void *q,
        margin_set_Row *kept);
ESVM_STATIC int TwinVectorMachine_counts_as_above(char *self, int64_t i);
ESVM_STATIC void TwinVectorMachine_leave(char *self, esvm_index p, int to);
ESVM_STATIC esvm_index TwinVectorMachine_place_on_S(char *self, esvm_index i);
ESVM_STATIC void TwinVectorMachine_fill_row(char *self, const void *x, double *row);
ESVM_STATIC void TwinVectorMachine_begin(char *self, path_Walk *walk, path_Move *moves, int count,
        double mu);
ESVM_STATIC void TwinVectorMachine_plateau_rates(char *self, path_Walk *walk);
ESVM_STATIC double TwinVectorMachine_size(char *self, const path_Walk *walk);
ESVM_STATIC margin_set_Outcome TwinVectorMachine_shift(char *self, double surplus,
        const path_Walk *walk);
ESVM_STATIC void TwinVectorMachine_direct(char *self, path_Walk *walk);
ESVM_STATIC void TwinVectorMachine_first_event(char *self, const path_Walk *walk,
        path_Event *event);
ESVM_STATIC void TwinVectorMachine_advance(char *self, path_Walk *walk, double length, int arrived);
ESVM_STATIC margin_set_Outcome TwinVectorMachine_enter(char *self, esvm_index i, int step,
        int direction, margin_set_Row *known);
ESVM_STATIC margin_set_Row *TwinVectorMachine_known_row(char *self, const path_Walk *walk,
        esvm_index i);
ESVM_STATIC const double *TwinVectorMachine_row_of(char *self, int64_t p);
ESVM_STATIC margin_set_Outcome TwinVectorMachine_restore_state(char *self, esvm_index i);
ESVM_STATIC void TwinVectorMachine_from_scratch(char *self);
ESVM_STATIC int TwinVectorMachine_may_merge(char *self, esvm_index i, int64_t j, int one_sided,
        int of_margin);
ESVM_STATIC double TwinVectorMachine_norm_of(char *self, int64_t i);
ESVM_STATIC void TwinVectorMachine_fill_squares(char *self, int64_t i, esvm_index first,
        double *row);
ESVM_STATIC double TwinVectorMachine_weight_of(char *self, int64_t i);
ESVM_STATIC void TwinVectorMachine_sums(char *self, const void *x, const void *rows, esvm_index n,
        double *out);
ESVM_STATIC void TwinVectorMachine_mix(char *self, esvm_index i, esvm_index j, double part,
        char *q);
ESVM_STATIC double TwinVectorMachine_on_the_line(char *self, esvm_index i, esvm_index j, char *q);
ESVM_STATIC void TwinVectorMachine_resolve_sides(char *self, esvm_index i, double d_minus,
        double d_plus);
ESVM_STATIC int TwinVectorMachine_edges(char *self, const path_Walk *walk, int64_t i, double dg,
        path_Edge *edges);
ESVM_STATIC void TwinVectorMachine_first_to_leave(char *self, const path_Walk *walk,
        path_Event *event);
ESVM_STATIC void TwinVectorMachine_first_to_enter(char *self, const path_Walk *walk,
        path_Event *event);
ESVM_STATIC double TwinVectorMachine_sensitivity(char *self, esvm_index i, margin_set_Row *known);
ESVM_STATIC int TwinVectorMachine_exchange(char *self, esvm_index i, int direction);
ESVM_STATIC double TwinVectorMachine_cost(char *self, esvm_index i, esvm_index j, double part,
        char *q);
ESVM_STATIC void TwinVectorMachine_step_bounds(char *self, esvm_index i, double *low, double *high);
ESVM_STATIC double TwinVectorMachine_tolerance(char *self, const path_Walk *walk);

ESVM_STATIC status_Status TwinVectorMachine_learn_row(char *self, const void *x, int slot,
        double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        TwinVectorMachine_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = TwinVectorMachine_weighed_step(self, x, !TwinVectorMachine_HAS_scores ? 2 * slot - 1 :
            slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    TwinVectorMachine_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status TwinVectorMachine_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!TwinVectorMachine_HAS_scores) {
        status = TwinVectorMachine_decide(self, x, out);
        out[0] *= TwinVectorMachine_labels_sign;
        return status;
    }
    status = TwinVectorMachine_decide(self, x, TwinVectorMachine_HAS_scores ?
            TwinVectorMachine_scores : NULL);
    TwinVectorMachine_in_order(self, TwinVectorMachine_HAS_scores ? TwinVectorMachine_scores :
            NULL, out);
    memset(TwinVectorMachine_scores, 0, TwinVectorMachine_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int TwinVectorMachine_winner(char *self, const double *answers, double *score) {
    int i;
    int n = TwinVectorMachine_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!TwinVectorMachine_HAS_scores) {
        return TwinVectorMachine_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return TwinVectorMachine_labels_order[TwinVectorMachine_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return TwinVectorMachine_labels_order[best];
}

ESVM_STATIC int64_t TwinVectorMachine_n_learned(char *self) {
    int64_t total = TwinVectorMachine_n_per_class[0] + TwinVectorMachine_n_per_class[1];
    int slot;
    for (slot = 2; slot < TwinVectorMachine_n_classes; slot++) {
        total += TwinVectorMachine_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status TwinVectorMachine_weighed_step(char *self, const void *x, double y,
        double weight) {
    return TwinVectorMachine_step(self, x, y, TwinVectorMachine_balanced ? weight *
            TwinVectorMachine_class_weight(self, y) : weight);
}

ESVM_STATIC status_Status TwinVectorMachine_decide(char *self, const void *x, double *value) {
    if (TwinVectorMachine_refuses_to_decide(self, x)) {
        return status_NOT_FINITE;
    }
    value[0] = ESVM_DIVIDE(TwinVectorMachine_g_of(self, x, NULL), TwinVectorMachine_solver->mu);
    return status_UNCHANGED;
}

ESVM_STATIC void TwinVectorMachine_count(char *self, int slot, status_Status status) {
    TwinVectorMachine_common->n_seen += 1;
    TwinVectorMachine_common->n_updates += status == status_CHANGED;
    TwinVectorMachine_n_per_class[slot] += 1;
}

ESVM_STATIC void TwinVectorMachine_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = TwinVectorMachine_labels_n;
    const signed char *order = TwinVectorMachine_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int TwinVectorMachine_n_answers(char *self) {
    (void)self;
    return !TwinVectorMachine_HAS_scores || TwinVectorMachine_labels_n <= 2 ? 1 :
            TwinVectorMachine_labels_n;
}

ESVM_STATIC int TwinVectorMachine_slot_for(char *self, double value) {
    if (TwinVectorMachine_one_class) {
        return value > 0.0;
    }
    if (TwinVectorMachine_n_per_class[0] == 0) {
        return 1;
    }
    if (TwinVectorMachine_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (TwinVectorMachine_labels_sign < 0);
}

ESVM_STATIC status_Status TwinVectorMachine_step(char *self, const void *x, double y,
        double weight) {
    esvm_index i;
    double values[TWIN_KEPT];
    margin_set_Row row = {0};
    margin_set_Outcome outcome;
    row.n = 0;
    row.k = values;
    if (!esvm_is_finite(TwinVectorMachine_norm(self, x))) {
        return status_NOT_FINITE;
    }
    if (!(weight >= twin_vector_machine_LEAST_WEIGHT && TwinVectorMachine_can_bear(self, weight))) {
        return status_BAD_WEIGHT;
    }
    if (TwinVectorMachine_solver->n == 0) {
        TwinVectorMachine_solver->mu = TwinVectorMachine_mu_for(self, weight);
    }
    if (!TwinVectorMachine_beneficial(self, x, &row)) {
        return status_UNCHANGED;
    }
    TwinVectorMachine_counters->n_accepted += 1;
    i = TwinVectorMachine_twin_at(self, x);
    if (i >= 0) {
        TwinVectorMachine_counters->n_absorbed += 1;
        outcome = TwinVectorMachine_absorb(self, i, y, weight);
    } else {
        outcome = TwinVectorMachine_update_twins(self, x, y, weight, &row);
    }
    if (outcome == margin_set_OVERFLOWED) {
        outcome = TwinVectorMachine_merge_on_margin(self);
    }
    return outcome == margin_set_REACHED ? status_CHANGED : status_UNCHANGED;
}

ESVM_STATIC double TwinVectorMachine_class_weight(char *self, double y) {
    int slot = !TwinVectorMachine_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (TwinVectorMachine_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < TwinVectorMachine_n_classes; other++) {
            n_classes += TwinVectorMachine_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(TwinVectorMachine_n_learned(self) + 1, (double)n_classes *
            (TwinVectorMachine_n_per_class[slot] + 1));
}

ESVM_STATIC int TwinVectorMachine_refuses_to_decide(char *self, const void *x) {
    return !esvm_is_finite(TwinVectorMachine_norm(self, x));
}

ESVM_STATIC double TwinVectorMachine_g_of(char *self, const void *x, margin_set_Row *kept) {
    double here[margin_set_CHUNK];
    double *k = here;
    double g = 0.0;
    esvm_index j = 0;
    esvm_index count;
    int keeps = kept != NULL && TwinVectorMachine_solver->n <= TWIN_KEPT;
    while (j < TwinVectorMachine_solver->n) {
        count = (int64_t)margin_set_CHUNK < TwinVectorMachine_solver->n - j ?
                (int64_t)margin_set_CHUNK : TwinVectorMachine_solver->n - j;
        if (keeps) {
            k = kept->k + j;
        }
        TwinVectorMachine_k_rows(self, x, TwinVectorMachine_twin(self, j), count, k);
        g += linalg_dot_f64(k, TwinVectorMachine_coef + j, count);
        j += count;
    }
    if (keeps) {
        kept->n = j;
    }
    return g + TwinVectorMachine_solver->b;
}

ESVM_STATIC double TwinVectorMachine_norm(char *self, const void *x) {
    double k_xx = TwinVectorMachine_kernel.kind == kernels_RBF ? 1.0 :
            TwinVectorMachine_k_wide(self, x, x);
    return esvm_is_finite(TwinVectorMachine_square_norm(self, x)) && k_xx <=
            margin_set_LARGEST_NORM ? k_xx : ESVM_NAN;
}

ESVM_STATIC int TwinVectorMachine_can_bear(char *self, double weight) {
    double total = 0.0;
    esvm_index i;
    esvm_index n = TwinVectorMachine_solver->n;
    if (twin_sum(TwinVectorMachine_s_minus, n) + twin_sum(TwinVectorMachine_s_plus, n) + weight <=
            0.5 * twin_vector_machine_LARGEST_WEIGHT) {
        return 1;
    }
    for (i = 0; i < n; i++) {
        total += TwinVectorMachine_s_minus[i] + TwinVectorMachine_s_plus[i];
    }
    return total + weight <= twin_vector_machine_LARGEST_WEIGHT;
}

ESVM_STATIC double TwinVectorMachine_mu_for(char *self, double total) {
    (void)self;
    return TwinVectorMachine_control_C ? ESVM_DIVIDE(total, TwinVectorMachine_C *
            TwinVectorMachine_max_twins) : 1.0 / TwinVectorMachine_C;
}

ESVM_STATIC int TwinVectorMachine_beneficial(char *self, const void *x, margin_set_Row *kept) {
    return TwinVectorMachine_solver->n < TwinVectorMachine_max_twins ||
            fabs(TwinVectorMachine_g_of(self, x, kept)) <= TwinVectorMachine_m1 *
            TwinVectorMachine_solver->mu * (1.0 + twin_vector_machine_EDGE);
}

ESVM_STATIC esvm_index TwinVectorMachine_twin_at(char *self, const void *x) {
    esvm_index i;
    const char *q = TwinVectorMachine_vectors;
    for (i = 0; i < TwinVectorMachine_solver->n; i++) {
        if (q[0] == ((const char *)x)[0] && memcmp(q, x, TwinVectorMachine_row_bytes) == 0) {
            return i;
        }
        q += TwinVectorMachine_row_bytes;
    }
    return -1;
}

ESVM_STATIC margin_set_Outcome TwinVectorMachine_absorb(char *self, esvm_index i, double y,
        double weight) {
    path_Move move = {0};
    TwinVectorMachine_add_weight(self, &move, i, y, weight);
    return TwinVectorMachine_update(self, &move, 1);
}

ESVM_STATIC margin_set_Outcome TwinVectorMachine_update_twins(char *self, const void *x, double y,
        double weight, margin_set_Row *known) {
    path_Move moves[4];
    path_Move *last;
    double values[TWIN_KEPT];
    margin_set_Row merged = {0};
    twin_vector_machine_Counters before = TwinVectorMachine_counters[0];
    int n_removed = 0;
    int n_placed = 1;
    int64_t k;
    merged.n = 0;
    merged.k = values;
    if (TwinVectorMachine_solver->n == TwinVectorMachine_max_twins) {
        k = twin_farthest(TwinVectorMachine_g, TwinVectorMachine_solver->n);
        if (fabs(TwinVectorMachine_g[k]) > TwinVectorMachine_m2 * TwinVectorMachine_solver->mu *
                (1.0 + twin_vector_machine_EDGE) || TwinVectorMachine_max_twins == 1) {
            TwinVectorMachine_counters->n_removed += 1;
            moves[0].slot = k;
            n_removed = 1;
            moves[0].to_minus = 0.0;
            moves[0].to_plus = 0.0;
            moves[0].known = NULL;
        } else if (TwinVectorMachine_merge(self, moves, 0, &merged)) {
            n_removed = 2;
            n_placed = 2;
        } else {
            return margin_set_STUCK;
        }
    }
    last = &moves[n_removed + n_placed - 1];
    TwinVectorMachine_add_weight(self, last, TwinVectorMachine_place(self, x, known), y, weight);
    last->known = known;
    return TwinVectorMachine_change(self, moves, n_removed, n_placed, &before);
}

ESVM_STATIC margin_set_Outcome TwinVectorMachine_merge_on_margin(char *self) {
    path_Move moves[3];
    double values[TWIN_KEPT];
    margin_set_Row merged = {0};
    twin_vector_machine_Counters before = TwinVectorMachine_counters[0];
    if (TwinVectorMachine_solver->m < 2 || TwinVectorMachine_solver->n < 3) {
        return margin_set_OVERFLOWED;
    }
    merged.n = 0;
    merged.k = values;
    TwinVectorMachine_merge(self, moves, 1, &merged);
    return TwinVectorMachine_change(self, moves, 2, 1, &before);
}

ESVM_STATIC void TwinVectorMachine_k_rows(char *self, const void *x, const void *rows,
        esvm_index n, double *out) {
    if (TwinVectorMachine_sums_in_dtype(self)) {
        rows_lanes_kernel_values(&TwinVectorMachine_kernel, x, rows, TwinVectorMachine_n_features,
                n, out);
    } else {
        rows_any_kernel_values(&TwinVectorMachine_kernel, x, rows, TwinVectorMachine_n_features, n,
                out);
    }
}

ESVM_STATIC char *TwinVectorMachine_twin(char *self, int64_t i) {
    return TwinVectorMachine_vectors + i * TwinVectorMachine_row_bytes;
}

ESVM_STATIC double TwinVectorMachine_k_wide(char *self, const void *x, const void *z) {
    double value;
    TwinVectorMachine_k_rows(self, x, z, 1, &value);
    return value;
}

ESVM_STATIC double TwinVectorMachine_square_norm(char *self, const void *x) {
    (void)self;
    return linalg_any_dot(x, x, TwinVectorMachine_n_features);
}

ESVM_STATIC void TwinVectorMachine_add_weight(char *self, path_Move *move, esvm_index i, double y,
        double weight) {
    esvm_index t1_ = i;
    double t2_ = TwinVectorMachine_s_minus[i];
    double t3_ = TwinVectorMachine_s_plus[i];
    move->slot = t1_;
    move->to_minus = t2_;
    move->to_plus = t3_;
    move->known = NULL;
    if (y > 0) {
        move->to_plus += weight;
    } else {
        move->to_minus += weight;
    }
}

ESVM_STATIC margin_set_Outcome TwinVectorMachine_update(char *self, path_Move *moves, int count) {
    esvm_index i;
    int c;
    double minus = 0.0;
    double plus = 0.0;
    double total;
    esvm_index t1_;
    for (t1_ = 0; t1_ < TwinVectorMachine_solver->n; t1_++) {
        i = t1_;
        minus += TwinVectorMachine_s_minus[i];
        plus += TwinVectorMachine_s_plus[i];
    }
    total = minus + plus;
    for (c = 0; c < count; c++) {
        i = moves[c].slot;
        total += moves[c].to_minus + moves[c].to_plus - TwinVectorMachine_s_minus[i] -
                TwinVectorMachine_s_plus[i];
    }
    return TwinVectorMachine_follow(self, moves, count, TwinVectorMachine_mu_for(self, total));
}

ESVM_STATIC int TwinVectorMachine_merge(char *self, path_Move *moves, int of_margin,
        margin_set_Row *kept) {
    twin_vector_machine_Pair pairs[twin_vector_machine_CANDIDATES];
    int best = 0;
    TwinVectorMachine_keep_sides(self);
    if (TwinVectorMachine_as_printed && !of_margin) {
        if (!TwinVectorMachine_first_accepted(self, pairs)) {
            return 0;
        }
    } else if (of_margin || !(TwinVectorMachine_nearest(self, pairs) &&
            (!TwinVectorMachine_rejection || TwinVectorMachine_passes(self, pairs[0].i, pairs[0].j,
            kept)))) {
        best = TwinVectorMachine_first_passing(self, pairs, TwinVectorMachine_candidates(self,
                pairs, of_margin), kept);
    }
    TwinVectorMachine_merge_pair(self, moves, pairs[best].i, pairs[best].j, kept);
    return 1;
}

ESVM_STATIC esvm_index TwinVectorMachine_place(char *self, const void *x, margin_set_Row *known) {
    packed_factor_PackedFactor factor_ = TwinVectorMachine_factor_of(self);
    margin_set_Solver *v = TwinVectorMachine_solver;
    esvm_index p;
    esvm_index i = v->n;
    esvm_index n_rows = packed_factor_factor_rows(&factor_, v->m);
    memmove(TwinVectorMachine_twin(self, i), x, TwinVectorMachine_row_bytes);
    v->n += 1;
    TwinVectorMachine_fill_known_row(self, TwinVectorMachine_twin(self, i), known,
            TwinVectorMachine_row);
    TwinVectorMachine_g[i] = linalg_dot_f64(TwinVectorMachine_row, TwinVectorMachine_coef, i) +
            v->b;
    for (p = 0; p < n_rows; p++) {
        packed_factor_factor_row(&factor_, p)[i] = TwinVectorMachine_row[TwinVectorMachine_S[p]];
    }
    TwinVectorMachine_s_minus[i] = 0.0;
    TwinVectorMachine_s_plus[i] = 0.0;
    TwinVectorMachine_coef[i] = 0.0;
    TwinVectorMachine_state[i] = TwinVectorMachine_side(self, TwinVectorMachine_g[i], 1, 1);
    return i;
}

ESVM_STATIC margin_set_Outcome TwinVectorMachine_change(char *self, path_Move *moves,
        int n_removed, int n_placed, const twin_vector_machine_Counters *before) {
    margin_set_Outcome outcome = TwinVectorMachine_update(self, moves, n_removed + n_placed);
    int c;
    int first = 0;
    int last = n_removed;
    esvm_index behind;
    if (outcome == margin_set_OVERFLOWED) {
        first = n_removed;
        last = n_removed + n_placed;
        TwinVectorMachine_counters->n_merged = before->n_merged;
        TwinVectorMachine_counters->n_removed = before->n_removed;
        TwinVectorMachine_counters->n_forced = before->n_forced;
    } else {
        for (c = n_removed; c < n_removed + n_placed; c++) {
            TwinVectorMachine_set_bound(self, moves[c].slot, twin_vector_machine_MAX_DISTORTION);
        }
        for (c = n_removed; c < n_removed + n_placed; c++) {
            TwinVectorMachine_measure(self, moves[c].slot);
        }
    }
    for (c = last - 1; c > first - 1; c--) {
        behind = TwinVectorMachine_solver->n - moves[c].slot - 1;
        memmove(TwinVectorMachine_distortion_bound + moves[c].slot,
                TwinVectorMachine_distortion_bound + moves[c].slot + 1, behind * sizeof(double));
        TwinVectorMachine_drop(self, moves[c].slot);
    }
    return outcome;
}

ESVM_STATIC int TwinVectorMachine_sums_in_dtype(char *self) {
    (void)self;
    return 0;
}

ESVM_STATIC margin_set_Outcome TwinVectorMachine_follow(char *self, path_Move *moves, int count,
        double mu) {
    margin_set_Solver *v = TwinVectorMachine_solver;
    margin_set_Outcome outcome;
    double mu_before = v->mu;
    int polish;
    v->paths += 1;
    if (v->paths % path_REFRESH == 0) {
        TwinVectorMachine_refresh(self);
    }
    TwinVectorMachine_release_unused_weight(self, moves, count);
    outcome = TwinVectorMachine_walk(self, moves, count, mu);
    for (polish = 0; polish < path_POLISHES; polish++) {
        if (outcome != margin_set_REACHED || TwinVectorMachine_is_consistent(self)) {
            break;
        }
        TwinVectorMachine_refresh(self);
        if (polish) {
            v->n_refactored += 1;
            TwinVectorMachine_rebuild(self);
        }
        outcome = TwinVectorMachine_walk(self, NULL, 0, mu);
    }
    if (outcome == margin_set_STUCK) {
        TwinVectorMachine_solve_at(self, moves, count, mu);
        return margin_set_REACHED;
    }
    if (outcome == margin_set_OVERFLOWED) {
        v->n_overflowed += 1;
        TwinVectorMachine_walk_back(self, moves, count, mu_before);
    }
    return outcome;
}

ESVM_STATIC void TwinVectorMachine_keep_sides(char *self) {
    int64_t i = 0;
    esvm_index n = TwinVectorMachine_solver->n;
    while (TwinVectorMachine_one_sided && i < n) {
        i = twin_moved(TwinVectorMachine_distortion_bound, TwinVectorMachine_g, i, n);
        if (i < n) {
            TwinVectorMachine_measure(self, i);
        }
        i += 1;
    }
}

ESVM_STATIC int TwinVectorMachine_first_accepted(char *self, twin_vector_machine_Pair *found) {
    twin_vector_machine_Pair pairs[twin_vector_machine_CANDIDATES];
    twin_vector_machine_Pair after = {0};
    int c, count;
    after.distortion = -1.0;
    after.i = 0;
    after.j = 0;
    while (1) {
        count = TwinVectorMachine_search(self, pairs, TwinVectorMachine_one_sided, 0, after);
        for (c = 0; c < count; c++) {
            if (TwinVectorMachine_join(self, pairs[c].i, pairs[c].j, TwinVectorMachine_twin(self,
                    TwinVectorMachine_solver->n), NULL) < TwinVectorMachine_eta) {
                found[0] = pairs[c];
                return 1;
            }
            TwinVectorMachine_counters->n_rejected += 1;
        }
        if (count < twin_vector_machine_CANDIDATES) {
            TwinVectorMachine_fill_distortions(self, TwinVectorMachine_solver->n - 1, 0);
            return 0;
        }
        after = pairs[count - 1];
    }
}

ESVM_STATIC int TwinVectorMachine_nearest(char *self, twin_vector_machine_Pair *best) {
    int64_t i = -1;
    int64_t j;
    esvm_index n = TwinVectorMachine_solver->n;
    best->distortion = twin_vector_machine_MAX_DISTORTION;
    while (1) {
        i = twin_below(TwinVectorMachine_distortion_bound, i + 1, n, best->distortion);
        if (i == n) {
            break;
        }
        TwinVectorMachine_fill_distortions(self, i, 0);
        j = TwinVectorMachine_nearest_of(self, i, 0, twin_vector_machine_MAX_DISTORTION);
        TwinVectorMachine_set_bound(self, i, j >= 0 ? TwinVectorMachine_row[j] :
                twin_vector_machine_MAX_DISTORTION);
        if (j >= 0 && j < i) {
            j = TwinVectorMachine_nearest_of(self, i, i + 1, best->distortion);
        }
        if (j >= 0 && TwinVectorMachine_row[j] < best->distortion) {
            best->distortion = TwinVectorMachine_row[j];
            best->i = i;
            best->j = j;
        }
    }
    return best->distortion < twin_vector_machine_MAX_DISTORTION;
}

ESVM_STATIC int TwinVectorMachine_passes(char *self, esvm_index i, esvm_index j,
        margin_set_Row *kept) {
    char *q = TwinVectorMachine_twin(self, TwinVectorMachine_solver->n);
    return TwinVectorMachine_join(self, i, j, q, kept) < TwinVectorMachine_eta &&
            TwinVectorMachine_is_gentle(self, i, j, q);
}

ESVM_STATIC int TwinVectorMachine_first_passing(char *self, const twin_vector_machine_Pair *pairs,
        int count, margin_set_Row *kept) {
    int c;
    int best = 0;
    esvm_index i, j;
    double error;
    double least = ESVM_INFINITY;
    int passed = 0;
    char *q = TwinVectorMachine_twin(self, TwinVectorMachine_solver->n);
    for (c = 0; c < count; c++) {
        i = pairs[c].i;
        j = pairs[c].j;
        TwinVectorMachine_blend(self, i, j, q);
        if (passed && !TwinVectorMachine_is_gentle(self, i, j, q)) {
            TwinVectorMachine_counters->n_rejected += 1;
            continue;
        }
        error = TwinVectorMachine_error(self, i, j, q, kept);
        if (!TwinVectorMachine_rejection || error < TwinVectorMachine_eta) {
            if (!TwinVectorMachine_rejection || passed || TwinVectorMachine_is_gentle(self, i, j,
                    q)) {
                return c;
            }
            best = c;
            passed = 1;
        } else if (!passed && error < least * (1.0 - twin_vector_machine_TIE)) {
            best = c;
            least = error;
        }
        TwinVectorMachine_counters->n_rejected += 1;
    }
    TwinVectorMachine_counters->n_forced += !passed;
    kept->n = 0;
    return best;
}

ESVM_STATIC int TwinVectorMachine_candidates(char *self, twin_vector_machine_Pair *pairs,
        int of_margin) {
    int count = 0;
    twin_vector_machine_Pair after = {0};
    after.distortion = -1.0;
    after.i = 0;
    after.j = 0;
    if (TwinVectorMachine_one_sided) {
        count = TwinVectorMachine_search(self, pairs, 1, of_margin, after);
    }
    return count ? count : TwinVectorMachine_search(self, pairs, 0, of_margin, after);
}

ESVM_STATIC void TwinVectorMachine_merge_pair(char *self, path_Move *moves, esvm_index i,
        esvm_index j, margin_set_Row *known) {
    esvm_index new = TwinVectorMachine_solver->n;
    TwinVectorMachine_counters->n_merged += 1;
    TwinVectorMachine_blend(self, i, j, TwinVectorMachine_twin(self, new));
    TwinVectorMachine_place(self, TwinVectorMachine_twin(self, new), known);
    moves[0].known = NULL;
    moves[1].known = NULL;
    moves[2].known = known;
    moves[0].slot = i;
    moves[0].to_minus = 0.0;
    moves[0].to_plus = 0.0;
    moves[1].slot = j;
    moves[1].to_minus = 0.0;
    moves[1].to_plus = 0.0;
    moves[2].slot = new;
    moves[2].to_minus = TwinVectorMachine_s_minus[i] + TwinVectorMachine_s_minus[j];
    moves[2].to_plus = TwinVectorMachine_s_plus[i] + TwinVectorMachine_s_plus[j];
}

ESVM_STATIC void TwinVectorMachine_fill_known_row(char *self, const void *x, margin_set_Row *known,
        double *row) {
    esvm_index first = 0;
    esvm_index n = TwinVectorMachine_solver->n;
    if (known != NULL) {
        first = known->n;
        memcpy(row, known->k, first * sizeof(double));
    }
    TwinVectorMachine_k_rows(self, x, TwinVectorMachine_twin(self, first), n - first, row + first);
    if (known != NULL && n <= TWIN_KEPT) {
        memcpy(known->k + first, row + first, (n - first) * sizeof(double));
        known->n = n;
    }
}

ESVM_STATIC int TwinVectorMachine_side(char *self, double g, int lower, int upper) {
    double edge = TwinVectorMachine_solver->mu * (1.0 - margin_set_EVENT_TOLERANCE);
    return lower && g < -edge ? 0 : upper && g > edge ? 4 : 2;
}

ESVM_STATIC void TwinVectorMachine_set_bound(char *self, int64_t i, double bound) {
    TwinVectorMachine_distortion_bound[i] = TwinVectorMachine_counts_as_above(self, i) ? bound :
            -bound;
}

ESVM_STATIC void TwinVectorMachine_measure(char *self, int64_t i) {
    TwinVectorMachine_fill_distortions(self, i, 0);
    TwinVectorMachine_set_bound(self, i, twin_lower(TwinVectorMachine_row,
            TwinVectorMachine_s_minus, TwinVectorMachine_s_plus, TwinVectorMachine_solver->n,
            TwinVectorMachine_counts_as_above(self, i), twin_vector_machine_MAX_DISTORTION,
            TwinVectorMachine_distortion_bound));
}

ESVM_STATIC void TwinVectorMachine_drop(char *self, esvm_index i) {
    packed_factor_PackedFactor factor_ = TwinVectorMachine_factor_of(self);
    margin_set_Solver *v = TwinVectorMachine_solver;
    esvm_index p;
    esvm_index behind = v->n - i - 1;
    esvm_index n_bytes = behind * sizeof(double);
    if (TwinVectorMachine_state[i] % 2) {
        TwinVectorMachine_leave(self, TwinVectorMachine_place_on_S(self, i), 2);
    }
    memmove(TwinVectorMachine_twin(self, i), TwinVectorMachine_twin(self, i + 1), behind *
            TwinVectorMachine_row_bytes);
    memmove(TwinVectorMachine_s_minus + i, TwinVectorMachine_s_minus + i + 1, n_bytes);
    memmove(TwinVectorMachine_s_plus + i, TwinVectorMachine_s_plus + i + 1, n_bytes);
    memmove(TwinVectorMachine_coef + i, TwinVectorMachine_coef + i + 1, n_bytes);
    memmove(TwinVectorMachine_g + i, TwinVectorMachine_g + i + 1, n_bytes);
    memmove(TwinVectorMachine_state + i, TwinVectorMachine_state + i + 1, behind);
    packed_factor_factor_drop_column(&factor_, i, v->n);
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        TwinVectorMachine_S[p] -= TwinVectorMachine_S[p] > i;
    }
    v->n -= 1;
    if (v->n == 0) {
        v->b = 0.0;
    }
}

ESVM_STATIC void TwinVectorMachine_refresh(char *self) {
    margin_set_Solver *v = TwinVectorMachine_solver;
    esvm_index i;
    v->n_refreshed += 1;
    esvm_index t1_ = v->n;
    for (i = 0; i < t1_; i++) {
        TwinVectorMachine_g[i] = v->b;
    }
    esvm_index t2_ = v->n;
    for (i = 0; i < t2_; i++) {
        if (TwinVectorMachine_coef[i] != 0.0) {
            TwinVectorMachine_fill_row(self, TwinVectorMachine_twin(self, i),
                    TwinVectorMachine_row);
            twin_add(TwinVectorMachine_coef[i], TwinVectorMachine_row, TwinVectorMachine_g, v->n);
        }
    }
}

ESVM_STATIC void TwinVectorMachine_release_unused_weight(char *self, path_Move *moves, int count) {
    int c;
    esvm_index i;
    for (c = 0; c < count; c++) {
        i = moves[c].slot;
        double t1_ = TwinVectorMachine_s_minus[i];
        double t2_ = TwinVectorMachine_s_plus[i];
        moves[c].from_minus = t1_;
        moves[c].from_plus = t2_;
        if (moves[c].to_minus == 0.0 && moves[c].to_plus == 0.0) {
            TwinVectorMachine_s_minus[i] = esvm_max(-TwinVectorMachine_coef[i], 0.0);
            TwinVectorMachine_s_plus[i] = esvm_max(TwinVectorMachine_coef[i], 0.0);
            if (TwinVectorMachine_state[i] % 2) {
                TwinVectorMachine_leave(self, TwinVectorMachine_place_on_S(self, i), 2);
            }
        }
        double t3_ = TwinVectorMachine_s_minus[i];
        double t4_ = TwinVectorMachine_s_plus[i];
        moves[c].released_minus = t3_;
        moves[c].released_plus = t4_;
    }
}

ESVM_STATIC margin_set_Outcome TwinVectorMachine_walk(char *self, path_Move *moves, int count,
        double mu) {
    path_Walk walk = {0};
    path_Event event = {0};
    margin_set_Outcome outcome;
    double surplus;
    int64_t _event;
    TwinVectorMachine_begin(self, &walk, moves, count, mu);
    for (_event = 0; _event < path_MANY_EVENTS * (TwinVectorMachine_solver->n + 4) - 1; _event++) {
        TwinVectorMachine_plateau_rates(self, &walk);
        if (TwinVectorMachine_solver->m == 0) {
            surplus = walk.push_sum - walk.total;
            if (fabs(surplus) > path_ROUNDING * TwinVectorMachine_size(self, &walk)) {
                outcome = TwinVectorMachine_shift(self, surplus, &walk);
                if (outcome == margin_set_REACHED) {
                    continue;
                }
                if (outcome == margin_set_OVERFLOWED) {
                    return margin_set_OVERFLOWED;
                }
            }
        }
        TwinVectorMachine_direct(self, &walk);
        TwinVectorMachine_first_event(self, &walk, &event);
        TwinVectorMachine_advance(self, &walk, event.length, event.place < 0 && event.twin < 0);
        if (event.place < 0 && event.twin < 0) {
            return margin_set_REACHED;
        }
        TwinVectorMachine_solver->n_path_events += 1;
        if (event.twin < 0) {
            TwinVectorMachine_leave(self, event.place, event.to);
            continue;
        }
        outcome = TwinVectorMachine_enter(self, event.twin, event.to, event.direction,
                TwinVectorMachine_known_row(self, &walk, event.twin));
        if (outcome != margin_set_REACHED) {
            return outcome;
        }
    }
    return margin_set_STUCK;
}

ESVM_STATIC int TwinVectorMachine_is_consistent(char *self) {
    margin_set_Solver *v = TwinVectorMachine_solver;
    esvm_index p = 0;
    double aim, g;
    while (p < v->m) {
        aim = TwinVectorMachine_state[TwinVectorMachine_S[p]] == 3 ? v->mu : -v->mu;
        g = linalg_dot_f64(TwinVectorMachine_row_of(self, p), TwinVectorMachine_coef, v->n) + v->b;
        if (!(fabs(g - aim) <= path_DRIFT * v->mu)) {
            return 0;
        }
        if (p == v->m - 1) {
            break;
        }
        p = v->m - 1;
    }
    return 1;
}

ESVM_STATIC void TwinVectorMachine_rebuild(char *self) {
    margin_set_Solver *v = TwinVectorMachine_solver;
    esvm_index i;
    v->m = 0;
    esvm_index t1_ = v->n;
    for (i = 0; i < t1_; i++) {
        TwinVectorMachine_state[i] = 2;
    }
    esvm_index t2_ = v->n;
    for (i = 0; i < t2_; i++) {
        if (TwinVectorMachine_restore_state(self, i) != margin_set_REACHED) {
            TwinVectorMachine_state[i] += TwinVectorMachine_state[i] % 2;
        }
    }
}

ESVM_STATIC void TwinVectorMachine_solve_at(char *self, const path_Move *moves, int count,
        double mu) {
    int c;
    for (c = 0; c < count; c++) {
        TwinVectorMachine_s_minus[moves[c].slot] = moves[c].to_minus;
        TwinVectorMachine_s_plus[moves[c].slot] = moves[c].to_plus;
    }
    TwinVectorMachine_solver->mu = mu;
    TwinVectorMachine_from_scratch(self);
}

ESVM_STATIC void TwinVectorMachine_walk_back(char *self, path_Move *moves, int count, double mu) {
    margin_set_Outcome outcome;
    int c;
    esvm_index i;
    for (c = 0; c < count; c++) {
        double t1_ = moves[c].released_minus;
        double t2_ = moves[c].released_plus;
        moves[c].to_minus = t1_;
        moves[c].to_plus = t2_;
    }
    outcome = TwinVectorMachine_walk(self, moves, count, mu);
    for (c = 0; c < count; c++) {
        i = moves[c].slot;
        double t3_ = moves[c].from_minus;
        double t4_ = moves[c].from_plus;
        moves[c].to_minus = t3_;
        moves[c].to_plus = t4_;
        double t5_ = moves[c].from_minus;
        double t6_ = moves[c].from_plus;
        TwinVectorMachine_s_minus[i] = t5_;
        TwinVectorMachine_s_plus[i] = t6_;
        if (outcome == margin_set_REACHED && TwinVectorMachine_state[i] % 2 == 0) {
            outcome = TwinVectorMachine_restore_state(self, i);
        }
    }
    if (outcome != margin_set_REACHED) {
        TwinVectorMachine_solve_at(self, moves, count, mu);
    }
}

ESVM_STATIC int TwinVectorMachine_search(char *self, twin_vector_machine_Pair *pairs,
        int one_sided, int of_margin, twin_vector_machine_Pair after) {
    esvm_index i;
    int64_t j;
    esvm_index n = TwinVectorMachine_solver->n;
    int count = 0;
    int c, low;
    double distortion;
    double most = ESVM_INFINITY;
    int bounded = one_sided == TwinVectorMachine_one_sided;
    for (i = 0; i < n; i++) {
        if (count == twin_vector_machine_CANDIDATES && bounded &&
                fabs(TwinVectorMachine_distortion_bound[i]) >= most) {
            continue;
        }
        TwinVectorMachine_fill_distortions(self, i, i + 1);
        j = i;
        while (1) {
            j += 1;
            if (count == twin_vector_machine_CANDIDATES) {
                j = twin_below(TwinVectorMachine_row, j, n, most);
            }
            if (j >= n) {
                break;
            }
            distortion = TwinVectorMachine_row[j];
            if (!TwinVectorMachine_may_merge(self, i, j, one_sided, of_margin)) {
                continue;
            }
            if (distortion < after.distortion || (distortion == after.distortion && (i < after.i ||
                    (i == after.i && j <= after.j)))) {
                continue;
            }
            low = 0;
            c = count;
            while (low < c) {
                if (distortion < pairs[(low + c) / 2].distortion) {
                    c = (low + c) / 2;
                } else {
                    low = (low + c) / 2 + 1;
                }
            }
            count = (int)twin_vector_machine_CANDIDATES < count + 1 ?
                    (int)twin_vector_machine_CANDIDATES : count + 1;
            memmove(pairs + c + 1, pairs + c, (count - 1 - c) * sizeof(twin_vector_machine_Pair));
            pairs[c].distortion = distortion;
            pairs[c].i = i;
            pairs[c].j = j;
            if (count == twin_vector_machine_CANDIDATES) {
                most = pairs[count - 1].distortion;
            }
        }
    }
    return count;
}

ESVM_STATIC double TwinVectorMachine_join(char *self, esvm_index i, esvm_index j, char *q,
        margin_set_Row *kept) {
    TwinVectorMachine_blend(self, i, j, q);
    return TwinVectorMachine_error(self, i, j, q, kept);
}

ESVM_STATIC double TwinVectorMachine_fill_distortions(char *self, int64_t i, esvm_index first) {
    esvm_index j;
    esvm_index n = TwinVectorMachine_solver->n - first;
    double k_ii = TwinVectorMachine_norm_of(self, i);
    double least;
    double *row = TwinVectorMachine_row + first;
    int itself = first <= i;
    if (TwinVectorMachine_in_feature_space) {
        TwinVectorMachine_k_rows(self, TwinVectorMachine_twin(self, i),
                TwinVectorMachine_twin(self, first), n, row);
        for (j = 0; j < n; j++) {
            row[j] = k_ii + TwinVectorMachine_norm_of(self, first + j) - 2.0 * row[j];
        }
    } else {
        TwinVectorMachine_fill_squares(self, i, first, row);
    }
    if (itself) {
        TwinVectorMachine_row[i] = ESVM_INFINITY;
    }
    least = twin_weigh(TwinVectorMachine_weight_of(self, i), TwinVectorMachine_s_minus + first,
            TwinVectorMachine_s_plus + first, n, twin_vector_machine_MAX_DISTORTION, row);
    if (itself) {
        TwinVectorMachine_row[i] = twin_vector_machine_MAX_DISTORTION;
    }
    return least;
}

ESVM_STATIC int64_t TwinVectorMachine_nearest_of(char *self, int64_t i, int64_t first,
        double most) {
    int side = TwinVectorMachine_one_sided ? TwinVectorMachine_g[i] > 0.0 : -1;
    int64_t j = twin_nearest(TwinVectorMachine_row + first, TwinVectorMachine_g + first,
            TwinVectorMachine_solver->n - first, side, most);
    return j >= 0 ? first + j : -1;
}

ESVM_STATIC int TwinVectorMachine_is_gentle(char *self, esvm_index i, esvm_index j, const void *q) {
    double u = TwinVectorMachine_coef[i];
    double v = TwinVectorMachine_coef[j];
    double k_qq, square;
    double k[3];
    k_qq = TwinVectorMachine_kernel.kind == kernels_RBF ? 1.0 : TwinVectorMachine_k_wide(self, q,
            q);
    TwinVectorMachine_sums(self, TwinVectorMachine_twin(self, i), TwinVectorMachine_twin(self, j),
            1, k);
    TwinVectorMachine_sums(self, q, TwinVectorMachine_twin(self, i), 1, k + 1);
    TwinVectorMachine_sums(self, q, TwinVectorMachine_twin(self, j), 1, k + 2);
    tiles_kernel_of_sums(&TwinVectorMachine_kernel, k, 3);
    square = u * u * TwinVectorMachine_norm_of(self, i) + v * v * TwinVectorMachine_norm_of(self,
            j) + (u + v) * (u + v) * k_qq + 2.0 * u * v * k[0] - 2.0 * (u + v) * (u * k[1] + v *
            k[2]);
    return esvm_sqrt(esvm_max(square, 0.0) * k_qq) <= twin_vector_machine_MAX_SHIFT *
            TwinVectorMachine_solver->mu;
}

ESVM_STATIC void TwinVectorMachine_blend(char *self, esvm_index i, esvm_index j, char *q) {
    double s_i = TwinVectorMachine_weight_of(self, i);
    double s_j = TwinVectorMachine_weight_of(self, j);
    TwinVectorMachine_mix(self, i, j, TwinVectorMachine_in_feature_space ?
            TwinVectorMachine_on_the_line(self, i, j, q) : ESVM_DIVIDE(s_j, s_i + s_j), q);
}

ESVM_STATIC double TwinVectorMachine_error(char *self, esvm_index i, esvm_index j, const void *q,
        margin_set_Row *kept) {
    double s_i = TwinVectorMachine_weight_of(self, i);
    double s_j = TwinVectorMachine_weight_of(self, j);
    double expected;
    expected = ESVM_DIVIDE(s_i * TwinVectorMachine_g[i] + s_j * TwinVectorMachine_g[j], s_i + s_j);
    return ESVM_DIVIDE(fabs(TwinVectorMachine_g_of(self, q, kept) - expected),
            esvm_max(fabs(expected), 1e-300));
}

ESVM_STATIC int TwinVectorMachine_counts_as_above(char *self, int64_t i) {
    return !TwinVectorMachine_one_sided || TwinVectorMachine_g[i] > 0.0;
}

ESVM_STATIC void TwinVectorMachine_leave(char *self, esvm_index p, int to) {
    packed_factor_PackedFactor factor_ = TwinVectorMachine_factor_of(self);
    margin_set_Solver *v = TwinVectorMachine_solver;
    esvm_index j, n_rows;
    esvm_index i = TwinVectorMachine_S[p];
    TwinVectorMachine_state[i] = to;
    TwinVectorMachine_coef[i] = margin_set_plateau(to, TwinVectorMachine_s_minus[i],
            TwinVectorMachine_s_plus[i]);
    memmove(TwinVectorMachine_S + p, TwinVectorMachine_S + p + 1, (v->m - 1 - p) * sizeof(int32_t));
    n_rows = packed_factor_factor_remove(&factor_, p);
    esvm_index t1_ = packed_factor_factor_rows(&factor_, v->m);
    for (j = n_rows; j < t1_; j++) {
        TwinVectorMachine_fill_row(self, TwinVectorMachine_twin(self, TwinVectorMachine_S[j]),
                packed_factor_factor_row(&factor_, j));
    }
}

ESVM_STATIC esvm_index TwinVectorMachine_place_on_S(char *self, esvm_index i) {
    esvm_index p;
    for (p = 0; p < TwinVectorMachine_solver->m; p++) {
        if (TwinVectorMachine_S[p] == i) {
            return p;
        }
    }
    return 0;
}

ESVM_STATIC void TwinVectorMachine_fill_row(char *self, const void *x, double *row) {
    TwinVectorMachine_k_rows(self, x, TwinVectorMachine_vectors, TwinVectorMachine_solver->n, row);
}

ESVM_STATIC void TwinVectorMachine_begin(char *self, path_Walk *walk, path_Move *moves, int count,
        double mu) {
    esvm_index i;
    int c;
    double total = 0.0;
    walk->moves = moves;
    walk->count = count;
    walk->t = 0.0;
    double t1_ = mu;
    double t2_ = mu - TwinVectorMachine_solver->mu;
    walk->mu = t1_;
    walk->d_mu = t2_;
    for (c = 0; c < count; c++) {
        i = moves[c].slot;
        moves[c].d_minus = moves[c].to_minus - TwinVectorMachine_s_minus[i];
        moves[c].d_plus = moves[c].to_plus - TwinVectorMachine_s_plus[i];
        moves[c].rate = 0.0;
        moves[c].state = -1;
        TwinVectorMachine_resolve_sides(self, i, moves[c].d_minus, moves[c].d_plus);
    }
    twin_offsets(TwinVectorMachine_g, TwinVectorMachine_state, TwinVectorMachine_s_minus,
            TwinVectorMachine_s_plus, TwinVectorMachine_solver->mu, TwinVectorMachine_solver->n,
            TwinVectorMachine_off);
    memset(TwinVectorMachine_push, 0, TwinVectorMachine_solver->n * sizeof(double));
    esvm_index t3_;
    for (t3_ = 0; t3_ < TwinVectorMachine_solver->n; t3_++) {
        i = t3_;
        total += TwinVectorMachine_coef[i];
    }
    walk->total = total;
    walk->largest = 1.0;
    if (TwinVectorMachine_kernel.kind != kernels_RBF) {
        walk->largest = 0.0;
        esvm_index t4_;
        for (t4_ = 0; t4_ < TwinVectorMachine_solver->n; t4_++) {
            i = t4_;
            walk->largest = esvm_max(walk->largest, TwinVectorMachine_norm_of(self, i));
        }
    }
}

ESVM_STATIC void TwinVectorMachine_plateau_rates(char *self, path_Walk *walk) {
    path_Move *move;
    int c, state;
    double rate;
    walk->push_sum = 0.0;
    walk->push_size = 0.0;
    int t1_ = walk->count;
    for (c = 0; c < t1_; c++) {
        move = walk->moves + c;
        state = TwinVectorMachine_state[move->slot];
        if (state != move->state) {
            rate = state % 2 ? 0.0 : margin_set_plateau(state, move->d_minus, move->d_plus);
            if (rate != move->rate) {
                TwinVectorMachine_fill_known_row(self, TwinVectorMachine_twin(self, move->slot),
                        move->known, TwinVectorMachine_row);
                twin_add(rate - move->rate, TwinVectorMachine_row, TwinVectorMachine_push,
                        TwinVectorMachine_solver->n);
            }
            move->rate = rate;
            move->state = state;
        }
        walk->push_sum += move->rate;
        walk->push_size += fabs(move->rate);
    }
}

ESVM_STATIC double TwinVectorMachine_size(char *self, const path_Walk *walk) {
    double size = walk->push_size;
    esvm_index i;
    for (i = 0; i < TwinVectorMachine_solver->n; i++) {
        size += fabs(TwinVectorMachine_coef[i]);
    }
    return size;
}

ESVM_STATIC margin_set_Outcome TwinVectorMachine_shift(char *self, double surplus,
        const path_Walk *walk) {
    margin_set_Solver *v = TwinVectorMachine_solver;
    path_Edge edges[2];
    path_Edge nearest = {0};
    esvm_index i;
    esvm_index twin = -1;
    int c;
    double move;
    nearest.gap = ESVM_INFINITY;
    esvm_index t1_ = v->n;
    for (i = 0; i < t1_; i++) {
        int t2_ = TwinVectorMachine_edges(self, walk, i, 0.0, edges);
        for (c = 0; c < t2_; c++) {
            if (edges[c].direction * surplus < 0.0 && edges[c].gap < nearest.gap) {
                nearest = edges[c];
                twin = i;
            }
        }
    }
    if (twin < 0) {
        return margin_set_STUCK;
    }
    move = surplus > 0.0 ? esvm_max(nearest.gap, 0.0) : -esvm_max(nearest.gap, 0.0);
    v->b += move;
    esvm_index t3_ = v->n;
    for (i = 0; i < t3_; i++) {
        TwinVectorMachine_g[i] += move;
    }
    v->n_path_events += 1;
    return TwinVectorMachine_enter(self, twin, nearest.to, nearest.direction, NULL);
}

ESVM_STATIC void TwinVectorMachine_direct(char *self, path_Walk *walk) {
    packed_factor_PackedFactor factor_ = TwinVectorMachine_factor_of(self);
    margin_set_Solver *v = TwinVectorMachine_solver;
    double *border = TwinVectorMachine_factor_border;
    double *rate = TwinVectorMachine_rate;
    const double *push = TwinVectorMachine_push;
    esvm_index i;
    int64_t p;
    int64_t n_rows = packed_factor_factor_rows(&factor_, v->m);
    if (v->m == 0) {
        walk->db = 0.0;
        memcpy(TwinVectorMachine_rate, TwinVectorMachine_push, v->n * sizeof(double));
        return;
    }
    border[0] = -walk->total - walk->push_sum;
    int64_t t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        i = TwinVectorMachine_S[p];
        border[1 + p] = (TwinVectorMachine_state[i] == 3 ? walk->d_mu : -walk->d_mu) -
                TwinVectorMachine_off[i] - TwinVectorMachine_push[i];
    }
    packed_factor_factor_solve(&factor_);
    walk->db = TwinVectorMachine_factor_solution[0];
    esvm_index t2_ = v->n;
    esvm_index t3_;
    for (t3_ = 0; t3_ < t2_; t3_++) {
        i = t3_;
        rate[i] = push[i] + walk->db;
    }
    twin_add_rows(TwinVectorMachine_factor_solution + 1, packed_factor_factor_row(&factor_, 0),
            -TwinVectorMachine_factor_width, n_rows, TwinVectorMachine_rate, v->n);
    n_rows = twin_add_blocks(TwinVectorMachine_kernel.kind, TwinVectorMachine_kernel.gamma,
            TwinVectorMachine_vectors, TwinVectorMachine_n_features, TwinVectorMachine_S,
            TwinVectorMachine_factor_solution + 1, n_rows, v->m, TwinVectorMachine_rate, v->n);
    int64_t t4_ = v->m;
    for (p = n_rows; p < t4_; p++) {
        twin_add(TwinVectorMachine_factor_solution[1 + p], TwinVectorMachine_row_of(self, p),
                TwinVectorMachine_rate, v->n);
    }
}

ESVM_STATIC void TwinVectorMachine_first_event(char *self, const path_Walk *walk,
        path_Event *event) {
    event->length = 1.0 - walk->t;
    event->place = -1;
    event->twin = -1;
    event->to = 0;
    event->direction = 0;
    TwinVectorMachine_first_to_leave(self, walk, event);
    TwinVectorMachine_first_to_enter(self, walk, event);
}

ESVM_STATIC void TwinVectorMachine_advance(char *self, path_Walk *walk, double length,
        int arrived) {
    margin_set_Solver *v = TwinVectorMachine_solver;
    const path_Move *move;
    esvm_index i, p;
    int c;
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        TwinVectorMachine_coef[TwinVectorMachine_S[p]] += length *
                TwinVectorMachine_factor_solution[1 + p];
    }
    twin_add(length, TwinVectorMachine_rate, TwinVectorMachine_g, v->n);
    v->b += length * walk->db;
    v->mu = arrived ? walk->mu : v->mu + length * walk->d_mu;
    walk->t += length;
    int t2_ = walk->count;
    for (c = 0; c < t2_; c++) {
        move = walk->moves + c;
        i = move->slot;
        TwinVectorMachine_s_minus[i] = arrived ? move->to_minus : TwinVectorMachine_s_minus[i] +
                length * move->d_minus;
        TwinVectorMachine_s_plus[i] = arrived ? move->to_plus : TwinVectorMachine_s_plus[i] +
                length * move->d_plus;
        if (TwinVectorMachine_state[i] % 2 == 0) {
            TwinVectorMachine_coef[i] = margin_set_plateau(TwinVectorMachine_state[i],
                    TwinVectorMachine_s_minus[i], TwinVectorMachine_s_plus[i]);
        }
    }
}

ESVM_STATIC margin_set_Outcome TwinVectorMachine_enter(char *self, esvm_index i, int step,
        int direction, margin_set_Row *known) {
    packed_factor_PackedFactor factor_ = TwinVectorMachine_factor_of(self);
    margin_set_Solver *v = TwinVectorMachine_solver;
    double delta;
    int _tries;
    TwinVectorMachine_state[i] = step;
    for (_tries = 0; _tries < margin_set_MANY_EXCHANGES; _tries++) {
        delta = TwinVectorMachine_sensitivity(self, i, known);
        if (delta > margin_set_SINGULAR * (TwinVectorMachine_row[i] + v->lift)) {
            if (!packed_factor_factor_has_room(&factor_)) {
                TwinVectorMachine_state[i] = step + direction;
                return margin_set_OVERFLOWED;
            }
            TwinVectorMachine_S[v->m] = (int32_t)i;
            packed_factor_factor_append(&factor_, delta, TwinVectorMachine_row, v->n);
            return margin_set_REACHED;
        }
        if (!TwinVectorMachine_exchange(self, i, direction)) {
            return margin_set_REACHED;
        }
    }
    TwinVectorMachine_state[i] = step + direction;
    return margin_set_STUCK;
}

ESVM_STATIC margin_set_Row *TwinVectorMachine_known_row(char *self, const path_Walk *walk,
        esvm_index i) {
    (void)self;
    int c;
    int t1_ = walk->count;
    for (c = 0; c < t1_; c++) {
        if (walk->moves[c].slot == i) {
            return walk->moves[c].known;
        }
    }
    return NULL;
}

ESVM_STATIC const double *TwinVectorMachine_row_of(char *self, int64_t p) {
    packed_factor_PackedFactor factor_ = TwinVectorMachine_factor_of(self);
    if (p < packed_factor_factor_rows(&factor_, TwinVectorMachine_solver->m)) {
        return packed_factor_factor_row(&factor_, p);
    }
    TwinVectorMachine_fill_row(self, TwinVectorMachine_twin(self, TwinVectorMachine_S[p]),
            TwinVectorMachine_row);
    return TwinVectorMachine_row;
}

ESVM_STATIC margin_set_Outcome TwinVectorMachine_restore_state(char *self, esvm_index i) {
    double mu = TwinVectorMachine_solver->mu;
    double low = -TwinVectorMachine_s_minus[i];
    double high = TwinVectorMachine_s_plus[i];
    double middle = high + low;
    if (low < TwinVectorMachine_coef[i] && TwinVectorMachine_coef[i] < middle) {
        return TwinVectorMachine_enter(self, i, 3, 1, NULL);
    }
    if (middle < TwinVectorMachine_coef[i] && TwinVectorMachine_coef[i] < high) {
        return TwinVectorMachine_enter(self, i, 1, 1, NULL);
    }
    if (TwinVectorMachine_coef[i] == middle) {
        TwinVectorMachine_state[i] = 2;
        if (middle == high && TwinVectorMachine_g[i] < -mu && low < 0.0) {
            TwinVectorMachine_state[i] = 0;
        } else if (middle == low && TwinVectorMachine_g[i] > mu && high > 0.0) {
            TwinVectorMachine_state[i] = 4;
        }
    } else {
        TwinVectorMachine_state[i] = TwinVectorMachine_coef[i] >= high ? 0 : 4;
    }
    return margin_set_REACHED;
}

ESVM_STATIC void TwinVectorMachine_from_scratch(char *self) {
    margin_set_Solver *v = TwinVectorMachine_solver;
    esvm_index i, j, c;
    esvm_index left = 10000 + 2000 * v->n;
    double up, down;
    double highest = 0.0;
    double lowest = 0.0;
    double middle, top, bottom, curve, step;
    v->n_from_scratch += 1;
    esvm_index t1_ = v->n;
    esvm_index t2_;
    for (t2_ = 0; t2_ < t1_; t2_++) {
        i = t2_;
        TwinVectorMachine_coef[i] = 0.0;
        TwinVectorMachine_g[i] = 0.0;
    }
    while (left) {
        left -= 1;
        i = -1;
        j = -1;
        highest = -ESVM_INFINITY;
        lowest = ESVM_INFINITY;
        esvm_index t3_ = v->n;
        for (c = 0; c < t3_; c++) {
            middle = TwinVectorMachine_s_plus[c] - TwinVectorMachine_s_minus[c];
            up = (TwinVectorMachine_coef[c] < middle ? v->mu : -v->mu) - TwinVectorMachine_g[c];
            down = (TwinVectorMachine_coef[c] > middle ? -v->mu : v->mu) - TwinVectorMachine_g[c];
            if (TwinVectorMachine_coef[c] < TwinVectorMachine_s_plus[c] && up > highest) {
                highest = up;
                i = c;
            }
            if (TwinVectorMachine_coef[c] > -TwinVectorMachine_s_minus[c] && down < lowest) {
                lowest = down;
                j = c;
            }
        }
        if (i < 0 || j < 0 || !(highest - lowest > 1e-3 * margin_set_EVENT_TOLERANCE * v->mu)) {
            break;
        }
        middle = TwinVectorMachine_s_plus[i] - TwinVectorMachine_s_minus[i];
        top = TwinVectorMachine_coef[i] < middle ? middle : TwinVectorMachine_s_plus[i];
        middle = TwinVectorMachine_s_plus[j] - TwinVectorMachine_s_minus[j];
        bottom = TwinVectorMachine_coef[j] > middle ? middle : -TwinVectorMachine_s_minus[j];
        TwinVectorMachine_fill_row(self, TwinVectorMachine_twin(self, i), TwinVectorMachine_row);
        TwinVectorMachine_fill_row(self, TwinVectorMachine_twin(self, j), TwinVectorMachine_rate);
        curve = esvm_max(TwinVectorMachine_row[i] + TwinVectorMachine_rate[j] - 2.0 *
                TwinVectorMachine_row[j], 1e-14 * (TwinVectorMachine_row[i] +
                TwinVectorMachine_rate[j]));
        step = ESVM_DIVIDE(highest - lowest, curve);
        if (step < top - TwinVectorMachine_coef[i] && step < TwinVectorMachine_coef[j] - bottom) {
            TwinVectorMachine_coef[i] += step;
            TwinVectorMachine_coef[j] -= step;
        } else if (top - TwinVectorMachine_coef[i] <= TwinVectorMachine_coef[j] - bottom) {
            step = top - TwinVectorMachine_coef[i];
            TwinVectorMachine_coef[i] = top;
            TwinVectorMachine_coef[j] -= step;
        } else {
            step = TwinVectorMachine_coef[j] - bottom;
            TwinVectorMachine_coef[i] += step;
            TwinVectorMachine_coef[j] = bottom;
        }
        esvm_index t4_ = v->n;
        for (c = 0; c < t4_; c++) {
            TwinVectorMachine_g[c] += step * (TwinVectorMachine_row[c] - TwinVectorMachine_rate[c]);
        }
    }
    if (esvm_is_finite(highest) && esvm_is_finite(lowest)) {
        v->b = 0.5 * (highest + lowest);
    } else {
        v->b = esvm_is_finite(highest) ? highest : esvm_is_finite(lowest) ? lowest : 0.0;
    }
    TwinVectorMachine_refresh(self);
    TwinVectorMachine_rebuild(self);
}

ESVM_STATIC int TwinVectorMachine_may_merge(char *self, esvm_index i, int64_t j, int one_sided,
        int of_margin) {
    if (of_margin && !(TwinVectorMachine_state[i] % 2 && TwinVectorMachine_state[j] % 2)) {
        return 0;
    }
    return !one_sided || (TwinVectorMachine_g[i] > 0.0) == (TwinVectorMachine_g[j] > 0.0);
}

ESVM_STATIC double TwinVectorMachine_norm_of(char *self, int64_t i) {
    if (TwinVectorMachine_kernel.kind == kernels_RBF) {
        return 1.0;
    }
    return TwinVectorMachine_k_wide(self, TwinVectorMachine_twin(self, i),
            TwinVectorMachine_twin(self, i));
}

ESVM_STATIC void TwinVectorMachine_fill_squares(char *self, int64_t i, esvm_index first,
        double *row) {
#if ESVM_IS_FLOAT32
    rows_square_distances_f32((const float *)TwinVectorMachine_twin(self, i),
            (const float *)TwinVectorMachine_twin(self, first), TwinVectorMachine_n_features,
            TwinVectorMachine_solver->n - first, row);
#else
    rows_square_distances_f64((const double *)TwinVectorMachine_twin(self, i),
            (const double *)TwinVectorMachine_twin(self, first), TwinVectorMachine_n_features,
            TwinVectorMachine_solver->n - first, row);
#endif
}

ESVM_STATIC double TwinVectorMachine_weight_of(char *self, int64_t i) {
    return TwinVectorMachine_s_minus[i] + TwinVectorMachine_s_plus[i];
}

ESVM_STATIC void TwinVectorMachine_sums(char *self, const void *x, const void *rows, esvm_index n,
        double *out) {
    (void)self;
    rows_any_kernel_sums(&TwinVectorMachine_kernel, x, rows, TwinVectorMachine_n_features, n, out);
}

ESVM_STATIC void TwinVectorMachine_mix(char *self, esvm_index i, esvm_index j, double part,
        char *q) {
#if ESVM_IS_FLOAT32
    twin_vector_machine_between_f32((float *)TwinVectorMachine_twin(self, i),
            (float *)TwinVectorMachine_twin(self, j), part, (float *)q,
            TwinVectorMachine_n_features);
#else
    twin_vector_machine_between_f64((double *)TwinVectorMachine_twin(self, i),
            (double *)TwinVectorMachine_twin(self, j), part, (double *)q,
            TwinVectorMachine_n_features);
#endif
}

ESVM_STATIC double TwinVectorMachine_on_the_line(char *self, esvm_index i, esvm_index j, char *q) {
    int c, _c;
    int best = 0;
    double low, high, a, b, cost;
    double least = 1e300;
    for (c = 0; c < twin_vector_machine_PLACES; c++) {
        cost = TwinVectorMachine_cost(self, i, j, ESVM_DIVIDE(c, twin_vector_machine_PLACES - 1.0),
                q);
        if (cost < least - twin_vector_machine_TIE * fabs(least)) {
            best = c;
            least = cost;
        }
    }
    low = ESVM_DIVIDE(0 > best - 1 ? 0 : best - 1, twin_vector_machine_PLACES - 1.0);
    high = ESVM_DIVIDE(twin_vector_machine_PLACES - 1 < best + 1 ? twin_vector_machine_PLACES - 1 :
            best + 1, twin_vector_machine_PLACES - 1.0);
    for (_c = 0; _c < twin_vector_machine_SECTIONS; _c++) {
        a = high - twin_vector_machine_GOLDEN * (high - low);
        b = low + twin_vector_machine_GOLDEN * (high - low);
        if (TwinVectorMachine_cost(self, i, j, a, q) <= TwinVectorMachine_cost(self, i, j, b, q)) {
            high = b;
        } else {
            low = a;
        }
    }
    return 0.5 * (low + high);
}

ESVM_STATIC void TwinVectorMachine_resolve_sides(char *self, esvm_index i, double d_minus,
        double d_plus) {
    if (TwinVectorMachine_s_plus[i] == 0.0 && TwinVectorMachine_state[i] % 2 == 0 &&
            TwinVectorMachine_state[i] > 0) {
        TwinVectorMachine_state[i] = TwinVectorMachine_side(self, TwinVectorMachine_g[i], 0,
                d_plus > 0.0);
    }
    if (TwinVectorMachine_s_minus[i] == 0.0 && TwinVectorMachine_state[i] % 2 == 0 &&
            TwinVectorMachine_state[i] < 4) {
        TwinVectorMachine_state[i] = TwinVectorMachine_side(self, TwinVectorMachine_g[i], d_minus >
                0.0, 0);
    }
}

ESVM_STATIC int TwinVectorMachine_edges(char *self, const path_Walk *walk, int64_t i, double dg,
        path_Edge *edges) {
    double g = TwinVectorMachine_g[i];
    double off = TwinVectorMachine_off[i];
    double rest = 1.0 - walk->t;
    double up, down;
    double mu = TwinVectorMachine_solver->mu;
    double d_mu = walk->d_mu;
    int lower = TwinVectorMachine_s_minus[i] > 0.0;
    int upper = TwinVectorMachine_s_plus[i] > 0.0;
    int c;
    int count = 0;
    int t1_ = walk->count;
    for (c = 0; c < t1_; c++) {
        if (walk->moves[c].slot == i) {
            lower |= walk->moves[c].d_minus > 0.0;
            upper |= walk->moves[c].d_plus > 0.0;
        }
    }
    if (TwinVectorMachine_state[i] == 0 && lower) {
        edges[0] = (path_Edge){-mu + off * rest - g, dg + d_mu + off, 1, -1};
        count = 1;
    } else if (TwinVectorMachine_state[i] == 4 && upper) {
        edges[0] = (path_Edge){g - mu - off * rest, d_mu - dg - off, 3, 1};
        count = 1;
    } else if (TwinVectorMachine_state[i] == 2) {
        up = esvm_max(off, 0.0);
        down = esvm_min(off, 0.0);
        if (upper) {
            edges[count] = (path_Edge){mu + up * rest - g, dg - d_mu + up, 3, -1};
            count += 1;
        }
        if (lower) {
            edges[count] = (path_Edge){g + mu - down * rest, -dg - d_mu - down, 1, 1};
            count += 1;
        }
    }
    return count;
}

ESVM_STATIC void TwinVectorMachine_first_to_leave(char *self, const path_Walk *walk,
        path_Event *event) {
    margin_set_Solver *v = TwinVectorMachine_solver;
    const path_Move *move;
    esvm_index i, p;
    int c;
    double low, high, d_low, d_high, step, size;
    double rest = 1.0 - walk->t;
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        i = TwinVectorMachine_S[p];
        step = TwinVectorMachine_factor_solution[1 + p];
        size = fabs(TwinVectorMachine_coef[i]) + fabs(step) +
                ESVM_DIVIDE(fabs(TwinVectorMachine_factor_border[1 + p] - walk->db) + 0.01 *
                fabs(walk->db), TwinVectorMachine_norm_of(self, i) + v->lift);
        TwinVectorMachine_step_bounds(self, i, &low, &high);
        d_low = 0.0;
        d_high = 0.0;
        int t2_ = walk->count;
        for (c = 0; c < t2_; c++) {
            move = walk->moves + c;
            if (move->slot == i) {
                d_low = margin_set_plateau(TwinVectorMachine_state[i] + 1, move->d_minus,
                        move->d_plus);
                d_high = margin_set_plateau(TwinVectorMachine_state[i] - 1, move->d_minus,
                        move->d_plus);
            }
        }
        if (path_comes_first(high - TwinVectorMachine_coef[i], step - d_high, rest, path_ROUNDING *
                size, &event->length)) {
            esvm_index t3_ = p;
            int t4_ = TwinVectorMachine_state[i] - 1;
            event->place = t3_;
            event->to = t4_;
        }
        if (path_comes_first(TwinVectorMachine_coef[i] - low, d_low - step, rest, path_ROUNDING *
                size, &event->length)) {
            esvm_index t5_ = p;
            int t6_ = TwinVectorMachine_state[i] + 1;
            event->place = t5_;
            event->to = t6_;
        }
    }
}

ESVM_STATIC void TwinVectorMachine_first_to_enter(char *self, const path_Walk *walk,
        path_Event *event) {
    double rest = 1.0 - walk->t;
    double mu = TwinVectorMachine_solver->mu;
    double d_mu = fabs(walk->d_mu);
    double tolerance = TwinVectorMachine_tolerance(self, walk);
    path_Edge edges[2];
    int64_t i = -1;
    esvm_index n = TwinVectorMachine_solver->n;
    int c;
    while (1) {
        i = twin_near(TwinVectorMachine_g, TwinVectorMachine_rate, TwinVectorMachine_off,
                TwinVectorMachine_state, i + 1, n, mu, d_mu, rest, tolerance);
        if (i == n) {
            break;
        }
        int t1_ = TwinVectorMachine_edges(self, walk, i, TwinVectorMachine_rate[i], edges);
        for (c = 0; c < t1_; c++) {
            if (path_comes_first(edges[c].gap, edges[c].rate, rest, tolerance, &event->length)) {
                event->twin = i;
                int t2_ = edges[c].to;
                int t3_ = edges[c].direction;
                event->to = t2_;
                event->direction = t3_;
            }
        }
    }
}

ESVM_STATIC double TwinVectorMachine_sensitivity(char *self, esvm_index i, margin_set_Row *known) {
    packed_factor_PackedFactor factor_ = TwinVectorMachine_factor_of(self);
    margin_set_Solver *v = TwinVectorMachine_solver;
    esvm_index p;
    TwinVectorMachine_fill_known_row(self, TwinVectorMachine_twin(self, i), known,
            TwinVectorMachine_row);
    if (v->m == 0) {
        v->lift = TwinVectorMachine_row[i] > 0.0 ? TwinVectorMachine_row[i] : 1.0;
    }
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        TwinVectorMachine_factor_border[1 + p] = TwinVectorMachine_row[TwinVectorMachine_S[p]] +
                v->lift;
    }
    return packed_factor_factor_complement(&factor_, TwinVectorMachine_row[i]);
}

ESVM_STATIC int TwinVectorMachine_exchange(char *self, esvm_index i, int direction) {
    packed_factor_PackedFactor factor_ = TwinVectorMachine_factor_of(self);
    margin_set_Solver *v = TwinVectorMachine_solver;
    double *u = TwinVectorMachine_factor_solution;
    esvm_index p, j;
    esvm_index first = -1;
    int end = 0;
    double low, high, room, gap, rate, move;
    v->n_exchanges += 1;
    TwinVectorMachine_factor_border[0] = 1.0;
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        TwinVectorMachine_factor_border[1 + p] = TwinVectorMachine_row[TwinVectorMachine_S[p]];
    }
    packed_factor_factor_solve(&factor_);
    TwinVectorMachine_step_bounds(self, i, &low, &high);
    room = direction > 0 ? high - TwinVectorMachine_coef[i] : TwinVectorMachine_coef[i] - low;
    esvm_index t2_ = v->m;
    for (p = 0; p < t2_; p++) {
        j = TwinVectorMachine_S[p];
        rate = -direction * u[1 + p];
        TwinVectorMachine_step_bounds(self, j, &low, &high);
        gap = esvm_max(rate > 0 ? high - TwinVectorMachine_coef[j] : TwinVectorMachine_coef[j] -
                low, 0.0);
        if (fabs(rate) > margin_set_NULL_TOLERANCE && gap < room * fabs(rate)) {
            room = ESVM_DIVIDE(gap, fabs(rate));
            first = p;
            end = TwinVectorMachine_state[j] + (rate > 0 ? -1 : 1);
        }
    }
    move = direction * room;
    TwinVectorMachine_coef[i] += move;
    v->b -= move * u[0];
    twin_add(move, TwinVectorMachine_row, TwinVectorMachine_g, v->n);
    esvm_index t3_ = v->n;
    esvm_index t4_;
    for (t4_ = 0; t4_ < t3_; t4_++) {
        j = t4_;
        TwinVectorMachine_g[j] -= move * u[0];
    }
    esvm_index t5_ = v->m;
    for (p = 0; p < t5_; p++) {
        TwinVectorMachine_coef[TwinVectorMachine_S[p]] -= move * u[1 + p];
        twin_add(-move * u[1 + p], TwinVectorMachine_row_of(self, p), TwinVectorMachine_g, v->n);
    }
    if (first >= 0) {
        TwinVectorMachine_leave(self, first, end);
        return 1;
    }
    TwinVectorMachine_state[i] -= direction;
    TwinVectorMachine_coef[i] = margin_set_plateau(TwinVectorMachine_state[i],
            TwinVectorMachine_s_minus[i], TwinVectorMachine_s_plus[i]);
    return 0;
}

ESVM_STATIC double TwinVectorMachine_cost(char *self, esvm_index i, esvm_index j, double part,
        char *q) {
    TwinVectorMachine_mix(self, i, j, part, q);
    return (TwinVectorMachine_weight_of(self, i) + TwinVectorMachine_weight_of(self, j)) *
            TwinVectorMachine_k_wide(self, q, q) - 2.0 * (TwinVectorMachine_weight_of(self, i) *
            TwinVectorMachine_k_wide(self, q, TwinVectorMachine_twin(self, i)) +
            TwinVectorMachine_weight_of(self, j) * TwinVectorMachine_k_wide(self, q,
            TwinVectorMachine_twin(self, j)));
}

ESVM_STATIC void TwinVectorMachine_step_bounds(char *self, esvm_index i, double *low,
        double *high) {
    low[0] = margin_set_plateau(TwinVectorMachine_state[i] + 1, TwinVectorMachine_s_minus[i],
            TwinVectorMachine_s_plus[i]);
    high[0] = margin_set_plateau(TwinVectorMachine_state[i] - 1, TwinVectorMachine_s_minus[i],
            TwinVectorMachine_s_plus[i]);
}

ESVM_STATIC double TwinVectorMachine_tolerance(char *self, const path_Walk *walk) {
    double size;
    double sums = 0.0;
    esvm_index i;
    for (i = 0; i < TwinVectorMachine_solver->n; i++) {
        size = fabs(TwinVectorMachine_coef[i]);
        sums += TwinVectorMachine_kernel.kind == kernels_RBF ? size : size *
                esvm_sqrt(TwinVectorMachine_norm_of(self, i));
    }
    return path_EVENT_TOLERANCE * TwinVectorMachine_solver->mu + path_NOISE *
            esvm_sqrt(walk->largest) * sums;
}

#endif

#endif
