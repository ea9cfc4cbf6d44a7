"""A fixed buffer of bytes to be written to a port that may not accept them yet.

A frame that does not fit is dropped whole, so a node that does not read costs predictions and
nothing else.
"""

cimport cython
from libc.stdint cimport int16_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memmove

import numpy as np

from edgesvm.link._cobs cimport cobs_encode, max_encoded_length
from edgesvm.link._crc32 cimport crc32
from edgesvm.link._frames cimport CRC_BYTES, HEADER_BYTES, PROTOCOL_VERSION, store_u16, store_u32
from edgesvm.link._authenticator cimport MOST_ADDED, Authenticator

cdef enum:
    PREDICTION = 0x20  # as in frames.py
    PREDICTION_RAW = 24  # header, u32 sequence, i16 label, u16 flags, f32 score, CRC
    ESTIMATE_RAW = 44    # header, u32 sequence, u16 flags, u16 0, f64 value, low and high, CRC


@cython.final
cdef class Outbox:
    """Fixed buffer of bytes to be written.

    Parameters
    ----------
    capacity : int
        Bytes, at least 64.
    """

    cdef readonly Py_ssize_t capacity
    cdef Py_ssize_t _count
    cdef uint8_t[::1] _bytes

    def __cinit__(self, Py_ssize_t capacity=4096):
        if capacity < 64:
            raise ValueError(f"outbox capacity={capacity} must be at least 64 bytes")
        self.capacity = capacity
        self._bytes = np.zeros(capacity, np.uint8)

    def __len__(self):
        return self._count

    def append(self, const uint8_t[::1] data):
        """Queue `data`; False, with nothing queued, if it does not fit."""
        cdef Py_ssize_t n = data.shape[0]
        if n > self.capacity - self._count:
            return False
        if n:
            memcpy(&self._bytes[self._count], &data[0], n)
            self._count += n
        return True

    def prediction(self, uint16_t schema_id, uint32_t frame_sequence,
                   uint32_t sequence, int16_t label, uint16_t flags, float score,
                   Authenticator guard=None):
        """Queue a PREDICTION frame; False, with nothing queued, if it does not fit."""
        cdef uint8_t[PREDICTION_RAW + MOST_ADDED] raw
        if not self._has_room(PREDICTION_RAW, guard):
            return False
        self._begin(raw, schema_id, frame_sequence, sequence)
        store_u16(raw + HEADER_BYTES + 4, <uint16_t> label)
        store_u16(raw + HEADER_BYTES + 6, flags)
        memcpy(raw + HEADER_BYTES + 8, &score, sizeof(score))
        self._end(raw, PREDICTION_RAW - CRC_BYTES, guard)
        return True

    def estimate(self, uint16_t schema_id, uint32_t frame_sequence, uint32_t sequence,
                 uint16_t flags, double value, double low, double high, Authenticator guard=None):
        """Queue a PREDICTION frame of a target; False, with nothing queued, if it does not fit."""
        cdef uint8_t[ESTIMATE_RAW + MOST_ADDED] raw
        cdef double[3] numbers = [value, low, high]
        if not self._has_room(ESTIMATE_RAW, guard):
            return False
        self._begin(raw, schema_id, frame_sequence, sequence)
        store_u16(raw + HEADER_BYTES + 4, flags)
        store_u16(raw + HEADER_BYTES + 6, 0)
        memcpy(raw + HEADER_BYTES + 8, numbers, sizeof(numbers))
        self._end(raw, ESTIMATE_RAW - CRC_BYTES, guard)
        return True

    cdef bint _has_room(self, Py_ssize_t raw_length, Authenticator guard):
        raw_length += 0 if guard is None else MOST_ADDED
        return max_encoded_length(raw_length) + 1 <= self.capacity - self._count

    cdef void _begin(self, uint8_t *raw, uint16_t schema_id, uint32_t frame_sequence,
                     uint32_t sequence) noexcept:
        """The header of a PREDICTION, and the number of its sample."""
        raw[0] = PREDICTION
        raw[1] = PROTOCOL_VERSION << 4
        store_u16(raw + 2, schema_id)
        store_u32(raw + 4, frame_sequence)
        store_u32(raw + HEADER_BYTES, sequence)

    cdef int _end(self, uint8_t *raw, Py_ssize_t end, Authenticator guard) except -1:
        """Close the frame in raw[:end], and queue it."""
        if guard is not None:
            end = guard.seal(raw, end)
        store_u32(raw + end, crc32(raw, end))
        self._count += cobs_encode(raw, end + CRC_BYTES, &self._bytes[self._count])
        self._bytes[self._count] = 0
        self._count += 1
        return 0

    def pending(self):
        """A copy of the queued bytes."""
        return bytes(self._bytes[:self._count])

    def consume(self, Py_ssize_t n):
        """Remove the first `n` bytes, which have been written."""
        if not 0 <= n <= self._count:
            raise ValueError(f"consume({n}): n must be 0 to {self._count}, the bytes queued")
        if n == 0:
            return
        self._count -= n
        memmove(&self._bytes[0], &self._bytes[0] + n, self._count)
