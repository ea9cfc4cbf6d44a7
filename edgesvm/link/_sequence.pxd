# Which sample numbers have been seen: SequenceWindow.accept() classifies each.

from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum Verdict:
    NEW        # the highest so far
    REORDERED  # late, within the window, not seen before
    DUPLICATE  # seen before
    TOO_OLD    # behind the window: indistinguishable from a duplicate


cdef class SequenceWindow:
    cdef readonly int64_t epochs, reordered, duplicate, too_old, seq_jump
    cdef bint _open              # this epoch has a number
    cdef uint32_t _highest
    cdef uint64_t _seen          # bit k: highest - k was seen
    cdef int64_t _span, _unique, _missing              # of this epoch
    # The epoch before a jump, kept until the new one has as many numbers as the window.
    cdef bint _has_home
    cdef uint32_t _home_highest
    cdef uint64_t _home_seen
    cdef int64_t _home_span, _home_unique, _home_missing
    cdef int64_t _past_span, _past_unique, _past_missing  # of earlier epochs

    cdef Verdict accept(self, uint32_t sequence) noexcept nogil
    cdef bint is_behind_window(self, uint32_t sequence) noexcept nogil
    cdef bint is_ahead(self, uint32_t sequence) noexcept nogil
    cdef bint is_old(self, uint32_t sequence) noexcept nogil
    cdef void begin_epoch(self) noexcept nogil
    cdef void _close_epoch(self) noexcept nogil
    cdef void _jump(self, uint32_t sequence) noexcept nogil
    cdef Verdict _advance(self, uint32_t sequence, int64_t step) noexcept nogil
    cdef Verdict _look_back(self, uint32_t sequence, int64_t behind) noexcept nogil
