"""Test doors into kernels.pxd."""


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
