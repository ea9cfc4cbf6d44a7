/* Translated from edgesvm/learners/fourier/_directions.*: change that, then `make translate`. */

#ifndef EDGESVM_DIRECTIONS_H
#define EDGESVM_DIRECTIONS_H

#include "floor.h"

enum {
    directions_BLOCK = 64, directions_WIDTHS = 4
};
typedef struct {
    uint32_t key;
    double scales[directions_WIDTHS];
    int64_t n;
    int64_t n_features;
    int64_t n_mixed;
    int16_t *angle;
    void *mixed;
    int is_float32;
} directions_Directions;

ESVM_STATIC void directions_forget_angles(const directions_Directions *of);
ESVM_STATIC const int16_t *directions_angles_from(const directions_Directions *of, const void *x,
        esvm_index p, esvm_index n, int16_t *place);
ESVM_STATIC void directions_find_angles(const directions_Directions *of, const void *x);
ESVM_STATIC void directions_find_waves(const directions_Directions *of, const int16_t *angle,
        esvm_index n, void *wave);
ESVM_STATIC void directions_weigh_waves(const directions_Directions *of, void *wave, esvm_index n,
        const double *amplitude);
ESVM_STATIC void directions_add_dots_of_widths(const directions_Directions *of, const void *w,
        const void *wave, esvm_index n, double scale, double *dot);
ESVM_STATIC void directions_draw(const directions_Directions *of, const void *x, esvm_index first,
        esvm_index n, int16_t *angle);

ESVM_STATIC void directions_forget_angles(const directions_Directions *of) {
    if (of->angle != NULL) {
        memset(of->angle, 0, of->n * sizeof(int16_t));
    }
}

ESVM_STATIC const int16_t *directions_angles_from(const directions_Directions *of, const void *x,
        esvm_index p, esvm_index n, int16_t *place) {
    if (of->n_mixed == 0) {
        directions_draw(of, x, p, n, place);
        return place;
    }
    if (p == 0) {
        directions_find_angles(of, x);
    }
    return of->angle + p;
}

ESVM_STATIC void directions_find_angles(const directions_Directions *of, const void *x) {
    esvm_index p = 0;
    esvm_index n;
    if (of->n_mixed == 0) {
        directions_draw(of, x, 0, of->n, of->angle);
        return;
    }
    while (p < of->n) {
        n = of->n - p < of->n_mixed ? of->n - p : of->n_mixed;
#if ESVM_IS_FLOAT32
        waves_mixed_f32((const float *)x, of->n_features, of->key, of->scales, of->n_mixed, p /
                of->n_mixed, n, (float *)of->mixed, of->angle + p);
#else
        waves_mixed_f64((const double *)x, of->n_features, of->key, of->scales, of->n_mixed, p /
                of->n_mixed, n, (double *)of->mixed, of->angle + p);
#endif
        p += n;
    }
}

ESVM_STATIC void directions_find_waves(const directions_Directions *of, const int16_t *angle,
        esvm_index n, void *wave) {
    (void)of;
#if ESVM_IS_FLOAT32
    waves_of_f32(angle, n, (float *)wave);
#else
    waves_of_f64(angle, n, (double *)wave);
#endif
}

ESVM_STATIC void directions_weigh_waves(const directions_Directions *of, void *wave, esvm_index n,
        const double *amplitude) {
    (void)of;
#if ESVM_IS_FLOAT32
    waves_weigh_f32((float *)wave, n, amplitude);
    waves_weigh_f32((float *)wave + n, n, amplitude);
#else
    waves_weigh_f64((double *)wave, n, amplitude);
    waves_weigh_f64((double *)wave + n, n, amplitude);
#endif
}

ESVM_STATIC void directions_add_dots_of_widths(const directions_Directions *of, const void *w,
        const void *wave, esvm_index n, double scale, double *dot) {
    (void)of;
#if ESVM_IS_FLOAT32
    waves_dots_f32((const float *)w, (const float *)wave, n, scale, dot);
    waves_dots_f32((const float *)w + n, (const float *)wave + n, n, scale, dot);
#else
    waves_dots_f64((const double *)w, (const double *)wave, n, scale, dot);
    waves_dots_f64((const double *)w + n, (const double *)wave + n, n, scale, dot);
#endif
}

ESVM_STATIC void directions_draw(const directions_Directions *of, const void *x, esvm_index first,
        esvm_index n, int16_t *angle) {
#if ESVM_IS_FLOAT32
    waves_angles_f32((const float *)x, of->n_features, of->key, of->scales, first, n, angle);
#else
    waves_angles_f64((const double *)x, of->n_features, of->key, of->scales, first, n, angle);
#endif
}

#endif
