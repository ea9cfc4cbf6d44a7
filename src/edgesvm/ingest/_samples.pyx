"""Samples from frames: each sound frame of type SAMPLE_F32 is judged in C and copied into the ring.

Every sample frame is accounted for:

    samples = ring_in + duplicate + too_old + bad_value + bad_dimension + bad_flags
              + schema_mismatch
"""

cimport cython
from libc.math cimport isnan
from libc.stdint cimport int16_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

import numpy as np

from edgesvm.ingest._frames cimport CRC_BYTES, HEADER_BYTES, PROTOCOL_VERSION
from edgesvm.ingest._frames cimport FrameDecoder, load_u16, load_u32
from edgesvm.ingest._ring cimport SampleRing
from edgesvm.ingest._sequence cimport NEW, REORDERED, SequenceWindow, Verdict

cdef enum:
    # As in wire.py.
    SAMPLE_F32 = 0x10
    HAS_LABEL = 1
    HAS_TIME = 2
    # How many refused samples are remembered, so that the node can be told; more in one go are
    # only counted.
    REFUSALS = 16


COUNTERS = ("samples", "bad_value", "bad_nan", "bad_inf", "bad_dimension", "bad_flags",
            "schema_mismatch")


@cython.final
cdef class SampleReceiver:
    """Bytes in, rows of a ring out; control frames are handed to Python.

    Before `expect` says what a sample looks like, every sample is a `schema_mismatch`.

    Parameters
    ----------
    decoder : FrameDecoder
    use_labels : bool
        False: labels on the wire are passed over.

    Attributes
    ----------
    decoder : FrameDecoder
    sequence : SequenceWindow
    ring : SampleRing or None
    samples : int
        Sound frames of type SAMPLE_F32 in this protocol version.
    bad_value : int
        Those with a NaN or an infinite feature: `bad_nan` (a NaN came first) + `bad_inf`.
    bad_dimension, bad_flags, schema_mismatch : int
        Those of another length, with a flag that means nothing for a sample, and of another schema.
    """

    cdef readonly FrameDecoder decoder
    cdef readonly SequenceWindow sequence
    cdef readonly SampleRing ring
    cdef readonly int64_t samples, bad_nan, bad_inf, bad_dimension, bad_flags, schema_mismatch
    cdef bint _use_labels
    cdef uint32_t _schema_id
    cdef float[::1] _x               # (d,) the features, aligned
    cdef uint32_t[REFUSALS] _refused
    cdef int _n_refused

    def __cinit__(self, FrameDecoder decoder not None, use_labels=True):
        self.decoder = decoder
        self.sequence = SequenceWindow()
        self._use_labels = use_labels

    @property
    def bad_value(self):
        return self.bad_nan + self.bad_inf

    @property
    def pending(self):
        return self.decoder.pending

    def expect(self, uint32_t schema_id, SampleRing ring not None):
        """Take samples of this schema, into this ring."""
        self._schema_id = schema_id
        if self.ring is not ring:
            self._x = np.zeros(ring.n_features, np.float32)
            self.ring = ring

    def resync(self):
        """The stream begins anew, in its middle."""
        self.decoder.resync()

    def feed(self, const uint8_t[::1] chunk):
        """Take in the next bytes of the stream, any number.

        Yields
        ------
        Frame
            Each sound frame that is no sample, at its place: samples behind it are read when it
            has been dealt with. What is not drawn out of this generator is not read.
        """
        cdef Py_ssize_t at = 0
        if chunk.shape[0] == 0:
            return
        while True:
            with nogil:
                found = self._to_control_frame(&chunk[0], chunk.shape[0], &at)
            if not found:
                return
            yield self.decoder.frame()

    def take_refused(self):
        """Numbers of samples refused for their values since the last call, at most 16."""
        refused = [self._refused[i] for i in range(self._n_refused)]
        self._n_refused = 0
        return refused

    def counters(self):
        """All counts of the receiver, its decoder, its ring, by name."""
        counts = self.decoder.counters()
        counts.update(self.sequence.counters())
        counts.update({name: getattr(self, name) for name in COUNTERS})
        if self.ring is not None:
            counts.update(self.ring.counters())
        return counts

    def broken_identities(self):
        """The closing identities that do not hold, as text; empty when all do."""
        broken = self.decoder.broken_identities() + self.sequence.broken_identities()
        if self.ring is not None:
            broken += self.ring.broken_identities()
        kept = 0 if self.ring is None else self.ring.pushed
        lost = self.sequence.duplicate + self.sequence.too_old + self.bad_value
        lost += self.bad_dimension + self.bad_flags + self.schema_mismatch
        if self.samples != kept + lost:
            broken.append(f"samples = ring_in + each reason to refuse one: {self.counters()}")
        return broken

    def memory(self):
        """What is held for good: a list of (name, bytes)."""
        held = [("frame buffer", self.decoder.nbytes)]
        if self.ring is not None:
            held += [("sample", 4 * self.ring.n_features), ("ring", self.ring.nbytes)]
        return held

    cdef bint _to_control_frame(self, const uint8_t *chunk, Py_ssize_t n,
                                Py_ssize_t *at) noexcept nogil:
        """Deal with samples up to the next frame that is none; False: the chunk is used up."""
        cdef const uint8_t *raw = self.decoder.raw
        while self.decoder.next(chunk, n, at):
            if raw[0] != SAMPLE_F32 or raw[1] >> 4 != PROTOCOL_VERSION:
                return True
            self.samples += 1
            self._sample(raw, self.decoder.raw_length - CRC_BYTES)
        return False

    cdef void _sample(self, const uint8_t *raw, Py_ssize_t end) noexcept nogil:
        """Judge the sample in raw[:end]; copy it into the ring if it is good."""
        cdef int flags = raw[1] & 0xF
        cdef uint32_t sequence = load_u32(raw + 4)
        cdef Py_ssize_t at = HEADER_BYTES
        cdef Py_ssize_t n_bytes
        cdef Verdict verdict
        cdef bint has_label = False
        cdef int label = 0
        cdef float weight = 1.0
        if self._schema_id == 0 or load_u16(raw + 2) != self._schema_id:
            self.schema_mismatch += 1
            return
        if flags & ~(HAS_LABEL | HAS_TIME):
            self.bad_flags += 1
            return
        n_bytes = self.ring.n_features * sizeof(float)
        if end != at + (4 if flags & HAS_TIME else 0) + (4 if flags & HAS_LABEL else 0) + n_bytes:
            self.bad_dimension += 1
            return
        verdict = self.sequence.accept(sequence)
        if verdict != NEW and verdict != REORDERED:
            return
        if flags & HAS_TIME:
            at += 4
        if flags & HAS_LABEL:
            if self._use_labels:
                has_label = True
                label = <int16_t> load_u16(raw + at)
                weight = load_u16(raw + at + 2) / <float> 256.0
            at += 4
        memcpy(&self._x[0], raw + at, n_bytes)
        if self._finite(sequence):
            self.ring.push(&self._x[0], sequence, label, has_label, weight)

    cdef bint _finite(self, uint32_t sequence) noexcept nogil:
        """Are all features numbers? Else count the first that is not, remember the sample."""
        cdef Py_ssize_t i
        cdef float x
        for i in range(self._x.shape[0]):
            x = self._x[i]
            if x - x != 0:  # NaN for a NaN and for both infinities
                if isnan(x):
                    self.bad_nan += 1
                else:
                    self.bad_inf += 1
                if self._n_refused < REFUSALS:
                    self._refused[self._n_refused] = sequence
                    self._n_refused += 1
                return False
        return True
