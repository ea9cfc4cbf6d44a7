"""Random directions, compiled: waves.h for either type of samples.

Features lie block by block of `BLOCK` directions, the cosines of a block first.
"""

from libc.stdint cimport int16_t, int64_t, uint32_t, uint64_t

from edgesvm.core.rng cimport splitmix64

cdef extern from "waves.h" nogil:
    void waves_angles_f32(
        const float *x, int64_t width, uint32_t key, const double *scale, int64_t first, int64_t n,
        int16_t *angle) noexcept
    void waves_angles_f64(
        const double *x, int64_t width, uint32_t key, const double *scale, int64_t first, int64_t n,
        int16_t *angle) noexcept
    void waves_of_f32(const int16_t *angle, int64_t n, float *wave) noexcept
    void waves_of_f64(const int16_t *angle, int64_t n, double *wave) noexcept
    void waves_weigh_f32(float *wave, int64_t n, const double *amplitude) noexcept
    void waves_weigh_f64(double *wave, int64_t n, const double *amplitude) noexcept
    void waves_dots_f32(
        const float *w, const float *wave, int64_t n, double scale, double *dot) noexcept
    void waves_dots_f64(
        const double *w, const double *wave, int64_t n, double scale, double *dot) noexcept


def key_of(seed):
    """The 32 bits by which directions are drawn."""
    cdef uint64_t state = seed
    return <uint32_t> splitmix64(&state)


cdef Directions directions_of(key, scales, n, n_features, is_float32) except *:
    cdef Directions of
    of.key, of.scales = key, scales
    of.n, of.n_features, of.is_float32 = n, n_features, is_float32
    return of


cdef void find_angles(
    const Directions *of, const void *x, int64_t first, int64_t n, int16_t *angle
) noexcept nogil:
    if of.is_float32:
        waves_angles_f32(
            <const float *> x, of.n_features, of.key, of.scales, first, n, angle)
    else:
        waves_angles_f64(
            <const double *> x, of.n_features, of.key, of.scales, first, n, angle)


cdef void find_waves(
    const Directions *of, const int16_t *angle, int64_t n, void *wave
) noexcept nogil:
    if of.is_float32:
        waves_of_f32(angle, n, <float *> wave)
    else:
        waves_of_f64(angle, n, <double *> wave)


cdef void weigh_waves(
    const Directions *of, void *wave, int64_t n, const double *amplitude
) noexcept nogil:
    if of.is_float32:
        waves_weigh_f32(<float *> wave, n, amplitude)
        waves_weigh_f32(<float *> wave + n, n, amplitude)
    else:
        waves_weigh_f64(<double *> wave, n, amplitude)
        waves_weigh_f64(<double *> wave + n, n, amplitude)


cdef void add_dots_of_widths(
    const Directions *of, const void *w, const void *wave, int64_t n, double scale, double *dot
) noexcept nogil:
    if of.is_float32:
        waves_dots_f32(<const float *> w, <const float *> wave, n, scale, dot)
        waves_dots_f32(<const float *> w + n, <const float *> wave + n, n, scale, dot)
    else:
        waves_dots_f64(<const double *> w, <const double *> wave, n, scale, dot)
        waves_dots_f64(<const double *> w + n, <const double *> wave + n, n, scale, dot)
