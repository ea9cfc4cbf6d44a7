# Linear, RBF and polynomial kernels of two vectors, given as pointer and length.

from libc.math cimport floor
from libc.stdint cimport int64_t, uint64_t

from edgesvm.core.linalg cimport any_dot, lanes_square_distance

cdef enum KernelKind:         # kernels.py has the same for Python
    LINEAR = 0
    RBF = 1
    POLYNOMIAL = 2

cdef struct Kernel:
    KernelKind kind
    int degree
    double gamma
    double coef0


cdef union Bits:
    uint64_t u
    double d


cdef inline double exp_(double x) noexcept nogil:
    """exp(x) for x <= 0, to 2 units in the last place; zero below -708.

    The C library's exp may use fused multiply-add and so differ between machines; a model's bytes
    must not. exp(x) = 2^k exp(r), |r| <= ln(2)/2; ln(2) in two parts keeps r exact (Cody & Waite
    1980); Taylor series to r^13.
    """
    cdef double k, r, p
    cdef Bits scale
    if not x > -708.0:
        return 0.0
    k = floor(x * 1.4426950408889634 + 0.5)
    r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10
    p = 1.6059043836821613e-10
    p = p * r + 2.0876756987868099e-09
    p = p * r + 2.5052108385441719e-08
    p = p * r + 2.7557319223985891e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.4801587301587302e-05
    p = p * r + 1.9841269841269841e-04
    p = p * r + 1.3888888888888889e-03
    p = p * r + 8.3333333333333333e-03
    p = p * r + 4.1666666666666666e-02
    p = p * r + 1.6666666666666666e-01
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    scale.u = <uint64_t> (<int64_t> k + 1023) << 52
    return p * scale.d


cdef inline double power(double base, int degree) noexcept nogil:
    """base ** degree, degree >= 1, by squaring: the same bits on every machine, unlike pow()."""
    cdef double result = 1.0
    while degree:
        if degree & 1:
            result *= base
        base *= base
        degree >>= 1
    return result


cdef inline double any_kernel_value(
    const Kernel *kernel, bint is_float32, const void *x, const void *z, int64_t n
) noexcept nogil:
    """x.z,  exp(-gamma |x - z|^2),  or (gamma x.z + coef0)^degree; summed in the vectors' dtype"""
    if kernel.kind == RBF:
        return exp_(-kernel.gamma * lanes_square_distance(is_float32, x, z, n))
    if kernel.kind == POLYNOMIAL:
        return power(kernel.gamma * any_dot(is_float32, x, z, n) + kernel.coef0, kernel.degree)
    return any_dot(is_float32, x, z, n)


cdef inline Kernel kernel_of(code):
    """The C kernel for the `code` of a kernel in edgesvm.kernels"""
    cdef Kernel kernel
    kernel.kind, kernel.gamma, kernel.coef0, kernel.degree = code
    return kernel
