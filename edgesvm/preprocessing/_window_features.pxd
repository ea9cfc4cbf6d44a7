# Features of windows of raw samples, on the arrays of an arena; see _window_features.pyx.

from libc.stdint cimport int64_t

from edgesvm.preprocessing._raw_features cimport RawFeaturesCore

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


cdef struct Moments:    # of the samples of one channel in one window
    double mean
    double m2, m3, m4   # sums of (x - mean)^2, ^3 and ^4
    double trend        # sum of (i - mean of i) (x - mean)
    double low, high
    double n_crossings
    double is_above     # whether the last sample was above the mean of those before it


cdef struct Section:    # y[i] = b (x[i] - x[i-2]) - a1 y[i-1] - a2 y[i-2]
    double b, a1, a2


cdef class WindowFeaturesCore(RawFeaturesCore):
    cdef readonly double rate           # Hz
    cdef readonly int64_t n_streams     # channels, and the magnitude behind them
    cdef readonly int64_t n_pairs
    cdef readonly int n_bands, n_codes
    cdef readonly bint has_magnitude
    cdef int[N_FEATURES] codes
    cdef double[MOST_BANDS] centers     # Hz
    cdef Section[2 * MOST_BANDS] sections
    cdef double *sample                 # (n_streams,): TMP
    cdef double *squares                # (n_streams, n_bands): TMP, of the filtered sample
    cdef double *delays                 # (n_streams, n_bands, 2, 2): of the filters
    cdef Moments *moments               # (n_windows, n_streams)
    cdef double *power                  # (n_windows, n_streams, n_bands): sums of squares
    cdef double *products               # (n_windows, n_pairs): sums of products of deviations

    cdef void read(self, const void *x) noexcept nogil
    cdef void settle(self) noexcept nogil
    cdef void filter(self) noexcept nogil
    cdef void open(self, int64_t slot) noexcept nogil
    cdef void add(self, int64_t slot, double n) noexcept nogil
    cdef void write(self, int64_t slot) noexcept nogil
    cdef double feature(
        self, int code, const Moments *of, const double *power) noexcept nogil
