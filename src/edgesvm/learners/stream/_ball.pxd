# One ball, and how it moves to take in a point: the paper's update, in scalars.

from libc.math cimport fmax, fmin, isfinite, sqrt

from edgesvm.core.status cimport BAD_WEIGHT, NOT_FINITE, UNCHANGED, Status

cdef double LARGEST_SQUARE, LARGEST_HELD, SHARES_WITHIN, LEVEL


cdef struct Ball:    # begins at the arena's array "R"
    double R         # radius
    double xi2       # squared length of the centre in the own axes
    double ww        # w.w
    double q         # mean squared norm of the points in the centre


cdef struct Point:   # what has to be known of a new point, or of another learner's ball
    double scale     # the linear learner's z = (scale x, constant)
    double constant
    double wz        # w.z
    double zz        # z.z, own axis included, as it weighs in the centre
    double square    # z.z, own axis included, as it counts in distances
    double off       # square - zz: how far off the space the centre moves in; 0 with paper slack
    double xi2       # the own axis's part of zz
    double R         # 0 for a point


cdef inline bint too_large(double square) noexcept nogil:
    """NaN is, too."""
    return not square <= LARGEST_SQUARE


cdef inline bint unheard_of(double square) noexcept nogil:
    """Of a file: no stream of samples leads to such a squared length, or product of two."""
    return not -LARGEST_HELD <= square <= LARGEST_HELD


cdef inline bint unheard_of_ball(const Ball *ball) noexcept nogil:
    return (unheard_of(ball.R * ball.R) or unheard_of(ball.xi2) or unheard_of(ball.ww)
            or unheard_of(ball.q))


cdef inline Status judge(const Point *z) noexcept nogil:
    """Whether a point may be taken in: UNCHANGED, or why not."""
    if too_large(z.square) or not isfinite(z.wz):
        return NOT_FINITE
    return BAD_WEIGHT if too_large(z.xi2) else UNCHANGED


cdef inline double advance(Ball *ball, const Point *z, bint lower) noexcept nogil:
    """gamma, the part of the way to z that the centre is to go, and R, xi2, q after it; 0 where z
    lies inside."""
    cdef double cc = ball.ww + ball.xi2, d, gamma, gain, left
    cdef double d2 = cc - 2.0 * z.wz + z.square
    if lower:
        if d2 <= ball.R * ball.R:
            return 0.0
        gain = 0.5 * (d2 - ball.R * ball.R)
        gamma = fmin(gain / fmax(cc - 2.0 * z.wz + z.zz, gain), 1.0)
    else:
        if z.R == 0.0 and d2 <= ball.R * ball.R:
            return 0.0
        d = sqrt(fmax(d2, 0.0))
        if d + z.R <= ball.R:
            return 0.0
        if d + ball.R <= z.R:
            gamma = 1.0
            ball.R = z.R
        else:
            gamma = 0.5 * (1.0 - (ball.R - z.R) / d)
            if z.off == 0.0:
                ball.R = 0.5 * (ball.R + z.R + d)
            else:
                # what the centre moves by, and what is then left of the way to z
                d = sqrt(fmax(d2 - z.off, 0.0))
                left = (1.0 - gamma) * d
                ball.R = fmax(ball.R + gamma * d, sqrt(fmax(left * left + z.off, 0.0)))
    ball.q += gamma * (z.square - ball.q)
    ball.xi2 = (1.0 - gamma) * (1.0 - gamma) * ball.xi2 + gamma * gamma * z.xi2
    return gamma


cdef inline double dual_radius(const Ball *ball) noexcept nogil:
    """sqrt(V), V = q - |c|^2"""
    return sqrt(fmax(ball.q - ball.ww - ball.xi2, 0.0))


cdef inline bint clearly_less(double a, double b) noexcept nogil:
    """a < b beyond rounding, a and b >= 0. Exact steps leave quantities level; rounding must not
    choose between them, so whoever seeks the least takes the first of those level."""
    return a < b * (1.0 - LEVEL)
