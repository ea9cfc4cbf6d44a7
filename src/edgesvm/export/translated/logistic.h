/* Translated from src/edgesvm/core/logistic.*: change that, then `make translate`. */

#ifndef EDGESVM_LOGISTIC_H
#define EDGESVM_LOGISTIC_H

#include "floor.h"
#include "kernels.h"

ESVM_STATIC double logistic_sigmoid(double z);

ESVM_STATIC double logistic_sigmoid(double z) {
    double e = kernels_exp_(-fabs(z));
    return z > 0.0 ? ESVM_DIVIDE(1.0, 1.0 + e) : ESVM_DIVIDE(e, 1.0 + e);
}

#endif
