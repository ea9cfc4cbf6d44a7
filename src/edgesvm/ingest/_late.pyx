"""Late labels: a window of samples that wait, and the labels on their way to them.

A sample n waits while no number from n + capacity on was seen; a label that comes later finds it
expired. For 8 times as long (at least 1,024 numbers) it is remembered which samples there were, so
that a label is told from a second one and from one for a sample that never came. Labels stand in
a queue of their own, each with the row of the sample ring it came before: a reader of the ring
deals with samples and labels in the order of the wire, however the bytes were cut.

    labels  = matched + duplicate + expired + unknown + dropped + handed_on + queued
    samples = matched + expired + unlabelled + waiting   (those that came without a label)

Bytes: capacity * (4 d + 4) for the samples, 4 d for the one taken, the memory of numbers, and 21
for each queued label. Nothing is allocated after construction.
"""

cimport cython
cimport numpy as cnp
from libc.stdint cimport INT32_MIN, int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

from typing import NamedTuple

import numpy as np

cnp.import_array()

cdef enum State:
    UNSEEN
    OPEN      # no label yet
    CLOSED    # labelled

cdef int32_t NO_PREDICTION = INT32_MIN
cdef Py_ssize_t LABEL_BYTES = 8 + 1 + 4 + 4 + 4
cdef Py_ssize_t LONGEST = 1 << 20  # a larger step is another epoch


@cython.final
cdef class LateSample:
    """A sample whose label has come; there is one, and the next takes its place.

    Attributes
    ----------
    x : ndarray of shape (d,), float32
    label : int
        Class index.
    weight : float
    predicted : int or None
        What was said at its arrival.
    sequence : int
    """

    def __cinit__(self, Py_ssize_t n_features):
        self.x = np.zeros(n_features, np.float32)
        self._x = self.x

    @property
    def predicted(self):
        return None if self._predicted == NO_PREDICTION else self._predicted


class LateLabel(NamedTuple):
    """A label as it came, or the mark of a new epoch: samples before it have no label any more.

    sequence : number of the sample; label : class index; weight : float; is_epoch : the three
    others mean nothing.
    """

    sequence: int
    label: int
    weight: float
    is_epoch: bool = False


@cython.final
cdef class LateLabels:
    """Samples that wait for their labels.

    Parameters
    ----------
    capacity : int
        Numbers that a label may lag behind, 1 to 2**20.
    n_features : int
    queue : int
        Labels held for the reader; one more is dropped.

    Attributes
    ----------
    labels, matched, duplicate, unknown, dropped, handed_on : int
        Labels: all, those that found their sample waiting, a sample labelled before, no such
        sample, and a full queue; and those given to the reader as they came.
    expired : int
        Labels that came too late for a sample there was.
    waiting, unlabelled : int
        Samples: still waiting; given up, and no label has come since.

    Raises
    ------
    ValueError
        A parameter is out of range.
    """

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t n_features, Py_ssize_t queue=256):
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
        self._taken = LateSample(n_features)
        self._predicted = np.zeros(capacity, np.int32)
        self._state = np.zeros(history, np.uint8)
        self._mask = history - 1
        self._queue_rows = queue
        self._row = np.zeros(queue, np.int64)
        self._is_epoch = np.zeros(queue, np.uint8)
        self._number = np.zeros(queue, np.uint32)
        self._label = np.zeros(queue, np.int32)
        self._weight = np.zeros(queue, np.float32)

    @property
    def room(self):
        """Labels that can be queued without one being dropped."""
        return self._queue_rows - self._count

    @property
    def queued(self):
        """Labels that wait to be dealt with."""
        return self.labels - self.matched - self.duplicate - self.expired - self.unknown \
            - self.dropped - self.handed_on

    # For the reader of the ring.

    def rows_before(self, int64_t row):
        """How many rows from `row` on come before the next label; None when none is queued."""
        if self._count == 0:
            return None
        return max(0, self._row[self._first] - row)

    def take(self, int64_t row):
        """The next sample that is matched by a label which came before `row`; None: no more.

        It is the same object each time.
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
                memcpy(&taken._x[0], &self._X[slot, 0], self.n_features * sizeof(float))
                taken.label = self._label[at]
                taken.weight = self._weight[at]
                taken.sequence = self._number[at]
                taken._predicted = self._predicted[slot]
                return taken
        return None

    def take_as_it_came(self, int64_t row):
        """The next label that came before `row`, matched with nothing; None: no more. For whoever
        keeps labels, in place of `take`.
        """
        cdef Py_ssize_t at
        if not self._is_due(row):
            return None
        at = self._next()
        if self._is_epoch[at]:
            return LateLabel(0, 0, 0.0, True)
        self.handed_on += 1
        return LateLabel(self._number[at], self._label[at], self._weight[at])

    cdef bint _is_due(self, int64_t row) noexcept nogil:
        return self._count > 0 and self._row[self._first] <= row

    cdef Py_ssize_t _next(self) noexcept nogil:
        """Take the first out of the queue: its place, which keeps until the next is queued."""
        cdef Py_ssize_t at = self._first
        self._first = self._at(1)
        self._count -= 1
        return at

    def wait(self, cnp.ndarray x not None, uint32_t sequence, predicted=None):
        """Keep a sample until its label comes.

        Parameters
        ----------
        x : ndarray of shape (d,), float32, contiguous
        sequence : int
        predicted : int, optional
            What was said of it; 32 bits.
        """
        cdef Py_ssize_t slot
        if x.ndim != 1 or cnp.PyArray_TYPE(x) != cnp.NPY_FLOAT32 or \
                not cnp.PyArray_IS_C_CONTIGUOUS(x) or cnp.PyArray_DIM(x, 0) != self.n_features:
            raise ValueError(f"x must be {self.n_features} contiguous float32")
        if not self._enter(sequence, OPEN):
            return
        slot = self._slot(<int32_t> (self._highest - sequence))
        memcpy(&self._X[slot, 0], cnp.PyArray_DATA(x), self.n_features * sizeof(float))
        self._predicted[slot] = NO_PREDICTION if predicted is None else predicted

    def labelled(self, uint32_t sequence):
        """This sample needs no label: it came with one."""
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
        """What is held for good: a list of (name, bytes)."""
        return [
            ("late labels", self.capacity * (4 * self.n_features + 4)),
            ("late sample", 4 * self.n_features),
            ("late label memory", self._mask + 1),
            ("late label queue", LABEL_BYTES * self._queue_rows),
        ]

    # For the parser.

    def tell_label(self, int64_t row, uint32_t sequence, int32_t label, float weight=1.0):
        """A label came before `row` of the ring."""
        self.tell(row, sequence, label, weight)

    def tell_epoch(self, int64_t row):
        """Before `row` of the ring the device began to count anew."""
        self.begin_epoch(row)

    cdef void tell(self, int64_t row, uint32_t sequence, int32_t label,
                   float weight) noexcept nogil:
        cdef Py_ssize_t at = self._at(self._count)
        self.labels += 1
        if self._count == self._queue_rows:
            self.dropped += 1
            return
        self._number[at] = sequence
        self._label[at] = label
        self._weight[at] = weight
        self._append(row, False)

    cdef void begin_epoch(self, int64_t row) noexcept nogil:
        cdef Py_ssize_t last
        if self._count == self._queue_rows:
            # This one must get in: a label of the old epoch would otherwise find a new sample.
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
        """Place of the i-th in the queue."""
        i += self._first
        return i - self._queue_rows if i >= self._queue_rows else i

    # The samples.

    cdef void _forget(self) noexcept nogil:
        self.unlabelled += self.waiting
        self.waiting = 0
        self._state[:] = UNSEEN
        self._started = False

    cdef bint _enter(self, uint32_t sequence, uint8_t state) noexcept nogil:
        """Note a sample; does it wait?"""
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
        """The highest number grows: give up those who now are too far behind, forget the oldest."""
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

    cdef Py_ssize_t _match(self, uint32_t sequence) noexcept nogil:
        """Count a label by what it finds; the slot of its sample, or -1."""
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
