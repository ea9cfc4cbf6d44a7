/* Translated from src/edgesvm/core/tiles.*: change that, then `make translate`. */

#ifndef EDGESVM_TILES_H
#define EDGESVM_TILES_H

#include "floor.h"
#include "kernels.h"

ESVM_STATIC void tiles_kernel_of_sums(const kernels_Kernel *kernel, double *v, esvm_index n);

ESVM_STATIC void tiles_kernel_of_sums(const kernels_Kernel *kernel, double *v, esvm_index n) {
    esvm_index i;
    if (kernel->kind == kernels_RBF) {
        tiles_exp_f64(-kernel->gamma, v, n);
    } else if (kernel->kind == kernels_POLYNOMIAL) {
        for (i = 0; i < n; i++) {
            v[i] = kernels_power(kernel->gamma * v[i] + kernel->coef0, kernel->degree);
        }
    }
}

#endif
