/* Translated from edgesvm/learners/twin/_twin_dictionary_svm.*: change that, then `make translate`. */

#ifndef EDGESVM_TWIN_DICTIONARY_SVM_H
#define EDGESVM_TWIN_DICTIONARY_SVM_H

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
#include "twin_vector_machine.h"

#define twin_dictionary_svm_LEAST_WEIGHT 1e-100
#define twin_dictionary_svm_LARGEST_WEIGHT 1e+100
#define twin_dictionary_svm_EDGE 1e-09
#define twin_dictionary_svm_RIDGE 0.001
typedef struct {
    int64_t settled_at;
    int64_t n_refined;
} twin_dictionary_svm_Dictionary;

#ifdef TwinDictionarySVM_n_features

#define TwinDictionarySVM_common ((core_Common *)self)
#define TwinDictionarySVM_n_per_class ((int64_t *)(self + TwinDictionarySVM_AT_n_per_class))
#define TwinDictionarySVM_scores ((double *)ESVM_SCRATCH(TwinDictionarySVM_AT_scores))
#define TwinDictionarySVM_solver ((margin_set_Solver *)(self + TwinDictionarySVM_AT_mu))
#define TwinDictionarySVM_s_minus ((double *)(self + TwinDictionarySVM_AT_s_minus))
#define TwinDictionarySVM_s_plus ((double *)(self + TwinDictionarySVM_AT_s_plus))
#define TwinDictionarySVM_coef ((double *)(self + TwinDictionarySVM_AT_coef))
#define TwinDictionarySVM_g ((double *)(self + TwinDictionarySVM_AT_g))
#define TwinDictionarySVM_rate ((double *)(self + TwinDictionarySVM_AT_rate))
#define TwinDictionarySVM_row ((double *)(self + TwinDictionarySVM_AT_row))
#define TwinDictionarySVM_S ((int32_t *)(self + TwinDictionarySVM_AT_S))
#define TwinDictionarySVM_state ((int8_t *)(self + TwinDictionarySVM_AT_state))
#define TwinDictionarySVM_vectors ((char *)(self + TwinDictionarySVM_AT_vectors))
#define TwinDictionarySVM_factor_pool ((double *)(self + TwinDictionarySVM_AT_pool))
#define TwinDictionarySVM_factor_ones ((double *)(self + TwinDictionarySVM_AT_ones))
#define TwinDictionarySVM_factor_border ((double *)(self + TwinDictionarySVM_AT_border))
#define TwinDictionarySVM_factor_solution ((double *)(self + TwinDictionarySVM_AT_solution))
#define TwinDictionarySVM_off ((double *)(self + TwinDictionarySVM_AT_off))
#define TwinDictionarySVM_push ((double *)(self + TwinDictionarySVM_AT_push))
#define TwinDictionarySVM_counters ((twin_vector_machine_Counters *)(self + TwinDictionarySVM_AT_n_accepted))
#define TwinDictionarySVM_distortion_bound ((double *)(self + TwinDictionarySVM_AT_distortion_bound))
#define TwinDictionarySVM_dictionary ((twin_dictionary_svm_Dictionary *)(self + TwinDictionarySVM_AT_settled_at))
#define TwinDictionarySVM_factor_order (&TwinDictionarySVM_solver->m)
#define TwinDictionarySVM_factor_lift (&TwinDictionarySVM_solver->lift)

static const kernels_Kernel TwinDictionarySVM_kernel = TwinDictionarySVM_KERNEL;

ESVM_STATIC packed_factor_PackedFactor TwinDictionarySVM_factor_of(char *self) {
    packed_factor_PackedFactor made;
    (void)self;
    made.pool = TwinDictionarySVM_factor_pool;
    made.length = TwinDictionarySVM_factor_length;
    made.width = TwinDictionarySVM_factor_width;
    made.order = TwinDictionarySVM_factor_order;
    made.lift = TwinDictionarySVM_factor_lift;
    made.ones = TwinDictionarySVM_factor_ones;
    made.border = TwinDictionarySVM_factor_border;
    made.solution = TwinDictionarySVM_factor_solution;
    return made;
}

ESVM_STATIC status_Status TwinDictionarySVM_learn_row(char *self, const void *x, int slot,
        double weight);
ESVM_STATIC status_Status TwinDictionarySVM_answer(char *self, const void *x, double *out);
ESVM_STATIC int TwinDictionarySVM_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t TwinDictionarySVM_n_learned(char *self);
ESVM_STATIC status_Status TwinDictionarySVM_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status TwinDictionarySVM_decide(char *self, const void *x, double *value);
ESVM_STATIC void TwinDictionarySVM_count(char *self, int slot, status_Status status);
ESVM_STATIC void TwinDictionarySVM_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int TwinDictionarySVM_n_answers(char *self);
ESVM_STATIC int TwinDictionarySVM_slot_for(char *self, double value);
ESVM_STATIC status_Status TwinDictionarySVM_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC double TwinDictionarySVM_class_weight(char *self, double y);
ESVM_STATIC int TwinDictionarySVM_refuses_to_decide(char *self, const void *x);
ESVM_STATIC double TwinDictionarySVM_g_of(char *self, const void *x, margin_set_Row *kept);
ESVM_STATIC status_Status TwinDictionarySVM_refine(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status TwinDictionarySVM_TwinVectorMachine_step(char *self, const void *x,
        double y, double weight);
ESVM_STATIC void TwinDictionarySVM_settle(char *self);
ESVM_STATIC double TwinDictionarySVM_norm(char *self, const void *x);
ESVM_STATIC void TwinDictionarySVM_k_rows(char *self, const void *x, const void *rows,
        esvm_index n, double *out);
ESVM_STATIC char *TwinDictionarySVM_twin(char *self, int64_t i);
ESVM_STATIC void TwinDictionarySVM_fill_row(char *self, const void *x, double *row);
ESVM_STATIC int TwinDictionarySVM_can_bear(char *self, double weight);
ESVM_STATIC double TwinDictionarySVM_mu_for(char *self, double total);
ESVM_STATIC int TwinDictionarySVM_beneficial(char *self, const void *x, margin_set_Row *kept);
ESVM_STATIC esvm_index TwinDictionarySVM_twin_at(char *self, const void *x);
ESVM_STATIC margin_set_Outcome TwinDictionarySVM_absorb(char *self, esvm_index i, double y,
        double weight);
ESVM_STATIC margin_set_Outcome TwinDictionarySVM_update_twins(char *self, const void *x, double y,
        double weight, margin_set_Row *known);
ESVM_STATIC margin_set_Outcome TwinDictionarySVM_merge_on_margin(char *self);
ESVM_STATIC double TwinDictionarySVM_norm_of(char *self, int64_t i);
ESVM_STATIC double TwinDictionarySVM_k_wide(char *self, const void *x, const void *z);
ESVM_STATIC double TwinDictionarySVM_square_norm(char *self, const void *x);
ESVM_STATIC int TwinDictionarySVM_sums_in_dtype(char *self);
ESVM_STATIC void TwinDictionarySVM_add_weight(char *self, path_Move *move, esvm_index i, double y,
        double weight);
ESVM_STATIC margin_set_Outcome TwinDictionarySVM_update(char *self, path_Move *moves, int count);
ESVM_STATIC int TwinDictionarySVM_merge(char *self, path_Move *moves, int of_margin,
        margin_set_Row *kept);
ESVM_STATIC esvm_index TwinDictionarySVM_place(char *self, const void *x, margin_set_Row *known);
ESVM_STATIC margin_set_Outcome TwinDictionarySVM_change(char *self, path_Move *moves,
        int n_removed, int n_placed, const twin_vector_machine_Counters *before);
ESVM_STATIC margin_set_Outcome TwinDictionarySVM_follow(char *self, path_Move *moves, int count,
        double mu);
ESVM_STATIC void TwinDictionarySVM_keep_sides(char *self);
ESVM_STATIC int TwinDictionarySVM_first_accepted(char *self, twin_vector_machine_Pair *found);
ESVM_STATIC int TwinDictionarySVM_nearest(char *self, twin_vector_machine_Pair *best);
ESVM_STATIC int TwinDictionarySVM_passes(char *self, esvm_index i, esvm_index j,
        margin_set_Row *kept);
ESVM_STATIC int TwinDictionarySVM_first_passing(char *self, const twin_vector_machine_Pair *pairs,
        int count, margin_set_Row *kept);
ESVM_STATIC int TwinDictionarySVM_candidates(char *self, twin_vector_machine_Pair *pairs,
        int of_margin);
ESVM_STATIC void TwinDictionarySVM_merge_pair(char *self, path_Move *moves, esvm_index i,
        esvm_index j, margin_set_Row *known);
ESVM_STATIC void TwinDictionarySVM_fill_known_row(char *self, const void *x, margin_set_Row *known,
        double *row);
ESVM_STATIC int TwinDictionarySVM_side(char *self, double g, int lower, int upper);
ESVM_STATIC void TwinDictionarySVM_set_bound(char *self, int64_t i, double bound);
ESVM_STATIC void TwinDictionarySVM_measure(char *self, int64_t i);
ESVM_STATIC void TwinDictionarySVM_drop(char *self, esvm_index i);
ESVM_STATIC void TwinDictionarySVM_refresh(char *self);
ESVM_STATIC void TwinDictionarySVM_release_unused_weight(char *self, path_Move *moves, int count);
ESVM_STATIC margin_set_Outcome TwinDictionarySVM_walk(char *self, path_Move *moves, int count,
        double mu);
ESVM_STATIC int TwinDictionarySVM_is_consistent(char *self);
ESVM_STATIC void TwinDictionarySVM_rebuild(char *self);
ESVM_STATIC void TwinDictionarySVM_solve_at(char *self, const path_Move *moves, int count,
        double mu);
ESVM_STATIC void TwinDictionarySVM_walk_back(char *self, path_Move *moves, int count, double mu);
ESVM_STATIC int TwinDictionarySVM_search(char *self, twin_vector_machine_Pair *pairs,
        int one_sided, int of_margin, twin_vector_machine_Pair after);
ESVM_STATIC double TwinDictionarySVM_join(char *self, esvm_index i, esvm_index j, char *q,
        margin_set_Row *kept);
ESVM_STATIC double TwinDictionarySVM_fill_distortions(char *self, int64_t i, esvm_index first);
ESVM_STATIC int64_t TwinDictionarySVM_nearest_of(char *self, int64_t i, int64_t first, double most);
ESVM_STATIC int TwinDictionarySVM_is_gentle(char *self, esvm_index i, esvm_index j, const void *q);
ESVM_STATIC void TwinDictionarySVM_blend(char *self, esvm_index i, esvm_index j, char *q);
ESVM_STATIC double TwinDictionarySVM_error(char *self, esvm_index i, esvm_index j, const void *q,
        margin_set_Row *kept);
ESVM_STATIC int TwinDictionarySVM_counts_as_above(char *self, int64_t i);
ESVM_STATIC void TwinDictionarySVM_leave(char *self, esvm_index p, int to);
ESVM_STATIC esvm_index TwinDictionarySVM_place_on_S(char *self, esvm_index i);
ESVM_STATIC void TwinDictionarySVM_begin(char *self, path_Walk *walk, path_Move *moves, int count,
        double mu);
ESVM_STATIC void TwinDictionarySVM_plateau_rates(char *self, path_Walk *walk);
ESVM_STATIC double TwinDictionarySVM_size(char *self, const path_Walk *walk);
ESVM_STATIC margin_set_Outcome TwinDictionarySVM_shift(char *self, double surplus,
        const path_Walk *walk);
ESVM_STATIC void TwinDictionarySVM_direct(char *self, path_Walk *walk);
ESVM_STATIC void TwinDictionarySVM_first_event(char *self, const path_Walk *walk,
        path_Event *event);
ESVM_STATIC void TwinDictionarySVM_advance(char *self, path_Walk *walk, double length, int arrived);
ESVM_STATIC margin_set_Outcome TwinDictionarySVM_enter(char *self, esvm_index i, int step,
        int direction, margin_set_Row *known);
ESVM_STATIC margin_set_Row *TwinDictionarySVM_known_row(char *self, const path_Walk *walk,
        esvm_index i);
ESVM_STATIC const double *TwinDictionarySVM_row_of(char *self, int64_t p);
ESVM_STATIC margin_set_Outcome TwinDictionarySVM_restore_state(char *self, esvm_index i);
ESVM_STATIC void TwinDictionarySVM_from_scratch(char *self);
ESVM_STATIC int TwinDictionarySVM_may_merge(char *self, esvm_index i, int64_t j, int one_sided,
        int of_margin);
ESVM_STATIC void TwinDictionarySVM_fill_squares(char *self, int64_t i, esvm_index first,
        double *row);
ESVM_STATIC double TwinDictionarySVM_weight_of(char *self, int64_t i);
ESVM_STATIC void TwinDictionarySVM_sums(char *self, const void *x, const void *rows, esvm_index n,
        double *out);
ESVM_STATIC void TwinDictionarySVM_mix(char *self, esvm_index i, esvm_index j, double part,
        char *q);
ESVM_STATIC double TwinDictionarySVM_on_the_line(char *self, esvm_index i, esvm_index j, char *q);
ESVM_STATIC void TwinDictionarySVM_resolve_sides(char *self, esvm_index i, double d_minus,
        double d_plus);
ESVM_STATIC int TwinDictionarySVM_edges(char *self, const path_Walk *walk, int64_t i, double dg,
        path_Edge *edges);
ESVM_STATIC void TwinDictionarySVM_first_to_leave(char *self, const path_Walk *walk,
        path_Event *event);
ESVM_STATIC void TwinDictionarySVM_first_to_enter(char *self, const path_Walk *walk,
        path_Event *event);
ESVM_STATIC double TwinDictionarySVM_sensitivity(char *self, esvm_index i, margin_set_Row *known);
ESVM_STATIC int TwinDictionarySVM_exchange(char *self, esvm_index i, int direction);
ESVM_STATIC double TwinDictionarySVM_cost(char *self, esvm_index i, esvm_index j, double part,
        char *q);
ESVM_STATIC void TwinDictionarySVM_step_bounds(char *self, esvm_index i, double *low, double *high);
ESVM_STATIC double TwinDictionarySVM_tolerance(char *self, const path_Walk *walk);

ESVM_STATIC status_Status TwinDictionarySVM_learn_row(char *self, const void *x, int slot,
        double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        TwinDictionarySVM_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = TwinDictionarySVM_weighed_step(self, x, !TwinDictionarySVM_HAS_scores ? 2 * slot - 1 :
            slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    TwinDictionarySVM_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status TwinDictionarySVM_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!TwinDictionarySVM_HAS_scores) {
        status = TwinDictionarySVM_decide(self, x, out);
        out[0] *= TwinDictionarySVM_labels_sign;
        return status;
    }
    status = TwinDictionarySVM_decide(self, x, TwinDictionarySVM_HAS_scores ?
            TwinDictionarySVM_scores : NULL);
    TwinDictionarySVM_in_order(self, TwinDictionarySVM_HAS_scores ? TwinDictionarySVM_scores :
            NULL, out);
    memset(TwinDictionarySVM_scores, 0, TwinDictionarySVM_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int TwinDictionarySVM_winner(char *self, const double *answers, double *score) {
    int i;
    int n = TwinDictionarySVM_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!TwinDictionarySVM_HAS_scores) {
        return TwinDictionarySVM_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return TwinDictionarySVM_labels_order[TwinDictionarySVM_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return TwinDictionarySVM_labels_order[best];
}

ESVM_STATIC int64_t TwinDictionarySVM_n_learned(char *self) {
    int64_t total = TwinDictionarySVM_n_per_class[0] + TwinDictionarySVM_n_per_class[1];
    int slot;
    for (slot = 2; slot < TwinDictionarySVM_n_classes; slot++) {
        total += TwinDictionarySVM_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status TwinDictionarySVM_weighed_step(char *self, const void *x, double y,
        double weight) {
    return TwinDictionarySVM_step(self, x, y, TwinDictionarySVM_balanced ? weight *
            TwinDictionarySVM_class_weight(self, y) : weight);
}

ESVM_STATIC status_Status TwinDictionarySVM_decide(char *self, const void *x, double *value) {
    if (TwinDictionarySVM_refuses_to_decide(self, x)) {
        return status_NOT_FINITE;
    }
    value[0] = ESVM_DIVIDE(TwinDictionarySVM_g_of(self, x, NULL), TwinDictionarySVM_solver->mu);
    return status_UNCHANGED;
}

ESVM_STATIC void TwinDictionarySVM_count(char *self, int slot, status_Status status) {
    TwinDictionarySVM_common->n_seen += 1;
    TwinDictionarySVM_common->n_updates += status == status_CHANGED;
    TwinDictionarySVM_n_per_class[slot] += 1;
}

ESVM_STATIC void TwinDictionarySVM_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = TwinDictionarySVM_labels_n;
    const signed char *order = TwinDictionarySVM_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int TwinDictionarySVM_n_answers(char *self) {
    (void)self;
    return !TwinDictionarySVM_HAS_scores || TwinDictionarySVM_labels_n <= 2 ? 1 :
            TwinDictionarySVM_labels_n;
}

ESVM_STATIC int TwinDictionarySVM_slot_for(char *self, double value) {
    if (TwinDictionarySVM_one_class) {
        return value > 0.0;
    }
    if (TwinDictionarySVM_n_per_class[0] == 0) {
        return 1;
    }
    if (TwinDictionarySVM_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (TwinDictionarySVM_labels_sign < 0);
}

ESVM_STATIC status_Status TwinDictionarySVM_step(char *self, const void *x, double y,
        double weight) {
    status_Status status;
    if (TwinDictionarySVM_dictionary->settled_at) {
        return TwinDictionarySVM_refine(self, x, y, weight);
    }
    status = TwinDictionarySVM_TwinVectorMachine_step(self, x, y, weight);
    if (status <= status_CHANGED && TwinDictionarySVM_n_learned(self) + 1 >=
            TwinDictionarySVM_settle_after) {
        TwinDictionarySVM_settle(self);
    }
    return status;
}

ESVM_STATIC double TwinDictionarySVM_class_weight(char *self, double y) {
    int slot = !TwinDictionarySVM_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (TwinDictionarySVM_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < TwinDictionarySVM_n_classes; other++) {
            n_classes += TwinDictionarySVM_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(TwinDictionarySVM_n_learned(self) + 1, (double)n_classes *
            (TwinDictionarySVM_n_per_class[slot] + 1));
}

ESVM_STATIC int TwinDictionarySVM_refuses_to_decide(char *self, const void *x) {
    return !esvm_is_finite(TwinDictionarySVM_norm(self, x));
}

ESVM_STATIC double TwinDictionarySVM_g_of(char *self, const void *x, margin_set_Row *kept) {
    double here[margin_set_CHUNK];
    double *k = here;
    double g = 0.0;
    esvm_index j = 0;
    esvm_index count;
    int keeps = kept != NULL && TwinDictionarySVM_solver->n <= TWIN_KEPT;
    while (j < TwinDictionarySVM_solver->n) {
        count = (int64_t)margin_set_CHUNK < TwinDictionarySVM_solver->n - j ?
                (int64_t)margin_set_CHUNK : TwinDictionarySVM_solver->n - j;
        if (keeps) {
            k = kept->k + j;
        }
        TwinDictionarySVM_k_rows(self, x, TwinDictionarySVM_twin(self, j), count, k);
        g += linalg_dot_f64(k, TwinDictionarySVM_coef + j, count);
        j += count;
    }
    if (keeps) {
        kept->n = j;
    }
    return g + TwinDictionarySVM_solver->b;
}

ESVM_STATIC status_Status TwinDictionarySVM_refine(char *self, const void *x, double y,
        double weight) {
    packed_factor_PackedFactor factor_ = TwinDictionarySVM_factor_of(self);
    margin_set_Solver *v = TwinDictionarySVM_solver;
    esvm_index i;
    double f, step;
    double total = 0.0;
    double *z = TwinDictionarySVM_factor_solution + 1;
    double *change = TwinDictionarySVM_off;
    if (!esvm_is_finite(TwinDictionarySVM_norm(self, x))) {
        return status_NOT_FINITE;
    }
    if (!(twin_dictionary_svm_LEAST_WEIGHT <= weight && weight <=
            twin_dictionary_svm_LARGEST_WEIGHT)) {
        return status_BAD_WEIGHT;
    }
    TwinDictionarySVM_fill_row(self, x, TwinDictionarySVM_row);
    f = linalg_dot_f64(TwinDictionarySVM_row, TwinDictionarySVM_coef, v->n) + v->b;
    if (fabs(f) > TwinDictionarySVM_m1 * (1.0 + twin_dictionary_svm_EDGE) || y * f >= 1.0) {
        return status_UNCHANGED;
    }
    esvm_index t1_ = v->n;
    for (i = 0; i < t1_; i++) {
        TwinDictionarySVM_factor_border[1 + i] = TwinDictionarySVM_row[i] + v->lift;
    }
    packed_factor_factor_forward(&factor_);
    step = ESVM_DIVIDE(y * (1.0 - y * f), linalg_dot_f64(z, z, v->n) +
            ESVM_DIVIDE(TwinDictionarySVM_r, weight));
    memcpy(change, z, v->n * sizeof(double));
    packed_factor_factor_backward(&factor_, change);
    esvm_index t2_ = v->n;
    for (i = 0; i < t2_; i++) {
        total += change[i];
    }
    linalg_add_scaled(step, change, TwinDictionarySVM_coef, v->n);
    v->b += step * v->lift * total;
    packed_factor_factor_add_outer(&factor_, ESVM_DIVIDE(weight, TwinDictionarySVM_r));
    TwinDictionarySVM_dictionary->n_refined += 1;
    return status_CHANGED;
}

ESVM_STATIC status_Status TwinDictionarySVM_TwinVectorMachine_step(char *self, const void *x,
        double y, double weight) {
    esvm_index i;
    double values[TWIN_KEPT];
    margin_set_Row row = {0};
    margin_set_Outcome outcome;
    row.n = 0;
    row.k = values;
    if (!esvm_is_finite(TwinDictionarySVM_norm(self, x))) {
        return status_NOT_FINITE;
    }
    if (!(weight >= twin_vector_machine_LEAST_WEIGHT && TwinDictionarySVM_can_bear(self, weight))) {
        return status_BAD_WEIGHT;
    }
    if (TwinDictionarySVM_solver->n == 0) {
        TwinDictionarySVM_solver->mu = TwinDictionarySVM_mu_for(self, weight);
    }
    if (!TwinDictionarySVM_beneficial(self, x, &row)) {
        return status_UNCHANGED;
    }
    TwinDictionarySVM_counters->n_accepted += 1;
    i = TwinDictionarySVM_twin_at(self, x);
    if (i >= 0) {
        TwinDictionarySVM_counters->n_absorbed += 1;
        outcome = TwinDictionarySVM_absorb(self, i, y, weight);
    } else {
        outcome = TwinDictionarySVM_update_twins(self, x, y, weight, &row);
    }
    if (outcome == margin_set_OVERFLOWED) {
        outcome = TwinDictionarySVM_merge_on_margin(self);
    }
    return outcome == margin_set_REACHED ? status_CHANGED : status_UNCHANGED;
}

ESVM_STATIC void TwinDictionarySVM_settle(char *self) {
    packed_factor_PackedFactor factor_ = TwinDictionarySVM_factor_of(self);
    margin_set_Solver *v = TwinDictionarySVM_solver;
    esvm_index i, p;
    double delta;
    v->lift = 0.0;
    esvm_index t1_ = v->n;
    for (i = 0; i < t1_; i++) {
        TwinDictionarySVM_coef[i] = ESVM_DIVIDE(TwinDictionarySVM_coef[i], v->mu);
        TwinDictionarySVM_g[i] = 0.0;
        TwinDictionarySVM_state[i] = 2;
        v->lift = esvm_max(v->lift, TwinDictionarySVM_norm_of(self, i));
    }
    if (!(v->lift > 0.0)) {
        v->lift = 1.0;
    }
    v->b = ESVM_DIVIDE(v->b, v->mu);
    v->mu = 1.0;
    v->m = 0;
    esvm_index t2_ = v->n;
    for (i = 0; i < t2_; i++) {
        TwinDictionarySVM_fill_row(self, TwinDictionarySVM_twin(self, i), TwinDictionarySVM_row);
        for (p = 0; p < i; p++) {
            TwinDictionarySVM_factor_border[1 + p] = TwinDictionarySVM_row[p] + v->lift;
        }
        delta = packed_factor_factor_complement(&factor_, TwinDictionarySVM_row[i]);
        packed_factor_factor_append(&factor_, esvm_max(delta, 0.0) + twin_dictionary_svm_RIDGE *
                v->lift, TwinDictionarySVM_row, v->n);
        TwinDictionarySVM_S[i] = (int)i;
    }
    TwinDictionarySVM_dictionary->settled_at = TwinDictionarySVM_n_learned(self) + 1;
}

ESVM_STATIC double TwinDictionarySVM_norm(char *self, const void *x) {
    double k_xx = TwinDictionarySVM_kernel.kind == kernels_RBF ? 1.0 :
            TwinDictionarySVM_k_wide(self, x, x);
    return esvm_is_finite(TwinDictionarySVM_square_norm(self, x)) && k_xx <=
            margin_set_LARGEST_NORM ? k_xx : ESVM_NAN;
}

ESVM_STATIC void TwinDictionarySVM_k_rows(char *self, const void *x, const void *rows,
        esvm_index n, double *out) {
    if (TwinDictionarySVM_sums_in_dtype(self)) {
        rows_lanes_kernel_values(&TwinDictionarySVM_kernel, x, rows, TwinDictionarySVM_n_features,
                n, out);
    } else {
        rows_any_kernel_values(&TwinDictionarySVM_kernel, x, rows, TwinDictionarySVM_n_features, n,
                out);
    }
}

ESVM_STATIC char *TwinDictionarySVM_twin(char *self, int64_t i) {
    return TwinDictionarySVM_vectors + i * TwinDictionarySVM_row_bytes;
}

ESVM_STATIC void TwinDictionarySVM_fill_row(char *self, const void *x, double *row) {
    TwinDictionarySVM_k_rows(self, x, TwinDictionarySVM_vectors, TwinDictionarySVM_solver->n, row);
}

ESVM_STATIC int TwinDictionarySVM_can_bear(char *self, double weight) {
    double total = 0.0;
    esvm_index i;
    esvm_index n = TwinDictionarySVM_solver->n;
    if (twin_sum(TwinDictionarySVM_s_minus, n) + twin_sum(TwinDictionarySVM_s_plus, n) + weight <=
            0.5 * twin_vector_machine_LARGEST_WEIGHT) {
        return 1;
    }
    for (i = 0; i < n; i++) {
        total += TwinDictionarySVM_s_minus[i] + TwinDictionarySVM_s_plus[i];
    }
    return total + weight <= twin_vector_machine_LARGEST_WEIGHT;
}

ESVM_STATIC double TwinDictionarySVM_mu_for(char *self, double total) {
    (void)self;
    return TwinDictionarySVM_control_C ? ESVM_DIVIDE(total, TwinDictionarySVM_C *
            TwinDictionarySVM_max_twins) : 1.0 / TwinDictionarySVM_C;
}

ESVM_STATIC int TwinDictionarySVM_beneficial(char *self, const void *x, margin_set_Row *kept) {
    return TwinDictionarySVM_solver->n < TwinDictionarySVM_max_twins ||
            fabs(TwinDictionarySVM_g_of(self, x, kept)) <= TwinDictionarySVM_m1 *
            TwinDictionarySVM_solver->mu * (1.0 + twin_vector_machine_EDGE);
}

ESVM_STATIC esvm_index TwinDictionarySVM_twin_at(char *self, const void *x) {
    esvm_index i;
    const char *q = TwinDictionarySVM_vectors;
    for (i = 0; i < TwinDictionarySVM_solver->n; i++) {
        if (q[0] == ((const char *)x)[0] && memcmp(q, x, TwinDictionarySVM_row_bytes) == 0) {
            return i;
        }
        q += TwinDictionarySVM_row_bytes;
    }
    return -1;
}

ESVM_STATIC margin_set_Outcome TwinDictionarySVM_absorb(char *self, esvm_index i, double y,
        double weight) {
    path_Move move = {0};
    TwinDictionarySVM_add_weight(self, &move, i, y, weight);
    return TwinDictionarySVM_update(self, &move, 1);
}

ESVM_STATIC margin_set_Outcome TwinDictionarySVM_update_twins(char *self, const void *x, double y,
        double weight, margin_set_Row *known) {
    path_Move moves[4];
    path_Move *last;
    double values[TWIN_KEPT];
    margin_set_Row merged = {0};
    twin_vector_machine_Counters before = TwinDictionarySVM_counters[0];
    int n_removed = 0;
    int n_placed = 1;
    int64_t k;
    merged.n = 0;
    merged.k = values;
    if (TwinDictionarySVM_solver->n == TwinDictionarySVM_max_twins) {
        k = twin_farthest(TwinDictionarySVM_g, TwinDictionarySVM_solver->n);
        if (fabs(TwinDictionarySVM_g[k]) > TwinDictionarySVM_m2 * TwinDictionarySVM_solver->mu *
                (1.0 + twin_vector_machine_EDGE) || TwinDictionarySVM_max_twins == 1) {
            TwinDictionarySVM_counters->n_removed += 1;
            moves[0].slot = k;
            n_removed = 1;
            moves[0].to_minus = 0.0;
            moves[0].to_plus = 0.0;
            moves[0].known = NULL;
        } else if (TwinDictionarySVM_merge(self, moves, 0, &merged)) {
            n_removed = 2;
            n_placed = 2;
        } else {
            return margin_set_STUCK;
        }
    }
    last = &moves[n_removed + n_placed - 1];
    TwinDictionarySVM_add_weight(self, last, TwinDictionarySVM_place(self, x, known), y, weight);
    last->known = known;
    return TwinDictionarySVM_change(self, moves, n_removed, n_placed, &before);
}

ESVM_STATIC margin_set_Outcome TwinDictionarySVM_merge_on_margin(char *self) {
    path_Move moves[3];
    double values[TWIN_KEPT];
    margin_set_Row merged = {0};
    twin_vector_machine_Counters before = TwinDictionarySVM_counters[0];
    if (TwinDictionarySVM_solver->m < 2 || TwinDictionarySVM_solver->n < 3) {
        return margin_set_OVERFLOWED;
    }
    merged.n = 0;
    merged.k = values;
    TwinDictionarySVM_merge(self, moves, 1, &merged);
    return TwinDictionarySVM_change(self, moves, 2, 1, &before);
}

ESVM_STATIC double TwinDictionarySVM_norm_of(char *self, int64_t i) {
    if (TwinDictionarySVM_kernel.kind == kernels_RBF) {
        return 1.0;
    }
    return TwinDictionarySVM_k_wide(self, TwinDictionarySVM_twin(self, i),
            TwinDictionarySVM_twin(self, i));
}

ESVM_STATIC double TwinDictionarySVM_k_wide(char *self, const void *x, const void *z) {
    double value;
    TwinDictionarySVM_k_rows(self, x, z, 1, &value);
    return value;
}

ESVM_STATIC double TwinDictionarySVM_square_norm(char *self, const void *x) {
    (void)self;
    return linalg_any_dot(x, x, TwinDictionarySVM_n_features);
}

ESVM_STATIC int TwinDictionarySVM_sums_in_dtype(char *self) {
    (void)self;
    return 0;
}

ESVM_STATIC void TwinDictionarySVM_add_weight(char *self, path_Move *move, esvm_index i, double y,
        double weight) {
    esvm_index t1_ = i;
    double t2_ = TwinDictionarySVM_s_minus[i];
    double t3_ = TwinDictionarySVM_s_plus[i];
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

ESVM_STATIC margin_set_Outcome TwinDictionarySVM_update(char *self, path_Move *moves, int count) {
    esvm_index i;
    int c;
    double minus = 0.0;
    double plus = 0.0;
    double total;
    esvm_index t1_;
    for (t1_ = 0; t1_ < TwinDictionarySVM_solver->n; t1_++) {
        i = t1_;
        minus += TwinDictionarySVM_s_minus[i];
        plus += TwinDictionarySVM_s_plus[i];
    }
    total = minus + plus;
    for (c = 0; c < count; c++) {
        i = moves[c].slot;
        total += moves[c].to_minus + moves[c].to_plus - TwinDictionarySVM_s_minus[i] -
                TwinDictionarySVM_s_plus[i];
    }
    return TwinDictionarySVM_follow(self, moves, count, TwinDictionarySVM_mu_for(self, total));
}

ESVM_STATIC int TwinDictionarySVM_merge(char *self, path_Move *moves, int of_margin,
        margin_set_Row *kept) {
    twin_vector_machine_Pair pairs[twin_vector_machine_CANDIDATES];
    int best = 0;
    TwinDictionarySVM_keep_sides(self);
    if (TwinDictionarySVM_as_printed && !of_margin) {
        if (!TwinDictionarySVM_first_accepted(self, pairs)) {
            return 0;
        }
    } else if (of_margin || !(TwinDictionarySVM_nearest(self, pairs) &&
            (!TwinDictionarySVM_rejection || TwinDictionarySVM_passes(self, pairs[0].i, pairs[0].j,
            kept)))) {
        best = TwinDictionarySVM_first_passing(self, pairs, TwinDictionarySVM_candidates(self,
                pairs, of_margin), kept);
    }
    TwinDictionarySVM_merge_pair(self, moves, pairs[best].i, pairs[best].j, kept);
    return 1;
}

ESVM_STATIC esvm_index TwinDictionarySVM_place(char *self, const void *x, margin_set_Row *known) {
    packed_factor_PackedFactor factor_ = TwinDictionarySVM_factor_of(self);
    margin_set_Solver *v = TwinDictionarySVM_solver;
    esvm_index p;
    esvm_index i = v->n;
    esvm_index n_rows = packed_factor_factor_rows(&factor_, v->m);
    memmove(TwinDictionarySVM_twin(self, i), x, TwinDictionarySVM_row_bytes);
    v->n += 1;
    TwinDictionarySVM_fill_known_row(self, TwinDictionarySVM_twin(self, i), known,
            TwinDictionarySVM_row);
    TwinDictionarySVM_g[i] = linalg_dot_f64(TwinDictionarySVM_row, TwinDictionarySVM_coef, i) +
            v->b;
    for (p = 0; p < n_rows; p++) {
        packed_factor_factor_row(&factor_, p)[i] = TwinDictionarySVM_row[TwinDictionarySVM_S[p]];
    }
    TwinDictionarySVM_s_minus[i] = 0.0;
    TwinDictionarySVM_s_plus[i] = 0.0;
    TwinDictionarySVM_coef[i] = 0.0;
    TwinDictionarySVM_state[i] = TwinDictionarySVM_side(self, TwinDictionarySVM_g[i], 1, 1);
    return i;
}

ESVM_STATIC margin_set_Outcome TwinDictionarySVM_change(char *self, path_Move *moves,
        int n_removed, int n_placed, const twin_vector_machine_Counters *before) {
    margin_set_Outcome outcome = TwinDictionarySVM_update(self, moves, n_removed + n_placed);
    int c;
    int first = 0;
    int last = n_removed;
    esvm_index behind;
    if (outcome == margin_set_OVERFLOWED) {
        first = n_removed;
        last = n_removed + n_placed;
        TwinDictionarySVM_counters->n_merged = before->n_merged;
        TwinDictionarySVM_counters->n_removed = before->n_removed;
        TwinDictionarySVM_counters->n_forced = before->n_forced;
    } else {
        for (c = n_removed; c < n_removed + n_placed; c++) {
            TwinDictionarySVM_set_bound(self, moves[c].slot, twin_vector_machine_MAX_DISTORTION);
        }
        for (c = n_removed; c < n_removed + n_placed; c++) {
            TwinDictionarySVM_measure(self, moves[c].slot);
        }
    }
    for (c = last - 1; c > first - 1; c--) {
        behind = TwinDictionarySVM_solver->n - moves[c].slot - 1;
        memmove(TwinDictionarySVM_distortion_bound + moves[c].slot,
                TwinDictionarySVM_distortion_bound + moves[c].slot + 1, behind * sizeof(double));
        TwinDictionarySVM_drop(self, moves[c].slot);
    }
    return outcome;
}

ESVM_STATIC margin_set_Outcome TwinDictionarySVM_follow(char *self, path_Move *moves, int count,
        double mu) {
    margin_set_Solver *v = TwinDictionarySVM_solver;
    margin_set_Outcome outcome;
    double mu_before = v->mu;
    int polish;
    v->paths += 1;
    if (v->paths % path_REFRESH == 0) {
        TwinDictionarySVM_refresh(self);
    }
    TwinDictionarySVM_release_unused_weight(self, moves, count);
    outcome = TwinDictionarySVM_walk(self, moves, count, mu);
    for (polish = 0; polish < path_POLISHES; polish++) {
        if (outcome != margin_set_REACHED || TwinDictionarySVM_is_consistent(self)) {
            break;
        }
        TwinDictionarySVM_refresh(self);
        if (polish) {
            v->n_refactored += 1;
            TwinDictionarySVM_rebuild(self);
        }
        outcome = TwinDictionarySVM_walk(self, NULL, 0, mu);
    }
    if (outcome == margin_set_STUCK) {
        TwinDictionarySVM_solve_at(self, moves, count, mu);
        return margin_set_REACHED;
    }
    if (outcome == margin_set_OVERFLOWED) {
        v->n_overflowed += 1;
        TwinDictionarySVM_walk_back(self, moves, count, mu_before);
    }
    return outcome;
}

ESVM_STATIC void TwinDictionarySVM_keep_sides(char *self) {
    int64_t i = 0;
    esvm_index n = TwinDictionarySVM_solver->n;
    while (TwinDictionarySVM_one_sided && i < n) {
        i = twin_moved(TwinDictionarySVM_distortion_bound, TwinDictionarySVM_g, i, n);
        if (i < n) {
            TwinDictionarySVM_measure(self, i);
        }
        i += 1;
    }
}

ESVM_STATIC int TwinDictionarySVM_first_accepted(char *self, twin_vector_machine_Pair *found) {
    twin_vector_machine_Pair pairs[twin_vector_machine_CANDIDATES];
    twin_vector_machine_Pair after = {0};
    int c, count;
    after.distortion = -1.0;
    after.i = 0;
    after.j = 0;
    while (1) {
        count = TwinDictionarySVM_search(self, pairs, TwinDictionarySVM_one_sided, 0, after);
        for (c = 0; c < count; c++) {
            if (TwinDictionarySVM_join(self, pairs[c].i, pairs[c].j, TwinDictionarySVM_twin(self,
                    TwinDictionarySVM_solver->n), NULL) < TwinDictionarySVM_eta) {
                found[0] = pairs[c];
                return 1;
            }
            TwinDictionarySVM_counters->n_rejected += 1;
        }
        if (count < twin_vector_machine_CANDIDATES) {
            TwinDictionarySVM_fill_distortions(self, TwinDictionarySVM_solver->n - 1, 0);
            return 0;
        }
        after = pairs[count - 1];
    }
}

ESVM_STATIC int TwinDictionarySVM_nearest(char *self, twin_vector_machine_Pair *best) {
    int64_t i = -1;
    int64_t j;
    esvm_index n = TwinDictionarySVM_solver->n;
    best->distortion = twin_vector_machine_MAX_DISTORTION;
    while (1) {
        i = twin_below(TwinDictionarySVM_distortion_bound, i + 1, n, best->distortion);
        if (i == n) {
            break;
        }
        TwinDictionarySVM_fill_distortions(self, i, 0);
        j = TwinDictionarySVM_nearest_of(self, i, 0, twin_vector_machine_MAX_DISTORTION);
        TwinDictionarySVM_set_bound(self, i, j >= 0 ? TwinDictionarySVM_row[j] :
                twin_vector_machine_MAX_DISTORTION);
        if (j >= 0 && j < i) {
            j = TwinDictionarySVM_nearest_of(self, i, i + 1, best->distortion);
        }
        if (j >= 0 && TwinDictionarySVM_row[j] < best->distortion) {
            best->distortion = TwinDictionarySVM_row[j];
            best->i = i;
            best->j = j;
        }
    }
    return best->distortion < twin_vector_machine_MAX_DISTORTION;
}

ESVM_STATIC int TwinDictionarySVM_passes(char *self, esvm_index i, esvm_index j,
        margin_set_Row *kept) {
    char *q = TwinDictionarySVM_twin(self, TwinDictionarySVM_solver->n);
    return TwinDictionarySVM_join(self, i, j, q, kept) < TwinDictionarySVM_eta &&
            TwinDictionarySVM_is_gentle(self, i, j, q);
}

ESVM_STATIC int TwinDictionarySVM_first_passing(char *self, const twin_vector_machine_Pair *pairs,
        int count, margin_set_Row *kept) {
    int c;
    int best = 0;
    esvm_index i, j;
    double error;
    double least = ESVM_INFINITY;
    int passed = 0;
    char *q = TwinDictionarySVM_twin(self, TwinDictionarySVM_solver->n);
    for (c = 0; c < count; c++) {
        i = pairs[c].i;
        j = pairs[c].j;
        TwinDictionarySVM_blend(self, i, j, q);
        if (passed && !TwinDictionarySVM_is_gentle(self, i, j, q)) {
            TwinDictionarySVM_counters->n_rejected += 1;
            continue;
        }
        error = TwinDictionarySVM_error(self, i, j, q, kept);
        if (!TwinDictionarySVM_rejection || error < TwinDictionarySVM_eta) {
            if (!TwinDictionarySVM_rejection || passed || TwinDictionarySVM_is_gentle(self, i, j,
                    q)) {
                return c;
            }
            best = c;
            passed = 1;
        } else if (!passed && error < least * (1.0 - twin_vector_machine_TIE)) {
            best = c;
            least = error;
        }
        TwinDictionarySVM_counters->n_rejected += 1;
    }
    TwinDictionarySVM_counters->n_forced += !passed;
    kept->n = 0;
    return best;
}

ESVM_STATIC int TwinDictionarySVM_candidates(char *self, twin_vector_machine_Pair *pairs,
        int of_margin) {
    int count = 0;
    twin_vector_machine_Pair after = {0};
    after.distortion = -1.0;
    after.i = 0;
    after.j = 0;
    if (TwinDictionarySVM_one_sided) {
        count = TwinDictionarySVM_search(self, pairs, 1, of_margin, after);
    }
    return count ? count : TwinDictionarySVM_search(self, pairs, 0, of_margin, after);
}

ESVM_STATIC void TwinDictionarySVM_merge_pair(char *self, path_Move *moves, esvm_index i,
        esvm_index j, margin_set_Row *known) {
    esvm_index new = TwinDictionarySVM_solver->n;
    TwinDictionarySVM_counters->n_merged += 1;
    TwinDictionarySVM_blend(self, i, j, TwinDictionarySVM_twin(self, new));
    TwinDictionarySVM_place(self, TwinDictionarySVM_twin(self, new), known);
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
    moves[2].to_minus = TwinDictionarySVM_s_minus[i] + TwinDictionarySVM_s_minus[j];
    moves[2].to_plus = TwinDictionarySVM_s_plus[i] + TwinDictionarySVM_s_plus[j];
}

ESVM_STATIC void TwinDictionarySVM_fill_known_row(char *self, const void *x, margin_set_Row *known,
        double *row) {
    esvm_index first = 0;
    esvm_index n = TwinDictionarySVM_solver->n;
    if (known != NULL) {
        first = known->n;
        memcpy(row, known->k, first * sizeof(double));
    }
    TwinDictionarySVM_k_rows(self, x, TwinDictionarySVM_twin(self, first), n - first, row + first);
    if (known != NULL && n <= TWIN_KEPT) {
        memcpy(known->k + first, row + first, (n - first) * sizeof(double));
        known->n = n;
    }
}

ESVM_STATIC int TwinDictionarySVM_side(char *self, double g, int lower, int upper) {
    double edge = TwinDictionarySVM_solver->mu * (1.0 - margin_set_EVENT_TOLERANCE);
    return lower && g < -edge ? 0 : upper && g > edge ? 4 : 2;
}

ESVM_STATIC void TwinDictionarySVM_set_bound(char *self, int64_t i, double bound) {
    TwinDictionarySVM_distortion_bound[i] = TwinDictionarySVM_counts_as_above(self, i) ? bound :
            -bound;
}

ESVM_STATIC void TwinDictionarySVM_measure(char *self, int64_t i) {
    TwinDictionarySVM_fill_distortions(self, i, 0);
    TwinDictionarySVM_set_bound(self, i, twin_lower(TwinDictionarySVM_row,
            TwinDictionarySVM_s_minus, TwinDictionarySVM_s_plus, TwinDictionarySVM_solver->n,
            TwinDictionarySVM_counts_as_above(self, i), twin_vector_machine_MAX_DISTORTION,
            TwinDictionarySVM_distortion_bound));
}

ESVM_STATIC void TwinDictionarySVM_drop(char *self, esvm_index i) {
    packed_factor_PackedFactor factor_ = TwinDictionarySVM_factor_of(self);
    margin_set_Solver *v = TwinDictionarySVM_solver;
    esvm_index p;
    esvm_index behind = v->n - i - 1;
    esvm_index n_bytes = behind * sizeof(double);
    if (TwinDictionarySVM_state[i] % 2) {
        TwinDictionarySVM_leave(self, TwinDictionarySVM_place_on_S(self, i), 2);
    }
    memmove(TwinDictionarySVM_twin(self, i), TwinDictionarySVM_twin(self, i + 1), behind *
            TwinDictionarySVM_row_bytes);
    memmove(TwinDictionarySVM_s_minus + i, TwinDictionarySVM_s_minus + i + 1, n_bytes);
    memmove(TwinDictionarySVM_s_plus + i, TwinDictionarySVM_s_plus + i + 1, n_bytes);
    memmove(TwinDictionarySVM_coef + i, TwinDictionarySVM_coef + i + 1, n_bytes);
    memmove(TwinDictionarySVM_g + i, TwinDictionarySVM_g + i + 1, n_bytes);
    memmove(TwinDictionarySVM_state + i, TwinDictionarySVM_state + i + 1, behind);
    packed_factor_factor_drop_column(&factor_, i, v->n);
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        TwinDictionarySVM_S[p] -= TwinDictionarySVM_S[p] > i;
    }
    v->n -= 1;
    if (v->n == 0) {
        v->b = 0.0;
    }
}

ESVM_STATIC void TwinDictionarySVM_refresh(char *self) {
    margin_set_Solver *v = TwinDictionarySVM_solver;
    esvm_index i;
    v->n_refreshed += 1;
    esvm_index t1_ = v->n;
    for (i = 0; i < t1_; i++) {
        TwinDictionarySVM_g[i] = v->b;
    }
    esvm_index t2_ = v->n;
    for (i = 0; i < t2_; i++) {
        if (TwinDictionarySVM_coef[i] != 0.0) {
            TwinDictionarySVM_fill_row(self, TwinDictionarySVM_twin(self, i),
                    TwinDictionarySVM_row);
            twin_add(TwinDictionarySVM_coef[i], TwinDictionarySVM_row, TwinDictionarySVM_g, v->n);
        }
    }
}

ESVM_STATIC void TwinDictionarySVM_release_unused_weight(char *self, path_Move *moves, int count) {
    int c;
    esvm_index i;
    for (c = 0; c < count; c++) {
        i = moves[c].slot;
        double t1_ = TwinDictionarySVM_s_minus[i];
        double t2_ = TwinDictionarySVM_s_plus[i];
        moves[c].from_minus = t1_;
        moves[c].from_plus = t2_;
        if (moves[c].to_minus == 0.0 && moves[c].to_plus == 0.0) {
            TwinDictionarySVM_s_minus[i] = esvm_max(-TwinDictionarySVM_coef[i], 0.0);
            TwinDictionarySVM_s_plus[i] = esvm_max(TwinDictionarySVM_coef[i], 0.0);
            if (TwinDictionarySVM_state[i] % 2) {
                TwinDictionarySVM_leave(self, TwinDictionarySVM_place_on_S(self, i), 2);
            }
        }
        double t3_ = TwinDictionarySVM_s_minus[i];
        double t4_ = TwinDictionarySVM_s_plus[i];
        moves[c].released_minus = t3_;
        moves[c].released_plus = t4_;
    }
}

ESVM_STATIC margin_set_Outcome TwinDictionarySVM_walk(char *self, path_Move *moves, int count,
        double mu) {
    path_Walk walk = {0};
    path_Event event = {0};
    margin_set_Outcome outcome;
    double surplus;
    int64_t _event;
    TwinDictionarySVM_begin(self, &walk, moves, count, mu);
    for (_event = 0; _event < path_MANY_EVENTS * (TwinDictionarySVM_solver->n + 4) - 1; _event++) {
        TwinDictionarySVM_plateau_rates(self, &walk);
        if (TwinDictionarySVM_solver->m == 0) {
            surplus = walk.push_sum - walk.total;
            if (fabs(surplus) > path_ROUNDING * TwinDictionarySVM_size(self, &walk)) {
                outcome = TwinDictionarySVM_shift(self, surplus, &walk);
                if (outcome == margin_set_REACHED) {
                    continue;
                }
                if (outcome == margin_set_OVERFLOWED) {
                    return margin_set_OVERFLOWED;
                }
            }
        }
        TwinDictionarySVM_direct(self, &walk);
        TwinDictionarySVM_first_event(self, &walk, &event);
        TwinDictionarySVM_advance(self, &walk, event.length, event.place < 0 && event.twin < 0);
        if (event.place < 0 && event.twin < 0) {
            return margin_set_REACHED;
        }
        TwinDictionarySVM_solver->n_path_events += 1;
        if (event.twin < 0) {
            TwinDictionarySVM_leave(self, event.place, event.to);
            continue;
        }
        outcome = TwinDictionarySVM_enter(self, event.twin, event.to, event.direction,
                TwinDictionarySVM_known_row(self, &walk, event.twin));
        if (outcome != margin_set_REACHED) {
            return outcome;
        }
    }
    return margin_set_STUCK;
}

ESVM_STATIC int TwinDictionarySVM_is_consistent(char *self) {
    margin_set_Solver *v = TwinDictionarySVM_solver;
    esvm_index p = 0;
    double aim, g;
    while (p < v->m) {
        aim = TwinDictionarySVM_state[TwinDictionarySVM_S[p]] == 3 ? v->mu : -v->mu;
        g = linalg_dot_f64(TwinDictionarySVM_row_of(self, p), TwinDictionarySVM_coef, v->n) + v->b;
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

ESVM_STATIC void TwinDictionarySVM_rebuild(char *self) {
    margin_set_Solver *v = TwinDictionarySVM_solver;
    esvm_index i;
    v->m = 0;
    esvm_index t1_ = v->n;
    for (i = 0; i < t1_; i++) {
        TwinDictionarySVM_state[i] = 2;
    }
    esvm_index t2_ = v->n;
    for (i = 0; i < t2_; i++) {
        if (TwinDictionarySVM_restore_state(self, i) != margin_set_REACHED) {
            TwinDictionarySVM_state[i] += TwinDictionarySVM_state[i] % 2;
        }
    }
}

ESVM_STATIC void TwinDictionarySVM_solve_at(char *self, const path_Move *moves, int count,
        double mu) {
    int c;
    for (c = 0; c < count; c++) {
        TwinDictionarySVM_s_minus[moves[c].slot] = moves[c].to_minus;
        TwinDictionarySVM_s_plus[moves[c].slot] = moves[c].to_plus;
    }
    TwinDictionarySVM_solver->mu = mu;
    TwinDictionarySVM_from_scratch(self);
}

ESVM_STATIC void TwinDictionarySVM_walk_back(char *self, path_Move *moves, int count, double mu) {
    margin_set_Outcome outcome;
    int c;
    esvm_index i;
    for (c = 0; c < count; c++) {
        double t1_ = moves[c].released_minus;
        double t2_ = moves[c].released_plus;
        moves[c].to_minus = t1_;
        moves[c].to_plus = t2_;
    }
    outcome = TwinDictionarySVM_walk(self, moves, count, mu);
    for (c = 0; c < count; c++) {
        i = moves[c].slot;
        double t3_ = moves[c].from_minus;
        double t4_ = moves[c].from_plus;
        moves[c].to_minus = t3_;
        moves[c].to_plus = t4_;
        double t5_ = moves[c].from_minus;
        double t6_ = moves[c].from_plus;
        TwinDictionarySVM_s_minus[i] = t5_;
        TwinDictionarySVM_s_plus[i] = t6_;
        if (outcome == margin_set_REACHED && TwinDictionarySVM_state[i] % 2 == 0) {
            outcome = TwinDictionarySVM_restore_state(self, i);
        }
    }
    if (outcome != margin_set_REACHED) {
        TwinDictionarySVM_solve_at(self, moves, count, mu);
    }
}

ESVM_STATIC int TwinDictionarySVM_search(char *self, twin_vector_machine_Pair *pairs,
        int one_sided, int of_margin, twin_vector_machine_Pair after) {
    esvm_index i;
    int64_t j;
    esvm_index n = TwinDictionarySVM_solver->n;
    int count = 0;
    int c, low;
    double distortion;
    double most = ESVM_INFINITY;
    int bounded = one_sided == TwinDictionarySVM_one_sided;
    for (i = 0; i < n; i++) {
        if (count == twin_vector_machine_CANDIDATES && bounded &&
                fabs(TwinDictionarySVM_distortion_bound[i]) >= most) {
            continue;
        }
        TwinDictionarySVM_fill_distortions(self, i, i + 1);
        j = i;
        while (1) {
            j += 1;
            if (count == twin_vector_machine_CANDIDATES) {
                j = twin_below(TwinDictionarySVM_row, j, n, most);
            }
            if (j >= n) {
                break;
            }
            distortion = TwinDictionarySVM_row[j];
            if (!TwinDictionarySVM_may_merge(self, i, j, one_sided, of_margin)) {
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

ESVM_STATIC double TwinDictionarySVM_join(char *self, esvm_index i, esvm_index j, char *q,
        margin_set_Row *kept) {
    TwinDictionarySVM_blend(self, i, j, q);
    return TwinDictionarySVM_error(self, i, j, q, kept);
}

ESVM_STATIC double TwinDictionarySVM_fill_distortions(char *self, int64_t i, esvm_index first) {
    esvm_index j;
    esvm_index n = TwinDictionarySVM_solver->n - first;
    double k_ii = TwinDictionarySVM_norm_of(self, i);
    double least;
    double *row = TwinDictionarySVM_row + first;
    int itself = first <= i;
    if (TwinDictionarySVM_in_feature_space) {
        TwinDictionarySVM_k_rows(self, TwinDictionarySVM_twin(self, i),
                TwinDictionarySVM_twin(self, first), n, row);
        for (j = 0; j < n; j++) {
            row[j] = k_ii + TwinDictionarySVM_norm_of(self, first + j) - 2.0 * row[j];
        }
    } else {
        TwinDictionarySVM_fill_squares(self, i, first, row);
    }
    if (itself) {
        TwinDictionarySVM_row[i] = ESVM_INFINITY;
    }
    least = twin_weigh(TwinDictionarySVM_weight_of(self, i), TwinDictionarySVM_s_minus + first,
            TwinDictionarySVM_s_plus + first, n, twin_vector_machine_MAX_DISTORTION, row);
    if (itself) {
        TwinDictionarySVM_row[i] = twin_vector_machine_MAX_DISTORTION;
    }
    return least;
}

ESVM_STATIC int64_t TwinDictionarySVM_nearest_of(char *self, int64_t i, int64_t first,
        double most) {
    int side = TwinDictionarySVM_one_sided ? TwinDictionarySVM_g[i] > 0.0 : -1;
    int64_t j = twin_nearest(TwinDictionarySVM_row + first, TwinDictionarySVM_g + first,
            TwinDictionarySVM_solver->n - first, side, most);
    return j >= 0 ? first + j : -1;
}

ESVM_STATIC int TwinDictionarySVM_is_gentle(char *self, esvm_index i, esvm_index j, const void *q) {
    double u = TwinDictionarySVM_coef[i];
    double v = TwinDictionarySVM_coef[j];
    double k_qq, square;
    double k[3];
    k_qq = TwinDictionarySVM_kernel.kind == kernels_RBF ? 1.0 : TwinDictionarySVM_k_wide(self, q,
            q);
    TwinDictionarySVM_sums(self, TwinDictionarySVM_twin(self, i), TwinDictionarySVM_twin(self, j),
            1, k);
    TwinDictionarySVM_sums(self, q, TwinDictionarySVM_twin(self, i), 1, k + 1);
    TwinDictionarySVM_sums(self, q, TwinDictionarySVM_twin(self, j), 1, k + 2);
    tiles_kernel_of_sums(&TwinDictionarySVM_kernel, k, 3);
    square = u * u * TwinDictionarySVM_norm_of(self, i) + v * v * TwinDictionarySVM_norm_of(self,
            j) + (u + v) * (u + v) * k_qq + 2.0 * u * v * k[0] - 2.0 * (u + v) * (u * k[1] + v *
            k[2]);
    return esvm_sqrt(esvm_max(square, 0.0) * k_qq) <= twin_vector_machine_MAX_SHIFT *
            TwinDictionarySVM_solver->mu;
}

ESVM_STATIC void TwinDictionarySVM_blend(char *self, esvm_index i, esvm_index j, char *q) {
    double s_i = TwinDictionarySVM_weight_of(self, i);
    double s_j = TwinDictionarySVM_weight_of(self, j);
    TwinDictionarySVM_mix(self, i, j, TwinDictionarySVM_in_feature_space ?
            TwinDictionarySVM_on_the_line(self, i, j, q) : ESVM_DIVIDE(s_j, s_i + s_j), q);
}

ESVM_STATIC double TwinDictionarySVM_error(char *self, esvm_index i, esvm_index j, const void *q,
        margin_set_Row *kept) {
    double s_i = TwinDictionarySVM_weight_of(self, i);
    double s_j = TwinDictionarySVM_weight_of(self, j);
    double expected;
    expected = ESVM_DIVIDE(s_i * TwinDictionarySVM_g[i] + s_j * TwinDictionarySVM_g[j], s_i + s_j);
    return ESVM_DIVIDE(fabs(TwinDictionarySVM_g_of(self, q, kept) - expected),
            esvm_max(fabs(expected), 1e-300));
}

ESVM_STATIC int TwinDictionarySVM_counts_as_above(char *self, int64_t i) {
    return !TwinDictionarySVM_one_sided || TwinDictionarySVM_g[i] > 0.0;
}

ESVM_STATIC void TwinDictionarySVM_leave(char *self, esvm_index p, int to) {
    packed_factor_PackedFactor factor_ = TwinDictionarySVM_factor_of(self);
    margin_set_Solver *v = TwinDictionarySVM_solver;
    esvm_index j, n_rows;
    esvm_index i = TwinDictionarySVM_S[p];
    TwinDictionarySVM_state[i] = to;
    TwinDictionarySVM_coef[i] = margin_set_plateau(to, TwinDictionarySVM_s_minus[i],
            TwinDictionarySVM_s_plus[i]);
    memmove(TwinDictionarySVM_S + p, TwinDictionarySVM_S + p + 1, (v->m - 1 - p) * sizeof(int32_t));
    n_rows = packed_factor_factor_remove(&factor_, p);
    esvm_index t1_ = packed_factor_factor_rows(&factor_, v->m);
    for (j = n_rows; j < t1_; j++) {
        TwinDictionarySVM_fill_row(self, TwinDictionarySVM_twin(self, TwinDictionarySVM_S[j]),
                packed_factor_factor_row(&factor_, j));
    }
}

ESVM_STATIC esvm_index TwinDictionarySVM_place_on_S(char *self, esvm_index i) {
    esvm_index p;
    for (p = 0; p < TwinDictionarySVM_solver->m; p++) {
        if (TwinDictionarySVM_S[p] == i) {
            return p;
        }
    }
    return 0;
}

ESVM_STATIC void TwinDictionarySVM_begin(char *self, path_Walk *walk, path_Move *moves, int count,
        double mu) {
    esvm_index i;
    int c;
    double total = 0.0;
    walk->moves = moves;
    walk->count = count;
    walk->t = 0.0;
    double t1_ = mu;
    double t2_ = mu - TwinDictionarySVM_solver->mu;
    walk->mu = t1_;
    walk->d_mu = t2_;
    for (c = 0; c < count; c++) {
        i = moves[c].slot;
        moves[c].d_minus = moves[c].to_minus - TwinDictionarySVM_s_minus[i];
        moves[c].d_plus = moves[c].to_plus - TwinDictionarySVM_s_plus[i];
        moves[c].rate = 0.0;
        moves[c].state = -1;
        TwinDictionarySVM_resolve_sides(self, i, moves[c].d_minus, moves[c].d_plus);
    }
    twin_offsets(TwinDictionarySVM_g, TwinDictionarySVM_state, TwinDictionarySVM_s_minus,
            TwinDictionarySVM_s_plus, TwinDictionarySVM_solver->mu, TwinDictionarySVM_solver->n,
            TwinDictionarySVM_off);
    memset(TwinDictionarySVM_push, 0, TwinDictionarySVM_solver->n * sizeof(double));
    esvm_index t3_;
    for (t3_ = 0; t3_ < TwinDictionarySVM_solver->n; t3_++) {
        i = t3_;
        total += TwinDictionarySVM_coef[i];
    }
    walk->total = total;
    walk->largest = 1.0;
    if (TwinDictionarySVM_kernel.kind != kernels_RBF) {
        walk->largest = 0.0;
        esvm_index t4_;
        for (t4_ = 0; t4_ < TwinDictionarySVM_solver->n; t4_++) {
            i = t4_;
            walk->largest = esvm_max(walk->largest, TwinDictionarySVM_norm_of(self, i));
        }
    }
}

ESVM_STATIC void TwinDictionarySVM_plateau_rates(char *self, path_Walk *walk) {
    path_Move *move;
    int c, state;
    double rate;
    walk->push_sum = 0.0;
    walk->push_size = 0.0;
    int t1_ = walk->count;
    for (c = 0; c < t1_; c++) {
        move = walk->moves + c;
        state = TwinDictionarySVM_state[move->slot];
        if (state != move->state) {
            rate = state % 2 ? 0.0 : margin_set_plateau(state, move->d_minus, move->d_plus);
            if (rate != move->rate) {
                TwinDictionarySVM_fill_known_row(self, TwinDictionarySVM_twin(self, move->slot),
                        move->known, TwinDictionarySVM_row);
                twin_add(rate - move->rate, TwinDictionarySVM_row, TwinDictionarySVM_push,
                        TwinDictionarySVM_solver->n);
            }
            move->rate = rate;
            move->state = state;
        }
        walk->push_sum += move->rate;
        walk->push_size += fabs(move->rate);
    }
}

ESVM_STATIC double TwinDictionarySVM_size(char *self, const path_Walk *walk) {
    double size = walk->push_size;
    esvm_index i;
    for (i = 0; i < TwinDictionarySVM_solver->n; i++) {
        size += fabs(TwinDictionarySVM_coef[i]);
    }
    return size;
}

ESVM_STATIC margin_set_Outcome TwinDictionarySVM_shift(char *self, double surplus,
        const path_Walk *walk) {
    margin_set_Solver *v = TwinDictionarySVM_solver;
    path_Edge edges[2];
    path_Edge nearest = {0};
    esvm_index i;
    esvm_index twin = -1;
    int c;
    double move;
    nearest.gap = ESVM_INFINITY;
    esvm_index t1_ = v->n;
    for (i = 0; i < t1_; i++) {
        int t2_ = TwinDictionarySVM_edges(self, walk, i, 0.0, edges);
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
        TwinDictionarySVM_g[i] += move;
    }
    v->n_path_events += 1;
    return TwinDictionarySVM_enter(self, twin, nearest.to, nearest.direction, NULL);
}

ESVM_STATIC void TwinDictionarySVM_direct(char *self, path_Walk *walk) {
    packed_factor_PackedFactor factor_ = TwinDictionarySVM_factor_of(self);
    margin_set_Solver *v = TwinDictionarySVM_solver;
    double *border = TwinDictionarySVM_factor_border;
    double *rate = TwinDictionarySVM_rate;
    const double *push = TwinDictionarySVM_push;
    esvm_index i;
    int64_t p;
    int64_t n_rows = packed_factor_factor_rows(&factor_, v->m);
    if (v->m == 0) {
        walk->db = 0.0;
        memcpy(TwinDictionarySVM_rate, TwinDictionarySVM_push, v->n * sizeof(double));
        return;
    }
    border[0] = -walk->total - walk->push_sum;
    int64_t t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        i = TwinDictionarySVM_S[p];
        border[1 + p] = (TwinDictionarySVM_state[i] == 3 ? walk->d_mu : -walk->d_mu) -
                TwinDictionarySVM_off[i] - TwinDictionarySVM_push[i];
    }
    packed_factor_factor_solve(&factor_);
    walk->db = TwinDictionarySVM_factor_solution[0];
    esvm_index t2_ = v->n;
    esvm_index t3_;
    for (t3_ = 0; t3_ < t2_; t3_++) {
        i = t3_;
        rate[i] = push[i] + walk->db;
    }
    twin_add_rows(TwinDictionarySVM_factor_solution + 1, packed_factor_factor_row(&factor_, 0),
            -TwinDictionarySVM_factor_width, n_rows, TwinDictionarySVM_rate, v->n);
    n_rows = twin_add_blocks(TwinDictionarySVM_kernel.kind, TwinDictionarySVM_kernel.gamma,
            TwinDictionarySVM_vectors, TwinDictionarySVM_n_features, TwinDictionarySVM_S,
            TwinDictionarySVM_factor_solution + 1, n_rows, v->m, TwinDictionarySVM_rate, v->n);
    int64_t t4_ = v->m;
    for (p = n_rows; p < t4_; p++) {
        twin_add(TwinDictionarySVM_factor_solution[1 + p], TwinDictionarySVM_row_of(self, p),
                TwinDictionarySVM_rate, v->n);
    }
}

ESVM_STATIC void TwinDictionarySVM_first_event(char *self, const path_Walk *walk,
        path_Event *event) {
    event->length = 1.0 - walk->t;
    event->place = -1;
    event->twin = -1;
    event->to = 0;
    event->direction = 0;
    TwinDictionarySVM_first_to_leave(self, walk, event);
    TwinDictionarySVM_first_to_enter(self, walk, event);
}

ESVM_STATIC void TwinDictionarySVM_advance(char *self, path_Walk *walk, double length,
        int arrived) {
    margin_set_Solver *v = TwinDictionarySVM_solver;
    const path_Move *move;
    esvm_index i, p;
    int c;
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        TwinDictionarySVM_coef[TwinDictionarySVM_S[p]] += length *
                TwinDictionarySVM_factor_solution[1 + p];
    }
    twin_add(length, TwinDictionarySVM_rate, TwinDictionarySVM_g, v->n);
    v->b += length * walk->db;
    v->mu = arrived ? walk->mu : v->mu + length * walk->d_mu;
    walk->t += length;
    int t2_ = walk->count;
    for (c = 0; c < t2_; c++) {
        move = walk->moves + c;
        i = move->slot;
        TwinDictionarySVM_s_minus[i] = arrived ? move->to_minus : TwinDictionarySVM_s_minus[i] +
                length * move->d_minus;
        TwinDictionarySVM_s_plus[i] = arrived ? move->to_plus : TwinDictionarySVM_s_plus[i] +
                length * move->d_plus;
        if (TwinDictionarySVM_state[i] % 2 == 0) {
            TwinDictionarySVM_coef[i] = margin_set_plateau(TwinDictionarySVM_state[i],
                    TwinDictionarySVM_s_minus[i], TwinDictionarySVM_s_plus[i]);
        }
    }
}

ESVM_STATIC margin_set_Outcome TwinDictionarySVM_enter(char *self, esvm_index i, int step,
        int direction, margin_set_Row *known) {
    packed_factor_PackedFactor factor_ = TwinDictionarySVM_factor_of(self);
    margin_set_Solver *v = TwinDictionarySVM_solver;
    double delta;
    int _tries;
    TwinDictionarySVM_state[i] = step;
    for (_tries = 0; _tries < margin_set_MANY_EXCHANGES; _tries++) {
        delta = TwinDictionarySVM_sensitivity(self, i, known);
        if (delta > margin_set_SINGULAR * (TwinDictionarySVM_row[i] + v->lift)) {
            if (!packed_factor_factor_has_room(&factor_)) {
                TwinDictionarySVM_state[i] = step + direction;
                return margin_set_OVERFLOWED;
            }
            TwinDictionarySVM_S[v->m] = (int32_t)i;
            packed_factor_factor_append(&factor_, delta, TwinDictionarySVM_row, v->n);
            return margin_set_REACHED;
        }
        if (!TwinDictionarySVM_exchange(self, i, direction)) {
            return margin_set_REACHED;
        }
    }
    TwinDictionarySVM_state[i] = step + direction;
    return margin_set_STUCK;
}

ESVM_STATIC margin_set_Row *TwinDictionarySVM_known_row(char *self, const path_Walk *walk,
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

ESVM_STATIC const double *TwinDictionarySVM_row_of(char *self, int64_t p) {
    packed_factor_PackedFactor factor_ = TwinDictionarySVM_factor_of(self);
    if (p < packed_factor_factor_rows(&factor_, TwinDictionarySVM_solver->m)) {
        return packed_factor_factor_row(&factor_, p);
    }
    TwinDictionarySVM_fill_row(self, TwinDictionarySVM_twin(self, TwinDictionarySVM_S[p]),
            TwinDictionarySVM_row);
    return TwinDictionarySVM_row;
}

ESVM_STATIC margin_set_Outcome TwinDictionarySVM_restore_state(char *self, esvm_index i) {
    double mu = TwinDictionarySVM_solver->mu;
    double low = -TwinDictionarySVM_s_minus[i];
    double high = TwinDictionarySVM_s_plus[i];
    double middle = high + low;
    if (low < TwinDictionarySVM_coef[i] && TwinDictionarySVM_coef[i] < middle) {
        return TwinDictionarySVM_enter(self, i, 3, 1, NULL);
    }
    if (middle < TwinDictionarySVM_coef[i] && TwinDictionarySVM_coef[i] < high) {
        return TwinDictionarySVM_enter(self, i, 1, 1, NULL);
    }
    if (TwinDictionarySVM_coef[i] == middle) {
        TwinDictionarySVM_state[i] = 2;
        if (middle == high && TwinDictionarySVM_g[i] < -mu && low < 0.0) {
            TwinDictionarySVM_state[i] = 0;
        } else if (middle == low && TwinDictionarySVM_g[i] > mu && high > 0.0) {
            TwinDictionarySVM_state[i] = 4;
        }
    } else {
        TwinDictionarySVM_state[i] = TwinDictionarySVM_coef[i] >= high ? 0 : 4;
    }
    return margin_set_REACHED;
}

ESVM_STATIC void TwinDictionarySVM_from_scratch(char *self) {
    margin_set_Solver *v = TwinDictionarySVM_solver;
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
        TwinDictionarySVM_coef[i] = 0.0;
        TwinDictionarySVM_g[i] = 0.0;
    }
    while (left) {
        left -= 1;
        i = -1;
        j = -1;
        highest = -ESVM_INFINITY;
        lowest = ESVM_INFINITY;
        esvm_index t3_ = v->n;
        for (c = 0; c < t3_; c++) {
            middle = TwinDictionarySVM_s_plus[c] - TwinDictionarySVM_s_minus[c];
            up = (TwinDictionarySVM_coef[c] < middle ? v->mu : -v->mu) - TwinDictionarySVM_g[c];
            down = (TwinDictionarySVM_coef[c] > middle ? -v->mu : v->mu) - TwinDictionarySVM_g[c];
            if (TwinDictionarySVM_coef[c] < TwinDictionarySVM_s_plus[c] && up > highest) {
                highest = up;
                i = c;
            }
            if (TwinDictionarySVM_coef[c] > -TwinDictionarySVM_s_minus[c] && down < lowest) {
                lowest = down;
                j = c;
            }
        }
        if (i < 0 || j < 0 || !(highest - lowest > 1e-3 * margin_set_EVENT_TOLERANCE * v->mu)) {
            break;
        }
        middle = TwinDictionarySVM_s_plus[i] - TwinDictionarySVM_s_minus[i];
        top = TwinDictionarySVM_coef[i] < middle ? middle : TwinDictionarySVM_s_plus[i];
        middle = TwinDictionarySVM_s_plus[j] - TwinDictionarySVM_s_minus[j];
        bottom = TwinDictionarySVM_coef[j] > middle ? middle : -TwinDictionarySVM_s_minus[j];
        TwinDictionarySVM_fill_row(self, TwinDictionarySVM_twin(self, i), TwinDictionarySVM_row);
        TwinDictionarySVM_fill_row(self, TwinDictionarySVM_twin(self, j), TwinDictionarySVM_rate);
        curve = esvm_max(TwinDictionarySVM_row[i] + TwinDictionarySVM_rate[j] - 2.0 *
                TwinDictionarySVM_row[j], 1e-14 * (TwinDictionarySVM_row[i] +
                TwinDictionarySVM_rate[j]));
        step = ESVM_DIVIDE(highest - lowest, curve);
        if (step < top - TwinDictionarySVM_coef[i] && step < TwinDictionarySVM_coef[j] - bottom) {
            TwinDictionarySVM_coef[i] += step;
            TwinDictionarySVM_coef[j] -= step;
        } else if (top - TwinDictionarySVM_coef[i] <= TwinDictionarySVM_coef[j] - bottom) {
            step = top - TwinDictionarySVM_coef[i];
            TwinDictionarySVM_coef[i] = top;
            TwinDictionarySVM_coef[j] -= step;
        } else {
            step = TwinDictionarySVM_coef[j] - bottom;
            TwinDictionarySVM_coef[i] += step;
            TwinDictionarySVM_coef[j] = bottom;
        }
        esvm_index t4_ = v->n;
        for (c = 0; c < t4_; c++) {
            TwinDictionarySVM_g[c] += step * (TwinDictionarySVM_row[c] - TwinDictionarySVM_rate[c]);
        }
    }
    if (esvm_is_finite(highest) && esvm_is_finite(lowest)) {
        v->b = 0.5 * (highest + lowest);
    } else {
        v->b = esvm_is_finite(highest) ? highest : esvm_is_finite(lowest) ? lowest : 0.0;
    }
    TwinDictionarySVM_refresh(self);
    TwinDictionarySVM_rebuild(self);
}

ESVM_STATIC int TwinDictionarySVM_may_merge(char *self, esvm_index i, int64_t j, int one_sided,
        int of_margin) {
    if (of_margin && !(TwinDictionarySVM_state[i] % 2 && TwinDictionarySVM_state[j] % 2)) {
        return 0;
    }
    return !one_sided || (TwinDictionarySVM_g[i] > 0.0) == (TwinDictionarySVM_g[j] > 0.0);
}

ESVM_STATIC void TwinDictionarySVM_fill_squares(char *self, int64_t i, esvm_index first,
        double *row) {
#if ESVM_IS_FLOAT32
    rows_square_distances_f32((const float *)TwinDictionarySVM_twin(self, i),
            (const float *)TwinDictionarySVM_twin(self, first), TwinDictionarySVM_n_features,
            TwinDictionarySVM_solver->n - first, row);
#else
    rows_square_distances_f64((const double *)TwinDictionarySVM_twin(self, i),
            (const double *)TwinDictionarySVM_twin(self, first), TwinDictionarySVM_n_features,
            TwinDictionarySVM_solver->n - first, row);
#endif
}

ESVM_STATIC double TwinDictionarySVM_weight_of(char *self, int64_t i) {
    return TwinDictionarySVM_s_minus[i] + TwinDictionarySVM_s_plus[i];
}

ESVM_STATIC void TwinDictionarySVM_sums(char *self, const void *x, const void *rows, esvm_index n,
        double *out) {
    (void)self;
    rows_any_kernel_sums(&TwinDictionarySVM_kernel, x, rows, TwinDictionarySVM_n_features, n, out);
}

ESVM_STATIC void TwinDictionarySVM_mix(char *self, esvm_index i, esvm_index j, double part,
        char *q) {
#if ESVM_IS_FLOAT32
    twin_vector_machine_between_f32((float *)TwinDictionarySVM_twin(self, i),
            (float *)TwinDictionarySVM_twin(self, j), part, (float *)q,
            TwinDictionarySVM_n_features);
#else
    twin_vector_machine_between_f64((double *)TwinDictionarySVM_twin(self, i),
            (double *)TwinDictionarySVM_twin(self, j), part, (double *)q,
            TwinDictionarySVM_n_features);
#endif
}

ESVM_STATIC double TwinDictionarySVM_on_the_line(char *self, esvm_index i, esvm_index j, char *q) {
    int c, _c;
    int best = 0;
    double low, high, a, b, cost;
    double least = 1e300;
    for (c = 0; c < twin_vector_machine_PLACES; c++) {
        cost = TwinDictionarySVM_cost(self, i, j, ESVM_DIVIDE(c, twin_vector_machine_PLACES - 1.0),
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
        if (TwinDictionarySVM_cost(self, i, j, a, q) <= TwinDictionarySVM_cost(self, i, j, b, q)) {
            high = b;
        } else {
            low = a;
        }
    }
    return 0.5 * (low + high);
}

ESVM_STATIC void TwinDictionarySVM_resolve_sides(char *self, esvm_index i, double d_minus,
        double d_plus) {
    if (TwinDictionarySVM_s_plus[i] == 0.0 && TwinDictionarySVM_state[i] % 2 == 0 &&
            TwinDictionarySVM_state[i] > 0) {
        TwinDictionarySVM_state[i] = TwinDictionarySVM_side(self, TwinDictionarySVM_g[i], 0,
                d_plus > 0.0);
    }
    if (TwinDictionarySVM_s_minus[i] == 0.0 && TwinDictionarySVM_state[i] % 2 == 0 &&
            TwinDictionarySVM_state[i] < 4) {
        TwinDictionarySVM_state[i] = TwinDictionarySVM_side(self, TwinDictionarySVM_g[i], d_minus >
                0.0, 0);
    }
}

ESVM_STATIC int TwinDictionarySVM_edges(char *self, const path_Walk *walk, int64_t i, double dg,
        path_Edge *edges) {
    double g = TwinDictionarySVM_g[i];
    double off = TwinDictionarySVM_off[i];
    double rest = 1.0 - walk->t;
    double up, down;
    double mu = TwinDictionarySVM_solver->mu;
    double d_mu = walk->d_mu;
    int lower = TwinDictionarySVM_s_minus[i] > 0.0;
    int upper = TwinDictionarySVM_s_plus[i] > 0.0;
    int c;
    int count = 0;
    int t1_ = walk->count;
    for (c = 0; c < t1_; c++) {
        if (walk->moves[c].slot == i) {
            lower |= walk->moves[c].d_minus > 0.0;
            upper |= walk->moves[c].d_plus > 0.0;
        }
    }
    if (TwinDictionarySVM_state[i] == 0 && lower) {
        edges[0] = (path_Edge){-mu + off * rest - g, dg + d_mu + off, 1, -1};
        count = 1;
    } else if (TwinDictionarySVM_state[i] == 4 && upper) {
        edges[0] = (path_Edge){g - mu - off * rest, d_mu - dg - off, 3, 1};
        count = 1;
    } else if (TwinDictionarySVM_state[i] == 2) {
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

ESVM_STATIC void TwinDictionarySVM_first_to_leave(char *self, const path_Walk *walk,
        path_Event *event) {
    margin_set_Solver *v = TwinDictionarySVM_solver;
    const path_Move *move;
    esvm_index i, p;
    int c;
    double low, high, d_low, d_high, step, size;
    double rest = 1.0 - walk->t;
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        i = TwinDictionarySVM_S[p];
        step = TwinDictionarySVM_factor_solution[1 + p];
        size = fabs(TwinDictionarySVM_coef[i]) + fabs(step) +
                ESVM_DIVIDE(fabs(TwinDictionarySVM_factor_border[1 + p] - walk->db) + 0.01 *
                fabs(walk->db), TwinDictionarySVM_norm_of(self, i) + v->lift);
        TwinDictionarySVM_step_bounds(self, i, &low, &high);
        d_low = 0.0;
        d_high = 0.0;
        int t2_ = walk->count;
        for (c = 0; c < t2_; c++) {
            move = walk->moves + c;
            if (move->slot == i) {
                d_low = margin_set_plateau(TwinDictionarySVM_state[i] + 1, move->d_minus,
                        move->d_plus);
                d_high = margin_set_plateau(TwinDictionarySVM_state[i] - 1, move->d_minus,
                        move->d_plus);
            }
        }
        if (path_comes_first(high - TwinDictionarySVM_coef[i], step - d_high, rest, path_ROUNDING *
                size, &event->length)) {
            esvm_index t3_ = p;
            int t4_ = TwinDictionarySVM_state[i] - 1;
            event->place = t3_;
            event->to = t4_;
        }
        if (path_comes_first(TwinDictionarySVM_coef[i] - low, d_low - step, rest, path_ROUNDING *
                size, &event->length)) {
            esvm_index t5_ = p;
            int t6_ = TwinDictionarySVM_state[i] + 1;
            event->place = t5_;
            event->to = t6_;
        }
    }
}

ESVM_STATIC void TwinDictionarySVM_first_to_enter(char *self, const path_Walk *walk,
        path_Event *event) {
    double rest = 1.0 - walk->t;
    double mu = TwinDictionarySVM_solver->mu;
    double d_mu = fabs(walk->d_mu);
    double tolerance = TwinDictionarySVM_tolerance(self, walk);
    path_Edge edges[2];
    int64_t i = -1;
    esvm_index n = TwinDictionarySVM_solver->n;
    int c;
    while (1) {
        i = twin_near(TwinDictionarySVM_g, TwinDictionarySVM_rate, TwinDictionarySVM_off,
                TwinDictionarySVM_state, i + 1, n, mu, d_mu, rest, tolerance);
        if (i == n) {
            break;
        }
        int t1_ = TwinDictionarySVM_edges(self, walk, i, TwinDictionarySVM_rate[i], edges);
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

ESVM_STATIC double TwinDictionarySVM_sensitivity(char *self, esvm_index i, margin_set_Row *known) {
    packed_factor_PackedFactor factor_ = TwinDictionarySVM_factor_of(self);
    margin_set_Solver *v = TwinDictionarySVM_solver;
    esvm_index p;
    TwinDictionarySVM_fill_known_row(self, TwinDictionarySVM_twin(self, i), known,
            TwinDictionarySVM_row);
    if (v->m == 0) {
        v->lift = TwinDictionarySVM_row[i] > 0.0 ? TwinDictionarySVM_row[i] : 1.0;
    }
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        TwinDictionarySVM_factor_border[1 + p] = TwinDictionarySVM_row[TwinDictionarySVM_S[p]] +
                v->lift;
    }
    return packed_factor_factor_complement(&factor_, TwinDictionarySVM_row[i]);
}

ESVM_STATIC int TwinDictionarySVM_exchange(char *self, esvm_index i, int direction) {
    packed_factor_PackedFactor factor_ = TwinDictionarySVM_factor_of(self);
    margin_set_Solver *v = TwinDictionarySVM_solver;
    double *u = TwinDictionarySVM_factor_solution;
    esvm_index p, j;
    esvm_index first = -1;
    int end = 0;
    double low, high, room, gap, rate, move;
    v->n_exchanges += 1;
    TwinDictionarySVM_factor_border[0] = 1.0;
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        TwinDictionarySVM_factor_border[1 + p] = TwinDictionarySVM_row[TwinDictionarySVM_S[p]];
    }
    packed_factor_factor_solve(&factor_);
    TwinDictionarySVM_step_bounds(self, i, &low, &high);
    room = direction > 0 ? high - TwinDictionarySVM_coef[i] : TwinDictionarySVM_coef[i] - low;
    esvm_index t2_ = v->m;
    for (p = 0; p < t2_; p++) {
        j = TwinDictionarySVM_S[p];
        rate = -direction * u[1 + p];
        TwinDictionarySVM_step_bounds(self, j, &low, &high);
        gap = esvm_max(rate > 0 ? high - TwinDictionarySVM_coef[j] : TwinDictionarySVM_coef[j] -
                low, 0.0);
        if (fabs(rate) > margin_set_NULL_TOLERANCE && gap < room * fabs(rate)) {
            room = ESVM_DIVIDE(gap, fabs(rate));
            first = p;
            end = TwinDictionarySVM_state[j] + (rate > 0 ? -1 : 1);
        }
    }
    move = direction * room;
    TwinDictionarySVM_coef[i] += move;
    v->b -= move * u[0];
    twin_add(move, TwinDictionarySVM_row, TwinDictionarySVM_g, v->n);
    esvm_index t3_ = v->n;
    esvm_index t4_;
    for (t4_ = 0; t4_ < t3_; t4_++) {
        j = t4_;
        TwinDictionarySVM_g[j] -= move * u[0];
    }
    esvm_index t5_ = v->m;
    for (p = 0; p < t5_; p++) {
        TwinDictionarySVM_coef[TwinDictionarySVM_S[p]] -= move * u[1 + p];
        twin_add(-move * u[1 + p], TwinDictionarySVM_row_of(self, p), TwinDictionarySVM_g, v->n);
    }
    if (first >= 0) {
        TwinDictionarySVM_leave(self, first, end);
        return 1;
    }
    TwinDictionarySVM_state[i] -= direction;
    TwinDictionarySVM_coef[i] = margin_set_plateau(TwinDictionarySVM_state[i],
            TwinDictionarySVM_s_minus[i], TwinDictionarySVM_s_plus[i]);
    return 0;
}

ESVM_STATIC double TwinDictionarySVM_cost(char *self, esvm_index i, esvm_index j, double part,
        char *q) {
    TwinDictionarySVM_mix(self, i, j, part, q);
    return (TwinDictionarySVM_weight_of(self, i) + TwinDictionarySVM_weight_of(self, j)) *
            TwinDictionarySVM_k_wide(self, q, q) - 2.0 * (TwinDictionarySVM_weight_of(self, i) *
            TwinDictionarySVM_k_wide(self, q, TwinDictionarySVM_twin(self, i)) +
            TwinDictionarySVM_weight_of(self, j) * TwinDictionarySVM_k_wide(self, q,
            TwinDictionarySVM_twin(self, j)));
}

ESVM_STATIC void TwinDictionarySVM_step_bounds(char *self, esvm_index i, double *low,
        double *high) {
    low[0] = margin_set_plateau(TwinDictionarySVM_state[i] + 1, TwinDictionarySVM_s_minus[i],
            TwinDictionarySVM_s_plus[i]);
    high[0] = margin_set_plateau(TwinDictionarySVM_state[i] - 1, TwinDictionarySVM_s_minus[i],
            TwinDictionarySVM_s_plus[i]);
}

ESVM_STATIC double TwinDictionarySVM_tolerance(char *self, const path_Walk *walk) {
    double size;
    double sums = 0.0;
    esvm_index i;
    for (i = 0; i < TwinDictionarySVM_solver->n; i++) {
        size = fabs(TwinDictionarySVM_coef[i]);
        sums += TwinDictionarySVM_kernel.kind == kernels_RBF ? size : size *
                esvm_sqrt(TwinDictionarySVM_norm_of(self, i));
    }
    return path_EVENT_TOLERANCE * TwinDictionarySVM_solver->mu + path_NOISE *
            esvm_sqrt(walk->largest) * sums;
}

#endif

#endif
