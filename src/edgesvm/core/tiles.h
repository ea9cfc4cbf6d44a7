/* Kernel values of one sample and many rows, the rows lying side by side in tiles.
 *
 * A tile is LANES rows (64 bytes: 16 of float32, 8 of float64), transposed: feature d of row t is
 * number d * LANES + t % LANES of tile t / LANES. One vector is then one feature of LANES rows, so
 * that two features cost as little as they are: no sum across lanes, no tail, exp in vectors too.
 * Each row's sum runs over its features in order, the same bits on every target.
 */
#ifndef EDGESVM_TILES_H
#define EDGESVM_TILES_H

#include "lanes.h"

enum { TILES_LINEAR = 0, TILES_RBF = 1, TILES_POLYNOMIAL = 2 };  /* KernelKind of kernels.pxd */

typedef float tiles_f8 __attribute__((vector_size(32)));

#define T float
#define BITS int32_t
#define LANES 16
#define NAME(stem) stem##_f32
#define MAGIC 12582912.0f                   /* 1.5 * 2^23 */
#define LN2_HIGH 0.693359375f               /* exact times a small k */
#define LN2_LOW (-2.12194440e-4f)
#define LOWEST (-87.0f)                     /* above the least normal number */
#define MANTISSA 23
#define BIAS 127
#define TAYLOR(p, r)                                                                \
    p = (r) * 1.9841270e-4f + 1.3888889e-3f; p = p * (r) + 8.3333333e-3f;           \
    p = p * (r) + 4.1666667e-2f; p = p * (r) + 1.6666667e-1f; p = p * (r) + 0.5f;   \
    p = p * (r) + 1.0f; p = p * (r) + 1.0f
#define AS_FLOATS(out, v) memcpy((out), &(v), 64)
#define ADD_WEIGHTED(f, w, v)                                                       \
    do {                                                                            \
        tiles_f8 h_[2]; vec_f64 w_[2];                                              \
        memcpy(h_, &(v), 64); memcpy(w_, (w), 128);                                 \
        f += w_[0] * __builtin_convertvector(h_[0], vec_f64);                       \
        f += w_[1] * __builtin_convertvector(h_[1], vec_f64);                       \
    } while (0)
#include "tiles_type.h"

#define T double
#define BITS int64_t
#define LANES 8
#define NAME(stem) stem##_f64
#define MAGIC 6755399441055744.0            /* 1.5 * 2^52 */
#define LN2_HIGH 6.93147180369123816490e-01
#define LN2_LOW 1.90821492927058770002e-10
#define LOWEST (-708.0)
#define MANTISSA 52
#define BIAS 1023
#define TAYLOR(p, r)                                                                \
    p = (r) * 1.6059043836821613e-10 + 2.0876756987868099e-09;                      \
    p = p * (r) + 2.5052108385441719e-08; p = p * (r) + 2.7557319223985891e-07;     \
    p = p * (r) + 2.7557319223985893e-06; p = p * (r) + 2.4801587301587302e-05;     \
    p = p * (r) + 1.9841269841269841e-04; p = p * (r) + 1.3888888888888889e-03;     \
    p = p * (r) + 8.3333333333333333e-03; p = p * (r) + 4.1666666666666666e-02;     \
    p = p * (r) + 1.6666666666666666e-01; p = p * (r) + 0.5;                        \
    p = p * (r) + 1.0; p = p * (r) + 1.0
#define AS_FLOATS(out, v)                                                           \
    do {                                                                            \
        tiles_f8 h_ = __builtin_convertvector((v), tiles_f8);                       \
        memcpy((out), &h_, 32);                                                     \
    } while (0)
#define ADD_WEIGHTED(f, w, v)                                                       \
    do { vec_f64 w_; memcpy(&w_, (w), 64); f += w_ * (v); } while (0)
#include "tiles_type.h"

#endif
