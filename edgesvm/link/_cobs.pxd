# Consistent Overhead Byte Stuffing (Cheshire & Baker 1999): encodes bytes without using 0x00, which
# is left free to end a frame.

from libc.stdint cimport uint8_t
from libc.string cimport memmove


cdef inline Py_ssize_t max_encoded_length(Py_ssize_t n) noexcept nogil:
    """n + ceil(n / 254), at least n + 1"""
    return n + (1 if n == 0 else (n + 253) // 254)


cdef inline Py_ssize_t cobs_decode(const uint8_t *run, Py_ssize_t n, uint8_t *raw) noexcept nogil:
    """Decode the n bytes of `run`, which holds no 0x00, into `raw`.

    Returns the decoded length (less than n), or -1 if the run is cut short. `raw` may be `run`
    itself: writing never overtakes reading.
    """
    cdef Py_ssize_t i = 0, out = 0
    cdef int code
    while i < n:
        code = run[i]
        if i + code > n:
            return -1
        memmove(raw + out, run + i + 1, code - 1)
        out += code - 1
        i += code
        if code < 255 and i < n:
            raw[out] = 0
            out += 1
    return out


cdef inline Py_ssize_t cobs_encode(const uint8_t *raw, Py_ssize_t n, uint8_t *run) noexcept nogil:
    """Encode the n bytes of `raw` into `run`, of max_encoded_length(n) bytes; return the length."""
    cdef Py_ssize_t code_at = 0, out = 1, i
    cdef int code = 1
    for i in range(n):
        if raw[i]:
            run[out] = raw[i]
            out += 1
            code += 1
        # A block that fills up exactly where the data end is not followed by another.
        if raw[i] == 0 or (code == 255 and i + 1 < n):
            run[code_at] = code
            code_at = out
            out += 1
            code = 1
    run[code_at] = code
    return out
