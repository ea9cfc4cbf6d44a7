# Numbers as text, and what else is in a line of them; see text.pyx.

from libc.stdint cimport uint8_t

cdef enum Number:
    GOOD
    BAD_CHARACTER
    NOT_FINITE  # nan, inf, ovf (as Arduino prints them), or beyond the largest number


cdef inline bint is_blank(uint8_t c) noexcept nogil:
    return c == c" " or c == c"\t"


cdef inline bint is_letter(uint8_t c) noexcept nogil:
    return c"a" <= (c | 0x20) <= c"z"


cdef Py_ssize_t count_of(uint8_t c, const uint8_t *line, Py_ssize_t n) noexcept nogil
cdef Number parse(const uint8_t *text, Py_ssize_t n, bint is_float32, double *value) noexcept nogil
cdef bint read_number(const uint8_t *text, Py_ssize_t n, bint comma, double *value) except -1
cdef bint is_missing(const uint8_t *text, Py_ssize_t n) noexcept nogil
cdef Py_ssize_t tidy(const uint8_t *line, Py_ssize_t n, uint8_t *out) noexcept nogil
