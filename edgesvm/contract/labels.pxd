# The labels of a learner and their class indices; see labels.pyx.

from libc.stdint cimport int64_t

cdef enum:
    MAX_CLASSES = 127       # class indices are int8


cdef class Labels:
    cdef readonly list values            # by class index; with two classes, 0 is -1 and 1 is +1
    cdef readonly int room      # largest number of labels
    cdef readonly bint closed   # fixed in advance: any other label is refused
    cdef readonly int sign      # -1 if there are two and the second sorts before the first, else 1
    cdef int n                  # labels so far
    cdef int64_t n_changes      # how often labels were added or forgotten
    cdef tuple in_dtype         # the last of `known_in`, with what it holds for
    cdef object waiting         # `CANDIDATES`: labels that are no classes yet; None: all are
    cdef public bint sifts      # a new label waits there
    cdef readonly int64_t n_rare    # rows of which that is true, since the labels are here
    cdef readonly object rare   # the label of the last one
    cdef signed char order[MAX_CLASSES]     # their class indices, as the labels sort

    cdef tuple known_in(self, dtype)
    cpdef int find(self, y) except -2
    cpdef bint is_rare(self, y, double weight, int64_t n_seen) except -1
    cpdef int adopt(self, int slot, y) except -1
    cpdef int place(self, y, counts, int64_t n_seen) except -2
    cpdef int hold(self, list values) except -1
