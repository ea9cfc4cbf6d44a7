"""Samples from frames: each valid sample frame is checked in C and copied into the ring.

Late labels, if they are used, are queued in C too. Every sample frame is accounted for:

    samples = ring_in + duplicate + too_old + bad_value + bad_dimension + bad_flags
              + schema_mismatch
"""

cimport cython
from libc.math cimport isfinite
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

import numpy as np

from edgesvm.link._frames import GATE_COUNTERS

from edgesvm.link._frames cimport CRC_BYTES, HEADER_BYTES, PROTOCOL_VERSION
from edgesvm.link._frames cimport NEW, REORDERED, FrameDecoder, SequenceWindow, ValueGate, Verdict
from edgesvm.link._frames cimport load_u16, load_u32
from edgesvm.link._keyed cimport Authenticator
from edgesvm.link._ring cimport LateLabels, SampleRing

cdef enum:
    # As in wire.py.
    SAMPLE_F32 = 0x10
    SAMPLE_I16 = 0x11
    LABEL = 0x12
    LABEL_RAW = 20
    TARGET_RAW = 28  # the same with a target
    HAS_LABEL = 1
    HAS_TIME = 2

cdef int64_t CLOCK_SLACK = 1_000_000  # microseconds beyond what the sample number implies

COUNTERS = ("samples", "bad_dimension", "bad_flags", "schema_mismatch", "bad_label",
            "label_mismatch", "clock_jumps")


@cython.final
cdef class SampleReceiver:
    """Decodes bytes into rows of a ring; control frames are passed to Python.

    Until `expect` is called, every sample is a `schema_mismatch`.

    Parameters
    ----------
    decoder : FrameDecoder
    use_labels : bool
        False: labels on the wire are ignored.
    gate : ValueGate, optional
        The values a feature may have; by default any finite value.
    guard : Authenticator, optional
        Frames that it refuses are not read; by default frames have no tags.

    Attributes
    ----------
    decoder : FrameDecoder
    sequence : SequenceWindow
    ring : SampleRing or None
    late : LateLabels or None
        Receives LABEL frames; None: they are passed to Python.
    """

    cdef readonly FrameDecoder decoder
    cdef readonly SequenceWindow sequence
    cdef readonly SampleRing ring
    cdef readonly LateLabels late
    cdef readonly ValueGate gate
    cdef readonly Authenticator guard
    cdef readonly int64_t samples, bad_dimension, bad_flags, schema_mismatch
    cdef readonly int64_t bad_label, label_mismatch
    cdef readonly int64_t clock_jumps
    cdef bint _use_labels
    cdef bint _targets               # labels on the wire are float64
    cdef uint32_t _schema_id
    cdef uint8_t _kind               # of the samples: SAMPLE_F32 or SAMPLE_I16
    cdef int64_t _nominal_us
    cdef float[::1] _x               # (d,) the features, aligned
    cdef float[:, ::1] _scales       # (d, 2) scale and offset of int16 samples
    cdef int64_t _clock_epoch        # of the last sample with a time
    cdef uint32_t _clock, _clock_sequence

    def __cinit__(self, FrameDecoder decoder not None, use_labels=True, ValueGate gate=None,
                  Authenticator guard=None):
        self.decoder = decoder
        self.guard = guard
        self.gate = ValueGate() if gate is None else gate
        self.sequence = SequenceWindow()
        self._use_labels = use_labels

    @property
    def pending(self):
        return self.decoder.pending

    def expect(self, uint32_t schema_id, SampleRing ring not None, *, LateLabels late=None,
               scales=None, uint32_t nominal_us=0, targets=False):
        """Accept samples of this schema and put them in this ring.

        Parameters
        ----------
        schema_id : int
        ring : SampleRing
        late : LateLabels, optional
            Where to put LABEL frames.
        scales : array-like of shape (d, 2), optional
            Scale and offset of each feature of int16 samples; by default samples are float32.
        nominal_us : int
            Microseconds from one sample to the next; 0 if irregular.
        targets : bool
            Whether labels on the wire are float64, and not class indices.
        """
        if scales is not None:
            self._scales = np.array(scales, np.float32).reshape(ring.n_features, 2)
        self._kind = SAMPLE_F32 if scales is None else SAMPLE_I16
        self._schema_id = schema_id
        self._targets = targets
        self._nominal_us = nominal_us
        self.late = late
        if self.ring is not ring:
            self._x = np.zeros(ring.n_features, np.float32)
            self.ring = ring

    def new_epoch(self):
        """The node has restarted its sample numbers."""
        self.sequence.begin_epoch()
        if self.late is not None:
            self.late.add_epoch(self.ring.entered)

    def resync(self):
        """Restart in the middle of a stream: bytes before the next 0x00 are discarded."""
        self.decoder.resync()

    def feed(self, const uint8_t[::1] chunk):
        """Decode the next bytes of the stream, of any length.

        Yields
        ------
        Frame
            Each valid frame that is not a sample, before the samples after it are read. Exhaust
            the generator: the bytes after the last item drawn from it are not read.
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

    def counters(self):
        """All counts of the receiver, its decoder and its ring, by name."""
        counts = self.decoder.counters()
        counts.update(self.sequence.counters())
        counts.update({name: getattr(self, name) for name in COUNTERS})
        counts.update({name: getattr(self.gate, name) for name in GATE_COUNTERS})
        for part in (self.guard, self.late, self.ring):
            if part is not None:
                counts.update(part.counters())
        return counts

    def broken_identities(self):
        """The counter identities that do not hold, as text; empty if all hold."""
        broken = self.decoder.broken_identities() + self.sequence.broken_identities()
        if self.ring is not None:
            broken += self.ring.broken_identities()
        kept = 0 if self.ring is None else self.ring.pushed
        lost = self.sequence.duplicate + self.sequence.too_old + self.gate.bad_value
        lost += self.bad_dimension + self.bad_flags + self.schema_mismatch
        if self.samples != kept + lost:
            broken.append(f"samples = ring_in + refused, by each reason: {self.counters()}")
        return broken

    def memory(self):
        """The buffers allocated: a list of (name, bytes)."""
        held = [("frame buffer", self.decoder.nbytes)]
        if self.ring is not None:
            held += [("sample", 4 * self.ring.n_features), ("ring", self.ring.nbytes)]
        if self.late is not None:
            held += self.late.memory()
        if self._kind == SAMPLE_I16:
            held.append(("scale table", 8 * self.ring.n_features))
        return held

    cdef bint _to_control_frame(self, const uint8_t *chunk, Py_ssize_t n,
                                Py_ssize_t *at) noexcept nogil:
        """Read samples up to the next frame that is not one; False at the chunk's end."""
        cdef uint8_t *raw = self.decoder.raw
        while self.decoder.next(chunk, n, at):
            if self.guard is not None and not self.guard.admit(raw, &self.decoder.raw_length):
                continue
            if raw[1] >> 4 != PROTOCOL_VERSION:
                return True
            if raw[0] == SAMPLE_F32 or raw[0] == SAMPLE_I16:
                self.samples += 1
                self._sample(raw, self.decoder.raw_length - CRC_BYTES)
            elif raw[0] == LABEL and self.late is not None:
                self._label(raw, self.decoder.raw_length)
            else:
                return True
        return False

    cdef void _label(self, const uint8_t *raw, Py_ssize_t raw_length) noexcept nogil:
        """Queue a late label after the rows that preceded it."""
        cdef double label = 0
        cdef float weight = 1.0
        if self._schema_id == 0 or load_u16(raw + 2) != self._schema_id:
            self.label_mismatch += 1
        elif (raw_length != (TARGET_RAW if self._targets else LABEL_RAW) or raw[1] & 0xF
              or not self._read_label(raw + HEADER_BYTES + 4, &label, &weight)):
            self.bad_label += 1
        else:
            self.late.add_label(self.ring.entered, load_u32(raw + HEADER_BYTES), label, weight)

    cdef bint _read_label(self, const uint8_t *raw, double *label, float *weight) noexcept nogil:
        """Read a label and its weight; False for a target that is not finite, which is none."""
        if self._targets:
            memcpy(label, raw, sizeof(double))
            weight[0] = load_u16(raw + 8) / <float> 256.0
            return isfinite(label[0])
        label[0] = <int16_t> load_u16(raw)
        weight[0] = load_u16(raw + 2) / <float> 256.0
        return True

    cdef void _sample(self, const uint8_t *raw, Py_ssize_t end) noexcept nogil:
        """Check the sample in raw[:end]; copy it into the ring if it is good."""
        cdef int flags = raw[1] & 0xF
        cdef uint32_t sequence = load_u32(raw + 4)
        cdef Py_ssize_t at = HEADER_BYTES
        cdef Py_ssize_t n_bytes
        cdef Verdict verdict
        cdef bint has_label = False
        cdef double label = 0
        cdef float weight = 1.0
        cdef int label_bytes = 12 if self._targets else 4
        cdef int64_t jumps = self.sequence.seq_jump
        cdef uint32_t time = 0
        if raw[0] != self._kind or self._schema_id == 0 or load_u16(raw + 2) != self._schema_id:
            self.schema_mismatch += 1
            return
        if flags & ~(HAS_LABEL | HAS_TIME):
            self.bad_flags += 1
            return
        n_bytes = self.ring.n_features * (2 if self._kind == SAMPLE_I16 else 4)
        n_bytes += (4 if flags & HAS_TIME else 0) + (label_bytes if flags & HAS_LABEL else 0)
        if end != at + n_bytes:
            self.bad_dimension += 1
            return
        verdict = self.sequence.accept(sequence)
        if self.late is not None and self.sequence.seq_jump != jumps:
            self.late.add_epoch(self.ring.entered)
        if verdict != NEW and verdict != REORDERED:
            return
        if flags & HAS_TIME:
            time = load_u32(raw + at)
            at += 4
            if verdict == NEW:
                self._read_clock(time, sequence)
        if flags & HAS_LABEL:
            if self._use_labels:
                has_label = self._read_label(raw + at, &label, &weight)
            at += label_bytes
        if self._kind == SAMPLE_I16:
            self._scale(raw + at)
        else:
            memcpy(&self._x[0], raw + at, end - at)
        if self.gate.admit(&self._x[0], self._x.shape[0], sequence):
            self.ring.push(&self._x[0], sequence, label, has_label, weight)

    cdef void _scale(self, const uint8_t *raw) noexcept nogil:
        """Convert int16 features to float32: round the product, then add the offset."""
        cdef Py_ssize_t i
        for i in range(self._x.shape[0]):
            self._x[i] = self._scales[i, 0] * <int16_t> load_u16(raw + 2 * i)
            self._x[i] += self._scales[i, 1]

    cdef void _read_clock(self, uint32_t time, uint32_t sequence) noexcept nogil:
        """Check the device's clock against the sample numbers; it never orders samples."""
        cdef int64_t step = <int32_t> (time - self._clock)
        cdef int64_t expected = <int64_t> (sequence - self._clock_sequence) * self._nominal_us
        if not 0 <= step <= expected + CLOCK_SLACK:
            self.clock_jumps += self._clock_epoch == self.sequence.epochs
        self._clock_epoch = self.sequence.epochs
        self._clock, self._clock_sequence = time, sequence
