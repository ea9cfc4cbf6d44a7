"""FourierSVM, compiled: the gradient steps of AdaGradSVM on random Fourier features.

The features of x are the cosines and sines of v_p.x for P directions v_p, then x itself and 1:
W = 2 P + n_features + 1 of them, laid out block by block of `BLOCK` directions, the cosines of a
block first. The sum of squares of a cosine and its sine is 1.

Bytes, V vectors of weights (one per class, one for two classes): 8 V + 16 + 2 V W s + 2 P, and d s
for orthogonal directions.
"""

cimport cython
from libc.stdint cimport int16_t, int64_t

from edgesvm.learners.fourier._directions cimport (
    BLOCK,
    Directions,
    angles_from,
    directions_of,
    find_angles,
    find_waves,
    forget_angles,
)
from edgesvm.learners.gradient._adagrad_svm cimport AdaGradSVMCore

from edgesvm.learners.fourier._directions import check_directions


@cython.final
cdef class FourierSVMCore(AdaGradSVMCore):
    """Features of a sample. The public class has checked the parameters.

    Parameters
    ----------
    key, scales : as in `Directions`
    rate, is_hinge : as in `AdaGradSVMCore`
    """
    cdef Directions directions

    def __init__(self, *common, key, scales, rate, is_hinge):
        super().__init__(*common, rate=rate, is_hinge=is_hinge)
        n = len(self.views["angle"])
        self.directions = directions_of(self, key, scales, n)
        self.square_ahead = n

    cdef void score_both(self, const void *x, double *last, double *mean) noexcept nogil:
        """Leaves the angles."""
        cdef double[2 * BLOCK] f
        cdef int64_t p = 0, n
        find_angles(&self.directions, x)
        while p < self.directions.n:
            n = min(BLOCK, self.directions.n - p)
            find_waves(&self.directions, self.directions.angle + p, n, f)
            self.add_dots(self.w, 2 * p, f, 2 * n, last)
            self.add_dots(self.mean, 2 * p, f, 2 * n, mean)
            p += n
        AdaGradSVMCore.score_both(self, x, last, mean)

    cdef void add_score(self, const char *weights, const void *x, double *score) noexcept nogil:
        cdef double[2 * BLOCK] f
        cdef int16_t[BLOCK] place
        cdef const int16_t *angle
        cdef int64_t p = 0, n
        while p < self.directions.n:
            n = min(BLOCK, self.directions.n - p)
            angle = angles_from(&self.directions, x, p, n, place)
            find_waves(&self.directions, angle, n, f)
            self.add_dots(weights, 2 * p, f, 2 * n, score)
            p += n
        if self.directions.n_mixed:
            forget_angles(&self.directions)
        AdaGradSVMCore.add_score(self, weights, x, score)

    cdef bint decides_alone(self) noexcept nogil:
        return self.directions.n_mixed or AdaGradSVMCore.decides_alone(self)

    cdef void learn_features(self, const void *x, const double *step) noexcept nogil:
        cdef double[2 * BLOCK] f
        cdef int64_t p = 0, n
        while p < self.directions.n:
            n = min(BLOCK, self.directions.n - p)
            find_waves(&self.directions, self.directions.angle + p, n, f)
            self.move(2 * p, f, 2 * n, step)
            p += n
        AdaGradSVMCore.learn_features(self, x, step)

    cdef void wipe(self) noexcept nogil:
        forget_angles(&self.directions)

    def check(self):
        super().check()
        check_directions(self.views)
