"""Access to kernels.pxd and rows.pxd from Python, for tests."""

from edgesvm.core.rows cimport kernel_values

ctypedef fused real_const:
    const float
    const double


def exp_view(double x):
    """exp(x) for x <= 0"""
    return exp_(x)


def kernel_view(
    KernelKind kind, double gamma, double coef0, int degree,
    const double[::1] x, const double[::1] z
):
    """One kernel value of two float64 vectors of equal, positive length."""
    cdef Kernel kernel = Kernel(kind, degree, gamma, coef0)
    if x.shape[0] != z.shape[0] or x.shape[0] == 0:
        raise ValueError(f"vectors of lengths {x.shape[0]} and {z.shape[0]}")
    return kernel_value(&kernel, &x[0], &z[0], x.shape[0])


def kernel_values_view(
    KernelKind kind, double gamma, double coef0, int degree,
    real_const[::1] x, real_const[:, ::1] rows, double[::1] out
):
    """out = k(x, rows)"""
    cdef Kernel kernel = Kernel(kind, degree, gamma, coef0)
    if x.shape[0] != rows.shape[1] or rows.shape[0] != out.shape[0] or x.shape[0] == 0:
        raise ValueError(f"rows of length {rows.shape[1]} and a sample of {x.shape[0]}")
    if rows.shape[0] == 0:
        return
    if real_const is float:
        kernel_values(&kernel, <float *> &x[0], <float *> &rows[0, 0],
                      rows.shape[1], rows.shape[0], &out[0])
    else:
        kernel_values(&kernel, <double *> &x[0], <double *> &rows[0, 0],
                      rows.shape[1], rows.shape[0], &out[0])
