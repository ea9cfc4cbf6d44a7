# Kernel values of one sample with many rows: summed in float64 for either dtype of the rows
# or in their dtype, as one value is.

from libc.stdint cimport int64_t

from edgesvm.core.kernels cimport RBF, Kernel
from edgesvm.core.linalg cimport real
from edgesvm.core.tiles cimport kernel_of_sums

cdef extern from "lanes.h" nogil:
    enum:
        ROWS_BLOCK      # samples that are looked at together
        ROWS_WIDEST     # features of one of them
    void rows_square_distance(
        bint f32, const void *x, const void *rows, int64_t width, int64_t n, double *out) noexcept
    void rows_dot(
        bint f32, const void *x, const void *rows, int64_t width, int64_t n, double *out) noexcept
    void rows_block_turn(bint f32, const void *x, int64_t width, double *turned) noexcept
    void rows_block_sums(
        bint f32, bint squares, const double *turned, const void *rows, int64_t width, int64_t n,
        double *out) noexcept
    void rows_block_weigh(const double *weight, const double *k, int64_t n, double *f) noexcept
    void rows_block_dot(const double *weight, const double *k, int64_t n, double *f) noexcept
    void lanes_sums(
        bint f32, bint apart, const void *w, const void *z, int64_t n, int64_t n_rows, double *out
    ) noexcept
    void lanes_block_turn(bint f32, const void *x, int64_t width, void *turned) noexcept
    void lanes_block_sums(
        bint f32, bint squares, const void *turned, const void *z, int64_t width, int64_t n,
        double *out) noexcept


cdef inline void square_distances(
    const real *x, const real *rows, int64_t width, int64_t n, double *out
) noexcept nogil:
    """out[i] = ((x - rows[i]) ** 2).sum()"""
    rows_square_distance(real is float, x, rows, width, n, out)


cdef inline void any_kernel_sums(
    const Kernel *kernel, bint is_float32, const void *x, const void *rows, int64_t width,
    int64_t n, double *out
) noexcept nogil:
    """out[i], the product or squared distance that k(x, rows[i]) is a function of"""
    if kernel.kind == RBF:
        rows_square_distance(is_float32, x, rows, width, n, out)
    else:
        rows_dot(is_float32, x, rows, width, n, out)


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
    lanes_sums(is_float32, kernel.kind == RBF, x, rows, width, n, out)
    kernel_of_sums(kernel, out, n)


cdef inline void block_kernel_values(
    const Kernel *kernel, bint is_float32, const double *turned, const void *rows, int64_t width,
    int64_t n, double *out
) noexcept nogil:
    """out[i, c] = k(x_c, rows[i]) of a block of samples, as `any_kernel_values` of each"""
    rows_block_sums(is_float32, kernel.kind == RBF, turned, rows, width, n, out)
    kernel_of_sums(kernel, out, ROWS_BLOCK * n)


cdef inline void lanes_block_kernel_values(
    const Kernel *kernel, bint is_float32, const void *turned, const void *rows, int64_t width,
    int64_t n, double *out
) noexcept nogil:
    """out[i, c] = k(x_c, rows[i]) of a block of samples, as `lanes_kernel_values` of each"""
    lanes_block_sums(is_float32, kernel.kind == RBF, turned, rows, width, n, out)
    kernel_of_sums(kernel, out, ROWS_BLOCK * n)
