"""The counts behind a prequential score; `edgesvm.serve.score.Prequential` reads them."""

from libc.stdint cimport int64_t


cdef class Tally:
    """Counts predictions, by the label that was true.

    Parameters
    ----------
    window : int
        Number of samples in the rolling figures; takes `window` bytes.

    Raises
    ------
    ValueError
        `window` is less than 1.
    """

    cdef readonly Py_ssize_t window
    cdef readonly int64_t n                 # predictions scored
    cdef readonly object first              # accuracy of the first `window`; None until then
    cdef readonly dict confusion            # [label][predicted]
    cdef readonly int64_t _recent           # hits among the last `window`
    cdef readonly int64_t _recent_repeats   # the same of the label before
    cdef readonly int64_t _recent_larger    # and of the larger class so far
    cdef readonly int64_t _total
    cdef readonly int64_t _repeats          # labels equal to the one before
    cdef readonly int64_t _same_answer      # predictions in a row
    cdef readonly object _before, _answer   # the last label and prediction
    cdef dict _counts                       # of the labels
    cdef object _larger                     # the label with the highest of them, which is
    cdef int64_t _most
    cdef bytearray _hits                    # 1 a hit, 2 of the label before, 4 of the larger class

    def __init__(self, window=1000):
        if window < 1:
            raise ValueError(f"window={window}: give an integer >= 1")
        self.window = window
        self.confusion = {}
        self._counts = {}
        self._hits = bytearray(window)

    def add_many(self, list truths, list predicted):
        """Score predictions, in this order."""
        for truth, one in zip(truths, predicted, strict=True):
            self.add(truth, one)

    cpdef add(self, truth, predicted):
        """Score one prediction against the true label."""
        cdef bint hit = truth == predicted
        cdef bint repeat = self.n > 0 and truth == self._before
        cdef bint larger = self.n > 0 and truth == self._larger
        cdef unsigned char *hits = self._hits
        cdef Py_ssize_t at = self.n % self.window
        cdef int64_t n
        cdef dict row
        self._recent += hit - (hits[at] & 1)
        self._recent_repeats += repeat - (hits[at] >> 1 & 1)
        self._recent_larger += larger - (hits[at] >> 2)
        hits[at] = hit | repeat << 1 | larger << 2
        self._total += hit
        self._repeats += repeat
        self.n += 1
        self._before = truth
        self._same_answer = self._same_answer + 1 if predicted == self._answer else 1
        self._answer = predicted
        self._counts[truth] = n = self._counts.get(truth, 0) + 1
        if n > self._most:
            self._larger, self._most = truth, n
        row = self.confusion.get(truth)
        if row is None:
            row = self.confusion[truth] = {}
        row[predicted] = row.get(predicted, 0) + 1
        if self.n == self.window:
            self.first = self._recent / <double> self.window
