"""Samples against the clock: the level, the step, and what is usual at this hour, compiled.

x, the value of a channel, is compared with three things. The slow mean m and the mean distance s
from it are of the last MEMORY seconds: a sample that comes dt seconds after the one before it
counts dt, and as at most FAR s away:

    d = min(max(x - m, -FAR s), FAR s),  m += share d,  s += share (|d| - s)

The value before. And the mean u and deviation v of the values at the same hour of the week, which
are of whole hours: when an hour ends, the mean of its samples, each counted as m + d, and their
variance become the n-th part of what the hour has, n the number of its visits, but at least
LEAST_SHARE (West, "Updating Mean and Variance Estimates", 1979, for weights that fade):

    u' = u + share e,  v'^2 = (1 - share) (v^2 + share e^2) + share variance,  e = mean - u

From the second visit on, |e| and the root of the variance count as at most BOUND deviations and
LEAST_STEP codes, unless v is 0. So a strange sample or hour moves little. The residual is
(x - u) / v, where s counts for v as PRIOR visits: (n v^2 + PRIOR s^2) / (n + PRIOR). Before
LEAST_VISITS visits the same hours of the other days are taken together; before so many of them
there are only m and s.

u and v are kept as codes of 16 bits. The unit of a channel is doubled when a code would be too
large, and all its codes halved.

Bytes of c channels and the clock: 72 + 56 c + 2 HOURS 2 c + HOURS, the row 4 c s, s = 4 or 8.
"""

cimport cython
from libc.math cimport fabs, floor, fmax, fmin, rint, sqrt
from libc.stdint cimport int16_t, int64_t, uint8_t

from edgesvm.core.linalg cimport entry, put
from edgesvm.preprocessing._raw_features cimport RawFeaturesCore

cdef int64_t DAY, HOURS
cdef int LEAST_VISITS
cdef double WEEK, MEMORY, LONGEST, FAR, LEAST_SHARE, BOUND, LEAST_STEP, PRIOR, MOST
cdef double FINE, LARGEST_CODE
from edgesvm.preprocessing.constants import (
    BOUND,
    DAY,
    FAR,
    FINE,
    HOURS,
    LARGEST_CODE,
    LEAST_SHARE,
    LEAST_STEP,
    LEAST_VISITS,
    LONGEST,
    MEMORY,
    MOST,
    PRIOR,
    WEEK,
)


@cython.final
cdef class ClockFeaturesCore(RawFeaturesCore):
    """State and step; the last number of a sample is the time. Arguments as `RawFeaturesCore`."""

    def __init__(self, *common, **raw):
        super().__init__(*common, **raw)
        self.clock = <Clock *> self.array("clock")
        self.channels = <Channel *> self.array("channels")
        self.codes = <int16_t *> self.array("codes")
        self.visits = <uint8_t *> self.array("visits")

    cdef bint is_too_large(self, const void *x) noexcept nogil:
        cdef double time = entry(self.is_float32, x, self.n_channels - 1)
        return not 0.0 <= time <= WEEK or RawFeaturesCore.is_too_large(self, x)

    cdef bint take(self, const void *x) noexcept nogil:
        cdef int64_t c
        cdef double share = self.tick(entry(self.is_float32, x, self.n_channels - 1))
        cdef double value
        cdef Usual usual
        cdef Channel *of
        for c in range(self.n_channels - 1):
            of = self.channels + c
            value = entry(self.is_float32, x, c)
            if self.counts.n_pushed == 0:
                of.slow = value
            if self.counts.n_run == 0:
                of.last = value
            usual = self.usual(c, <int64_t> self.clock.hour)
            self.write(c, value, &usual)
            follow(of, value, share, self.clock.n)
        self.counts.n_run += 1
        self.counts.n_pushed += 1
        self.counts.n_rows += 1
        return True

    cdef double tick(self, double time) noexcept nogil:
        """Set the clock. Returns the share of this sample in the slow means."""
        cdef Clock *clock = self.clock
        cdef double hour = floor(time / 3600.0), passed = time - clock.time
        if hour >= HOURS:
            hour = 0.0
        if passed < 0.0:
            passed += WEEK
        if self.counts.n_pushed == 0:
            passed, clock.hour = 0.0, hour
        if passed > 0.5 * WEEK:     # it was set back: the hour goes on until it is another
            passed, hour = 0.0, clock.hour
        if hour != clock.hour:
            self.end_hour()
            clock.hour, clock.n = hour, 0.0
        clock.time = time
        clock.n += 1.0
        passed = fmin(passed, LONGEST)
        clock.covered = fmin(clock.covered + passed, MEMORY)
        return passed / clock.covered if clock.covered > 0.0 else 0.0

    cdef void write(self, int64_t c, double x, const Usual *usual) noexcept nogil:
        """Write the features of a channel into `row`."""
        cdef const Channel *of = self.channels + c
        cdef double residual = 0.0
        if usual.deviation > 0.0:
            residual = within((x - usual.mean) / usual.deviation, MOST)
        put(self.is_float32, self.out, 4 * c, x)
        put(self.is_float32, self.out, 4 * c + 1, x - of.slow)
        put(self.is_float32, self.out, 4 * c + 2, x - of.last)
        put(self.is_float32, self.out, 4 * c + 3, residual)

    # -- the hours ---------------------------------------------------------------------------------

    cdef Usual usual(self, int64_t c, int64_t hour) noexcept nogil:
        """What a channel has at an hour of the week, or at that hour of the day"""
        cdef const Channel *of = self.channels + c
        cdef const int16_t *codes = self.codes + 2 * HOURS * c
        cdef double n = 0.0, mean = 0.0, square = 0.0, deviation, apart
        cdef int64_t days = 1, h = hour, day
        cdef Usual usual
        if self.visits[hour] < LEAST_VISITS:
            days, h = HOURS // DAY, hour % DAY
        for day in range(days):
            n += self.visits[h + DAY * day]
            mean += self.visits[h + DAY * day] * <double> codes[2 * (h + DAY * day)]
        if n < LEAST_VISITS:
            usual.mean, usual.deviation = of.slow, of.size
            return usual
        mean /= n
        for day in range(days):
            apart = codes[2 * (h + DAY * day)] - mean
            deviation = codes[2 * (h + DAY * day) + 1]
            square += self.visits[h + DAY * day] * (deviation * deviation + apart * apart)
        usual.mean = of.origin + mean * of.unit
        square *= of.unit * of.unit
        usual.deviation = sqrt((square + PRIOR * of.size * of.size) / (n + PRIOR))
        return usual

    cdef void end_hour(self) noexcept nogil:
        """Take the hour that is under way into what is usual at it."""
        cdef int64_t c, hour = <int64_t> self.clock.hour
        cdef const int16_t *code
        cdef double n = fmin(self.visits[hour] + 1.0, 255.0), share = fmax(1.0 / n, LEAST_SHARE)
        cdef double mean, deviation, variance, within_hour, apart, bound
        cdef Channel *of
        for c in range(self.n_channels - 1):
            of = self.channels + c
            code = self.codes + 2 * (HOURS * c + hour)
            if self.clock.n_visits == 0.0:
                of.origin = of.mean
            mean, deviation = code[0] * of.unit, code[1] * of.unit
            apart, within_hour = of.mean - of.origin - mean, of.m2 / self.clock.n
            if n > 1.0 and code[1] > 0:     # else it has not varied: its first step counts in full
                bound = BOUND * self.usual(c, hour).deviation + LEAST_STEP * of.unit
                apart, within_hour = within(apart, bound), fmin(within_hour, bound * bound)
            variance = (1.0 - share) * (deviation * deviation + share * apart * apart)
            variance += share * within_hour
            self.store(c, hour, mean + share * apart, sqrt(variance))
            of.mean = of.m2 = 0.0
        self.visits[hour] = <uint8_t> n
        self.clock.n_visits += 1.0

    cdef void store(
        self, int64_t c, int64_t hour, double mean, double deviation
    ) noexcept nogil:
        """Code mean, from the origin, and deviation; in a larger unit if they need it"""
        cdef Channel *of = self.channels + c
        cdef int16_t *codes = self.codes + 2 * HOURS * c
        cdef double largest = fmax(fabs(mean), deviation)
        cdef int64_t i
        if of.unit == 0.0 and largest > 0.0:
            of.unit = fmax(largest / FINE, 1e-300)
        while largest > LARGEST_CODE * of.unit:
            of.unit *= 2.0
            for i in range(2 * HOURS):
                codes[i] = codes[i] // 2
        if of.unit > 0.0:
            codes[2 * hour] = <int16_t> rint(mean / of.unit)
            codes[2 * hour + 1] = <int16_t> rint(deviation / of.unit)

    cdef const char *fault(self) noexcept nogil:
        cdef const char *fault = RawFeaturesCore.fault(self)
        cdef int64_t c, i
        cdef const Clock *clock = self.clock
        if fault != NULL:
            return fault
        if not (0.0 <= clock.time <= WEEK and 0.0 <= clock.covered <= MEMORY):
            return b"the snapshot's clock is out of range"
        if not (0.0 <= clock.hour < HOURS and floor(clock.hour) == clock.hour):
            return b"the snapshot's clock is out of range"
        if not (clock.n_visits >= 0.0 and clock.n >= 0.0 and (
                clock.n > 0.0 or self.counts.n_pushed == 0)):
            return b"the snapshot's hours are not those of a stream"
        for c in range(self.n_channels - 1):
            if self.channels[c].m2 < 0.0 or self.channels[c].size < 0.0 or (
                    self.channels[c].unit < 0.0):
                return b"the snapshot has a negative deviation"
            for i in range(HOURS):
                if self.codes[2 * (HOURS * c + i) + 1] < 0:
                    return b"the snapshot has a negative deviation"
        return NULL


cdef inline double within(double x, double most) noexcept nogil:
    return fmin(fmax(x, -most), most)


cdef inline void follow(Channel *of, double x, double share, double n) noexcept nogil:
    """The slow mean, and that of the hour, with x, the n-th sample in it"""
    cdef double d = x - of.slow, apart
    if of.size > 0.0:
        d = within(d, FAR * of.size)
    apart = of.slow + d - of.mean
    of.mean += apart / n
    of.m2 += apart * (of.slow + d - of.mean)
    of.slow += share * d
    of.size += share * (fabs(d) - of.size)
    of.last = x
