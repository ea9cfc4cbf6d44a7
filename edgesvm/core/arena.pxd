# The one block of memory of a learner: its own, or the caller's.

from libc.stdint cimport int64_t


cdef class Arena:
    cdef char *base            # first byte, aligned to 8
    cdef readonly int64_t nbytes
    cdef object block          # ndarray of shape (nbytes,), uint8, writable; keeps the memory alive

    cdef char *at(self, int64_t offset, int64_t length) except NULL
