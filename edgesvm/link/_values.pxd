# Which values a sample may have: ValueGate.admit() checks, or clips, its features.

from libc.stdint cimport int64_t


cdef class ValueGate:
    cdef readonly int64_t bad_nan, bad_inf, bad_range, clipped
    cdef readonly bint clip, missing
    cdef readonly float low, high

    cdef bint admit(self, float *x, Py_ssize_t n) noexcept nogil
