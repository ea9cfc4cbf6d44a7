"""Rows of a link, predicted, learned and answered in one call: those that hold no surprise.

A row is plain if its label is known, if the learner takes it, and if its answer fits the outbox.
Rows and late labels are handled in the order of the wire, each as if it had come alone. The first
that is not plain stays where it is, and nothing of it has happened: it is for the caller.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t

import numpy as np

from edgesvm.contract.core cimport LearnerCore
from edgesvm.contract.guard cimport Pace, is_due, start_pace
from edgesvm.contract.labels cimport MAX_CLASSES, Labels
from edgesvm.core.status cimport CHANGED
from edgesvm.link._guard cimport Guard
from edgesvm.link._late cimport CLOSED, NO_PREDICTION, LateLabels
from edgesvm.link._outbox cimport Outbox
from edgesvm.link._ring cimport SampleRing
from edgesvm.prequential._tally cimport Tally

cdef enum:
    TRAINED = 2  # as in wire.py


@cython.final
cdef class PlainRows:
    """Handles the plain rows of a link.

    Parameters
    ----------
    n_features : int
    score : Tally
        Of the rows that are learned, each predicted before.

    Attributes
    ----------
    learned, unlabelled, refused_value, answered : int
        What became of the rows, and of samples whose label came late, in the last `read` since
        `aim`. `refused_value`: such samples that the learner refused.
    drained : bool
        Whether it has left neither a row nor a label.
    """

    cdef readonly int64_t learned, unlabelled, refused_value, answered
    cdef readonly bint drained
    cdef LearnerCore _core
    cdef Tally _score
    cdef double[:, ::1] _x                      # (2, d) rows for a learner of float64
    cdef Labels _labels                         # whose integers are in `_label`
    cdef int64_t _n_changes
    cdef int64_t[MAX_CLASSES] _label            # by class index
    cdef int _n_labels                          # 0: some are no integers of 16 bits

    def __cinit__(self, Py_ssize_t n_features, Tally score not None):
        self._x = np.zeros((2, n_features))
        self._score = score

    def aim(self, core):
        """Learn with this core from now on; False if its rows are not plain."""
        self._count_from_zero()
        if not isinstance(core, LearnerCore):
            return False
        self._core = core
        return (
            self._core.successor is None and self._core.n_features == self._x.shape[1]
            and self._core.n_learned() > 0 and self._knows_labels())

    cdef void _count_from_zero(self) noexcept:
        self.learned = self.unlabelled = self.refused_value = self.answered = 0
        self.drained = False

    cdef bint _knows_labels(self) except -1:
        cdef Labels labels = self._core.labels
        cdef int slot
        if labels is self._labels and labels.n_changes == self._n_changes:
            return self._n_labels > 0
        self._labels, self._n_changes, self._n_labels = labels, labels.n_changes, 0
        for slot in range(labels.n):
            value = labels.values[slot]
            if type(value) is not int or not -0x8000 <= value <= 0x7FFF:
                return False
            self._label[slot] = value
        self._n_labels = labels.n
        return True

    def read(self, SampleRing ring not None, LateLabels late, Py_ssize_t most, *,
             Outbox outbox=None, uint16_t schema_id=0, uint32_t frame_sequence=0,
             Guard guard=None):
        """Handle the rows that wait in `ring`, at most `most`, and the labels that come before
        them, up to the first that is not plain.

        Parameters
        ----------
        ring : SampleRing
        late : LateLabels or None
        most : int
        outbox : Outbox, optional
            Where to put the answers.
        schema_id, frame_sequence, guard
            Of the answers' frames; see `Outbox.prediction`.

        Returns
        -------
        int
            Rows handled, and released. There may be more: other threads have their turn after 50
            ms.
        """
        self._count_from_zero()
        self._core.guard.begin()
        try:
            if not self._core.looks_ahead:
                return self._read(ring, late, most, outbox, schema_id, frame_sequence, guard)
            self._core.begin_rows(most)
            try:
                return self._read(ring, late, most, outbox, schema_id, frame_sequence, guard)
            finally:
                self._core.end_rows()
        finally:
            self._core.guard.end()

    cdef Py_ssize_t _read(self, SampleRing ring, LateLabels late, Py_ssize_t most, Outbox outbox,
                          uint16_t schema_id, uint32_t frame_sequence, Guard guard) except -1:
        cdef Py_ssize_t n = 0
        cdef Pace pace
        start_pace(&pace)
        while True:
            if late is not None and late._is_due(ring.entered - ring._count):
                if not self._learn_late(late):
                    return n
                continue
            if ring._count == 0:
                self.drained = late is None or late._count == 0
                return n
            if n == most:
                return n
            if outbox is not None and not outbox.has_room(guard):
                return n
            if not self._handle(ring, late, outbox, schema_id, frame_sequence, guard):
                return n
            frame_sequence += 1
            n += 1
            if is_due(&pace):
                return n

    cdef bint _handle(self, SampleRing ring, LateLabels late, Outbox outbox, uint16_t schema_id,
                      uint32_t frame_sequence, Guard guard) except -1:
        """Handle the oldest row, if it is plain."""
        cdef Py_ssize_t at = ring._head
        cdef double[MAX_CLASSES] answers
        cdef double value
        cdef float weight = ring._weight[at]
        cdef uint32_t number = ring._sequence[at]
        cdef bint labelled = ring._has_label[at]
        cdef const void *x = self._row(&ring._X[at, 0])
        cdef const void *learned
        cdef int truth = self._slot_of(ring._y[at]) if labelled else 0, predicted
        if truth < 0:
            return False
        if self._core.looks_ahead:
            learned = x if labelled else self._learned_next(ring, late)
            if learned != NULL:
                self._core.look_at_both(x, learned)
        if self._core.answer(x, answers) > CHANGED:
            return False
        predicted = self._core.winner(answers, &value)
        if not labelled:
            self._wait(late, &ring._X[at, 0], number, <int32_t> self._label[predicted])
        else:
            if self._core.learn_row(x, truth, weight) > CHANGED:
                return False
            if late is not None:
                late._enter(number, CLOSED)
            self.learned += 1
            self._score.note(self._labels.values[truth], self._labels.values[predicted])
        if outbox is not None:
            outbox.put(schema_id, frame_sequence, number, <int> self._label[predicted],
                       TRAINED if labelled and weight > 0 else 0, value, guard)
            self.answered += 1
        ring.pass_on()
        return True

    cdef const void *_learned_next(self, SampleRing ring, LateLabels late) noexcept:
        """The sample whose label comes right behind the oldest row; NULL if there is none."""
        cdef Py_ssize_t slot
        if (late is None or not late._is_due(ring.entered - ring._count + 1)
                or late._is_epoch[late._first]):
            return NULL
        if late._number[late._first] == ring._sequence[ring._head]:
            return self._row(&ring._X[ring._head, 0])
        slot = late._waiting(late._number[late._first])
        return NULL if slot < 0 else self._row(&late._X[slot, 0], 1)

    cdef bint _learn_late(self, LateLabels late) except -1:
        """Learn the sample that the next label in the queue is of, if the label is known."""
        cdef Py_ssize_t at = late._first, slot
        cdef int truth = -1
        if late._is_epoch[at]:
            late._next()
            late._forget()
            return True
        truth = self._slot_of(late._label[at])
        if truth < 0:
            return False
        late._next()
        slot = late._match(late._number[at])
        if slot < 0:
            return True
        if self._core.learn_row(self._row(&late._X[slot, 0]), truth, late._weight[at]) > CHANGED:
            self.refused_value += 1
            return True
        self.learned += 1
        if late._predicted[slot] != NO_PREDICTION:
            self._score.note(self._labels.values[truth], late._predicted[slot])
        return True

    cdef void _wait(self, LateLabels late, const float *x, uint32_t number,
                    int32_t predicted) noexcept:
        if late is None:
            self.unlabelled += 1
        else:
            late.keep(x, number, predicted)

    cdef int _slot_of(self, int64_t label) noexcept:
        """The class index of a label, or -1."""
        cdef int slot
        for slot in range(self._n_labels):
            if self._label[slot] == label:
                return slot
        return -1

    cdef const void *_row(self, const float *x, int place=0) noexcept:
        """The row in the learner's dtype."""
        cdef Py_ssize_t i
        if self._core.is_float32:
            return x
        for i in range(self._x.shape[1]):
            self._x[place, i] = x[i]
        return &self._x[place, 0]
