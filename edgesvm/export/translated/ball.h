/* Translated from edgesvm/learners/stream/_ball.*: change that, then `make translate`. */

#ifndef EDGESVM_BALL_H
#define EDGESVM_BALL_H

#include "floor.h"
#include "status.h"

typedef struct {
    double scale;
    double constant;
    double wx;
    double wz;
    double zz;
    double square;
    double off;
    double xi2;
    double R;
} ball_Point;
typedef struct {
    double R;
    double xi2;
    double ww;
    double q;
} ball_Ball;
#define ball_LEVEL 1e-09
#define ball_MAX_SQUARE 1e+300

ESVM_STATIC double ball_move_towards(ball_Ball *ball, const ball_Point *z, int lower);
ESVM_STATIC double ball_dual_radius(const ball_Ball *ball);
ESVM_STATIC status_Status ball_check_point(const ball_Point *z);
ESVM_STATIC int ball_clearly_less(double a, double b);
ESVM_STATIC int ball_too_large(double square);

ESVM_STATIC double ball_move_towards(ball_Ball *ball, const ball_Point *z, int lower) {
    double cc = ball->ww + ball->xi2;
    double d, step, gain, left;
    double d2 = cc - 2.0 * z->wz + z->square;
    if (lower) {
        if (d2 <= ball->R * ball->R) {
            return 0.0;
        }
        gain = 0.5 * (d2 - ball->R * ball->R);
        step = esvm_min(ESVM_DIVIDE(gain, esvm_max(cc - 2.0 * z->wz + z->zz, gain)), 1.0);
    } else {
        if (z->R == 0.0 && d2 <= ball->R * ball->R) {
            return 0.0;
        }
        d = esvm_sqrt(esvm_max(d2, 0.0));
        if (d + z->R <= ball->R) {
            return 0.0;
        }
        if (d + ball->R <= z->R) {
            step = 1.0;
            ball->R = z->R;
        } else {
            step = 0.5 * (1.0 - ESVM_DIVIDE(ball->R - z->R, d));
            if (z->off == 0.0) {
                ball->R = 0.5 * (ball->R + z->R + d);
            } else {
                d = esvm_sqrt(esvm_max(d2 - z->off, 0.0));
                left = (1.0 - step) * d;
                ball->R = esvm_max(ball->R + step * d, esvm_sqrt(esvm_max(left * left + z->off,
                        0.0)));
            }
        }
    }
    ball->q += step * (z->square - ball->q);
    ball->xi2 = (1.0 - step) * (1.0 - step) * ball->xi2 + step * step * z->xi2;
    return step;
}

ESVM_STATIC double ball_dual_radius(const ball_Ball *ball) {
    return esvm_sqrt(esvm_max(ball->q - ball->ww - ball->xi2, 0.0));
}

ESVM_STATIC status_Status ball_check_point(const ball_Point *z) {
    if (ball_too_large(z->square) || !esvm_is_finite(z->wz)) {
        return status_NOT_FINITE;
    }
    return ball_too_large(z->xi2) ? status_BAD_WEIGHT : status_UNCHANGED;
}

ESVM_STATIC int ball_clearly_less(double a, double b) {
    return a < b * (1.0 - ball_LEVEL);
}

ESVM_STATIC int ball_too_large(double square) {
    return !(square <= ball_MAX_SQUARE);
}

#endif
