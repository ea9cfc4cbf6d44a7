"""A learner behind the windows of raw samples, compiled: votes on a window's label, and what is
passed on.

Of each window that is open the labels of its samples are counted. The learner's own class indices
are used, so a label is known to it from its first sample on.
"""

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.string cimport memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.contract.labels cimport Labels
from edgesvm.core.status cimport NOT_FINITE, UNKNOWN_LABEL, Status
from edgesvm.preprocessing._raw_features cimport RawFeaturesCore

from edgesvm.budget import check_numbers
from edgesvm.errors import CorruptModelError

cnp.import_array()


cdef int NORMAL = 1      # class index of a window without a label, where there are no labels


cdef class ChainCore:
    """Votes on `votes` (n_windows, n_classes), int64, between two cores.

    Parameters
    ----------
    votes : ndarray in the arena
    windows : RawFeaturesCore
    learner : LearnerCore, of as many features as a row has
    last : bool, whether the last sample decides alone
    owner : str
    """
    cdef readonly RawFeaturesCore windows
    cdef readonly LearnerCore learner
    cdef object array, learn, answer
    cdef str owner
    cdef Labels labels
    cdef int64_t *votes
    cdef int64_t n_classes
    cdef bint last
    cdef int winner     # class index of the window completed last; -1 without a label

    def __init__(self, cnp.ndarray votes not None, windows, learner, bint last, owner):
        self.array, self.windows, self.learner, self.owner = votes, windows, learner, owner
        self.labels = learner.labels
        self.learn, self.answer = learner.learn_one, learner.predict_with_score
        self.votes, self.last = <int64_t *> cnp.PyArray_DATA(votes), last
        self.n_classes = votes.shape[1]

    def push(self, x, y):
        self.windows.guard.begin()
        try:
            if not self.take(x, y):
                return None
            answer = self.answer(self.windows.row) if self.learner.n_learned() else NOTHING
            if self.winner >= 0:
                self.learn(self.windows.row, self.labels.values[self.winner])
            return answer
        finally:
            self.windows.guard.end()

    def window(self, x, y):
        cdef bint has_label
        self.windows.guard.begin()
        try:
            if not self.take(x, y):
                return None
            has_label = self.winner >= 0 and not self.learner.one_class
            return self.windows.row, self.labels.values[self.winner] if has_label else None
        finally:
            self.windows.guard.end()

    cdef bint take(self, x, y) except -1:
        """Take in one raw sample; if it completes a window, True, and `winner` is that's class."""
        cdef cnp.ndarray row
        cdef int64_t at
        cdef bint is_complete
        cdef int slot = -1
        if self.learner.one_class:
            y = None
        if y is not None:
            slot = self.labels.find(y)
            if slot < 0:
                raise self.refused(UNKNOWN_LABEL, y)
        row = self.windows.as_row(x)
        if self.windows.is_too_large(cnp.PyArray_DATA(row)):
            raise self.refused(NOT_FINITE, y)
        if y is not None:
            self.labels.adopt(slot, y)
        at = self.windows.counts.n_run
        is_complete = self.windows.take(cnp.PyArray_DATA(row))
        self.count(at, slot)
        if not is_complete:
            return False
        if self.learner.one_class:
            self.winner = NORMAL
        else:
            self.winner = slot if self.last else self.most_votes(at)
        return True

    cdef void count(self, int64_t at, int slot) noexcept nogil:
        """Count the label of the sample `at` in every window that it is in."""
        cdef int64_t newest = at // self.windows.hop, n = self.windows.n_windows, k
        if at % self.windows.hop == 0:
            memset(self.votes + newest % n * self.n_classes, 0, self.n_classes * sizeof(int64_t))
        if slot < 0:
            return
        for k in range(max(newest - n + 1, 0), newest + 1):
            if at - k * self.windows.hop < self.windows.window:
                self.votes[k % n * self.n_classes + slot] += 1

    cdef int most_votes(self, int64_t at) noexcept nogil:
        """The first class with most votes in the window that ends at `at`; -1 without a vote"""
        cdef int64_t k = (at - self.windows.window + 1) // self.windows.hop
        cdef const int64_t *votes = self.votes + k % self.windows.n_windows * self.n_classes
        cdef int64_t most = 0
        cdef int slot, best = -1
        for slot in range(<int> self.n_classes):
            if votes[slot] > most:
                most, best = votes[slot], slot
        return best

    cdef refused(self, Status status, y):
        sample = f"{self.owner}: the sample (label {y!r})"
        return self.labels.refused(status, y, sample, self.windows.dtype)

    def check(self):
        """CorruptModelError if no stream of samples can have left these votes."""
        check_numbers({"votes": self.array})
        self.windows.check()
        cdef const char *fault = self.windows.votes_fault(
            self.votes, self.n_classes, self.labels.n)
        if fault != NULL:
            raise CorruptModelError(fault.decode())


NOTHING = (None, 0.0)   # the prediction of a learner that has learned nothing
