# Numbers from -24 to 24 as codes of 16 bits, whole multiples of 1 / CODES_PER_UNIT.

from libc.math cimport rint
from libc.stdint cimport int16_t, int64_t

cdef extern from "lanes.h" nogil:
    void codes_square_distances(
        const int16_t *x, const int16_t *rows, int64_t width, int64_t n, double unit, double *out
    ) noexcept

cdef enum:
    CODES_PER_UNIT = 1365   # 24 times it is 32760: both ends are exact


cdef inline int16_t code_of(double z) noexcept nogil:
    """The nearest code of -24 <= z <= 24, the even one of two"""
    return <int16_t> rint(z * CODES_PER_UNIT)


cdef inline void code_distances(
    const int16_t *x, const int16_t *rows, int64_t width, int64_t n, double *out
) noexcept nogil:
    """out[i] = ((x - rows[i]) ** 2).sum(), in units of the numbers"""
    codes_square_distances(x, rows, width, n, 1.0 / CODES_PER_UNIT, out)
