/* Translated from edgesvm/core/rows.*: change that, then `make translate`. */

#ifndef EDGESVM_ROWS_H
#define EDGESVM_ROWS_H

#include "floor.h"
#include "kernels.h"
#include "tiles.h"

ESVM_STATIC void rows_lanes_kernel_values(const kernels_Kernel *kernel, const void *x,
        const void *rows, esvm_index width, esvm_index n, double *out);
ESVM_STATIC void rows_any_kernel_values(const kernels_Kernel *kernel, const void *x,
        const void *rows, esvm_index width, esvm_index n, double *out);
ESVM_STATIC void rows_any_kernel_sums(const kernels_Kernel *kernel, const void *x,
        const void *rows, esvm_index width, esvm_index n, double *out);
ESVM_STATIC void rows_kernel_sums_f32(const kernels_Kernel *kernel, const float *x,
        const float *rows, esvm_index width, esvm_index n, double *out);
ESVM_STATIC void rows_kernel_sums_f64(const kernels_Kernel *kernel, const double *x,
        const double *rows, esvm_index width, esvm_index n, double *out);
ESVM_STATIC void rows_square_distances_f32(const float *x, const float *rows, esvm_index width,
        esvm_index n, double *out);
ESVM_STATIC void rows_square_distances_f64(const double *x, const double *rows, esvm_index width,
        esvm_index n, double *out);

ESVM_STATIC void rows_lanes_kernel_values(const kernels_Kernel *kernel, const void *x,
        const void *rows, esvm_index width, esvm_index n, double *out) {
    int apart = kernel->kind == kernels_RBF;
#if ESVM_IS_FLOAT32
    lanes_sums_f32(apart, (const float *)x, (const float *)rows, width, n, out);
#else
    lanes_sums_f64(apart, (const double *)x, (const double *)rows, width, n, out);
#endif
    tiles_kernel_of_sums(kernel, out, n);
}

ESVM_STATIC void rows_any_kernel_values(const kernels_Kernel *kernel, const void *x,
        const void *rows, esvm_index width, esvm_index n, double *out) {
    rows_any_kernel_sums(kernel, x, rows, width, n, out);
    tiles_kernel_of_sums(kernel, out, n);
}

ESVM_STATIC void rows_any_kernel_sums(const kernels_Kernel *kernel, const void *x,
        const void *rows, esvm_index width, esvm_index n, double *out) {
#if ESVM_IS_FLOAT32
    rows_kernel_sums_f32(kernel, (const float *)x, (const float *)rows, width, n, out);
#else
    rows_kernel_sums_f64(kernel, (const double *)x, (const double *)rows, width, n, out);
#endif
}

ESVM_STATIC void rows_kernel_sums_f32(const kernels_Kernel *kernel, const float *x,
        const float *rows, esvm_index width, esvm_index n, double *out) {
    if (kernel->kind == kernels_RBF) {
        rows_square_distances_f32(x, rows, width, n, out);
    } else {
        rows_dot_f32(x, rows, width, n, out);
    }
}

ESVM_STATIC void rows_kernel_sums_f64(const kernels_Kernel *kernel, const double *x,
        const double *rows, esvm_index width, esvm_index n, double *out) {
    if (kernel->kind == kernels_RBF) {
        rows_square_distances_f64(x, rows, width, n, out);
    } else {
        rows_dot_f64(x, rows, width, n, out);
    }
}

ESVM_STATIC void rows_square_distances_f32(const float *x, const float *rows, esvm_index width,
        esvm_index n, double *out) {
    rows_square_distance_f32(x, rows, width, n, out);
}

ESVM_STATIC void rows_square_distances_f64(const double *x, const double *rows, esvm_index width,
        esvm_index n, double *out) {
    rows_square_distance_f64(x, rows, width, n, out);
}

#endif
