/* Translated from edgesvm/core/tiles.*: change that, then `make translate`. */

#ifndef EDGESVM_TILES_H
#define EDGESVM_TILES_H

#include "floor.h"
#include "kernels.h"

typedef struct {
    char *data;
    int64_t width;
    int is_float32;
    uint64_t *present;
} tiles_Tiles;

ESVM_STATIC void tiles_kernel_of_sums(const kernels_Kernel *kernel, double *v, esvm_index n);
ESVM_STATIC double tiles_weighted_kernel(const tiles_Tiles *rows, const kernels_Kernel *kernel,
        const void *x, esvm_index n, const double *weight);
ESVM_STATIC void tiles_get_row(const tiles_Tiles *rows, esvm_index t, void *x);
ESVM_STATIC void tiles_put_row(const tiles_Tiles *rows, esvm_index t, const void *x);
ESVM_STATIC esvm_index tiles_lanes_of(const tiles_Tiles *rows);
ESVM_STATIC uint64_t *tiles_present_in(const tiles_Tiles *rows, esvm_index t);
ESVM_STATIC void tiles_kernel_row(const tiles_Tiles *rows, const kernels_Kernel *kernel,
        const void *x, esvm_index first, esvm_index last, float *out);
ESVM_STATIC void tiles_clear_rows(const tiles_Tiles *rows, esvm_index n);

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

ESVM_STATIC double tiles_weighted_kernel(const tiles_Tiles *rows, const kernels_Kernel *kernel,
        const void *x, esvm_index n, const double *weight) {
    esvm_index lanes = tiles_lanes_of(rows);
#if ESVM_IS_FLOAT32
    return tiles_weighted_f32(kernel->kind, kernel->gamma, kernel->coef0, kernel->degree,
            (const float *)x, (const float *)rows->data, rows->present, rows->width, (n + lanes -
            1) / lanes, weight);
#else
    return tiles_weighted_f64(kernel->kind, kernel->gamma, kernel->coef0, kernel->degree,
            (const double *)x, (const double *)rows->data, rows->present, rows->width, (n + lanes -
            1) / lanes, weight);
#endif
}

ESVM_STATIC void tiles_get_row(const tiles_Tiles *rows, esvm_index t, void *x) {
    esvm_index lanes = tiles_lanes_of(rows);
    esvm_index at = t / lanes * lanes * rows->width + t % lanes;
    const uint64_t *present = tiles_present_in(rows, t);
#if ESVM_IS_FLOAT32
    tiles_get_f32((const float *)rows->data + at, present, rows->width, (float *)x);
#else
    tiles_get_f64((const double *)rows->data + at, present, rows->width, (double *)x);
#endif
}

ESVM_STATIC void tiles_put_row(const tiles_Tiles *rows, esvm_index t, const void *x) {
    esvm_index lanes = tiles_lanes_of(rows);
    esvm_index at = t / lanes * lanes * rows->width + t % lanes;
    uint64_t *present = tiles_present_in(rows, t);
#if ESVM_IS_FLOAT32
    if (present != NULL) {
        tiles_note_row_f32((const float *)x, rows->width, present);
    }
    tiles_put_f32((float *)rows->data + at, present, rows->width, (const float *)x);
#else
    if (present != NULL) {
        tiles_note_row_f64((const double *)x, rows->width, present);
    }
    tiles_put_f64((double *)rows->data + at, present, rows->width, (const double *)x);
#endif
}

ESVM_STATIC esvm_index tiles_lanes_of(const tiles_Tiles *rows) {
    (void)rows;
    return ESVM_IS_FLOAT32 ? 16 : 8;
}

ESVM_STATIC uint64_t *tiles_present_in(const tiles_Tiles *rows, esvm_index t) {
    if (rows->present == NULL) {
        return NULL;
    }
    return rows->present + t / tiles_lanes_of(rows) * TILES_WORDS(rows->width);
}

ESVM_STATIC void tiles_kernel_row(const tiles_Tiles *rows, const kernels_Kernel *kernel,
        const void *x, esvm_index first, esvm_index last, float *out) {
    esvm_index lanes = tiles_lanes_of(rows);
    esvm_index tile = first / lanes;
    esvm_index n_tiles = (last + lanes - 1) / lanes - tile;
    esvm_index at = tile * lanes * rows->width;
#if ESVM_IS_FLOAT32
    tiles_kernel_f32(kernel->kind, kernel->gamma, kernel->coef0, kernel->degree, (const float *)x,
            (const float *)rows->data + at, tiles_present_in(rows, first), rows->width, n_tiles,
            out + tile * lanes);
#else
    tiles_kernel_f64(kernel->kind, kernel->gamma, kernel->coef0, kernel->degree, (const double *)x,
            (const double *)rows->data + at, tiles_present_in(rows, first), rows->width, n_tiles,
            out + tile * lanes);
#endif
}

ESVM_STATIC void tiles_clear_rows(const tiles_Tiles *rows, esvm_index n) {
    esvm_index i;
    esvm_index lanes = tiles_lanes_of(rows);
    uint64_t *present;
    char *tile;
    for (i = 0; i < (n + lanes - 1) / lanes; i++) {
        present = tiles_present_in(rows, i * lanes);
        tile = rows->data + 64 * i * rows->width;
#if ESVM_IS_FLOAT32
        tiles_wipe_f32((float *)tile, present, rows->width);
#else
        tiles_wipe_f64((double *)tile, present, rows->width);
#endif
        if (present != NULL) {
            memset(present, 0, TILES_WORDS(rows->width) * sizeof(uint64_t));
        }
    }
}

#endif
