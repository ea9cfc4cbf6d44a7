/* Translated from edgesvm/learners/twin/_incremental_decremental_svm.*: change that, then `make translate`. */

#ifndef EDGESVM_INCREMENTAL_DECREMENTAL_SVM_H
#define EDGESVM_INCREMENTAL_DECREMENTAL_SVM_H

#include "floor.h"
#include "core.h"
#include "kernels.h"
#include "linalg.h"
#include "margin_set.h"
#include "packed_factor.h"
#include "path.h"
#include "rows.h"
#include "status.h"

#define incremental_decremental_svm_LEAST_WEIGHT 1e-100
#define incremental_decremental_svm_LARGEST_WEIGHT 1e+100
typedef enum {
    incremental_decremental_svm_FARTHEST = 0, incremental_decremental_svm_OLDEST = 1,
            incremental_decremental_svm_IGNORE = 2
} incremental_decremental_svm_WhenFull;
#define incremental_decremental_svm_TIE 1e-09
typedef struct {
    int64_t n_unlearned;
    int64_t n_forgotten;
    int64_t n_ignored;
} incremental_decremental_svm_Counters;

#ifdef IncrementalDecrementalSVM_n_features

#define IncrementalDecrementalSVM_common ((core_Common *)self)
#define IncrementalDecrementalSVM_n_per_class ((int64_t *)(self + IncrementalDecrementalSVM_AT_n_per_class))
#define IncrementalDecrementalSVM_scores ((double *)ESVM_SCRATCH(IncrementalDecrementalSVM_AT_scores))
#define IncrementalDecrementalSVM_solver ((margin_set_Solver *)(self + IncrementalDecrementalSVM_AT_mu))
#define IncrementalDecrementalSVM_s_minus ((double *)(self + IncrementalDecrementalSVM_AT_s_minus))
#define IncrementalDecrementalSVM_s_plus ((double *)(self + IncrementalDecrementalSVM_AT_s_plus))
#define IncrementalDecrementalSVM_coef ((double *)(self + IncrementalDecrementalSVM_AT_coef))
#define IncrementalDecrementalSVM_g ((double *)(self + IncrementalDecrementalSVM_AT_g))
#define IncrementalDecrementalSVM_rate ((double *)(self + IncrementalDecrementalSVM_AT_rate))
#define IncrementalDecrementalSVM_row ((double *)(self + IncrementalDecrementalSVM_AT_row))
#define IncrementalDecrementalSVM_S ((int32_t *)(self + IncrementalDecrementalSVM_AT_S))
#define IncrementalDecrementalSVM_state ((int8_t *)(self + IncrementalDecrementalSVM_AT_state))
#define IncrementalDecrementalSVM_vectors ((char *)(self + IncrementalDecrementalSVM_AT_vectors))
#define IncrementalDecrementalSVM_factor_pool ((double *)(self + IncrementalDecrementalSVM_AT_pool))
#define IncrementalDecrementalSVM_factor_ones ((double *)(self + IncrementalDecrementalSVM_AT_ones))
#define IncrementalDecrementalSVM_factor_border ((double *)(self + IncrementalDecrementalSVM_AT_border))
#define IncrementalDecrementalSVM_factor_solution ((double *)(self + IncrementalDecrementalSVM_AT_solution))
#define IncrementalDecrementalSVM_off ((double *)(self + IncrementalDecrementalSVM_AT_off))
#define IncrementalDecrementalSVM_push ((double *)(self + IncrementalDecrementalSVM_AT_push))
#define IncrementalDecrementalSVM_counters ((incremental_decremental_svm_Counters *)(self + IncrementalDecrementalSVM_AT_n_unlearned))
#define IncrementalDecrementalSVM_factor_order (&IncrementalDecrementalSVM_solver->m)
#define IncrementalDecrementalSVM_factor_lift (&IncrementalDecrementalSVM_solver->lift)

static const kernels_Kernel IncrementalDecrementalSVM_kernel = IncrementalDecrementalSVM_KERNEL;

ESVM_STATIC packed_factor_PackedFactor IncrementalDecrementalSVM_factor_of(char *self) {
    packed_factor_PackedFactor made;
    (void)self;
    made.pool = IncrementalDecrementalSVM_factor_pool;
    made.length = IncrementalDecrementalSVM_factor_length;
    made.width = IncrementalDecrementalSVM_factor_width;
    made.order = IncrementalDecrementalSVM_factor_order;
    made.lift = IncrementalDecrementalSVM_factor_lift;
    made.ones = IncrementalDecrementalSVM_factor_ones;
    made.border = IncrementalDecrementalSVM_factor_border;
    made.solution = IncrementalDecrementalSVM_factor_solution;
    return made;
}

ESVM_STATIC status_Status IncrementalDecrementalSVM_learn_row(char *self, const void *x, int slot,
        double weight);
ESVM_STATIC status_Status IncrementalDecrementalSVM_answer(char *self, const void *x, double *out);
ESVM_STATIC int IncrementalDecrementalSVM_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t IncrementalDecrementalSVM_n_learned(char *self);
ESVM_STATIC status_Status IncrementalDecrementalSVM_weighed_step(char *self, const void *x,
        double y, double weight);
ESVM_STATIC status_Status IncrementalDecrementalSVM_decide(char *self, const void *x,
        double *value);
ESVM_STATIC void IncrementalDecrementalSVM_count(char *self, int slot, status_Status status);
ESVM_STATIC void IncrementalDecrementalSVM_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int IncrementalDecrementalSVM_n_answers(char *self);
ESVM_STATIC int IncrementalDecrementalSVM_slot_for(char *self, double value);
ESVM_STATIC status_Status IncrementalDecrementalSVM_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC double IncrementalDecrementalSVM_class_weight(char *self, double y);
ESVM_STATIC int IncrementalDecrementalSVM_refuses_to_decide(char *self, const void *x);
ESVM_STATIC double IncrementalDecrementalSVM_g_of(char *self, const void *x, margin_set_Row *kept);
ESVM_STATIC double IncrementalDecrementalSVM_norm(char *self, const void *x);
ESVM_STATIC esvm_index IncrementalDecrementalSVM_farthest(char *self);
ESVM_STATIC esvm_index IncrementalDecrementalSVM_place(char *self, const void *x,
        margin_set_Row *known);
ESVM_STATIC margin_set_Outcome IncrementalDecrementalSVM_follow(char *self, path_Move *moves,
        int count, double mu);
ESVM_STATIC void IncrementalDecrementalSVM_drop(char *self, esvm_index i);
ESVM_STATIC void IncrementalDecrementalSVM_k_rows(char *self, const void *x, const void *rows,
        esvm_index n, double *out);
ESVM_STATIC char *IncrementalDecrementalSVM_twin(char *self, int64_t i);
ESVM_STATIC double IncrementalDecrementalSVM_k_wide(char *self, const void *x, const void *z);
ESVM_STATIC double IncrementalDecrementalSVM_square_norm(char *self, const void *x);
ESVM_STATIC void IncrementalDecrementalSVM_fill_known_row(char *self, const void *x,
        margin_set_Row *known, double *row);
ESVM_STATIC int IncrementalDecrementalSVM_side(char *self, double g, int lower, int upper);
ESVM_STATIC void IncrementalDecrementalSVM_refresh(char *self);
ESVM_STATIC void IncrementalDecrementalSVM_release_unused_weight(char *self, path_Move *moves,
        int count);
ESVM_STATIC margin_set_Outcome IncrementalDecrementalSVM_walk(char *self, path_Move *moves,
        int count, double mu);
ESVM_STATIC int IncrementalDecrementalSVM_is_consistent(char *self);
ESVM_STATIC void IncrementalDecrementalSVM_rebuild(char *self);
ESVM_STATIC void IncrementalDecrementalSVM_solve_at(char *self, const path_Move *moves, int count,
        double mu);
ESVM_STATIC void IncrementalDecrementalSVM_walk_back(char *self, path_Move *moves, int count,
        double mu);
ESVM_STATIC void IncrementalDecrementalSVM_leave(char *self, esvm_index p, int to);
ESVM_STATIC esvm_index IncrementalDecrementalSVM_place_on_S(char *self, esvm_index i);
ESVM_STATIC int IncrementalDecrementalSVM_sums_in_dtype(char *self);
ESVM_STATIC void IncrementalDecrementalSVM_fill_row(char *self, const void *x, double *row);
ESVM_STATIC void IncrementalDecrementalSVM_begin(char *self, path_Walk *walk, path_Move *moves,
        int count, double mu);
ESVM_STATIC void IncrementalDecrementalSVM_plateau_rates(char *self, path_Walk *walk);
ESVM_STATIC double IncrementalDecrementalSVM_size(char *self, const path_Walk *walk);
ESVM_STATIC margin_set_Outcome IncrementalDecrementalSVM_shift(char *self, double surplus,
        const path_Walk *walk);
ESVM_STATIC void IncrementalDecrementalSVM_direct(char *self, path_Walk *walk);
ESVM_STATIC void IncrementalDecrementalSVM_first_event(char *self, const path_Walk *walk,
        path_Event *event);
ESVM_STATIC void IncrementalDecrementalSVM_advance(char *self, path_Walk *walk, double length,
        int arrived);
ESVM_STATIC margin_set_Outcome IncrementalDecrementalSVM_enter(char *self, esvm_index i, int step,
        int direction, margin_set_Row *known);
ESVM_STATIC margin_set_Row *IncrementalDecrementalSVM_known_row(char *self, const path_Walk *walk,
        esvm_index i);
ESVM_STATIC const double *IncrementalDecrementalSVM_row_of(char *self, int64_t p);
ESVM_STATIC margin_set_Outcome IncrementalDecrementalSVM_restore_state(char *self, esvm_index i);
ESVM_STATIC void IncrementalDecrementalSVM_from_scratch(char *self);
ESVM_STATIC void IncrementalDecrementalSVM_resolve_sides(char *self, esvm_index i, double d_minus,
        double d_plus);
ESVM_STATIC double IncrementalDecrementalSVM_norm_of(char *self, int64_t i);
ESVM_STATIC int IncrementalDecrementalSVM_edges(char *self, const path_Walk *walk, int64_t i,
        double dg, path_Edge *edges);
ESVM_STATIC void IncrementalDecrementalSVM_first_to_leave(char *self, const path_Walk *walk,
        path_Event *event);
ESVM_STATIC void IncrementalDecrementalSVM_first_to_enter(char *self, const path_Walk *walk,
        path_Event *event);
ESVM_STATIC double IncrementalDecrementalSVM_sensitivity(char *self, esvm_index i,
        margin_set_Row *known);
ESVM_STATIC int IncrementalDecrementalSVM_exchange(char *self, esvm_index i, int direction);
ESVM_STATIC void IncrementalDecrementalSVM_step_bounds(char *self, esvm_index i, double *low,
        double *high);
ESVM_STATIC double IncrementalDecrementalSVM_tolerance(char *self, const path_Walk *walk);

ESVM_STATIC status_Status IncrementalDecrementalSVM_learn_row(char *self, const void *x, int slot,
        double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        IncrementalDecrementalSVM_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = IncrementalDecrementalSVM_weighed_step(self, x,
            !IncrementalDecrementalSVM_HAS_scores ? 2 * slot - 1 : slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    IncrementalDecrementalSVM_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status IncrementalDecrementalSVM_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!IncrementalDecrementalSVM_HAS_scores) {
        status = IncrementalDecrementalSVM_decide(self, x, out);
        out[0] *= IncrementalDecrementalSVM_labels_sign;
        return status;
    }
    status = IncrementalDecrementalSVM_decide(self, x, IncrementalDecrementalSVM_HAS_scores ?
            IncrementalDecrementalSVM_scores : NULL);
    IncrementalDecrementalSVM_in_order(self, IncrementalDecrementalSVM_HAS_scores ?
            IncrementalDecrementalSVM_scores : NULL, out);
    memset(IncrementalDecrementalSVM_scores, 0, IncrementalDecrementalSVM_n_classes *
            sizeof(double));
    return status;
}

ESVM_STATIC int IncrementalDecrementalSVM_winner(char *self, const double *answers, double *score) {
    int i;
    int n = IncrementalDecrementalSVM_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!IncrementalDecrementalSVM_HAS_scores) {
        return IncrementalDecrementalSVM_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return IncrementalDecrementalSVM_labels_order[IncrementalDecrementalSVM_labels_n == 2 &&
                answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return IncrementalDecrementalSVM_labels_order[best];
}

ESVM_STATIC int64_t IncrementalDecrementalSVM_n_learned(char *self) {
    int64_t total = IncrementalDecrementalSVM_n_per_class[0] +
            IncrementalDecrementalSVM_n_per_class[1];
    int slot;
    for (slot = 2; slot < IncrementalDecrementalSVM_n_classes; slot++) {
        total += IncrementalDecrementalSVM_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status IncrementalDecrementalSVM_weighed_step(char *self, const void *x,
        double y, double weight) {
    return IncrementalDecrementalSVM_step(self, x, y, IncrementalDecrementalSVM_balanced ? weight *
            IncrementalDecrementalSVM_class_weight(self, y) : weight);
}

ESVM_STATIC status_Status IncrementalDecrementalSVM_decide(char *self, const void *x,
        double *value) {
    if (IncrementalDecrementalSVM_refuses_to_decide(self, x)) {
        return status_NOT_FINITE;
    }
    value[0] = ESVM_DIVIDE(IncrementalDecrementalSVM_g_of(self, x, NULL),
            IncrementalDecrementalSVM_solver->mu);
    return status_UNCHANGED;
}

ESVM_STATIC void IncrementalDecrementalSVM_count(char *self, int slot, status_Status status) {
    IncrementalDecrementalSVM_common->n_seen += 1;
    IncrementalDecrementalSVM_common->n_updates += status == status_CHANGED;
    IncrementalDecrementalSVM_n_per_class[slot] += 1;
}

ESVM_STATIC void IncrementalDecrementalSVM_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = IncrementalDecrementalSVM_labels_n;
    const signed char *order = IncrementalDecrementalSVM_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int IncrementalDecrementalSVM_n_answers(char *self) {
    (void)self;
    return !IncrementalDecrementalSVM_HAS_scores || IncrementalDecrementalSVM_labels_n <= 2 ? 1 :
            IncrementalDecrementalSVM_labels_n;
}

ESVM_STATIC int IncrementalDecrementalSVM_slot_for(char *self, double value) {
    if (IncrementalDecrementalSVM_one_class) {
        return value > 0.0;
    }
    if (IncrementalDecrementalSVM_n_per_class[0] == 0) {
        return 1;
    }
    if (IncrementalDecrementalSVM_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (IncrementalDecrementalSVM_labels_sign < 0);
}

ESVM_STATIC status_Status IncrementalDecrementalSVM_step(char *self, const void *x, double y,
        double weight) {
    path_Move moves[2];
    int count = 0;
    if (!esvm_is_finite(IncrementalDecrementalSVM_norm(self, x))) {
        return status_NOT_FINITE;
    }
    if (!(incremental_decremental_svm_LEAST_WEIGHT <= weight && weight <=
            incremental_decremental_svm_LARGEST_WEIGHT)) {
        return status_BAD_WEIGHT;
    }
    if (IncrementalDecrementalSVM_solver->n == IncrementalDecrementalSVM_max_vectors) {
        if (IncrementalDecrementalSVM_when_full == incremental_decremental_svm_IGNORE) {
            IncrementalDecrementalSVM_counters->n_ignored += 1;
            return status_UNCHANGED;
        }
        moves[0].slot = IncrementalDecrementalSVM_when_full == incremental_decremental_svm_OLDEST ?
                0 : IncrementalDecrementalSVM_farthest(self);
        moves[0].to_minus = 0.0;
        moves[0].to_plus = 0.0;
        moves[0].known = NULL;
        count = 1;
    }
    moves[count].slot = IncrementalDecrementalSVM_place(self, x, NULL);
    moves[count].known = NULL;
    moves[count].to_minus = y > 0 ? 0.0 : weight;
    moves[count].to_plus = y > 0 ? weight : 0.0;
    if (IncrementalDecrementalSVM_follow(self, moves, count + 1,
            IncrementalDecrementalSVM_solver->mu) == margin_set_OVERFLOWED) {
        IncrementalDecrementalSVM_drop(self, moves[count].slot);
        return status_UNCHANGED;
    }
    if (count) {
        IncrementalDecrementalSVM_counters->n_forgotten += 1;
        IncrementalDecrementalSVM_drop(self, moves[0].slot);
    }
    return status_CHANGED;
}

ESVM_STATIC double IncrementalDecrementalSVM_class_weight(char *self, double y) {
    int slot = !IncrementalDecrementalSVM_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (IncrementalDecrementalSVM_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < IncrementalDecrementalSVM_n_classes; other++) {
            n_classes += IncrementalDecrementalSVM_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(IncrementalDecrementalSVM_n_learned(self) + 1, (double)n_classes *
            (IncrementalDecrementalSVM_n_per_class[slot] + 1));
}

ESVM_STATIC int IncrementalDecrementalSVM_refuses_to_decide(char *self, const void *x) {
    return !esvm_is_finite(IncrementalDecrementalSVM_norm(self, x));
}

ESVM_STATIC double IncrementalDecrementalSVM_g_of(char *self, const void *x, margin_set_Row *kept) {
    double here[margin_set_CHUNK];
    double *k = here;
    double g = 0.0;
    esvm_index j = 0;
    esvm_index count;
    int keeps = kept != NULL && IncrementalDecrementalSVM_solver->n <= TWIN_KEPT;
    while (j < IncrementalDecrementalSVM_solver->n) {
        count = (int64_t)margin_set_CHUNK < IncrementalDecrementalSVM_solver->n - j ?
                (int64_t)margin_set_CHUNK : IncrementalDecrementalSVM_solver->n - j;
        if (keeps) {
            k = kept->k + j;
        }
        IncrementalDecrementalSVM_k_rows(self, x, IncrementalDecrementalSVM_twin(self, j), count,
                k);
        g += linalg_dot_f64(k, IncrementalDecrementalSVM_coef + j, count);
        j += count;
    }
    if (keeps) {
        kept->n = j;
    }
    return g + IncrementalDecrementalSVM_solver->b;
}

ESVM_STATIC double IncrementalDecrementalSVM_norm(char *self, const void *x) {
    double k_xx = IncrementalDecrementalSVM_kernel.kind == kernels_RBF ? 1.0 :
            IncrementalDecrementalSVM_k_wide(self, x, x);
    return esvm_is_finite(IncrementalDecrementalSVM_square_norm(self, x)) && k_xx <=
            margin_set_LARGEST_NORM ? k_xx : ESVM_NAN;
}

ESVM_STATIC esvm_index IncrementalDecrementalSVM_farthest(char *self) {
    esvm_index i;
    esvm_index best = 0;
    double g;
    double most = 0.0;
    for (i = 0; i < IncrementalDecrementalSVM_solver->n; i++) {
        g = IncrementalDecrementalSVM_s_plus[i] > 0.0 ? IncrementalDecrementalSVM_g[i] :
                -IncrementalDecrementalSVM_g[i];
        if (i == 0 || g > most + incremental_decremental_svm_TIE *
                IncrementalDecrementalSVM_solver->mu) {
            most = g;
            best = i;
        }
    }
    return best;
}

ESVM_STATIC esvm_index IncrementalDecrementalSVM_place(char *self, const void *x,
        margin_set_Row *known) {
    packed_factor_PackedFactor factor_ = IncrementalDecrementalSVM_factor_of(self);
    margin_set_Solver *v = IncrementalDecrementalSVM_solver;
    esvm_index p;
    esvm_index i = v->n;
    esvm_index n_rows = packed_factor_factor_rows(&factor_, v->m);
    memmove(IncrementalDecrementalSVM_twin(self, i), x, IncrementalDecrementalSVM_row_bytes);
    v->n += 1;
    IncrementalDecrementalSVM_fill_known_row(self, IncrementalDecrementalSVM_twin(self, i), known,
            IncrementalDecrementalSVM_row);
    IncrementalDecrementalSVM_g[i] = linalg_dot_f64(IncrementalDecrementalSVM_row,
            IncrementalDecrementalSVM_coef, i) + v->b;
    for (p = 0; p < n_rows; p++) {
        packed_factor_factor_row(&factor_, p)[i] =
                IncrementalDecrementalSVM_row[IncrementalDecrementalSVM_S[p]];
    }
    IncrementalDecrementalSVM_s_minus[i] = 0.0;
    IncrementalDecrementalSVM_s_plus[i] = 0.0;
    IncrementalDecrementalSVM_coef[i] = 0.0;
    IncrementalDecrementalSVM_state[i] = IncrementalDecrementalSVM_side(self,
            IncrementalDecrementalSVM_g[i], 1, 1);
    return i;
}

ESVM_STATIC margin_set_Outcome IncrementalDecrementalSVM_follow(char *self, path_Move *moves,
        int count, double mu) {
    margin_set_Solver *v = IncrementalDecrementalSVM_solver;
    margin_set_Outcome outcome;
    double mu_before = v->mu;
    int polish;
    v->paths += 1;
    if (v->paths % path_REFRESH == 0) {
        IncrementalDecrementalSVM_refresh(self);
    }
    IncrementalDecrementalSVM_release_unused_weight(self, moves, count);
    outcome = IncrementalDecrementalSVM_walk(self, moves, count, mu);
    for (polish = 0; polish < path_POLISHES; polish++) {
        if (outcome != margin_set_REACHED || IncrementalDecrementalSVM_is_consistent(self)) {
            break;
        }
        IncrementalDecrementalSVM_refresh(self);
        if (polish) {
            v->n_refactored += 1;
            IncrementalDecrementalSVM_rebuild(self);
        }
        outcome = IncrementalDecrementalSVM_walk(self, NULL, 0, mu);
    }
    if (outcome == margin_set_STUCK) {
        IncrementalDecrementalSVM_solve_at(self, moves, count, mu);
        return margin_set_REACHED;
    }
    if (outcome == margin_set_OVERFLOWED) {
        v->n_overflowed += 1;
        IncrementalDecrementalSVM_walk_back(self, moves, count, mu_before);
    }
    return outcome;
}

ESVM_STATIC void IncrementalDecrementalSVM_drop(char *self, esvm_index i) {
    packed_factor_PackedFactor factor_ = IncrementalDecrementalSVM_factor_of(self);
    margin_set_Solver *v = IncrementalDecrementalSVM_solver;
    esvm_index p;
    esvm_index behind = v->n - i - 1;
    esvm_index n_bytes = behind * sizeof(double);
    if (IncrementalDecrementalSVM_state[i] % 2) {
        IncrementalDecrementalSVM_leave(self, IncrementalDecrementalSVM_place_on_S(self, i), 2);
    }
    memmove(IncrementalDecrementalSVM_twin(self, i), IncrementalDecrementalSVM_twin(self, i + 1),
            behind * IncrementalDecrementalSVM_row_bytes);
    memmove(IncrementalDecrementalSVM_s_minus + i, IncrementalDecrementalSVM_s_minus + i + 1,
            n_bytes);
    memmove(IncrementalDecrementalSVM_s_plus + i, IncrementalDecrementalSVM_s_plus + i + 1,
            n_bytes);
    memmove(IncrementalDecrementalSVM_coef + i, IncrementalDecrementalSVM_coef + i + 1, n_bytes);
    memmove(IncrementalDecrementalSVM_g + i, IncrementalDecrementalSVM_g + i + 1, n_bytes);
    memmove(IncrementalDecrementalSVM_state + i, IncrementalDecrementalSVM_state + i + 1, behind);
    packed_factor_factor_drop_column(&factor_, i, v->n);
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        IncrementalDecrementalSVM_S[p] -= IncrementalDecrementalSVM_S[p] > i;
    }
    v->n -= 1;
    if (v->n == 0) {
        v->b = 0.0;
    }
}

ESVM_STATIC void IncrementalDecrementalSVM_k_rows(char *self, const void *x, const void *rows,
        esvm_index n, double *out) {
    if (IncrementalDecrementalSVM_sums_in_dtype(self)) {
        rows_lanes_kernel_values(&IncrementalDecrementalSVM_kernel, x, rows,
                IncrementalDecrementalSVM_n_features, n, out);
    } else {
        rows_any_kernel_values(&IncrementalDecrementalSVM_kernel, x, rows,
                IncrementalDecrementalSVM_n_features, n, out);
    }
}

ESVM_STATIC char *IncrementalDecrementalSVM_twin(char *self, int64_t i) {
    return IncrementalDecrementalSVM_vectors + i * IncrementalDecrementalSVM_row_bytes;
}

ESVM_STATIC double IncrementalDecrementalSVM_k_wide(char *self, const void *x, const void *z) {
    double value;
    IncrementalDecrementalSVM_k_rows(self, x, z, 1, &value);
    return value;
}

ESVM_STATIC double IncrementalDecrementalSVM_square_norm(char *self, const void *x) {
    (void)self;
    return linalg_any_dot(x, x, IncrementalDecrementalSVM_n_features);
}

ESVM_STATIC void IncrementalDecrementalSVM_fill_known_row(char *self, const void *x,
        margin_set_Row *known, double *row) {
    esvm_index first = 0;
    esvm_index n = IncrementalDecrementalSVM_solver->n;
    if (known != NULL) {
        first = known->n;
        memcpy(row, known->k, first * sizeof(double));
    }
    IncrementalDecrementalSVM_k_rows(self, x, IncrementalDecrementalSVM_twin(self, first), n -
            first, row + first);
    if (known != NULL && n <= TWIN_KEPT) {
        memcpy(known->k + first, row + first, (n - first) * sizeof(double));
        known->n = n;
    }
}

ESVM_STATIC int IncrementalDecrementalSVM_side(char *self, double g, int lower, int upper) {
    double edge = IncrementalDecrementalSVM_solver->mu * (1.0 - margin_set_EVENT_TOLERANCE);
    return lower && g < -edge ? 0 : upper && g > edge ? 4 : 2;
}

ESVM_STATIC void IncrementalDecrementalSVM_refresh(char *self) {
    margin_set_Solver *v = IncrementalDecrementalSVM_solver;
    esvm_index i;
    v->n_refreshed += 1;
    esvm_index t1_ = v->n;
    for (i = 0; i < t1_; i++) {
        IncrementalDecrementalSVM_g[i] = v->b;
    }
    esvm_index t2_ = v->n;
    for (i = 0; i < t2_; i++) {
        if (IncrementalDecrementalSVM_coef[i] != 0.0) {
            IncrementalDecrementalSVM_fill_row(self, IncrementalDecrementalSVM_twin(self, i),
                    IncrementalDecrementalSVM_row);
            twin_add(IncrementalDecrementalSVM_coef[i], IncrementalDecrementalSVM_row,
                    IncrementalDecrementalSVM_g, v->n);
        }
    }
}

ESVM_STATIC void IncrementalDecrementalSVM_release_unused_weight(char *self, path_Move *moves,
        int count) {
    int c;
    esvm_index i;
    for (c = 0; c < count; c++) {
        i = moves[c].slot;
        double t1_ = IncrementalDecrementalSVM_s_minus[i];
        double t2_ = IncrementalDecrementalSVM_s_plus[i];
        moves[c].from_minus = t1_;
        moves[c].from_plus = t2_;
        if (moves[c].to_minus == 0.0 && moves[c].to_plus == 0.0) {
            IncrementalDecrementalSVM_s_minus[i] = esvm_max(-IncrementalDecrementalSVM_coef[i],
                    0.0);
            IncrementalDecrementalSVM_s_plus[i] = esvm_max(IncrementalDecrementalSVM_coef[i], 0.0);
            if (IncrementalDecrementalSVM_state[i] % 2) {
                IncrementalDecrementalSVM_leave(self, IncrementalDecrementalSVM_place_on_S(self,
                        i), 2);
            }
        }
        double t3_ = IncrementalDecrementalSVM_s_minus[i];
        double t4_ = IncrementalDecrementalSVM_s_plus[i];
        moves[c].released_minus = t3_;
        moves[c].released_plus = t4_;
    }
}

ESVM_STATIC margin_set_Outcome IncrementalDecrementalSVM_walk(char *self, path_Move *moves,
        int count, double mu) {
    path_Walk walk = {0};
    path_Event event = {0};
    margin_set_Outcome outcome;
    double surplus;
    int64_t _event;
    IncrementalDecrementalSVM_begin(self, &walk, moves, count, mu);
    for (_event = 0; _event < path_MANY_EVENTS * (IncrementalDecrementalSVM_solver->n + 4) -
            1; _event++) {
        IncrementalDecrementalSVM_plateau_rates(self, &walk);
        if (IncrementalDecrementalSVM_solver->m == 0) {
            surplus = walk.push_sum - walk.total;
            if (fabs(surplus) > path_ROUNDING * IncrementalDecrementalSVM_size(self, &walk)) {
                outcome = IncrementalDecrementalSVM_shift(self, surplus, &walk);
                if (outcome == margin_set_REACHED) {
                    continue;
                }
                if (outcome == margin_set_OVERFLOWED) {
                    return margin_set_OVERFLOWED;
                }
            }
        }
        IncrementalDecrementalSVM_direct(self, &walk);
        IncrementalDecrementalSVM_first_event(self, &walk, &event);
        IncrementalDecrementalSVM_advance(self, &walk, event.length, event.place < 0 &&
                event.twin < 0);
        if (event.place < 0 && event.twin < 0) {
            return margin_set_REACHED;
        }
        IncrementalDecrementalSVM_solver->n_path_events += 1;
        if (event.twin < 0) {
            IncrementalDecrementalSVM_leave(self, event.place, event.to);
            continue;
        }
        outcome = IncrementalDecrementalSVM_enter(self, event.twin, event.to, event.direction,
                IncrementalDecrementalSVM_known_row(self, &walk, event.twin));
        if (outcome != margin_set_REACHED) {
            return outcome;
        }
    }
    return margin_set_STUCK;
}

ESVM_STATIC int IncrementalDecrementalSVM_is_consistent(char *self) {
    margin_set_Solver *v = IncrementalDecrementalSVM_solver;
    esvm_index p = 0;
    double aim, g;
    while (p < v->m) {
        aim = IncrementalDecrementalSVM_state[IncrementalDecrementalSVM_S[p]] == 3 ? v->mu : -v->mu;
        g = linalg_dot_f64(IncrementalDecrementalSVM_row_of(self, p),
                IncrementalDecrementalSVM_coef, v->n) + v->b;
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

ESVM_STATIC void IncrementalDecrementalSVM_rebuild(char *self) {
    margin_set_Solver *v = IncrementalDecrementalSVM_solver;
    esvm_index i;
    v->m = 0;
    esvm_index t1_ = v->n;
    for (i = 0; i < t1_; i++) {
        IncrementalDecrementalSVM_state[i] = 2;
    }
    esvm_index t2_ = v->n;
    for (i = 0; i < t2_; i++) {
        if (IncrementalDecrementalSVM_restore_state(self, i) != margin_set_REACHED) {
            IncrementalDecrementalSVM_state[i] += IncrementalDecrementalSVM_state[i] % 2;
        }
    }
}

ESVM_STATIC void IncrementalDecrementalSVM_solve_at(char *self, const path_Move *moves, int count,
        double mu) {
    int c;
    for (c = 0; c < count; c++) {
        IncrementalDecrementalSVM_s_minus[moves[c].slot] = moves[c].to_minus;
        IncrementalDecrementalSVM_s_plus[moves[c].slot] = moves[c].to_plus;
    }
    IncrementalDecrementalSVM_solver->mu = mu;
    IncrementalDecrementalSVM_from_scratch(self);
}

ESVM_STATIC void IncrementalDecrementalSVM_walk_back(char *self, path_Move *moves, int count,
        double mu) {
    margin_set_Outcome outcome;
    int c;
    esvm_index i;
    for (c = 0; c < count; c++) {
        double t1_ = moves[c].released_minus;
        double t2_ = moves[c].released_plus;
        moves[c].to_minus = t1_;
        moves[c].to_plus = t2_;
    }
    outcome = IncrementalDecrementalSVM_walk(self, moves, count, mu);
    for (c = 0; c < count; c++) {
        i = moves[c].slot;
        double t3_ = moves[c].from_minus;
        double t4_ = moves[c].from_plus;
        moves[c].to_minus = t3_;
        moves[c].to_plus = t4_;
        double t5_ = moves[c].from_minus;
        double t6_ = moves[c].from_plus;
        IncrementalDecrementalSVM_s_minus[i] = t5_;
        IncrementalDecrementalSVM_s_plus[i] = t6_;
        if (outcome == margin_set_REACHED && IncrementalDecrementalSVM_state[i] % 2 == 0) {
            outcome = IncrementalDecrementalSVM_restore_state(self, i);
        }
    }
    if (outcome != margin_set_REACHED) {
        IncrementalDecrementalSVM_solve_at(self, moves, count, mu);
    }
}

ESVM_STATIC void IncrementalDecrementalSVM_leave(char *self, esvm_index p, int to) {
    packed_factor_PackedFactor factor_ = IncrementalDecrementalSVM_factor_of(self);
    margin_set_Solver *v = IncrementalDecrementalSVM_solver;
    esvm_index j, n_rows;
    esvm_index i = IncrementalDecrementalSVM_S[p];
    IncrementalDecrementalSVM_state[i] = to;
    IncrementalDecrementalSVM_coef[i] = margin_set_plateau(to,
            IncrementalDecrementalSVM_s_minus[i], IncrementalDecrementalSVM_s_plus[i]);
    memmove(IncrementalDecrementalSVM_S + p, IncrementalDecrementalSVM_S + p + 1, (v->m - 1 - p) *
            sizeof(int32_t));
    n_rows = packed_factor_factor_remove(&factor_, p);
    esvm_index t1_ = packed_factor_factor_rows(&factor_, v->m);
    for (j = n_rows; j < t1_; j++) {
        IncrementalDecrementalSVM_fill_row(self, IncrementalDecrementalSVM_twin(self,
                IncrementalDecrementalSVM_S[j]), packed_factor_factor_row(&factor_, j));
    }
}

ESVM_STATIC esvm_index IncrementalDecrementalSVM_place_on_S(char *self, esvm_index i) {
    esvm_index p;
    for (p = 0; p < IncrementalDecrementalSVM_solver->m; p++) {
        if (IncrementalDecrementalSVM_S[p] == i) {
            return p;
        }
    }
    return 0;
}

ESVM_STATIC int IncrementalDecrementalSVM_sums_in_dtype(char *self) {
    (void)self;
    return 0;
}

ESVM_STATIC void IncrementalDecrementalSVM_fill_row(char *self, const void *x, double *row) {
    IncrementalDecrementalSVM_k_rows(self, x, IncrementalDecrementalSVM_vectors,
            IncrementalDecrementalSVM_solver->n, row);
}

ESVM_STATIC void IncrementalDecrementalSVM_begin(char *self, path_Walk *walk, path_Move *moves,
        int count, double mu) {
    esvm_index i;
    int c;
    double total = 0.0;
    walk->moves = moves;
    walk->count = count;
    walk->t = 0.0;
    double t1_ = mu;
    double t2_ = mu - IncrementalDecrementalSVM_solver->mu;
    walk->mu = t1_;
    walk->d_mu = t2_;
    for (c = 0; c < count; c++) {
        i = moves[c].slot;
        moves[c].d_minus = moves[c].to_minus - IncrementalDecrementalSVM_s_minus[i];
        moves[c].d_plus = moves[c].to_plus - IncrementalDecrementalSVM_s_plus[i];
        moves[c].rate = 0.0;
        moves[c].state = -1;
        IncrementalDecrementalSVM_resolve_sides(self, i, moves[c].d_minus, moves[c].d_plus);
    }
    twin_offsets(IncrementalDecrementalSVM_g, IncrementalDecrementalSVM_state,
            IncrementalDecrementalSVM_s_minus, IncrementalDecrementalSVM_s_plus,
            IncrementalDecrementalSVM_solver->mu, IncrementalDecrementalSVM_solver->n,
            IncrementalDecrementalSVM_off);
    memset(IncrementalDecrementalSVM_push, 0, IncrementalDecrementalSVM_solver->n * sizeof(double));
    esvm_index t3_;
    for (t3_ = 0; t3_ < IncrementalDecrementalSVM_solver->n; t3_++) {
        i = t3_;
        total += IncrementalDecrementalSVM_coef[i];
    }
    walk->total = total;
    walk->largest = 1.0;
    if (IncrementalDecrementalSVM_kernel.kind != kernels_RBF) {
        walk->largest = 0.0;
        esvm_index t4_;
        for (t4_ = 0; t4_ < IncrementalDecrementalSVM_solver->n; t4_++) {
            i = t4_;
            walk->largest = esvm_max(walk->largest, IncrementalDecrementalSVM_norm_of(self, i));
        }
    }
}

ESVM_STATIC void IncrementalDecrementalSVM_plateau_rates(char *self, path_Walk *walk) {
    path_Move *move;
    int c, state;
    double rate;
    walk->push_sum = 0.0;
    walk->push_size = 0.0;
    int t1_ = walk->count;
    for (c = 0; c < t1_; c++) {
        move = walk->moves + c;
        state = IncrementalDecrementalSVM_state[move->slot];
        if (state != move->state) {
            rate = state % 2 ? 0.0 : margin_set_plateau(state, move->d_minus, move->d_plus);
            if (rate != move->rate) {
                IncrementalDecrementalSVM_fill_known_row(self, IncrementalDecrementalSVM_twin(self,
                        move->slot), move->known, IncrementalDecrementalSVM_row);
                twin_add(rate - move->rate, IncrementalDecrementalSVM_row,
                        IncrementalDecrementalSVM_push, IncrementalDecrementalSVM_solver->n);
            }
            move->rate = rate;
            move->state = state;
        }
        walk->push_sum += move->rate;
        walk->push_size += fabs(move->rate);
    }
}

ESVM_STATIC double IncrementalDecrementalSVM_size(char *self, const path_Walk *walk) {
    double size = walk->push_size;
    esvm_index i;
    for (i = 0; i < IncrementalDecrementalSVM_solver->n; i++) {
        size += fabs(IncrementalDecrementalSVM_coef[i]);
    }
    return size;
}

ESVM_STATIC margin_set_Outcome IncrementalDecrementalSVM_shift(char *self, double surplus,
        const path_Walk *walk) {
    margin_set_Solver *v = IncrementalDecrementalSVM_solver;
    path_Edge edges[2];
    path_Edge nearest = {0};
    esvm_index i;
    esvm_index twin = -1;
    int c;
    double move;
    nearest.gap = ESVM_INFINITY;
    esvm_index t1_ = v->n;
    for (i = 0; i < t1_; i++) {
        int t2_ = IncrementalDecrementalSVM_edges(self, walk, i, 0.0, edges);
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
        IncrementalDecrementalSVM_g[i] += move;
    }
    v->n_path_events += 1;
    return IncrementalDecrementalSVM_enter(self, twin, nearest.to, nearest.direction, NULL);
}

ESVM_STATIC void IncrementalDecrementalSVM_direct(char *self, path_Walk *walk) {
    packed_factor_PackedFactor factor_ = IncrementalDecrementalSVM_factor_of(self);
    margin_set_Solver *v = IncrementalDecrementalSVM_solver;
    double *border = IncrementalDecrementalSVM_factor_border;
    double *rate = IncrementalDecrementalSVM_rate;
    const double *push = IncrementalDecrementalSVM_push;
    esvm_index i;
    int64_t p;
    int64_t n_rows = packed_factor_factor_rows(&factor_, v->m);
    if (v->m == 0) {
        walk->db = 0.0;
        memcpy(IncrementalDecrementalSVM_rate, IncrementalDecrementalSVM_push, v->n *
                sizeof(double));
        return;
    }
    border[0] = -walk->total - walk->push_sum;
    int64_t t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        i = IncrementalDecrementalSVM_S[p];
        border[1 + p] = (IncrementalDecrementalSVM_state[i] == 3 ? walk->d_mu : -walk->d_mu) -
                IncrementalDecrementalSVM_off[i] - IncrementalDecrementalSVM_push[i];
    }
    packed_factor_factor_solve(&factor_);
    walk->db = IncrementalDecrementalSVM_factor_solution[0];
    esvm_index t2_ = v->n;
    esvm_index t3_;
    for (t3_ = 0; t3_ < t2_; t3_++) {
        i = t3_;
        rate[i] = push[i] + walk->db;
    }
    twin_add_rows(IncrementalDecrementalSVM_factor_solution + 1, packed_factor_factor_row(&factor_,
            0), -IncrementalDecrementalSVM_factor_width, n_rows, IncrementalDecrementalSVM_rate,
            v->n);
    n_rows = twin_add_blocks(IncrementalDecrementalSVM_kernel.kind,
            IncrementalDecrementalSVM_kernel.gamma, IncrementalDecrementalSVM_vectors,
            IncrementalDecrementalSVM_n_features, IncrementalDecrementalSVM_S,
            IncrementalDecrementalSVM_factor_solution + 1, n_rows, v->m,
            IncrementalDecrementalSVM_rate, v->n);
    int64_t t4_ = v->m;
    for (p = n_rows; p < t4_; p++) {
        twin_add(IncrementalDecrementalSVM_factor_solution[1 + p],
                IncrementalDecrementalSVM_row_of(self, p), IncrementalDecrementalSVM_rate, v->n);
    }
}

ESVM_STATIC void IncrementalDecrementalSVM_first_event(char *self, const path_Walk *walk,
        path_Event *event) {
    event->length = 1.0 - walk->t;
    event->place = -1;
    event->twin = -1;
    event->to = 0;
    event->direction = 0;
    IncrementalDecrementalSVM_first_to_leave(self, walk, event);
    IncrementalDecrementalSVM_first_to_enter(self, walk, event);
}

ESVM_STATIC void IncrementalDecrementalSVM_advance(char *self, path_Walk *walk, double length,
        int arrived) {
    margin_set_Solver *v = IncrementalDecrementalSVM_solver;
    const path_Move *move;
    esvm_index i, p;
    int c;
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        IncrementalDecrementalSVM_coef[IncrementalDecrementalSVM_S[p]] += length *
                IncrementalDecrementalSVM_factor_solution[1 + p];
    }
    twin_add(length, IncrementalDecrementalSVM_rate, IncrementalDecrementalSVM_g, v->n);
    v->b += length * walk->db;
    v->mu = arrived ? walk->mu : v->mu + length * walk->d_mu;
    walk->t += length;
    int t2_ = walk->count;
    for (c = 0; c < t2_; c++) {
        move = walk->moves + c;
        i = move->slot;
        IncrementalDecrementalSVM_s_minus[i] = arrived ? move->to_minus :
                IncrementalDecrementalSVM_s_minus[i] + length * move->d_minus;
        IncrementalDecrementalSVM_s_plus[i] = arrived ? move->to_plus :
                IncrementalDecrementalSVM_s_plus[i] + length * move->d_plus;
        if (IncrementalDecrementalSVM_state[i] % 2 == 0) {
            IncrementalDecrementalSVM_coef[i] =
                    margin_set_plateau(IncrementalDecrementalSVM_state[i],
                    IncrementalDecrementalSVM_s_minus[i], IncrementalDecrementalSVM_s_plus[i]);
        }
    }
}

ESVM_STATIC margin_set_Outcome IncrementalDecrementalSVM_enter(char *self, esvm_index i, int step,
        int direction, margin_set_Row *known) {
    packed_factor_PackedFactor factor_ = IncrementalDecrementalSVM_factor_of(self);
    margin_set_Solver *v = IncrementalDecrementalSVM_solver;
    double delta;
    int _tries;
    IncrementalDecrementalSVM_state[i] = step;
    for (_tries = 0; _tries < margin_set_MANY_EXCHANGES; _tries++) {
        delta = IncrementalDecrementalSVM_sensitivity(self, i, known);
        if (delta > margin_set_SINGULAR * (IncrementalDecrementalSVM_row[i] + v->lift)) {
            if (!packed_factor_factor_has_room(&factor_)) {
                IncrementalDecrementalSVM_state[i] = step + direction;
                return margin_set_OVERFLOWED;
            }
            IncrementalDecrementalSVM_S[v->m] = (int32_t)i;
            packed_factor_factor_append(&factor_, delta, IncrementalDecrementalSVM_row, v->n);
            return margin_set_REACHED;
        }
        if (!IncrementalDecrementalSVM_exchange(self, i, direction)) {
            return margin_set_REACHED;
        }
    }
    IncrementalDecrementalSVM_state[i] = step + direction;
    return margin_set_STUCK;
}

ESVM_STATIC margin_set_Row *IncrementalDecrementalSVM_known_row(char *self, const path_Walk *walk,
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

ESVM_STATIC const double *IncrementalDecrementalSVM_row_of(char *self, int64_t p) {
    packed_factor_PackedFactor factor_ = IncrementalDecrementalSVM_factor_of(self);
    if (p < packed_factor_factor_rows(&factor_, IncrementalDecrementalSVM_solver->m)) {
        return packed_factor_factor_row(&factor_, p);
    }
    IncrementalDecrementalSVM_fill_row(self, IncrementalDecrementalSVM_twin(self,
            IncrementalDecrementalSVM_S[p]), IncrementalDecrementalSVM_row);
    return IncrementalDecrementalSVM_row;
}

ESVM_STATIC margin_set_Outcome IncrementalDecrementalSVM_restore_state(char *self, esvm_index i) {
    double mu = IncrementalDecrementalSVM_solver->mu;
    double low = -IncrementalDecrementalSVM_s_minus[i];
    double high = IncrementalDecrementalSVM_s_plus[i];
    double middle = high + low;
    if (low < IncrementalDecrementalSVM_coef[i] && IncrementalDecrementalSVM_coef[i] < middle) {
        return IncrementalDecrementalSVM_enter(self, i, 3, 1, NULL);
    }
    if (middle < IncrementalDecrementalSVM_coef[i] && IncrementalDecrementalSVM_coef[i] < high) {
        return IncrementalDecrementalSVM_enter(self, i, 1, 1, NULL);
    }
    if (IncrementalDecrementalSVM_coef[i] == middle) {
        IncrementalDecrementalSVM_state[i] = 2;
        if (middle == high && IncrementalDecrementalSVM_g[i] < -mu && low < 0.0) {
            IncrementalDecrementalSVM_state[i] = 0;
        } else if (middle == low && IncrementalDecrementalSVM_g[i] > mu && high > 0.0) {
            IncrementalDecrementalSVM_state[i] = 4;
        }
    } else {
        IncrementalDecrementalSVM_state[i] = IncrementalDecrementalSVM_coef[i] >= high ? 0 : 4;
    }
    return margin_set_REACHED;
}

ESVM_STATIC void IncrementalDecrementalSVM_from_scratch(char *self) {
    margin_set_Solver *v = IncrementalDecrementalSVM_solver;
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
        IncrementalDecrementalSVM_coef[i] = 0.0;
        IncrementalDecrementalSVM_g[i] = 0.0;
    }
    while (left) {
        left -= 1;
        i = -1;
        j = -1;
        highest = -ESVM_INFINITY;
        lowest = ESVM_INFINITY;
        esvm_index t3_ = v->n;
        for (c = 0; c < t3_; c++) {
            middle = IncrementalDecrementalSVM_s_plus[c] - IncrementalDecrementalSVM_s_minus[c];
            up = (IncrementalDecrementalSVM_coef[c] < middle ? v->mu : -v->mu) -
                    IncrementalDecrementalSVM_g[c];
            down = (IncrementalDecrementalSVM_coef[c] > middle ? -v->mu : v->mu) -
                    IncrementalDecrementalSVM_g[c];
            if (IncrementalDecrementalSVM_coef[c] < IncrementalDecrementalSVM_s_plus[c] && up >
                    highest) {
                highest = up;
                i = c;
            }
            if (IncrementalDecrementalSVM_coef[c] > -IncrementalDecrementalSVM_s_minus[c] && down <
                    lowest) {
                lowest = down;
                j = c;
            }
        }
        if (i < 0 || j < 0 || !(highest - lowest > 1e-3 * margin_set_EVENT_TOLERANCE * v->mu)) {
            break;
        }
        middle = IncrementalDecrementalSVM_s_plus[i] - IncrementalDecrementalSVM_s_minus[i];
        top = IncrementalDecrementalSVM_coef[i] < middle ? middle :
                IncrementalDecrementalSVM_s_plus[i];
        middle = IncrementalDecrementalSVM_s_plus[j] - IncrementalDecrementalSVM_s_minus[j];
        bottom = IncrementalDecrementalSVM_coef[j] > middle ? middle :
                -IncrementalDecrementalSVM_s_minus[j];
        IncrementalDecrementalSVM_fill_row(self, IncrementalDecrementalSVM_twin(self, i),
                IncrementalDecrementalSVM_row);
        IncrementalDecrementalSVM_fill_row(self, IncrementalDecrementalSVM_twin(self, j),
                IncrementalDecrementalSVM_rate);
        curve = esvm_max(IncrementalDecrementalSVM_row[i] + IncrementalDecrementalSVM_rate[j] -
                2.0 * IncrementalDecrementalSVM_row[j], 1e-14 * (IncrementalDecrementalSVM_row[i] +
                IncrementalDecrementalSVM_rate[j]));
        step = ESVM_DIVIDE(highest - lowest, curve);
        if (step < top - IncrementalDecrementalSVM_coef[i] && step <
                IncrementalDecrementalSVM_coef[j] - bottom) {
            IncrementalDecrementalSVM_coef[i] += step;
            IncrementalDecrementalSVM_coef[j] -= step;
        } else if (top - IncrementalDecrementalSVM_coef[i] <= IncrementalDecrementalSVM_coef[j] -
                bottom) {
            step = top - IncrementalDecrementalSVM_coef[i];
            IncrementalDecrementalSVM_coef[i] = top;
            IncrementalDecrementalSVM_coef[j] -= step;
        } else {
            step = IncrementalDecrementalSVM_coef[j] - bottom;
            IncrementalDecrementalSVM_coef[i] += step;
            IncrementalDecrementalSVM_coef[j] = bottom;
        }
        esvm_index t4_ = v->n;
        for (c = 0; c < t4_; c++) {
            IncrementalDecrementalSVM_g[c] += step * (IncrementalDecrementalSVM_row[c] -
                    IncrementalDecrementalSVM_rate[c]);
        }
    }
    if (esvm_is_finite(highest) && esvm_is_finite(lowest)) {
        v->b = 0.5 * (highest + lowest);
    } else {
        v->b = esvm_is_finite(highest) ? highest : esvm_is_finite(lowest) ? lowest : 0.0;
    }
    IncrementalDecrementalSVM_refresh(self);
    IncrementalDecrementalSVM_rebuild(self);
}

ESVM_STATIC void IncrementalDecrementalSVM_resolve_sides(char *self, esvm_index i, double d_minus,
        double d_plus) {
    if (IncrementalDecrementalSVM_s_plus[i] == 0.0 && IncrementalDecrementalSVM_state[i] % 2 ==
            0 && IncrementalDecrementalSVM_state[i] > 0) {
        IncrementalDecrementalSVM_state[i] = IncrementalDecrementalSVM_side(self,
                IncrementalDecrementalSVM_g[i], 0, d_plus > 0.0);
    }
    if (IncrementalDecrementalSVM_s_minus[i] == 0.0 && IncrementalDecrementalSVM_state[i] % 2 ==
            0 && IncrementalDecrementalSVM_state[i] < 4) {
        IncrementalDecrementalSVM_state[i] = IncrementalDecrementalSVM_side(self,
                IncrementalDecrementalSVM_g[i], d_minus > 0.0, 0);
    }
}

ESVM_STATIC double IncrementalDecrementalSVM_norm_of(char *self, int64_t i) {
    if (IncrementalDecrementalSVM_kernel.kind == kernels_RBF) {
        return 1.0;
    }
    return IncrementalDecrementalSVM_k_wide(self, IncrementalDecrementalSVM_twin(self, i),
            IncrementalDecrementalSVM_twin(self, i));
}

ESVM_STATIC int IncrementalDecrementalSVM_edges(char *self, const path_Walk *walk, int64_t i,
        double dg, path_Edge *edges) {
    double g = IncrementalDecrementalSVM_g[i];
    double off = IncrementalDecrementalSVM_off[i];
    double rest = 1.0 - walk->t;
    double up, down;
    double mu = IncrementalDecrementalSVM_solver->mu;
    double d_mu = walk->d_mu;
    int lower = IncrementalDecrementalSVM_s_minus[i] > 0.0;
    int upper = IncrementalDecrementalSVM_s_plus[i] > 0.0;
    int c;
    int count = 0;
    int t1_ = walk->count;
    for (c = 0; c < t1_; c++) {
        if (walk->moves[c].slot == i) {
            lower |= walk->moves[c].d_minus > 0.0;
            upper |= walk->moves[c].d_plus > 0.0;
        }
    }
    if (IncrementalDecrementalSVM_state[i] == 0 && lower) {
        edges[0] = (path_Edge){-mu + off * rest - g, dg + d_mu + off, 1, -1};
        count = 1;
    } else if (IncrementalDecrementalSVM_state[i] == 4 && upper) {
        edges[0] = (path_Edge){g - mu - off * rest, d_mu - dg - off, 3, 1};
        count = 1;
    } else if (IncrementalDecrementalSVM_state[i] == 2) {
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

ESVM_STATIC void IncrementalDecrementalSVM_first_to_leave(char *self, const path_Walk *walk,
        path_Event *event) {
    margin_set_Solver *v = IncrementalDecrementalSVM_solver;
    const path_Move *move;
    esvm_index i, p;
    int c;
    double low, high, d_low, d_high, step, size;
    double rest = 1.0 - walk->t;
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        i = IncrementalDecrementalSVM_S[p];
        step = IncrementalDecrementalSVM_factor_solution[1 + p];
        size = fabs(IncrementalDecrementalSVM_coef[i]) + fabs(step) +
                ESVM_DIVIDE(fabs(IncrementalDecrementalSVM_factor_border[1 + p] - walk->db) +
                0.01 * fabs(walk->db), IncrementalDecrementalSVM_norm_of(self, i) + v->lift);
        IncrementalDecrementalSVM_step_bounds(self, i, &low, &high);
        d_low = 0.0;
        d_high = 0.0;
        int t2_ = walk->count;
        for (c = 0; c < t2_; c++) {
            move = walk->moves + c;
            if (move->slot == i) {
                d_low = margin_set_plateau(IncrementalDecrementalSVM_state[i] + 1, move->d_minus,
                        move->d_plus);
                d_high = margin_set_plateau(IncrementalDecrementalSVM_state[i] - 1, move->d_minus,
                        move->d_plus);
            }
        }
        if (path_comes_first(high - IncrementalDecrementalSVM_coef[i], step - d_high, rest,
                path_ROUNDING * size, &event->length)) {
            esvm_index t3_ = p;
            int t4_ = IncrementalDecrementalSVM_state[i] - 1;
            event->place = t3_;
            event->to = t4_;
        }
        if (path_comes_first(IncrementalDecrementalSVM_coef[i] - low, d_low - step, rest,
                path_ROUNDING * size, &event->length)) {
            esvm_index t5_ = p;
            int t6_ = IncrementalDecrementalSVM_state[i] + 1;
            event->place = t5_;
            event->to = t6_;
        }
    }
}

ESVM_STATIC void IncrementalDecrementalSVM_first_to_enter(char *self, const path_Walk *walk,
        path_Event *event) {
    double rest = 1.0 - walk->t;
    double mu = IncrementalDecrementalSVM_solver->mu;
    double d_mu = fabs(walk->d_mu);
    double tolerance = IncrementalDecrementalSVM_tolerance(self, walk);
    path_Edge edges[2];
    int64_t i = -1;
    esvm_index n = IncrementalDecrementalSVM_solver->n;
    int c;
    while (1) {
        i = twin_near(IncrementalDecrementalSVM_g, IncrementalDecrementalSVM_rate,
                IncrementalDecrementalSVM_off, IncrementalDecrementalSVM_state, i + 1, n, mu, d_mu,
                rest, tolerance);
        if (i == n) {
            break;
        }
        int t1_ = IncrementalDecrementalSVM_edges(self, walk, i, IncrementalDecrementalSVM_rate[i],
                edges);
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

ESVM_STATIC double IncrementalDecrementalSVM_sensitivity(char *self, esvm_index i,
        margin_set_Row *known) {
    packed_factor_PackedFactor factor_ = IncrementalDecrementalSVM_factor_of(self);
    margin_set_Solver *v = IncrementalDecrementalSVM_solver;
    esvm_index p;
    IncrementalDecrementalSVM_fill_known_row(self, IncrementalDecrementalSVM_twin(self, i), known,
            IncrementalDecrementalSVM_row);
    if (v->m == 0) {
        v->lift = IncrementalDecrementalSVM_row[i] > 0.0 ? IncrementalDecrementalSVM_row[i] : 1.0;
    }
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        IncrementalDecrementalSVM_factor_border[1 + p] =
                IncrementalDecrementalSVM_row[IncrementalDecrementalSVM_S[p]] + v->lift;
    }
    return packed_factor_factor_complement(&factor_, IncrementalDecrementalSVM_row[i]);
}

ESVM_STATIC int IncrementalDecrementalSVM_exchange(char *self, esvm_index i, int direction) {
    packed_factor_PackedFactor factor_ = IncrementalDecrementalSVM_factor_of(self);
    margin_set_Solver *v = IncrementalDecrementalSVM_solver;
    double *u = IncrementalDecrementalSVM_factor_solution;
    esvm_index p, j;
    esvm_index first = -1;
    int end = 0;
    double low, high, room, gap, rate, move;
    v->n_exchanges += 1;
    IncrementalDecrementalSVM_factor_border[0] = 1.0;
    esvm_index t1_ = v->m;
    for (p = 0; p < t1_; p++) {
        IncrementalDecrementalSVM_factor_border[1 + p] =
                IncrementalDecrementalSVM_row[IncrementalDecrementalSVM_S[p]];
    }
    packed_factor_factor_solve(&factor_);
    IncrementalDecrementalSVM_step_bounds(self, i, &low, &high);
    room = direction > 0 ? high - IncrementalDecrementalSVM_coef[i] :
            IncrementalDecrementalSVM_coef[i] - low;
    esvm_index t2_ = v->m;
    for (p = 0; p < t2_; p++) {
        j = IncrementalDecrementalSVM_S[p];
        rate = -direction * u[1 + p];
        IncrementalDecrementalSVM_step_bounds(self, j, &low, &high);
        gap = esvm_max(rate > 0 ? high - IncrementalDecrementalSVM_coef[j] :
                IncrementalDecrementalSVM_coef[j] - low, 0.0);
        if (fabs(rate) > margin_set_NULL_TOLERANCE && gap < room * fabs(rate)) {
            room = ESVM_DIVIDE(gap, fabs(rate));
            first = p;
            end = IncrementalDecrementalSVM_state[j] + (rate > 0 ? -1 : 1);
        }
    }
    move = direction * room;
    IncrementalDecrementalSVM_coef[i] += move;
    v->b -= move * u[0];
    twin_add(move, IncrementalDecrementalSVM_row, IncrementalDecrementalSVM_g, v->n);
    esvm_index t3_ = v->n;
    esvm_index t4_;
    for (t4_ = 0; t4_ < t3_; t4_++) {
        j = t4_;
        IncrementalDecrementalSVM_g[j] -= move * u[0];
    }
    esvm_index t5_ = v->m;
    for (p = 0; p < t5_; p++) {
        IncrementalDecrementalSVM_coef[IncrementalDecrementalSVM_S[p]] -= move * u[1 + p];
        twin_add(-move * u[1 + p], IncrementalDecrementalSVM_row_of(self, p),
                IncrementalDecrementalSVM_g, v->n);
    }
    if (first >= 0) {
        IncrementalDecrementalSVM_leave(self, first, end);
        return 1;
    }
    IncrementalDecrementalSVM_state[i] -= direction;
    IncrementalDecrementalSVM_coef[i] = margin_set_plateau(IncrementalDecrementalSVM_state[i],
            IncrementalDecrementalSVM_s_minus[i], IncrementalDecrementalSVM_s_plus[i]);
    return 0;
}

ESVM_STATIC void IncrementalDecrementalSVM_step_bounds(char *self, esvm_index i, double *low,
        double *high) {
    low[0] = margin_set_plateau(IncrementalDecrementalSVM_state[i] + 1,
            IncrementalDecrementalSVM_s_minus[i], IncrementalDecrementalSVM_s_plus[i]);
    high[0] = margin_set_plateau(IncrementalDecrementalSVM_state[i] - 1,
            IncrementalDecrementalSVM_s_minus[i], IncrementalDecrementalSVM_s_plus[i]);
}

ESVM_STATIC double IncrementalDecrementalSVM_tolerance(char *self, const path_Walk *walk) {
    double size;
    double sums = 0.0;
    esvm_index i;
    for (i = 0; i < IncrementalDecrementalSVM_solver->n; i++) {
        size = fabs(IncrementalDecrementalSVM_coef[i]);
        sums += IncrementalDecrementalSVM_kernel.kind == kernels_RBF ? size : size *
                esvm_sqrt(IncrementalDecrementalSVM_norm_of(self, i));
    }
    return path_EVENT_TOLERANCE * IncrementalDecrementalSVM_solver->mu + path_NOISE *
            esvm_sqrt(walk->largest) * sums;
}

#endif

#endif
