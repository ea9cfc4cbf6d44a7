# Bytes that wait to be written.

from libc.stdint cimport int16_t, uint8_t, uint16_t, uint32_t

from edgesvm.link._guard cimport Guard


cdef class Outbox:
    cdef readonly Py_ssize_t capacity
    cdef Py_ssize_t _count
    cdef bint _as_lines
    cdef uint8_t[::1] _bytes

    cdef bint has_room(self, Guard guard) noexcept
    cdef int put(self, uint16_t schema_id, uint32_t frame_sequence, uint32_t sequence,
                 int16_t label, uint16_t flags, double score, Guard guard) except -1
    cdef int _put_line(self, uint32_t sequence, int label, int flags, double score) except -1
    cdef void _put_frame(self, uint16_t schema_id, uint32_t frame_sequence, uint32_t sequence,
                         int16_t label, uint16_t flags, float score, Guard guard) noexcept
