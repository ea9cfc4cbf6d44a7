/* ByteSVM behind the functions that every learner has: byte.h, which is the host's own source, and what
 * contract/core.pyx and _byte_svm.pyx put around it. Integers, but for what all models share: decision values, and
 * weights other than 1, which need a double of 64 bits; ESVM_INTEGERS and ESVM_DECIDES leave them out. */
#ifndef EDGESVM_BYTE_SVM_H
#define EDGESVM_BYTE_SVM_H

#define BYTE_MOST_VECTORS ByteSVM_n_vectors
#ifdef __AVR__ /* 2 KiB of RAM: less stack, and less code too */
#pragma GCC optimize("no-inline-functions-called-once", "no-inline-small-functions")
#endif
#include <float.h>

#define BYTE_TEXT(text) "!"
#include "byte.h"
#include "esvm.h"
#include "types.h"

#if DBL_MANT_DIG == 53 && !defined(ESVM_INTEGERS)
#include "core.h"
#include "status.h"
typedef status_Status ByteSVM_Status;
#else
typedef esvm_status ByteSVM_Status;
#endif

typedef struct {
    int64_t n_seen, n_updates;
} ByteSVM_Common;

static const byte_shape ByteSVM_shape = ByteSVM_SHAPE;
#define ByteSVM_ONE ((uint64_t)1023 << 52) /* the bits of 1.0 */
#define ByteSVM_MINUS_ZERO ((uint64_t)1 << 63)
#define ByteSVM_common ((ByteSVM_Common *)self)
#define ByteSVM_model (self + ByteSVM_AT_model)
#define ByteSVM_n_per_class ((int64_t *)(self + ByteSVM_AT_counts))
#define ByteSVM_z ((int8_t *)ESVM_SCRATCH(ByteSVM_AT_coded))

/* -- learning ------------------------------------------------------------------------------------ */

ESVM_STATIC int64_t ByteSVM_n_learned(char *self) {
    int64_t total = 0;
    int slot;
    for (slot = 0; slot < ByteSVM_n_classes; slot++) total += ByteSVM_n_per_class[slot];
    return total;
}

/* Classes with a sample, this one's among them; of two, both */
ESVM_STATIC int ByteSVM_n_seen_with(char *self, int slot) {
    int other, n = 0;
    if (!ByteSVM_several) return 2;
    for (other = 0; other < ByteSVM_n_classes; other++) n += ByteSVM_n_per_class[other] > 0 || other == slot;
    return n;
}

/* A step by a weight beside the mean of the last ones, Q8 */
ESVM_STATIC ByteSVM_Status ByteSVM_step(char *self, const void *x, int slot, int32_t relative) {
    int64_t n = ByteSVM_n_learned(self) + 1;
    if (!byte_all_finite(&ByteSVM_shape, (const float *)x)) return (ByteSVM_Status)ESVM_NOT_FINITE;
    byte_learn(
        &ByteSVM_shape, ByteSVM_model, (const float *)x, ByteSVM_z, slot, relative,
        (uint32_t)(n < 0x7FFFFFFF ? n : 0x7FFFFFFF), ByteSVM_n_per_class);
    return (ByteSVM_Status)ESVM_CHANGED;
}

ESVM_STATIC void ByteSVM_count(char *self, int slot) {
    ByteSVM_common->n_seen++;
    ByteSVM_common->n_updates++;
    ByteSVM_n_per_class[slot]++;
}

/* The bits of the weights' mean, a double; 0 before there is one. Where none is kept: 1.0 */
ESVM_STATIC uint64_t ByteSVM_mean_bits(char *self) {
    uint64_t bits = ByteSVM_ONE;
    if (ByteSVM_HAS_mean_weight) memcpy(&bits, self + ByteSVM_AT_mean_weight, 8);
    return bits == ByteSVM_MINUS_ZERO ? 0 : bits;
}

/* The weight 1 as Q8: n / (K n_k) if classes are balanced, of two as near the even one */
ESVM_STATIC int32_t ByteSVM_share(char *self, int slot) {
    uint64_t n = (uint64_t)(ByteSVM_n_learned(self) + 1) << 8, part, share;
    if (!ByteSVM_balanced || !ByteSVM_mean_bits(self)) return 256;
    part = (uint64_t)ByteSVM_n_seen_with(self, slot) * (uint64_t)(ByteSVM_n_per_class[slot] + 1);
    share = n / part;
    n = n % part * 2;
    share += n > part || (n == part && share & 1);
    return share < 1 ? 1 : share > 65536 ? 65536 : (int32_t)share;
}

#if DBL_MANT_DIG == 53 && !defined(ESVM_INTEGERS) && !defined(ESVM_DECIDES)
#define ByteSVM_mean_weight ((double *)(self + ByteSVM_AT_mean_weight))

ESVM_STATIC double ByteSVM_capped(char *self, double weight) {
    double most = ByteSVM_HAS_mean_weight ? core_MOST_TIMES * ByteSVM_mean_weight[0] : 0.0;
    return most == 0.0 || weight <= most ? weight : most;
}

ESVM_STATIC void ByteSVM_note_weight(char *self, double weight) {
    double *mean = ByteSVM_mean_weight;
    int64_t n = ByteSVM_n_learned(self) + 1;
    if (mean[0] == 0.0) mean[0] = weight;
    else mean[0] += ESVM_DIVIDE(weight - mean[0], (double)(n < core_RECENT_WEIGHTS ? n : core_RECENT_WEIGHTS));
}

/* `y`: the slot, or of two classes its side, as contract/core.pyx has it */
ESVM_STATIC ByteSVM_Status ByteSVM_weighed_step(char *self, const void *x, double y, double weight) {
    int slot = ByteSVM_several ? (int)y : y > 0.0;
    if (ByteSVM_balanced)
        weight *= ESVM_DIVIDE(
            (double)(ByteSVM_n_learned(self) + 1),
            (double)ByteSVM_n_seen_with(self, slot) * (double)(ByteSVM_n_per_class[slot] + 1));
    if (ByteSVM_HAS_mean_weight)
        weight = ByteSVM_mean_weight[0] > 0.0 ? ESVM_DIVIDE(weight, ByteSVM_mean_weight[0]) : 1.0;
    weight = esvm_rint(256.0 * weight);
    return ByteSVM_step(self, x, slot, weight < 1.0 ? 1 : weight > 65536.0 ? 65536 : (int32_t)weight);
}

ESVM_STATIC ByteSVM_Status ByteSVM_learn_weighed(char *self, const void *x, int slot, double weight) {
    ByteSVM_Status status;
    if (!(core_LEAST_WEIGHT <= weight && weight <= core_LARGEST_WEIGHT)) return (ByteSVM_Status)ESVM_BAD_WEIGHT;
    weight = ByteSVM_capped(self, weight);
    status = ByteSVM_weighed_step(self, x, ByteSVM_several ? slot : 2 * slot - 1, weight);
    if (status > (ByteSVM_Status)ESVM_CHANGED) return status;
    if (ByteSVM_HAS_mean_weight && weight != ByteSVM_mean_weight[0]) ByteSVM_note_weight(self, weight);
    ByteSVM_count(self, slot);
    return status;
}
#else
ESVM_STATIC ByteSVM_Status ByteSVM_learn_weighed(char *self, const void *x, int slot, double weight) {
    (void)self, (void)x, (void)slot, (void)weight;
    return (ByteSVM_Status)ESVM_BAD_WEIGHT;
}
#endif

/* Of weight 1; in integers as long as all others had it too */
ESVM_STATIC ByteSVM_Status ByteSVM_learn_one(char *self, const void *x, int slot) {
    ByteSVM_Status status;
    uint64_t mean = ByteSVM_mean_bits(self), one = ByteSVM_ONE;
    if (mean && mean != one) return ByteSVM_learn_weighed(self, x, slot, 1.0);
    status = ByteSVM_step(self, x, slot, ByteSVM_share(self, slot));
    if (status > (ByteSVM_Status)ESVM_CHANGED) return status;
    if (!mean) memcpy(self + ByteSVM_AT_mean_weight, &one, 8);
    ByteSVM_count(self, slot);
    return status;
}

ESVM_STATIC ByteSVM_Status ByteSVM_learn_row(char *self, const void *x, int slot, double weight) {
    if (weight == 1.0) return ByteSVM_learn_one(self, x, slot);
    if (weight != 0.0) return ByteSVM_learn_weighed(self, x, slot, weight);
    ByteSVM_common->n_seen++;
    return (ByteSVM_Status)ESVM_UNCHANGED;
}

/* -- deciding ------------------------------------------------------------------------------------ */

/* Give classes without a sample a score below all others. */
ESVM_STATIC void ByteSVM_put_last(char *self, int32_t *score) {
    int32_t least = 0;
    int slot, any_yet = 0;
    for (slot = 0; slot < ByteSVM_n_classes; slot++)
        if (ByteSVM_n_per_class[slot] && (!any_yet || score[slot] < least)) {
            least = score[slot];
            any_yet = 1;
        }
    for (slot = 0; slot < ByteSVM_n_classes; slot++)
        if (!ByteSVM_n_per_class[slot]) score[slot] = least - (least > 2048 ? least : least < -2048 ? -least : 2048);
}

/* By slot, Q11; of two classes one score, unless several are counted */
ESVM_STATIC ByteSVM_Status ByteSVM_find_scores(char *self, const void *x, int32_t *score) {
    int v;
    if (!byte_all_finite(&ByteSVM_shape, (const float *)x)) return (ByteSVM_Status)ESVM_NOT_FINITE;
    byte_decide(&ByteSVM_shape, ByteSVM_model, (const float *)x, ByteSVM_z, score);
    if (ByteSVM_several && ByteSVM_n_vectors == 1) { /* half of it for each class */
        score[1] = score[0];
        score[0] = -score[0];
    } else {
        for (v = 0; v < ByteSVM_n_vectors; v++) score[v] *= 2;
    }
    if (ByteSVM_several) ByteSVM_put_last(self, score);
    return (ByteSVM_Status)ESVM_UNCHANGED;
}

#define ByteSVM_AS_VALUE(score) ((double)(score) / 2048)

/* For what is around it */
ESVM_STATIC ByteSVM_Status ByteSVM_decide(char *self, const void *x, double *score) {
    int32_t found[ByteSVM_n_classes];
    ByteSVM_Status status = ByteSVM_find_scores(self, x, found);
    int v;
    if (status <= (ByteSVM_Status)ESVM_CHANGED)
        for (v = 0; v < (ByteSVM_several ? ByteSVM_n_classes : 1); v++) score[v] = ByteSVM_AS_VALUE(found[v]);
    return status;
}

ESVM_STATIC ByteSVM_Status ByteSVM_answer(char *self, const void *x, double *out) {
    int32_t score[ByteSVM_n_classes];
    ByteSVM_Status status = ByteSVM_find_scores(self, x, score);
    const signed char *order = ByteSVM_labels_order;
    int i;
    if (status > (ByteSVM_Status)ESVM_CHANGED) return status;
    if (!ByteSVM_several) {
        out[0] = ByteSVM_AS_VALUE(score[0]) * ByteSVM_labels_sign;
    } else if (ByteSVM_labels_n > 2) {
        for (i = 0; i < ByteSVM_labels_n; i++) out[i] = ByteSVM_AS_VALUE(score[order[i]]);
    } else { /* -0 where the host has it */
        out[0] = ByteSVM_AS_VALUE(score[1] - score[0]) * ByteSVM_labels_sign;
    }
    return status;
}

/* A stage asks for these of what is behind it; only others have them. */
ESVM_STATIC ByteSVM_Status ByteSVM_probabilities(char *self, const void *x, double *out) {
    (void)self, (void)x, (void)out;
    return (ByteSVM_Status)ESVM_UNCHANGED;
}

ESVM_STATIC ByteSVM_Status ByteSVM_forecast(char *self, const void *x, double *out) {
    return ByteSVM_probabilities(self, x, out);
}

/* The slot, from answers; its decision value into `score` */
ESVM_STATIC int ByteSVM_winner(char *self, const double *answers, double *score) {
    int i, best = 0;
    score[0] = answers[0];
    if (!ByteSVM_several) {
        if (ByteSVM_n_per_class[0] == 0) return 1;
        if (ByteSVM_n_per_class[1] == 0) return 0;
        return (answers[0] > 0.0) ^ (ByteSVM_labels_sign < 0);
    }
    if (ByteSVM_labels_n <= 2) return ByteSVM_labels_order[ByteSVM_labels_n == 2 && answers[0] > 0.0];
    for (i = 1; i < ByteSVM_labels_n; i++)
        if (answers[i] > answers[best]) best = i;
    score[0] = answers[best];
    return ByteSVM_labels_order[best];
}

/* -- the model as a whole -------------------------------------------------------------------------- */

ESVM_STATIC void ByteSVM_draw(char *self) { byte_reset(&ByteSVM_shape, ByteSVM_model); }

ESVM_STATIC const char *ByteSVM_fault(char *self) {
    int64_t learned = 0;
    int slot;
    if (byte_head_of(ByteSVM_model)->n_classes != ByteSVM_n_classes) return "!";
    for (slot = 0; slot < ByteSVM_n_classes; slot++) {
        if (ByteSVM_n_per_class[slot] < 0 || ByteSVM_n_per_class[slot] > ByteSVM_common->n_seen - learned) return "!";
        learned += ByteSVM_n_per_class[slot];
        if (slot >= ByteSVM_labels_n && ByteSVM_n_per_class[slot]) return "!";
    }
    if (ByteSVM_common->n_updates > learned) return "!";
    if (ByteSVM_mean_bits(self) >> 63) return "!"; /* it is negative */
    return byte_fault(&ByteSVM_shape, ByteSVM_model) ? "!" : 0;
}

#endif
