/* Translated from edgesvm/learners/papers/online/_linear.*: change that, then `make translate`. */

#ifndef EDGESVM_LINEAR_H
#define EDGESVM_LINEAR_H

#include "floor.h"
#include "linalg.h"

ESVM_STATIC void linear_products_f32(const float *x, const float *w, esvm_index n, double *wx,
        double *xx);
ESVM_STATIC void linear_products_f64(const double *x, const double *w, esvm_index n, double *wx,
        double *xx);
ESVM_STATIC void linear_add_typed_f32(float step, const float *x, float *sum_, esvm_index n,
        int constant);
ESVM_STATIC void linear_add_typed_f64(double step, const double *x, double *sum_, esvm_index n,
        int constant);

ESVM_STATIC void linear_products_f32(const float *x, const float *w, esvm_index n, double *wx,
        double *xx) {
    float product, square;
    linalg_dot_square_f32(x, w, n, &product, &square);
    wx[0] = product;
    xx[0] = square;
}

ESVM_STATIC void linear_products_f64(const double *x, const double *w, esvm_index n, double *wx,
        double *xx) {
    double product, square;
    linalg_dot_square_f64(x, w, n, &product, &square);
    wx[0] = product;
    xx[0] = square;
}

ESVM_STATIC void linear_add_typed_f32(float step, const float *x, float *sum_, esvm_index n,
        int constant) {
    linalg_axpby_f32(step, x, (float)1.0, sum_, n);
    if (constant) {
        sum_[n] += step;
    }
}

ESVM_STATIC void linear_add_typed_f64(double step, const double *x, double *sum_, esvm_index n,
        int constant) {
    linalg_axpby_f64(step, x, (double)1.0, sum_, n);
    if (constant) {
        sum_[n] += step;
    }
}

#endif
