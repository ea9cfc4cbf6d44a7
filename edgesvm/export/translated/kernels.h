/* Translated from edgesvm/core/kernels.*: change that, then `make translate`. */

#ifndef EDGESVM_KERNELS_H
#define EDGESVM_KERNELS_H

#include "floor.h"
#include "linalg.h"

typedef enum {
    kernels_LINEAR = 0, kernels_RBF = 1, kernels_POLYNOMIAL = 2
} kernels_KernelKind;
typedef struct {
    kernels_KernelKind kind;
    int degree;
    double gamma;
    double coef0;
} kernels_Kernel;
typedef union {
    uint64_t u;
    double d;
} kernels_Bits;

ESVM_STATIC double kernels_any_kernel_value(const kernels_Kernel *kernel, const void *x,
        const void *z, esvm_index n);
ESVM_STATIC double kernels_power(double base, int degree);
ESVM_STATIC double kernels_kernel_value_f32(const kernels_Kernel *kernel, const float *x,
        const float *z, esvm_index n);
ESVM_STATIC double kernels_kernel_value_f64(const kernels_Kernel *kernel, const double *x,
        const double *z, esvm_index n);
ESVM_STATIC double kernels_exp_(double x);

ESVM_STATIC double kernels_any_kernel_value(const kernels_Kernel *kernel, const void *x,
        const void *z, esvm_index n) {
#if ESVM_IS_FLOAT32
    return kernels_kernel_value_f32(kernel, (const float *)x, (const float *)z, n);
#else
    return kernels_kernel_value_f64(kernel, (const double *)x, (const double *)z, n);
#endif
}

ESVM_STATIC double kernels_power(double base, int degree) {
    double result = 1.0;
    while (degree) {
        if (degree & 1) {
            result *= base;
        }
        base *= base;
        degree >>= 1;
    }
    return result;
}

ESVM_STATIC double kernels_kernel_value_f32(const kernels_Kernel *kernel, const float *x,
        const float *z, esvm_index n) {
    if (kernel->kind == kernels_RBF) {
        return kernels_exp_(-kernel->gamma * linalg_square_distance_f32(x, z, n));
    }
    if (kernel->kind == kernels_POLYNOMIAL) {
        return kernels_power(kernel->gamma * linalg_dot_f32(x, z, n) + kernel->coef0,
                kernel->degree);
    }
    return linalg_dot_f32(x, z, n);
}

ESVM_STATIC double kernels_kernel_value_f64(const kernels_Kernel *kernel, const double *x,
        const double *z, esvm_index n) {
    if (kernel->kind == kernels_RBF) {
        return kernels_exp_(-kernel->gamma * linalg_square_distance_f64(x, z, n));
    }
    if (kernel->kind == kernels_POLYNOMIAL) {
        return kernels_power(kernel->gamma * linalg_dot_f64(x, z, n) + kernel->coef0,
                kernel->degree);
    }
    return linalg_dot_f64(x, z, n);
}

ESVM_STATIC double kernels_exp_(double x) {
    double k, r, p;
    kernels_Bits scale = {0};
    if (!(x > -708.0)) {
        return 0.0;
    }
    k = esvm_floor(x * 1.4426950408889634 + 0.5);
    r = x - k * 6.93147180369123816490e-01 - k * 1.90821492927058770002e-10;
    p = 1.6059043836821613e-10;
    p = p * r + 2.0876756987868099e-09;
    p = p * r + 2.5052108385441719e-08;
    p = p * r + 2.7557319223985891e-07;
    p = p * r + 2.7557319223985893e-06;
    p = p * r + 2.4801587301587302e-05;
    p = p * r + 1.9841269841269841e-04;
    p = p * r + 1.3888888888888889e-03;
    p = p * r + 8.3333333333333333e-03;
    p = p * r + 4.1666666666666666e-02;
    p = p * r + 1.6666666666666666e-01;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    scale.u = (uint64_t)((int64_t)k + 1023) << 52;
    return p * scale.d;
}

#endif
