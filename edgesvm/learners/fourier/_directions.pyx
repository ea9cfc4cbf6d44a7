"""Random directions, compiled: waves_of.h for either type of samples.

Features lie block by block of `BLOCK` directions, the cosines of a block first. Independent
directions are drawn one by one, wherever their angle is asked for. Orthogonal ones come `n_mixed`
at a time, so all of their angles are found at once and kept until they are forgotten.
"""

cimport numpy as cnp
from libc.math cimport fmax, fmin, isfinite, sqrt
from libc.stdint cimport int16_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from edgesvm.core.kernels cimport exp_
from edgesvm.core.linalg cimport item_bytes
from edgesvm.core.rng cimport splitmix64

cdef double TILT_RATE, FADED, LARGEST_SQUARE
from edgesvm.learners.fourier.constants import FADED, LARGEST_SQUARE, TILT_RATE

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
    if "angle" in core.views:
        of.angle = <int16_t *> cnp.PyArray_DATA(core.views["angle"])
    if "mixed" in core.views:
        of.n_mixed = len(core.views["mixed"])
        of.mixed = cnp.PyArray_DATA(core.views["mixed"])
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


cdef void find_waves(
    const Directions *of, const int16_t *angle, int64_t n, void *wave
) noexcept nogil:
    waves_of(of.is_float32, angle, n, wave)


cdef void weigh_waves(
    const Directions *of, void *wave, int64_t n, const double *amplitude
) noexcept nogil:
    cdef int64_t half = n * item_bytes(of.is_float32)
    waves_weigh(of.is_float32, wave, n, amplitude)
    waves_weigh(of.is_float32, <char *> wave + half, n, amplitude)


cdef void add_dots_of_widths(
    const Directions *of, const void *w, const void *wave, int64_t n, double scale, double *dot
) noexcept nogil:
    cdef int64_t half = n * item_bytes(of.is_float32)
    waves_dots(of.is_float32, w, wave, n, scale, dot)
    waves_dots(of.is_float32, <const char *> w + half, <const char *> wave + half, n, scale, dot)


# -- amplitudes ------------------------------------------------------------------------------------

cdef void find_amplitudes(
    const double *first, const double *tilt, double *amplitude
) noexcept nogil:
    cdef int k
    cdef double square = 0.0
    for k in range(GROUPS):
        amplitude[k] = 1.0 if tilt == NULL else exp_(first[k] + tilt[k])
        square += amplitude[k] * amplitude[k]
    for k in range(GROUPS):
        amplitude[k] *= sqrt(GROUPS / square)


cdef void learn_amplitudes(
    const double *first, double *tilt, double *squares, const double *c
) noexcept nogil:
    cdef double most, square = 0.0
    cdef int k
    for k in range(GROUPS):
        square += c[k] * c[k]
    if not isfinite(square):
        return
    squares[0] = fmin(squares[0] + square, LARGEST_SQUARE)
    most = -FADED
    for k in range(GROUPS):
        tilt[k] += TILT_RATE * c[k] / sqrt(1.0 + squares[0])
        most = fmax(most, first[k] + tilt[k])
    for k in range(GROUPS):     # the largest is 1 here, and none is less than exp(-FADED)
        tilt[k] = fmax(tilt[k] - most, -FADED - first[k])


cdef bint are_amplitudes(
    const double *first, const double *tilt, const double *squares
) noexcept nogil:
    cdef bint are = squares[0] >= 0.0
    cdef int k
    for k in range(GROUPS):
        are &= -FADED - first[k] <= tilt[k] <= FADED
    return are
