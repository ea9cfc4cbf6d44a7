# Decimal text to float32: no locale, no hexadecimal, no special values.

from libc.stdint cimport uint8_t

cdef extern from "<math.h>" nogil:
    float nextafterf(float x, float y) noexcept

cdef enum Number:
    GOOD
    BAD_CHARACTER
    NOT_FINITE  # nan, inf, ovf (as Arduino prints them), or beyond the largest float32

cdef Number parse_float32(const uint8_t *text, Py_ssize_t n, float *value) noexcept nogil

# The bytes of a plain decimal, ``[+-] digits [. digits]``, that `text` begins with, and its value;
# 0: there is none, or it has more than 19 digits.
cdef Py_ssize_t parse_plain(const uint8_t *text, Py_ssize_t n, float *value) noexcept nogil

# Whether `text` is so many plain decimals, with one separator from each to the next; their values.
cdef bint parse_plain_row(
    const uint8_t *text, Py_ssize_t n, uint8_t separator, Py_ssize_t columns,
    float *values) noexcept nogil
