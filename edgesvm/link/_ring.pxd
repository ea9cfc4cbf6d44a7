# Samples between the link and the learner, in arrays allocated once.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t


cdef class SampleRing:
    cdef readonly Py_ssize_t capacity, n_features
    cdef readonly int64_t pushed, entered, released, dropped, high_water
    cdef readonly str policy
    cdef bint _drop_oldest
    cdef Py_ssize_t _head, _count, _taken
    cdef object _arrays             # X, y, has_label, weight, sequence: take() returns slices
    cdef float[:, ::1] _X           # (capacity, d)
    cdef bint _targets
    cdef int32_t[::1] _y            # (capacity,) class index; None with targets
    cdef double[::1] _target        # (capacity,) in its place
    cdef uint8_t[::1] _has_label    # (capacity,)
    cdef float[::1] _weight         # (capacity,)
    cdef uint32_t[::1] _sequence    # (capacity,)

    cdef bint push(self, const float *x, uint32_t sequence, double label, bint has_label,
                   float weight) noexcept nogil
