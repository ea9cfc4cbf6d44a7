# Decimal text to float32 or float64: no locale, no hexadecimal, no special values.

from libc.stdint cimport uint8_t

cdef extern from "<math.h>" nogil:
    float nextafterf(float x, float y) noexcept

cdef enum Number:
    GOOD
    BAD_CHARACTER
    NOT_FINITE  # nan, inf, ovf (as Arduino prints them), or beyond the largest number

cdef Number parse_float32(const uint8_t *text, Py_ssize_t n, float *value) noexcept nogil
cdef Number parse_float64(const uint8_t *text, Py_ssize_t n, double *value) noexcept nogil
