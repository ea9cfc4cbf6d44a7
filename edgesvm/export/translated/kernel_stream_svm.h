/* Translated from edgesvm/learners/stream/_kernel_stream_svm.*: change that, then `make translate`. */

#ifndef EDGESVM_KERNEL_STREAM_SVM_H
#define EDGESVM_KERNEL_STREAM_SVM_H

#include "floor.h"
#include "ball.h"
#include "core.h"
#include "kernels.h"
#include "linalg.h"
#include "normal_matrix.h"
#include "rows.h"
#include "status.h"

enum {
    kernel_stream_svm_CHUNK = 128, kernel_stream_svm_BLOCK = 64
};
#define kernel_stream_svm_LARGEST_NORM 1e+100
#define kernel_stream_svm_LARGEST_PENALTY 1e+100
#define kernel_stream_svm_RIDGE 1e-06
#define kernel_stream_svm_LEAST_NORM 1e-150

#ifdef KernelStreamSVM_n_features

#define KernelStreamSVM_common ((core_Common *)self)
#define KernelStreamSVM_n_per_class ((int64_t *)(self + KernelStreamSVM_AT_n_per_class))
#define KernelStreamSVM_scores ((double *)ESVM_SCRATCH(KernelStreamSVM_AT_scores))
#define KernelStreamSVM_ball ((ball_Ball *)(self + KernelStreamSVM_AT_R))
#define KernelStreamSVM_n_held ((int64_t *)(self + KernelStreamSVM_AT_n_held))
#define KernelStreamSVM_vectors ((char *)(self + KernelStreamSVM_AT_vectors))
#define KernelStreamSVM_share ((double *)(self + KernelStreamSVM_AT_share))
#define KernelStreamSVM_sign ((double *)(self + KernelStreamSVM_AT_sign))
#define KernelStreamSVM_row ((double *)(self + KernelStreamSVM_AT_row))
#define KernelStreamSVM_weight ((double *)(self + KernelStreamSVM_AT_weight))
#define KernelStreamSVM_gain ((double *)(self + KernelStreamSVM_AT_gain))
#define KernelStreamSVM_L ((double *)(self + KernelStreamSVM_AT_L))
#define KernelStreamSVM_norm ((double *)(self + KernelStreamSVM_AT_norm))
#define KernelStreamSVM_own ((double *)(self + KernelStreamSVM_AT_own))

static const kernels_Kernel KernelStreamSVM_kernel = KernelStreamSVM_KERNEL;

ESVM_STATIC status_Status KernelStreamSVM_learn_row(char *self, const void *x, int slot,
        double weight);
ESVM_STATIC status_Status KernelStreamSVM_answer(char *self, const void *x, double *out);
ESVM_STATIC int KernelStreamSVM_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t KernelStreamSVM_n_learned(char *self);
ESVM_STATIC status_Status KernelStreamSVM_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status KernelStreamSVM_decide(char *self, const void *x, double *value);
ESVM_STATIC void KernelStreamSVM_count(char *self, int slot, status_Status status);
ESVM_STATIC void KernelStreamSVM_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int KernelStreamSVM_n_answers(char *self);
ESVM_STATIC int KernelStreamSVM_slot_for(char *self, double value);
ESVM_STATIC status_Status KernelStreamSVM_step(char *self, const void *x, double y, double weight);
ESVM_STATIC double KernelStreamSVM_class_weight(char *self, double y);
ESVM_STATIC double KernelStreamSVM_project(char *self, const void *x, double *row);
ESVM_STATIC int KernelStreamSVM_refuses_to_decide(char *self, const void *x);
ESVM_STATIC int KernelStreamSVM_at_newton(char *self);
ESVM_STATIC status_Status KernelStreamSVM_refine(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status KernelStreamSVM_enclose(char *self, const void *x, double y,
        double weight);
ESVM_STATIC void KernelStreamSVM_k_rows(char *self, const void *x, const void *rows, esvm_index n,
        double *out);
ESVM_STATIC double KernelStreamSVM_self_kernel(char *self, const void *x);
ESVM_STATIC int KernelStreamSVM_is_first_of_its_sign(char *self, double y);
ESVM_STATIC void KernelStreamSVM_replace_newest(char *self, const void *x, double y, double weight);
ESVM_STATIC status_Status KernelStreamSVM_newton_step(char *self, double y, double weight);
ESVM_STATIC void KernelStreamSVM_append(char *self, const void *x, double y, double step);
ESVM_STATIC void KernelStreamSVM_drop_one(char *self);
ESVM_STATIC void KernelStreamSVM_start(char *self);
ESVM_STATIC int KernelStreamSVM_sums_in_dtype(char *self);
ESVM_STATIC double KernelStreamSVM_square_norm(char *self, const void *x);
ESVM_STATIC double KernelStreamSVM_k(char *self, const void *x, const void *z);
ESVM_STATIC double KernelStreamSVM_distance_square(char *self, esvm_index i, esvm_index j,
        double k_ij);

ESVM_STATIC status_Status KernelStreamSVM_learn_row(char *self, const void *x, int slot,
        double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        KernelStreamSVM_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = KernelStreamSVM_weighed_step(self, x, !KernelStreamSVM_HAS_scores ? 2 * slot - 1 :
            slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    KernelStreamSVM_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status KernelStreamSVM_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!KernelStreamSVM_HAS_scores) {
        status = KernelStreamSVM_decide(self, x, out);
        out[0] *= KernelStreamSVM_labels_sign;
        return status;
    }
    status = KernelStreamSVM_decide(self, x, KernelStreamSVM_HAS_scores ? KernelStreamSVM_scores :
            NULL);
    KernelStreamSVM_in_order(self, KernelStreamSVM_HAS_scores ? KernelStreamSVM_scores : NULL, out);
    memset(KernelStreamSVM_scores, 0, KernelStreamSVM_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int KernelStreamSVM_winner(char *self, const double *answers, double *score) {
    int i;
    int n = KernelStreamSVM_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!KernelStreamSVM_HAS_scores) {
        return KernelStreamSVM_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return KernelStreamSVM_labels_order[KernelStreamSVM_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return KernelStreamSVM_labels_order[best];
}

ESVM_STATIC int64_t KernelStreamSVM_n_learned(char *self) {
    int64_t total = KernelStreamSVM_n_per_class[0] + KernelStreamSVM_n_per_class[1];
    int slot;
    for (slot = 2; slot < KernelStreamSVM_n_classes; slot++) {
        total += KernelStreamSVM_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status KernelStreamSVM_weighed_step(char *self, const void *x, double y,
        double weight) {
    return KernelStreamSVM_step(self, x, y, KernelStreamSVM_balanced ? weight *
            KernelStreamSVM_class_weight(self, y) : weight);
}

ESVM_STATIC status_Status KernelStreamSVM_decide(char *self, const void *x, double *value) {
    value[0] = KernelStreamSVM_project(self, x, NULL);
    if (KernelStreamSVM_refuses_to_decide(self, x) || !esvm_is_finite(value[0])) {
        return status_NOT_FINITE;
    }
    return status_UNCHANGED;
}

ESVM_STATIC void KernelStreamSVM_count(char *self, int slot, status_Status status) {
    KernelStreamSVM_common->n_seen += 1;
    KernelStreamSVM_common->n_updates += status == status_CHANGED;
    KernelStreamSVM_n_per_class[slot] += 1;
}

ESVM_STATIC void KernelStreamSVM_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = KernelStreamSVM_labels_n;
    const signed char *order = KernelStreamSVM_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int KernelStreamSVM_n_answers(char *self) {
    (void)self;
    return !KernelStreamSVM_HAS_scores || KernelStreamSVM_labels_n <= 2 ? 1 :
            KernelStreamSVM_labels_n;
}

ESVM_STATIC int KernelStreamSVM_slot_for(char *self, double value) {
    if (KernelStreamSVM_one_class) {
        return value > 0.0;
    }
    if (KernelStreamSVM_n_per_class[0] == 0) {
        return 1;
    }
    if (KernelStreamSVM_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (KernelStreamSVM_labels_sign < 0);
}

ESVM_STATIC status_Status KernelStreamSVM_step(char *self, const void *x, double y, double weight) {
    if (KernelStreamSVM_at_newton(self)) {
        return KernelStreamSVM_refine(self, x, y, weight);
    }
    return KernelStreamSVM_enclose(self, x, y, weight);
}

ESVM_STATIC double KernelStreamSVM_class_weight(char *self, double y) {
    int slot = !KernelStreamSVM_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (KernelStreamSVM_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < KernelStreamSVM_n_classes; other++) {
            n_classes += KernelStreamSVM_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(KernelStreamSVM_n_learned(self) + 1, (double)n_classes *
            (KernelStreamSVM_n_per_class[slot] + 1));
}

ESVM_STATIC double KernelStreamSVM_project(char *self, const void *x, double *row) {
    double k[kernel_stream_svm_CHUNK];
    double *values = k;
    esvm_index i, count;
    esvm_index begin = 0;
    double f = 0.0;
    while (begin < KernelStreamSVM_n_held[0]) {
        count = (int64_t)kernel_stream_svm_CHUNK < KernelStreamSVM_n_held[0] - begin ?
                (int64_t)kernel_stream_svm_CHUNK : KernelStreamSVM_n_held[0] - begin;
        if (row != NULL) {
            values = row + begin;
        }
        KernelStreamSVM_k_rows(self, x, KernelStreamSVM_vectors + begin *
                KernelStreamSVM_row_bytes, count, values);
        for (i = 0; i < count; i++) {
            f += KernelStreamSVM_share[begin + i] * KernelStreamSVM_sign[begin + i] * values[i];
        }
        begin += count;
    }
    return f;
}

ESVM_STATIC int KernelStreamSVM_refuses_to_decide(char *self, const void *x) {
    return ball_too_large(KernelStreamSVM_self_kernel(self, x));
}

ESVM_STATIC int KernelStreamSVM_at_newton(char *self) {
    return KernelStreamSVM_newton && KernelStreamSVM_n_held[0] == KernelStreamSVM_slots;
}

ESVM_STATIC status_Status KernelStreamSVM_refine(char *self, const void *x, double y,
        double weight) {
    if (!(KernelStreamSVM_self_kernel(self, x) <= kernel_stream_svm_LARGEST_NORM)) {
        return status_NOT_FINITE;
    }
    if (ball_too_large(ESVM_DIVIDE(1.0, KernelStreamSVM_C * weight))) {
        return status_BAD_WEIGHT;
    }
    if (KernelStreamSVM_is_first_of_its_sign(self, y)) {
        KernelStreamSVM_replace_newest(self, x, y, weight);
        return status_CHANGED;
    }
    KernelStreamSVM_k_rows(self, x, KernelStreamSVM_vectors, KernelStreamSVM_slots,
            KernelStreamSVM_row);
    return KernelStreamSVM_newton_step(self, y, weight);
}

ESVM_STATIC status_Status KernelStreamSVM_enclose(char *self, const void *x, double y,
        double weight) {
    ball_Ball *ball = KernelStreamSVM_ball;
    ball_Point z = {0};
    double step = 1.0;
    double f = KernelStreamSVM_project(self, x, NULL);
    double k_xx = KernelStreamSVM_self_kernel(self, x);
    status_Status status;
    z.wz = y * f;
    z.square = k_xx + 1.0 / KernelStreamSVM_C;
    z.xi2 = ESVM_DIVIDE(1.0, KernelStreamSVM_C * weight);
    z.zz = k_xx + z.xi2;
    z.off = z.square - z.zz;
    z.R = 0.0;
    status = ball_check_point(&z);
    if (status > status_CHANGED) {
        return status;
    }
    if (KernelStreamSVM_newton && k_xx > kernel_stream_svm_LARGEST_NORM) {
        return status_NOT_FINITE;
    }
    if (KernelStreamSVM_n_held[0] == 0) {
        double t1_ = esvm_sqrt(esvm_max(z.off, 0.0));
        double t2_ = z.xi2;
        double t3_ = z.square;
        ball->R = t1_;
        ball->xi2 = t2_;
        ball->q = t3_;
    } else {
        step = ball_move_towards(ball, &z, KernelStreamSVM_lower);
        if (step == 0.0) {
            return status_UNCHANGED;
        }
    }
    ball->ww = esvm_max((1 - step) * (1 - step) * ball->ww + 2 * step * (1 - step) * z.wz + step *
            step * k_xx, 0.0);
    KernelStreamSVM_append(self, x, y, step);
    if (KernelStreamSVM_newton) {
        KernelStreamSVM_weight[KernelStreamSVM_n_held[0] - 1] = weight;
    } else {
        double t4_ = k_xx;
        double t5_ = z.xi2;
        KernelStreamSVM_norm[KernelStreamSVM_n_held[0] - 1] = t4_;
        KernelStreamSVM_own[KernelStreamSVM_n_held[0] - 1] = t5_;
        if (KernelStreamSVM_n_held[0] == KernelStreamSVM_slots) {
            KernelStreamSVM_drop_one(self);
        }
    }
    if (KernelStreamSVM_lower) {
        ball->R = ball_dual_radius(ball);
    }
    if (KernelStreamSVM_at_newton(self)) {
        KernelStreamSVM_start(self);
    }
    return status_CHANGED;
}

ESVM_STATIC void KernelStreamSVM_k_rows(char *self, const void *x, const void *rows, esvm_index n,
        double *out) {
    if (KernelStreamSVM_sums_in_dtype(self)) {
        rows_lanes_kernel_values(&KernelStreamSVM_kernel, x, rows, KernelStreamSVM_n_features, n,
                out);
    } else {
        rows_any_kernel_values(&KernelStreamSVM_kernel, x, rows, KernelStreamSVM_n_features, n,
                out);
    }
}

ESVM_STATIC double KernelStreamSVM_self_kernel(char *self, const void *x) {
    double xx = KernelStreamSVM_square_norm(self, x);
    if (!esvm_is_finite(xx)) {
        return xx;
    }
    return KernelStreamSVM_kernel.kind == kernels_RBF ? 1.0 : KernelStreamSVM_k(self, x, x);
}

ESVM_STATIC int KernelStreamSVM_is_first_of_its_sign(char *self, double y) {
    esvm_index j;
    for (j = 0; j < KernelStreamSVM_slots; j++) {
        if (KernelStreamSVM_sign[j] == y) {
            return 0;
        }
    }
    return 1;
}

ESVM_STATIC void KernelStreamSVM_replace_newest(char *self, const void *x, double y,
        double weight) {
    esvm_index last = KernelStreamSVM_slots - 1;
    memcpy(KernelStreamSVM_vectors + last * KernelStreamSVM_row_bytes, x,
            KernelStreamSVM_row_bytes);
    KernelStreamSVM_sign[last] = y;
    KernelStreamSVM_weight[last] = weight;
    KernelStreamSVM_start(self);
}

ESVM_STATIC status_Status KernelStreamSVM_newton_step(char *self, double y, double weight) {
    esvm_index j;
    double penalty = esvm_min(KernelStreamSVM_C * weight, kernel_stream_svm_LARGEST_PENALTY);
    double f = 0.0;
    double scale;
    for (j = 0; j < KernelStreamSVM_slots; j++) {
        f += KernelStreamSVM_share[j] * KernelStreamSVM_sign[j] * KernelStreamSVM_row[j];
    }
    if (!(y * f < 1.0)) {
        return status_UNCHANGED;
    }
    scale = esvm_sqrt(penalty);
    for (j = 0; j < KernelStreamSVM_slots; j++) {
        KernelStreamSVM_gain[j] = scale * KernelStreamSVM_row[j];
    }
    normal_matrix_add_product(KernelStreamSVM_HAS_L ? KernelStreamSVM_L : NULL,
            KernelStreamSVM_HAS_gain ? KernelStreamSVM_gain : NULL, KernelStreamSVM_slots);
    normal_matrix_solve(KernelStreamSVM_HAS_L ? KernelStreamSVM_L : NULL, KernelStreamSVM_row,
            KernelStreamSVM_slots);
    for (j = 0; j < KernelStreamSVM_slots; j++) {
        KernelStreamSVM_share[j] += penalty * (1.0 - y * f) * y * KernelStreamSVM_sign[j] *
                KernelStreamSVM_row[j];
    }
    return status_CHANGED;
}

ESVM_STATIC void KernelStreamSVM_append(char *self, const void *x, double y, double step) {
    esvm_index i;
    esvm_index m = KernelStreamSVM_n_held[0];
    for (i = 0; i < m; i++) {
        KernelStreamSVM_share[i] *= 1.0 - step;
    }
    memcpy(KernelStreamSVM_vectors + m * KernelStreamSVM_row_bytes, x, KernelStreamSVM_row_bytes);
    KernelStreamSVM_share[m] = step;
    KernelStreamSVM_sign[m] = y;
    KernelStreamSVM_n_held[0] = m + 1;
}

ESVM_STATIC void KernelStreamSVM_drop_one(char *self) {
    ball_Ball *ball = KernelStreamSVM_ball;
    esvm_index k;
    esvm_index i = 0;
    esvm_index j = 0;
    esvm_index last = KernelStreamSVM_n_held[0] - 1;
    double f_i, f_j, d2, a;
    double apart = ESVM_INFINITY;
    for (k = 1; k < last; k++) {
        if (ball_clearly_less(KernelStreamSVM_share[k], KernelStreamSVM_share[i])) {
            i = k;
        }
    }
    f_i = KernelStreamSVM_project(self, KernelStreamSVM_vectors + i * KernelStreamSVM_row_bytes,
            KernelStreamSVM_row);
    for (k = 0; k < last + 1; k++) {
        d2 = KernelStreamSVM_distance_square(self, i, k, KernelStreamSVM_row[k]) +
                KernelStreamSVM_own[i] + KernelStreamSVM_own[k];
        if (k != i && ball_clearly_less(d2, apart)) {
            apart = d2;
            j = k;
        }
    }
    d2 = KernelStreamSVM_distance_square(self, i, j, KernelStreamSVM_row[j]);
    f_j = KernelStreamSVM_project(self, KernelStreamSVM_vectors + j * KernelStreamSVM_row_bytes,
            NULL);
    a = KernelStreamSVM_share[i];
    ball->ww = esvm_max(ball->ww + 2.0 * a * (KernelStreamSVM_sign[j] * f_j -
            KernelStreamSVM_sign[i] * f_i) + a * a * d2, 0.0);
    ball->xi2 = esvm_max(ball->xi2 + a * a * (KernelStreamSVM_own[j] - KernelStreamSVM_own[i]) +
            2.0 * a * KernelStreamSVM_share[j] * KernelStreamSVM_own[j], 0.0);
    ball->q = esvm_max(ball->q + a * (KernelStreamSVM_norm[j] - KernelStreamSVM_norm[i]), 0.0);
    if (!KernelStreamSVM_lower) {
        ball->R += a * esvm_sqrt(apart);
    }
    KernelStreamSVM_share[j] += a;
    if (i != last) {
        memcpy(KernelStreamSVM_vectors + i * KernelStreamSVM_row_bytes, KernelStreamSVM_vectors +
                last * KernelStreamSVM_row_bytes, KernelStreamSVM_row_bytes);
        double t1_ = KernelStreamSVM_share[last];
        double t2_ = KernelStreamSVM_sign[last];
        KernelStreamSVM_share[i] = t1_;
        KernelStreamSVM_sign[i] = t2_;
        double t3_ = KernelStreamSVM_norm[last];
        double t4_ = KernelStreamSVM_own[last];
        KernelStreamSVM_norm[i] = t3_;
        KernelStreamSVM_own[i] = t4_;
    }
    KernelStreamSVM_n_held[0] = last;
}

ESVM_STATIC void KernelStreamSVM_start(char *self) {
    esvm_index j;
    double *col;
    char *z;
    for (j = 0; j < KernelStreamSVM_slots; j++) {
        col = KernelStreamSVM_L + normal_matrix_column(j, KernelStreamSVM_slots);
        z = KernelStreamSVM_vectors + j * KernelStreamSVM_row_bytes;
        KernelStreamSVM_k_rows(self, z, z, KernelStreamSVM_slots - j, col);
        col[0] = col[0] > kernel_stream_svm_LEAST_NORM ? col[0] * (1.0 + kernel_stream_svm_RIDGE) :
                1.0;
        KernelStreamSVM_share[j] = 0.0;
    }
    normal_matrix_factorise(KernelStreamSVM_HAS_L ? KernelStreamSVM_L : NULL,
            KernelStreamSVM_slots);
    for (j = 0; j < KernelStreamSVM_slots; j++) {
        KernelStreamSVM_k_rows(self, KernelStreamSVM_vectors + j * KernelStreamSVM_row_bytes,
                KernelStreamSVM_vectors, KernelStreamSVM_slots, KernelStreamSVM_row);
        KernelStreamSVM_newton_step(self, KernelStreamSVM_sign[j], KernelStreamSVM_weight[j]);
    }
}

ESVM_STATIC int KernelStreamSVM_sums_in_dtype(char *self) {
    return !KernelStreamSVM_at_newton(self);
}

ESVM_STATIC double KernelStreamSVM_square_norm(char *self, const void *x) {
    (void)self;
    return linalg_any_dot(x, x, KernelStreamSVM_n_features);
}

ESVM_STATIC double KernelStreamSVM_k(char *self, const void *x, const void *z) {
    (void)self;
    return kernels_any_kernel_value(&KernelStreamSVM_kernel, x, z, KernelStreamSVM_n_features);
}

ESVM_STATIC double KernelStreamSVM_distance_square(char *self, esvm_index i, esvm_index j,
        double k_ij) {
    return esvm_max(KernelStreamSVM_norm[i] + KernelStreamSVM_norm[j] - 2.0 *
            KernelStreamSVM_sign[i] * KernelStreamSVM_sign[j] * k_ij, 0.0);
}

#endif

#endif
