/* Translated from edgesvm/learners/twin/_margin_set.*: change that, then `make translate`. */

#ifndef EDGESVM_MARGIN_SET_H
#define EDGESVM_MARGIN_SET_H

#include "floor.h"

typedef struct {
    int64_t n;
    double *k;
} margin_set_Row;
typedef enum {
    margin_set_REACHED = 0, margin_set_STUCK = 1, margin_set_OVERFLOWED = 2
} margin_set_Outcome;
enum {
    margin_set_CHUNK = 128
};
#define margin_set_LARGEST_NORM 1e+100
typedef struct {
    double mu;
    double b;
    double lift;
    int64_t n;
    int64_t m;
    int64_t n_path_events;
    int64_t n_exchanges;
    int64_t n_overflowed;
    int64_t n_refactored;
    int64_t n_refreshed;
    int64_t n_from_scratch;
    int64_t paths;
} margin_set_Solver;
#define margin_set_EVENT_TOLERANCE 1e-10
#define margin_set_MANY_EXCHANGES 8
#define margin_set_SINGULAR 1e-12
#define margin_set_NULL_TOLERANCE 1e-09

ESVM_STATIC double margin_set_plateau(int state, double s_minus, double s_plus);

ESVM_STATIC double margin_set_plateau(int state, double s_minus, double s_plus) {
    if (state == 2) {
        return s_plus - s_minus;
    }
    return state == 0 ? s_plus : -s_minus;
}

#endif
