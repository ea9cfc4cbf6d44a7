/* Translated from edgesvm/core/linalg.*: change that, then `make translate`. */

#ifndef EDGESVM_LINALG_H
#define EDGESVM_LINALG_H

#include "floor.h"

ESVM_STATIC void linalg_axpby_f32(float a, const float *x, float b, float *y, esvm_index n);
ESVM_STATIC void linalg_axpby_f64(double a, const double *x, double b, double *y, esvm_index n);
ESVM_STATIC float linalg_dot_f32(const float *x, const float *z, esvm_index n);
ESVM_STATIC double linalg_dot_f64(const double *x, const double *z, esvm_index n);
ESVM_STATIC void linalg_approach_f32(float a, const float *x, float *y, esvm_index n);
ESVM_STATIC void linalg_approach_f64(double a, const double *x, double *y, esvm_index n);
ESVM_STATIC void linalg_dot_square_f32(const float *x, const float *w, esvm_index n, float *xw,
        float *xx);
ESVM_STATIC void linalg_dot_square_f64(const double *x, const double *w, esvm_index n, double *xw,
        double *xx);
ESVM_STATIC double linalg_any_dot(const void *x, const void *z, esvm_index n);
ESVM_STATIC esvm_index linalg_item_bytes(void);
ESVM_STATIC void linalg_add_scaled(double a, const double *x, double *y, esvm_index n);
ESVM_STATIC float linalg_square_distance_f32(const float *x, const float *z, esvm_index n);
ESVM_STATIC double linalg_square_distance_f64(const double *x, const double *z, esvm_index n);
ESVM_STATIC double linalg_entry(const void *x, esvm_index i);
ESVM_STATIC void linalg_put(void *x, esvm_index i, double value);
ESVM_STATIC void linalg_put_of(int is_float32, void *x, esvm_index i, double value);
ESVM_STATIC double linalg_any_dot_of(int is_float32, const void *x, const void *z, esvm_index n);

ESVM_STATIC void linalg_axpby_f32(float a, const float *x, float b, float *y, esvm_index n) {
    lanes_axpby_f32(a, x, b, y, n);
}

ESVM_STATIC void linalg_axpby_f64(double a, const double *x, double b, double *y, esvm_index n) {
    lanes_axpby_f64(a, x, b, y, n);
}

ESVM_STATIC float linalg_dot_f32(const float *x, const float *z, esvm_index n) {
    return lanes_dot_f32(x, z, n);
}

ESVM_STATIC double linalg_dot_f64(const double *x, const double *z, esvm_index n) {
    return lanes_dot_f64(x, z, n);
}

ESVM_STATIC void linalg_approach_f32(float a, const float *x, float *y, esvm_index n) {
    lanes_approach_f32(a, x, y, n);
}

ESVM_STATIC void linalg_approach_f64(double a, const double *x, double *y, esvm_index n) {
    lanes_approach_f64(a, x, y, n);
}

ESVM_STATIC void linalg_dot_square_f32(const float *x, const float *w, esvm_index n, float *xw,
        float *xx) {
    lanes_dot_square_f32(x, w, n, xw, xx);
}

ESVM_STATIC void linalg_dot_square_f64(const double *x, const double *w, esvm_index n, double *xw,
        double *xx) {
    lanes_dot_square_f64(x, w, n, xw, xx);
}

ESVM_STATIC double linalg_any_dot(const void *x, const void *z, esvm_index n) {
#if ESVM_IS_FLOAT32
    return linalg_dot_f32((const float *)x, (const float *)z, n);
#else
    return linalg_dot_f64((const double *)x, (const double *)z, n);
#endif
}

ESVM_STATIC esvm_index linalg_item_bytes(void) {
    return ESVM_IS_FLOAT32 ? sizeof(float) : sizeof(double);
}

ESVM_STATIC void linalg_add_scaled(double a, const double *x, double *y, esvm_index n) {
    esvm_index i;
    for (i = 0; i < n; i++) {
        y[i] += a * x[i];
    }
}

ESVM_STATIC float linalg_square_distance_f32(const float *x, const float *z, esvm_index n) {
    return lanes_square_distance_f32(x, z, n);
}

ESVM_STATIC double linalg_square_distance_f64(const double *x, const double *z, esvm_index n) {
    return lanes_square_distance_f64(x, z, n);
}

ESVM_STATIC double linalg_entry(const void *x, esvm_index i) {
    return ESVM_IS_FLOAT32 ? ((const float *)x)[i] : ((const double *)x)[i];
}

ESVM_STATIC void linalg_put(void *x, esvm_index i, double value) {
#if ESVM_IS_FLOAT32
    ((float *)x)[i] = (float)value;
#else
    ((double *)x)[i] = value;
#endif
}

ESVM_STATIC void linalg_put_of(int is_float32, void *x, esvm_index i, double value) {
    if (is_float32) {
        ((float *)x)[i] = (float)value;
    } else {
        ((double *)x)[i] = value;
    }
}

ESVM_STATIC double linalg_any_dot_of(int is_float32, const void *x, const void *z, esvm_index n) {
    if (is_float32) {
        return linalg_dot_f32((const float *)x, (const float *)z, n);
    }
    return linalg_dot_f64((const double *)x, (const double *)z, n);
}

#endif
