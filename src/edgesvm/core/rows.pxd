# Kernel values of one sample with many rows, in float64 for either dtype of the rows (rows.h).

from libc.stdint cimport int64_t

from edgesvm.core.kernels cimport RBF, Kernel
from edgesvm.core.linalg cimport real
from edgesvm.core.tiles cimport kernel_of_sums

cdef extern from "rows.h" nogil:
    void rows_square_distance_f32(
        const float *x, const float *rows, int64_t width, int64_t n, double *out) noexcept
    void rows_square_distance_f64(
        const double *x, const double *rows, int64_t width, int64_t n, double *out) noexcept
    void rows_dot_f32(
        const float *x, const float *rows, int64_t width, int64_t n, double *out) noexcept
    void rows_dot_f64(
        const double *x, const double *rows, int64_t width, int64_t n, double *out) noexcept


cdef inline void square_distances(
    const real *x, const real *rows, int64_t width, int64_t n, double *out
) noexcept nogil:
    """out[i] = ((x - rows[i]) ** 2).sum()"""
    if real is float:
        rows_square_distance_f32(x, rows, width, n, out)
    else:
        rows_square_distance_f64(x, rows, width, n, out)


cdef inline void kernel_values(
    const Kernel *kernel, const real *x, const real *rows, int64_t width, int64_t n, double *out
) noexcept nogil:
    """out[i] = k(x, rows[i])"""
    if kernel.kind == RBF:
        square_distances(x, rows, width, n, out)
    elif real is float:
        rows_dot_f32(x, rows, width, n, out)
    else:
        rows_dot_f64(x, rows, width, n, out)
    kernel_of_sums(kernel, out, n)


cdef inline void any_kernel_values(
    const Kernel *kernel, bint is_float32, const void *x, const void *rows, int64_t width,
    int64_t n, double *out
) noexcept nogil:
    """`kernel_values` of vectors of either dtype"""
    if is_float32:
        kernel_values(kernel, <const float *> x, <const float *> rows, width, n, out)
    else:
        kernel_values(kernel, <const double *> x, <const double *> rows, width, n, out)
