"""FourierSVM, compiled: the gradient steps of AdaGradSVM on random Fourier features.

The features of x are the cosines and sines of v_p.x for P directions v_p, then x itself and 1:
W = 2 P + n_features + 1 of them, laid out block by block of `BLOCK` directions, the cosines of a
block first. The sum of squares of a cosine and its sine is 1.

With `weigh_widths` the features of width k have an amplitude a_k, and x and 1 have a_4. What the
features of k had in the margin, c_k = y w_k.f_k, is the slope of the loss by log a_k, so a sample
inside the margin also moves

    H += |g c|^2      log a_k += TILT_RATE g c_k / sqrt(1 + H),      mean of a_k^2 = 1:

a width that spoke against the labels of samples before it learned them grows faint.

Bytes, V vectors of weights (one per class, one for two classes): 8 V + 16 + 2 V W s + 2 P, 48 for
the amplitudes, and d s for orthogonal directions.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport isfinite, sqrt
from libc.stdint cimport int16_t, int64_t
from libc.string cimport memcmp, memcpy, memmove, memset

from edgesvm.contract.labels cimport MAX_CLASSES
from edgesvm.core.error_rate cimport mean_decides
from edgesvm.core.linalg cimport any_dot
from edgesvm.learners.fourier._directions cimport (
    BLOCK,
    GROUPS,
    OF_X,
    WIDTHS,
    add_dots_of_widths,
    angles_from,
    are_amplitudes,
    directions_of,
    draw_rows,
    find_amplitudes,
    find_angles,
    find_waves,
    forget_angles,
    learn_amplitudes,
    weigh_waves,
)
from edgesvm.learners.gradient._adagrad_svm cimport AdaGradSVMCore

import numpy as np

cnp.import_array()

cdef enum:
    MANY_ROWS = 8       # from which on scratch beside the arena is worth being taken

from edgesvm.learners.fourier.constants import FIRST_TILT


@cython.final
cdef class FourierSVMCore(AdaGradSVMCore):
    """Features of a sample. The public class has checked the parameters.

    Parameters
    ----------
    key, scales : as in `Directions`
    rate, is_hinge : as in `AdaGradSVMCore`
    """
    def __init__(self, *common, key, scales, rate, is_hinge):
        super().__init__(*common, rate=rate, is_hinge=is_hinge)
        n = len(self.views["angle"])
        self.directions = directions_of(self, key, scales, n)
        self.first_tilt = FIRST_TILT
        self.H = self.tilt = NULL
        if "tilt" in self.views:
            self.H = <double *> self.array("tilt_squares")
            self.tilt = <double *> self.array("tilt")
        self.looks_ahead = self.directions.n_mixed == 0

    # -- many rows ---------------------------------------------------------------------------------

    cdef int begin_rows(self, int64_t n) except -1:
        cdef int64_t of_waves = self.bytes_of(2 * self.directions.n)
        cdef int64_t of_rows = self.bytes_of(ROWS * self.n_features) if self.looks_ahead else 0
        cdef int64_t of_angles = 2 * ROWS * self.directions.n if self.looks_ahead else 0
        cdef cnp.npy_intp size = of_waves + of_rows + of_angles
        if self.n_working == 0 and n >= MANY_ROWS:
            self.kept = cnp.PyArray_EMPTY(1, &size, cnp.NPY_UINT8, False)
            self.waves = <char *> cnp.PyArray_DATA(<cnp.ndarray> self.kept)
            if self.looks_ahead:
                self.row_ahead = self.waves + of_waves
                self.ahead = <int16_t *> (self.row_ahead + of_rows)
        self.n_working += 1
        return 0

    cdef void end_rows(self) noexcept:
        self.n_working -= 1
        if self.n_working == 0:
            self.waves, self.ahead, self.row_ahead, self.kept = NULL, NULL, NULL, None
            self.rows_ahead = 0

    cdef void look_ahead(self, const void *x, int64_t n) noexcept nogil:
        """Have the next row's angles found, together with those of the rows behind it."""
        if self.ahead == NULL or self.angles_ahead(x) != NULL:
            return
        self.rows_ahead = ROWS if n >= ROWS else 2 if n >= 2 else 1
        memcpy(self.row_ahead, x, self.bytes_of(self.rows_ahead * self.n_features))
        self.draw_ahead()

    cdef void draw_ahead(self) noexcept nogil:
        cdef int64_t p = 0
        while p < self.directions.n:
            draw_rows(
                &self.directions, self.row_ahead, self.rows_ahead, p,
                min(BLOCK, self.directions.n - p), self.ahead + p, self.directions.n)
            p += BLOCK

    cdef const int16_t *angles_ahead(self, const void *x) noexcept nogil:
        """The angles of a sample, if they have been found ahead; else NULL"""
        cdef int64_t size = self.bytes_of(self.n_features)
        cdef int r
        for r in range(self.rows_ahead):
            if memcmp(self.row_ahead + r * size, x, size) == 0:
                return self.ahead + r * self.directions.n
        return NULL

    cdef void take_angles(self, const void *x) noexcept nogil:
        """The angles of a sample that is learned."""
        cdef const int16_t *found = self.angles_ahead(x)
        cdef int64_t p
        if found == NULL:
            find_angles(&self.directions, x)
            return
        for p in range(self.directions.n):
            self.directions.angle[p] = found[p]

    cdef void *place_of(self, int64_t p, void *place) noexcept nogil:
        """Where the features of directions p to p + BLOCK are while a sample is learned: kept, or
        at `place`"""
        return place if self.waves == NULL else self.waves + self.bytes_of(2 * p)

    # -- amplitudes --------------------------------------------------------------------------------

    cdef double sum_of_squares(self, double xx) noexcept nogil:
        """Leaves the amplitudes."""
        cdef double *a = self.amplitude
        cdef double square
        cdef int k
        find_amplitudes(self.first_tilt, self.tilt, a)
        square = a[OF_X] * a[OF_X] * (xx + 1.0)
        for k in range(WIDTHS):
            square += a[k] * a[k] * ((self.directions.n + WIDTHS - 1 - k) // WIDTHS)
        return square

    # -- features ----------------------------------------------------------------------------------

    cdef void find_features(
        self, const int16_t *angle, int64_t n, const double *amplitude, void *f
    ) noexcept nogil:
        find_waves(&self.directions, angle, n, f)
        if self.tilt != NULL:
            weigh_waves(&self.directions, f, n, amplitude)

    cdef void add_linear(
        self, const char *weights, const void *x, double amplitude, double *score
    ) noexcept nogil:
        """Add what x and 1 have in the scores."""
        cdef double[MAX_CLASSES] linear
        cdef int v
        if self.tilt == NULL:
            AdaGradSVMCore.add_score(self, weights, x, score)
            return
        memset(linear, 0, self.n_vectors * sizeof(double))
        AdaGradSVMCore.add_score(self, weights, x, linear)
        for v in range(self.n_vectors):
            score[v] += amplitude * linear[v]

    cdef void score_both(self, const void *x, double *last, double *mean) noexcept nogil:
        """Leaves the angles."""
        cdef double[2 * BLOCK] place
        cdef void *f
        cdef int64_t p = 0, n
        self.take_angles(x)
        while p < self.directions.n:
            n = min(BLOCK, self.directions.n - p)
            f = self.place_of(p, place)
            self.find_features(self.directions.angle + p, n, self.amplitude, f)
            self.add_dots(self.w, 2 * p, f, 2 * n, last)
            self.add_dots(self.mean, 2 * p, f, 2 * n, mean)
            p += n
        self.add_linear(self.w, x, self.amplitude[OF_X], last)
        self.add_linear(self.mean, x, self.amplitude[OF_X], mean)

    cdef void add_score(self, const char *weights, const void *x, double *score) noexcept nogil:
        cdef double[GROUPS] amplitude
        find_amplitudes(self.first_tilt, self.tilt, amplitude)
        self.add_row(weights, x, amplitude, score)

    cdef void add_row(
        self, const char *weights, const void *x, const double *amplitude, double *score
    ) noexcept nogil:
        cdef double[2 * BLOCK] f
        cdef int16_t[BLOCK] place
        cdef const int16_t *found = self.angles_ahead(x)
        cdef const int16_t *angle
        cdef int64_t p = 0, n
        while p < self.directions.n:
            n = min(BLOCK, self.directions.n - p)
            if found == NULL:
                angle = angles_from(&self.directions, x, p, n, place)
            else:
                angle = found + p
            self.find_features(angle, n, amplitude, f)
            self.add_dots(weights, 2 * p, f, 2 * n, score)
            p += n
        if self.directions.n_mixed:
            forget_angles(&self.directions)
        self.add_linear(weights, x, amplitude[OF_X], score)

    cdef void add_rows(
        self, const char *weights, const void *x, const double *amplitude, double *score
    ) noexcept nogil:
        """`add_row` of four rows, along independent directions that are drawn once."""
        cdef double[2 * BLOCK] f
        cdef int16_t[ROWS * BLOCK] place
        cdef int64_t p = 0, n
        cdef int r
        while p < self.directions.n:
            n = min(BLOCK, self.directions.n - p)
            draw_rows(&self.directions, x, ROWS, p, n, place, BLOCK)
            for r in range(ROWS):
                self.find_features(place + r * BLOCK, n, amplitude, f)
                self.add_dots(weights, 2 * p, f, 2 * n, score + r * self.n_vectors)
            p += n
        for r in range(ROWS):
            self.add_linear(
                weights, <const char *> x + self.bytes_of(r * self.n_features), amplitude[OF_X],
                score + r * self.n_vectors)

    cdef int64_t decide_block(
        self, const void *x, const void *squares, int64_t n, double *values
    ) noexcept nogil:
        cdef const char *weights = self.mean if mean_decides(self.error_rates) else self.w
        cdef const char *row = <const char *> x
        cdef int64_t i = 0, apart = self.bytes_of(self.n_features)
        cdef double[GROUPS] amplitude
        cdef double *score = values
        cdef int r
        find_amplitudes(self.first_tilt, self.tilt, amplitude)
        while i + ROWS <= n:
            for r in range(ROWS):
                if not isfinite(any_dot(
                        self.is_float32, row + r * apart, row + r * apart, self.n_features)):
                    return i
            memset(score, 0, ROWS * self.n_vectors * sizeof(double))
            if self.directions.n_mixed == 0:
                self.add_rows(weights, row, amplitude, score)
            else:
                for r in range(ROWS):
                    self.add_row(weights, row + r * apart, amplitude, score + r * self.n_vectors)
            if not self.are_fine(score):
                return i
            i += ROWS
            row += ROWS * apart
            score += ROWS * self.n_vectors
        return i

    cdef bint decides_alone(self) noexcept nogil:
        return self.directions.n_mixed or AdaGradSVMCore.decides_alone(self)

    cdef void learn_features(self, const void *x, const double *step) noexcept nogil:
        cdef double[2 * BLOCK] place
        cdef void *f
        cdef double[GROUPS] c
        cdef double[MAX_CLASSES] pull   # the loss' slope times the side, and then the step of x
        cdef int64_t p = 0, n
        cdef int v
        memset(c, 0, sizeof(c))
        for v in range(self.n_vectors):
            pull[v] = step[v] * sqrt(self.G[v]) / self.rate
        if self.tilt != NULL:
            c[OF_X] = self.linear_part(x, pull)
        while p < self.directions.n:
            n = min(BLOCK, self.directions.n - p)
            f = self.place_of(p, place)
            if self.waves == NULL:
                self.find_features(self.directions.angle + p, n, self.amplitude, f)
            if self.tilt != NULL:
                self.add_parts(2 * p, f, n, pull, c)
            self.move(2 * p, f, 2 * n, step)
            p += n
        for v in range(self.n_vectors):
            pull[v] = step[v] * self.amplitude[OF_X]
        AdaGradSVMCore.learn_features(self, x, pull)
        if self.tilt != NULL:
            learn_amplitudes(self.first_tilt, self.tilt, self.H, c)

    cdef void add_parts(
        self, int64_t at, const void *f, int64_t n, const double *pull, double *c
    ) noexcept nogil:
        """c[k] += sum_v pull_v w_v.f over the features of width k"""
        cdef int v
        for v in range(self.n_vectors):
            if pull[v] != 0.0:
                add_dots_of_widths(
                    &self.directions, self.w + self.bytes_of(v * self.width + at), f, n, pull[v], c)

    cdef double linear_part(self, const void *x, const double *pull) noexcept nogil:
        """What x and 1 have in the margin, summed as in `add_parts`."""
        cdef double[MAX_CLASSES] linear
        cdef double total = 0.0
        cdef int v
        memset(linear, 0, self.n_vectors * sizeof(double))
        self.add_linear(self.w, x, self.amplitude[OF_X], linear)
        for v in range(self.n_vectors):
            total += pull[v] * linear[v]
        return total

    cdef void wipe(self) noexcept nogil:
        forget_angles(&self.directions)

    # -- growing -----------------------------------------------------------------------------------

    cdef void take_over(self, FourierSVMCore smaller) noexcept nogil:
        """Arrays move towards the front in their order, so none is overwritten before it moved."""
        cdef int64_t row = self.bytes_of(self.width), old = self.bytes_of(smaller.width)
        cdef char *front = <char *> self.common
        cdef int v
        memmove(front, smaller.common, self.w - front)
        for v in range(self.n_vectors):
            self.move_row(self.w + v * row, smaller.w + v * old, smaller.directions.n)
        for v in range(self.n_vectors):
            self.move_row(self.mean + v * row, smaller.mean + v * old, smaller.directions.n)
        forget_angles(&self.directions)     # all that is behind them lies where it lay

    cdef void move_row(self, char *row, const char *old, int64_t n_old) noexcept nogil:
        """Cosines, sines, x and 1 of a vector's weights; zeros only once all have moved."""
        cdef int64_t p = 0, n, n_before, at, done
        while p < n_old:
            n, n_before = min(BLOCK, self.directions.n - p), min(BLOCK, n_old - p)
            at = self.bytes_of(2 * p)
            memmove(row + at, old + at, self.bytes_of(n_before))
            memmove(row + at + self.bytes_of(n), old + at + self.bytes_of(n_before),
                    self.bytes_of(n_before))
            p += BLOCK
        memmove(row + self.bytes_of(2 * self.directions.n), old + self.bytes_of(2 * n_old),
                self.bytes_of(self.n_features + 1))
        p -= BLOCK      # the last block that there was, and its directions now and before
        n, n_before = min(BLOCK, self.directions.n - p), n_old - p
        done = 2 * p + n_before
        memset(row + self.bytes_of(done), 0, self.bytes_of(n - n_before))
        done = 2 * p + n + n_before
        memset(row + self.bytes_of(done), 0, self.bytes_of(2 * self.directions.n - done))

    def go_on_as(self, FourierSVMCore smaller not None):
        """`take_over`, for tests."""
        self.take_over(smaller)

    @property
    def amplitudes(self):
        """a_k of the four widths and of x, ndarray of shape (5,)."""
        cdef double[GROUPS] a
        find_amplitudes(self.first_tilt, self.tilt, a)
        return np.array(a)

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = AdaGradSVMCore.fault(self)
        if found != NULL or self.tilt == NULL:
            return found
        if not are_amplitudes(self.first_tilt, self.tilt, self.H):
            return b"the snapshot's amplitudes are out of range"
        return NULL
