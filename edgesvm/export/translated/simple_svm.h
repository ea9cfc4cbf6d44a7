/* Translated from edgesvm/learners/twin/_simple_svm.*: change that, then `make translate`. */

#ifndef EDGESVM_SIMPLE_SVM_H
#define EDGESVM_SIMPLE_SVM_H

#include "floor.h"
#include "core.h"
#include "kernels.h"
#include "linalg.h"
#include "margin_set.h"
#include "packed_factor.h"
#include "path.h"
#include "rows.h"
#include "status.h"

#define simple_svm_REFRESH 512
#define simple_svm_POLISHES 3
#define simple_svm_LEAST_WEIGHT 1e-100
#define simple_svm_LARGEST_WEIGHT 1e+100
#define simple_svm_MANY_EVENTS 16
#define simple_svm_TIE 1e-09
#define simple_svm_ROUNDING 1e-12
typedef struct {
    int64_t n_forgotten;
    int64_t n_ignored;
    int64_t converged;
} simple_svm_Counters;

#ifdef SimpleSVM_n_features

#define SimpleSVM_common ((core_Common *)self)
#define SimpleSVM_n_per_class ((int64_t *)(self + SimpleSVM_AT_n_per_class))
#define SimpleSVM_scores ((double *)ESVM_SCRATCH(SimpleSVM_AT_scores))
#define SimpleSVM_solver ((margin_set_Solver *)(self + SimpleSVM_AT_mu))
#define SimpleSVM_s_minus ((double *)(self + SimpleSVM_AT_s_minus))
#define SimpleSVM_s_plus ((double *)(self + SimpleSVM_AT_s_plus))
#define SimpleSVM_coef ((double *)(self + SimpleSVM_AT_coef))
#define SimpleSVM_g ((double *)(self + SimpleSVM_AT_g))
#define SimpleSVM_rate ((double *)(self + SimpleSVM_AT_rate))
#define SimpleSVM_row ((double *)(self + SimpleSVM_AT_row))
#define SimpleSVM_S ((int32_t *)(self + SimpleSVM_AT_S))
#define SimpleSVM_state ((int8_t *)(self + SimpleSVM_AT_state))
#define SimpleSVM_vectors ((char *)(self + SimpleSVM_AT_vectors))
#define SimpleSVM_factor_pool ((double *)(self + SimpleSVM_AT_pool))
#define SimpleSVM_factor_ones ((double *)(self + SimpleSVM_AT_ones))
#define SimpleSVM_factor_border ((double *)(self + SimpleSVM_AT_border))
#define SimpleSVM_factor_solution ((double *)(self + SimpleSVM_AT_solution))
#define SimpleSVM_off ((double *)(self + SimpleSVM_AT_off))
#define SimpleSVM_push ((double *)(self + SimpleSVM_AT_push))
#define SimpleSVM_counters ((simple_svm_Counters *)(self + SimpleSVM_AT_n_forgotten))
#define SimpleSVM_number ((int64_t *)(self + SimpleSVM_AT_number))
#define SimpleSVM_factor_order (&SimpleSVM_solver->m)
#define SimpleSVM_factor_lift (&SimpleSVM_solver->lift)

static const kernels_Kernel SimpleSVM_kernel = SimpleSVM_KERNEL;

ESVM_STATIC packed_factor_PackedFactor SimpleSVM_factor_of(char *self) {
    packed_factor_PackedFactor made;
    (void)self;
    made.pool = SimpleSVM_factor_pool;
    made.length = SimpleSVM_factor_length;
    made.width = SimpleSVM_factor_width;
    made.order = SimpleSVM_factor_order;
    made.lift = SimpleSVM_factor_lift;
    made.ones = SimpleSVM_factor_ones;
    made.border = SimpleSVM_factor_border;
    made.solution = SimpleSVM_factor_solution;
    return made;
}

typedef struct {
    int64_t n_moves;
} SimpleSVM_Step;

ESVM_STATIC SimpleSVM_Step SimpleSVM_step_of(char *self) {
    SimpleSVM_Step made;
    (void)self;
    made.n_moves = 0;
    return made;
}

ESVM_STATIC status_Status SimpleSVM_learn_row(char *self, const void *x, int slot, double weight);
ESVM_STATIC status_Status SimpleSVM_answer(char *self, const void *x, double *out);
ESVM_STATIC int SimpleSVM_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t SimpleSVM_n_learned(char *self);
ESVM_STATIC status_Status SimpleSVM_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status SimpleSVM_decide(char *self, const void *x, double *value);
ESVM_STATIC void SimpleSVM_take(char *self, SimpleSVM_Step *now, const void *x, double y,
        double weight, int64_t number);
ESVM_STATIC void SimpleSVM_count(char *self, int slot, status_Status status);
ESVM_STATIC void SimpleSVM_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int SimpleSVM_n_answers(char *self);
ESVM_STATIC int SimpleSVM_slot_for(char *self, double value);
ESVM_STATIC status_Status SimpleSVM_step(char *self, const void *x, double y, double weight);
ESVM_STATIC double SimpleSVM_class_weight(char *self, double y);
ESVM_STATIC int SimpleSVM_refuses_to_decide(char *self, const void *x);
ESVM_STATIC double SimpleSVM_g_of(char *self, const void *x, margin_set_Row *kept);
ESVM_STATIC esvm_index SimpleSVM_place(char *self, const void *x, margin_set_Row *known);
ESVM_STATIC void SimpleSVM_solve(char *self, SimpleSVM_Step *now);
ESVM_STATIC status_Status SimpleSVM_refuses(char *self, const void *x, double weight);
ESVM_STATIC int SimpleSVM_violates(char *self, const void *x, double y);
ESVM_STATIC int SimpleSVM_make_room(char *self);
ESVM_STATIC double SimpleSVM_norm(char *self, const void *x);
ESVM_STATIC void SimpleSVM_k_rows(char *self, const void *x, const void *rows, esvm_index n,
        double *out);
ESVM_STATIC char *SimpleSVM_twin(char *self, int64_t i);
ESVM_STATIC void SimpleSVM_fill_known_row(char *self, const void *x, margin_set_Row *known,
        double *row);
ESVM_STATIC int SimpleSVM_side(char *self, double g, int lower, int upper);
ESVM_STATIC void SimpleSVM_refresh(char *self);
ESVM_STATIC margin_set_Outcome SimpleSVM_improve(char *self, SimpleSVM_Step *now);
ESVM_STATIC int SimpleSVM_is_consistent(char *self);
ESVM_STATIC void SimpleSVM_rebuild(char *self);
ESVM_STATIC void SimpleSVM_from_scratch(char *self);
ESVM_STATIC void SimpleSVM_begin(char *self, path_Walk *walk, path_Move *moves, int count,
        double mu);
ESVM_STATIC double SimpleSVM_tolerance(char *self, const path_Walk *walk);
ESVM_STATIC esvm_index SimpleSVM_spare(char *self);
ESVM_STATIC void SimpleSVM_remove(char *self, esvm_index i);
ESVM_STATIC margin_set_Outcome SimpleSVM_follow(char *self, path_Move *moves, int count, double mu);
ESVM_STATIC double SimpleSVM_k_wide(char *self, const void *x, const void *z);
ESVM_STATIC double SimpleSVM_square_norm(char *self, const void *x);
ESVM_STATIC int SimpleSVM_sums_in_dtype(char *self);
ESVM_STATIC void SimpleSVM_fill_row(char *self, const void *x, double *row);
ESVM_STATIC void SimpleSVM_to_optimum(char *self, path_Walk *walk);
ESVM_STATIC esvm_index SimpleSVM_worst(char *self, double least);
ESVM_STATIC margin_set_Outcome SimpleSVM_enter(char *self, esvm_index i, int step, int direction,
        margin_set_Row *known);
ESVM_STATIC const double *SimpleSVM_row_of(char *self, int64_t p);
ESVM_STATIC margin_set_Outcome SimpleSVM_restore_state(char *self, esvm_index i);
ESVM_STATIC void SimpleSVM_resolve_sides(char *self, esvm_index i, double d_minus, double d_plus);
ESVM_STATIC double SimpleSVM_norm_of(char *self, int64_t i);
ESVM_STATIC int SimpleSVM_is_spare(char *self, esvm_index i);
ESVM_STATIC double SimpleSVM_beyond(char *self, esvm_index i);
ESVM_STATIC void SimpleSVM_drop(char *self, esvm_index i);
ESVM_STATIC void SimpleSVM_release_unused_weight(char *self, path_Move *moves, int count);
ESVM_STATIC margin_set_Outcome SimpleSVM_walk(char *self, path_Move *moves, int count, double mu);
ESVM_STATIC void SimpleSVM_solve_at(char *self, const path_Move *moves, int count, double mu);
ESVM_STATIC void SimpleSVM_walk_back(char *self, path_Move *moves, int count, double mu);
ESVM_STATIC void SimpleSVM_plateau_rates(char *self, path_Walk *walk);
ESVM_STATIC void SimpleSVM_direct(char *self, path_Walk *walk);
ESVM_STATIC esvm_index SimpleSVM_first_at_bound(char *self, double *length, int *to);
ESVM_STATIC void SimpleSVM_advance(char *self, path_Walk *walk, double length, int arrived);
ESVM_STATIC void SimpleSVM_leave(char *self, esvm_index p, int to);
ESVM_STATIC double SimpleSVM_sensitivity(char *self, esvm_index i, margin_set_Row *known);
ESVM_STATIC int SimpleSVM_exchange(char *self, esvm_index i, int direction);
ESVM_STATIC esvm_index SimpleSVM_place_on_S(char *self, esvm_index i);
ESVM_STATIC double SimpleSVM_size(char *self, const path_Walk *walk);
ESVM_STATIC margin_set_Outcome SimpleSVM_shift(char *self, double surplus, const path_Walk *walk);
ESVM_STATIC void SimpleSVM_first_event(char *self, const path_Walk *walk, path_Event *event);
ESVM_STATIC margin_set_Row *SimpleSVM_known_row(char *self, const path_Walk *walk, esvm_index i);
ESVM_STATIC void SimpleSVM_step_bounds(char *self, esvm_index i, double *low, double *high);
ESVM_STATIC int SimpleSVM_edges(char *self, const path_Walk *walk, int64_t i, double dg,
        path_Edge *edges);
ESVM_STATIC void SimpleSVM_first_to_leave(char *self, const path_Walk *walk, path_Event *event);
ESVM_STATIC void SimpleSVM_first_to_enter(char *self, const path_Walk *walk, path_Event *event);

ESVM_STATIC status_Status SimpleSVM_learn_row(char *self, const void *x, int slot, double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        SimpleSVM_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = SimpleSVM_weighed_step(self, x, !SimpleSVM_HAS_scores ? 2 * slot - 1 : slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    SimpleSVM_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status SimpleSVM_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!SimpleSVM_HAS_scores) {
        status = SimpleSVM_decide(self, x, out);
        out[0] *= SimpleSVM_labels_sign;
        return status;
    }
    status = SimpleSVM_decide(self, x, SimpleSVM_HAS_scores ? SimpleSVM_scores : NULL);
    SimpleSVM_in_order(self, SimpleSVM_HAS_scores ? SimpleSVM_scores : NULL, out);
    memset(SimpleSVM_scores, 0, SimpleSVM_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int SimpleSVM_winner(char *self, const double *answers, double *score) {
    int i;
    int n = SimpleSVM_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!SimpleSVM_HAS_scores) {
        return SimpleSVM_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return SimpleSVM_labels_order[SimpleSVM_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return SimpleSVM_labels_order[best];
}

ESVM_STATIC int64_t SimpleSVM_n_learned(char *self) {
    int64_t total = SimpleSVM_n_per_class[0] + SimpleSVM_n_per_class[1];
    int slot;
    for (slot = 2; slot < SimpleSVM_n_classes; slot++) {
        total += SimpleSVM_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status SimpleSVM_weighed_step(char *self, const void *x, double y,
        double weight) {
    return SimpleSVM_step(self, x, y, SimpleSVM_balanced ? weight * SimpleSVM_class_weight(self,
            y) : weight);
}

ESVM_STATIC status_Status SimpleSVM_decide(char *self, const void *x, double *value) {
    if (SimpleSVM_refuses_to_decide(self, x)) {
        return status_NOT_FINITE;
    }
    value[0] = ESVM_DIVIDE(SimpleSVM_g_of(self, x, NULL), SimpleSVM_solver->mu);
    return status_UNCHANGED;
}

ESVM_STATIC void SimpleSVM_take(char *self, SimpleSVM_Step *now, const void *x, double y,
        double weight, int64_t number) {
    esvm_index i = SimpleSVM_place(self, x, NULL);
    SimpleSVM_number[i] = number;
    SimpleSVM_s_plus[i] = y > 0.0 ? weight : 0.0;
    SimpleSVM_s_minus[i] = y > 0.0 ? 0.0 : weight;
    SimpleSVM_state[i] = y > 0.0 ? 4 : 0;
    SimpleSVM_solve(self, now);
}

ESVM_STATIC void SimpleSVM_count(char *self, int slot, status_Status status) {
    SimpleSVM_common->n_seen += 1;
    SimpleSVM_common->n_updates += status == status_CHANGED;
    SimpleSVM_n_per_class[slot] += 1;
}

ESVM_STATIC void SimpleSVM_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = SimpleSVM_labels_n;
    const signed char *order = SimpleSVM_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int SimpleSVM_n_answers(char *self) {
    (void)self;
    return !SimpleSVM_HAS_scores || SimpleSVM_labels_n <= 2 ? 1 : SimpleSVM_labels_n;
}

ESVM_STATIC int SimpleSVM_slot_for(char *self, double value) {
    if (SimpleSVM_one_class) {
        return value > 0.0;
    }
    if (SimpleSVM_n_per_class[0] == 0) {
        return 1;
    }
    if (SimpleSVM_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (SimpleSVM_labels_sign < 0);
}

ESVM_STATIC status_Status SimpleSVM_step(char *self, const void *x, double y, double weight) {
    SimpleSVM_Step here = SimpleSVM_step_of(self), *now = &here;
    status_Status status = SimpleSVM_refuses(self, x, weight);
    if (status != status_UNCHANGED || !SimpleSVM_violates(self, x, y)) {
        return status;
    }
    if (SimpleSVM_solver->n == SimpleSVM_slots && !SimpleSVM_make_room(self)) {
        return status_UNCHANGED;
    }
    SimpleSVM_take(self, now, x, y, weight, SimpleSVM_common->n_seen);
    SimpleSVM_counters->converged = 0;
    return status_CHANGED;
}

ESVM_STATIC double SimpleSVM_class_weight(char *self, double y) {
    int slot = !SimpleSVM_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (SimpleSVM_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < SimpleSVM_n_classes; other++) {
            n_classes += SimpleSVM_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(SimpleSVM_n_learned(self) + 1, (double)n_classes *
            (SimpleSVM_n_per_class[slot] + 1));
}

ESVM_STATIC int SimpleSVM_refuses_to_decide(char *self, const void *x) {
    return !esvm_is_finite(SimpleSVM_norm(self, x));
}

ESVM_STATIC double SimpleSVM_g_of(char *self, const void *x, margin_set_Row *kept) {
    double here[margin_set_CHUNK];
    double *k = here;
    double g = 0.0;
    esvm_index j = 0;
    esvm_index count;
    int keeps = kept != NULL && SimpleSVM_solver->n <= TWIN_KEPT;
    while (j < SimpleSVM_solver->n) {
        count = (int64_t)margin_set_CHUNK < SimpleSVM_solver->n - j ? (int64_t)margin_set_CHUNK :
                SimpleSVM_solver->n - j;
        if (keeps) {
            k = kept->k + j;
        }
        SimpleSVM_k_rows(self, x, SimpleSVM_twin(self, j), count, k);
        g += linalg_dot_f64(k, SimpleSVM_coef + j, count);
        j += count;
    }
    if (keeps) {
        kept->n = j;
    }
    return g + SimpleSVM_solver->b;
}

ESVM_STATIC esvm_index SimpleSVM_place(char *self, const void *x, margin_set_Row *known) {
    packed_factor_PackedFactor factor_ = SimpleSVM_factor_of(self);
    margin_set_Solver *v = SimpleSVM_solver;
    esvm_index p;
    esvm_index i = v->n;
    esvm_index n_rows = packed_factor_factor_rows(&factor_, v->m);
    memmove(SimpleSVM_twin(self, i), x, SimpleSVM_row_bytes);
    v->n += 1;
    SimpleSVM_fill_known_row(self, SimpleSVM_twin(self, i), known, SimpleSVM_row);
    SimpleSVM_g[i] = linalg_dot_f64(SimpleSVM_row, SimpleSVM_coef, i) + v->b;
    for (p = 0; p < n_rows; p++) {
        packed_factor_factor_row(&factor_, p)[i] = SimpleSVM_row[SimpleSVM_S[p]];
    }
    SimpleSVM_s_minus[i] = 0.0;
    SimpleSVM_s_plus[i] = 0.0;
    SimpleSVM_coef[i] = 0.0;
    SimpleSVM_state[i] = SimpleSVM_side(self, SimpleSVM_g[i], 1, 1);
    return i;
}

ESVM_STATIC void SimpleSVM_solve(char *self, SimpleSVM_Step *now) {
    margin_set_Solver *v = SimpleSVM_solver;
    margin_set_Outcome outcome = margin_set_REACHED;
    int polish;
    v->paths += 1;
    if (v->paths % simple_svm_REFRESH == 0) {
        SimpleSVM_refresh(self);
    }
    for (polish = 0; polish < simple_svm_POLISHES; polish++) {
        outcome = SimpleSVM_improve(self, now);
        if (outcome != margin_set_REACHED || SimpleSVM_is_consistent(self)) {
            break;
        }
        SimpleSVM_refresh(self);
        if (polish) {
            v->n_refactored += 1;
            SimpleSVM_rebuild(self);
        }
    }
    if (outcome != margin_set_REACHED) {
        SimpleSVM_from_scratch(self);
    }
}

ESVM_STATIC status_Status SimpleSVM_refuses(char *self, const void *x, double weight) {
    if (!esvm_is_finite(SimpleSVM_norm(self, x))) {
        return status_NOT_FINITE;
    }
    return simple_svm_LEAST_WEIGHT <= weight && weight <= simple_svm_LARGEST_WEIGHT ?
            status_UNCHANGED : status_BAD_WEIGHT;
}

ESVM_STATIC int SimpleSVM_violates(char *self, const void *x, double y) {
    double gap = SimpleSVM_solver->mu - y * SimpleSVM_g_of(self, x, NULL);
    path_Walk walk = {0};
    if (gap <= 0.0) {
        return 0;
    }
    SimpleSVM_begin(self, &walk, NULL, 0, SimpleSVM_solver->mu);
    return gap > SimpleSVM_tolerance(self, &walk);
}

ESVM_STATIC int SimpleSVM_make_room(char *self) {
    path_Move move = {0};
    esvm_index i = SimpleSVM_spare(self);
    if (i >= 0) {
        SimpleSVM_remove(self, i);
        return 1;
    }
    if (!SimpleSVM_forgets) {
        SimpleSVM_counters->n_ignored += 1;
        return 0;
    }
    move.slot = 0;
    move.to_minus = 0.0;
    move.to_plus = 0.0;
    move.known = NULL;
    SimpleSVM_follow(self, &move, 1, SimpleSVM_solver->mu);
    SimpleSVM_remove(self, 0);
    SimpleSVM_counters->n_forgotten += 1;
    return 1;
}

ESVM_STATIC double SimpleSVM_norm(char *self, const void *x) {
    double k_xx = SimpleSVM_kernel.kind == kernels_RBF ? 1.0 : SimpleSVM_k_wide(self, x, x);
    return esvm_is_finite(SimpleSVM_square_norm(self, x)) && k_xx <= margin_set_LARGEST_NORM ?
            k_xx : ESVM_NAN;
}

ESVM_STATIC void SimpleSVM_k_rows(char *self, const void *x, const void *rows, esvm_index n,
        double *out) {
    if (SimpleSVM_sums_in_dtype(self)) {
        rows_lanes_kernel_values(&SimpleSVM_kernel, x, rows, SimpleSVM_n_features, n, out);
    } else {
        rows_any_kernel_values(&SimpleSVM_kernel, x, rows, SimpleSVM_n_features, n, out);
    }
}

ESVM_STATIC char *SimpleSVM_twin(char *self, int64_t i) {
    return SimpleSVM_vectors + i * SimpleSVM_row_bytes;
}

ESVM_STATIC void SimpleSVM_fill_known_row(char *self, const void *x, margin_set_Row *known,
        double *row) {
    esvm_index first = 0;
    esvm_index n = SimpleSVM_solver->n;
    if (known != NULL) {
        first = known->n;
        memcpy(row, known->k, first * sizeof(double));
    }
    SimpleSVM_k_rows(self, x, SimpleSVM_twin(self, first), n - first, row + first);
    if (known != NULL && n <= TWIN_KEPT) {
        memcpy(known->k + first, row + first, (n - first) * sizeof(double));
        known->n = n;
    }
}

ESVM_STATIC int SimpleSVM_side(char *self, double g, int lower, int upper) {
    double edge = SimpleSVM_solver->mu * (1.0 - margin_set_EVENT_TOLERANCE);
    return lower && g < -edge ? 0 : upper && g > edge ? 4 : 2;
}

ESVM_STATIC void SimpleSVM_refresh(char *self) {
    margin_set_Solver *v = SimpleSVM_solver;
    esvm_index i;
    v->n_refreshed += 1;
    esvm_index t1_ = v->n;
    for (i = 0; i < t1_; i++) {
        SimpleSVM_g[i] = v->b;
    }
    esvm_index t2_ = v->n;
    for (i = 0; i < t2_; i++) {
        if (SimpleSVM_coef[i] != 0.0) {
            SimpleSVM_fill_row(self, SimpleSVM_twin(self, i), SimpleSVM_row);
            twin_add(SimpleSVM_coef[i], SimpleSVM_row, SimpleSVM_g, v->n);
        }
    }
}

ESVM_STATIC margin_set_Outcome SimpleSVM_improve(char *self, SimpleSVM_Step *now) {
    path_Walk walk = {0};
    esvm_index i;
    int64_t _entry;
    int step;
    for (_entry = 0; _entry < simple_svm_MANY_EVENTS * (SimpleSVM_solver->n + 4); _entry++) {
        SimpleSVM_to_optimum(self, &walk);
        i = SimpleSVM_worst(self, SimpleSVM_tolerance(self, &walk));
        if (i < 0) {
            return margin_set_REACHED;
        }
        now->n_moves += 1;
        SimpleSVM_solver->n_path_events += 1;
        step = SimpleSVM_s_plus[i] > 0.0 ? 3 : 1;
        if (SimpleSVM_enter(self, i, step, SimpleSVM_state[i] - step, NULL) != margin_set_REACHED) {
            return margin_set_STUCK;
        }
    }
    return margin_set_STUCK;
}

ESVM_STATIC int SimpleSVM_is_consistent(char *self) {
    margin_set_Solver *v = SimpleSVM_solver;
    esvm_index p = 0;
    double aim, g;
    while (p < v->m) {
        aim = SimpleSVM_state[SimpleSVM_S[p]] == 3 ? v->mu : -v->mu;
        g = linalg_dot_f64(SimpleSVM_row_of(self, p), SimpleSVM_coef, v->n) + v->b;
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

ESVM_STATIC void SimpleSVM_rebuild(char *self) {
    margin_set_Solver *v = SimpleSVM_solver;
    esvm_index i;
    v->m = 0;
    esvm_index t1_ = v->n;
    for (i = 0; i < t1_; i++) {
        SimpleSVM_state[i] = 2;
    }
    esvm_index t2_ = v->n;
    for (i = 0; i < t2_; i++) {
        if (SimpleSVM_restore_state(self, i) != margin_set_REACHED) {
            SimpleSVM_state[i] += SimpleSVM_state[i] % 2;
        }
    }
}

ESVM_STATIC void SimpleSVM_from_scratch(char *self) {
    margin_set_Solver *v = SimpleSVM_solver;
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
        SimpleSVM_coef[i] = 0.0;
        SimpleSVM_g[i] = 0.0;
    }
    while (left) {
        left -= 1;
        i = -1;
        j = -1;
        highest = -ESVM_INFINITY;
        lowest = ESVM_INFINITY;
        esvm_index t3_ = v->n;
        for (c = 0; c < t3_; c++) {
            middle = SimpleSVM_s_plus[c] - SimpleSVM_s_minus[c];
            up = (SimpleSVM_coef[c] < middle ? v->mu : -v->mu) - SimpleSVM_g[c];
            down = (SimpleSVM_coef[c] > middle ? -v->mu : v->mu) - SimpleSVM_g[c];
            if (SimpleSVM_coef[c] < SimpleSVM_s_plus[c] && up > highest) {
                highest = up;
                i = c;
            }
            if (SimpleSVM_coef[c] > -SimpleSVM_s_minus[c] && down < lowest) {
                lowest = down;
                j = c;
            }
        }
        if (i < 0 || j < 0 || !(highest - lowest > 1e-3 * margin_set_EVENT_TOLERANCE * v->mu)) {
            break;
        }
        middle = SimpleSVM_s_plus[i] - SimpleSVM_s_minus[i];
        top = SimpleSVM_coef[i] < middle ? middle : SimpleSVM_s_plus[i];
        middle = SimpleSVM_s_plus[j] - SimpleSVM_s_minus[j];
        bottom = SimpleSVM_coef[j] > middle ? middle : -SimpleSVM_s_minus[j];
        SimpleSVM_fill_row(self, SimpleSVM_twin(self, i), SimpleSVM_row);
        SimpleSVM_fill_row(self, SimpleSVM_twin(self, j), SimpleSVM_rate);
        curve = esvm_max(SimpleSVM_row[i] + SimpleSVM_rate[j] - 2.0 * SimpleSVM_row[j], 1e-14 *
                (SimpleSVM_row[i] + SimpleSVM_rate[j]));
        step = ESVM_DIVIDE(highest - lowest, curve);
        if (step < top - SimpleSVM_coef[i] && step < SimpleSVM_coef[j] - bottom) {
            SimpleSVM_coef[i] += step;
            SimpleSVM_coef[j] -= step;
        } else if (top - SimpleSVM_coef[i] <= SimpleSVM_coef[j] - bottom) {
            step = top - SimpleSVM_coef[i];
            SimpleSVM_coef[i] = top;
            SimpleSVM_coef[j] -= step;
        } else {
            step = SimpleSVM_coef[j] - bottom;
            SimpleSVM_coef[i] += step;
            SimpleSVM_coef[j] = bottom;
        }
        esvm_index t4_ = v->n;
        for (c = 0; c < t4_; c++) {
            SimpleSVM_g[c] += step * (SimpleSVM_row[c] - SimpleSVM_rate[c]);
        }
    }
    if (esvm_is_finite(highest) && esvm_is_finite(lowest)) {
        v->b = 0.5 * (highest + lowest);
    } else {
        v->b = esvm_is_finite(highest) ? highest : esvm_is_finite(lowest) ? lowest : 0.0;
    }
    SimpleSVM_refresh(self);
    SimpleSVM_rebuild(self);
}

ESVM_STATIC void SimpleSVM_begin(char *self, path_Walk *walk, path_Move *moves, int count,
        double mu) {
    esvm_index i;
    int c;
    double total = 0.0;
    walk->moves = moves;
    walk->count = count;
    walk->t = 0.0;
    double t1_ = mu;
    double t2_ = mu - SimpleSVM_solver->mu;
    walk->mu = t1_;
    walk->d_mu = t2_;
    for (c = 0; c < count; c++) {
        i = moves[c].slot;
        moves[c].d_minus = moves[c].to_minus - SimpleSVM_s_minus[i];
        moves[c].d_plus = moves[c].to_plus - SimpleSVM_s_plus[i];
        moves[c].rate = 0.0;
        moves[c].state = -1;
        SimpleSVM_resolve_sides(self, i, moves[c].d_minus, moves[c].d_plus);
    }
    twin_offsets(SimpleSVM_g, SimpleSVM_state, SimpleSVM_s_minus, SimpleSVM_s_plus,
            SimpleSVM_solver->mu, SimpleSVM_solver->n, SimpleSVM_off);
    memset(SimpleSVM_push, 0, SimpleSVM_solver->n * sizeof(double));
    esvm_index t3_;
    for (t3_ = 0; t3_ < SimpleSVM_solver->n; t3_++) {
        i = t3_;
        total += SimpleSVM_coef[i];
    }
    walk->total = total;
    walk->largest = 1.0;
    if (SimpleSVM_kernel.kind != kernels_RBF) {
        walk->largest = 0.0;
        esvm_index t4_;
        for (t4_ = 0; t4_ < SimpleSVM_solver->n; t4_++) {
            i = t4_;
            walk->largest = esvm_max(walk->largest, SimpleSVM_norm_of(self, i));
        }
    }
}

ESVM_STATIC double SimpleSVM_tolerance(char *self, const path_Walk *walk) {
    double size;
    double sums = 0.0;
    esvm_index i;
    for (i = 0; i < SimpleSVM_solver->n; i++) {
        size = fabs(SimpleSVM_coef[i]);
        sums += SimpleSVM_kernel.kind == kernels_RBF ? size : size *
                esvm_sqrt(SimpleSVM_norm_of(self, i));
    }
    return path_EVENT_TOLERANCE * SimpleSVM_solver->mu + path_NOISE * esvm_sqrt(walk->largest) *
            sums;
}

ESVM_STATIC esvm_index SimpleSVM_spare(char *self) {
    esvm_index i;
    esvm_index best = -1;
    for (i = 0; i < SimpleSVM_solver->n; i++) {
        if (SimpleSVM_is_spare(self, i) && (best < 0 || SimpleSVM_beyond(self, i) >
                SimpleSVM_beyond(self, best) + simple_svm_TIE * SimpleSVM_solver->mu)) {
            best = i;
        }
    }
    return best;
}

ESVM_STATIC void SimpleSVM_remove(char *self, esvm_index i) {
    esvm_index n = SimpleSVM_solver->n;
    memmove(SimpleSVM_number + i, SimpleSVM_number + i + 1, (n - 1 - i) * sizeof(int64_t));
    SimpleSVM_number[n - 1] = 0;
    SimpleSVM_drop(self, i);
}

ESVM_STATIC margin_set_Outcome SimpleSVM_follow(char *self, path_Move *moves, int count,
        double mu) {
    margin_set_Solver *v = SimpleSVM_solver;
    margin_set_Outcome outcome;
    double mu_before = v->mu;
    int polish;
    v->paths += 1;
    if (v->paths % path_REFRESH == 0) {
        SimpleSVM_refresh(self);
    }
    SimpleSVM_release_unused_weight(self, moves, count);
    outcome = SimpleSVM_walk(self, moves, count, mu);
    for (polish = 0; polish < path_POLISHES; polish++) {
        if (outcome != margin_set_REACHED || SimpleSVM_is_consistent(self)) {
            break;
        }
        SimpleSVM_refresh(self);
        if (polish) {
            v->n_refactored += 1;
            SimpleSVM_rebuild(self);
        }
        outcome = SimpleSVM_walk(self, NULL, 0, mu);
    }
    if (outcome == margin_set_STUCK) {
        SimpleSVM_solve_at(self, moves, count, mu);
        return margin_set_REACHED;
    }
    if (outcome == margin_set_OVERFLOWED) {
        v->n_overflowed += 1;
        SimpleSVM_walk_back(self, moves, count, mu_before);
    }
    return outcome;
}

ESVM_STATIC double SimpleSVM_k_wide(char *self, const void *x, const void *z) {
    double value;
    SimpleSVM_k_rows(self, x, z, 1, &value);
    return value;
}

ESVM_STATIC double SimpleSVM_square_norm(char *self, const void *x) {
    (void)self;
    return linalg_any_dot(x, x, SimpleSVM_n_features);
}

ESVM_STATIC int SimpleSVM_sums_in_dtype(char *self) {
    (void)self;
    return 0;
}

ESVM_STATIC void SimpleSVM_fill_row(char *self, const void *x, double *row) {
    SimpleSVM_k_rows(self, x, SimpleSVM_vectors, SimpleSVM_solver->n, row);
}

ESVM_STATIC void SimpleSVM_to_optimum(char *self, path_Walk *walk) {
    double length;
    esvm_index place;
    int to = 0;
    while (1) {
        SimpleSVM_begin(self, walk, NULL, 0, SimpleSVM_solver->mu);
        SimpleSVM_plateau_rates(self, walk);
        SimpleSVM_direct(self, walk);
        place = SimpleSVM_first_at_bound(self, &length, &to);
        SimpleSVM_advance(self, walk, length, place < 0);
        if (place < 0) {
            return;
        }
        SimpleSVM_solver->n_path_events += 1;
        SimpleSVM_leave(self, place, to);
    }
}

ESVM_STATIC esvm_index SimpleSVM_worst(char *self, double least) {
    esvm_index i;
    esvm_index found = -1;
    double gap;
    double most = least;
    for (i = 0; i < SimpleSVM_solver->n; i++) {
        if (SimpleSVM_state[i] % 2 == 0) {
            gap = SimpleSVM_is_spare(self, i) ? -SimpleSVM_beyond(self, i) : SimpleSVM_beyond(self,
                    i);
            if (gap > most) {
                found = i;
                most = gap + simple_svm_TIE * SimpleSVM_solver->mu;
            }
        }
    }
    return found;
}

ESVM_STATIC margin_set_Outcome SimpleSVM_enter(char *self, esvm_index i, int step, int direction,
        margin_set_Row *known) {
    packed_factor_PackedFactor factor_ = SimpleSVM_factor_of(self);
    margin_set_Solver *v = SimpleSVM_solver;
    double delta;
    int _tries;
    SimpleSVM_state[i] = step;
    for (_tries = 0; _tries < margin_set_MANY_EXCHANGES; _tries++) {
        delta = SimpleSVM_sensitivity(self, i, known);
        if (delta > margin_set_SINGULAR * (SimpleSVM_row[i] + v->lift)) {
            if (!packed_factor_factor_has_room(&factor_)) {
                SimpleSVM_state[i] = step + direction;
                return margin_set_OVERFLOWED;
            }
            SimpleSVM_S[v->m] = (int32_t)i;
            packed_factor_factor_append(&factor_, delta, SimpleSVM_row, v->n);
            return margin_set_REACHED;
        }
        if (!SimpleSVM_exchange(self, i, direction)) {
            return margin_set_REACHED;
        }
    }
    SimpleSVM_state[i] = step + direction;
    return margin_set_STUCK;
}

ESVM_STATIC const double *SimpleSVM_row_of(char *self, int64_t p) {
    packed_factor_PackedFactor factor_ = SimpleSVM_factor_of(self);
    if (p < packed_factor_factor_rows(&factor_, SimpleSVM_solver->m)) {
        return packed_factor_factor_row(&factor_, p);
    }
    SimpleSVM_fill_row(self, SimpleSVM_twin(self, SimpleSVM_S[p]), SimpleSVM_row);
    return SimpleSVM_row;
}

ESVM_STATIC margin_set_Outcome SimpleSVM_restore_state(char *self, esvm_index i) {
    double mu = SimpleSVM_solver->mu;
    double low = -SimpleSVM_s_minus[i];
    double high = SimpleSVM_s_plus[i];
    double middle = high + low;
    if (low < SimpleSVM_coef[i] && SimpleSVM_coef[i] < middle) {
        return SimpleSVM_enter(self, i, 3, 1, NULL);
    }
    if (middle < SimpleSVM_coef[i] && SimpleSVM_coef[i] < high) {
        return SimpleSVM_enter(self, i, 1, 1, NULL);
    }
    if (SimpleSVM_coef[i] == middle) {
        SimpleSVM_state[i] = 2;
        if (middle == high && SimpleSVM_g[i] < -mu && low < 0.0) {
            SimpleSVM_state[i] = 0;
        } else if (middle == low && SimpleSVM_g[i] > mu && high > 0.0) {
            SimpleSVM_state[i] = 4;
        }
    } else {
        SimpleSVM_state[i] = SimpleSVM_coef[i] >= high ? 0 : 4;
    }
    return margin_set_REACHED;
}

ESVM_STATIC void SimpleSVM_resolve_sides(char *self, esvm_index i, double d_minus, double d_plus) {
    if (SimpleSVM_s_plus[i] == 0.0 && SimpleSVM_state[i] % 2 == 0 && SimpleSVM_state[i] > 0) {
        SimpleSVM_state[i] = SimpleSVM_side(self, SimpleSVM_g[i], 0, d_plus > 0.0);
    }
    if (SimpleSVM_s_minus[i] == 0.0 && SimpleSVM_state[i] % 2 == 0 && SimpleSVM_state[i] < 4) {
        SimpleSVM_state[i] = SimpleSVM_side(self, SimpleSVM_g[i], d_minus > 0.0, 0);
    }
}

ESVM_STATIC double SimpleSVM_norm_of(char *self, int64_t i) {
    if (SimpleSVM_kernel.kind == kernels_RBF) {
        return 1.0;
    }
    return SimpleSVM_k_wide(self, SimpleSVM_twin(self, i), SimpleSVM_twin(self, i));
}

ESVM_STATIC int SimpleSVM_is_spare(char *self, esvm_index i) {
    return SimpleSVM_state[i] == 0 || SimpleSVM_state[i] == 4;
}

ESVM_STATIC double SimpleSVM_beyond(char *self, esvm_index i) {
    return (SimpleSVM_s_plus[i] > 0.0 ? SimpleSVM_g[i] : -SimpleSVM_g[i]) - SimpleSVM_solver->mu;
}

ESVM_STATIC void SimpleSVM_drop(char *self, esvm_index i) {
    packed_factor_PackedFactor factor_ = SimpleSVM_factor_of(self);
    margin_set_Solver *v = SimpleSVM_solver;
    esvm_index p;
    esvm_index behind = v->n - i - 1;
    esvm_index n_bytes = behind * sizeof(double);
    if (SimpleSVM_state[i] % 2) {
        SimpleSVM_leave(self, SimpleSVM_place_on_S(self, i), 2);
    }
    memmove(SimpleSVM_twin(self, i), SimpleSVM_twin(self, i + 1), behind * SimpleSVM_row_bytes);
    memmove(SimpleSVM_s_minus + i, SimpleSVM_s_minus + i + 1, n_bytes);
    memmove(SimpleSVM_s_plus + i, SimpleSVM_s_plus + i + 1, n_bytes);
    memmove(SimpleSVM_coef + i, SimpleSVM_coef + i + 1, n_bytes);
    memmove(SimpleSVM_g + i, SimpleSVM_g + i + 1, n_bytes);
    memmove(SimpleSVM_state + i, SimpleSVM_state + i + 1, behind);
    packed_factor_factor_drop_column(&factor_, i, v->n);
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        SimpleSVM_S[p] -= SimpleSVM_S[p] > i;
    }
    v->n -= 1;
    if (v->n == 0) {
        v->b = 0.0;
    }
}

ESVM_STATIC void SimpleSVM_release_unused_weight(char *self, path_Move *moves, int count) {
    int c;
    esvm_index i;
    for (c = 0; c < count; c++) {
        i = moves[c].slot;
        double t1_ = SimpleSVM_s_minus[i];
        double t2_ = SimpleSVM_s_plus[i];
        moves[c].from_minus = t1_;
        moves[c].from_plus = t2_;
        if (moves[c].to_minus == 0.0 && moves[c].to_plus == 0.0) {
            SimpleSVM_s_minus[i] = esvm_max(-SimpleSVM_coef[i], 0.0);
            SimpleSVM_s_plus[i] = esvm_max(SimpleSVM_coef[i], 0.0);
            if (SimpleSVM_state[i] % 2) {
                SimpleSVM_leave(self, SimpleSVM_place_on_S(self, i), 2);
            }
        }
        double t3_ = SimpleSVM_s_minus[i];
        double t4_ = SimpleSVM_s_plus[i];
        moves[c].released_minus = t3_;
        moves[c].released_plus = t4_;
    }
}

ESVM_STATIC margin_set_Outcome SimpleSVM_walk(char *self, path_Move *moves, int count, double mu) {
    path_Walk walk = {0};
    path_Event event = {0};
    margin_set_Outcome outcome;
    double surplus;
    int64_t _event;
    SimpleSVM_begin(self, &walk, moves, count, mu);
    for (_event = 0; _event < path_MANY_EVENTS * (SimpleSVM_solver->n + 4) - 1; _event++) {
        SimpleSVM_plateau_rates(self, &walk);
        if (SimpleSVM_solver->m == 0) {
            surplus = walk.push_sum - walk.total;
            if (fabs(surplus) > path_ROUNDING * SimpleSVM_size(self, &walk)) {
                outcome = SimpleSVM_shift(self, surplus, &walk);
                if (outcome == margin_set_REACHED) {
                    continue;
                }
                if (outcome == margin_set_OVERFLOWED) {
                    return margin_set_OVERFLOWED;
                }
            }
        }
        SimpleSVM_direct(self, &walk);
        SimpleSVM_first_event(self, &walk, &event);
        SimpleSVM_advance(self, &walk, event.length, event.place < 0 && event.twin < 0);
        if (event.place < 0 && event.twin < 0) {
            return margin_set_REACHED;
        }
        SimpleSVM_solver->n_path_events += 1;
        if (event.twin < 0) {
            SimpleSVM_leave(self, event.place, event.to);
            continue;
        }
        outcome = SimpleSVM_enter(self, event.twin, event.to, event.direction,
                SimpleSVM_known_row(self, &walk, event.twin));
        if (outcome != margin_set_REACHED) {
            return outcome;
        }
    }
    return margin_set_STUCK;
}

ESVM_STATIC void SimpleSVM_solve_at(char *self, const path_Move *moves, int count, double mu) {
    int c;
    for (c = 0; c < count; c++) {
        SimpleSVM_s_minus[moves[c].slot] = moves[c].to_minus;
        SimpleSVM_s_plus[moves[c].slot] = moves[c].to_plus;
    }
    SimpleSVM_solver->mu = mu;
    SimpleSVM_from_scratch(self);
}

ESVM_STATIC void SimpleSVM_walk_back(char *self, path_Move *moves, int count, double mu) {
    margin_set_Outcome outcome;
    int c;
    esvm_index i;
    for (c = 0; c < count; c++) {
        double t1_ = moves[c].released_minus;
        double t2_ = moves[c].released_plus;
        moves[c].to_minus = t1_;
        moves[c].to_plus = t2_;
    }
    outcome = SimpleSVM_walk(self, moves, count, mu);
    for (c = 0; c < count; c++) {
        i = moves[c].slot;
        double t3_ = moves[c].from_minus;
        double t4_ = moves[c].from_plus;
        moves[c].to_minus = t3_;
        moves[c].to_plus = t4_;
        double t5_ = moves[c].from_minus;
        double t6_ = moves[c].from_plus;
        SimpleSVM_s_minus[i] = t5_;
        SimpleSVM_s_plus[i] = t6_;
        if (outcome == margin_set_REACHED && SimpleSVM_state[i] % 2 == 0) {
            outcome = SimpleSVM_restore_state(self, i);
        }
    }
    if (outcome != margin_set_REACHED) {
        SimpleSVM_solve_at(self, moves, count, mu);
    }
}

ESVM_STATIC void SimpleSVM_plateau_rates(char *self, path_Walk *walk) {
    path_Move *move;
    int c, state;
    double rate;
    walk->push_sum = 0.0;
    walk->push_size = 0.0;
    int t1_ = walk->count;
    for (c = 0; c < t1_; c++) {
        move = walk->moves + c;
        state = SimpleSVM_state[move->slot];
        if (state != move->state) {
            rate = state % 2 ? 0.0 : margin_set_plateau(state, move->d_minus, move->d_plus);
            if (rate != move->rate) {
                SimpleSVM_fill_known_row(self, SimpleSVM_twin(self, move->slot), move->known,
                        SimpleSVM_row);
                twin_add(rate - move->rate, SimpleSVM_row, SimpleSVM_push, SimpleSVM_solver->n);
            }
            move->rate = rate;
            move->state = state;
        }
        walk->push_sum += move->rate;
        walk->push_size += fabs(move->rate);
    }
}

ESVM_STATIC void SimpleSVM_direct(char *self, path_Walk *walk) {
    packed_factor_PackedFactor factor_ = SimpleSVM_factor_of(self);
    margin_set_Solver *v = SimpleSVM_solver;
    double *border = SimpleSVM_factor_border;
    double *rate = SimpleSVM_rate;
    const double *push = SimpleSVM_push;
    esvm_index i;
    int64_t p;
    int64_t n_rows = packed_factor_factor_rows(&factor_, v->m);
    if (v->m == 0) {
        walk->db = 0.0;
        memcpy(SimpleSVM_rate, SimpleSVM_push, v->n * sizeof(double));
        return;
    }
    border[0] = -walk->total - walk->push_sum;
    int64_t t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        i = SimpleSVM_S[p];
        border[1 + p] = (SimpleSVM_state[i] == 3 ? walk->d_mu : -walk->d_mu) - SimpleSVM_off[i] -
                SimpleSVM_push[i];
    }
    packed_factor_factor_solve(&factor_);
    walk->db = SimpleSVM_factor_solution[0];
    esvm_index t2_ = v->n;
    esvm_index t3_;
    for (t3_ = 0; t3_ < t2_; t3_++) {
        i = t3_;
        rate[i] = push[i] + walk->db;
    }
    twin_add_rows(SimpleSVM_factor_solution + 1, packed_factor_factor_row(&factor_, 0),
            -SimpleSVM_factor_width, n_rows, SimpleSVM_rate, v->n);
    n_rows = twin_add_blocks(SimpleSVM_kernel.kind, SimpleSVM_kernel.gamma, SimpleSVM_vectors,
            SimpleSVM_n_features, SimpleSVM_S, SimpleSVM_factor_solution + 1, n_rows, v->m,
            SimpleSVM_rate, v->n);
    int64_t t4_ = v->m;
    for (p = n_rows; p < t4_; p++) {
        twin_add(SimpleSVM_factor_solution[1 + p], SimpleSVM_row_of(self, p), SimpleSVM_rate, v->n);
    }
}

ESVM_STATIC esvm_index SimpleSVM_first_at_bound(char *self, double *length, int *to) {
    esvm_index i, p;
    esvm_index first = -1;
    double low, high, room, step, rounding;
    length[0] = 1.0;
    for (p = 0; p < SimpleSVM_solver->m; p++) {
        i = SimpleSVM_S[p];
        step = SimpleSVM_factor_solution[1 + p];
        SimpleSVM_step_bounds(self, i, &low, &high);
        rounding = simple_svm_ROUNDING * (high - low);
        room = esvm_max(step > 0.0 ? high - SimpleSVM_coef[i] : SimpleSVM_coef[i] - low, 0.0);
        if (fabs(step) > room + rounding && room < fabs(step) * length[0] * (1.0 -
                simple_svm_ROUNDING)) {
            first = p;
            length[0] = ESVM_DIVIDE(room, fabs(step));
            to[0] = step > 0.0 ? SimpleSVM_state[i] - 1 : SimpleSVM_state[i] + 1;
        }
    }
    return first;
}

ESVM_STATIC void SimpleSVM_advance(char *self, path_Walk *walk, double length, int arrived) {
    margin_set_Solver *v = SimpleSVM_solver;
    const path_Move *move;
    esvm_index i, p;
    int c;
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        SimpleSVM_coef[SimpleSVM_S[p]] += length * SimpleSVM_factor_solution[1 + p];
    }
    twin_add(length, SimpleSVM_rate, SimpleSVM_g, v->n);
    v->b += length * walk->db;
    v->mu = arrived ? walk->mu : v->mu + length * walk->d_mu;
    walk->t += length;
    int t2_ = walk->count;
    for (c = 0; c < t2_; c++) {
        move = walk->moves + c;
        i = move->slot;
        SimpleSVM_s_minus[i] = arrived ? move->to_minus : SimpleSVM_s_minus[i] + length *
                move->d_minus;
        SimpleSVM_s_plus[i] = arrived ? move->to_plus : SimpleSVM_s_plus[i] + length * move->d_plus;
        if (SimpleSVM_state[i] % 2 == 0) {
            SimpleSVM_coef[i] = margin_set_plateau(SimpleSVM_state[i], SimpleSVM_s_minus[i],
                    SimpleSVM_s_plus[i]);
        }
    }
}

ESVM_STATIC void SimpleSVM_leave(char *self, esvm_index p, int to) {
    packed_factor_PackedFactor factor_ = SimpleSVM_factor_of(self);
    margin_set_Solver *v = SimpleSVM_solver;
    esvm_index j, n_rows;
    esvm_index i = SimpleSVM_S[p];
    SimpleSVM_state[i] = to;
    SimpleSVM_coef[i] = margin_set_plateau(to, SimpleSVM_s_minus[i], SimpleSVM_s_plus[i]);
    memmove(SimpleSVM_S + p, SimpleSVM_S + p + 1, (v->m - 1 - p) * sizeof(int32_t));
    n_rows = packed_factor_factor_remove(&factor_, p);
    esvm_index t1_ = packed_factor_factor_rows(&factor_, v->m);
    for (j = n_rows; j < t1_; j++) {
        SimpleSVM_fill_row(self, SimpleSVM_twin(self, SimpleSVM_S[j]),
                packed_factor_factor_row(&factor_, j));
    }
}

ESVM_STATIC double SimpleSVM_sensitivity(char *self, esvm_index i, margin_set_Row *known) {
    packed_factor_PackedFactor factor_ = SimpleSVM_factor_of(self);
    margin_set_Solver *v = SimpleSVM_solver;
    esvm_index p;
    SimpleSVM_fill_known_row(self, SimpleSVM_twin(self, i), known, SimpleSVM_row);
    if (v->m == 0) {
        v->lift = SimpleSVM_row[i] > 0.0 ? SimpleSVM_row[i] : 1.0;
    }
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        SimpleSVM_factor_border[1 + p] = SimpleSVM_row[SimpleSVM_S[p]] + v->lift;
    }
    return packed_factor_factor_complement(&factor_, SimpleSVM_row[i]);
}

ESVM_STATIC int SimpleSVM_exchange(char *self, esvm_index i, int direction) {
    packed_factor_PackedFactor factor_ = SimpleSVM_factor_of(self);
    margin_set_Solver *v = SimpleSVM_solver;
    double *u = SimpleSVM_factor_solution;
    esvm_index p, j;
    esvm_index first = -1;
    int end = 0;
    double low, high, room, gap, rate, move;
    v->n_exchanges += 1;
    SimpleSVM_factor_border[0] = 1.0;
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        SimpleSVM_factor_border[1 + p] = SimpleSVM_row[SimpleSVM_S[p]];
    }
    packed_factor_factor_solve(&factor_);
    SimpleSVM_step_bounds(self, i, &low, &high);
    room = direction > 0 ? high - SimpleSVM_coef[i] : SimpleSVM_coef[i] - low;
    esvm_index t2_ = v->m;
    for (p = 0; p < t2_; p++) {
        j = SimpleSVM_S[p];
        rate = -direction * u[1 + p];
        SimpleSVM_step_bounds(self, j, &low, &high);
        gap = esvm_max(rate > 0 ? high - SimpleSVM_coef[j] : SimpleSVM_coef[j] - low, 0.0);
        if (fabs(rate) > margin_set_NULL_TOLERANCE && gap < room * fabs(rate)) {
            room = ESVM_DIVIDE(gap, fabs(rate));
            first = p;
            end = SimpleSVM_state[j] + (rate > 0 ? -1 : 1);
        }
    }
    move = direction * room;
    SimpleSVM_coef[i] += move;
    v->b -= move * u[0];
    twin_add(move, SimpleSVM_row, SimpleSVM_g, v->n);
    esvm_index t3_ = v->n;
    esvm_index t4_;
    for (t4_ = 0; t4_ < t3_; t4_++) {
        j = t4_;
        SimpleSVM_g[j] -= move * u[0];
    }
    esvm_index t5_ = v->m;
    for (p = 0; p < t5_; p++) {
        SimpleSVM_coef[SimpleSVM_S[p]] -= move * u[1 + p];
        twin_add(-move * u[1 + p], SimpleSVM_row_of(self, p), SimpleSVM_g, v->n);
    }
    if (first >= 0) {
        SimpleSVM_leave(self, first, end);
        return 1;
    }
    SimpleSVM_state[i] -= direction;
    SimpleSVM_coef[i] = margin_set_plateau(SimpleSVM_state[i], SimpleSVM_s_minus[i],
            SimpleSVM_s_plus[i]);
    return 0;
}

ESVM_STATIC esvm_index SimpleSVM_place_on_S(char *self, esvm_index i) {
    esvm_index p;
    for (p = 0; p < SimpleSVM_solver->m; p++) {
        if (SimpleSVM_S[p] == i) {
            return p;
        }
    }
    return 0;
}

ESVM_STATIC double SimpleSVM_size(char *self, const path_Walk *walk) {
    double size = walk->push_size;
    esvm_index i;
    for (i = 0; i < SimpleSVM_solver->n; i++) {
        size += fabs(SimpleSVM_coef[i]);
    }
    return size;
}

ESVM_STATIC margin_set_Outcome SimpleSVM_shift(char *self, double surplus, const path_Walk *walk) {
    margin_set_Solver *v = SimpleSVM_solver;
    path_Edge edges[2];
    path_Edge nearest = {0};
    esvm_index i;
    esvm_index twin = -1;
    int c;
    double move;
    nearest.gap = ESVM_INFINITY;
    esvm_index t1_ = v->n;
    for (i = 0; i < t1_; i++) {
        int t2_ = SimpleSVM_edges(self, walk, i, 0.0, edges);
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
        SimpleSVM_g[i] += move;
    }
    v->n_path_events += 1;
    return SimpleSVM_enter(self, twin, nearest.to, nearest.direction, NULL);
}

ESVM_STATIC void SimpleSVM_first_event(char *self, const path_Walk *walk, path_Event *event) {
    event->length = 1.0 - walk->t;
    event->place = -1;
    event->twin = -1;
    event->to = 0;
    event->direction = 0;
    SimpleSVM_first_to_leave(self, walk, event);
    SimpleSVM_first_to_enter(self, walk, event);
}

ESVM_STATIC margin_set_Row *SimpleSVM_known_row(char *self, const path_Walk *walk, esvm_index i) {
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

ESVM_STATIC void SimpleSVM_step_bounds(char *self, esvm_index i, double *low, double *high) {
    low[0] = margin_set_plateau(SimpleSVM_state[i] + 1, SimpleSVM_s_minus[i], SimpleSVM_s_plus[i]);
    high[0] = margin_set_plateau(SimpleSVM_state[i] - 1, SimpleSVM_s_minus[i], SimpleSVM_s_plus[i]);
}

ESVM_STATIC int SimpleSVM_edges(char *self, const path_Walk *walk, int64_t i, double dg,
        path_Edge *edges) {
    double g = SimpleSVM_g[i];
    double off = SimpleSVM_off[i];
    double rest = 1.0 - walk->t;
    double up, down;
    double mu = SimpleSVM_solver->mu;
    double d_mu = walk->d_mu;
    int lower = SimpleSVM_s_minus[i] > 0.0;
    int upper = SimpleSVM_s_plus[i] > 0.0;
    int c;
    int count = 0;
    int t1_ = walk->count;
    for (c = 0; c < t1_; c++) {
        if (walk->moves[c].slot == i) {
            lower |= walk->moves[c].d_minus > 0.0;
            upper |= walk->moves[c].d_plus > 0.0;
        }
    }
    if (SimpleSVM_state[i] == 0 && lower) {
        edges[0] = (path_Edge){-mu + off * rest - g, dg + d_mu + off, 1, -1};
        count = 1;
    } else if (SimpleSVM_state[i] == 4 && upper) {
        edges[0] = (path_Edge){g - mu - off * rest, d_mu - dg - off, 3, 1};
        count = 1;
    } else if (SimpleSVM_state[i] == 2) {
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

ESVM_STATIC void SimpleSVM_first_to_leave(char *self, const path_Walk *walk, path_Event *event) {
    margin_set_Solver *v = SimpleSVM_solver;
    const path_Move *move;
    esvm_index i, p;
    int c;
    double low, high, d_low, d_high, step, size;
    double rest = 1.0 - walk->t;
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        i = SimpleSVM_S[p];
        step = SimpleSVM_factor_solution[1 + p];
        size = fabs(SimpleSVM_coef[i]) + fabs(step) + ESVM_DIVIDE(fabs(SimpleSVM_factor_border[1 +
                p] - walk->db) + 0.01 * fabs(walk->db), SimpleSVM_norm_of(self, i) + v->lift);
        SimpleSVM_step_bounds(self, i, &low, &high);
        d_low = 0.0;
        d_high = 0.0;
        int t2_ = walk->count;
        for (c = 0; c < t2_; c++) {
            move = walk->moves + c;
            if (move->slot == i) {
                d_low = margin_set_plateau(SimpleSVM_state[i] + 1, move->d_minus, move->d_plus);
                d_high = margin_set_plateau(SimpleSVM_state[i] - 1, move->d_minus, move->d_plus);
            }
        }
        if (path_comes_first(high - SimpleSVM_coef[i], step - d_high, rest, path_ROUNDING * size,
                &event->length)) {
            esvm_index t3_ = p;
            int t4_ = SimpleSVM_state[i] - 1;
            event->place = t3_;
            event->to = t4_;
        }
        if (path_comes_first(SimpleSVM_coef[i] - low, d_low - step, rest, path_ROUNDING * size,
                &event->length)) {
            esvm_index t5_ = p;
            int t6_ = SimpleSVM_state[i] + 1;
            event->place = t5_;
            event->to = t6_;
        }
    }
}

ESVM_STATIC void SimpleSVM_first_to_enter(char *self, const path_Walk *walk, path_Event *event) {
    double rest = 1.0 - walk->t;
    double mu = SimpleSVM_solver->mu;
    double d_mu = fabs(walk->d_mu);
    double tolerance = SimpleSVM_tolerance(self, walk);
    path_Edge edges[2];
    int64_t i = -1;
    esvm_index n = SimpleSVM_solver->n;
    int c;
    while (1) {
        i = twin_near(SimpleSVM_g, SimpleSVM_rate, SimpleSVM_off, SimpleSVM_state, i + 1, n, mu,
                d_mu, rest, tolerance);
        if (i == n) {
            break;
        }
        int t1_ = SimpleSVM_edges(self, walk, i, SimpleSVM_rate[i], edges);
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

#endif

#endif
