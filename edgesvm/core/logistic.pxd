# The logistic function and logarithms, with the same bits on every machine: the C library's differ
# in the last bit, and a model's bytes must not.

from libc.math cimport fabs, fmin, frexp

from edgesvm.core.kernels cimport exp_


cdef inline double sigmoid(double z) noexcept nogil:
    """1 / (1 + exp(-z))"""
    cdef double e = exp_(-fabs(z))
    return 1.0 / (1.0 + e) if z > 0.0 else e / (1.0 + e)


cdef inline double twice_atanh(double s) noexcept nogil:
    """2 atanh(s) = 2 (s + s^3/3 + ... + s^33/33), |s| <= 1/3"""
    cdef double total = 0.0
    cdef int k
    for k in range(33, 0, -2):
        total = total * s * s + 1.0 / k
    return 2.0 * s * total


cdef inline double log_(double x) noexcept nogil:
    """log(x), x > 0"""
    cdef int k
    cdef double m = frexp(x, &k)
    return k * 6.93147180559945286227e-01 + twice_atanh((m - 1.0) / (m + 1.0))


cdef inline double log_sigmoid(double z) noexcept nogil:
    """log(sigmoid(z)) = min(z, 0) - log(1 + exp(-|z|))"""
    cdef double e = exp_(-fabs(z))
    return fmin(z, 0.0) - twice_atanh(e / (2.0 + e))
