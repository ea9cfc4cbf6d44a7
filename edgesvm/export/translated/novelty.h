/* Translated from edgesvm/learners/novelty/_novelty.*: change that, then `make translate`. */

#ifndef EDGESVM_NOVELTY_H
#define EDGESVM_NOVELTY_H

#include "floor.h"
#include "logistic.h"

#define novelty_SETTLED 10
#define novelty_CALM 10
#define novelty_CLIP 8.0
#define novelty_FIRST_EXCESS 0.5
#define novelty_REACH 24.0
#define novelty_Z_ABOVE 1.2815515655446004
typedef struct {
    double mean;
    double variance;
    double level;
    double excess;
    double n_above;
    double shift;
    double held;
} novelty_Tail;
#define novelty_ALARMS_AFTER 1.0
#define novelty_ABOVE 0.1
#define novelty_DENSITY 0.17549833193248682
#define novelty_LEVEL_AFTER 20.0
#define novelty_EXCESS_AFTER 4.0

ESVM_STATIC double novelty_bent(double far);
ESVM_STATIC double novelty_cut(double far);

ESVM_STATIC double novelty_bent(double far) {
    if (fabs(far) <= novelty_CLIP) {
        return far;
    }
    return copysign(esvm_min(novelty_CLIP + logistic_log_(ESVM_DIVIDE(esvm_min(fabs(far), 1e300),
            novelty_CLIP)), novelty_REACH), far);
}

ESVM_STATIC double novelty_cut(double far) {
    return esvm_min(esvm_max(far, -novelty_CLIP), novelty_CLIP);
}

#endif
