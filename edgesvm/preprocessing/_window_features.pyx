"""Features of windows of raw samples, compiled.

As many windows are open as overlap; each sample goes into all of them. Of a channel in a window are
kept the sums of (x - mean)^2, ^3 and ^4, which move with the mean (Pebay, "Formulas for Robust,
One-Pass Parallel Computation of Covariances and Arbitrary-Order Statistical Moments", 2008, eqs.
2.1, 2.7 and 2.9 for one more sample), the sum of its products with time, and the sums of squares
behind the band-pass filters. The filters run on from window to window.

Which windows are open follows from the number of samples, so it is not stored: window k has the
samples k hop to k hop + window - 1 and the place k mod n_windows.
"""

from libc.math cimport fmax, fmin, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memset

from edgesvm.core.linalg cimport entry, put
from edgesvm.preprocessing._raw_features cimport RawFeaturesCore


cdef class WindowFeaturesCore(RawFeaturesCore):
    """State and step. The public class has checked the parameters.

    Parameters
    ----------
    *common, **raw : as for `RawFeaturesCore`
    rate : float, Hz
    codes : list of Feature, of each channel
    bands : list of (center in Hz, two sections)
    magnitude : bool
    """

    def __init__(self, *common, rate, codes, bands, magnitude, **raw):
        super().__init__(*common, **raw)
        self.rate = rate
        self.has_magnitude = magnitude
        self.n_streams, self.n_bands = self.views["squares"].shape
        self.n_pairs = self.views["products"].shape[1]
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
        for k in range(max(newest - self.n_windows + 1, 0), newest + 1):
            age = at - k * self.hop
            if age < self.window:
                self.add(k % self.n_windows, age + 1)
            if age == self.window - 1:
                self.write(k % self.n_windows)
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
        """Set the filters as if the first sample had been there for ever."""
        cdef int64_t s
        cdef int b
        cdef double *delay = self.delays
        memset(delay, 0, self.n_streams * self.n_bands * 4 * sizeof(double))
        for s in range(self.n_streams):
            for b in range(self.n_bands):
                delay[0] = delay[1] = -self.sections[2 * b].b * self.sample[s]
                delay += 4

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

    # -- a complete window -------------------------------------------------------------------------

    cdef void write(self, int64_t slot) noexcept nogil:
        """Write the features of a window into `row`."""
        cdef int64_t c, d, s, j = 0, pair = slot * self.n_pairs
        cdef int i, b
        cdef const Moments *of = self.moments + slot * self.n_streams
        cdef const double *power = self.power + slot * self.n_streams * self.n_bands
        cdef double both
        for s in range(self.n_streams):
            for i in range(self.n_codes):
                if self.codes[i] == POWER:
                    for b in range(self.n_bands):
                        put(self.is_float32, self.out, j, power[b] / self.window)
                        j += 1
                else:
                    put(self.is_float32, self.out, j, self.feature(self.codes[i], &of[s], power))
                    j += 1
            power += self.n_bands
        if self.n_pairs:
            for c in range(self.n_channels):
                for d in range(c + 1, self.n_channels):
                    both = sqrt(of[c].m2) * sqrt(of[d].m2)
                    put(self.is_float32, self.out, j, ratio(self.products[pair], both))
                    j, pair = j + 1, pair + 1

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
