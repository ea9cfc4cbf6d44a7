# Kernel values of one sample with many rows: summed in float64 for either dtype of the rows
# (rows.h), or in their dtype, as one value is (lanes.h).

from libc.stdint cimport int64_t

from edgesvm.core.kernels cimport RBF, Kernel
from edgesvm.core.linalg cimport lanes_sums_f32, lanes_sums_f64, real
from edgesvm.core.tiles cimport kernel_of_sums

cdef extern from "lanes.h" nogil:
    void rows_square_distance_f32(
        const float *x, const float *rows, int64_t width, int64_t n, double *out) noexcept
    void rows_square_distance_f64(
        const double *x, const double *rows, int64_t width, int64_t n, double *out) noexcept
    void rows_dot_f32(
        const float *x, const float *rows, int64_t width, int64_t n, double *out) noexcept
    void rows_dot_f64(
        const double *x, const double *rows, int64_t width, int64_t n, double *out) noexcept

cdef extern from "lanes.h" nogil:
    enum:
        ROWS_BLOCK      # samples that are looked at together
        ROWS_WIDEST     # features of one of them
    void rows_block_turn_f32(const float *x, int64_t width, double *turned) noexcept
    void rows_block_turn_f64(const double *x, int64_t width, double *turned) noexcept
    void rows_block_sums_f32(
        int squares, const double *turned, const float *rows, int64_t width, int64_t n, double *out
    ) noexcept
    void rows_block_sums_f64(
        int squares, const double *turned, const double *rows, int64_t width, int64_t n,
        double *out) noexcept
    void rows_block_weigh(const double *weight, const double *k, int64_t n, double *f) noexcept
    void rows_block_dot(const double *weight, const double *k, int64_t n, double *f) noexcept

cdef extern from "lanes.h" nogil:
    void lanes_block_turn_f32(const float *x, int64_t width, float *turned) noexcept
    void lanes_block_sums_f32(
        int squares, const float *turned, const float *z, int64_t width, int64_t n, double *out
    ) noexcept
    void lanes_block_sums_f64(
        int squares, const double *turned, const double *z, int64_t width, int64_t n, double *out
    ) noexcept


cdef inline void square_distances(
    const real *x, const real *rows, int64_t width, int64_t n, double *out
) noexcept nogil:
    """out[i] = ((x - rows[i]) ** 2).sum()"""
    if real is float:
        rows_square_distance_f32(x, rows, width, n, out)
    else:
        rows_square_distance_f64(x, rows, width, n, out)


cdef inline void kernel_sums(
    const Kernel *kernel, const real *x, const real *rows, int64_t width, int64_t n, double *out
) noexcept nogil:
    """out[i], the product or squared distance that k(x, rows[i]) is a function of"""
    if kernel.kind == RBF:
        square_distances(x, rows, width, n, out)
    elif real is float:
        rows_dot_f32(x, rows, width, n, out)
    else:
        rows_dot_f64(x, rows, width, n, out)


cdef inline void any_kernel_sums(
    const Kernel *kernel, bint is_float32, const void *x, const void *rows, int64_t width,
    int64_t n, double *out
) noexcept nogil:
    """`kernel_sums` of vectors of either dtype"""
    if is_float32:
        kernel_sums(kernel, <const float *> x, <const float *> rows, width, n, out)
    else:
        kernel_sums(kernel, <const double *> x, <const double *> rows, width, n, out)


cdef inline void any_kernel_values(
    const Kernel *kernel, bint is_float32, const void *x, const void *rows, int64_t width,
    int64_t n, double *out
) noexcept nogil:
    """out[i] = k(x, rows[i]) of vectors of either dtype"""
    any_kernel_sums(kernel, is_float32, x, rows, width, n, out)
    kernel_of_sums(kernel, out, n)


cdef inline void lanes_kernel_values(
    const Kernel *kernel, bint is_float32, const void *x, const void *rows, int64_t width,
    int64_t n, double *out
) noexcept nogil:
    """out[i] = k(x, rows[i]) of finite rows, summed in their dtype, as `any_kernel_value`"""
    cdef bint apart = kernel.kind == RBF
    if is_float32:
        lanes_sums_f32(apart, <const float *> x, <const float *> rows, width, n, out)
    else:
        lanes_sums_f64(apart, <const double *> x, <const double *> rows, width, n, out)
    kernel_of_sums(kernel, out, n)


cdef inline void turn_block(
    bint is_float32, const void *x, int64_t width, double *turned
) noexcept nogil:
    """turned[d, c] = x[c, d] of `ROWS_BLOCK` samples; width <= ROWS_WIDEST"""
    if is_float32:
        rows_block_turn_f32(<const float *> x, width, turned)
    else:
        rows_block_turn_f64(<const double *> x, width, turned)


cdef inline void block_kernel_values(
    const Kernel *kernel, bint is_float32, const double *turned, const void *rows, int64_t width,
    int64_t n, double *out
) noexcept nogil:
    """out[i, c] = k(x_c, rows[i]) of a block of samples, as `any_kernel_values` of each"""
    cdef bint squares = kernel.kind == RBF
    if is_float32:
        rows_block_sums_f32(squares, turned, <const float *> rows, width, n, out)
    else:
        rows_block_sums_f64(squares, turned, <const double *> rows, width, n, out)
    kernel_of_sums(kernel, out, ROWS_BLOCK * n)


cdef inline void lanes_turn_block(
    bint is_float32, const void *x, int64_t width, void *turned
) noexcept nogil:
    """`turn_block` in the samples' dtype"""
    if is_float32:
        lanes_block_turn_f32(<const float *> x, width, <float *> turned)
    else:
        rows_block_turn_f64(<const double *> x, width, <double *> turned)


cdef inline void lanes_block_kernel_values(
    const Kernel *kernel, bint is_float32, const void *turned, const void *rows, int64_t width,
    int64_t n, double *out
) noexcept nogil:
    """out[i, c] = k(x_c, rows[i]) of a block of samples, as `lanes_kernel_values` of each"""
    cdef bint squares = kernel.kind == RBF
    if is_float32:
        lanes_block_sums_f32(
            squares, <const float *> turned, <const float *> rows, width, n, out)
    else:
        lanes_block_sums_f64(
            squares, <const double *> turned, <const double *> rows, width, n, out)
    kernel_of_sums(kernel, out, ROWS_BLOCK * n)
