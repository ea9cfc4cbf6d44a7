"""The node's hot loop: samples to frames, a block at a time, in the bytes of `link.wire`."""

from libc.math cimport isnan
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

import numpy as np

from edgesvm.link._frames cimport CRC_BYTES, HEADER_BYTES, PROTOCOL_VERSION
from edgesvm.link._frames cimport cobs_encode, crc32, max_encoded_length, store_u16
from edgesvm.link._frames cimport store_u32
from edgesvm.link._keyed cimport MOST_ADDED, Authenticator

cdef enum:
    # As in wire.py.
    HAS_LABEL = 1
    HAS_TIME = 2
    WEIGHT_ONE = 256

NO_LABEL = -(1 << 20)
cdef int32_t _NO_LABEL = NO_LABEL

ctypedef fused label_t:
    int32_t  # class index
    double   # target


def encode_samples(int kind, uint16_t schema_id, uint32_t first, const uint8_t[:, ::1] rows,
                   const label_t[::1] labels, int64_t time_us=-1, Authenticator guard=None):
    """Sample frames, one after the other.

    Parameters
    ----------
    kind : int
        Frame type.
    schema_id : int
    first : int
        Sequence number of the first, the others run on.
    rows : ndarray of shape (n, bytes a sample), uint8
        The features as they lie in memory.
    labels : ndarray of shape (n,), int32 or float64
        -32768 to 32767; NO_LABEL sends none. Float64: targets; NaN sends none.
    time_us : int
        Device time for all of them; -1 sends none.
    guard : Authenticator, optional
        Adds a tag to each frame.

    Returns
    -------
    data : bytes
    ends : ndarray of shape (n,), int64
        Where each frame ends in it.
    """
    cdef Py_ssize_t n = rows.shape[0], size = rows.shape[1], at = 0, length, i
    cdef Py_ssize_t raw_size = HEADER_BYTES + 16 + size + MOST_ADDED + CRC_BYTES
    if labels.shape[0] != n:
        raise ValueError(f"{n} rows, {labels.shape[0]} labels")
    raw_array = np.zeros(raw_size, np.uint8)
    out_array = np.empty(n * (max_encoded_length(raw_size) + 1) + 1, np.uint8)
    ends_array = np.empty(n, np.int64)
    cdef uint8_t[::1] raw = raw_array
    cdef uint8_t[::1] out = out_array
    cdef int64_t[::1] ends = ends_array
    for i in range(n):
        length = HEADER_BYTES
        raw[0] = kind
        raw[1] = PROTOCOL_VERSION << 4
        store_u16(&raw[2], schema_id)
        store_u32(&raw[4], first + <uint32_t> i)
        if time_us >= 0:
            raw[1] |= HAS_TIME
            store_u32(&raw[length], <uint32_t> time_us)
            length += 4
        if label_t is double:
            if not isnan(labels[i]):
                raw[1] |= HAS_LABEL
                memcpy(&raw[length], &labels[i], 8)
                store_u32(&raw[length + 8], WEIGHT_ONE)
                length += 12
        elif labels[i] != _NO_LABEL:
            raw[1] |= HAS_LABEL
            store_u16(&raw[length], <uint16_t> <int16_t> labels[i])
            store_u16(&raw[length + 2], WEIGHT_ONE)
            length += 4
        if size:
            memcpy(&raw[length], &rows[i, 0], size)
            length += size
        if guard is not None:
            length = guard.seal(&raw[0], length)
        store_u32(&raw[length], crc32(&raw[0], length))
        at += cobs_encode(&raw[0], length + CRC_BYTES, &out[at])
        out[at] = 0
        at += 1
        ends[i] = at
    return out_array[:at].tobytes(), ends_array
