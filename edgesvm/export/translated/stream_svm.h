/* Translated from edgesvm/learners/stream/_stream_svm.*: change that, then `make translate`. */

#ifndef EDGESVM_STREAM_SVM_H
#define EDGESVM_STREAM_SVM_H

#include "floor.h"
#include "ball.h"
#include "balls.h"
#include "core.h"
#include "lapses.h"
#include "linalg.h"
#include "status.h"

enum {
    stream_svm_MOST_NOTED = 8
};
enum {
    stream_svm_NOTED = 4, stream_svm_RECENT = 250
};

#ifdef StreamSVM_n_features

#define StreamSVM_common ((core_Common *)self)
#define StreamSVM_n_per_class ((int64_t *)(self + StreamSVM_AT_n_per_class))
#define StreamSVM_scores ((double *)ESVM_SCRATCH(StreamSVM_AT_scores))
#define StreamSVM_ball ((ball_Ball *)(self + StreamSVM_AT_R))
#define StreamSVM_w ((char *)(self + StreamSVM_AT_w))
#define StreamSVM_balls_m ((int64_t *)(self + StreamSVM_AT_n_held))
#define StreamSVM_balls_gram ((double *)(self + StreamSVM_AT_gram))
#define StreamSVM_balls_square ((double *)(self + StreamSVM_AT_square))
#define StreamSVM_balls_radius ((double *)(self + StreamSVM_AT_radius))
#define StreamSVM_balls_share ((double *)(self + StreamSVM_AT_share))
#define StreamSVM_balls_pull ((double *)(self + StreamSVM_AT_pull))
#define StreamSVM_centres ((char *)(self + StreamSVM_AT_centres))
#define StreamSVM_average ((char *)(self + StreamSVM_AT_average))
#define StreamSVM_n_averaged ((int64_t *)(self + StreamSVM_AT_n_averaged))
#define StreamSVM_lapses ((double *)(self + StreamSVM_AT_lapses))

ESVM_STATIC balls_Balls StreamSVM_balls_of(char *self) {
    balls_Balls made;
    (void)self;
    made.capacity = StreamSVM_balls_capacity;
    made.m = StreamSVM_HAS_n_held ? StreamSVM_balls_m : NULL;
    made.gram = StreamSVM_HAS_gram ? StreamSVM_balls_gram : NULL;
    made.square = StreamSVM_HAS_square ? StreamSVM_balls_square : NULL;
    made.radius = StreamSVM_HAS_radius ? StreamSVM_balls_radius : NULL;
    made.share = StreamSVM_HAS_share ? StreamSVM_balls_share : NULL;
    made.pull = StreamSVM_HAS_pull ? StreamSVM_balls_pull : NULL;
    return made;
}

ESVM_STATIC status_Status StreamSVM_learn_row(char *self, const void *x, int slot, double weight);
ESVM_STATIC status_Status StreamSVM_answer(char *self, const void *x, double *out);
ESVM_STATIC int StreamSVM_winner(char *self, const double *answers, double *score);
ESVM_STATIC int64_t StreamSVM_n_learned(char *self);
ESVM_STATIC status_Status StreamSVM_weighed_step(char *self, const void *x, double y,
        double weight);
ESVM_STATIC status_Status StreamSVM_decide(char *self, const void *x, double *value);
ESVM_STATIC status_Status StreamSVM_take(char *self, const esvm_real *x, esvm_real *w,
        const ball_Point *z);
ESVM_STATIC void StreamSVM_count(char *self, int slot, status_Status status);
ESVM_STATIC void StreamSVM_in_order(char *self, const double *scores, double *out);
ESVM_STATIC int StreamSVM_n_answers(char *self);
ESVM_STATIC int StreamSVM_slot_for(char *self, double value);
ESVM_STATIC status_Status StreamSVM_step(char *self, const void *x, double y, double weight);
ESVM_STATIC double StreamSVM_class_weight(char *self, double y);
ESVM_STATIC status_Status StreamSVM_decide_typed(char *self, const esvm_real *x,
        const esvm_real *w, double *value);
ESVM_STATIC void StreamSVM_take_mean(char *self, const esvm_real *w);
ESVM_STATIC status_Status StreamSVM_step_typed(char *self, const esvm_real *x, esvm_real *w,
        double y, double weight);
ESVM_STATIC status_Status StreamSVM_measure(char *self, const esvm_real *x, const esvm_real *w,
        double y, double weight, ball_Point *z);
ESVM_STATIC void StreamSVM_mix_mean(char *self, const esvm_real *x, double share_of_last,
        const ball_Point *z, double *value);
ESVM_STATIC double StreamSVM_share_of_last(char *self);
ESVM_STATIC double StreamSVM_pending(char *self);
ESVM_STATIC void StreamSVM_note_lapses(char *self, const esvm_real *x, const esvm_real *w,
        const ball_Point *z);
ESVM_STATIC int StreamSVM_inside(char *self, const esvm_real *x, const esvm_real *centres,
        ball_Point *z);
ESVM_STATIC void StreamSVM_hold(char *self, const esvm_real *x, esvm_real *centres,
        const ball_Point *z);
ESVM_STATIC void StreamSVM_enclose(char *self, esvm_real *centres, esvm_real *w);
ESVM_STATIC status_Status StreamSVM_place(char *self, esvm_real xw, esvm_real xx,
        const esvm_real *w, double y, double weight, ball_Point *z);
ESVM_STATIC double StreamSVM_product(char *self, const esvm_real *x, const esvm_real *centre,
        const ball_Point *z);
ESVM_STATIC double StreamSVM_pending_of(char *self, int64_t n_learned);
ESVM_STATIC void StreamSVM_note_answers(char *self, double last, double mean, int64_t n_learned);
ESVM_STATIC double StreamSVM_product_of(char *self, double xc, const esvm_real *centre,
        const ball_Point *z);
ESVM_STATIC void StreamSVM_merge_cheapest(char *self, esvm_real *centres);
ESVM_STATIC void StreamSVM_set_centre(char *self, const esvm_real *centres, esvm_real *w);
ESVM_STATIC void StreamSVM_collapse(char *self, esvm_real *centres, const esvm_real *w);

ESVM_STATIC status_Status StreamSVM_learn_row(char *self, const void *x, int slot, double weight) {
    status_Status status;
    if (!(esvm_is_finite(weight) && weight >= 0.0)) {
        return status_BAD_WEIGHT;
    }
    if (weight == 0.0) {
        StreamSVM_common->n_seen += 1;
        return status_UNCHANGED;
    }
    status = StreamSVM_weighed_step(self, x, !StreamSVM_HAS_scores ? 2 * slot - 1 : slot, weight);
    if (status > status_CHANGED) {
        return status;
    }
    StreamSVM_count(self, slot, status);
    return status;
}

ESVM_STATIC status_Status StreamSVM_answer(char *self, const void *x, double *out) {
    status_Status status;
    if (!StreamSVM_HAS_scores) {
        status = StreamSVM_decide(self, x, out);
        out[0] *= StreamSVM_labels_sign;
        return status;
    }
    status = StreamSVM_decide(self, x, StreamSVM_HAS_scores ? StreamSVM_scores : NULL);
    StreamSVM_in_order(self, StreamSVM_HAS_scores ? StreamSVM_scores : NULL, out);
    memset(StreamSVM_scores, 0, StreamSVM_n_classes * sizeof(double));
    return status;
}

ESVM_STATIC int StreamSVM_winner(char *self, const double *answers, double *score) {
    int i;
    int n = StreamSVM_n_answers(self);
    int best = 0;
    score[0] = answers[0];
    if (!StreamSVM_HAS_scores) {
        return StreamSVM_slot_for(self, answers[0]);
    }
    if (n == 1) {
        return StreamSVM_labels_order[StreamSVM_labels_n == 2 && answers[0] > 0.0];
    }
    for (i = 1; i < n; i++) {
        if (answers[i] > answers[best]) {
            best = i;
        }
    }
    score[0] = answers[best];
    return StreamSVM_labels_order[best];
}

ESVM_STATIC int64_t StreamSVM_n_learned(char *self) {
    int64_t total = StreamSVM_n_per_class[0] + StreamSVM_n_per_class[1];
    int slot;
    for (slot = 2; slot < StreamSVM_n_classes; slot++) {
        total += StreamSVM_n_per_class[slot];
    }
    return total;
}

ESVM_STATIC status_Status StreamSVM_weighed_step(char *self, const void *x, double y,
        double weight) {
    return StreamSVM_step(self, x, y, StreamSVM_balanced ? weight * StreamSVM_class_weight(self,
            y) : weight);
}

ESVM_STATIC status_Status StreamSVM_decide(char *self, const void *x, double *value) {
#if ESVM_IS_FLOAT32
    return StreamSVM_decide_typed(self, (const float *)x, (const float *)StreamSVM_w, value);
#else
    return StreamSVM_decide_typed(self, (const double *)x, (const double *)StreamSVM_w, value);
#endif
}

ESVM_STATIC status_Status StreamSVM_take(char *self, const esvm_real *x, esvm_real *w,
        const ball_Point *z) {
    double step = 1.0;
    if (StreamSVM_n_learned(self) == 0) {
        double t1_ = z->R + esvm_sqrt(esvm_max(z->off, 0.0));
        double t2_ = z->xi2;
        double t3_ = z->square;
        StreamSVM_ball->R = t1_;
        StreamSVM_ball->xi2 = t2_;
        StreamSVM_ball->q = t3_;
    } else {
        step = ball_move_towards(StreamSVM_ball, z, StreamSVM_lower);
        if (step == 0.0) {
            return status_UNCHANGED;
        }
    }
    StreamSVM_take_mean(self, w);
    ESVM_TYPED(linalg_axpby)((esvm_real)(step * z->scale), x, (esvm_real)(1.0 - step), w,
            StreamSVM_n_features);
    if (StreamSVM_intercept) {
        w[StreamSVM_n_features] = (esvm_real)((1.0 - step) * w[StreamSVM_n_features] + step *
                z->constant);
    }
    StreamSVM_ball->ww = ESVM_TYPED(linalg_dot)(w, w, StreamSVM_width);
    if (StreamSVM_lower) {
        StreamSVM_ball->R = ball_dual_radius(StreamSVM_ball);
    }
    return status_CHANGED;
}

ESVM_STATIC void StreamSVM_count(char *self, int slot, status_Status status) {
    StreamSVM_common->n_seen += 1;
    StreamSVM_common->n_updates += status == status_CHANGED;
    StreamSVM_n_per_class[slot] += 1;
}

ESVM_STATIC void StreamSVM_in_order(char *self, const double *scores, double *out) {
    (void)self;
    int i;
    int n = StreamSVM_labels_n;
    const signed char *order = StreamSVM_labels_order;
    if (n > 2) {
        for (i = 0; i < n; i++) {
            out[i] = scores[order[i]];
        }
    } else {
        out[0] = scores[order[n - 1]] - scores[order[0]];
    }
}

ESVM_STATIC int StreamSVM_n_answers(char *self) {
    (void)self;
    return !StreamSVM_HAS_scores || StreamSVM_labels_n <= 2 ? 1 : StreamSVM_labels_n;
}

ESVM_STATIC int StreamSVM_slot_for(char *self, double value) {
    if (StreamSVM_one_class) {
        return value > 0.0;
    }
    if (StreamSVM_n_per_class[0] == 0) {
        return 1;
    }
    if (StreamSVM_n_per_class[1] == 0) {
        return 0;
    }
    return (value > 0.0) ^ (StreamSVM_labels_sign < 0);
}

ESVM_STATIC status_Status StreamSVM_step(char *self, const void *x, double y, double weight) {
#if ESVM_IS_FLOAT32
    return StreamSVM_step_typed(self, (const float *)x, (float *)StreamSVM_w, y, weight);
#else
    return StreamSVM_step_typed(self, (const double *)x, (double *)StreamSVM_w, y, weight);
#endif
}

ESVM_STATIC double StreamSVM_class_weight(char *self, double y) {
    int slot = !StreamSVM_HAS_scores ? y > 0.0 : (int)y;
    int other;
    int n_classes = 2;
    if (StreamSVM_HAS_scores) {
        n_classes = 0;
        for (other = 0; other < StreamSVM_n_classes; other++) {
            n_classes += StreamSVM_n_per_class[other] > 0 || other == slot;
        }
    }
    return ESVM_DIVIDE(StreamSVM_n_learned(self) + 1, (double)n_classes *
            (StreamSVM_n_per_class[slot] + 1));
}

ESVM_STATIC status_Status StreamSVM_decide_typed(char *self, const esvm_real *x,
        const esvm_real *w, double *value) {
    ball_Point z = {0};
    status_Status status = StreamSVM_measure(self, x, w, 1.0, 1.0, &z);
    value[0] = z.wz;
    if (status <= status_CHANGED) {
        StreamSVM_mix_mean(self, x, StreamSVM_share_of_last(self), &z, value);
    }
    return status;
}

ESVM_STATIC void StreamSVM_take_mean(char *self, const esvm_real *w) {
    if (StreamSVM_HAS_average) {
        ESVM_TYPED(linalg_approach)((esvm_real)StreamSVM_pending(self), w,
                (esvm_real *)StreamSVM_average, StreamSVM_width);
        StreamSVM_n_averaged[0] = StreamSVM_n_learned(self);
    }
}

ESVM_STATIC status_Status StreamSVM_step_typed(char *self, const esvm_real *x, esvm_real *w,
        double y, double weight) {
    ball_Point z = {0};
    status_Status status;
    esvm_real *tested = w;
    if (StreamSVM_balls_capacity && !StreamSVM_lower) {
        tested = (esvm_real *)StreamSVM_centres;
    }
    status = StreamSVM_measure(self, x, tested, y, weight, &z);
    if (status > status_CHANGED) {
        return status;
    }
    if (StreamSVM_HAS_average && StreamSVM_n_learned(self) % stream_svm_NOTED == 0) {
        if (tested != w) {
            z.wx = ESVM_TYPED(linalg_dot)(x, w, StreamSVM_n_features);
        }
        StreamSVM_note_lapses(self, x, w, &z);
    }
    if (StreamSVM_balls_capacity == 0) {
        return StreamSVM_take(self, x, w, &z);
    }
    if (StreamSVM_inside(self, x, (esvm_real *)StreamSVM_centres, &z)) {
        return status_UNCHANGED;
    }
    StreamSVM_hold(self, x, (esvm_real *)StreamSVM_centres, &z);
    StreamSVM_enclose(self, (esvm_real *)StreamSVM_centres, w);
    return status_CHANGED;
}

ESVM_STATIC status_Status StreamSVM_measure(char *self, const esvm_real *x, const esvm_real *w,
        double y, double weight, ball_Point *z) {
    esvm_real xw, xx;
    ESVM_TYPED(linalg_dot_square)(x, w, StreamSVM_n_features, &xw, &xx);
    return StreamSVM_place(self, xw, xx, w, y, weight, z);
}

ESVM_STATIC void StreamSVM_mix_mean(char *self, const esvm_real *x, double share_of_last,
        const ball_Point *z, double *value) {
    if (share_of_last < 1.0) {
        value[0] += (1.0 - share_of_last) * (StreamSVM_product(self, x,
                (const esvm_real *)StreamSVM_average, z) - z->wz);
    }
}

ESVM_STATIC double StreamSVM_share_of_last(char *self) {
    if (StreamSVM_HAS_average && !lapses_mean_decides(StreamSVM_HAS_lapses ? StreamSVM_lapses :
            NULL)) {
        return 1.0;
    }
    return StreamSVM_pending(self);
}

ESVM_STATIC double StreamSVM_pending(char *self) {
    return !StreamSVM_HAS_average ? 1.0 : StreamSVM_pending_of(self, StreamSVM_n_learned(self));
}

ESVM_STATIC void StreamSVM_note_lapses(char *self, const esvm_real *x, const esvm_real *w,
        const ball_Point *z) {
    StreamSVM_note_answers(self, StreamSVM_product_of(self, z->wx, w, z), StreamSVM_product(self,
            x, (const esvm_real *)StreamSVM_average, z), StreamSVM_n_learned(self));
}

ESVM_STATIC int StreamSVM_inside(char *self, const esvm_real *x, const esvm_real *centres,
        ball_Point *z) {
    esvm_index i;
    double R;
    if (StreamSVM_balls_m[0] == 0) {
        return 0;
    }
    if (StreamSVM_lower) {
        return StreamSVM_ball->ww + StreamSVM_ball->xi2 - 2.0 * z->wz + z->square <=
                StreamSVM_ball->R * StreamSVM_ball->R;
    }
    esvm_index t1_ = StreamSVM_balls_m[0];
    for (i = 0; i < t1_; i++) {
        R = StreamSVM_balls_radius[i];
        if (R > 0.0) {
            if (i > 0) {
                z->wz = StreamSVM_product(self, x, centres + i * StreamSVM_width, z);
            }
            if (StreamSVM_balls_gram[i * (StreamSVM_balls_capacity + 1)] - 2.0 * z->wz +
                    z->square <= R * R) {
                return 1;
            }
        }
    }
    return 0;
}

ESVM_STATIC void StreamSVM_hold(char *self, const esvm_real *x, esvm_real *centres,
        const ball_Point *z) {
    balls_Balls balls_ = StreamSVM_balls_of(self);
    balls_Balls *balls = &balls_;
    esvm_index i;
    esvm_index m = balls->m[0];
    esvm_index n = balls->capacity;
    esvm_real *centre = centres + m * StreamSVM_width;
    for (i = 0; i < m; i++) {
        balls->gram[m * n + i] = StreamSVM_product(self, x, centres + i * StreamSVM_width, z);
        balls->gram[i * n + m] = balls->gram[m * n + i];
    }
    ESVM_TYPED(linalg_axpby)((esvm_real)z->scale, x, (esvm_real)0.0, centre, StreamSVM_n_features);
    if (StreamSVM_intercept) {
        centre[StreamSVM_n_features] = (esvm_real)z->constant;
    }
    balls->gram[m * n + m] = z->zz;
    balls->square[m] = z->square;
    balls->radius[m] = z->R;
    balls->share[m] = m == 0 ? 1.0 : 0.0;
    balls->m[0] = m + 1;
}

ESVM_STATIC void StreamSVM_enclose(char *self, esvm_real *centres, esvm_real *w) {
    balls_Balls balls_ = StreamSVM_balls_of(self);
    int full = StreamSVM_balls_m[0] == StreamSVM_balls_capacity;
    if (full && !StreamSVM_flush && !StreamSVM_lower) {
        if (StreamSVM_by_reach) {
            balls_solve(&balls_, 0);
        }
        StreamSVM_merge_cheapest(self, centres);
    }
    StreamSVM_ball->R = balls_solve(&balls_, StreamSVM_lower);
    StreamSVM_take_mean(self, w);
    StreamSVM_set_centre(self, centres, w);
    if (full && StreamSVM_flush) {
        StreamSVM_collapse(self, centres, w);
    } else if (full && StreamSVM_lower) {
        StreamSVM_merge_cheapest(self, centres);
    }
}

ESVM_STATIC status_Status StreamSVM_place(char *self, esvm_real xw, esvm_real xx,
        const esvm_real *w, double y, double weight, ball_Point *z) {
    (void)self;
    double norm_square;
    if (!esvm_is_finite(xx)) {
        return status_NOT_FINITE;
    }
    norm_square = xx;
    z->scale = y;
    z->wx = xw;
    if (StreamSVM_intercept) {
        xw += w[StreamSVM_n_features];
        norm_square += 1.0;
    }
    if (StreamSVM_normalize && norm_square > 0.0) {
        z->scale = ESVM_DIVIDE(y, esvm_sqrt(norm_square));
        norm_square = 1.0;
    }
    z->wz = z->scale * xw;
    z->constant = StreamSVM_intercept ? z->scale : 0.0;
    z->square = norm_square + 1.0 / StreamSVM_C;
    z->xi2 = StreamSVM_paper_slack ? ESVM_DIVIDE(1.0, weight) : ESVM_DIVIDE(1.0, StreamSVM_C *
            weight);
    z->zz = norm_square + z->xi2;
    z->off = StreamSVM_paper_slack ? 0.0 : z->square - z->zz;
    z->R = 0.0;
    return ball_check_point(z);
}

ESVM_STATIC double StreamSVM_product(char *self, const esvm_real *x, const esvm_real *centre,
        const ball_Point *z) {
    return StreamSVM_product_of(self, ESVM_TYPED(linalg_dot)(x, centre, StreamSVM_n_features),
            centre, z);
}

ESVM_STATIC double StreamSVM_pending_of(char *self, int64_t n_learned) {
    double n = (double)n_learned;
    double s = (double)StreamSVM_n_averaged[0];
    return n > s ? ESVM_DIVIDE((n - s) * (n + s + 1.0), n * (n + 1.0)) : 0.0;
}

ESVM_STATIC void StreamSVM_note_answers(char *self, double last, double mean, int64_t n_learned) {
    double n = stream_svm_RECENT < n_learned / stream_svm_NOTED + 1 ? stream_svm_RECENT :
            n_learned / stream_svm_NOTED + 1;
    mean += StreamSVM_pending_of(self, n_learned) * (last - mean);
    lapses_note_lapse(StreamSVM_HAS_lapses ? StreamSVM_lapses : NULL, lapses_LAST, last <= 0.0, n);
    lapses_note_lapse(StreamSVM_HAS_lapses ? StreamSVM_lapses : NULL, lapses_MEAN, mean <= 0.0, n);
}

ESVM_STATIC double StreamSVM_product_of(char *self, double xc, const esvm_real *centre,
        const ball_Point *z) {
    (void)self;
    double value = z->scale * xc;
    if (StreamSVM_intercept) {
        value += z->constant * centre[StreamSVM_n_features];
    }
    return value;
}

ESVM_STATIC void StreamSVM_merge_cheapest(char *self, esvm_real *centres) {
    balls_Balls balls_ = StreamSVM_balls_of(self);
    int64_t i, j;
    esvm_index last;
    double t;
    balls_cheapest_pair(&balls_, StreamSVM_lower, StreamSVM_by_reach, &i, &j);
    t = balls_join_pair(&balls_, i, j, StreamSVM_lower);
    ESVM_TYPED(linalg_axpby)((esvm_real)t, centres + j * StreamSVM_width, (esvm_real)(1.0 - t),
            centres + i * StreamSVM_width, StreamSVM_width);
    last = StreamSVM_balls_m[0] - 1;
    if (j != last) {
        memcpy(centres + j * StreamSVM_width, centres + last * StreamSVM_width, StreamSVM_width *
                sizeof(esvm_real));
    }
    balls_forget(&balls_, j);
}

ESVM_STATIC void StreamSVM_set_centre(char *self, const esvm_real *centres, esvm_real *w) {
    balls_Balls balls_ = StreamSVM_balls_of(self);
    esvm_index i;
    double cc = balls_centre_square(&balls_);
    memset(w, 0, StreamSVM_width * sizeof(esvm_real));
    StreamSVM_ball->q = 0.0;
    esvm_index t1_ = StreamSVM_balls_m[0];
    for (i = 0; i < t1_; i++) {
        StreamSVM_ball->q += StreamSVM_balls_share[i] * StreamSVM_balls_square[i];
        if (StreamSVM_balls_share[i] > 0.0) {
            ESVM_TYPED(linalg_axpby)((esvm_real)StreamSVM_balls_share[i], centres + i *
                    StreamSVM_width, (esvm_real)1.0, w, StreamSVM_width);
        }
    }
    StreamSVM_ball->ww = ESVM_TYPED(linalg_dot)(w, w, StreamSVM_width);
    StreamSVM_ball->xi2 = esvm_max(cc - StreamSVM_ball->ww, 0.0);
}

ESVM_STATIC void StreamSVM_collapse(char *self, esvm_real *centres, const esvm_real *w) {
    double cc = StreamSVM_ball->ww + StreamSVM_ball->xi2;
    memcpy(centres, w, StreamSVM_width * sizeof(esvm_real));
    StreamSVM_balls_m[0] = 1;
    StreamSVM_balls_gram[0] = cc;
    StreamSVM_balls_square[0] = StreamSVM_lower ? StreamSVM_ball->q : cc;
    StreamSVM_balls_radius[0] = StreamSVM_lower ? 0.0 : StreamSVM_ball->R;
    StreamSVM_balls_share[0] = 1.0;
}

#endif

#endif
