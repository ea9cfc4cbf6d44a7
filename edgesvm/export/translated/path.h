/* Translated from edgesvm/learners/twin/_path.*: change that, then `make translate`. */

#ifndef EDGESVM_PATH_H
#define EDGESVM_PATH_H

#include "floor.h"
#include "margin_set.h"

typedef struct {
    int64_t slot;
    double to_minus;
    double to_plus;
    margin_set_Row *known;
    double from_minus;
    double from_plus;
    double released_minus;
    double released_plus;
    double d_minus;
    double d_plus;
    double rate;
    int state;
} path_Move;
#define path_REFRESH 512
#define path_POLISHES 3
typedef struct {
    path_Move *moves;
    int count;
    double t;
    double mu;
    double d_mu;
    double total;
    double largest;
    double push_sum;
    double push_size;
    double db;
} path_Walk;
typedef struct {
    double length;
    int64_t place;
    int64_t twin;
    int to;
    int direction;
} path_Event;
#define path_MANY_EVENTS 16
#define path_ROUNDING 1e-12
#define path_DRIFT 1e-09
typedef struct {
    double gap;
    double rate;
    int to;
    int direction;
} path_Edge;
#define path_EVENT_TOLERANCE 1e-10
#define path_NOISE 1e-15

ESVM_STATIC int path_comes_first(double gap, double rate, double rest, double tolerance,
        double *length);

ESVM_STATIC int path_comes_first(double gap, double rate, double rest, double tolerance,
        double *length) {
    if (!(rate * rest > gap + tolerance)) {
        return 0;
    }
    if (gap <= tolerance) {
        gap = 0.0;
    }
    if (!(gap < rate * length[0])) {
        return 0;
    }
    length[0] = ESVM_DIVIDE(gap, rate);
    return 1;
}

#endif
