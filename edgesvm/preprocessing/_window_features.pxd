# Features of windows of raw samples, on the arrays of an arena; see _window_features.pyx.

from libc.stdint cimport int64_t

from edgesvm.contract.guard cimport Guard
from edgesvm.core.arena cimport Arena

cimport numpy as cnp

cpdef enum Feature:     # of a channel, in the order of a row
    MEAN
    STD
    RMS
    MIN
    MAX
    PEAK_TO_PEAK
    CREST
    SKEWNESS
    KURTOSIS
    CROSSINGS
    SLOPE
    POWER
    DOMINANT_BAND
    CENTROID

cdef enum:
    N_FEATURES = 14
    MOST_BANDS = 16


cdef struct Counts:     # the first four arrays of the arena
    int64_t n_pushed, n_rows, n_dropped
    int64_t n_run       # samples since the first, or since the last gap


cdef struct Moments:    # of the samples of one channel in one window
    double mean
    double m2, m3, m4   # sums of (x - mean)^2, ^3 and ^4
    double trend        # sum of (i - mean of i) (x - mean)
    double low, high
    double n_crossings
    double is_above     # whether the last sample was above the mean of those before it


cdef struct Section:    # y[i] = b (x[i] - x[i-2]) - a1 y[i-1] - a2 y[i-2]
    double b, a1, a2


cdef class WindowFeaturesCore:
    cdef readonly Arena arena
    cdef readonly Guard guard
    cdef readonly dict views
    cdef readonly object dtype
    cdef readonly str owner
    cdef readonly int64_t n_channels
    cdef readonly int64_t window, hop
    cdef readonly object row            # (n_features_out,): the last complete window's features
    cdef readonly double rate           # Hz
    cdef readonly int64_t n_windows     # that overlap
    cdef readonly int64_t n_streams     # channels, and the magnitude behind them
    cdef readonly int64_t n_pairs
    cdef readonly int n_bands, n_codes, typenum
    cdef readonly bint is_float32, has_magnitude
    cdef int[N_FEATURES] codes
    cdef double[MOST_BANDS] centers     # Hz
    cdef Section[2 * MOST_BANDS] sections
    cdef Counts *counts
    cdef double *sample                 # (n_streams,): TMP
    cdef double *squares                # (n_streams, n_bands): TMP, of the filtered sample
    cdef double *delays                 # (n_streams, n_bands, 2, 2): of the filters
    cdef Moments *moments               # (n_windows, n_streams)
    cdef double *power                  # (n_windows, n_streams, n_bands): sums of squares
    cdef double *products               # (n_windows, n_pairs): sums of products of deviations
    cdef void *out                      # (n_features_out,)

    cdef bint is_too_large(self, const void *x) noexcept nogil
    cdef const char *fault(self) noexcept nogil
    cdef const char *votes_fault(
        self, const int64_t *votes, int64_t n_classes, int64_t n_labels) noexcept nogil
    cdef bint take(self, const void *x) noexcept nogil
    cdef void read(self, const void *x) noexcept nogil
    cdef void settle(self) noexcept nogil
    cdef void filter(self) noexcept nogil
    cdef void open(self, int64_t slot) noexcept nogil
    cdef void add(self, int64_t slot, double n) noexcept nogil
    cdef void write(self, int64_t slot) noexcept nogil
    cdef double feature(
        self, int code, const Moments *of, const double *power) noexcept nogil
    cdef cnp.ndarray as_row(self, x)
    cdef char *array(self, str name) except NULL
