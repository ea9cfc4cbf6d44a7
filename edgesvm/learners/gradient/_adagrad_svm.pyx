"""AdaGradSVM, compiled: gradient steps on x and 1, and the average of the weights on the way.

The features f are x and 1, W = n_features + 1 of them; a learner that builds on this one has more,
ahead of x. A sample whose loss has the slope g at its margin moves the weights by

    G += g^2 |f|^2 / W      w += rate g y f / sqrt(G)      mean += 2 / (t + 1) (w - mean)

G is one number for all features, since these are of one size. The mean weights step t by t. Which
of the two answers is decided by their error rates, the share of recent samples that each had wrong
before it learned them.

Bytes, V vectors of weights (one per class, one for two classes): 8 V + 16 + 2 V W s.
"""

from libc.math cimport fabs, isfinite, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.contract.labels cimport MAX_CLASSES
from edgesvm.core.error_rate cimport LAST, MEAN, are_shares, mean_decides, note_error
from edgesvm.core.linalg cimport BLOCK, any_dot, any_score_rows, entry, item_at
from edgesvm.core.linalg cimport item_bytes, square_rows
from edgesvm.core.logistic cimport sigmoid
from edgesvm.core.status cimport BAD_WEIGHT, CHANGED, NOT_FINITE, UNCHANGED, Status

cdef extern from "lanes.h" nogil:      # f32: whether the arrays are float32
    void step_both(
        bint f32, void *w, void *mean, const void *f, double step, double share, int64_t n
    ) noexcept

cdef int64_t RECENT
cdef double MOST_WEIGHT
from edgesvm.learners.gradient.constants import MOST_WEIGHT, RECENT


cdef class AdaGradSVMCore(LearnerCore):
    """State and step. The public class has checked the parameters.

    Parameters
    ----------
    rate : float
    is_hinge : bool, else the logistic loss
    """

    def __init__(self, *common, rate, is_hinge):
        super().__init__(*common)
        self.rate, self.is_hinge = rate, is_hinge
        self.n_vectors, self.width = self.views["w"].shape
        self.n_ahead = self.width - self.n_features - 1
        self.G = <double *> self.array("G")
        self.error_rates = <double *> self.array("error_rates")
        self.w = self.array("w")
        self.mean = self.array("w_mean")
        self.decides_in_blocks = True

    # -- scores ------------------------------------------------------------------------------------

    cdef void score_both(self, const void *x, double *last, double *mean) noexcept nogil:
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
        pass

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
        cdef double[BLOCK] dots
        cdef double[BLOCK] found
        cdef const void *row
        cdef const void *square
        cdef double constant
        cdef int v, j
        while i + BLOCK <= n:
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
                for j in range(BLOCK):
                    values[(i + j) * self.n_vectors + v] = dots[j] + constant
            if not self.are_fine(values + i * self.n_vectors):
                return i
            i += BLOCK
        return i

    cdef bint are_fine(self, double *scores) noexcept nogil:
        """Complete the scores of four rows; whether all are finite."""
        cdef bint fine = True
        cdef int j
        for j in range(BLOCK * self.n_vectors):
            fine &= isfinite(scores[j])
        if self.several:
            for j in range(BLOCK):
                self.put_last(scores + j * self.n_vectors)
        return fine

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = LearnerCore.fault(self)
        cdef int64_t i
        if found != NULL:
            return found
        for i in range(self.n_vectors):
            if self.G[i] < 0.0:
                return b"a sum of squares is negative"
        for i in range(self.n_vectors * self.width):
            if not (fabs(entry(self.is_float32, self.w, i)) <= MOST_WEIGHT
                    and fabs(entry(self.is_float32, self.mean, i)) <= MOST_WEIGHT):
                return b"the weights are too large"
        if not are_shares(self.error_rates, 2):
            return b"an error rate is not between 0 and 1"
        return NULL
