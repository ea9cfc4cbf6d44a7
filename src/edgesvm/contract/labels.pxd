# The labels of a learner and their slots.

cdef enum:
    MAX_CLASSES = 127       # slots of a batch are int8


cdef class Labels:
    cdef list values            # in the order they came, by slot; of two, 0 is -1 and 1 is +1
    cdef readonly int room      # labels there can be
    cdef readonly bint closed   # named up front: no other label is welcome
    cdef readonly int sign      # -1 when the second of two sorts before the first, else 1
    cdef int n                  # labels so far
    cdef signed char order[MAX_CLASSES]     # their slots, as the labels sort

    cdef int find(self, y) except -2
    cdef int adopt(self, int slot, y) except -1
