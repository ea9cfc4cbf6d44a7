"""AdaGradSVM and FourierSVM, compiled, and the random directions that the regressors draw too.

**Gradient steps.** The features f of AdaGradSVM are x and 1, W = n_features + 1 of them; FourierSVM
has more, ahead of x. A sample whose loss has the slope g at its margin moves the weights by

    G += g^2 |f|^2 / W      w += rate g y f / sqrt(G)      mean += 2 / (t + 1) (w - mean)

G is one number for all features, since these are of one size.

**Random directions** v_p, P of them: features lie block by block of `BLOCK` directions, the cosines
of v_p.x first, then the sines, then x and 1: W = 2 P + n_features + 1. Independent directions are
drawn one by one, wherever their angle is asked for. Orthogonal ones come `n_mixed` at a time, so
all of their angles are found at once and kept until they are forgotten. With `weigh_widths` the
features of width k have an amplitude a_k, and x and 1 have a_4. What the features of k had in the
margin, c_k = y w_k.f_k, is the slope of the loss by log a_k, so a sample inside the margin also
moves

    H += |g c|^2      log a_k += TILT_RATE g c_k / sqrt(1 + H),      mean of a_k^2 = 1.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport fmax, fmin, isfinite, sqrt
from libc.stdint cimport int16_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.contract.labels cimport MAX_CLASSES
from edgesvm.core.error_rate cimport LAST, MEAN, mean_decides, note_error
from edgesvm.core.kernels cimport exp_
from edgesvm.core.linalg cimport BLOCK as ROWS
from edgesvm.core.linalg cimport any_dot, any_score_rows, entry, item_at, item_bytes, square_rows
from edgesvm.core.logistic cimport sigmoid
from edgesvm.core.rng cimport splitmix64
from edgesvm.core.status cimport BAD_WEIGHT, CHANGED, NOT_FINITE, UNCHANGED, Status

import numpy as np

cnp.import_array()

cdef extern from "lanes.h" nogil:      # f32: whether x, the scratch and the waves are float32
    void waves_angles(
        bint f32, const void *x, int n_rows, int64_t width, uint32_t key, const double *scale,
        int64_t first, int64_t n, int16_t *angle, int64_t apart) noexcept
    void waves_mixed(
        bint f32, const void *x, int64_t width, uint32_t key, const double *scale, int64_t d,
        int64_t block, int64_t n, void *v, int16_t *angle) noexcept
    void waves_of(bint f32, const int16_t *angle, int64_t n, void *wave) noexcept
    void waves_weigh(bint f32, void *wave, int64_t n, const double *amplitude) noexcept
    void waves_dots(
        bint f32, const void *w, const void *wave, int64_t n, double scale, double *dot) noexcept
    void step_both(
        bint f32, void *w, void *mean, const void *f, double step, double share, int64_t n
    ) noexcept

cdef int64_t RECENT
cdef double FADED, MOST_PULL, TILT_RATE
from edgesvm.learners.fourier.constants import (
    FADED, FIRST_TILT, MOST_PULL, RECENT, TILT_RATE)

cdef enum:
    MANY_ROWS = 8       # from which on scratch beside the arena is worth being taken


# -- directions ------------------------------------------------------------------------------------

def key_of(seed):
    """The 32 bits by which directions are drawn."""
    cdef uint64_t state = seed
    return <uint32_t> splitmix64(&state)


cdef Directions directions_of(core, key, scales, n) except *:
    """n directions for the samples of a core, with the scratch that is in its arena"""
    cdef Directions of
    of.key, of.scales, of.n = key, scales, n
    of.n_features, of.is_float32 = core.n_features, core.dtype == "float32"
    of.n_mixed, of.mixed, of.angle = 0, NULL, NULL
    of.first, of.tilt, of.H = FIRST_TILT, NULL, NULL
    if "angle" in core.views:
        of.angle = <int16_t *> cnp.PyArray_DATA(core.views["angle"])
    if "mixed" in core.views:
        of.n_mixed = len(core.views["mixed"])
        of.mixed = cnp.PyArray_DATA(core.views["mixed"])
    if "tilt" in core.views:
        of.tilt = <double *> cnp.PyArray_DATA(core.views["tilt"])
        of.H = <double *> cnp.PyArray_DATA(core.views["tilt_squares"])
    return of


cdef void find_angles(const Directions *of, const void *x) noexcept nogil:
    cdef int64_t p = 0, n
    if of.n_mixed == 0:
        draw_rows(of, x, 1, 0, of.n, of.angle, 0)
        return
    while p < of.n:
        n = min(of.n_mixed, of.n - p)
        waves_mixed(of.is_float32, x, of.n_features, of.key, of.scales, of.n_mixed,
                    p // of.n_mixed, n, of.mixed, of.angle + p)
        p += n


cdef const int16_t *angles_from(
    const Directions *of, const void *x, int64_t p, int64_t n, int16_t *place
) noexcept nogil:
    if of.n_mixed == 0:
        draw_rows(of, x, 1, p, n, place, 0)
        return place
    if p == 0:
        find_angles(of, x)
    return of.angle + p


cdef void draw_rows(
    const Directions *of, const void *x, int n_rows, int64_t p, int64_t n, int16_t *place,
    int64_t apart
) noexcept nogil:
    waves_angles(of.is_float32, x, n_rows, of.n_features, of.key, of.scales, p, n, place, apart)


cdef void forget_angles(const Directions *of) noexcept nogil:
    if of.angle != NULL:
        memset(of.angle, 0, of.n * sizeof(int16_t))


cdef void find_features(
    const Directions *of, const int16_t *angle, int64_t n, const double *amplitude, void *f
) noexcept nogil:
    cdef int64_t half = n * item_bytes(of.is_float32)
    waves_of(of.is_float32, angle, n, f)
    if of.tilt != NULL:
        waves_weigh(of.is_float32, f, n, amplitude)
        waves_weigh(of.is_float32, <char *> f + half, n, amplitude)


cdef void add_dots_of_widths(
    const Directions *of, const void *w, const void *f, int64_t n, double scale, double *dot
) noexcept nogil:
    cdef int64_t half = n * item_bytes(of.is_float32)
    waves_dots(of.is_float32, w, f, n, scale, dot)
    waves_dots(of.is_float32, <const char *> w + half, <const char *> f + half, n, scale, dot)


# -- amplitudes ------------------------------------------------------------------------------------

cdef void find_amplitudes(const Directions *of, double *amplitude) noexcept nogil:
    cdef int k
    cdef double square = 0.0
    for k in range(GROUPS):
        amplitude[k] = 1.0 if of.tilt == NULL else exp_(of.first[k] + of.tilt[k])
        square += amplitude[k] * amplitude[k]
    for k in range(GROUPS):
        amplitude[k] *= sqrt(GROUPS / square)


cdef void learn_amplitudes(const Directions *of, const double *c) noexcept nogil:
    cdef double most, square = 0.0
    cdef int k
    for k in range(GROUPS):
        square += c[k] * c[k]
    if not isfinite(square):
        return
    of.H[0] = fmin(of.H[0] + square, MOST_PULL)
    most = -FADED
    for k in range(GROUPS):
        of.tilt[k] += TILT_RATE * c[k] / sqrt(1.0 + of.H[0])
        most = fmax(most, of.first[k] + of.tilt[k])
    for k in range(GROUPS):     # the largest is 1 here, and none is less than exp(-FADED)
        of.tilt[k] = fmax(of.tilt[k] - most, -FADED - of.first[k])


cdef amplitudes_of(const Directions *of):
    cdef double[GROUPS] amplitude
    find_amplitudes(of, amplitude)
    return np.array(amplitude)


# -- learners --------------------------------------------------------------------------------------

cdef class AdaGradSVMCore(LearnerCore):
    """State and step."""
    cdef readonly double rate
    cdef readonly bint is_hinge
    cdef readonly int64_t width      # W
    cdef readonly int64_t n_ahead    # features ahead of x: W - n_features - 1
    cdef readonly int n_vectors      # V
    cdef double *G          # (V,)
    cdef double *error_rates    # (2,), LAST and MEAN
    cdef char *w            # (V, W)
    cdef char *mean         # (V, W)

    def __init__(self, *common, loss, learning_rate):
        super().__init__(*common)
        self.rate, self.is_hinge = learning_rate, loss == "hinge"
        self.n_vectors, self.width = self.views["w"].shape
        self.n_ahead = self.width - self.n_features - 1
        self.G = <double *> self.array("G")
        self.error_rates = <double *> self.array("error_rates")
        self.w = self.array("w")
        self.mean = self.array("w_mean")
        self.decides_in_blocks = True

    # -- scores: a learner with features ahead of x overrides these two ----------------------------

    cdef void score_both(self, const void *x, double *last, double *mean) noexcept nogil:
        """Add the scores of x, (V,), by the last and by the mean weights."""
        AdaGradSVMCore.add_score(self, self.w, x, last)
        AdaGradSVMCore.add_score(self, self.mean, x, mean)

    cdef void add_score(self, const char *weights, const void *x, double *score) noexcept nogil:
        cdef int64_t end = self.n_ahead + self.n_features
        cdef int v
        self.add_dots(weights, self.n_ahead, x, self.n_features, score)
        for v in range(self.n_vectors):
            score[v] += entry(self.is_float32, weights, v * self.width + end)

    cdef void add_dots(
        self, const char *weights, int64_t at, const void *f, int64_t n, double *score
    ) noexcept nogil:
        """score[v] += weights[v, at : at + n] . f"""
        cdef int v
        for v in range(self.n_vectors):
            score[v] += any_dot(
                self.is_float32, weights + self.bytes_of(v * self.width + at), f, n)

    cdef int64_t bytes_of(self, int64_t n) noexcept nogil:
        return n * item_bytes(self.is_float32)

    # -- learning ----------------------------------------------------------------------------------

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef double[MAX_CLASSES] last
        cdef double[MAX_CLASSES] mean
        cdef double xx = any_dot(self.is_float32, x, x, self.n_features), square
        cdef double n = min(self.n_learned() + 1, RECENT)
        cdef int v
        if not isfinite(xx):
            return NOT_FINITE
        square = self.sum_of_squares(xx)
        if self.overflows(weight * weight * square):
            return NOT_FINITE if weight == 1.0 else BAD_WEIGHT
        memset(last, 0, self.n_vectors * sizeof(double))
        memset(mean, 0, self.n_vectors * sizeof(double))
        self.score_both(x, last, mean)
        note_error(self.error_rates, LAST, self.is_wrong(last, y), n)
        note_error(self.error_rates, MEAN, self.is_wrong(mean, y), n)
        for v in range(self.n_vectors):     # from here on, `last` holds each vector's step
            last[v] = self.take_step(v, last[v], self.side(v, y), weight, square)
        self.learn_features(x, last)
        self.wipe()
        return CHANGED

    cdef double sum_of_squares(self, double xx) noexcept nogil:
        """Of all features, xx being that of x; before learning. Overridden, as the next two are."""
        return xx + 1.0

    cdef bint overflows(self, double most) noexcept nogil:
        """Whether a G could, with `most` more."""
        cdef int v
        for v in range(self.n_vectors):
            if not isfinite(self.G[v] + most):
                return True
        return False

    cdef double side(self, int v, double y) noexcept nogil:
        """-1 or +1, what vector v is to say of a sample; y is the class if there are several."""
        return y if not self.several else 1.0 if y == v else -1.0

    cdef bint is_wrong(self, const double *score, double y) noexcept nogil:
        cdef int v, best = 0
        if not self.several:
            return y * score[0] <= 0.0
        for v in range(self.n_vectors):
            if self.n_per_class[v] and (score[v] > score[best] or not self.n_per_class[best]):
                best = v
        return best != y

    cdef double take_step(
        self, int v, double score, double side, double weight, double square
    ) noexcept nogil:
        """How far the vector moves along the features, of which `square` is the sum of squares."""
        cdef double g = weight * self.slope(side * score)
        self.G[v] += g * g * square / self.width
        return self.rate * g * side / sqrt(self.G[v]) if g > 0.0 else 0.0

    cdef double slope(self, double margin) noexcept nogil:
        """Of the loss, as a positive number."""
        if self.is_hinge:
            return 1.0 if margin < 1.0 else 0.0
        return sigmoid(-margin)

    cdef void learn_features(self, const void *x, const double *step) noexcept nogil:
        """Move each vector, and its mean, `step` (V,) along the features."""
        cdef double one = 1.0
        cdef float one_f = 1.0
        self.move(self.n_ahead, x, self.n_features, step)
        self.move(
            self.n_ahead + self.n_features,
            <const void *> &one_f if self.is_float32 else &one, 1, step)

    cdef void move(self, int64_t at, const void *f, int64_t n, const double *step) noexcept nogil:
        """Move all vectors, and their means, along n features from `at` on."""
        cdef double share = 2.0 / (self.n_learned() + 2.0)
        cdef int64_t first
        cdef int v
        for v in range(self.n_vectors):
            first = self.bytes_of(v * self.width + at)
            step_both(self.is_float32, self.w + first, self.mean + first, f, step[v], share, n)

    cdef void wipe(self) noexcept nogil:
        """Zero the scratch that `score_both` left for `learn_features`."""

    # -- deciding ----------------------------------------------------------------------------------

    cdef bint decides_alone(self) noexcept nogil:
        return self.several

    cdef Status decide(self, const void *x, double *score) noexcept nogil:
        cdef int v
        for v in range(self.n_vectors):
            score[v] = 0.0
        self.add_score(self.mean if mean_decides(self.error_rates) else self.w, x, score)
        if self.several:
            self.put_last(score)
        if not isfinite(any_dot(self.is_float32, x, x, self.n_features)):
            return NOT_FINITE
        for v in range(self.n_vectors):
            if not isfinite(score[v]):
                return NOT_FINITE
        return UNCHANGED

    cdef int64_t decide_block(
        self, const void *x, const void *squares, int64_t n, double *values
    ) noexcept nogil:
        cdef const char *weights = self.mean if mean_decides(self.error_rates) else self.w
        cdef int64_t i = 0, end = self.n_ahead + self.n_features
        cdef double[ROWS] dots
        cdef double[ROWS] found
        cdef const void *row
        cdef const void *square
        cdef double constant
        cdef int v, j
        while i + ROWS <= n:
            row = item_at(self.is_float32, x, i * self.n_features)
            square = item_at(self.is_float32, squares, i)
            if squares == NULL and self.n_vectors > 1:      # once for all of them
                square = found
                if self.is_float32:
                    square_rows(<const float *> row, self.n_features, n - i, <float *> found)
                else:
                    square_rows(<const double *> row, self.n_features, n - i, found)
            for v in range(self.n_vectors):
                if not any_score_rows(
                        self.is_float32, row, weights + self.bytes_of(v * self.width),
                        self.n_features, n - i, square, dots):
                    return i
                constant = entry(self.is_float32, weights, v * self.width + end)
                for j in range(ROWS):
                    values[(i + j) * self.n_vectors + v] = dots[j] + constant
            if not self.are_fine(values + i * self.n_vectors):
                return i
            i += ROWS
        return i

    cdef bint are_fine(self, double *scores) noexcept nogil:
        """Complete the scores of four rows; whether all are finite."""
        cdef bint fine = True
        cdef int j
        for j in range(ROWS * self.n_vectors):
            fine &= isfinite(scores[j])
        if self.several:
            for j in range(ROWS):
                self.put_last(scores + j * self.n_vectors)
        return fine


@cython.final
cdef class FourierSVMCore(AdaGradSVMCore):
    """Features of a sample."""
    cdef Directions directions
    cdef double[GROUPS] amplitude       # TMP of learning

    # Beside the arena, while many rows are worked on:
    cdef int n_working      # calls that do
    cdef object kept        # what is below
    cdef char *waves        # (2 n_directions,): features of the sample that is learned; else NULL
    cdef int16_t *ahead     # (ROWS, n_directions): angles of rows; NULL if directions are mixed
    cdef char *row_ahead    # (ROWS, n_features): these rows
    cdef readonly int rows_ahead     # how many

    def __init__(self, *common, key, scales, loss, learning_rate):
        super().__init__(*common, loss=loss, learning_rate=learning_rate)
        n = len(self.views["angle"])
        self.directions = directions_of(self, key, scales, n)
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
        """Where the features of directions p to p + BLOCK are: kept, or at `place`"""
        return place if self.waves == NULL else self.waves + self.bytes_of(2 * p)

    # -- amplitudes --------------------------------------------------------------------------------

    cdef double sum_of_squares(self, double xx) noexcept nogil:
        """Leaves the amplitudes."""
        cdef double *a = self.amplitude
        cdef double square
        cdef int k
        find_amplitudes(&self.directions, a)
        square = a[OF_X] * a[OF_X] * (xx + 1.0)
        for k in range(WIDTHS):
            square += a[k] * a[k] * ((self.directions.n + WIDTHS - 1 - k) // WIDTHS)
        return square

    # -- features ----------------------------------------------------------------------------------

    cdef void add_linear(
        self, const char *weights, const void *x, double amplitude, double *score
    ) noexcept nogil:
        """Add what x and 1 have in the scores."""
        cdef double[MAX_CLASSES] linear
        cdef int v
        if self.directions.tilt == NULL:
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
            find_features(&self.directions, self.directions.angle + p, n, self.amplitude, f)
            self.add_dots(self.w, 2 * p, f, 2 * n, last)
            self.add_dots(self.mean, 2 * p, f, 2 * n, mean)
            p += n
        self.add_linear(self.w, x, self.amplitude[OF_X], last)
        self.add_linear(self.mean, x, self.amplitude[OF_X], mean)

    cdef void add_score(self, const char *weights, const void *x, double *score) noexcept nogil:
        cdef double[GROUPS] amplitude
        find_amplitudes(&self.directions, amplitude)
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
            find_features(&self.directions, angle, n, amplitude, f)
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
                find_features(&self.directions, place + r * BLOCK, n, amplitude, f)
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
        find_amplitudes(&self.directions, amplitude)
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
        if self.directions.tilt != NULL:
            c[OF_X] = self.linear_part(x, pull)
        while p < self.directions.n:
            n = min(BLOCK, self.directions.n - p)
            f = self.place_of(p, place)
            if self.waves == NULL:
                find_features(&self.directions, self.directions.angle + p, n, self.amplitude, f)
            if self.directions.tilt != NULL:
                self.add_parts(2 * p, f, n, pull, c)
            self.move(2 * p, f, 2 * n, step)
            p += n
        for v in range(self.n_vectors):
            pull[v] = step[v] * self.amplitude[OF_X]
        AdaGradSVMCore.learn_features(self, x, pull)
        if self.directions.tilt != NULL:
            learn_amplitudes(&self.directions, c)

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

    @property
    def amplitudes(self):
        """a_k of the four widths and of x, ndarray of shape (5,)."""
        return amplitudes_of(&self.directions)
