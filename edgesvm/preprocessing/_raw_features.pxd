# What makes rows of features from raw samples, base of the cores that do; see _raw_features.pyx.

from libc.stdint cimport int64_t

from edgesvm.contract.guard cimport Guard
from edgesvm.core.arena cimport Arena

cimport numpy as cnp


cdef struct Counts:     # the first four arrays of the arena
    int64_t n_pushed, n_rows, n_dropped
    int64_t n_run       # samples since the first, or since the last gap


cdef class RawFeaturesCore:
    cdef readonly Arena arena
    cdef readonly Guard guard
    cdef readonly dict views
    cdef readonly object dtype
    cdef readonly str owner
    cdef readonly int64_t n_channels
    cdef readonly int64_t window, hop   # samples of a row, and from row to row
    cdef readonly int64_t n_windows     # that overlap
    cdef readonly object row            # (n_features_out,): the last one
    cdef readonly int typenum
    cdef readonly bint is_float32
    cdef Counts *counts
    cdef void *out                      # (n_features_out,)

    # A subclass overrides these two: take in a sample that is not too large, and say whether it
    # completes a row; and, as a learner's, what no stream can have left.
    cdef bint take(self, const void *x) noexcept nogil
    cdef const char *fault(self) noexcept nogil

    cdef bint is_too_large(self, const void *x) noexcept nogil
    cdef const char *votes_fault(
        self, const int64_t *votes, int64_t n_classes, int64_t n_labels) noexcept nogil
    cdef cnp.ndarray as_row(self, x)
    cdef char *array(self, str name) except NULL
