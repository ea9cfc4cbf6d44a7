"""Features of windows of raw samples, compiled.

As many windows are open as overlap; each sample goes into all of them. Of a channel in a window are
kept the sums of (x - mean)^2, ^3 and ^4, which move with the mean (Pebay, "Formulas for Robust,
One-Pass Parallel Computation of Covariances and Arbitrary-Order Statistical Moments", 2008, eqs.
2.1, 2.7 and 2.9 for one more sample), the sum of its products with time, and the sums of squares
behind the band-pass filters. The filters run on from window to window.

So do the pyramids: level 0 has a stream's samples, each level above the means of the pairs of the
one below. They are the windows' common ground; a window has sums over those values of a level that
lie in it with all their samples. If it has n samples yet, these are the last n // 2^level.

A pattern is three of nine places in a row. Its value is 3 (y_a + y_b + y_c) - sum of the nine, in
integers: 9 weights, 2 or -1, that come to 0 (Dempster, Schmidt & Webb, "MiniRocket: A Very Fast
(Almost) Deterministic Transform for Time Series Classification", 2021). The feature is the share of
values above the pattern's bias. Biases are learned from the first windows that do not overlap, by a
recursion for quantiles (Robbins & Monro 1951), and stay as they are from then on.

Which windows are open follows from the number of samples, so it is not stored: window k has the
samples k hop to k hop + window - 1 and the place k mod n_windows.
"""

from libc.math cimport fabs, fmax, fmin, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t
from libc.string cimport memmove, memset

from edgesvm.core.linalg cimport entry, put
from edgesvm.preprocessing._raw_features cimport RawFeaturesCore

cdef double LARGEST
from edgesvm.preprocessing.constants import LARGEST

N_TEACH = 16            # windows from which biases are learned
cdef int TEACHING = N_TEACH
cdef double TOP = 16777216.0     # 2^24, the largest value of a channel while biases are learned
cdef double CLIP = 134217728.0   # 2^27, ever after: a pattern comes to 12 times that at most
cdef double TINY = 1e-30        # a difference that sets no unit
cdef double FIRST = 1.25        # standard deviations of a normal value in its mean absolute value
cdef double STEP = 4.0          # of the recursion, in harmonic means of mean absolute values
cdef double MOST_BIAS = 1073741824.0    # 2^30


cdef class WindowFeaturesCore(RawFeaturesCore):
    """State and step. The public class has checked the parameters.

    Parameters
    ----------
    *common, **raw : as for `RawFeaturesCore`
    rate : float, Hz
    codes : list of Feature, of each channel
    bands : list of (center in Hz, two sections)
    magnitude : bool
    patterns : list of levels; of each pattern the three places, the quantile of the normal
        distribution that its bias begins at, and the share of values that should be above
    averages : bool
    """

    def __init__(self, *common, rate, codes, bands, magnitude, patterns, averages, **raw):
        super().__init__(*common, **raw)
        self.rate = rate
        self.has_magnitude = magnitude
        self.n_streams, self.n_bands = self.views["squares"].shape
        self.n_pairs = self.views["products"].shape[1]
        self.n_levels, self.averages = self.views["levels"].shape[1], averages
        self.n_pattern_levels = len(patterns)
        self.n_patterns = len(patterns[0]) if patterns else 0
        for k, (triple, normal, wanted) in enumerate(p for level in patterns for p in level):
            self.normal[k], self.wanted[k] = normal, wanted
            for i in range(3):
                self.triples[3 * k + i] = triple[i]
        self.n_codes = len(codes)
        for i, code in enumerate(codes):
            self.codes[i] = code
        for i, (center, both) in enumerate(bands):
            self.centers[i] = center
            for j, (b, a1, a2) in enumerate(both):
                self.sections[2 * i + j] = Section(b=b, a1=a1, a2=a2)
        self.sample = <double *> self.array("sample")
        self.squares = <double *> self.array("squares")
        self.delays = <double *> self.array("delays")
        self.moments = <Moments *> self.array("moments")
        self.power = <double *> self.array("power")
        self.products = <double *> self.array("products")
        self.levels = <Level *> self.array("levels")
        self.course = <double *> self.array("course")
        self.n_taught = <int64_t *> self.array("n_taught")
        self.scales = <Scale *> self.array("scales")
        self.latest = <int32_t *> self.array("latest")
        self.bias = <int32_t *> self.array("bias")
        self.swing = <double *> self.array("swing")
        self.inverse = <double *> self.array("inverse")
        self.above = <int32_t *> self.array("above")

    # -- one sample --------------------------------------------------------------------------------

    cdef bint take(self, const void *x) noexcept nogil:
        """Take in a sample that is not too large; whether it completes a window."""
        cdef int64_t at = self.counts.n_run, newest = at // self.hop, k, age
        cdef bint is_complete = False
        self.read(x)
        if at == 0:
            self.settle()
        self.filter()
        if at % self.hop == 0:
            self.open(newest % self.n_windows)
        if self.n_levels:
            self.climb(at, newest)
        for k in range(max(newest - self.n_windows + 1, 0), newest + 1):
            age = at - k * self.hop
            if age < self.window:
                self.add(k % self.n_windows, age + 1)
            if age == self.window - 1:
                self.write(k % self.n_windows, k * self.hop)
                is_complete = True
        self.counts.n_run += 1
        self.counts.n_pushed += 1
        self.counts.n_rows += is_complete
        return is_complete

    cdef void read(self, const void *x) noexcept nogil:
        """The channels, and their magnitude"""
        cdef int64_t c
        cdef double square = 0.0
        for c in range(self.n_channels):
            self.sample[c] = entry(self.is_float32, x, c)
            square += self.sample[c] * self.sample[c]
        if self.has_magnitude:
            self.sample[self.n_channels] = sqrt(square)

    cdef void settle(self) noexcept nogil:
        """Set the filters as if the first sample had been there for ever; patterns are scaled from
        it on."""
        cdef int64_t s, c
        cdef int b
        cdef double *delay = self.delays
        memset(delay, 0, self.n_streams * self.n_bands * 4 * sizeof(double))
        for s in range(self.n_streams):
            for b in range(self.n_bands):
                delay[0] = delay[1] = -self.sections[2 * b].b * self.sample[s]
                delay += 4
        if self.n_pattern_levels:
            for c in range(self.n_channels):
                self.scales[c].origin = self.sample[c]

    cdef void filter(self) noexcept nogil:
        cdef int64_t s
        cdef int b
        cdef double y
        cdef double *delay = self.delays
        for s in range(self.n_streams):
            for b in range(self.n_bands):
                y = filtered(self.sample[s], &self.sections[2 * b], delay)
                y = filtered(y, &self.sections[2 * b + 1], delay + 2)
                self.squares[s * self.n_bands + b] = y * y
                delay += 4

    cdef void open(self, int64_t slot) noexcept nogil:
        cdef int64_t s
        cdef Moments *of = self.moments + slot * self.n_streams
        cdef int64_t n_power = self.n_streams * self.n_bands
        memset(of, 0, self.n_streams * sizeof(Moments))
        memset(self.power + slot * n_power, 0, n_power * sizeof(double))
        memset(self.products + slot * self.n_pairs, 0, self.n_pairs * sizeof(double))
        if self.n_levels:
            n_power = self.n_streams * N_COURSE
            memset(self.course + slot * n_power, 0, n_power * sizeof(double))
            n_power = self.n_pattern_levels * self.n_patterns
            memset(self.above + slot * n_power, 0, n_power * sizeof(int32_t))
            if slot == 0:
                memset(self.swing, 0, n_power * sizeof(double))
        for s in range(self.n_streams):
            of[s].low = of[s].high = self.sample[s]

    cdef void add(self, int64_t slot, double n) noexcept nogil:
        """Add the n-th sample of a window to it."""
        cdef int64_t c, d, s, pair = slot * self.n_pairs
        cdef int64_t n_power = self.n_streams * self.n_bands
        cdef Moments *of = self.moments + slot * self.n_streams
        cdef double *power = self.power + slot * n_power
        cdef double delta, share = 1.0 / n
        if self.n_pairs:
            for c in range(self.n_channels):
                delta = (self.sample[c] - of[c].mean) * (n - 1.0) * share
                for d in range(c + 1, self.n_channels):
                    self.products[pair] += delta * (self.sample[d] - of[d].mean)
                    pair += 1
        for s in range(self.n_streams):
            add_to(&of[s], self.sample[s], n, share)
        for s in range(n_power):
            power[s] += self.squares[s]

    # -- the pyramids ------------------------------------------------------------------------------

    cdef void climb(self, int64_t at, int64_t newest) noexcept nogil:
        """Take the sample up the pyramids, as far as it completes pairs."""
        cdef int64_t s, oldest = max(newest - self.n_windows + 1, 0)
        cdef int level
        cdef bint is_turn
        cdef double y, pair, moved
        cdef Level *of
        if at - oldest * self.hop >= self.window:
            oldest += 1
        for s in range(self.n_streams):
            y = self.sample[s]
            for level in range(self.n_levels):
                of = self.levels + s * self.n_levels + level
                pair, moved = 0.5 * (of.y + y), y - of.y
                if level < N_ROUGH:
                    is_turn = (moved > 0.0) != (of.moved > 0.0)
                    self.walk(s, level, at, oldest, newest, moved, is_turn)
                if level < self.n_pattern_levels and s < self.n_channels:
                    self.match(s, level, at, oldest, newest, y)
                of.y, of.moved = y, moved
                if (at >> level) % 2 == 0:
                    break
                y = pair

    cdef void walk(
        self, int64_t s, int level, int64_t at, int64_t oldest, int64_t newest, double moved,
        bint is_turn
    ) noexcept nogil:
        """Add a difference of a level to the windows that have both values, and a turn to those
        that have all three."""
        cdef int64_t k, n
        cdef double *course
        for k in range(oldest, newest + 1):
            n = at - k * self.hop + 1
            course = self.course + (k % self.n_windows * self.n_streams + s) * N_COURSE
            if n >> level >= 2:
                course[level] += fabs(moved)
            if level < N_TURNING and is_turn and n >> level >= 3:
                course[N_ROUGH + level] += 1.0

    cdef void match(
        self, int64_t c, int level, int64_t at, int64_t oldest, int64_t newest, double y
    ) noexcept nogil:
        """Count, in the windows that have the last nine values of a level, the patterns on channel
        c whose value is above their bias."""
        cdef int64_t k, j, p, length = self.n_pattern_levels * self.n_patterns
        cdef int32_t *values = self.latest + (c * self.n_pattern_levels + level) * SPAN
        cdef const int8_t *places
        cdef int32_t value, total = 0
        cdef bint teaches = False
        memmove(values, values + 1, (SPAN - 1) * sizeof(int32_t))
        values[SPAN - 1] = self.scaled(c, y)
        while newest >= oldest and (at - newest * self.hop + 1) >> level < SPAN:
            newest -= 1
        if newest < oldest:
            return
        for j in range(SPAN):
            total += values[j]
        if self.n_taught[0] < TEACHING:
            teaches = newest - newest % self.n_windows >= oldest
        j = (c + level * (self.n_channels - 1)) % self.n_channels
        while j < self.n_patterns:
            p = level * self.n_patterns + j
            places = self.triples + 3 * p
            value = 3 * (values[places[0]] + values[places[1]] + values[places[2]]) - total
            if value > self.bias[p]:
                for k in range(oldest, newest + 1):
                    self.above[k % self.n_windows * length + p] += 1
            if teaches:
                self.swing[p] += value if value > 0 else -value
            j += self.n_channels

    cdef int32_t scaled(self, int64_t c, double y) noexcept nogil:
        """A value of channel c as an integer; the unit grows while biases are learned."""
        cdef Scale *of = self.scales + c
        cdef double value = y - of.origin
        if self.n_taught[0] < TEACHING:
            if of.unit == 0.0 and fabs(value) > TINY:
                of.unit = TOP / fabs(value)
            while fabs(value) * of.unit > TOP:
                self.halve(c)
        return <int32_t> fmax(-CLIP, fmin(value * of.unit, CLIP))

    cdef void halve(self, int64_t c) noexcept nogil:
        """Halve the unit of channel c, and what was counted in it."""
        cdef int64_t i, level, n = self.n_pattern_levels
        self.scales[c].unit *= 0.5
        for i in range(c * n * SPAN, (c + 1) * n * SPAN):
            self.latest[i] //= 2
        for level in range(n):
            i = (c + level * (self.n_channels - 1)) % self.n_channels
            while i < self.n_patterns:
                self.bias[level * self.n_patterns + i] //= 2
                self.swing[level * self.n_patterns + i] *= 0.5
                self.inverse[level * self.n_patterns + i] *= 2.0
                i += self.n_channels

    cdef int64_t n_values(self, int64_t start, int level) noexcept nogil:
        """How many values of a level a window has"""
        return ((start + self.window) >> level) - ((start + (<int64_t> 1 << level) - 1) >> level)

    # -- a complete window -------------------------------------------------------------------------

    cdef void write(self, int64_t slot, int64_t start) noexcept nogil:
        """Write the features of the window from `start` on into `row`."""
        cdef int64_t c, d, s, p, n, first, j = 0, pair = slot * self.n_pairs
        cdef int i, b, level
        cdef const Moments *of = self.moments + slot * self.n_streams
        cdef const double *power = self.power + slot * self.n_streams * self.n_bands
        cdef double both
        for s in range(self.n_streams):
            for i in range(self.n_codes):
                if self.codes[i] == POWER:
                    for b in range(self.n_bands):
                        put(self.is_float32, self.out, j, power[b] / self.window)
                        j += 1
                elif self.codes[i] < ROUGHNESS:
                    put(self.is_float32, self.out, j, self.feature(self.codes[i], &of[s], power))
                    j += 1
                elif not self.averages:
                    j = self.put_course(self.codes[i], slot, start, s, 1, j)
            power += self.n_bands
        for i in range(self.n_codes):
            if self.averages and self.codes[i] >= ROUGHNESS:
                j = self.put_course(self.codes[i], slot, start, 0, self.n_streams, j)
        if self.n_pairs:
            for c in range(self.n_channels):
                for d in range(c + 1, self.n_channels):
                    both = sqrt(of[c].m2) * sqrt(of[d].m2)
                    put(self.is_float32, self.out, j, ratio(self.products[pair], both))
                    j, pair = j + 1, pair + 1
        for level in range(self.n_pattern_levels):
            n = self.n_values(start, level) - (SPAN - 1)
            first = (slot * self.n_pattern_levels + level) * self.n_patterns
            for p in range(first, first + self.n_patterns):
                put(self.is_float32, self.out, j, ratio(self.above[p], n))
                j += 1
        if self.n_pattern_levels and slot == 0 and self.n_taught[0] < TEACHING:
            self.teach(slot, start)

    cdef int64_t put_course(
        self, int code, int64_t slot, int64_t start, int64_t s, int64_t n, int64_t j
    ) noexcept nogil:
        """Write the roughness or the turns of each level, mean of n streams from s on, into `row`
        from j on; where the next goes."""
        cdef int64_t of
        cdef int level, first = 0 if code == ROUGHNESS else N_ROUGH
        cdef int end = N_ROUGH if code == ROUGHNESS else N_COURSE
        cdef double total
        for level in range(first, end):
            total = 0.0
            for of in range(s, s + n):
                total += self.of_course(level, slot, start, of)
            put(self.is_float32, self.out, j, total / n)
            j += 1
        return j

    cdef double of_course(self, int i, int64_t slot, int64_t start, int64_t s) noexcept nogil:
        cdef int64_t at = slot * self.n_streams + s
        cdef double total = self.course[at * N_COURSE + i]
        cdef int64_t n = self.n_values(start, i if i < N_ROUGH else i - N_ROUGH)
        if n < 3:
            return 0.0
        if i >= N_ROUGH:
            return total / (n - 2)
        return ratio(total / (n - 1), sqrt(self.moments[at].m2 / self.window))

    cdef void teach(self, int64_t slot, int64_t start) noexcept nogil:
        """Move the biases so that the wanted share of values is above."""
        cdef int64_t p, j, n, at = slot * self.n_pattern_levels * self.n_patterns
        cdef int level
        cdef double size, share, bias, n_taught = self.n_taught[0]
        for level in range(self.n_pattern_levels):
            n = self.n_values(start, level) - (SPAN - 1)
            for j in range(self.n_patterns):
                p = level * self.n_patterns + j
                self.inverse[p] += ratio(n, self.swing[p])
                size = ratio(n_taught + 1.0, self.inverse[p])
                if n_taught == 0.0:
                    bias = FIRST * size * self.normal[p]
                else:
                    share = ratio(self.above[at + p], n)
                    bias = self.bias[p] + STEP * size * (share - self.wanted[p]) / sqrt(n_taught)
                self.bias[p] = <int32_t> fmax(-MOST_BIAS, fmin(bias, MOST_BIAS))
        self.n_taught[0] += 1

    cdef double feature(
        self, int code, const Moments *of, const double *power
    ) noexcept nogil:
        cdef double n = self.window, variance = of.m2 / n
        cdef double rms = sqrt(variance + of.mean * of.mean)
        if code == MEAN:
            return of.mean
        if code == STD:
            return sqrt(variance)
        if code == RMS:
            return rms
        if code == MIN:
            return of.low
        if code == MAX:
            return of.high
        if code == PEAK_TO_PEAK:
            return of.high - of.low
        if code == CREST:
            return ratio(fmax(-of.low, of.high), rms)
        if code == SKEWNESS:
            return ratio(of.m3 / n, variance * sqrt(variance))
        if code == KURTOSIS:
            return ratio(of.m4 / n, variance * variance) - 3.0 if of.m2 > 0.0 else 0.0
        if code == CROSSINGS:
            return of.n_crossings * self.rate / n
        if code == SLOPE:
            return 12.0 * of.trend / (n * (n * n - 1.0)) * self.rate
        if code == DOMINANT_BAND:
            return dominant(power, self.centers, self.n_bands)
        return centroid(power, self.centers, self.n_bands)

    cdef const char *fault(self) noexcept nogil:
        """As a learner's."""
        cdef const char *fault = RawFeaturesCore.fault(self)
        cdef int64_t i
        if fault != NULL:
            return fault
        for i in range(self.n_streams * self.n_bands):
            if self.squares[i] < 0.0:
                return b"the snapshot has a negative square"
        for i in range(self.n_windows * self.n_streams * self.n_bands):
            if self.power[i] < 0.0:
                return b"the snapshot has a negative sum of squares"
        for i in range(self.n_windows * self.n_streams):
            if self.moments[i].m2 < 0.0 or self.moments[i].n_crossings < 0.0:
                return b"the snapshot has a negative sum of squares"
        for i in range(self.n_streams * N_COURSE * self.n_windows if self.n_levels else 0):
            if self.course[i] < 0.0:
                return b"the snapshot has a negative sum of differences"
        return self.patterns_fault()

    cdef const char *patterns_fault(self) noexcept nogil:
        cdef int64_t i, n = self.n_pattern_levels * self.n_patterns
        if n and not 0 <= self.n_taught[0] <= TEACHING:
            return b"the snapshot's biases are of no number of windows"
        for i in range(self.n_channels * self.n_pattern_levels * SPAN):
            if not -CLIP <= self.latest[i] <= CLIP:
                return b"the snapshot has a value that no pattern can have"
        for i in range(self.n_channels if n else 0):
            if self.scales[i].unit < 0.0 or not fabs(self.scales[i].origin) <= LARGEST:
                return b"the snapshot has a scale that no channel can have"
        for i in range(n):
            if self.swing[i] < 0.0 or self.inverse[i] < 0.0:
                return b"the snapshot has a negative sum of differences"
        for i in range(self.n_windows * n):
            if not 0 <= self.above[i] <= self.window:
                return b"the snapshot counts more values than a window has"
        return NULL


cdef inline double filtered(double x, const Section *by, double *delay) noexcept nogil:
    """Transposed direct form II"""
    cdef double y = by.b * x + delay[0]
    delay[0] = delay[1] - by.a1 * y
    delay[1] = -by.b * x - by.a2 * y
    return y


cdef inline void add_to(Moments *of, double x, double n, double share) noexcept nogil:
    """The moments with x, the n-th sample; share = 1 / n"""
    cdef double delta = x - of.mean
    cdef double step = delta * share
    cdef double term = delta * step * (n - 1.0)
    cdef bint is_above = delta > 0.0
    of.mean += step
    of.m4 += (term * step * step * (n * n - 3.0 * n + 3.0)
              + 6.0 * step * step * of.m2 - 4.0 * step * of.m3)
    of.m3 += term * step * (n - 2.0) - 3.0 * step * of.m2
    of.m2 += term
    of.trend += 0.5 * n * (x - of.mean)  # (n - 2) / 2 is the mean of the times before
    of.low = fmin(of.low, x)
    of.high = fmax(of.high, x)
    of.n_crossings += n > 2.0 and is_above != (of.is_above > 0.0)
    of.is_above = is_above


cdef inline double ratio(double a, double b) noexcept nogil:
    """a / b, 0 where nothing has varied"""
    return a / b if b > 0.0 else 0.0


cdef double dominant(const double *power, const double *centers, int n) noexcept nogil:
    """Center of the first band with the most power, 0 if there is none"""
    cdef int b
    cdef double most = 0.0, center = 0.0
    for b in range(n):
        if power[b] > most:
            most, center = power[b], centers[b]
    return center


cdef double centroid(const double *power, const double *centers, int n) noexcept nogil:
    """sum of center times power / sum of power"""
    cdef int b
    cdef double total = 0.0, moment = 0.0
    for b in range(n):
        total += power[b]
        moment += power[b] * centers[b]
    return ratio(moment, total)
