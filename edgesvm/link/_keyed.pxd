# Keyed tags of frames: `admit` checks and strips a frame's tag, `seal` adds one.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cdef enum:
    TAGGED = 8         # header flag
    TAG_BYTES = 8
    EXTENSION = 4      # more bytes in HELLO (nonce) and SCHEMA (session)
    MOST_ADDED = 12    # what seal() adds to a frame at most


cdef struct Counter:
    bint started
    uint64_t highest
    uint64_t seen      # bit k: highest - k has arrived


cdef struct SessionId:
    uint64_t nonce     # of the HELLO: its u32 nonce, and above it the 4 bytes added
    uint32_t boot_id
    uint32_t number    # of the session since that boot, from 1


cdef class Authenticator:
    cdef readonly int64_t admitted, bad_tag, replayed
    cdef bint _is_host
    cdef uint64_t[2] _key
    cdef uint64_t[2] _hello_key
    cdef uint64_t[2] _in_key
    cdef uint64_t[2] _out_key
    cdef bint _open                # a session is in force
    cdef bint _asked               # the host's HELLO with nonce `_wanted` awaits its SCHEMA
    cdef uint64_t _wanted
    cdef SessionId _session
    cdef uint32_t _boot_id         # the node's own
    cdef uint32_t _n_sessions
    cdef Counter[2] _arrived
    cdef Counter[2] _sent

    cdef bint admit(self, uint8_t *raw, Py_ssize_t *raw_length) noexcept nogil
    cdef Py_ssize_t seal(self, uint8_t *raw, Py_ssize_t end) noexcept nogil
    cdef bint _admit_hello(self, uint8_t *raw, Py_ssize_t end) noexcept nogil
    cdef bint _admit_schema(self, uint8_t *raw, Py_ssize_t end) noexcept nogil
    cdef bint _admit_counted(self, uint8_t *raw, Py_ssize_t end) noexcept nogil
    cdef void _open_session(self, SessionId session) noexcept nogil
    cdef void _derive(self, uint8_t purpose, SessionId session, uint64_t *key) noexcept nogil
