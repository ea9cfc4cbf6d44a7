/* Translated from edgesvm/learners/papers/online/_forgetron.*: change that, then `make translate`. */

#ifndef EDGESVM_FORGETRON_H
#define EDGESVM_FORGETRON_H

#include "floor.h"
#include "core.h"
#include "expansion.h"
#include "kernels.h"
#include "linalg.h"
#include "rows.h"
#include "status.h"

#define forgetron_FORGETRON_SHARE 0.46875
#define forgetron_SHARE forgetron_FORGETRON_SHARE

ESVM_STATIC double forgetron_largest_phi(double sigma, double mu, double room);
ESVM_STATIC double forgetron_psi(double sigma, double mu);

ESVM_STATIC double forgetron_largest_phi(double sigma, double mu, double room) {
    double a;
    if (forgetron_psi(sigma, mu) <= room) {
        return 1.0;
    }
    a = sigma * sigma - 2.0 * sigma * mu;
    return ESVM_DIVIDE(room, sigma + esvm_sqrt(esvm_max(sigma * sigma + a * room, 0.0)));
}

ESVM_STATIC double forgetron_psi(double sigma, double mu) {
    return sigma * sigma + 2.0 * sigma * (1.0 - mu);
}

#ifdef Forgetron_n_features

#define Forgetron_common ((core_Common *)self)
#define Forgetron_n_per_class ((int64_t *)(self + Forgetron_AT_n_per_class))
#define Forgetron_scores ((double *)ESVM_SCRATCH(Forgetron_AT_scores))
#define Forgetron_n_held ((int64_t *)(self + Forgetron_AT_n_held))
#define Forgetron_coef ((double *)(self + Forgetron_AT_coef))
#define Forgetron_vectors ((char *)(self + Forgetron_AT_vectors))
#define Forgetron_Q ((double *)(self + Forgetron_AT_Q))
#define Forgetron_oldest ((int64_t *)(self + Forgetron_AT_oldest))

static const kernels_Kernel Forgetron_kernel = Forgetron_KERNEL;

ESVM_STATIC status_Status Forgetron_learn_row(char *self, const void *x, int slot, double weight);
ESVM_STATIC status_Status Forgetron_answer(char *self, const void *x, double *out);
ESVM_STATIC int Forgetron_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t Forgetron_n_learned(char *self);
ESVM_STATIC status_Status Forgetron_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status Forgetron_decide(char *self, const void *x, double *value);
ESVM_STATIC void Forgetron_count(char *self, int slot, status_Status status);
ESVM_STATIC void Forgetron_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int Forgetron_n_answers(char *self);
ESVM_STATIC int Forgetron_slot_for(char *self, double value);
ESVM_STATIC status_Status Forgetron_step(char *self, const void *x, double y, double weight);
ESVM_STATIC double Forgetron_class_weight(char *self, double y);
ESVM_STATIC int Forgetron_refuses_to_decide(char *self, const void *x);
ESVM_STATIC double Forgetron_project(char *self, const void *x);
ESVM_STATIC status_Status Forgetron_refuses(char *self, const void *x, double weight);
ESVM_STATIC void Forgetron_put(char *self, int64_t i, const void *x, double coef);
ESVM_STATIC void Forgetron_replace_oldest(char *self, const void *x, double coef);
ESVM_STATIC double Forgetron_self_kernel(char *self, const void *x);
ESVM_STATIC void Forgetron_k_rows(char *self, const void *x, const void *rows, esvm_index n,
        double *out);
ESVM_STATIC char *Forgetron_vector(char *self, int64_t i);
ESVM_STATIC double Forgetron_square_norm(char *self, const void *x);
ESVM_STATIC double Forgetron_k(char *self, const void *x, const void *z);
ESVM_STATIC int Forgetron_sums_in_dtype(char *self);

ESVM_STATIC status_Status Forgetron_learn_row(char *self, const void *x, int slot, double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        Forgetron_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = Forgetron_weighed_step(self, x, !Forgetron_HAS_scores ? 2 * slot - 1 : slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    Forgetron_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status Forgetron_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!Forgetron_HAS_scores) {
        status = Forgetron_decide(self, x, out);
        out[0] *= Forgetron_labels_sign;
        return status;
    }
    status = Forgetron_decide(self, x, Forgetron_HAS_scores ? Forgetron_scores : NULL);
    Forgetron_in_order(self, Forgetron_HAS_scores ? Forgetron_scores : NULL, out);
    memset(Forgetron_scores, 0, Forgetron_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int Forgetron_winner(char *self, const double *answers, double *score) {
    int i;
    int n = Forgetron_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!Forgetron_HAS_scores) {
        return Forgetron_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return Forgetron_labels_order[Forgetron_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return Forgetron_labels_order[best];
}

ESVM_STATIC int64_t Forgetron_n_learned(char *self) {
    int64_t total = Forgetron_n_per_class[0] + Forgetron_n_per_class[1];
    int slot;
    for (slot = 2; slot < Forgetron_n_classes; slot++) {
        total += Forgetron_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status Forgetron_weighed_step(char *self, const void *x, double y,
        double weight) {
    return Forgetron_step(self, x, y, Forgetron_balanced ? weight * Forgetron_class_weight(self,
            y) : weight);
}

ESVM_STATIC status_Status Forgetron_decide(char *self, const void *x, double *value) {
    value[0] = 0.0;
    if (Forgetron_refuses_to_decide(self, x)) {
        return status_NOT_FINITE;
    }
    value[0] = Forgetron_project(self, x);
    return -expansion_MOST * expansion_MOST <= value[0] && value[0] <= expansion_MOST *
            expansion_MOST ? status_UNCHANGED : status_NOT_FINITE;
}

ESVM_STATIC void Forgetron_count(char *self, int slot, status_Status status) {
    Forgetron_common->n_seen += 1;
    Forgetron_common->n_updates += status == status_CHANGED;
    Forgetron_n_per_class[slot] += 1;
}

ESVM_STATIC void Forgetron_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = Forgetron_labels_n;
    const signed char *order = Forgetron_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int Forgetron_n_answers(char *self) {
    (void)self;
    return !Forgetron_HAS_scores || Forgetron_labels_n <= 2 ? 1 : Forgetron_labels_n;
}

ESVM_STATIC int Forgetron_slot_for(char *self, double value) {
    if (Forgetron_one_class) {
        return value > 0.0;
    }
    if (Forgetron_n_per_class[0] == 0) {
        return 1;
    }
    if (Forgetron_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (Forgetron_labels_sign < 0);
}

ESVM_STATIC status_Status Forgetron_step(char *self, const void *x, double y, double weight) {
    status_Status status = Forgetron_refuses(self, x, weight);
    if (status > status_CHANGED) {
        return status;
    }
    if (y * Forgetron_project(self, x) > 0.0) {
        return status_UNCHANGED;
    }
    if (Forgetron_n_held[0] < Forgetron_capacity) {
        Forgetron_put(self, Forgetron_n_held[0], x, y * weight);
        Forgetron_n_held[0] += 1;
    } else {
        Forgetron_replace_oldest(self, x, y * weight);
    }
    return status_CHANGED;
}

ESVM_STATIC double Forgetron_class_weight(char *self, double y) {
    int slot = !Forgetron_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (Forgetron_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < Forgetron_n_classes; other++) {
            n_classes += Forgetron_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(Forgetron_n_learned(self) + 1, (double)n_classes *
            (Forgetron_n_per_class[slot] + 1));
}

ESVM_STATIC int Forgetron_refuses_to_decide(char *self, const void *x) {
    return !(Forgetron_self_kernel(self, x) <= expansion_MOST);
}

ESVM_STATIC double Forgetron_project(char *self, const void *x) {
    double k[expansion_BLOCK];
    double f = 0.0;
    esvm_index i, n;
    esvm_index begin = 0;
    while (begin < Forgetron_n_held[0]) {
        n = Forgetron_n_held[0] - begin < (int64_t)expansion_BLOCK ? Forgetron_n_held[0] - begin :
                (int64_t)expansion_BLOCK;
        Forgetron_k_rows(self, x, Forgetron_vector(self, begin), n, k);
        for (i = 0; i < n; i++) {
            f += Forgetron_coef[begin + i] * k[i];
        }
        begin += n;
    }
    return f;
}

ESVM_STATIC status_Status Forgetron_refuses(char *self, const void *x, double weight) {
    if (!(Forgetron_self_kernel(self, x) <= expansion_MOST)) {
        return status_NOT_FINITE;
    }
    return expansion_LEAST_WEIGHT <= weight && weight <= expansion_MOST ? status_UNCHANGED :
            status_BAD_WEIGHT;
}

ESVM_STATIC void Forgetron_put(char *self, int64_t i, const void *x, double coef) {
    memcpy(Forgetron_vector(self, i), x, Forgetron_row_bytes);
    Forgetron_coef[i] = coef;
}

ESVM_STATIC void Forgetron_replace_oldest(char *self, const void *x, double coef) {
    esvm_index i;
    esvm_index r = Forgetron_oldest[0];
    char *x_r = Forgetron_vector(self, r);
    double k_rx, f_r, sigma, y_r, phi;
    Forgetron_k_rows(self, x, x_r, 1, &k_rx);
    f_r = Forgetron_project(self, x_r) + coef * k_rx;
    y_r = Forgetron_coef[r] > 0.0 ? 1.0 : -1.0;
    sigma = y_r * Forgetron_coef[r];
    phi = forgetron_largest_phi(sigma, y_r * f_r, forgetron_SHARE * (Forgetron_common->n_updates +
            1) - Forgetron_Q[0]);
    Forgetron_Q[0] += forgetron_psi(phi * sigma, phi * y_r * f_r);
    for (i = 0; i < Forgetron_capacity; i++) {
        Forgetron_coef[i] *= phi;
    }
    Forgetron_put(self, r, x, phi * coef);
    Forgetron_oldest[0] = (r + 1) % Forgetron_capacity;
}

ESVM_STATIC double Forgetron_self_kernel(char *self, const void *x) {
    double xx = Forgetron_square_norm(self, x);
    if (!esvm_is_finite(xx)) {
        return xx;
    }
    return Forgetron_kernel.kind == kernels_RBF ? 1.0 : Forgetron_k(self, x, x);
}

ESVM_STATIC void Forgetron_k_rows(char *self, const void *x, const void *rows, esvm_index n,
        double *out) {
    if (Forgetron_sums_in_dtype(self)) {
        rows_lanes_kernel_values(&Forgetron_kernel, x, rows, Forgetron_n_features, n, out);
    } else {
        rows_any_kernel_values(&Forgetron_kernel, x, rows, Forgetron_n_features, n, out);
    }
}

ESVM_STATIC char *Forgetron_vector(char *self, int64_t i) {
    return Forgetron_vectors + i * Forgetron_row_bytes;
}

ESVM_STATIC double Forgetron_square_norm(char *self, const void *x) {
    (void)self;
    return linalg_any_dot(x, x, Forgetron_n_features);
}

ESVM_STATIC double Forgetron_k(char *self, const void *x, const void *z) {
    (void)self;
    return kernels_any_kernel_value(&Forgetron_kernel, x, z, Forgetron_n_features);
}

ESVM_STATIC int Forgetron_sums_in_dtype(char *self) {
    (void)self;
    return 0;
}

#endif

#endif
