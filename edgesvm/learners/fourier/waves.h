/* Random Fourier features whose directions are drawn anew for each sample, and so cost no memory.
 *
 * Number d of direction p is the sum of the four bytes of a 32-bit hash of (key, p, d), less its
 * mean 510: nearly normal, an integer, and the same on every machine. The angle of a direction is
 * kept in 1/65536 of a turn, in 16 bits; cosine and sine are polynomials of it.
 *
 * Orthogonal directions come d at a time, d a power of two: the rows of (H D3 H D2 H D1) / d, where
 * H is the Hadamard matrix and each D has random signs (Yu et al. 2016). No matrix is formed: the
 * product with H is d log d additions.
 */
#ifndef EDGESVM_WAVES_H
#define EDGESVM_WAVES_H

#include "lanes.h"

#ifdef __clang__
#define EDGESVM_LANES_OF(v, ...) __builtin_shufflevector(v, v, __VA_ARGS__)
#else
#define EDGESVM_LANES_OF(v, ...) __builtin_shuffle(v, (MASK){__VA_ARGS__})
#endif

#define T float
#define BITS int32_t
#define UBITS uint32_t
#define WHOLE_LANES 16
#define HALF_LANES 8
#define NAME(stem) stem##_f32
#define MAGIC 12582912.0f               /* 1.5 * 2^23: a sum with it is rounded to a whole number */
#include "waves_type.h"

#define T double
#define BITS int64_t
#define UBITS uint64_t
#define WHOLE_LANES 8
#define HALF_LANES 4
#define NAME(stem) stem##_f64
#define MAGIC 6755399441055744.0        /* 1.5 * 2^52 */
#include "waves_type.h"

#endif
