/* Translated from edgesvm/core/moments.*: change that, then `make translate`. */

#ifndef EDGESVM_MOMENTS_H
#define EDGESVM_MOMENTS_H

#include "floor.h"

ESVM_STATIC void moments_welford(double x, double share, double old_mean, double old_spread,
        double *mean, double *spread);

ESVM_STATIC void moments_welford(double x, double share, double old_mean, double old_spread,
        double *mean, double *spread) {
    double delta = x - old_mean;
    mean[0] = old_mean + delta * share;
    spread[0] = old_spread + delta * (x - mean[0]);
}

#endif
