"""Access to kernels.pxd and rows.pxd from Python, for tests."""

from edgesvm.core.rows cimport (
    ROWS_BLOCK, ROWS_WIDEST, any_kernel_values, block_kernel_values, lanes_block_kernel_values,
    lanes_kernel_values, lanes_turn_block, rows_block_dot, rows_block_weigh, turn_block)

ctypedef fused real_const:
    const float
    const double


def exp_view(double x):
    """exp(x) for x <= 0"""
    return exp_(x)


def kernel_view(
    KernelKind kind, double gamma, double coef0, int degree,
    real_const[::1] x, real_const[::1] z
):
    """One kernel value of two vectors of equal, positive length."""
    cdef Kernel kernel = Kernel(kind, degree, gamma, coef0)
    if x.shape[0] != z.shape[0] or x.shape[0] == 0:
        raise ValueError(f"vectors of lengths {x.shape[0]} and {z.shape[0]}")
    return any_kernel_value(&kernel, real_const is float, &x[0], &z[0], x.shape[0])


def kernel_values_view(
    KernelKind kind, double gamma, double coef0, int degree,
    real_const[::1] x, real_const[:, ::1] rows, bint in_dtype, double[::1] out
):
    """out = k(x, rows), summed in their dtype or in float64"""
    cdef Kernel kernel = Kernel(kind, degree, gamma, coef0)
    if x.shape[0] != rows.shape[1] or rows.shape[0] != out.shape[0] or x.shape[0] == 0:
        raise ValueError(f"rows of length {rows.shape[1]} and a sample of {x.shape[0]}")
    if rows.shape[0] == 0:
        return
    if in_dtype:
        lanes_kernel_values(&kernel, real_const is float, &x[0], &rows[0, 0], rows.shape[1],
                            rows.shape[0], &out[0])
    else:
        any_kernel_values(&kernel, real_const is float, &x[0], &rows[0, 0], rows.shape[1],
                          rows.shape[0], &out[0])


def block_kernel_values_view(
    KernelKind kind, double gamma, double coef0, int degree,
    real_const[:, ::1] x, real_const[:, ::1] rows, bint in_dtype, double[:, ::1] out
):
    """out = k(rows, x) of the eight samples x, summed in their dtype or in float64"""
    cdef Kernel kernel = Kernel(kind, degree, gamma, coef0)
    cdef double[ROWS_BLOCK * ROWS_WIDEST] turned
    if x.shape[1] != rows.shape[1] or rows.shape[0] != out.shape[0] or out.shape[1] != x.shape[0]:
        raise ValueError(f"rows of length {rows.shape[1]} and samples of {x.shape[1]}")
    if x.shape[0] != ROWS_BLOCK or not 0 < x.shape[1] <= ROWS_WIDEST or rows.shape[0] == 0:
        raise ValueError(f"{x.shape[0]} samples of {x.shape[1]} features")
    if in_dtype:
        lanes_turn_block(real_const is float, &x[0, 0], x.shape[1], turned)
        lanes_block_kernel_values(&kernel, real_const is float, turned, &rows[0, 0], x.shape[1],
                                  rows.shape[0], &out[0, 0])
    else:
        turn_block(real_const is float, &x[0, 0], x.shape[1], turned)
        block_kernel_values(&kernel, real_const is float, turned, &rows[0, 0], x.shape[1],
                            rows.shape[0], &out[0, 0])


def weighted_view(const double[::1] weight, double[:, ::1] k, bint by_lanes, double[::1] out):
    """out = weight @ k, of eight columns; one by one or in the order of `dot`"""
    if k.shape[0] != weight.shape[0] or k.shape[1] != ROWS_BLOCK or out.shape[0] != ROWS_BLOCK:
        raise ValueError(f"{k.shape[0]} rows of {k.shape[1]} and {weight.shape[0]} weights")
    if by_lanes:
        rows_block_dot(&weight[0], &k[0, 0], len(weight), &out[0])
    else:
        out[:] = 0.0
        rows_block_weigh(&weight[0], &k[0, 0], len(weight), &out[0])
