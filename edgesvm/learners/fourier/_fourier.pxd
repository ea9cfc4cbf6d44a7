# Random directions, drawn anew for each sample, and the cosines and sines along them; see
# _fourier.pyx.

from libc.stdint cimport int16_t, int64_t, uint32_t

cpdef enum:
    BLOCK = 64          # directions whose cosines and sines lie together
    WIDTHS = 4          # direction p has the width of number p % WIDTHS
    OF_X = WIDTHS       # the amplitude of x and 1
    GROUPS = WIDTHS + 1

cdef struct Directions:
    uint32_t key        # that they are drawn by
    double[WIDTHS] scales   # direction p is in turns once multiplied by that of its width
    int64_t n
    int64_t n_features
    int64_t n_mixed     # of an orthogonal block; 0 if each direction is drawn by itself
    int16_t *angle      # (n,): TMP, zero between samples; NULL if there is none
    void *mixed         # (n_mixed,): TMP, of the type of x
    bint is_float32
    double[GROUPS] first    # log amplitudes before the first sample
    double *tilt        # (GROUPS,): those of now, less the first; NULL: all amplitudes are 1
    double *H           # of what moved them

cdef Directions directions_of(core, key, scales, n) except *

# The angles of x along all directions, into `angle`.
cdef void find_angles(const Directions *of, const void *x) noexcept nogil
# Those along directions p to p + n, written into `place`, or found there where orthogonal
# directions have been found once for p = 0; p is a multiple of BLOCK, n at most BLOCK.
cdef const int16_t *angles_from(
    const Directions *of, const void *x, int64_t p, int64_t n, int16_t *place) noexcept nogil
# Those of one, two or four rows, one behind the other, along independent directions: of row r from
# place[r * apart] on.
cdef void draw_rows(
    const Directions *of, const void *x, int n_rows, int64_t p, int64_t n, int16_t *place,
    int64_t apart
) noexcept nogil
# Zero the scratch.
cdef void forget_angles(const Directions *of) noexcept nogil
# The cosines of n angles, then their sines, each by the amplitude of its width: f (2 n,), of the
# type of x.
cdef void find_features(
    const Directions *of, const int16_t *angle, int64_t n, const double *amplitude, void *f
) noexcept nogil
# dot[k] += scale * w . f, over those of width k.
cdef void add_dots_of_widths(
    const Directions *of, const void *w, const void *f, int64_t n, double scale, double *dot
) noexcept nogil

# The amplitudes (GROUPS,), with a mean square of 1.
cdef void find_amplitudes(const Directions *of, double *amplitude) noexcept nogil
# Move them along c, the slope of the loss by each log amplitude.
cdef void learn_amplitudes(const Directions *of, const double *c) noexcept nogil
cdef amplitudes_of(const Directions *of)
