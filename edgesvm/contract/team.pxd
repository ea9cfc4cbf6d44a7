# Threads that share one call's work; see team.pyx.

from libc.stdint cimport int64_t


cdef class Team:
    cdef int n
    cdef object reader
    cdef object error           # the first exception of a thread
    cdef object ended           # a queue that gets something from each thread when it ends
    cdef readonly bint stopped  # threads look here now and then

    cdef list parts(self, int64_t first, int64_t end, int64_t n_bytes)
    cdef list run(self, list works)
    cdef int do(self, work, int k, list results) except -1
    cdef int stop(self, error) except -1
