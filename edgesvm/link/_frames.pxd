# Bytes to frames, and what both kinds of links ask of a sample: its number and its values.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    HEADER_BYTES = 8
    CRC_BYTES = 4
    MIN_RAW = 12
    REFUSALS = 16  # refused samples remembered for answers to the node; others are only counted
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


cdef uint32_t crc32(const uint8_t *data, Py_ssize_t n) noexcept nogil
cdef Py_ssize_t max_encoded_length(Py_ssize_t n) noexcept nogil
cdef Py_ssize_t cobs_encode(const uint8_t *raw, Py_ssize_t n, uint8_t *run) noexcept nogil


cdef enum Cut:
    CHUNK_END
    WHOLE     # a run, and its delimiter
    TOO_LONG  # a run that is dropped, told once


cdef class Splitter:
    cdef readonly int64_t bytes_in, bytes_ok, bytes_rejected, delimiters, discarded_bytes
    cdef uint8_t _delimiter
    cdef uint8_t[::1] _buffer    # the unfinished run
    cdef Py_ssize_t _held        # bytes of it
    cdef bint _skipping          # in a run that is too long, or discarding
    cdef bint _discarding        # before the first delimiter after `resync`
    cdef const uint8_t *run      # the last whole one, without its delimiter
    cdef Py_ssize_t run_length

    cdef Cut cut(self, const uint8_t *chunk, Py_ssize_t n, Py_ssize_t *at) noexcept nogil
    cdef bint _keep(self, const uint8_t *part, Py_ssize_t n) noexcept nogil


cdef class FrameDecoder(Splitter):
    cdef readonly Py_ssize_t max_raw
    cdef readonly int64_t frames, ok, bad_cobs, bad_crc, bad_len, oversize, empty
    cdef uint8_t *raw            # the last valid frame: header, body, CRC; in the buffer
    cdef Py_ssize_t raw_length

    cdef bint next(self, const uint8_t *chunk, Py_ssize_t n, Py_ssize_t *at) noexcept nogil
    cdef bint _decode(self) noexcept nogil
    cdef object frame(self)


cdef enum Verdict:
    NEW        # the highest so far
    REORDERED  # late, within the window, not seen before
    DUPLICATE  # seen before
    TOO_OLD    # behind the window: indistinguishable from a duplicate


cdef struct Epoch:
    uint32_t highest
    uint64_t seen                # bit k: highest - k was seen
    int64_t span, unique, missing


cdef class SequenceWindow:
    cdef readonly int64_t epochs, reordered, duplicate, too_old, seq_jump
    cdef bint _open              # this epoch has a number
    cdef Epoch _now
    # The epoch before a jump, kept until the new one has as many numbers as the window.
    cdef bint _has_home
    cdef Epoch _home
    cdef Epoch _past             # sums of earlier epochs

    cdef Verdict accept(self, uint32_t sequence) noexcept nogil
    cdef bint is_behind_window(self, uint32_t sequence) noexcept nogil
    cdef bint is_ahead(self, uint32_t sequence) noexcept nogil
    cdef bint is_old(self, uint32_t sequence) noexcept nogil
    cdef void begin_epoch(self) noexcept nogil
    cdef void _count(self, const Epoch *epoch, int64_t sign) noexcept nogil
    cdef void _jump(self, uint32_t sequence) noexcept nogil
    cdef Verdict _advance(self, uint32_t sequence, int64_t step) noexcept nogil
    cdef Verdict _look_back(self, int64_t behind) noexcept nogil


cdef class ValueGate:
    cdef readonly int64_t bad_nan, bad_inf, bad_range, clipped
    cdef readonly int64_t bad_value  # these three, and numbers in lines that are not finite
    cdef bint _clip
    cdef readonly bint missing
    cdef float _low, _high
    cdef uint32_t[REFUSALS] _refused
    cdef int _n_refused

    cdef bint admit(self, float *x, Py_ssize_t n, uint32_t sequence) noexcept nogil
    cdef void refuse(self, uint32_t sequence) noexcept nogil
