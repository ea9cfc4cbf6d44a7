/* Translated from edgesvm/learners/stream/_balls.*: change that, then `make translate`. */

#ifndef EDGESVM_BALLS_H
#define EDGESVM_BALLS_H

#include "floor.h"
#include "ball.h"

typedef struct {
    int64_t capacity;
    int64_t *m;
    double *gram;
    double *square;
    double *radius;
    double *share;
    double *pull;
} balls_Balls;
#define balls_LOWER_STEPS 16
#define balls_UPPER_STEPS 1000
#define balls_LOWER_TOLERANCE 0.1
#define balls_UPPER_TOLERANCE 0.0001
#define balls_AT_POINT 1e-12
#define balls_LEVEL 1e-09

ESVM_STATIC double balls_solve(const balls_Balls *balls, int lower);
ESVM_STATIC double balls_centre_square(const balls_Balls *balls);
ESVM_STATIC double balls_share_pull(const balls_Balls *balls);
ESVM_STATIC double balls_reach(const balls_Balls *balls, esvm_index i, double cc, int lower);
ESVM_STATIC double balls_step_length(const balls_Balls *balls, esvm_index i, esvm_index j,
        double far, double near, double cc, int lower);
ESVM_STATIC double balls_gram(const balls_Balls *balls, int64_t i, int64_t j);
ESVM_STATIC double balls_radius(const balls_Balls *balls, int lower);
ESVM_STATIC void balls_cheapest_pair(const balls_Balls *balls, int lower, int by_reach,
        int64_t *first, int64_t *second);
ESVM_STATIC double balls_join_pair(balls_Balls *balls, int64_t i, int64_t j, int lower);
ESVM_STATIC void balls_forget(balls_Balls *balls, int64_t j);
ESVM_STATIC double balls_distance_square(const balls_Balls *balls, int64_t i, int64_t j);
ESVM_STATIC double balls_joint_reach(const balls_Balls *balls, esvm_index i, esvm_index j,
        double cc);
ESVM_STATIC double balls_joint_radius(double d, double R_i, double R_j);
ESVM_STATIC double balls_way(double d, double R_i, double R_j);
ESVM_STATIC double balls_between(const balls_Balls *balls, int64_t i, int64_t j, double t);

ESVM_STATIC double balls_solve(const balls_Balls *balls, int lower) {
    esvm_index i, j, k;
    int step;
    int steps = lower ? balls_LOWER_STEPS : balls_UPPER_STEPS;
    double cc, far, near, value, slack;
    for (step = 0; step < steps; step++) {
        cc = step % 64 == 0 ? balls_centre_square(balls) : balls_share_pull(balls);
        far = 0.0;
        near = ESVM_INFINITY;
        i = 0;
        j = 0;
        esvm_index t1_ = balls->m[0];
        for (k = 0; k < t1_; k++) {
            value = balls_reach(balls, k, cc, lower);
            if (ball_clearly_less(far, value)) {
                far = value;
                i = k;
            }
            if (balls->share[k] > 0.0 && ball_clearly_less(value, near)) {
                near = value;
                j = k;
            }
        }
        slack = lower ? balls_LOWER_TOLERANCE * cc : balls_UPPER_TOLERANCE * far;
        if (lower && step == 0) {
            slack = 0.0;
        }
        if (far - near <= slack) {
            break;
        }
        value = balls_step_length(balls, i, j, far, near, cc, lower);
        if (!(value > 0.0)) {
            break;
        }
        balls->share[i] += value;
        balls->share[j] = value == balls->share[j] ? 0.0 : balls->share[j] - value;
        esvm_index t2_ = balls->m[0];
        for (k = 0; k < t2_; k++) {
            balls->pull[k] += value * (balls_gram(balls, k, i) - balls_gram(balls, k, j));
        }
    }
    return balls_radius(balls, lower);
}

ESVM_STATIC double balls_centre_square(const balls_Balls *balls) {
    esvm_index i, j;
    double cc = 0.0;
    esvm_index t1_ = balls->m[0];
    for (i = 0; i < t1_; i++) {
        balls->pull[i] = 0.0;
        esvm_index t2_ = balls->m[0];
        for (j = 0; j < t2_; j++) {
            balls->pull[i] += balls_gram(balls, i, j) * balls->share[j];
        }
        cc += balls->share[i] * balls->pull[i];
    }
    return cc;
}

ESVM_STATIC double balls_share_pull(const balls_Balls *balls) {
    esvm_index k;
    double cc = 0.0;
    esvm_index t1_ = balls->m[0];
    for (k = 0; k < t1_; k++) {
        cc += balls->share[k] * balls->pull[k];
    }
    return cc;
}

ESVM_STATIC double balls_reach(const balls_Balls *balls, esvm_index i, double cc, int lower) {
    double d2 = esvm_max(cc - 2.0 * balls->pull[i] + balls->square[i], 0.0);
    return lower ? d2 : esvm_sqrt(d2) + balls->radius[i];
}

ESVM_STATIC double balls_step_length(const balls_Balls *balls, esvm_index i, esvm_index j,
        double far, double near, double cc, int lower) {
    (void)cc;
    double apart, slope_i, slope_j, slope;
    double moved = balls->pull[i] - balls->pull[j];
    apart = balls_gram(balls, i, i) + balls_gram(balls, j, j) - 2.0 * balls_gram(balls, i, j);
    if (lower) {
        slope = 2.0 * apart;
    } else {
        slope_i = ESVM_DIVIDE(moved - balls_gram(balls, i, i) + balls_gram(balls, i, j), far -
                balls->radius[i]);
        slope_j = esvm_sqrt(esvm_max(apart, 0.0));
        if (near - balls->radius[j] > balls_AT_POINT * far) {
            slope_j = ESVM_DIVIDE(moved - balls_gram(balls, i, j) + balls_gram(balls, j, j), near -
                    balls->radius[j]);
        }
        slope = slope_j - slope_i;
    }
    return !(slope * balls->share[j] > far - near) ? balls->share[j] : ESVM_DIVIDE(far - near,
            slope);
}

ESVM_STATIC double balls_gram(const balls_Balls *balls, int64_t i, int64_t j) {
    return balls->gram[i * balls->capacity + j];
}

ESVM_STATIC double balls_radius(const balls_Balls *balls, int lower) {
    esvm_index k;
    double cc = balls_centre_square(balls);
    double result = lower ? -cc : 0.0;
    esvm_index t1_ = balls->m[0];
    for (k = 0; k < t1_; k++) {
        if (lower) {
            result += balls->share[k] * balls->square[k];
        } else {
            result = esvm_max(result, balls_reach(balls, k, cc, 0));
        }
    }
    return lower ? esvm_sqrt(esvm_max(result, 0.0)) : result;
}

ESVM_STATIC void balls_cheapest_pair(const balls_Balls *balls, int lower, int by_reach,
        int64_t *first, int64_t *second) {
    esvm_index i, j;
    double cost, share;
    double least = ESVM_INFINITY;
    double cc = by_reach ? balls_centre_square(balls) : 0.0;
    first[0] = 0;
    second[0] = 1;
    esvm_index t1_ = balls->m[0];
    for (i = 0; i < t1_; i++) {
        esvm_index t2_ = balls->m[0];
        for (j = i + 1; j < t2_; j++) {
            if (lower) {
                share = balls->share[i] + balls->share[j];
                cost = share > 0.0 ? ESVM_DIVIDE(balls->share[i] * balls->share[j], share) : 0.0;
                cost *= balls_distance_square(balls, i, j);
            } else if (by_reach) {
                cost = balls_joint_reach(balls, i, j, cc);
            } else {
                cost = balls_joint_radius(esvm_sqrt(balls_distance_square(balls, i, j)),
                        balls->radius[i], balls->radius[j]);
            }
            if (ball_clearly_less(cost, least)) {
                least = cost;
                first[0] = i;
                second[0] = j;
            }
        }
    }
}

ESVM_STATIC double balls_join_pair(balls_Balls *balls, int64_t i, int64_t j, int lower) {
    esvm_index k;
    double t, square, value;
    double d = esvm_sqrt(balls_distance_square(balls, i, j));
    double share = balls->share[i] + balls->share[j];
    double R_i = balls->radius[i];
    double R_j = balls->radius[j];
    if (lower) {
        t = share > 0.0 ? ESVM_DIVIDE(balls->share[j], share) : 0.0;
        balls->square[i] += t * (balls->square[j] - balls->square[i]);
    } else {
        t = balls_way(d, R_i, R_j);
    }
    if (!lower && (0.0 < t && t < 1.0)) {
        balls->radius[i] = esvm_max(esvm_sqrt(esvm_max(t * t * d * d + balls->square[i] -
                balls_gram(balls, i, i), 0.0)) + R_i, esvm_sqrt(esvm_max((1 - t) * (1 - t) * d *
                d + balls->square[j] - balls_gram(balls, j, j), 0.0)) + R_j);
    }
    if (t == 1.0 && !lower) {
        balls->radius[i] = R_j;
    }
    square = balls_between(balls, i, j, t);
    esvm_index t1_ = balls->m[0];
    for (k = 0; k < t1_; k++) {
        value = (1 - t) * balls_gram(balls, i, k) + t * balls_gram(balls, j, k);
        balls->gram[i * balls->capacity + k] = value;
        balls->gram[k * balls->capacity + i] = value;
    }
    balls->gram[i * balls->capacity + i] = square;
    balls->share[i] = share;
    if (!lower) {
        balls->square[i] = square;
    }
    return t;
}

ESVM_STATIC void balls_forget(balls_Balls *balls, int64_t j) {
    esvm_index k;
    esvm_index last = balls->m[0] - 1;
    esvm_index n = balls->capacity;
    esvm_index t1_ = balls->m[0];
    for (k = 0; k < t1_; k++) {
        balls->gram[j * n + k] = balls->gram[last * n + k];
    }
    esvm_index t2_ = balls->m[0];
    for (k = 0; k < t2_; k++) {
        balls->gram[k * n + j] = balls->gram[k * n + last];
    }
    balls->gram[j * n + j] = balls->gram[last * n + last];
    balls->square[j] = balls->square[last];
    balls->radius[j] = balls->radius[last];
    balls->share[j] = balls->share[last];
    balls->m[0] = last;
}

ESVM_STATIC double balls_distance_square(const balls_Balls *balls, int64_t i, int64_t j) {
    return esvm_max(balls_gram(balls, i, i) + balls_gram(balls, j, j) - 2.0 * balls_gram(balls, i,
            j), 0.0);
}

ESVM_STATIC double balls_joint_reach(const balls_Balls *balls, esvm_index i, esvm_index j,
        double cc) {
    double d = esvm_sqrt(balls_distance_square(balls, i, j));
    double t = balls_way(d, balls->radius[i], balls->radius[j]);
    double d2 = cc - 2.0 * ((1.0 - t) * balls->pull[i] + t * balls->pull[j]);
    d2 += balls_between(balls, i, j, t);
    if (d2 <= balls_LEVEL * cc) {
        d2 = 0.0;
    }
    return esvm_sqrt(d2) + balls_joint_radius(d, balls->radius[i], balls->radius[j]);
}

ESVM_STATIC double balls_joint_radius(double d, double R_i, double R_j) {
    return esvm_max(0.5 * (d + R_i + R_j), esvm_max(R_i, R_j));
}

ESVM_STATIC double balls_way(double d, double R_i, double R_j) {
    if (d + R_j <= R_i) {
        return 0.0;
    }
    return d + R_i <= R_j ? 1.0 : 0.5 * (1.0 - ESVM_DIVIDE(R_i - R_j, d));
}

ESVM_STATIC double balls_between(const balls_Balls *balls, int64_t i, int64_t j, double t) {
    return (1 - t) * (1 - t) * balls_gram(balls, i, i) + 2 * t * (1 - t) * balls_gram(balls, i,
            j) + t * t * balls_gram(balls, j, j);
}

#endif
