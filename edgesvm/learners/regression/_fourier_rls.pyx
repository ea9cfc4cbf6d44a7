"""FourierRLS, compiled: recursive least squares on random Fourier features.

W = 2 P + n_features + 1 features f: cosines and sines along P directions, block by block, x and 1.
The covariance P of the weights is U D U', U with a unit diagonal; its columns lie one behind the
other. A sample moves the weights by the slope g of the loss (Bierman 1976):

    v = U'f,   P <- (P - P f f'P / a) / forgetting,   w += P f g / a,   a = noise + f'P f

No variance D_c rises above that before the first sample.

Bytes: (W (W - 1) / 2 + 4 W) s + 2 P and, for orthogonal directions, d s, beside the regressor's.
"""

cimport cython
from libc.math cimport fabs, fmax, fmin, isfinite
from libc.stdint cimport int16_t, int64_t
from libc.string cimport memcpy, memset

from edgesvm.core.linalg cimport any_dot, entry, item_bytes, put
from edgesvm.core.status cimport NOT_FINITE, UNCHANGED, Status
from edgesvm.learners.fourier._directions cimport (
    BLOCK, WIDTHS, Directions, angles_from, directions_of, find_waves, forget_angles)
from edgesvm.learners.regression._regressor cimport RegressorCore

cdef extern from "lanes.h" nogil:      # f32: whether u and b are float32
    void bierman_column(bint f32, void *u, void *b, double less, double more, int64_t n) noexcept

cdef double LARGEST_SQUARE, LEAST_VARIANCE, MOST_COVARIANCE, MOST_SLOPE, MOST_WEIGHT
from edgesvm.learners.regression.constants import (
    FIRST_AMPLITUDES, LARGEST_SQUARE, LEAST_VARIANCE, MOST_COVARIANCE, MOST_SLOPE, MOST_WEIGHT)


@cython.final
cdef class FourierRLSCore(RegressorCore):
    """Weights and their covariance. The public class has checked the parameters.

    Parameters
    ----------
    key, scales : as in `Directions`
    forgetting : float
    loss, parameter, miss, delay : as in `RegressorCore`
    """

    cdef Directions directions
    cdef readonly double forgetting
    cdef readonly double noise
    cdef readonly int64_t width     # W
    cdef double[WIDTHS] first       # amplitudes of the widths before the first sample
    cdef char *w            # (W,)
    cdef char *upper        # (W (W - 1) / 2,): U above its diagonal
    cdef char *variance     # (W,): D
    cdef char *features     # (W,): TMP
    cdef char *gain         # (W,): TMP

    def __init__(self, *common, key, scales, forgetting, noise, loss, parameter, miss, delay):
        super().__init__(*common, loss=loss, parameter=parameter, miss=miss, delay=delay)
        self.innovates = False
        self.forgetting, self.noise = forgetting, noise
        self.directions = directions_of(self, key, scales, len(self.views["angle"]))
        self.first = FIRST_AMPLITUDES
        self.width = len(self.views["w"])
        self.w, self.upper = self.array("w"), self.array("upper")
        self.variance = self.array("variance")
        self.features, self.gain = self.array("features"), self.array("scratch")

    cdef bint decides_alone(self) noexcept nogil:
        return True

    cdef bint overflows(self, const void *x, double weight) noexcept nogil:
        cdef double most = weight * MOST_SLOPE
        cdef double square = any_dot(self.is_float32, x, x, self.n_features) + 1.0
        return not (most * most * square <= LARGEST_SQUARE and square <= LARGEST_SQUARE)

    cdef void find_features(self, const void *x) noexcept nogil:
        """Leaves them."""
        cdef int64_t p = 0, n, size = item_bytes(self.is_float32)
        cdef int16_t[BLOCK] place
        while p < self.directions.n:
            n = min(BLOCK, self.directions.n - p)
            find_waves(
                &self.directions, angles_from(&self.directions, x, p, n, place), n,
                self.features + 2 * p * size)
            p += n
        memcpy(self.features + 2 * self.directions.n * size, x, self.n_features * size)
        put(self.is_float32, self.features, self.width - 1, 1.0)
        if self.directions.n_mixed:
            forget_angles(&self.directions)

    cdef Status value(self, const void *x, bint keep, double *f) noexcept nogil:
        self.find_features(x)
        f[0] = any_dot(self.is_float32, self.w, self.features, self.width)
        if not keep:
            self.wipe()
        if not isfinite(any_dot(self.is_float32, x, x, self.n_features)):
            return NOT_FINITE
        return UNCHANGED

    cdef void begin(self) noexcept nogil:
        RegressorCore.begin(self)
        self.forget_covariance()

    cdef void forget_covariance(self) noexcept nogil:
        """The covariance, as it is before the first sample"""
        cdef int64_t c, size = item_bytes(self.is_float32)
        memset(self.upper, 0, self.width * (self.width - 1) // 2 * size)
        for c in range(self.width):
            put(self.is_float32, self.variance, c, self.first_variance(c))

    cdef double first_variance(self, int64_t c) noexcept nogil:
        """Of the weight of feature c, before the first sample"""
        cdef int64_t p = c // (2 * BLOCK) * BLOCK
        cdef double amplitude
        if c >= 2 * self.directions.n:
            return 1.0
        amplitude = self.first[(c - 2 * p) % min(BLOCK, self.directions.n - p) % WIDTHS]
        return amplitude * amplitude / self.directions.n

    cdef void move(self, const void *x, double g) noexcept nogil:
        cdef int64_t c, size = item_bytes(self.is_float32)
        cdef double all = self.noise, before, v, b, d
        cdef char *column = self.upper
        for c in range(self.width):
            d = entry(self.is_float32, self.variance, c)
            v = entry(self.is_float32, self.features, c)
            v += any_dot(self.is_float32, column, self.features, c)
            b = d * v
            before, all = all, all + v * b
            if not isfinite(all):
                self.forget_covariance()
                return
            d = fmin(d * (before / (all * self.forgetting)), self.first_variance(c))
            put(self.is_float32, self.variance, c, d)
            self.update_column(column, -v / before, b, c)
            put(self.is_float32, self.gain, c, b)
            column += c * size
        for c in range(self.width):
            put(self.is_float32, self.w, c, entry(self.is_float32, self.w, c)
                + g / all * entry(self.is_float32, self.gain, c))

    cdef void update_column(self, char *u, double less, double more, int64_t n) noexcept nogil:
        bierman_column(self.is_float32, u, self.gain, less, more, n)

    cdef void wipe(self) noexcept nogil:
        cdef int64_t size = self.width * item_bytes(self.is_float32)
        memset(self.features, 0, size)
        memset(self.gain, 0, size)

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = RegressorCore.fault(self)
        cdef int64_t c
        if found != NULL:
            return found
        for c in range(self.width):
            if not 0.0 <= entry(self.is_float32, self.variance, c) <= 1.0:
                return b"a variance is out of range"
            if not fabs(entry(self.is_float32, self.w, c)) <= MOST_WEIGHT:
                return b"the weights are too large"
            if not self.diagonal(c) <= MOST_COVARIANCE:
                return b"the covariance is too large"
        return NULL

    cdef double diagonal(self, int64_t i) noexcept nogil:
        """(U D U')_ii"""
        cdef double total = entry(self.is_float32, self.variance, i), u
        cdef int64_t c
        for c in range(i + 1, self.width):
            u = entry(self.is_float32, self.upper, c * (c - 1) // 2 + i)
            total += u * u * fmax(entry(self.is_float32, self.variance, c), LEAST_VARIANCE)
        return total
