"""What stands between a link and its reader, in arrays allocated once: samples, late labels and
answers.

A ring of samples is filled in C and read as views; its bytes are capacity * (4 d + 13), 4 more a
row with targets:

    pushed = released + waiting + dropped

Late labels: sample n waits until a number of n + capacity or more is seen; a label that arrives
after that has expired. Which samples arrived is remembered for 8 times as many numbers (at least
1,024), so that duplicate labels and labels of samples that never arrived are recognized. Each label
in the queue has the row of the ring that it came before, so a reader processes samples and labels
in the order of the wire, however the byte stream was divided. Bytes: capacity * (4 d + 4) for the
samples, 4 d for the one taken, the history of numbers, and 21 for each label the queue can hold;
with targets 20 more a sample and 4 more a label.

    labels  = matched + duplicate + expired + unknown + dropped + handed_on + queued
    samples = matched + expired + unlabelled + waiting + claimed   (that arrived without a label)
"""

cimport cython
cimport numpy as cnp
from libc.math cimport NAN, isnan
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from typing import NamedTuple

import numpy as np

from edgesvm.link._frames cimport CRC_BYTES, HEADER_BYTES, PROTOCOL_VERSION, cobs_encode, crc32
from edgesvm.link._frames cimport store_u16, store_u32
from edgesvm.link._keyed cimport MOST_ADDED, Authenticator

cnp.import_array()

cdef Py_ssize_t LABEL_BYTES = 8 + 1 + 4 + 4 + 4
cdef Py_ssize_t LONGEST = 1 << 20  # a larger step begins a new epoch

cdef enum:
    PREDICTION = 0x20  # as in wire.py
    PREDICTION_RAW = 24  # header, u32 sequence, i16 label, u16 flags, f32 score, CRC
    ESTIMATE_RAW = 44    # header, u32 sequence, u16 flags, u16 0, f64 value, low and high, CRC
    LONGEST_ANSWER = ESTIMATE_RAW + MOST_ADDED


class Batch(NamedTuple):
    """Rows of a ring, as views that are valid until the rows are released.

    X : (n, d) float32; y : (n,) int32 class index, or float64 target, undefined where has_label is
    False; has_label : (n,) bool; weight : (n,) float32; sequence : (n,) uint32.
    """

    X: np.ndarray
    y: np.ndarray
    has_label: np.ndarray
    weight: np.ndarray
    sequence: np.ndarray


@cython.final
cdef class SampleRing:
    """Fixed-capacity queue of samples. When it is full the oldest is dropped; rows taken but not
    released are in use and stay: while there are any, the newest is dropped.

    Parameters
    ----------
    capacity : int
        Rows, at least 1.
    n_features : int
        d, at least 1.
    targets : bool
        Whether labels are numbers, float64, and not class indices.

    Attributes
    ----------
    entered, first : int
        Rows stored so far; index, from 0, of the oldest row waiting (of the next row stored, if
        none waits).

    Raises
    ------
    ValueError
        A parameter is out of range.
    """

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t n_features, targets=False):
        if capacity < 1 or n_features < 1:
            raise ValueError(f"capacity={capacity} and n_features={n_features} must be at least 1")
        self.capacity = capacity
        self.n_features = n_features
        X = np.zeros((capacity, n_features), np.float32)
        self._targets = targets
        y = np.zeros(capacity, np.float64 if targets else np.int32)
        has_label = np.zeros(capacity, np.bool_)
        weight = np.zeros(capacity, np.float32)
        sequence = np.zeros(capacity, np.uint32)
        self._arrays = Batch(X, y, has_label, weight, sequence)
        self._X, self._has_label = X, has_label.view(np.uint8)
        if targets:
            self._target = y
        else:
            self._y = y
        self._weight, self._sequence = weight, sequence

    def __len__(self):
        return self._count

    @property
    def nbytes(self):
        return sum(array.nbytes for array in self._arrays)

    @property
    def first(self):
        return self.entered - self._count

    def take(self, max_rows=None):
        """The next rows that are contiguous in memory.

        Parameters
        ----------
        max_rows : int, optional
            The most rows to take; by default all. Fewer are returned where the ring wraps around:
            call again after `release`.

        Returns
        -------
        Batch
            Views into the ring, valid until released. Until then, a second call returns the same
            rows.
        """
        cdef Py_ssize_t n = min(self._count, self.capacity - self._head)
        if max_rows is not None:
            if max_rows < 0:
                raise ValueError(f"max_rows={max_rows} is negative")
            n = min(n, max_rows)
        self._taken = max(self._taken, n)
        rows = slice(self._head, self._head + n)
        return Batch(*[array[rows] for array in self._arrays])

    def release(self, Py_ssize_t n):
        """Release the `n` oldest rows taken; ValueError if fewer than `n` are taken."""
        if not 0 <= n <= self._taken:
            raise ValueError(f"release({n}): n must be 0 to {self._taken}, the rows taken")
        self._head = (self._head + n) % self.capacity
        self._count -= n
        self._taken -= n
        self.released += n

    def push_row(self, const float[::1] x, uint32_t sequence=0, label=None, float weight=1.0):
        """Push one sample from Python; False if it was dropped."""
        if x.shape[0] != self.n_features:
            raise ValueError(f"x has {x.shape[0]} features, but the ring has {self.n_features}")
        return self.push(&x[0], sequence, 0 if label is None else label, label is not None, weight)

    def counters(self):
        """All counts, by name."""
        return {
            "ring_in": self.pushed,
            "ring_out": self.released,
            "ring_waiting": self._count,
            "ring_dropped": self.dropped,
            "ring_high_water": self.high_water,
            "ring_capacity": self.capacity,
        }

    def broken_identities(self):
        """The counter identities that do not hold, as text; empty if all hold."""
        if self.pushed != self.released + self._count + self.dropped:
            return [f"ring_in = ring_out + ring_waiting + ring_dropped: {self.counters()}"]
        return []

    cdef bint push(self, const float *x, uint32_t sequence, double label, bint has_label,
                   float weight) noexcept nogil:
        """Copy a sample into the ring, or drop one; False if it was this one."""
        cdef Py_ssize_t at
        self.pushed += 1
        if self._count == self.capacity:
            self.dropped += 1
            if self._taken:
                return False
            self._head = 0 if self._head + 1 == self.capacity else self._head + 1
            self._count -= 1
        at = self._head + self._count
        if at >= self.capacity:
            at -= self.capacity
        memcpy(&self._X[at, 0], x, self.n_features * sizeof(float))
        self._sequence[at] = sequence
        if self._targets:
            self._target[at] = label
        else:
            self._y[at] = <int32_t> label
        self._has_label[at] = has_label
        self._weight[at] = weight
        self._count += 1
        self.entered += 1
        if self._count > self.high_water:
            self.high_water = self._count
        return True


class LateLabel(NamedTuple):
    """A label as received, or the start of a new epoch, after which older samples get no label.

    sequence : number of the sample; label : class index, or target; weight : float; is_epoch : True
    for the start of an epoch, whose other three fields mean nothing.
    """

    sequence: int
    label: float
    weight: float
    is_epoch: bool = False


@cython.final
cdef class LateSample:
    """A sample whose label has arrived. The object is reused for the next one.

    Attributes
    ----------
    x : ndarray of shape (d,), float32
    label : int or float
        Class index, or target.
    weight : float
    predicted : int, (value, low, high) or None
        What was predicted when it arrived: a class, or a target and its interval.
    sequence : int
        Its sample number.
    """

    def __cinit__(self, Py_ssize_t n_features, targets=False):
        self.x = np.zeros(n_features, np.float32)
        self._x = self.x
        self._targets = targets

    @property
    def label(self):
        return self._label if self._targets else <int32_t> self._label

    @property
    def predicted(self):
        cdef double value = self._predicted[0]
        if self._targets:
            return None if isnan(value) else (value, self._predicted[1], self._predicted[2])
        return None if value == NO_PREDICTION else <int32_t> value


@cython.final
cdef class LateLabels:
    """Samples that wait for their labels.

    Parameters
    ----------
    capacity : int
        How many sample numbers a label may lag behind, 1 to 2**20.
    n_features : int
    queue : int
        Labels held for the reader; when the queue is full, further labels are dropped.
    targets : bool
        Whether labels are numbers, float64, and not class indices.

    Raises
    ------
    ValueError
        A parameter is out of range.
    """

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t n_features, Py_ssize_t queue=256,
                  targets=False):
        cdef Py_ssize_t history = 1024
        if not 1 <= capacity <= LONGEST:
            raise ValueError(f"late_labels={capacity} must be 1 to {LONGEST} samples")
        if n_features < 1 or queue < 1:
            raise ValueError(f"n_features={n_features} and queue={queue} must be at least 1")
        while history < 8 * capacity:
            history *= 2
        self.capacity = capacity
        self.n_features = n_features
        self._X = np.zeros((capacity, n_features), np.float32)
        self._targets = targets
        self._taken = LateSample(n_features, targets)
        self._state = np.zeros(history, np.uint8)
        self._mask = history - 1
        self._queue_rows = queue
        self._row = np.zeros(queue, np.int64)
        self._is_epoch = np.zeros(queue, np.uint8)
        self._number = np.zeros(queue, np.uint32)
        if targets:
            self._estimate = np.zeros((capacity, ESTIMATE))
            self._target = np.zeros(queue)
        else:
            self._predicted = np.zeros(capacity, np.int32)
            self._label = np.zeros(queue, np.int32)
        self._weight = np.zeros(queue, np.float32)

    @property
    def room(self):
        """How many more labels the queue can hold."""
        return self._queue_rows - self._count

    @property
    def queued(self):
        """How many labels the queue holds."""
        return self.labels - self.matched - self.duplicate - self.expired - self.unknown \
            - self.dropped - self.handed_on

    # For the reader of the ring.

    def rows_before(self, int64_t row):
        """How many rows from `row` on come before the next label; None if no label is queued."""
        if self._count == 0:
            return None
        return max(0, self._row[self._first] - row)

    def take(self, int64_t row):
        """The next sample matched by a label that came before `row`; None if there are no more.

        The same object is returned each time.
        """
        cdef Py_ssize_t at, slot
        cdef LateSample taken = self._taken
        while self._is_due(row):
            at = self._next()
            if self._is_epoch[at]:
                self._forget()
                continue
            slot = self._match(self._number[at])
            if slot >= 0:
                taken._label = self._label_at(at)
                taken.weight = self._weight[at]
                return self._filled(slot, self._number[at])
        return None

    def claim(self, uint32_t sequence):
        """Take a sample that waits, for a label that did not come over the wire; None if it does
        not wait. A label that comes for it later is a duplicate.

        The same object is returned each time; its label and weight are those of another sample.
        """
        cdef Py_ssize_t slot = self._waiting(sequence)
        if slot < 0:
            return None
        self._state[sequence & self._mask] = CLOSED
        self.waiting -= 1
        self.claimed += 1
        return self._filled(slot, sequence)

    cdef LateSample _filled(self, Py_ssize_t slot, uint32_t sequence):
        """The sample in a slot, without its label."""
        cdef LateSample taken = self._taken
        memcpy(&taken._x[0], &self._X[slot, 0], self.n_features * sizeof(float))
        taken.sequence = sequence
        if self._targets:
            memcpy(taken._predicted, &self._estimate[slot, 0], ESTIMATE * sizeof(double))
        else:
            taken._predicted[0] = self._predicted[slot]
        return taken

    def take_label(self, int64_t row):
        """The next label that came before `row`, unmatched; None if there are no more.

        Use it instead of `take` to store labels.
        """
        cdef Py_ssize_t at
        if not self._is_due(row):
            return None
        at = self._next()
        if self._is_epoch[at]:
            return LateLabel(0, 0, 0.0, True)
        self.handed_on += 1
        label = self._label_at(at)
        return LateLabel(self._number[at], label if self._targets else int(label), self._weight[at])

    cdef double _label_at(self, Py_ssize_t at) noexcept nogil:
        return self._target[at] if self._targets else self._label[at]

    cdef bint _is_due(self, int64_t row) noexcept nogil:
        return self._count > 0 and self._row[self._first] <= row

    cdef Py_ssize_t _next(self) noexcept nogil:
        """Remove the first entry of the queue; its index, valid until the next is queued."""
        cdef Py_ssize_t at = self._first
        self._first = self._at(1)
        self._count -= 1
        return at

    def wait(self, cnp.ndarray x not None, uint32_t sequence, predicted=None):
        """Keep a sample until its label arrives.

        Parameters
        ----------
        x : ndarray of shape (d,), float32, contiguous
        sequence : int
        predicted : int or (value, low, high), optional
            What was predicted for it: a class of 32 bits, or a target and its interval.
        """
        cdef int32_t answer = <int32_t> NO_PREDICTION
        cdef double value = NAN, low = NAN, high = NAN
        cdef Py_ssize_t slot
        if x.ndim != 1 or cnp.PyArray_TYPE(x) != cnp.NPY_FLOAT32 or \
                not cnp.PyArray_IS_C_CONTIGUOUS(x) or cnp.PyArray_DIM(x, 0) != self.n_features:
            raise ValueError(f"x must be a contiguous float32 array of {self.n_features} features")
        if predicted is not None and self._targets:
            value, low, high = predicted
        elif predicted is not None:
            answer = predicted
        if not self._enter(sequence, OPEN):
            return
        slot = self._slot(<int32_t> (self._highest - sequence))
        memcpy(&self._X[slot, 0], cnp.PyArray_DATA(x), self.n_features * sizeof(float))
        if self._targets:
            self._estimate[slot, 0] = value
            self._estimate[slot, 1] = low
            self._estimate[slot, 2] = high
        else:
            self._predicted[slot] = answer

    def labelled(self, uint32_t sequence):
        """Record a sample that arrived with its label."""
        self._enter(sequence, CLOSED)

    def counters(self):
        """All counts, by name."""
        return {
            "labels": self.labels,
            "label_matched": self.matched,
            "label_duplicate": self.duplicate,
            "label_expired": self.expired,
            "label_unknown": self.unknown,
            "label_dropped": self.dropped,
            "label_queued": self.queued,
            "late_waiting": self.waiting,
            "late_unlabelled": self.unlabelled,
        }

    def memory(self):
        """The buffers allocated: a list of (name, bytes)."""
        return [
            ("late labels", self.capacity * (4 * self.n_features
                                             + (8 * ESTIMATE if self._targets else 4))),
            ("late sample", 4 * self.n_features),
            ("late label history", self._mask + 1),
            ("late label queue", (LABEL_BYTES + 4 * self._targets) * self._queue_rows),
        ]

    # For the parser.

    cpdef void add_label(self, int64_t row, uint32_t sequence, double label,
                         float weight=1.0) noexcept nogil:
        """Queue a label that came before `row` of the ring."""
        cdef Py_ssize_t at = self._at(self._count)
        self.labels += 1
        if self._count == self._queue_rows:
            self.dropped += 1
            return
        self._number[at] = sequence
        if self._targets:
            self._target[at] = label
        else:
            self._label[at] = <int32_t> label
        self._weight[at] = weight
        self._append(row, False)

    cpdef void add_epoch(self, int64_t row) noexcept nogil:
        """Queue the start of a new epoch, before `row` of the ring."""
        cdef Py_ssize_t last
        if self._count == self._queue_rows:
            # An epoch must not be dropped: a label of the old epoch could match a new sample.
            self._count -= 1
            last = self._at(self._count)
            self.dropped += not self._is_epoch[last]
        self._append(row, True)

    cdef void _append(self, int64_t row, bint is_epoch) noexcept nogil:
        cdef Py_ssize_t at = self._at(self._count)
        self._row[at] = row
        self._is_epoch[at] = is_epoch
        self._count += 1

    cdef Py_ssize_t _at(self, Py_ssize_t i) noexcept nogil:
        """Index of the i-th entry of the queue."""
        i += self._first
        return i - self._queue_rows if i >= self._queue_rows else i

    # The samples.

    cdef void _forget(self) noexcept nogil:
        self.unlabelled += self.waiting
        self.waiting = 0
        self._state[:] = UNSEEN
        self._started = False

    cdef bint _enter(self, uint32_t sequence, uint8_t state) noexcept nogil:
        """Record a sample; does it wait for a label?"""
        cdef int64_t behind
        if not self._started:
            self._started = True
            self._highest = sequence
        behind = <int32_t> (self._highest - sequence)
        if behind < 0:
            self._advance(sequence - self._highest)
            self._highest = sequence
            behind = 0
        if behind <= self._mask:
            self._state[sequence & self._mask] = state
        if state != OPEN:
            return False
        if behind >= self.capacity:
            self.unlabelled += 1
            return False
        self.waiting += 1
        return True

    cdef void _advance(self, uint32_t step) noexcept nogil:
        """Advance the highest number: samples now too far behind stop waiting."""
        cdef uint32_t oldest = self._highest - <uint32_t> self.capacity + 1
        cdef uint32_t i
        for i in range(<uint32_t> min(<Py_ssize_t> step, self.capacity)):
            if self._state[(oldest + i) & self._mask] == OPEN:
                self.waiting -= 1
                self.unlabelled += 1
        if step > self._mask:
            self._state[:] = UNSEEN
        else:
            for i in range(1, step + 1):
                self._state[(self._highest + i) & self._mask] = UNSEEN
        self._head = (self._head + step) % self.capacity

    cdef Py_ssize_t _slot(self, int64_t behind) noexcept nogil:
        cdef Py_ssize_t slot = self._head - behind
        return slot + self.capacity if slot < 0 else slot

    cdef Py_ssize_t _waiting(self, uint32_t sequence) noexcept nogil:
        """The slot of a sample that waits for its label, or -1."""
        cdef int64_t behind = <int32_t> (self._highest - sequence)
        if (not self._started or not 0 <= behind < self.capacity
                or self._state[sequence & self._mask] != OPEN):
            return -1
        return self._slot(behind)

    cdef Py_ssize_t _match(self, uint32_t sequence) noexcept nogil:
        """Match a label and count the outcome; the slot of its sample, or -1."""
        cdef int64_t behind = <int32_t> (self._highest - sequence)
        cdef uint8_t *state = &self._state[sequence & self._mask]
        if not self._started or behind < 0 or behind > self._mask or state[0] == UNSEEN:
            self.unknown += 1
            return -1
        if state[0] == CLOSED:
            self.duplicate += 1
            return -1
        state[0] = CLOSED
        if behind >= self.capacity:
            self.expired += 1
            self.unlabelled -= 1
            return -1
        self.matched += 1
        self.waiting -= 1
        return self._slot(behind)


# Answers.

def encode_prediction(uint16_t schema_id, uint32_t frame_sequence, uint32_t sequence, int16_t label,
                      uint16_t flags, float score, Authenticator guard=None):
    """The bytes of a PREDICTION frame, with a tag of the guard's."""
    cdef uint8_t[LONGEST_ANSWER] raw
    begin(raw, schema_id, frame_sequence, sequence)
    store_u16(raw + HEADER_BYTES + 4, <uint16_t> label)
    store_u16(raw + HEADER_BYTES + 6, flags)
    memcpy(raw + HEADER_BYTES + 8, &score, sizeof(score))
    return ended(raw, PREDICTION_RAW - CRC_BYTES, guard)


def encode_estimate(uint16_t schema_id, uint32_t frame_sequence, uint32_t sequence, uint16_t flags,
                    double value, double low, double high, Authenticator guard=None):
    """The bytes of a PREDICTION frame of a target, with a tag of the guard's."""
    cdef uint8_t[LONGEST_ANSWER] raw
    cdef double[3] numbers = [value, low, high]
    begin(raw, schema_id, frame_sequence, sequence)
    store_u16(raw + HEADER_BYTES + 4, flags)
    store_u16(raw + HEADER_BYTES + 6, 0)
    memcpy(raw + HEADER_BYTES + 8, numbers, sizeof(numbers))
    return ended(raw, ESTIMATE_RAW - CRC_BYTES, guard)


cdef void begin(uint8_t *raw, uint16_t schema_id, uint32_t frame_sequence,
                uint32_t sequence) noexcept:
    """The header of a PREDICTION, and the number of its sample."""
    raw[0] = PREDICTION
    raw[1] = PROTOCOL_VERSION << 4
    store_u16(raw + 2, schema_id)
    store_u32(raw + 4, frame_sequence)
    store_u32(raw + HEADER_BYTES, sequence)


cdef bytes ended(uint8_t *raw, Py_ssize_t end, Authenticator guard):
    """The frame in raw[:end], closed and encoded."""
    cdef uint8_t[LONGEST_ANSWER + 2] run  # one byte of COBS, and the delimiter
    if guard is not None:
        end = guard.seal(raw, end)
    store_u32(raw + end, crc32(raw, end))
    end = cobs_encode(raw, end + CRC_BYTES, run)
    run[end] = 0
    return (<const char *> run)[:end + 1]
