# Features of windows of raw samples, on the arrays of an arena; see _window_features.pyx.

from libc.stdint cimport int8_t, int32_t, int64_t

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
    ROUGHNESS
    TURNS

cdef enum:
    N_FEATURES = 16
    MOST_BANDS = 16
    N_ROUGH = 6         # levels of the pyramid whose roughness is a feature
    N_TURNING = 4       # and whose turns are
    N_COURSE = 10
    MOST_PATTERNS = 84
    SPAN = 9            # values that a pattern weighs


cdef struct Moments:    # of the samples of one channel in one window
    double mean
    double m2, m3, m4   # sums of (x - mean)^2, ^3 and ^4
    double trend        # sum of (i - mean of i) (x - mean)
    double low, high
    double n_crossings
    double is_above     # whether the last sample was above the mean of those before it


cdef struct Level:      # of a stream's pyramid
    double y            # the last value
    double moved        # by which it differs from the one before


cdef struct Scale:      # of a channel: its values in patterns are integers, (y - origin) unit
    double origin, unit


cdef struct Section:    # y[i] = b (x[i] - x[i-2]) - a1 y[i-1] - a2 y[i-2]
    double b, a1, a2


cdef class WindowFeaturesCore(RawFeaturesCore):
    cdef readonly double rate           # Hz
    cdef readonly int64_t n_streams     # channels, and the magnitude behind them
    cdef readonly int64_t n_pairs
    cdef readonly int n_bands, n_codes
    cdef readonly bint has_magnitude
    cdef readonly int n_levels          # of the pyramids
    cdef readonly int n_pattern_levels, n_patterns  # those with patterns, and patterns of each
    cdef readonly bint averages         # roughness and turns over the streams
    cdef int[N_FEATURES] codes
    cdef int8_t[3 * MOST_PATTERNS] triples      # places of the values that count thrice
    cdef double[MOST_PATTERNS] normal   # quantile of the normal distribution at a pattern's rank
    cdef double[MOST_PATTERNS] wanted   # share of its values that should be above its bias
    cdef double[MOST_BANDS] centers     # Hz
    cdef Section[2 * MOST_BANDS] sections
    cdef double *sample                 # (n_streams,): TMP
    cdef double *squares                # (n_streams, n_bands): TMP, of the filtered sample
    cdef double *delays                 # (n_streams, n_bands, 2, 2): of the filters
    cdef Moments *moments               # (n_windows, n_streams)
    cdef double *power                  # (n_windows, n_streams, n_bands): sums of squares
    cdef double *products               # (n_windows, n_pairs): sums of products of deviations
    cdef Level *levels                  # (n_streams, n_levels)
    cdef double *course                 # (n_windows, n_streams, 10): sums of abs(moved), and turns
    cdef int64_t *n_taught              # (1,): windows from which biases were learned
    cdef Scale *scales                  # (n_channels,)
    cdef int32_t *latest                # (n_channels, n_pattern_levels, 9): values, the last behind
    cdef int32_t *bias                  # (n_pattern_levels, n_patterns)
    cdef double *swing                  # the same shape: sums of absolute values in the window at 0
    cdef double *inverse                # the same: sums over windows of 1 / the mean absolute value
    cdef int32_t *above                 # (n_windows, n_pattern_levels, n_patterns): how many are

    cdef const char *patterns_fault(self) noexcept nogil
    cdef void read(self, const void *x) noexcept nogil
    cdef void settle(self) noexcept nogil
    cdef void filter(self) noexcept nogil
    cdef void open(self, int64_t slot) noexcept nogil
    cdef void climb(self, int64_t at, int64_t newest) noexcept nogil
    cdef void walk(
        self, int64_t s, int level, int64_t at, int64_t oldest, int64_t newest, double moved,
        bint is_turn) noexcept nogil
    cdef void match(
        self, int64_t c, int level, int64_t at, int64_t oldest, int64_t newest, double y
    ) noexcept nogil
    cdef int32_t scaled(self, int64_t c, double y) noexcept nogil
    cdef void halve(self, int64_t c) noexcept nogil
    cdef int64_t n_values(self, int64_t start, int level) noexcept nogil
    cdef void add(self, int64_t slot, double n) noexcept nogil
    cdef void write(self, int64_t slot, int64_t start) noexcept nogil
    cdef int64_t put_course(
        self, int code, int64_t slot, int64_t start, int64_t s, int64_t n, int64_t j
    ) noexcept nogil
    cdef double of_course(self, int i, int64_t slot, int64_t start, int64_t s) noexcept nogil
    cdef void teach(self, int64_t slot, int64_t start) noexcept nogil
    cdef double feature(
        self, int code, const Moments *of, const double *power) noexcept nogil
