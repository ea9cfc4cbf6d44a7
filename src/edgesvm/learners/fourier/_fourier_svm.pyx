"""FourierSVM, compiled: gradient steps on random Fourier features, and the average of the weights
on the way.

The features of x are the cosines and sines of v_p.x for P directions v_p, then x itself and 1:
W = 2 P + n_features + 1 of them, laid out block by block of `BLOCK` directions, the cosines of a
block first. A sample whose loss has the slope g at its margin moves the weights by

    G += g^2 |f|^2 / W      w += rate g y f / sqrt(G)      mean += 2 / (t + 1) (w - mean)

G is one number for all features, since these are of one size. The mean weights step t by t. Which
of the two answers is decided by their lapses, the share of recent samples that each had wrong
before it learned them.

Bytes, V vectors of weights (one per class, one for two classes): 8 V + 16 + 2 V W s + 2 P.
"""

cimport cython
from libc.math cimport fabs, isfinite, sqrt
from libc.stdint cimport int16_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.contract.labels cimport MAX_CLASSES
from edgesvm.core.kernels cimport exp_
from edgesvm.core.lapses cimport LAST, MEAN, mean_decides, note_lapse
from edgesvm.core.linalg cimport any_dot
from edgesvm.core.rng cimport splitmix64
from edgesvm.core.status cimport BAD_WEIGHT, CHANGED, NOT_FINITE, UNCHANGED, Status

from edgesvm.errors import CorruptModelError
from edgesvm.learners.lapses import check_lapses

cdef extern from "waves.h" nogil:
    void waves_angles_f32(
        const float *x, int64_t width, uint32_t key, const double *scale, int64_t first, int64_t n,
        int16_t *angle) noexcept
    void waves_angles_f64(
        const double *x, int64_t width, uint32_t key, const double *scale, int64_t first, int64_t n,
        int16_t *angle) noexcept
    void waves_of_f32(const int16_t *angle, int64_t n, float *wave) noexcept
    void waves_of_f64(const int16_t *angle, int64_t n, double *wave) noexcept
    void waves_learn_f32(
        float *w, float *mean, const float *f, float step, float share, int64_t n) noexcept
    void waves_learn_f64(
        double *w, double *mean, const double *f, double step, double share, int64_t n) noexcept

cpdef enum:
    BLOCK = 64          # directions whose features lie on the stack

cdef int64_t RECENT
cdef double LEAST_WEIGHT
from edgesvm.learners.fourier.constants import LEAST_WEIGHT, RECENT


@cython.final
cdef class FourierSVMCore(LearnerCore):
    """State and step. The public class has checked the parameters.

    Parameters
    ----------
    key : int, of 32 bits, that directions are drawn by
    scales : four floats; direction p is in turns once multiplied by number p % 4
    rate : float
    is_hinge : bool, else the logistic loss
    """
    cdef uint32_t key
    cdef double[4] scales
    cdef double rate
    cdef bint is_hinge
    cdef int64_t n_directions
    cdef int64_t width      # W
    cdef int n_vectors      # V
    cdef double *G          # (V,)
    cdef double *lapses     # (2,), LAST and MEAN
    cdef char *w            # (V, W)
    cdef char *mean         # (V, W)
    cdef int16_t *angle     # (P,): TMP, zero between samples

    def __init__(self, *common, key, scales, rate, is_hinge):
        super().__init__(*common)
        self.key = key
        self.scales = scales
        self.rate, self.is_hinge = rate, is_hinge
        self.n_vectors, self.width = self.views["w"].shape
        self.n_directions = len(self.views["angle"])
        self.G = <double *> self.array("G")
        self.lapses = <double *> self.array("lapses")
        self.w = self.array("w")
        self.mean = self.array("w_mean")
        self.angle = <int16_t *> self.array("angle")

    # -- features ----------------------------------------------------------------------------------

    cdef void find_angles(
        self, const void *x, int64_t first, int64_t n, int16_t *angle
    ) noexcept nogil:
        if self.is_float32:
            waves_angles_f32(
                <const float *> x, self.n_features, self.key, self.scales, first, n, angle)
        else:
            waves_angles_f64(
                <const double *> x, self.n_features, self.key, self.scales, first, n, angle)

    cdef void find_waves(self, const int16_t *angle, int64_t n, void *wave) noexcept nogil:
        if self.is_float32:
            waves_of_f32(angle, n, <float *> wave)
        else:
            waves_of_f64(angle, n, <double *> wave)

    cdef int64_t bytes_of(self, int64_t n) noexcept nogil:
        return n * (4 if self.is_float32 else 8)

    cdef void add_scores(
        self, const char *weights, int64_t at, const void *f, int64_t n, double *score
    ) noexcept nogil:
        """score[v] += weights[v, at : at + n] . f"""
        cdef int v
        for v in range(self.n_vectors):
            score[v] += any_dot(
                self.is_float32, weights + self.bytes_of(v * self.width + at), f, n)

    cdef void add_linear(self, const char *weights, const void *x, double *score) noexcept nogil:
        """Add what x itself and 1 have in the scores."""
        cdef int64_t at = 2 * self.n_directions, end = at + self.n_features
        cdef int v
        self.add_scores(weights, at, x, self.n_features, score)
        for v in range(self.n_vectors):
            score[v] += self.number(weights, v * self.width + end)

    cdef double number(self, const char *values, int64_t i) noexcept nogil:
        return (<const float *> values)[i] if self.is_float32 else (<const double *> values)[i]

    # -- learning ----------------------------------------------------------------------------------

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef double[MAX_CLASSES] last
        cdef double[MAX_CLASSES] mean
        cdef double xx = any_dot(self.is_float32, x, x, self.n_features)
        cdef int v
        if not isfinite(xx):
            return NOT_FINITE
        if not LEAST_WEIGHT <= weight <= 1.0 / LEAST_WEIGHT:
            return BAD_WEIGHT
        memset(last, 0, self.n_vectors * sizeof(double))
        memset(mean, 0, self.n_vectors * sizeof(double))
        self.score_both(x, last, mean)
        note_lapse(self.lapses, LAST, self.is_wrong(last, y), self.n_learned() + 1, RECENT)
        note_lapse(self.lapses, MEAN, self.is_wrong(mean, y), self.n_learned() + 1, RECENT)
        for v in range(self.n_vectors):     # from here on, `last` holds each vector's step
            last[v] = self.take_step(v, last[v], self.side(v, y), weight, xx)
        self.learn_features(x, last)
        memset(self.angle, 0, self.n_directions * sizeof(int16_t))
        return CHANGED

    cdef double side(self, int v, double y) noexcept nogil:
        """-1 or +1, what vector v is to say of a sample; y is the class if there are several."""
        return y if self.scores == NULL else 1.0 if y == v else -1.0

    cdef void score_both(self, const void *x, double *last, double *mean) noexcept nogil:
        """Scores of both kinds of weights; leaves the angles."""
        cdef double[2 * BLOCK] f
        cdef int64_t p = 0, n
        self.find_angles(x, 0, self.n_directions, self.angle)
        while p < self.n_directions:
            n = min(BLOCK, self.n_directions - p)
            self.find_waves(self.angle + p, n, f)
            self.add_scores(self.w, 2 * p, f, 2 * n, last)
            self.add_scores(self.mean, 2 * p, f, 2 * n, mean)
            p += n
        self.add_linear(self.w, x, last)
        self.add_linear(self.mean, x, mean)

    cdef bint is_wrong(self, const double *score, double y) noexcept nogil:
        cdef int v, best = 0
        if self.scores == NULL:
            return y * score[0] <= 0.0
        for v in range(self.n_vectors):
            if self.n_per_class[v] and (score[v] > score[best] or not self.n_per_class[best]):
                best = v
        return best != y

    cdef double take_step(
        self, int v, double score, double side, double weight, double xx
    ) noexcept nogil:
        """How far the vector moves along the features."""
        cdef double g = weight * self.slope(side * score)
        self.G[v] += g * g * (self.n_directions + xx + 1.0) / self.width
        return self.rate * g * side / sqrt(self.G[v]) if g > 0.0 else 0.0

    cdef double slope(self, double margin) noexcept nogil:
        """Of the loss, as a positive number."""
        cdef double e
        if self.is_hinge:
            return 1.0 if margin < 1.0 else 0.0
        e = exp_(-fabs(margin))
        return e / (1.0 + e) if margin > 0.0 else 1.0 / (1.0 + e)

    cdef void learn_features(self, const void *x, const double *step) noexcept nogil:
        cdef double[2 * BLOCK] f
        cdef double one = 1.0
        cdef float one_f = 1.0
        cdef int64_t p = 0, n, at = 2 * self.n_directions
        while p < self.n_directions:
            n = min(BLOCK, self.n_directions - p)
            self.find_waves(self.angle + p, n, f)
            self.move(2 * p, f, 2 * n, step)
            p += n
        self.move(at, x, self.n_features, step)
        self.move(
            at + self.n_features, <const void *> &one_f if self.is_float32 else &one, 1, step)

    cdef void move(self, int64_t at, const void *f, int64_t n, const double *step) noexcept nogil:
        """Move all vectors, and their means, along n features from `at` on."""
        cdef double share = 2.0 / (self.n_learned() + 2.0)
        cdef int64_t first
        cdef int v
        for v in range(self.n_vectors):
            first = self.bytes_of(v * self.width + at)
            if self.is_float32:
                waves_learn_f32(
                    <float *> (self.w + first), <float *> (self.mean + first), <const float *> f,
                    <float> step[v], <float> share, n)
            else:
                waves_learn_f64(
                    <double *> (self.w + first), <double *> (self.mean + first),
                    <const double *> f, step[v], share, n)

    # -- deciding ----------------------------------------------------------------------------------

    cdef bint decides_alone(self) noexcept nogil:
        return self.scores != NULL

    cdef Status decide(self, const void *x, double *score) noexcept nogil:
        cdef double[2 * BLOCK] f
        cdef int16_t[BLOCK] angle
        cdef int64_t p = 0, n
        cdef int v
        cdef const char *weights = self.mean if mean_decides(self.lapses) else self.w
        for v in range(self.n_vectors):
            score[v] = 0.0
        while p < self.n_directions:
            n = min(BLOCK, self.n_directions - p)
            self.find_angles(x, p, n, angle)
            self.find_waves(angle, n, f)
            self.add_scores(weights, 2 * p, f, 2 * n, score)
            p += n
        self.add_linear(weights, x, score)
        if self.scores != NULL:
            self.put_last(score)
        if not isfinite(any_dot(self.is_float32, x, x, self.n_features)):
            return NOT_FINITE
        for v in range(self.n_vectors):
            if not isfinite(score[v]):
                return NOT_FINITE
        return UNCHANGED

    def check(self):
        super().check()
        if (self.views["G"] < 0).any() or self.views["angle"].any():
            raise CorruptModelError("a sum of squares is negative, or the scratch is not zero")
        check_lapses(self.views["lapses"])


def key_of(seed):
    """The 32 bits by which directions are drawn."""
    cdef uint64_t state = seed
    return <uint32_t> splitmix64(&state)
