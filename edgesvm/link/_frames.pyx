"""Frames from bytes, fed in pieces of any size: split at 0x00, undo COBS, check the CRC-32.

Every byte fed is accounted for, whatever its value and however the stream is divided:

    bytes_in = bytes_ok + bytes_rejected + delimiters + pending
    frames   = ok + bad_cobs + bad_crc + bad_len + oversize

One buffer of ``max_encoded_length(max_raw)`` bytes, allocated by the constructor, holds the
unfinished run, which is decoded in place. A run that lies whole in a chunk is decoded from there.
"""

cimport cython
from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcpy

import numpy as np

from edgesvm.link._cobs cimport cobs_decode, cobs_encode, max_encoded_length
from edgesvm.link._crc32 cimport crc32

from edgesvm.link.frames import MAX_RAW, Frame

# No sample is longer than this: d is a uint16 in SCHEMA.
LARGEST_RAW = 1 << 18

COUNTERS = ("bytes_in", "bytes_ok", "bytes_rejected", "delimiters", "pending", "discarded_bytes",
            "frames", "ok", "bad_cobs", "bad_crc", "bad_len", "oversize", "empty")


@cython.final
cdef class FrameDecoder:
    """Valid frames out of a byte stream.

    Parameters
    ----------
    max_raw : int
        Longest frame accepted, in bytes before COBS, 12 to 262144. A longer run is dropped and
        counted once.

    Attributes
    ----------
    bytes_in, bytes_ok, bytes_rejected, delimiters, pending : int
        Bytes: all, in valid frames, in rejected runs, delimiters (0x00), and those held of an
        unfinished run.
    discarded_bytes : int
        Those of `bytes_rejected` that came before the first 0x00 after `resync`.
    frames, ok, bad_cobs, bad_crc, bad_len, oversize : int
        Runs between delimiters: all, valid, and rejected, by what was wrong.
    empty : int
        Delimiters with nothing before them.
    nbytes : int
        Size of the buffer in bytes.

    Raises
    ------
    ValueError
        `max_raw` is out of range.
    """

    def __cinit__(self, Py_ssize_t max_raw=MAX_RAW):
        if not MIN_RAW <= max_raw <= LARGEST_RAW:
            raise ValueError(f"max_raw={max_raw} must be {MIN_RAW} to {LARGEST_RAW} bytes")
        self.max_raw = max_raw
        self._buffer = np.zeros(max_encoded_length(max_raw), np.uint8)
        self.raw = &self._buffer[0]

    @property
    def pending(self):
        return self._held

    @property
    def nbytes(self):
        return self._buffer.shape[0]

    def resync(self):
        """Restart in the middle of a stream: bytes before the next 0x00 are discarded."""
        self.bytes_rejected += self._held
        self.discarded_bytes += self._held
        self._held = 0
        self._skipping = self._discarding = True

    def feed(self, const uint8_t[::1] chunk):
        """The valid frames that `chunk` completes.

        Parameters
        ----------
        chunk : bytes-like
            The next bytes of the stream, of any length.

        Returns
        -------
        list of Frame
            (kind, flags, schema_id, sequence, body, version), in order. Frames of other protocol
            versions are included, though their meaning is unknown.
        """
        cdef Py_ssize_t at = 0
        frames = []
        if chunk.shape[0]:
            while self.next(&chunk[0], chunk.shape[0], &at):
                frames.append(self.frame())
        return frames

    def counters(self):
        """All counts, by name."""
        return {name: getattr(self, name) for name in COUNTERS}

    def broken_identities(self):
        """The counter identities that do not hold, as text; empty if all hold."""
        c = self.counters()
        broken = []
        if c["bytes_in"] != c["bytes_ok"] + c["bytes_rejected"] + c["delimiters"] + c["pending"]:
            broken.append(f"bytes_in = bytes_ok + bytes_rejected + delimiters + pending: {c}")
        if c["frames"] != c["ok"] + c["bad_cobs"] + c["bad_crc"] + c["bad_len"] + c["oversize"]:
            broken.append(f"frames = ok + bad_cobs + bad_crc + bad_len + oversize: {c}")
        return broken

    cdef bint next(self, const uint8_t *chunk, Py_ssize_t n, Py_ssize_t *at) noexcept nogil:
        """Read on from chunk[at] until `raw` holds a valid frame; False at the chunk's end."""
        cdef const uint8_t *start
        cdef const uint8_t *end
        cdef Py_ssize_t length
        while at[0] < n:
            start = chunk + at[0]
            end = <const uint8_t *> memchr(start, 0, n - at[0])
            if end == NULL:
                self.bytes_in += n - at[0]
                self._hold(start, n - at[0])
                at[0] = n
                return False
            length = end - start
            self.bytes_in += length + 1
            self.delimiters += 1
            at[0] += length + 1
            if self._close_run(start, length):
                return True
        return False

    cdef bint _close_run(self, const uint8_t *tail, Py_ssize_t n) noexcept nogil:
        """A delimiter follows the n bytes of `tail`, which complete the run held so far."""
        cdef Py_ssize_t held = self._held
        if self._skipping or held + n > self._buffer.shape[0]:
            self._hold(tail, n)
            self._skipping = self._discarding = False
            return False
        self._held = 0
        if held + n == 0:
            self.empty += 1
            return False
        if held == 0:
            return self._decode_run(tail, n)
        memcpy(self.raw + held, tail, n)
        return self._decode_run(self.raw, held + n)

    cdef void _hold(self, const uint8_t *part, Py_ssize_t n) noexcept nogil:
        """Keep part of an unfinished run; drop the run once it is too long."""
        if not self._skipping and self._held + n <= self._buffer.shape[0]:
            memcpy(self.raw + self._held, part, n)
            self._held += n
            return
        if not self._skipping:
            self.frames += 1
            self.oversize += 1
            self._skipping = True
        self.bytes_rejected += self._held + n
        self._held = 0
        if self._discarding:
            self.discarded_bytes += n

    cdef bint _decode_run(self, const uint8_t *run, Py_ssize_t n) noexcept nogil:
        """Decode a whole run into `raw` and count it; is it valid?"""
        cdef Py_ssize_t length = cobs_decode(run, n, self.raw)
        self.frames += 1
        if length < 0:
            self.bad_cobs += 1
        elif length < MIN_RAW or length > self.max_raw:
            self.bad_len += 1
        elif crc32(self.raw, length - CRC_BYTES) != load_u32(self.raw + length - CRC_BYTES):
            self.bad_crc += 1
        else:
            self.ok += 1
            self.bytes_ok += n
            self.raw_length = length
            return True
        self.bytes_rejected += n
        return False

    cdef object frame(self):
        """The valid frame in `raw`, as a Python object."""
        cdef const uint8_t *raw = self.raw
        body = (<const char *> raw)[HEADER_BYTES:self.raw_length - CRC_BYTES]
        return Frame(raw[0], raw[1] & 0xF, load_u16(raw + 2), load_u32(raw + 4), body, raw[1] >> 4)


def cobs_encode_view(const uint8_t[::1] raw):
    """The compiled COBS encoder, for tests."""
    cdef uint8_t[::1] run = bytearray(max_encoded_length(raw.shape[0]))
    cdef uint8_t nothing = 0
    cdef Py_ssize_t n = cobs_encode(&raw[0] if raw.shape[0] else &nothing, raw.shape[0], &run[0])
    return bytes(run[:n])


def cobs_decode_view(const uint8_t[::1] run):
    """The compiled COBS decoder, for tests; None for a run that is cut short."""
    cdef uint8_t[::1] raw = bytearray(max(1, run.shape[0]))
    if run.shape[0] == 0:
        return b""
    cdef Py_ssize_t n = cobs_decode(&run[0], run.shape[0], &raw[0])
    return None if n < 0 else bytes(raw[:n])
