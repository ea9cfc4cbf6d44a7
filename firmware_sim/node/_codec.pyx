"""The node's two hot loops: samples to frames, a block at a time, and frames to predictions.

What `edgesvm.link.wire` does for one frame, in the same bytes.
"""

cimport cython
from libc.math cimport isnan
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

import numpy as np

from edgesvm.link._frames cimport CRC_BYTES, HEADER_BYTES, PROTOCOL_VERSION, FrameDecoder
from edgesvm.link._frames cimport cobs_encode, crc32, load_u16, load_u32, max_encoded_length
from edgesvm.link._frames cimport store_u16, store_u32
from edgesvm.link._keyed cimport MOST_ADDED, Authenticator

cdef enum:
    # As in wire.py.
    HAS_LABEL = 1
    HAS_TIME = 2
    PREDICTION = 0x20
    PREDICTION_RAW = 24
    ESTIMATE_RAW = 44
    PREDICTION_FLAGS = 15
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


@cython.final
cdef class PredictionReader:
    """Bytes from the host; predictions are gathered, other frames handed to Python.

    Parameters
    ----------
    decoder : FrameDecoder
    guard : Authenticator, optional
        Frames that it refuses are not read.
    targets : bool
        Whether predictions are targets with their intervals.

    Attributes
    ----------
    malformed : int
        Predictions of the wrong length or with flags that mean nothing.
    """

    cdef readonly FrameDecoder decoder
    cdef Authenticator _guard
    cdef readonly int64_t malformed
    cdef Py_ssize_t _n
    cdef uint32_t[::1] _sequence
    cdef bint _targets
    cdef double[:, ::1] _answer  # label, or value, low, high
    cdef int32_t[::1] _flags

    def __cinit__(self, FrameDecoder decoder not None, Authenticator guard=None, targets=False):
        self.decoder = decoder
        self._targets = targets
        self._guard = guard
        self._make_room(64)

    def feed(self, const uint8_t[::1] chunk):
        """Take in the next bytes; yields each sound frame of this or another version that is no
        prediction of ours, at its place."""
        cdef Py_ssize_t at = 0
        cdef uint8_t *raw = self.decoder.raw
        if chunk.shape[0] == 0:
            return
        if self._n + chunk.shape[0] // PREDICTION_RAW + 2 > self._sequence.shape[0]:
            self._make_room(self._n + chunk.shape[0] // PREDICTION_RAW + 2)
        while self.decoder.next(&chunk[0], chunk.shape[0], &at):
            if self._guard is not None and not self._guard.admit(raw, &self.decoder.raw_length):
                continue
            if raw[0] == PREDICTION and raw[1] >> 4 == PROTOCOL_VERSION:
                self._keep(raw)
            else:
                yield self.decoder.frame()

    def take(self):
        """Those gathered since the last call: sequence uint32, label int32 of shape (n,), or value,
        low and high float64 of shape (n, 3), and flags int32; copies."""
        n, self._n = self._n, 0
        answer = np.array(self._answer[:n])
        return (np.array(self._sequence[:n]),
                answer if self._targets else answer[:, 0].astype(np.int32),
                np.array(self._flags[:n]))

    cdef void _keep(self, const uint8_t *raw) noexcept:
        cdef uint16_t flags = load_u16(raw + HEADER_BYTES + (4 if self._targets else 6))
        cdef Py_ssize_t length = ESTIMATE_RAW if self._targets else PREDICTION_RAW
        if self.decoder.raw_length != length or flags & ~PREDICTION_FLAGS:
            self.malformed += 1
            return
        self._sequence[self._n] = load_u32(raw + HEADER_BYTES)
        if self._targets:
            memcpy(&self._answer[self._n, 0], raw + HEADER_BYTES + 8, 24)
        else:
            self._answer[self._n, 0] = <int16_t> load_u16(raw + HEADER_BYTES + 4)
        self._flags[self._n] = flags
        self._n += 1

    def _make_room(self, Py_ssize_t n):
        sequence = np.empty(n, np.uint32)
        answer, flags = np.empty((n, 3)), np.empty(n, np.int32)
        if self._n:
            sequence[:self._n] = self._sequence[:self._n]
            answer[:self._n] = self._answer[:self._n]
            flags[:self._n] = self._flags[:self._n]
        self._sequence, self._answer, self._flags = sequence, answer, flags
