/* Translated from edgesvm/core/logistic.*: change that, then `make translate`. */

#ifndef EDGESVM_LOGISTIC_H
#define EDGESVM_LOGISTIC_H

#include "floor.h"
#include "kernels.h"

ESVM_STATIC double logistic_sigmoid(double z);
ESVM_STATIC double logistic_log_(double x);
ESVM_STATIC double logistic_twice_atanh(double s);
ESVM_STATIC double logistic_log_sigmoid(double z);

ESVM_STATIC double logistic_sigmoid(double z) {
    double e = kernels_exp_(-fabs(z));
    return z > 0.0 ? ESVM_DIVIDE(1.0, 1.0 + e) : ESVM_DIVIDE(e, 1.0 + e);
}

ESVM_STATIC double logistic_log_(double x) {
    int k;
    double m = esvm_frexp(x, &k);
    return k * 6.93147180559945286227e-01 + logistic_twice_atanh(ESVM_DIVIDE(m - 1.0, m + 1.0));
}

ESVM_STATIC double logistic_twice_atanh(double s) {
    double total = 0.0;
    int k;
    for (k = 33; k > 0; k += -2) {
        total = total * s * s + ESVM_DIVIDE(1.0, k);
    }
    return 2.0 * s * total;
}

ESVM_STATIC double logistic_log_sigmoid(double z) {
    double e = kernels_exp_(-fabs(z));
    return esvm_min(z, 0.0) - logistic_twice_atanh(ESVM_DIVIDE(e, 2.0 + e));
}

#endif
