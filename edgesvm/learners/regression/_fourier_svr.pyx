"""FourierSVR, compiled: the steps of AdaGradSVR on FourierSVM's random features.

W = 2 P + n_features + 1 features; those of width k have an amplitude a_k, and x and 1 have a_4, as
`_fourier_svm.pyx` says. What the features of k had in the value times the slope of the loss,
c_k = g w_k.f_k, moves the amplitudes.

Bytes: 2 W s + 2 P + 48 and, for orthogonal directions, d s, beside the regressor's.
"""

cimport cython
from libc.stdint cimport int16_t, int64_t
from libc.string cimport memset

from edgesvm.core.linalg cimport any_dot
from edgesvm.core.status cimport Status
from edgesvm.learners.fourier._directions cimport (
    BLOCK,
    GROUPS,
    OF_X,
    Directions,
    add_dots_of_widths,
    angles_from,
    are_amplitudes,
    directions_of,
    find_amplitudes,
    find_angles,
    find_waves,
    forget_angles,
    learn_amplitudes,
    weigh_waves,
)
from edgesvm.learners.regression._adagrad_svr cimport AdaGradSVRCore

import numpy as np

from edgesvm.learners.fourier.constants import FIRST_TILT


@cython.final
cdef class FourierSVRCore(AdaGradSVRCore):
    """Features of a sample. The public class has checked the parameters.

    Parameters
    ----------
    key, scales : as in `Directions`
    """

    cdef Directions directions
    cdef double[GROUPS] first_tilt      # log a_k before the first sample
    cdef double *H          # of the tilt; NULL if the widths are not weighed
    cdef double *tilt       # (GROUPS,): log a_k, less the first

    def __init__(self, *common, key, scales, rate, loss, parameter, miss, delay):
        super().__init__(
            *common, rate=rate, loss=loss, parameter=parameter, miss=miss, delay=delay)
        self.directions = directions_of(self, key, scales, len(self.views["angle"]))
        self.first_tilt = FIRST_TILT
        self.H = self.tilt = NULL
        if "tilt" in self.views:
            self.H = <double *> self.array("tilt_squares")
            self.tilt = <double *> self.array("tilt")

    cdef bint decides_alone(self) noexcept nogil:
        return self.directions.n_mixed > 0

    cdef void find_features(
        self, const int16_t *angle, int64_t n, const double *amplitude, void *f
    ) noexcept nogil:
        find_waves(&self.directions, angle, n, f)
        if self.tilt != NULL:
            weigh_waves(&self.directions, f, n, amplitude)

    cdef Status value(self, const void *x, bint keep, double *f) noexcept nogil:
        """Of a sample that is learned it leaves the angles."""
        cdef double[2 * BLOCK] wave
        cdef double[GROUPS] amplitude
        cdef int16_t[BLOCK] place
        cdef const int16_t *angle
        cdef int64_t p = 0, n
        cdef Status status = self.linear(x, f)
        find_amplitudes(self.first_tilt, self.tilt, amplitude)
        f[0] *= amplitude[OF_X]
        if keep:
            find_angles(&self.directions, x)
        while p < self.directions.n:
            n = min(BLOCK, self.directions.n - p)
            if keep:
                angle = self.directions.angle + p
            else:
                angle = angles_from(&self.directions, x, p, n, place)
            self.find_features(angle, n, amplitude, wave)
            f[0] += any_dot(self.is_float32, self.w + self.bytes_of(2 * p), wave, 2 * n)
            p += n
        if not keep and self.directions.n_mixed > 0:
            forget_angles(&self.directions)
        return status

    cdef void move(self, const void *x, double g) noexcept nogil:
        cdef double[2 * BLOCK] wave
        cdef double[GROUPS] amplitude
        cdef double[GROUPS] c
        cdef int64_t p = 0, n
        memset(c, 0, sizeof(c))
        find_amplitudes(self.first_tilt, self.tilt, amplitude)
        self.linear(x, &c[OF_X])
        c[OF_X] *= g * amplitude[OF_X]
        while p < self.directions.n:
            n = min(BLOCK, self.directions.n - p)
            self.find_features(self.directions.angle + p, n, amplitude, wave)
            if self.tilt != NULL:
                add_dots_of_widths(
                    &self.directions, self.w + self.bytes_of(2 * p), wave, n, g, c)
            self.move_along(2 * p, wave, 2 * n, g)
            p += n
        self.move_linear(x, g * amplitude[OF_X])
        if self.tilt != NULL:
            learn_amplitudes(self.first_tilt, self.tilt, self.H, c)

    cdef void wipe(self) noexcept nogil:
        forget_angles(&self.directions)

    @property
    def amplitudes(self):
        """a_k of the four widths and of x, ndarray of shape (5,)"""
        cdef double[GROUPS] a
        find_amplitudes(self.first_tilt, self.tilt, a)
        return np.array(a)

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = AdaGradSVRCore.fault(self)
        if found != NULL or self.tilt == NULL:
            return found
        if not are_amplitudes(self.first_tilt, self.tilt, self.H):
            return b"the snapshot's amplitudes are out of range"
        return NULL
