# Frames out of a byte stream: FrameDecoder.next() leaves each valid frame in `raw`.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

cdef enum:
    HEADER_BYTES = 8
    CRC_BYTES = 4
    MIN_RAW = 12
    PROTOCOL_VERSION = 1


cdef inline uint16_t load_u16(const uint8_t *p) noexcept nogil:
    return <uint16_t> (p[0] | p[1] << 8)


cdef inline uint32_t load_u32(const uint8_t *p) noexcept nogil:
    return p[0] | <uint32_t> p[1] << 8 | <uint32_t> p[2] << 16 | <uint32_t> p[3] << 24


cdef inline void store_u16(uint8_t *p, uint32_t value) noexcept nogil:
    p[0] = value & 0xFF
    p[1] = value >> 8 & 0xFF


cdef inline void store_u32(uint8_t *p, uint32_t value) noexcept nogil:
    store_u16(p, value & 0xFFFF)
    store_u16(p + 2, value >> 16)


cdef class FrameDecoder:
    cdef readonly Py_ssize_t max_raw
    cdef readonly int64_t bytes_in, bytes_ok, bytes_rejected, delimiters, discarded_bytes
    cdef readonly int64_t frames, ok, bad_cobs, bad_crc, bad_len, oversize, empty
    cdef uint8_t[::1] _buffer    # the unfinished run, then the decoded frame in its place
    cdef Py_ssize_t _held        # bytes of the unfinished run
    cdef bint _skipping          # in a run that is too long, or discarding
    cdef bint _discarding        # before the first delimiter after `resync`
    cdef uint8_t *raw            # the last valid frame: header, body, CRC
    cdef Py_ssize_t raw_length

    cdef bint next(self, const uint8_t *chunk, Py_ssize_t n, Py_ssize_t *at) noexcept nogil
    cdef bint _close_run(self, const uint8_t *tail, Py_ssize_t n) noexcept nogil
    cdef bint _decode_run(self, const uint8_t *run, Py_ssize_t n) noexcept nogil
    cdef void _hold(self, const uint8_t *part, Py_ssize_t n) noexcept nogil
    cdef object frame(self)
