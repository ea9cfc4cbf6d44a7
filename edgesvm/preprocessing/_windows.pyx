"""Raw samples to rows of features, compiled; and a learner of these rows behind them. What the rows
hold is said in the public classes.

**Windows.** As many windows are open as overlap; each sample goes into all of them. Which are open
follows from the number of samples, so it is not stored: window k has the samples k hop to k hop +
window - 1 and the place k mod n_windows. Moments are Pebay's of 2008, eqs. 2.1, 2.7 and 2.9 for one
more sample.

**The clock.** Of x, the value of a channel, follow the slow mean m and the usual distance s; a
sample that comes dt seconds after the one before it counts dt:

    d = min(max(x - m, -FAR s), FAR s),  m += share d,  s += share (|d| - s)

When an hour ends, the mean of its samples, each counted as m + d, and their variance become the
n-th part of what the hour has (West, "Updating Mean and Variance Estimates", 1979):

    u' = u + share e,  v'^2 = (1 - share) (v^2 + share e^2) + share variance,  e = mean - u

The residual is (x - u) / v, where s counts for v as PRIOR visits: (n v^2 + PRIOR s^2) / (n +
PRIOR).
"""

cimport cython
cimport numpy as cnp
from libc.math cimport fabs, floor, fmax, fmin, rint, sqrt
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t
from libc.string cimport memmove, memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.contract.guard cimport Guard
from edgesvm.contract.labels cimport Labels
from edgesvm.core.arena cimport Arena
from edgesvm.core.linalg cimport entry, put
from edgesvm.core.status cimport NOT_FINITE, UNKNOWN_LABEL, Status

import numpy as np

from edgesvm.budget import PlannedArray, check_numbers
from edgesvm.contract.inputs import as_floats
from edgesvm.errors import CorruptModelError, refusal

cnp.import_array()

cdef double LARGEST = 1e15      # of a raw sample: then every feature is finite, in float32 too

cdef struct Counts:     # the first four arrays of the arena
    int64_t n_pushed, n_rows, n_dropped
    int64_t n_run       # samples since the first, or since the last gap


cdef class RawFeaturesCore:
    """State and step, on `arena` as laid out by `plan`."""
    cdef readonly Arena arena
    cdef readonly Guard guard
    cdef readonly object plan
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

    def __init__(
        self, plan, Arena arena, *, n_channels, window, hop, dtype, owner, Guard guard not None
    ):
        self.arena, self.guard, self.owner = arena, guard, owner
        self.plan, self.views = plan, plan.cut(arena.memory)
        self.dtype = np.dtype(dtype)
        self.typenum = self.dtype.num
        self.is_float32 = self.typenum == cnp.NPY_FLOAT32
        self.n_channels, self.window, self.hop = n_channels, window, hop
        self.n_windows = (self.window + self.hop - 1) // self.hop
        self.counts = <Counts *> arena.at(0, sizeof(Counts))
        self.out = self.array("row")
        self.row = self.views["row"].view()
        self.row.flags.writeable = False

    cdef char *array(self, str name) except NULL:
        """First byte of the plan's array `name`."""
        view = self.views[name]
        cdef int64_t offset = <char *> cnp.PyArray_DATA(view) - self.arena.base
        return self.arena.at(offset, view.nbytes)

    cdef bint take(self, const void *x) noexcept nogil:
        """Take in a sample that is not too large; whether it completes a row."""
        return False

    cdef bint is_too_large(self, const void *x) noexcept nogil:
        cdef int64_t c
        for c in range(self.n_channels):
            if not fabs(entry(self.is_float32, x, c)) <= LARGEST:
                return True
        return False

    # -- entry points ------------------------------------------------------------------------------

    cdef cnp.ndarray as_row(self, x):
        cdef cnp.ndarray row
        if isinstance(x, cnp.ndarray):
            row = x
            if (cnp.PyArray_ISCARRAY_RO(row) and cnp.PyArray_TYPE(row) == self.typenum
                    and cnp.PyArray_NDIM(row) == 1 and cnp.PyArray_SIZE(row) == self.n_channels):
                return row
        return as_floats(x, self.dtype, 1, self.n_channels, self.owner)

    def push(self, x):
        cdef cnp.ndarray row
        self.guard.begin()
        try:
            row = self.as_row(x)
            if self.is_too_large(cnp.PyArray_DATA(row)):
                raise refusal(NOT_FINITE, f"{self.owner}: the sample", self.dtype, ())
            return self.row if self.take(cnp.PyArray_DATA(row)) else None
        finally:
            self.guard.end()

    def push_many(self, cnp.ndarray X not None, cnp.ndarray out not None):
        """Push rows of X, C-contiguous and of this dtype; the features of complete windows go into
        `out`. A row that is too large is refused, and all others with it."""
        cdef int64_t i, n_rows = 0
        cdef int64_t size = self.n_channels * cnp.PyArray_ITEMSIZE(X)
        cdef const char *x = <const char *> cnp.PyArray_DATA(X)
        self.guard.begin()
        try:
            for i in range(len(X)):
                if self.is_too_large(x + i * size):
                    raise refusal(NOT_FINITE, f"{self.owner}: row {i}", self.dtype, ())
            for i in range(len(X)):
                if self.take(x + i * size):
                    out[n_rows] = self.row
                    n_rows += 1
            return out
        finally:
            self.guard.end()

    def break_off(self):
        """Drop the open windows; the next sample is the first of a new run."""
        self.guard.begin()
        try:
            self.drop_open()
        finally:
            self.guard.end()

    cdef void drop_open(self) noexcept nogil:
        cdef int64_t n_run = self.counts.n_run, newest, k
        if n_run:
            newest = (n_run - 1) // self.hop
            for k in range(max(newest - self.n_windows + 1, 0), newest + 1):
                self.counts.n_dropped += n_run < k * self.hop + self.window
        self.counts.n_run = 0

    # -- votes, (n_windows, n_classes), on the labels of the windows -------------------------------

    cdef void count_vote(
        self, int64_t *votes, int64_t n_classes, int64_t n_run, int slot
    ) noexcept nogil:
        """Count the label of a sample, with so many before it, in every window that it is in."""
        cdef int64_t newest = n_run // self.hop, k
        if n_run % self.hop == 0:
            memset(votes + newest % self.n_windows * n_classes, 0, n_classes * sizeof(int64_t))
        if slot < 0:
            return
        for k in range(max(newest - self.n_windows + 1, 0), newest + 1):
            if n_run - k * self.hop < self.window:
                votes[k % self.n_windows * n_classes + slot] += 1

    cdef int most_votes(
        self, const int64_t *votes, int64_t n_classes, int64_t n_run
    ) noexcept nogil:
        """The first class with most votes in the window that this sample ends; -1 without a vote"""
        cdef int64_t k = (n_run - self.window + 1) // self.hop
        cdef const int64_t *of = votes + k % self.n_windows * n_classes
        cdef int64_t number = 0     # of votes
        cdef int slot, best = -1
        for slot in range(<int> n_classes):
            if of[slot] > number:
                number, best = of[slot], slot
        return best

    cdef const char *fault(self) noexcept nogil:
        if max(self.counts.n_run, max(self.counts.n_rows, self.counts.n_dropped)) > (
                self.counts.n_pushed):
            return b"the snapshot's counts are not those of a stream"
        return NULL

    cdef const char *votes_fault(
        self, const int64_t *votes, int64_t n_classes, int64_t n_labels
    ) noexcept nogil:
        cdef int64_t k, slot, left
        for k in range(self.n_windows):
            left = self.window
            for slot in range(n_classes):
                if votes[k * n_classes + slot] > left:
                    return b"the snapshot has more votes than a window has samples"
                left -= votes[k * n_classes + slot]
                if slot >= n_labels and votes[k * n_classes + slot]:
                    return b"the snapshot has votes for a label that it does not have"
        return NULL

    def check(self):
        """CorruptModelError if no stream of samples can have left these bytes."""
        check_numbers(self.plan.arrays, self.views)
        cdef const char *fault = self.fault()
        if fault != NULL:
            raise CorruptModelError(fault.decode())


# -- windows ---------------------------------------------------------------------------------------

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


N_TEACH = 16            # windows from which biases are learned
cdef int TEACHING = N_TEACH
cdef double TOP = 16777216.0     # 2^24, the largest value of a channel while biases are learned
cdef double CLIP = 134217728.0   # 2^27, ever after: a pattern comes to 12 times that at most
cdef double TINY = 1e-30        # a difference that sets no unit
cdef double FIRST = 1.25        # standard deviations of a normal value in its mean absolute value
cdef double STEP = 4.0          # of the recursion, in harmonic means of mean absolute values
cdef double MOST_BIAS = 1073741824.0    # 2^30


cdef class WindowFeaturesCore(RawFeaturesCore):
    """State and step. `bands` are (center in Hz, two sections); `patterns`, of each level, have
    three places, the quantile of the normal distribution that the bias begins at, and the share of
    values that should be above.
    """
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
        for i in range(self.n_windows * self.n_streams):
            if self.moments[i].m2 < 0.0 or self.moments[i].n_crossings < 0.0:
                return b"the snapshot has a negative sum of squares"
        return self.patterns_fault()

    cdef const char *patterns_fault(self) noexcept nogil:
        cdef int64_t i, n = self.n_pattern_levels * self.n_patterns
        for i in range(self.n_channels * self.n_pattern_levels * SPAN):
            if not -CLIP <= self.latest[i] <= CLIP:
                return b"the snapshot has a value that no pattern can have"
        for i in range(self.n_channels if n else 0):
            if self.scales[i].unit < 0.0 or not fabs(self.scales[i].origin) <= LARGEST:
                return b"the snapshot has a scale that no channel can have"
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


# -- the clock -------------------------------------------------------------------------------------

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


cdef int64_t DAY = 24, HOURS = 168  # hours of a day and of a week
cdef double WEEK = 604800.0         # s
cdef double MEMORY = 43200.0        # s that a slow mean is of, measured on the Numenta series
cdef double LONGEST = 5400.0        # s that one sample counts for in it, so that none decides it
cdef double FAR = 8.0               # usual distances from the slow mean that a value counts as
cdef int LEAST_VISITS = 2           # times that an hour was seen before what it has is usual
cdef double LEAST_SHARE = 0.125     # of a visit in what an hour has, however many there were
cdef double BOUND = 3.0             # deviations that a visit counts as at most,
cdef double LEAST_STEP = 16.0       # and codes, so that no rounding keeps what is usual where it is
cdef double PRIOR = 0.25            # visits that the usual distance from the slow mean counts as
cdef double MOST = 16.0             # deviations of a residual
cdef double FINE = 4096.0           # the first code
cdef double LARGEST_CODE = 32767.0


@cython.final
cdef class ClockFeaturesCore(RawFeaturesCore):
    """State and step; the last number of a sample is the time."""
    cdef Clock *clock
    cdef Channel *channels      # (n_channels - 1,)
    cdef int16_t *codes         # (n_channels - 1, HOURS, 2): mean and deviation
    cdef uint8_t *visits        # (HOURS,): how often each hour was seen, at most 255

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
        if floor(clock.hour) != clock.hour or (clock.n == 0.0 and self.counts.n_pushed):
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


# -- a learner behind them -------------------------------------------------------------------------

cdef int NORMAL = 1      # class index of a window without a label, where there are no labels


cdef class ChainCore:
    """Votes on `votes` (n_windows, n_classes), int64, between two cores."""
    cdef readonly RawFeaturesCore windows
    cdef readonly LearnerCore learner
    cdef object array, learn, answer
    cdef str owner
    cdef Labels labels
    cdef int64_t *votes
    cdef int64_t n_classes
    cdef bint last
    cdef int winner     # class index of the window completed last; -1 without a label

    def __init__(self, cnp.ndarray votes not None, windows, learner, bint last, owner):
        self.array, self.windows, self.learner, self.owner = votes, windows, learner, owner
        self.labels = learner.labels
        self.learn, self.answer = learner.learn_one, learner.predict_with_score
        self.votes, self.last = <int64_t *> cnp.PyArray_DATA(votes), last
        self.n_classes = votes.shape[1]

    def push(self, x, y):
        self.windows.guard.begin()
        try:
            if not self.take(x, y):
                return None
            answer = self.answer(self.windows.row) if self.learner.n_learned() else NOTHING
            if self.winner >= 0:
                self.learn(self.windows.row, self.labels.values[self.winner])
            return answer
        finally:
            self.windows.guard.end()

    def window(self, x, y):
        cdef bint has_label
        self.windows.guard.begin()
        try:
            if not self.take(x, y):
                return None
            has_label = self.winner >= 0 and not self.learner.one_class
            return self.windows.row, self.labels.values[self.winner] if has_label else None
        finally:
            self.windows.guard.end()

    cdef bint take(self, x, y) except -1:
        """Take in one raw sample; if it completes a window, True, and `winner` is that's class."""
        cdef cnp.ndarray row
        cdef int64_t at
        cdef bint is_complete
        cdef int slot = -1
        if self.learner.one_class:
            y = None
        if y is not None:
            slot = self.labels.find(y)
            if slot < 0:
                raise self.refused(UNKNOWN_LABEL, y)
        row = self.windows.as_row(x)
        if self.windows.is_too_large(cnp.PyArray_DATA(row)):
            raise self.refused(NOT_FINITE, y)
        at = self.windows.counts.n_run
        if slot == self.labels.n:
            n = self.windows.counts.n_rows * self.windows.hop   # samples so far, about
            slot = -1 if self.labels.is_rare(y, 1.0, n) else self.labels.place(y, (), 0)
        is_complete = self.windows.take(cnp.PyArray_DATA(row))
        self.windows.count_vote(self.votes, self.n_classes, at, slot)
        if not is_complete:
            return False
        if self.learner.one_class:
            self.winner = NORMAL
        elif self.last:
            self.winner = slot
        else:
            self.winner = self.windows.most_votes(self.votes, self.n_classes, at)
        return True

    cdef refused(self, Status status, y):
        sample = f"{self.owner}: the sample (label {y!r})"
        return self.labels.refused(status, y, sample, self.windows.dtype)

    def check(self):
        """CorruptModelError if no stream of samples can have left these votes."""
        votes = PlannedArray("votes", self.array.dtype, self.array.shape, 0)
        check_numbers([votes], {"votes": self.array})
        self.windows.check()
        cdef const char *fault = self.windows.votes_fault(
            self.votes, self.n_classes, self.labels.n)
        if fault != NULL:
            raise CorruptModelError(fault.decode())


NOTHING = (None, 0.0)   # the prediction of a learner that has learned nothing
