# Samples and their labels between the link and the learner, in arrays allocated once.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

cdef enum State:
    UNSEEN
    OPEN      # no label yet
    CLOSED    # labelled

cdef enum:
    ESTIMATE = 3  # numbers of a predicted target: its value, and the ends of its interval

cdef extern from "<stdint.h>" nogil:
    int32_t NO_PREDICTION "INT32_MIN"


cdef class SampleRing:
    cdef readonly Py_ssize_t capacity, n_features
    cdef readonly int64_t pushed, entered, released, dropped, high_water
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


cdef class LateSample:
    cdef readonly object x         # (d,) float32
    cdef float[::1] _x             # the same
    cdef readonly float weight
    cdef readonly uint32_t sequence
    cdef bint _targets
    cdef double _label
    cdef double[ESTIMATE] _predicted


cdef class LateLabels:
    cdef readonly Py_ssize_t capacity, n_features
    cdef readonly int64_t labels, matched, duplicate, unknown, dropped, handed_on
    cdef readonly int64_t waiting, unlabelled, expired, claimed
    cdef bint _targets
    # The samples, indexed by their distance behind the highest number.
    cdef bint _started
    cdef uint32_t _highest
    cdef Py_ssize_t _head          # slot of the highest number
    cdef LateSample _taken
    cdef float[:, ::1] _X          # (capacity, d)
    cdef int32_t[::1] _predicted   # (capacity,) classes; None with targets
    cdef double[:, ::1] _estimate  # (capacity, ESTIMATE) in its place
    cdef uint8_t[::1] _state       # (power of two,) State of each number, indexed by its low bits
    cdef Py_ssize_t _mask
    # The queued labels; each comes before a certain row of the ring.
    cdef Py_ssize_t _queue_rows, _first, _count
    cdef int64_t[::1] _row
    cdef uint8_t[::1] _is_epoch
    cdef uint32_t[::1] _number
    cdef int32_t[::1] _label       # None with targets
    cdef double[::1] _target       # in its place
    cdef float[::1] _weight

    cdef LateSample _filled(self, Py_ssize_t slot, uint32_t sequence)
    cdef double _label_at(self, Py_ssize_t at) noexcept nogil
    cpdef void add_label(self, int64_t row, uint32_t sequence, double label,
                         float weight=*) noexcept nogil
    cpdef void add_epoch(self, int64_t row) noexcept nogil
    cdef bint _is_due(self, int64_t row) noexcept nogil
    cdef Py_ssize_t _next(self) noexcept nogil
    cdef Py_ssize_t _at(self, Py_ssize_t i) noexcept nogil
    cdef void _append(self, int64_t row, bint is_epoch) noexcept nogil
    cdef void _forget(self) noexcept nogil
    cdef bint _enter(self, uint32_t sequence, uint8_t state) noexcept nogil
    cdef void _advance(self, uint32_t step) noexcept nogil
    cdef Py_ssize_t _slot(self, int64_t behind) noexcept nogil
    cdef Py_ssize_t _waiting(self, uint32_t sequence) noexcept nogil
    cdef Py_ssize_t _match(self, uint32_t sequence) noexcept nogil
