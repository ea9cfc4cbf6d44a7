/* Translated from edgesvm/learners/papers/online/_lasvm.*: change that, then `make translate`. */

#ifndef EDGESVM_LASVM_H
#define EDGESVM_LASVM_H

#include "floor.h"
#include "core.h"
#include "expansion.h"
#include "kernels.h"
#include "linalg.h"
#include "rows.h"
#include "status.h"

#define lasvm__AT_BOUND 1e-14
#define lasvm_AT_BOUND lasvm__AT_BOUND
#define lasvm__LEVEL 1e-09
#define lasvm_LEVEL lasvm__LEVEL

ESVM_STATIC int lasvm_clearly_more(double a, double b);

ESVM_STATIC int lasvm_clearly_more(double a, double b) {
    return a > b + lasvm_LEVEL * (1.0 + fabs(b));
}

#ifdef LASVM_n_features

#define LASVM_common ((core_Common *)self)
#define LASVM_n_per_class ((int64_t *)(self + LASVM_AT_n_per_class))
#define LASVM_scores ((double *)ESVM_SCRATCH(LASVM_AT_scores))
#define LASVM_n_held ((int64_t *)(self + LASVM_AT_n_held))
#define LASVM_coef ((double *)(self + LASVM_AT_coef))
#define LASVM_vectors ((char *)(self + LASVM_AT_vectors))
#define LASVM_intercept ((double *)(self + LASVM_AT_intercept))
#define LASVM_gap ((double *)(self + LASVM_AT_gap))
#define LASVM_n_given_up ((int64_t *)(self + LASVM_AT_n_given_up))
#define LASVM_bound ((double *)(self + LASVM_AT_bound))
#define LASVM_gradient ((double *)(self + LASVM_AT_gradient))
#define LASVM_row ((double *)(self + LASVM_AT_row))
#define LASVM_other_row ((double *)(self + LASVM_AT_other_row))

static const kernels_Kernel LASVM_kernel = LASVM_KERNEL;

ESVM_STATIC status_Status LASVM_learn_row(char *self, const void *x, int slot, double weight);
ESVM_STATIC status_Status LASVM_answer(char *self, const void *x, double *out);
ESVM_STATIC int LASVM_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t LASVM_n_learned(char *self);
ESVM_STATIC status_Status LASVM_weighed_step(char *self, const void *x, double y, double weight);
ESVM_STATIC status_Status LASVM_decide(char *self, const void *x, double *value);
ESVM_STATIC void LASVM_count(char *self, int slot, status_Status status);
ESVM_STATIC void LASVM_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int LASVM_n_answers(char *self);
ESVM_STATIC int LASVM_slot_for(char *self, double value);
ESVM_STATIC status_Status LASVM_step(char *self, const void *x, double y, double weight);
ESVM_STATIC double LASVM_class_weight(char *self, double y);
ESVM_STATIC status_Status LASVM_Expansion_decide(char *self, const void *x, double *value);
ESVM_STATIC status_Status LASVM_refuses(char *self, const void *x, double weight);
ESVM_STATIC int LASVM_process(char *self, const void *x, double y, double bound);
ESVM_STATIC int LASVM_reprocess(char *self);
ESVM_STATIC int LASVM_give_up_oldest(char *self);
ESVM_STATIC void LASVM_set_intercept(char *self);
ESVM_STATIC int LASVM_refuses_to_decide(char *self, const void *x);
ESVM_STATIC double LASVM_project(char *self, const void *x);
ESVM_STATIC double LASVM_self_kernel(char *self, const void *x);
ESVM_STATIC void LASVM_put(char *self, int64_t i, const void *x, double coef);
ESVM_STATIC void LASVM_k_rows(char *self, const void *x, const void *rows, esvm_index n,
        double *out);
ESVM_STATIC int LASVM_step_of_pair(char *self, esvm_index i, esvm_index j);
ESVM_STATIC esvm_index LASVM_lowest(char *self, esvm_index but);
ESVM_STATIC esvm_index LASVM_highest(char *self, esvm_index but);
ESVM_STATIC void LASVM_remove(char *self, esvm_index i);
ESVM_STATIC void LASVM_drop_coefficient(char *self, esvm_index i);
ESVM_STATIC void LASVM_fetch_rows(char *self, esvm_index i, esvm_index j);
ESVM_STATIC void LASVM_transfer(char *self, esvm_index i, esvm_index j, double step);
ESVM_STATIC char *LASVM_vector(char *self, int64_t i);
ESVM_STATIC double LASVM_square_norm(char *self, const void *x);
ESVM_STATIC double LASVM_k(char *self, const void *x, const void *z);
ESVM_STATIC int LASVM_sums_in_dtype(char *self);

ESVM_STATIC status_Status LASVM_learn_row(char *self, const void *x, int slot, double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        LASVM_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = LASVM_weighed_step(self, x, !LASVM_HAS_scores ? 2 * slot - 1 : slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    LASVM_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status LASVM_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!LASVM_HAS_scores) {
        status = LASVM_decide(self, x, out);
        out[0] *= LASVM_labels_sign;
        return status;
    }
    status = LASVM_decide(self, x, LASVM_HAS_scores ? LASVM_scores : NULL);
    LASVM_in_order(self, LASVM_HAS_scores ? LASVM_scores : NULL, out);
    memset(LASVM_scores, 0, LASVM_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int LASVM_winner(char *self, const double *answers, double *score) {
    int i;
    int n = LASVM_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!LASVM_HAS_scores) {
        return LASVM_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return LASVM_labels_order[LASVM_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return LASVM_labels_order[best];
}

ESVM_STATIC int64_t LASVM_n_learned(char *self) {
    int64_t total = LASVM_n_per_class[0] + LASVM_n_per_class[1];
    int slot;
    for (slot = 2; slot < LASVM_n_classes; slot++) {
        total += LASVM_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status LASVM_weighed_step(char *self, const void *x, double y, double weight) {
    return LASVM_step(self, x, y, LASVM_balanced ? weight * LASVM_class_weight(self, y) : weight);
}

ESVM_STATIC status_Status LASVM_decide(char *self, const void *x, double *value) {
    status_Status status = LASVM_Expansion_decide(self, x, value);
    value[0] += LASVM_intercept[0];
    return status;
}

ESVM_STATIC void LASVM_count(char *self, int slot, status_Status status) {
    LASVM_common->n_seen += 1;
    LASVM_common->n_updates += status == status_CHANGED;
    LASVM_n_per_class[slot] += 1;
}

ESVM_STATIC void LASVM_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = LASVM_labels_n;
    const signed char *order = LASVM_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int LASVM_n_answers(char *self) {
    (void)self;
    return !LASVM_HAS_scores || LASVM_labels_n <= 2 ? 1 : LASVM_labels_n;
}

ESVM_STATIC int LASVM_slot_for(char *self, double value) {
    if (LASVM_one_class) {
        return value > 0.0;
    }
    if (LASVM_n_per_class[0] == 0) {
        return 1;
    }
    if (LASVM_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (LASVM_labels_sign < 0);
}

ESVM_STATIC status_Status LASVM_step(char *self, const void *x, double y, double weight) {
    status_Status status = LASVM_refuses(self, x, LASVM_C * weight);
    double before = LASVM_intercept[0];
    int moved;
    if (status > status_CHANGED) {
        return status;
    }
    moved = LASVM_process(self, x, y, y * LASVM_C * weight);
    moved |= LASVM_reprocess(self);
    if (LASVM_n_held[0] == LASVM_capacity) {
        moved |= LASVM_give_up_oldest(self);
    }
    LASVM_set_intercept(self);
    return moved || LASVM_intercept[0] != before ? status_CHANGED : status_UNCHANGED;
}

ESVM_STATIC double LASVM_class_weight(char *self, double y) {
    int slot = !LASVM_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (LASVM_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < LASVM_n_classes; other++) {
            n_classes += LASVM_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(LASVM_n_learned(self) + 1, (double)n_classes * (LASVM_n_per_class[slot] +
            1));
}

ESVM_STATIC status_Status LASVM_Expansion_decide(char *self, const void *x, double *value) {
    value[0] = 0.0;
    if (LASVM_refuses_to_decide(self, x)) {
        return status_NOT_FINITE;
    }
    value[0] = LASVM_project(self, x);
    return -expansion_MOST * expansion_MOST <= value[0] && value[0] <= expansion_MOST *
            expansion_MOST ? status_UNCHANGED : status_NOT_FINITE;
}

ESVM_STATIC status_Status LASVM_refuses(char *self, const void *x, double weight) {
    if (!(LASVM_self_kernel(self, x) <= expansion_MOST)) {
        return status_NOT_FINITE;
    }
    return expansion_LEAST_WEIGHT <= weight && weight <= expansion_MOST ? status_UNCHANGED :
            status_BAD_WEIGHT;
}

ESVM_STATIC int LASVM_process(char *self, const void *x, double y, double bound) {
    esvm_index i;
    esvm_index k = LASVM_n_held[0];
    LASVM_put(self, k, x, 0.0);
    LASVM_bound[k] = bound;
    LASVM_n_held[0] = k + 1;
    LASVM_k_rows(self, x, LASVM_vectors, k, LASVM_row);
    LASVM_gradient[k] = y;
    for (i = 0; i < k; i++) {
        LASVM_gradient[k] -= LASVM_coef[i] * LASVM_row[i];
    }
    if (y > 0.0) {
        return LASVM_step_of_pair(self, k, LASVM_lowest(self, -1));
    }
    return LASVM_step_of_pair(self, LASVM_highest(self, -1), k);
}

ESVM_STATIC int LASVM_reprocess(char *self) {
    esvm_index s, i, j;
    double g_i, g_j;
    if (!LASVM_step_of_pair(self, LASVM_highest(self, -1), LASVM_lowest(self, -1))) {
        return 0;
    }
    i = LASVM_highest(self, -1);
    j = LASVM_lowest(self, -1);
    g_i = i >= 0 ? LASVM_gradient[i] : ESVM_INFINITY;
    g_j = j >= 0 ? LASVM_gradient[j] : -ESVM_INFINITY;
    for (s = LASVM_n_held[0] - 1; s > -1; s--) {
        if (LASVM_coef[s] == 0.0 && (LASVM_bound[s] < 0.0 ? LASVM_gradient[s] >= g_i :
                LASVM_gradient[s] <= g_j)) {
            LASVM_remove(self, s);
        }
    }
    return 1;
}

ESVM_STATIC int LASVM_give_up_oldest(char *self) {
    esvm_index other;
    int moved = LASVM_coef[0] != 0.0;
    while (LASVM_coef[0] != 0.0) {
        other = LASVM_coef[0] > 0.0 ? LASVM_highest(self, 0) : LASVM_lowest(self, 0);
        if (other < 0) {
            LASVM_drop_coefficient(self, 0);
        } else if (LASVM_coef[0] > 0.0) {
            LASVM_fetch_rows(self, other, 0);
            LASVM_transfer(self, other, 0, ESVM_INFINITY);
        } else {
            LASVM_fetch_rows(self, 0, other);
            LASVM_transfer(self, 0, other, ESVM_INFINITY);
        }
    }
    LASVM_remove(self, 0);
    LASVM_n_given_up[0] += 1;
    return moved;
}

ESVM_STATIC void LASVM_set_intercept(char *self) {
    esvm_index i = LASVM_highest(self, -1);
    esvm_index j = LASVM_lowest(self, -1);
    if (i >= 0 && j >= 0) {
        LASVM_intercept[0] = 0.5 * (LASVM_gradient[i] + LASVM_gradient[j]);
        LASVM_gap[0] = LASVM_gradient[i] - LASVM_gradient[j];
    }
}

ESVM_STATIC int LASVM_refuses_to_decide(char *self, const void *x) {
    return !(LASVM_self_kernel(self, x) <= expansion_MOST);
}

ESVM_STATIC double LASVM_project(char *self, const void *x) {
    double k[expansion_BLOCK];
    double f = 0.0;
    esvm_index i, n;
    esvm_index begin = 0;
    while (begin < LASVM_n_held[0]) {
        n = LASVM_n_held[0] - begin < (int64_t)expansion_BLOCK ? LASVM_n_held[0] - begin :
                (int64_t)expansion_BLOCK;
        LASVM_k_rows(self, x, LASVM_vector(self, begin), n, k);
        for (i = 0; i < n; i++) {
            f += LASVM_coef[begin + i] * k[i];
        }
        begin += n;
    }
    return f;
}

ESVM_STATIC double LASVM_self_kernel(char *self, const void *x) {
    double xx = LASVM_square_norm(self, x);
    if (!esvm_is_finite(xx)) {
        return xx;
    }
    return LASVM_kernel.kind == kernels_RBF ? 1.0 : LASVM_k(self, x, x);
}

ESVM_STATIC void LASVM_put(char *self, int64_t i, const void *x, double coef) {
    memcpy(LASVM_vector(self, i), x, LASVM_row_bytes);
    LASVM_coef[i] = coef;
}

ESVM_STATIC void LASVM_k_rows(char *self, const void *x, const void *rows, esvm_index n,
        double *out) {
    if (LASVM_sums_in_dtype(self)) {
        rows_lanes_kernel_values(&LASVM_kernel, x, rows, LASVM_n_features, n, out);
    } else {
        rows_any_kernel_values(&LASVM_kernel, x, rows, LASVM_n_features, n, out);
    }
}

ESVM_STATIC int LASVM_step_of_pair(char *self, esvm_index i, esvm_index j) {
    double curvature;
    double step = ESVM_INFINITY;
    if (i < 0 || j < 0 || !(LASVM_gradient[i] - LASVM_gradient[j] > LASVM_tau)) {
        return 0;
    }
    LASVM_fetch_rows(self, i, j);
    curvature = LASVM_row[i] + LASVM_other_row[j] - 2.0 * LASVM_row[j];
    if (curvature > 0.0) {
        step = ESVM_DIVIDE(LASVM_gradient[i] - LASVM_gradient[j], curvature);
    }
    LASVM_transfer(self, i, j, step);
    return 1;
}

ESVM_STATIC esvm_index LASVM_lowest(char *self, esvm_index but) {
    esvm_index s;
    esvm_index j = -1;
    esvm_index t1_ = LASVM_n_held[0];
    for (s = 0; s < t1_; s++) {
        if (s != but && LASVM_coef[s] > esvm_min(0.0, LASVM_bound[s]) && (j < 0 ||
                lasvm_clearly_more(-LASVM_gradient[s], -LASVM_gradient[j]))) {
            j = s;
        }
    }
    return j;
}

ESVM_STATIC esvm_index LASVM_highest(char *self, esvm_index but) {
    esvm_index s;
    esvm_index i = -1;
    esvm_index t1_ = LASVM_n_held[0];
    for (s = 0; s < t1_; s++) {
        if (s != but && LASVM_coef[s] < esvm_max(0.0, LASVM_bound[s]) && (i < 0 ||
                lasvm_clearly_more(LASVM_gradient[s], LASVM_gradient[i]))) {
            i = s;
        }
    }
    return i;
}

ESVM_STATIC void LASVM_remove(char *self, esvm_index i) {
    esvm_index after = LASVM_n_held[0] - 1 - i;
    memmove(LASVM_vector(self, i), LASVM_vector(self, i + 1), after * LASVM_row_bytes);
    memmove(LASVM_coef + i, LASVM_coef + i + 1, after * sizeof(double));
    memmove(LASVM_bound + i, LASVM_bound + i + 1, after * sizeof(double));
    memmove(LASVM_gradient + i, LASVM_gradient + i + 1, after * sizeof(double));
    LASVM_n_held[0] -= 1;
}

ESVM_STATIC void LASVM_drop_coefficient(char *self, esvm_index i) {
    esvm_index s;
    LASVM_k_rows(self, LASVM_vector(self, i), LASVM_vectors, LASVM_n_held[0], LASVM_row);
    esvm_index t1_ = LASVM_n_held[0];
    for (s = 0; s < t1_; s++) {
        LASVM_gradient[s] += LASVM_coef[i] * LASVM_row[s];
    }
    LASVM_coef[i] = 0.0;
}

ESVM_STATIC void LASVM_fetch_rows(char *self, esvm_index i, esvm_index j) {
    LASVM_k_rows(self, LASVM_vector(self, i), LASVM_vectors, LASVM_n_held[0], LASVM_row);
    LASVM_k_rows(self, LASVM_vector(self, j), LASVM_vectors, LASVM_n_held[0], LASVM_other_row);
}

ESVM_STATIC void LASVM_transfer(char *self, esvm_index i, esvm_index j, double step) {
    esvm_index s;
    double highest = esvm_max(0.0, LASVM_bound[i]);
    double lowest = esvm_min(0.0, LASVM_bound[j]);
    double above = highest - LASVM_coef[i];
    double below = LASVM_coef[j] - lowest;
    step = esvm_min(step, esvm_min(above, below));
    LASVM_coef[i] += step;
    LASVM_coef[j] -= step;
    if (above - step <= lasvm_AT_BOUND * fabs(LASVM_bound[i])) {
        LASVM_coef[i] = highest;
    }
    if (below - step <= lasvm_AT_BOUND * fabs(LASVM_bound[j])) {
        LASVM_coef[j] = lowest;
    }
    esvm_index t1_ = LASVM_n_held[0];
    for (s = 0; s < t1_; s++) {
        LASVM_gradient[s] -= step * (LASVM_row[s] - LASVM_other_row[s]);
    }
}

ESVM_STATIC char *LASVM_vector(char *self, int64_t i) {
    return LASVM_vectors + i * LASVM_row_bytes;
}

ESVM_STATIC double LASVM_square_norm(char *self, const void *x) {
    (void)self;
    return linalg_any_dot(x, x, LASVM_n_features);
}

ESVM_STATIC double LASVM_k(char *self, const void *x, const void *z) {
    (void)self;
    return kernels_any_kernel_value(&LASVM_kernel, x, z, LASVM_n_features);
}

ESVM_STATIC int LASVM_sums_in_dtype(char *self) {
    (void)self;
    return 0;
}

#endif

#endif
