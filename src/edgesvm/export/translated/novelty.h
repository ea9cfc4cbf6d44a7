/* Translated from src/edgesvm/learners/novelty/_novelty.*: change that, then `make translate`. */

#ifndef EDGESVM_NOVELTY_H
#define EDGESVM_NOVELTY_H

#include "floor.h"

#define novelty_SETTLED 10
#define novelty_CLIP 8.0
#define novelty_FIRST_EXCESS 0.5
typedef struct {
    double mean;
    double variance;
    double level;
    double excess;
    double n_above;
    double shift;
} novelty_Tail;
#define novelty_ALARMS_AFTER 1.0
#define novelty_ABOVE 0.1
#define novelty_DENSITY 0.17549833193248682
#define novelty_LEVEL_AFTER 20.0
#define novelty_EXCESS_AFTER 4.0
#define novelty_Z_ABOVE 1.2815515655446004

#endif
