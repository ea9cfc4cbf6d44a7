# One ball, and how it moves to enclose a point: the paper's update, in scalars.

from libc.math cimport fmax, fmin, isfinite, sqrt

from edgesvm.core.status cimport BAD_WEIGHT, NOT_FINITE, UNCHANGED, Status

cdef double MAX_SQUARE, MAX_STORED_SQUARE, SHARES_WITHIN, LEVEL


cdef struct Ball:    # begins at the arena's array "R"
    double R         # radius
    double xi2       # squared length of the centre in the own axes
    double ww        # w.w
    double q         # mean squared norm of the points in the centre


cdef struct Point:   # a new point, or another learner's ball
    double scale     # the linear learner's z = (scale x, constant)
    double constant
    double wx        # the linear learner's w.x, without the constant feature
    double wz        # w.z
    double zz        # z.z, own axis included, with its weight in the centre
    double square    # z.z, own axis included, as used in distances
    double off       # square - zz: squared distance from the centre's space; 0: paper slack
    double xi2       # the own axis's share of zz
    double R         # 0 for a point


cdef inline bint too_large(double square) noexcept nogil:
    """Also true for NaN."""
    return not square <= MAX_SQUARE


cdef inline bint out_of_range(double square) noexcept nogil:
    """Whether a squared length, or a product of two, read from a file is too large to come from any
    stream of samples."""
    return not -MAX_STORED_SQUARE <= square <= MAX_STORED_SQUARE


cdef inline bint ball_out_of_range(const Ball *ball) noexcept nogil:
    return (out_of_range(ball.R * ball.R) or out_of_range(ball.xi2) or out_of_range(ball.ww)
            or out_of_range(ball.q))


cdef inline Status check_point(const Point *z) noexcept nogil:
    """UNCHANGED if the point can be learned, otherwise the reason why not."""
    if too_large(z.square) or not isfinite(z.wz):
        return NOT_FINITE
    return BAD_WEIGHT if too_large(z.xi2) else UNCHANGED


cdef inline double move_towards(Ball *ball, const Point *z, bint lower) noexcept nogil:
    """Return the step, the share of the way to z that the centre moves (0 if z is inside), and
    update R, xi2 and q."""
    cdef double cc = ball.ww + ball.xi2, d, step, gain, left
    cdef double d2 = cc - 2.0 * z.wz + z.square
    if lower:
        if d2 <= ball.R * ball.R:
            return 0.0
        gain = 0.5 * (d2 - ball.R * ball.R)
        step = fmin(gain / fmax(cc - 2.0 * z.wz + z.zz, gain), 1.0)
    else:
        if z.R == 0.0 and d2 <= ball.R * ball.R:
            return 0.0
        d = sqrt(fmax(d2, 0.0))
        if d + z.R <= ball.R:
            return 0.0
        if d + ball.R <= z.R:
            step = 1.0
            ball.R = z.R
        else:
            step = 0.5 * (1.0 - (ball.R - z.R) / d)
            if z.off == 0.0:
                ball.R = 0.5 * (ball.R + z.R + d)
            else:
                # how far the centre moves, and the distance to z that is then left
                d = sqrt(fmax(d2 - z.off, 0.0))
                left = (1.0 - step) * d
                ball.R = fmax(ball.R + step * d, sqrt(fmax(left * left + z.off, 0.0)))
    ball.q += step * (z.square - ball.q)
    ball.xi2 = (1.0 - step) * (1.0 - step) * ball.xi2 + step * step * z.xi2
    return step


cdef inline double dual_radius(const Ball *ball) noexcept nogil:
    """sqrt(V), V = q - |c|^2"""
    return sqrt(fmax(ball.q - ball.ww - ball.xi2, 0.0))


cdef inline bint clearly_less(double a, double b) noexcept nogil:
    """a < b beyond rounding, a and b >= 0. Exact steps leave values equal, and rounding must not
    choose between them: a search for the smallest takes the first of those that are equal."""
    return a < b * (1.0 - LEVEL)
