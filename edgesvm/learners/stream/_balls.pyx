"""The smallest ball around a few balls, given the Gram matrix of their centres.

Given m balls (c_i, R_i), find shares a >= 0, sum a = 1, of the centre c = sum a_i c_i. Two problems
share the code:

upper   minimise max_i |c - c_i| + R_i, the enclosing ball itself (as Fischer & Gärtner 2003).
lower   maximise V(a) = a.q - |c|^2, its dual, q_i the mean squared norm of ball i's points.
        Any a is dual feasible, so V is at most R*^2 whatever was merged or dropped (Tsang et al.
        2005, eq. 6).

Both use pairwise steps: share moves from the ball with the smallest reach to the one with the
largest. The own axes of different balls are orthogonal, so they appear only on the diagonal of the
Gram matrix. Time: O(m) per step; no memory is allocated.
"""

from libc.math cimport INFINITY, fmax, sqrt

from edgesvm.learners.stream._ball cimport clearly_less

cdef double UPPER_TOLERANCE, LOWER_TOLERANCE, AT_POINT, LEVEL
cdef int UPPER_STEPS, LOWER_STEPS
from edgesvm.learners.stream.constants import (
    AT_POINT, LEVEL, LOWER_STEPS, LOWER_TOLERANCE, UPPER_STEPS, UPPER_TOLERANCE)


cdef double gram(const Balls *balls, int64_t i, int64_t j) noexcept nogil:
    return balls.gram[i * balls.capacity + j]


cdef double centre_square(const Balls *balls) noexcept nogil:
    """pull = gram @ share;  |c|^2 = share @ pull"""
    cdef int64_t i, j
    cdef double cc = 0.0
    for i in range(balls.m[0]):
        balls.pull[i] = 0.0
        for j in range(balls.m[0]):
            balls.pull[i] += gram(balls, i, j) * balls.share[j]
        cc += balls.share[i] * balls.pull[i]
    return cc


cdef double reach(const Balls *balls, int64_t i, double cc, bint lower) noexcept nogil:
    """upper: |c - c_i| + R_i, the farthest point of ball i;  lower: its mean squared distance"""
    cdef double d2 = fmax(cc - 2.0 * balls.pull[i] + balls.square[i], 0.0)
    return d2 if lower else sqrt(d2) + balls.radius[i]


cdef double solve(const Balls *balls, bint lower) noexcept nogil:
    """Improve the shares in place; return the radius of the ball around `c` with these shares."""
    cdef int64_t i, j, k
    cdef int step, steps = LOWER_STEPS if lower else UPPER_STEPS
    cdef double cc, far, near, value, slack
    for step in range(steps):
        cc = centre_square(balls) if step % 64 == 0 else share_pull(balls)
        far, near, i, j = 0.0, INFINITY, 0, 0
        for k in range(balls.m[0]):
            value = reach(balls, k, cc, lower)
            if clearly_less(far, value):
                far, i = value, k
            if balls.share[k] > 0.0 and clearly_less(value, near):
                near, j = value, k
        slack = LOWER_TOLERANCE * cc if lower else UPPER_TOLERANCE * far
        if lower and step == 0:
            slack = 0.0  # always taken: a sample outside must move the model
        if far - near <= slack:
            break
        value = step_length(balls, i, j, far, near, cc, lower)
        if not value > 0.0:
            break
        balls.share[i] += value
        balls.share[j] = 0.0 if value == balls.share[j] else balls.share[j] - value
        for k in range(balls.m[0]):
            balls.pull[k] += value * (gram(balls, k, i) - gram(balls, k, j))
    return radius(balls, lower)


cdef double share_pull(const Balls *balls) noexcept nogil:
    """|c|^2 from the `pull` updated at each step"""
    cdef int64_t k
    cdef double cc = 0.0
    for k in range(balls.m[0]):
        cc += balls.share[k] * balls.pull[k]
    return cc


cdef double step_length(
    const Balls *balls, int64_t i, int64_t j, double far, double near, double cc, bint lower
) noexcept nogil:
    """How much share moves from j to i: exact for the dual, a Newton step on far - near for the
    ball."""
    cdef double apart, slope_i, slope_j, slope, moved = balls.pull[i] - balls.pull[j]
    apart = gram(balls, i, i) + gram(balls, j, j) - 2.0 * gram(balls, i, j)  # |c_i - c_j|^2
    if lower:
        slope = 2.0 * apart
    else:
        slope_i = (moved - gram(balls, i, i) + gram(balls, i, j)) / (far - balls.radius[i])
        slope_j = sqrt(fmax(apart, 0.0))
        if near - balls.radius[j] > AT_POINT * far:
            slope_j = (moved - gram(balls, i, j) + gram(balls, j, j)) / (near - balls.radius[j])
        slope = slope_j - slope_i
    return balls.share[j] if not slope * balls.share[j] > far - near else (far - near) / slope


cdef double radius(const Balls *balls, bint lower) noexcept nogil:
    """upper: max_i reach; lower: sqrt(share @ square - |c|^2), at most the smallest radius"""
    cdef int64_t k
    cdef double cc = centre_square(balls), result = -cc if lower else 0.0
    for k in range(balls.m[0]):
        if lower:
            result += balls.share[k] * balls.square[k]
        else:
            result = fmax(result, reach(balls, k, cc, False))
    return sqrt(fmax(result, 0.0)) if lower else result


cdef double distance_square(const Balls *balls, int64_t i, int64_t j) noexcept nogil:
    return fmax(gram(balls, i, i) + gram(balls, j, j) - 2.0 * gram(balls, i, j), 0.0)


cdef double joint_radius(double d, double R_i, double R_j) noexcept nogil:
    """Radius of the smallest ball around two whose centres are d apart."""
    return fmax(0.5 * (d + R_i + R_j), fmax(R_i, R_j))


cdef double way(double d, double R_i, double R_j) noexcept nogil:
    """Share of the way from c_i to c_j at which that ball's centre is."""
    if d + R_j <= R_i:
        return 0.0
    return 1.0 if d + R_i <= R_j else 0.5 * (1.0 - (R_i - R_j) / d)


cdef double between(const Balls *balls, int64_t i, int64_t j, double t) noexcept nogil:
    """|(1 - t) c_i + t c_j|^2"""
    return ((1 - t) * (1 - t) * gram(balls, i, i) + 2 * t * (1 - t) * gram(balls, i, j)
            + t * t * gram(balls, j, j))


cdef double joint_reach(const Balls *balls, int64_t i, int64_t j, double cc) noexcept nogil:
    """|c - c_ij| + R_ij of the smallest ball (c_ij, R_ij) around two. Where the two alone hold the
    ball around all, c_ij is c: the root of a rounding error must not choose between equal pairs."""
    cdef double d = sqrt(distance_square(balls, i, j))
    cdef double t = way(d, balls.radius[i], balls.radius[j])
    cdef double d2 = cc - 2.0 * ((1.0 - t) * balls.pull[i] + t * balls.pull[j])
    d2 += between(balls, i, j, t)
    if d2 <= LEVEL * cc:
        d2 = 0.0
    return sqrt(d2) + joint_radius(d, balls.radius[i], balls.radius[j])


cdef void cheapest_pair(
    const Balls *balls, bint lower, bint by_reach, int64_t *first, int64_t *second
) noexcept nogil:
    """The pair that is cheapest to join: upper, the smallest joint ball, or `by_reach` the one that
    reaches least far from the solved centre; lower, the smallest a_i a_j / (a_i + a_j)
    |c_i - c_j|^2, by which V is lower than with the two kept apart."""
    cdef int64_t i, j
    cdef double cost, share, least = INFINITY, cc = centre_square(balls) if by_reach else 0.0
    first[0], second[0] = 0, 1
    for i in range(balls.m[0]):
        for j in range(i + 1, balls.m[0]):
            if lower:
                share = balls.share[i] + balls.share[j]
                cost = balls.share[i] * balls.share[j] / share if share > 0.0 else 0.0
                cost *= distance_square(balls, i, j)
            elif by_reach:
                cost = joint_reach(balls, i, j, cc)
            else:
                cost = joint_radius(
                    sqrt(distance_square(balls, i, j)), balls.radius[i], balls.radius[j])
            if clearly_less(cost, least):
                least, first[0], second[0] = cost, i, j


cdef double join_pair(Balls *balls, int64_t i, int64_t j, bint lower) noexcept nogil:
    """Merge ball j into ball i; return t, the share of the way from c_i to c_j at which the new
    centre is.

    upper: the smallest ball around both, in closed form. lower: their mean by share, so that c and
    V do not change. Slot j stays filled, so that the caller can move its centre before `forget`.
    """
    cdef int64_t k
    cdef double t, square, value, d = sqrt(distance_square(balls, i, j))
    cdef double share = balls.share[i] + balls.share[j]
    cdef double R_i = balls.radius[i], R_j = balls.radius[j]
    if lower:
        t = balls.share[j] / share if share > 0.0 else 0.0
        balls.square[i] += t * (balls.square[j] - balls.square[i])
    else:
        t = way(d, R_i, R_j)
    if not lower and 0.0 < t < 1.0:
        # A weighted point has a small distance from its centre (square - gram), so the radius is
        # not simply (d + R_i + R_j) / 2.
        balls.radius[i] = fmax(
            sqrt(fmax(t * t * d * d + balls.square[i] - gram(balls, i, i), 0.0)) + R_i,
            sqrt(fmax((1 - t) * (1 - t) * d * d + balls.square[j] - gram(balls, j, j), 0.0)) + R_j)
    if t == 1.0 and not lower:
        balls.radius[i] = R_j
    square = fmax(between(balls, i, j, t), 0.0)
    for k in range(balls.m[0]):
        value = (1 - t) * gram(balls, i, k) + t * gram(balls, j, k)
        balls.gram[i * balls.capacity + k] = value
        balls.gram[k * balls.capacity + i] = value
    balls.gram[i * balls.capacity + i] = square
    balls.share[i] = share
    if not lower:
        balls.square[i] = square
    return t


cdef void forget(Balls *balls, int64_t j) noexcept nogil:
    """Move the last ball to slot j."""
    cdef int64_t k, last = balls.m[0] - 1, n = balls.capacity
    for k in range(balls.m[0]):
        balls.gram[j * n + k] = balls.gram[last * n + k]
    for k in range(balls.m[0]):
        balls.gram[k * n + j] = balls.gram[k * n + last]
    balls.gram[j * n + j] = balls.gram[last * n + last]
    balls.square[j] = balls.square[last]
    balls.radius[j] = balls.radius[last]
    balls.share[j] = balls.share[last]
    balls.m[0] = last
