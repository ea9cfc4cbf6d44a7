# The two labels of a learner and their slots.

cdef class Labels:
    cdef list values            # in the order they came; slot 0 is the learner's -1, slot 1 its +1
    cdef readonly bint closed   # named up front: no other label is welcome
    cdef readonly int sign      # -1 when the second to come sorts before the first, else 1

    cdef int find(self, y) except -2
    cdef int adopt(self, int slot, y) except -1
