# What `Prequential` counts.

from libc.stdint cimport int64_t


cdef class Tally:
    cdef readonly Py_ssize_t window
    cdef readonly int64_t n                 # predictions scored
    cdef readonly object first              # accuracy of the first `window`; None until then
    cdef readonly dict confusion            # [label][predicted]
    cdef readonly int64_t _recent           # hits among the last `window`
    cdef readonly int64_t _total
    cdef readonly int64_t _repeats          # labels equal to the one before
    cdef readonly int64_t _same_answer      # predictions in a row
    cdef readonly object _before, _answer   # the last label and prediction
    cdef bytearray _hits

    cdef int note(self, truth, predicted) except -1
