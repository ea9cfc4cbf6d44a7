/* Included by lanes.h once a type: T, BITS (an integer as wide as T), LANES, NAME. */

static const BITS NAME(tail_masks)[2 * LANES] = {
#if LANES == 16
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1};
#else
    0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1};
#endif

#define PART NAME(vec)
#define PARTS 1
#define MASK NAME(mask)
#define TARGET BLOCK_FULL
#define AT(stem) NAME(stem##_full)
#define TO_QUARTER(q, v)                                                            \
    do {                                                                            \
        NAME(half) lo_, hi_;                                                        \
        NAME(quarter) h_;                                                           \
        memcpy(&lo_, (v), 32); memcpy(&hi_, (const char *)(v) + 32, 32);            \
        lo_ += hi_;                                                                 \
        memcpy(&(q), &lo_, 16); memcpy(&h_, (const char *)&lo_ + 16, 16);           \
        q += h_;                                                                    \
    } while (0)
#include "lanes_parts.h"

#define PART NAME(half)
#define PARTS 2
#define MASK NAME(half_mask)
#define TARGET BLOCK_HALVES
#define AT(stem) NAME(stem##_halves)
#define TO_QUARTER(q, v)                                                            \
    do {                                                                            \
        NAME(half) lo_ = (v)[0] + (v)[1];                                           \
        NAME(quarter) h_;                                                           \
        memcpy(&(q), &lo_, 16); memcpy(&h_, (const char *)&lo_ + 16, 16);           \
        q += h_;                                                                    \
    } while (0)
#include "lanes_parts.h"

#define PART NAME(quarter)
#define PARTS 4
#define MASK NAME(quarter_mask)
#define TARGET
#define AT(stem) NAME(stem##_quarters)
#define TO_QUARTER(q, v) q = ((v)[0] + (v)[2]) + ((v)[1] + (v)[3])
#include "lanes_parts.h"

/* sum x[i] * z[i] */
EDGESVM_SUM T NAME(lanes_dot)(const T *x, const T *z, int64_t n)
{
    return BY_WIDTH(lanes_dot, x, z, n);
}

/* *dot = sum x[i] * w[i],  *square = sum x[i] * x[i];  x is read once */
EDGESVM_SUM void NAME(lanes_dot_square)(const T *x, const T *w, int64_t n, T *dot, T *square)
{
    BY_WIDTH(lanes_dot_square, x, w, n, dot, square);
}

/* lanes_dot_square of four rows; the next are fetched */
EDGESVM_SUM void NAME(lanes_dot_square_rows)(const T *x, const T *w, int64_t n, int64_t rows, T *dots,
                                             T *squares)
{
    BY_WIDTH(lanes_dot_square_rows, x, w, n, rows, dots, squares);
}

/* lanes_dot of four rows that are finite, and read lately */
EDGESVM_SUM void NAME(lanes_dot_rows)(const T *x, const T *w, int64_t n, int64_t rows, T *dots)
{
    BY_WIDTH(lanes_dot_rows, x, w, n, rows, dots);
}

/* x.x of four rows; the next are fetched */
EDGESVM_SUM void NAME(lanes_square_rows)(const T *x, int64_t n, int64_t rows, T *squares)
{
    BY_WIDTH(lanes_square_rows, x, n, rows, squares);
}

/* sum (x[i] - z[i])^2 */
EDGESVM_SUM T NAME(lanes_square_distance)(const T *x, const T *z, int64_t n)
{
    return BY_WIDTH(lanes_square_distance, x, z, n);
}

/* out[i] = w . row i, or |w - row i|^2, of finite rows from z on. Narrow rows at the end are copied, to
 * where others could follow. */
EDGESVM_SUM void NAME(lanes_sums)(int apart, const T *w, const T *z, int64_t n, int64_t n_rows,
                                  double *out)
{
    BY_WIDTH(lanes_sums, apart, w, z, n, n_rows, out);
}

/* y = a x + b y */
EDGESVM_CLONES
EDGESVM_SUM void NAME(lanes_axpby)(T a, const T *x, T b, T *y, int64_t n)
{
    EDGESVM_CHECK(n >= 0);
    for (int64_t i = 0; i < n; i++) y[i] = a * x[i] + b * y[i];
}

/* y += a (x - y) */
EDGESVM_CLONES
EDGESVM_SUM void NAME(lanes_approach)(T a, const T *x, T *y, int64_t n)
{
    EDGESVM_CHECK(n >= 0);
    for (int64_t i = 0; i < n; i++) y[i] += a * (x[i] - y[i]);
}

#undef T
#undef BITS
#undef LANES
#undef NAME
