# Samples against the clock, on the arrays of an arena; see _clock_features.pyx.

from libc.stdint cimport int16_t, int64_t, uint8_t

from edgesvm.preprocessing._raw_features cimport RawFeaturesCore


cdef struct Clock:
    double time         # of the last sample, s since Monday 00:00
    double covered      # s that the slow means are of, at most MEMORY
    double hour         # of the week, that is under way
    double n            # samples in it so far
    double n_visits     # hours that have ended


cdef struct Channel:
    double last         # its value before
    double slow, size   # slow mean, and mean distance from it
    double mean, m2     # of the hour that is under way, and sum of squared deviations
    double origin, unit     # a code c is the value origin + c unit, or the deviation c unit


cdef struct Usual:
    double mean, deviation


cdef class ClockFeaturesCore(RawFeaturesCore):
    cdef Clock *clock
    cdef Channel *channels      # (n_channels - 1,)
    cdef int16_t *codes         # (n_channels - 1, HOURS, 2): mean and deviation
    cdef uint8_t *visits        # (HOURS,): how often each hour was seen, at most 255

    cdef double tick(self, double time) noexcept nogil
    cdef Usual usual(self, int64_t c, int64_t hour) noexcept nogil
    cdef void write(self, int64_t c, double x, const Usual *usual) noexcept nogil
    cdef void end_hour(self) noexcept nogil
    cdef void store(self, int64_t c, int64_t hour, double mean, double deviation) noexcept nogil
