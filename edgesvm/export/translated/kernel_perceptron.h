/* Translated from edgesvm/learners/papers/online/_kernel_perceptron.*: change that, then `make translate`. */

#ifndef EDGESVM_KERNEL_PERCEPTRON_H
#define EDGESVM_KERNEL_PERCEPTRON_H

#include "floor.h"
#include "core.h"
#include "expansion.h"
#include "kernels.h"
#include "linalg.h"
#include "rng.h"
#include "rows.h"
#include "status.h"

typedef enum {
    kernel_perceptron_REPLACE_RANDOM, kernel_perceptron_REPLACE_OLDEST, kernel_perceptron_IGNORE
} kernel_perceptron_WhenFull;

#ifdef KernelPerceptron_n_features

#define KernelPerceptron_common ((core_Common *)self)
#define KernelPerceptron_n_per_class ((int64_t *)(self + KernelPerceptron_AT_n_per_class))
#define KernelPerceptron_scores ((double *)ESVM_SCRATCH(KernelPerceptron_AT_scores))
#define KernelPerceptron_n_held ((int64_t *)(self + KernelPerceptron_AT_n_held))
#define KernelPerceptron_coef ((double *)(self + KernelPerceptron_AT_coef))
#define KernelPerceptron_vectors ((char *)(self + KernelPerceptron_AT_vectors))
#define KernelPerceptron_n_ignored ((int64_t *)(self + KernelPerceptron_AT_n_ignored))
#define KernelPerceptron_oldest ((int64_t *)(self + KernelPerceptron_AT_oldest))
#define KernelPerceptron_rng ((uint64_t *)(self + KernelPerceptron_AT_rng))

static const kernels_Kernel KernelPerceptron_kernel = KernelPerceptron_KERNEL;

ESVM_STATIC status_Status KernelPerceptron_learn_row(char *self, const void *x, int slot,
        double weight);
ESVM_STATIC status_Status KernelPerceptron_answer(char *self, const void *x, double *out);
ESVM_STATIC int KernelPerceptron_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t KernelPerceptron_n_learned(char *self);
ESVM_STATIC status_Status KernelPerceptron_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status KernelPerceptron_decide(char *self, const void *x, double *value);
ESVM_STATIC void KernelPerceptron_count(char *self, int slot, status_Status status);
ESVM_STATIC void KernelPerceptron_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int KernelPerceptron_n_answers(char *self);
ESVM_STATIC int KernelPerceptron_slot_for(char *self, double value);
ESVM_STATIC status_Status KernelPerceptron_step(char *self, const void *x, double y, double weight);
ESVM_STATIC double KernelPerceptron_class_weight(char *self, double y);
ESVM_STATIC int KernelPerceptron_refuses_to_decide(char *self, const void *x);
ESVM_STATIC double KernelPerceptron_project(char *self, const void *x);
ESVM_STATIC status_Status KernelPerceptron_refuses(char *self, const void *x, double weight);
ESVM_STATIC int64_t KernelPerceptron_slot_for_another(char *self);
ESVM_STATIC void KernelPerceptron_put(char *self, int64_t i, const void *x, double coef);
ESVM_STATIC double KernelPerceptron_self_kernel(char *self, const void *x);
ESVM_STATIC void KernelPerceptron_k_rows(char *self, const void *x, const void *rows, esvm_index n,
        double *out);
ESVM_STATIC char *KernelPerceptron_vector(char *self, int64_t i);
ESVM_STATIC double KernelPerceptron_square_norm(char *self, const void *x);
ESVM_STATIC double KernelPerceptron_k(char *self, const void *x, const void *z);
ESVM_STATIC int KernelPerceptron_sums_in_dtype(char *self);

ESVM_STATIC status_Status KernelPerceptron_learn_row(char *self, const void *x, int slot,
        double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        KernelPerceptron_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = KernelPerceptron_weighed_step(self, x, !KernelPerceptron_HAS_scores ? 2 * slot - 1 :
            slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    KernelPerceptron_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status KernelPerceptron_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!KernelPerceptron_HAS_scores) {
        status = KernelPerceptron_decide(self, x, out);
        out[0] *= KernelPerceptron_labels_sign;
        return status;
    }
    status = KernelPerceptron_decide(self, x, KernelPerceptron_HAS_scores ?
            KernelPerceptron_scores : NULL);
    KernelPerceptron_in_order(self, KernelPerceptron_HAS_scores ? KernelPerceptron_scores : NULL,
            out);
    memset(KernelPerceptron_scores, 0, KernelPerceptron_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int KernelPerceptron_winner(char *self, const double *answers, double *score) {
    int i;
    int n = KernelPerceptron_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!KernelPerceptron_HAS_scores) {
        return KernelPerceptron_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return KernelPerceptron_labels_order[KernelPerceptron_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return KernelPerceptron_labels_order[best];
}

ESVM_STATIC int64_t KernelPerceptron_n_learned(char *self) {
    int64_t total = KernelPerceptron_n_per_class[0] + KernelPerceptron_n_per_class[1];
    int slot;
    for (slot = 2; slot < KernelPerceptron_n_classes; slot++) {
        total += KernelPerceptron_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status KernelPerceptron_weighed_step(char *self, const void *x, double y,
        double weight) {
    return KernelPerceptron_step(self, x, y, KernelPerceptron_balanced ? weight *
            KernelPerceptron_class_weight(self, y) : weight);
}

ESVM_STATIC status_Status KernelPerceptron_decide(char *self, const void *x, double *value) {
    value[0] = 0.0;
    if (KernelPerceptron_refuses_to_decide(self, x)) {
        return status_NOT_FINITE;
    }
    value[0] = KernelPerceptron_project(self, x);
    return -expansion_MOST * expansion_MOST <= value[0] && value[0] <= expansion_MOST *
            expansion_MOST ? status_UNCHANGED : status_NOT_FINITE;
}

ESVM_STATIC void KernelPerceptron_count(char *self, int slot, status_Status status) {
    KernelPerceptron_common->n_seen += 1;
    KernelPerceptron_common->n_updates += status == status_CHANGED;
    KernelPerceptron_n_per_class[slot] += 1;
}

ESVM_STATIC void KernelPerceptron_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = KernelPerceptron_labels_n;
    const signed char *order = KernelPerceptron_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int KernelPerceptron_n_answers(char *self) {
    (void)self;
    return !KernelPerceptron_HAS_scores || KernelPerceptron_labels_n <= 2 ? 1 :
            KernelPerceptron_labels_n;
}

ESVM_STATIC int KernelPerceptron_slot_for(char *self, double value) {
    if (KernelPerceptron_one_class) {
        return value > 0.0;
    }
    if (KernelPerceptron_n_per_class[0] == 0) {
        return 1;
    }
    if (KernelPerceptron_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (KernelPerceptron_labels_sign < 0);
}

ESVM_STATIC status_Status KernelPerceptron_step(char *self, const void *x, double y,
        double weight) {
    status_Status status = KernelPerceptron_refuses(self, x, weight);
    int64_t i;
    if (status > status_CHANGED) {
        return status;
    }
    if (y * KernelPerceptron_project(self, x) > 0.0) {
        return status_UNCHANGED;
    }
    i = KernelPerceptron_slot_for_another(self);
    if (i < 0) {
        KernelPerceptron_n_ignored[0] += 1;
        return status_UNCHANGED;
    }
    KernelPerceptron_put(self, i, x, y * weight);
    return status_CHANGED;
}

ESVM_STATIC double KernelPerceptron_class_weight(char *self, double y) {
    int slot = !KernelPerceptron_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (KernelPerceptron_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < KernelPerceptron_n_classes; other++) {
            n_classes += KernelPerceptron_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(KernelPerceptron_n_learned(self) + 1, (double)n_classes *
            (KernelPerceptron_n_per_class[slot] + 1));
}

ESVM_STATIC int KernelPerceptron_refuses_to_decide(char *self, const void *x) {
    return !(KernelPerceptron_self_kernel(self, x) <= expansion_MOST);
}

ESVM_STATIC double KernelPerceptron_project(char *self, const void *x) {
    double k[expansion_BLOCK];
    double f = 0.0;
    esvm_index i, n;
    esvm_index begin = 0;
    while (begin < KernelPerceptron_n_held[0]) {
        n = KernelPerceptron_n_held[0] - begin < (int64_t)expansion_BLOCK ?
                KernelPerceptron_n_held[0] - begin : (int64_t)expansion_BLOCK;
        KernelPerceptron_k_rows(self, x, KernelPerceptron_vector(self, begin), n, k);
        for (i = 0; i < n; i++) {
            f += KernelPerceptron_coef[begin + i] * k[i];
        }
        begin += n;
    }
    return f;
}

ESVM_STATIC status_Status KernelPerceptron_refuses(char *self, const void *x, double weight) {
    if (!(KernelPerceptron_self_kernel(self, x) <= expansion_MOST)) {
        return status_NOT_FINITE;
    }
    return expansion_LEAST_WEIGHT <= weight && weight <= expansion_MOST ? status_UNCHANGED :
            status_BAD_WEIGHT;
}

ESVM_STATIC int64_t KernelPerceptron_slot_for_another(char *self) {
    esvm_index i = KernelPerceptron_n_held[0];
    if (i < KernelPerceptron_capacity) {
        KernelPerceptron_n_held[0] = i + 1;
        return i;
    }
    if (KernelPerceptron_when_full == kernel_perceptron_IGNORE) {
        return -1;
    }
    if (KernelPerceptron_when_full == kernel_perceptron_REPLACE_RANDOM) {
        return rng_rng_below(KernelPerceptron_rng, KernelPerceptron_capacity);
    }
    i = KernelPerceptron_oldest[0];
    KernelPerceptron_oldest[0] = (i + 1) % KernelPerceptron_capacity;
    return i;
}

ESVM_STATIC void KernelPerceptron_put(char *self, int64_t i, const void *x, double coef) {
    memcpy(KernelPerceptron_vector(self, i), x, KernelPerceptron_row_bytes);
    KernelPerceptron_coef[i] = coef;
}

ESVM_STATIC double KernelPerceptron_self_kernel(char *self, const void *x) {
    double xx = KernelPerceptron_square_norm(self, x);
    if (!esvm_is_finite(xx)) {
        return xx;
    }
    return KernelPerceptron_kernel.kind == kernels_RBF ? 1.0 : KernelPerceptron_k(self, x, x);
}

ESVM_STATIC void KernelPerceptron_k_rows(char *self, const void *x, const void *rows, esvm_index n,
        double *out) {
    if (KernelPerceptron_sums_in_dtype(self)) {
        rows_lanes_kernel_values(&KernelPerceptron_kernel, x, rows, KernelPerceptron_n_features, n,
                out);
    } else {
        rows_any_kernel_values(&KernelPerceptron_kernel, x, rows, KernelPerceptron_n_features, n,
                out);
    }
}

ESVM_STATIC char *KernelPerceptron_vector(char *self, int64_t i) {
    return KernelPerceptron_vectors + i * KernelPerceptron_row_bytes;
}

ESVM_STATIC double KernelPerceptron_square_norm(char *self, const void *x) {
    (void)self;
    return linalg_any_dot(x, x, KernelPerceptron_n_features);
}

ESVM_STATIC double KernelPerceptron_k(char *self, const void *x, const void *z) {
    (void)self;
    return kernels_any_kernel_value(&KernelPerceptron_kernel, x, z, KernelPerceptron_n_features);
}

ESVM_STATIC int KernelPerceptron_sums_in_dtype(char *self) {
    (void)self;
    return 0;
}

#endif

#endif
