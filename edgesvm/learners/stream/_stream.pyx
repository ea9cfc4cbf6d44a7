"""The smallest ball around a stream, compiled: StreamSVM with one ball or a few, KernelStreamSVM in
a kernel's feature space (Rai, Daumé III & Venkatasubramanian 2008).

A sample (x, y) is the point z = (y x, e/sqrt(C)), where e is an axis of its own; the l2-SVM's w is
the x-part of the centre of the smallest ball around all points. The ball is stored as w, xi2 = the
centre's squared length in the own axes, and its radius R. A new point's own axis is orthogonal to
all earlier points, so

    d^2 = |w|^2 - 2 y w.x + |x|^2 + xi2 + 1/C

If the point is outside (d > R), the centre moves towards it by a share `step` of the way:

    w = (1 - step) w + step y x,     xi2 = (1 - step)^2 xi2 + step^2 / C

bound="upper" (the paper): step = (1 - R/d)/2, R = (R + d)/2; the ball encloses every sample seen,
R <= 3/2 R*. bound="lower": step = (1 - R^2/d^2)/2, the exact step on the dual V = q - |c|^2, where
q is the mean squared norm of the points in c; R = sqrt(V) <= R* never falls. It needs one more
number, and goes on learning when the upper ball has grown too large to.
"""

cimport cython
from libc.math cimport INFINITY, fabs, fmax, fmin, isfinite, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.contract.kernel_core cimport KernelCore
from edgesvm.core.error_rate cimport LAST, MEAN, mean_decides, note_error
from edgesvm.core.kernels cimport RBF
from edgesvm.core.linalg cimport (
    BLOCK, add_scaled, any_dot, approach, axpby, dot, dot_rows, dot_square, dot_square_rows,
    item_bytes, real)
from edgesvm.core.rows cimport ROWS_BLOCK, ROWS_WIDEST, rows_block_weigh
from edgesvm.core.status cimport BAD_WEIGHT, CHANGED, NOT_FINITE, UNCHANGED, Status
from edgesvm.learners._forgetting cimport Forgetting, weight_left

import numpy as np

cdef double AT_POINT, FACTOR_EXISTS, LARGEST_NORM, LARGEST_PENALTY, LARGEST_WEIGHT, LEAST_NORM
cdef double LEVEL, LOWER_TOLERANCE, MAX_SQUARE, MAX_STORED_SQUARE, RIDGE, SHARES_WITHIN
cdef double THRESHOLD, UPPER_TOLERANCE
cdef int LOWER_STEPS, UPPER_STEPS
from edgesvm.core.constants import LARGEST_NORM, LARGEST_WEIGHT, LEAST_NORM
from edgesvm.learners.constants import FACTOR_EXISTS, THRESHOLD
from edgesvm.learners.stream.constants import (
    AT_POINT, LARGEST_PENALTY, LEVEL, LOWER_STEPS, LOWER_TOLERANCE,
    MAX_SQUARE, MAX_STORED_SQUARE, RIDGE, SHARES_WITHIN, UPPER_STEPS, UPPER_TOLERANCE)

cpdef enum:
    NOTED = 4       # every so many samples are asked of the mean too
    RECENT = 250    # of those, error rates are counted over so many

cdef enum:
    CHUNK = 128     # kernel values at a time, on the stack

# -- one ball, and how it moves to enclose a point: the paper's update, in scalars -----------------

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
    """Whether a squared length read from a file is too large to come from any stream."""
    return not -MAX_STORED_SQUARE <= square <= MAX_STORED_SQUARE


cdef inline Status check_point(const Point *z) noexcept nogil:
    """UNCHANGED if the point can be learned, otherwise the reason why not."""
    if too_large(z.square) or not isfinite(z.wz):
        return NOT_FINITE
    return BAD_WEIGHT if too_large(z.xi2) else UNCHANGED


cdef inline double move_towards(Ball *ball, const Point *z, bint lower) noexcept nogil:
    """Return the step, 0 if z is inside, and update R, xi2 and q."""
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
    """a < b beyond rounding, a and b >= 0: rounding must not choose between equal values."""
    return a < b * (1.0 - LEVEL)


# -- the smallest ball around a few, given the Gram matrix of their centres ------------------------
#
# Given m balls (c_i, R_i), find shares a >= 0, sum a = 1, of the centre c = sum a_i c_i:
#
# upper   minimise max_i |c - c_i| + R_i, the enclosing ball itself (as Fischer & Gärtner 2003).
# lower   maximise V(a) = a.q - |c|^2, its dual, q_i the mean squared norm of ball i's points.
#         Any a is dual feasible, so V is at most R*^2 whatever was merged or dropped (Tsang et al.
#         2005, eq. 6).
#
# Both use pairwise steps: share moves from the ball with the smallest reach to the one with the
# largest. The own axes of different balls are orthogonal, so they appear only on the diagonal of
# the Gram matrix. Time: O(m) per step.

cdef struct Balls:          # m of at most `capacity` balls; every pointer is into the arena
    int64_t capacity
    int64_t *m
    double *gram            # (capacity, capacity): inner products of centres, own axes included
    double *square          # (capacity,): mean squared norm of the points in the ball
    double *radius          # (capacity,)
    double *share           # (capacity,): a, share in the joint centre c = sum a_i c_i; sums to one
    double *pull            # (capacity,): TMP, c_i . c


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


cdef double share_out(const Balls *balls, bint lower) noexcept nogil:
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
    """How much share moves from j to i: exact for the dual, else a Newton step."""
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


# -- the Cholesky factor L of a positive definite matrix that grows by products v v' ---------------
#
# L is packed column by column, so that every inner loop runs over consecutive numbers: column j of
# order n begins at `column(j, n)`, with its diagonal. Time: O(n^2) for a product and a solution,
# O(n^3) / 6 for a factor.

cdef inline int64_t column(int64_t j, int64_t n) noexcept nogil:
    """Where column j begins; column(n, n) is the length of the whole"""
    return j * n - j * (j - 1) // 2


cdef inline void factorise(double *A, int64_t n) noexcept nogil:
    """Replace the lower triangle of A by that of L, A = L L'."""
    cdef int64_t i, j, k
    cdef double *col
    cdef double inverse
    for j in range(n):
        col = A + column(j, n)
        col[0] = sqrt(col[0])
        inverse = 1.0 / col[0]
        for k in range(1, n - j):
            col[k] *= inverse
        for i in range(j + 1, n):
            add_scaled(-col[i - j], col + i - j, A + column(i, n), n - i)


cdef inline void multiply_out(double *L, int64_t n) noexcept nogil:
    """The inverse of `factorise`"""
    cdef int64_t j, k
    cdef double *col
    for j in range(n - 1, -1, -1):
        col = L + column(j, n)
        for k in range(n - j - 1, -1, -1):
            col[k] *= col[0]
        for k in range(j):
            add_scaled(L[column(k, n) + j - k], L + column(k, n) + j - k, col, n - j)


cdef inline void add_product(double *L, double *v, int64_t n) noexcept nogil:
    """L L' += v v'; v is used up."""
    cdef int64_t j, k
    cdef double *col
    cdef double length, c, s, inverse
    for j in range(n):
        col = L + column(j, n)
        length = sqrt(col[0] * col[0] + v[j] * v[j])
        c, s, inverse = length / col[0], v[j] / col[0], col[0] / length
        col[0] = length
        for k in range(1, n - j):
            col[k] = (col[k] + s * v[j + k]) * inverse
            v[j + k] = c * v[j + k] - s * col[k]


cdef inline void solve(const double *L, double *x, int64_t n) noexcept nogil:
    """x = (L L')^-1 x"""
    cdef int64_t j
    cdef const double *col
    for j in range(n):
        col = L + column(j, n)
        x[j] /= col[0]
        add_scaled(-x[j], col + 1, x + j + 1, n - j - 1)
    for j in range(n - 1, -1, -1):
        col = L + column(j, n)
        x[j] = (x[j] - dot(col + 1, x + j + 1, n - j - 1)) / col[0]


# -- StreamSVM -------------------------------------------------------------------------------------

cdef inline void multiply(
    const real *x, const real *w, int64_t n, int64_t rows, const real *squares, int64_t i, real *xw,
    real *xx
) noexcept nogil:
    """`dot_square_rows`; x.x are `squares` from i on, unless NULL"""
    if squares == NULL:
        dot_square_rows(x, w, n, rows, xw, xx)
    else:
        dot_rows(x, w, n, rows, xw)
        memcpy(xx, squares + i, BLOCK * sizeof(real))


cdef inline bint are_finite(const double *values) noexcept nogil:
    """Whether all four are"""
    cdef int j
    cdef bint all_are = True
    for j in range(BLOCK):
        all_are &= isfinite(values[j])
    return all_are


@cython.final
cdef class StreamSVMCore(LearnerCore):
    """One ball, or a few.

    With average=True, decisions use the mean of w after samples i = 1 to n, with weight i (as
    Lacoste-Julien, Schmidt & Bach 2012). Between two updates w stands still, so all that is stored
    is the mean u over the first s samples:

        v = (1 - b) u + b w,   b = (s+1 + .. + n) / (1 + .. + n) = (n - s) (n + s + 1) / (n (n + 1))

    and u = v, s = n just before w changes. Whichever of w and the mean was wrong less often lately,
    by every `NOTED`-th sample (`error_rates`), decides.

    With n_balls=K or lookahead=L a few balls are stored as well, and (w, R) is the ball around
    them. Time, M = K+1 or L+1: O(D) for a sample inside, O(M D + M^2) for one outside.
    """
    cdef readonly double C
    cdef readonly bint lower, paper_slack, normalize, intercept, flush, by_reach
    cdef readonly int64_t width      # n_features and the constant feature
    cdef Ball *ball
    cdef char *w            # (width,)
    cdef Balls balls        # capacity 0: one ball only
    cdef char *centres      # (capacity, width)
    cdef char *average      # (width,): mean of w over the first n_averaged samples; else NULL
    cdef int64_t *n_averaged
    cdef double *error_rates     # (2,), LAST and MEAN; else NULL

    def __init__(
        self, *common, C, slack, bound, normalize, fit_intercept, lookahead, join, average
    ):
        super().__init__(*common)
        self.C = C
        self.paper_slack = slack == "paper"
        self.lower = bound == "lower"
        self.normalize = normalize
        self.intercept = fit_intercept
        self.flush = lookahead > 0
        self.by_reach = join == "reach" and not self.lower
        self.width = self.n_features + self.intercept
        self.ball = <Ball *> self.array("R")
        self.w = self.array("w")
        self.balls.capacity = 0
        if "n_held" in self.views:
            self.balls.capacity = len(self.views["radius"])
            self.balls.m = <int64_t *> self.array("n_held")
            self.balls.gram = <double *> self.array("gram")
            self.balls.square = <double *> self.array("square")
            self.balls.radius = <double *> self.array("radius")
            self.balls.share = <double *> self.array("share")
            self.balls.pull = <double *> self.array("pull")
            self.centres = self.array("centres")
        self.average = self.array("average") if average else NULL
        self.n_averaged = <int64_t *> self.array("n_averaged") if average else NULL
        self.error_rates = <double *> self.array("error_rates") if average else NULL
        self.decides_in_blocks = self.balls.capacity == 0

    # -- one sample --------------------------------------------------------------------------------

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        if self.is_float32:
            return self.step_typed(<const float *> x, <float *> self.w, y, weight)
        return self.step_typed(<const double *> x, <double *> self.w, y, weight)

    cdef Status step_typed(self, const real *x, real *w, double y, double weight) noexcept nogil:
        cdef Point z
        cdef Status status
        cdef real *tested = w
        # An upper ball around several is recomputed for each sample, so only balls that do not move
        # may decide whether a sample is inside.
        if self.balls.capacity and not self.lower:
            tested = <real *> self.centres
        status = self.measure(x, tested, y, weight, &z)
        if status > CHANGED:
            return status
        if self.average != NULL and self.n_learned() % NOTED == 0:
            if tested != w:
                z.wx = dot(x, w, self.n_features)
            self.note_errors(x, w, &z)
        if self.balls.capacity == 0:
            return self.take(x, w, &z)
        if self.inside(x, <real *> self.centres, &z):
            return UNCHANGED
        self.hold(x, <real *> self.centres, &z)
        self.enclose(<real *> self.centres, w)
        return CHANGED

    cdef Status measure(
        self, const real *x, const real *w, double y, double weight, Point *z
    ) noexcept nogil:
        """Compute z's norms and its product with `w`; check that it can be learned."""
        cdef real xw, xx
        cdef double norm_square
        dot_square(x, w, self.n_features, &xw, &xx)
        if not isfinite(xx):
            return NOT_FINITE
        norm_square = xx
        z.scale, z.wx = y, xw
        if self.intercept:
            xw += w[self.n_features]
            norm_square += 1.0
        if self.normalize and norm_square > 0.0:  # a row of zeros stays zero
            z.scale = y / sqrt(norm_square)
            norm_square = 1.0
        z.wz = z.scale * xw
        z.constant = z.scale if self.intercept else 0.0
        z.square = norm_square + 1.0 / self.C
        z.xi2 = 1.0 / weight if self.paper_slack else 1.0 / (self.C * weight)
        z.zz = norm_square + z.xi2
        z.off = 0.0 if self.paper_slack else z.square - z.zz
        z.R = 0.0
        return check_point(z)

    cdef Status take(self, const real *x, real *w, const Point *z) noexcept nogil:
        """Move the one ball to enclose z."""
        cdef double step = 1.0
        if self.n_learned() == 0:
            self.ball.R, self.ball.xi2, self.ball.q = z.R + sqrt(fmax(z.off, 0.0)), z.xi2, z.square
        else:
            step = move_towards(self.ball, z, self.lower)
            if step == 0.0:
                return UNCHANGED
        self.take_mean(w)
        # w = (1 - step) w + step z
        axpby(<real> (step * z.scale), x, <real> (1.0 - step), w, self.n_features)
        if self.intercept:
            w[self.n_features] = <real> ((1.0 - step) * w[self.n_features] + step * z.constant)
        self.ball.ww = dot(w, w, self.width)
        if self.lower:
            self.ball.R = dual_radius(self.ball)
        return CHANGED

    # -- several balls -----------------------------------------------------------------------------

    cdef bint inside(self, const real *x, const real *centres, Point *z) noexcept nogil:
        """Whether z changes nothing: inside (w, R), or with upper one of the stored balls."""
        cdef int64_t i
        cdef double R
        if self.balls.m[0] == 0:
            return False
        if self.lower:
            return self.ball.ww + self.ball.xi2 - 2.0 * z.wz + z.square <= self.ball.R * self.ball.R
        for i in range(self.balls.m[0]):
            R = self.balls.radius[i]
            if R > 0.0:
                if i > 0:
                    z.wz = self.product(x, centres + i * self.width, z)
                if self.balls.gram[i * (self.balls.capacity + 1)] - 2.0 * z.wz + z.square <= R * R:
                    return True
        return False

    cdef double product(self, const real *x, const real *centre, const Point *z) noexcept nogil:
        """centre.z"""
        return self.product_of(dot(x, centre, self.n_features), centre, z)

    cdef double product_of(self, double xc, const real *centre, const Point *z) noexcept nogil:
        """`product`, from centre.x without the constant feature"""
        cdef double value = z.scale * xc
        if self.intercept:
            value += z.constant * centre[self.n_features]
        return value

    cdef void hold(self, const real *x, real *centres, const Point *z) noexcept nogil:
        """Store z as another ball."""
        cdef Balls *balls = &self.balls
        cdef int64_t i, m = balls.m[0], n = balls.capacity
        cdef real *centre = centres + m * self.width
        for i in range(m):
            balls.gram[m * n + i] = self.product(x, centres + i * self.width, z)
            balls.gram[i * n + m] = balls.gram[m * n + i]
        axpby(<real> z.scale, x, <real> 0.0, centre, self.n_features)
        if self.intercept:
            centre[self.n_features] = <real> z.constant
        balls.gram[m * n + m] = z.zz
        balls.square[m] = z.square
        balls.radius[m] = z.R
        balls.share[m] = 1.0 if m == 0 else 0.0
        balls.m[0] = m + 1

    cdef void enclose(self, real *centres, real *w) noexcept nogil:
        """Make (w, R) the ball around all stored balls, and room for the next."""
        cdef bint full = self.balls.m[0] == self.balls.capacity
        if full and not self.flush and not self.lower:
            if self.by_reach:
                share_out(&self.balls, False)
            self.merge_cheapest(centres)
        self.ball.R = share_out(&self.balls, self.lower)
        self.take_mean(w)
        self.set_centre(centres, w)
        if full and self.flush:
            self.collapse(centres, w)
        elif full and self.lower:
            self.merge_cheapest(centres)

    cdef void set_centre(self, const real *centres, real *w) noexcept nogil:
        """c = sum a_i c_i, with q, ww and xi2"""
        cdef int64_t i
        cdef double cc = centre_square(&self.balls)
        memset(w, 0, self.width * sizeof(real))
        self.ball.q = 0.0
        for i in range(self.balls.m[0]):
            self.ball.q += self.balls.share[i] * self.balls.square[i]
            if self.balls.share[i] > 0.0:
                axpby(
                    <real> self.balls.share[i], centres + i * self.width, <real> 1.0, w, self.width)
        self.ball.ww = dot(w, w, self.width)
        self.ball.xi2 = fmax(cc - self.ball.ww, 0.0)

    cdef void collapse(self, real *centres, const real *w) noexcept nogil:
        """Replace all stored balls by the one around them."""
        cdef double cc = self.ball.ww + self.ball.xi2
        memcpy(centres, w, self.width * sizeof(real))
        self.balls.m[0] = 1
        self.balls.gram[0] = cc
        self.balls.square[0] = self.ball.q if self.lower else cc
        self.balls.radius[0] = 0.0 if self.lower else self.ball.R
        self.balls.share[0] = 1.0

    cdef void merge_cheapest(self, real *centres) noexcept nogil:
        """Merge the two balls that are cheapest to join."""
        cdef int64_t i, j, last
        cdef double t
        cheapest_pair(&self.balls, self.lower, self.by_reach, &i, &j)
        t = join_pair(&self.balls, i, j, self.lower)
        axpby(
            <real> t, centres + j * self.width,
            <real> (1.0 - t), centres + i * self.width, self.width)
        last = self.balls.m[0] - 1
        if j != last:
            memcpy(centres + j * self.width, centres + last * self.width, self.width * sizeof(real))
        forget(&self.balls, j)

    # -- the mean of w over the stream -------------------------------------------------------------

    cdef double pending(self) noexcept nogil:
        """b, the weight of w in the mean: of the samples since it last changed; 1 without a mean"""
        cdef double n, s
        if self.average == NULL:
            return 1.0
        n, s = <double> self.n_learned(), <double> self.n_averaged[0]
        return (n - s) * (n + s + 1.0) / (n * (n + 1.0)) if n > s else 0.0

    cdef void take_mean(self, const real *w) noexcept nogil:
        """Bring the mean up to the last sample; w is about to change."""
        if self.average != NULL:
            approach(<real> self.pending(), w, <real *> self.average, self.width)
            self.n_averaged[0] = self.n_learned()

    cdef void note_errors(self, const real *x, const real *w, const Point *z) noexcept nogil:
        """Ask z, whose sign is that of its label, of w and of the mean."""
        cdef double last = self.product_of(z.wx, w, z)
        cdef double mean = self.product(x, <const real *> self.average, z)
        cdef double n = min(self.n_learned() / NOTED + 1, RECENT)
        mean += self.pending() * (last - mean)
        note_error(self.error_rates, LAST, last <= 0.0, n)
        note_error(self.error_rates, MEAN, mean <= 0.0, n)

    cdef double share_of_last(self) noexcept nogil:
        """The share of w in the weights that decide; the rest is the mean's"""
        if self.average != NULL and not mean_decides(self.error_rates):
            return 1.0
        return self.pending()

    # -- another learner's ball --------------------------------------------------------------------

    def absorb(self, StreamSVMCore other, bint flipped):
        """Merge another fitted learner's ball; swap its two labels if `flipped`."""
        cdef double sign = -1.0 if flipped else 1.0
        if self.is_float32:
            self.absorb_typed(<float *> self.w, <const float *> other.w, other, sign)
        else:
            self.absorb_typed(<double *> self.w, <const double *> other.w, other, sign)
        if self.average != NULL:
            self.absorb_mean(other, sign)
        self.common.n_seen += other.common.n_seen
        self.common.n_updates += other.common.n_updates
        self.n_per_class[0] += other.n_per_class[1 if flipped else 0]
        self.n_per_class[1] += other.n_per_class[0 if flipped else 1]

    cdef void absorb_typed(self, real *w, const real *v, StreamSVMCore other, double sign) noexcept:
        cdef Point z
        self.take_mean(w)
        z.scale = sign
        z.constant = sign * v[self.n_features] if self.intercept else 0.0
        z.wz = sign * dot(w, v, self.width)
        z.xi2 = other.ball.xi2
        z.zz = other.ball.ww + other.ball.xi2
        z.square = other.ball.q if self.lower else z.zz
        z.R = 0.0 if self.lower else other.ball.R
        z.off = 0.0
        if self.balls.capacity == 0:
            self.take(v, w, &z)
        else:
            self.hold(v, <real *> self.centres, &z)
            self.enclose(<real *> self.centres, w)

    def absorb_mean(self, StreamSVMCore other, double sign):
        """The mean of both means, by the number of samples."""
        cdef int64_t n = self.n_learned() + other.n_learned()
        share = <double> other.n_learned() / n
        for name, theirs in (
            ("average", sign * other.mean_of_w()), ("error_rates", other.views["error_rates"])
        ):
            mine = self.views[name]
            mine += share * (theirs - mine)
        self.n_averaged[0] = n

    def mean_of_w(self):
        """(1 - b) u + b w, ndarray of shape (width,)"""
        return self.weights(self.pending())

    def deciding(self):
        """The weights that decide, ndarray of shape (width,)"""
        return self.weights(self.share_of_last())

    def weights(self, double share_of_last):
        w = self.views["w"].astype(np.float64)
        return w + (1.0 - share_of_last) * (self.views.get("average", w) - w)

    # -- decisions ---------------------------------------------------------------------------------

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        if self.is_float32:
            return self.decide_typed(<const float *> x, <const float *> self.w, value)
        return self.decide_typed(<const double *> x, <const double *> self.w, value)

    cdef Status decide_typed(self, const real *x, const real *w, double *value) noexcept nogil:
        """w.x, with x normalised and the constant feature added as in learning"""
        cdef Point z
        cdef Status status = self.measure(x, w, 1.0, 1.0, &z)
        value[0] = 0.0
        if status <= CHANGED:
            value[0] = z.wz
            self.mix_mean(x, self.share_of_last(), &z, value)
        return status

    cdef void mix_mean(
        self, const real *x, double share_of_last, const Point *z, double *value
    ) noexcept nogil:
        """What the mean says has its share in the value."""
        if share_of_last < 1.0:
            value[0] += (1.0 - share_of_last) * (
                self.product(x, <const real *> self.average, z) - z.wz)

    cdef int64_t decide_block(
        self, const void *x, const void *squares, int64_t n, double *values
    ) noexcept nogil:
        if too_large(1.0 + 1.0 / self.C):
            return 0
        if self.is_float32:
            return self.decide_rows_typed(
                <const float *> x, <const float *> self.w, <const float *> squares, n, values)
        return self.decide_rows_typed(
            <const double *> x, <const double *> self.w, <const double *> squares, n, values)

    cdef int64_t decide_rows_typed(
        self, const real *x, const real *w, const real *squares, int64_t n, double *values
    ) noexcept nogil:
        cdef real[BLOCK] xw
        cdef real[BLOCK] xx
        cdef real[BLOCK] xu
        cdef double[BLOCK] scale
        cdef const real *u = <const real *> self.average
        cdef double share = self.share_of_last(), own = 1.0 / self.C
        cdef int64_t i = 0, width = self.n_features
        while i + BLOCK <= n:
            multiply(x + i * width, w, width, n - i, squares, i, xw, xx)
            if not self.find_scales(xx, own, scale):
                break
            self.project(xw, scale, w, &values[i])
            if share < 1.0:
                dot_rows(x + i * width, u, width, n - i, xu)
                self.mix_means(xu, scale, u, 1.0 - share, &values[i])
            if not are_finite(&values[i]):
                break
            i += BLOCK
        return i

    cdef bint find_scales(self, const real *xx, double own, double *scale) noexcept nogil:
        """The scales of four rows; whether none of these is too long"""
        cdef int j
        cdef double norm_square
        cdef bint short = True
        for j in range(BLOCK):
            norm_square = xx[j]
            if self.intercept:
                norm_square += 1.0
            short &= isfinite(xx[j]) and (self.normalize or norm_square + own <= MAX_SQUARE)
            scale[j] = norm_square if self.normalize and norm_square > 0.0 else 1.0
        for j in range(BLOCK):
            scale[j] = 1.0 / sqrt(scale[j])
        return short

    cdef void project(
        self, const real *xw, const double *scale, const real *w, double *values
    ) noexcept nogil:
        """What w says of four rows, as `place` rounds it"""
        cdef int j
        cdef real constant = 0.0
        if self.intercept:
            constant = w[self.n_features]
        for j in range(BLOCK):
            values[j] = scale[j] * <real> (xw[j] + constant)

    cdef void mix_means(
        self, const real *xu, const double *scale, const real *u, double share, double *values
    ) noexcept nogil:
        """What the mean says has its share, as `product` and `mix_mean` round it."""
        cdef int j
        cdef double said
        for j in range(BLOCK):
            said = scale[j] * xu[j]
            if self.intercept:
                said += scale[j] * u[self.n_features]
            values[j] += share * (said - values[j])

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = LearnerCore.fault(self)
        if found != NULL:
            return found
        if self.row_out_of_range(self.w):
            return b"a squared length is too large"
        if self.average != NULL:
            if self.n_averaged[0] > self.n_learned():
                return b"the average is of more samples than were learned"
            if self.row_out_of_range(self.average):
                return b"a squared length is too large"
        return self.fault_of_balls() if self.balls.capacity else NULL

    cdef const char *fault_of_balls(self) noexcept nogil:
        """Of the squares, radii and shares of the stored balls."""
        cdef int64_t i, j, n = self.balls.capacity
        cdef int64_t n_bytes = self.width * item_bytes(self.is_float32)
        cdef double extent, most, total = 0.0
        if self.balls.m[0] >= n:
            return b"more balls are stored than there is room for"
        for i in range(self.balls.m[0]):
            total += self.balls.share[i]
            extent = self.extent_of_ball(i)
            if out_of_range(extent * extent):
                return b"a squared length is too large"
            if not self.row_square(self.centres + i * n_bytes) <= 4.0 * extent * extent:
                return b"a centre is outside its ball's extent"
            if not 0.0 <= self.balls.gram[i * n + i] <= MAX_STORED_SQUARE:
                return b"a squared length is negative or too large"
            for j in range(self.balls.m[0]):
                most = 2.0 * extent * self.extent_of_ball(j)
                if j != i and not fabs(self.balls.gram[i * n + j]) <= most:
                    return b"a product of two centres is larger than their balls allow"
        if self.balls.m[0] and not fabs(total - 1.0) < SHARES_WITHIN:
            return b"the shares do not sum to one"
        return NULL

    cdef double extent_of_ball(self, int64_t i) noexcept nogil:
        """A bound of |c_i| without its own axes, up to rounding."""
        return sqrt(self.balls.square[i]) + (0.0 if self.lower else self.balls.radius[i])

    cdef double row_square(self, const char *row) noexcept nogil:
        return any_dot(self.is_float32, row, row, self.width)

    cdef bint row_out_of_range(self, const char *row) noexcept nogil:
        return out_of_range(self.row_square(row))


# -- KernelStreamSVM -------------------------------------------------------------------------------

@cython.final
cdef class KernelStreamSVMCore(KernelCore):
    """The ball in a kernel's feature space, with a fixed number of vectors.

    The centre is w = sum_i a_i y_i phi(x_i) over at most `max_vectors` vectors, a >= 0, sum a = 1.
    After the ball f = sum_j a_j y_j k(z_j, .) goes on towards the minimum over their span of

        |f|^2 / 2 + C / 2 sum_t max(0, 1 - y_t f(x_t))^2,

    by one Newton step for each sample inside the margin, the vectors themselves first: with
    k = (k(z_j, x))_j,

        A = K + C sum_t k_t k_t',      coefficients += C (1 - y f) y A^-1 k.
    """
    cdef readonly double C
    cdef readonly bint lower
    cdef readonly bint newton
    cdef readonly bint forgets
    cdef readonly double half_life      # 0: drifts say when
    cdef readonly int64_t slots      # max_vectors, and with "share" one for the new sample
    cdef Ball *ball
    cdef int64_t *n_held
    cdef char *vectors      # (slots, n_features)
    cdef double *share      # (slots,): a; of any sign after the ball
    cdef double *sign       # (slots,): y, -1 or +1
    cdef double *row        # (slots,): TMP, kernel values of one sample
    # with "share"
    cdef double *norm       # (slots,): k(x_i, x_i)
    cdef double *own        # (slots,): squared length of the own axis, 1 / (C weight)
    # with "newton"
    cdef double *weight     # (slots,): of the sample
    cdef double *gain       # (slots,): TMP
    cdef Forgetting *forgetting
    cdef double *L          # (slots (slots + 1) / 2,): A = L L'; zero while there is room

    def __init__(self, *common, C, bound, when_full, forgetting, kernel):
        super().__init__(*common, kernel=kernel)
        self.C = C
        self.lower = bound == "lower"
        self.newton = when_full == "newton"
        self.half_life = forgetting
        self.forgets = forgetting >= 0.0 and self.newton
        self.slots = len(self.views["share"])
        self.ball = <Ball *> self.array("R")
        self.n_held = <int64_t *> self.array("n_held")
        self.vectors = self.array("vectors")
        self.share = <double *> self.array("share")
        self.sign = <double *> self.array("sign")
        self.row = <double *> self.array("row")
        self.decides_in_blocks = True
        if self.newton:
            self.weight = <double *> self.array("weight")
            self.gain = <double *> self.array("gain")
            self.L = <double *> self.array("L")
        else:
            self.norm = <double *> self.array("norm")
            self.own = <double *> self.array("own")
        if self.forgets:
            self.forgetting = <Forgetting *> self.array("n_drifts")

    cdef double project(self, const void *x, double *row=NULL) noexcept nogil:
        """f(x) = sum_i a_i y_i k(x_i, x);  row[i] = k(x_i, x) if `row` is given"""
        cdef double[CHUNK] k
        cdef double *values = k
        cdef int64_t i, count, begin = 0
        cdef double f = 0.0
        while begin < self.n_held[0]:
            count = min(self.n_held[0] - begin, <int64_t> CHUNK)
            if row != NULL:
                values = row + begin
            self.k_rows(x, self.vectors + begin * self.row_bytes, count, values)
            for i in range(count):
                f += self.share[begin + i] * self.sign[begin + i] * values[i]
            begin += count
        return f

    cdef bint at_newton(self) noexcept nogil:
        """Whether the ball has ended."""
        return self.newton and self.n_held[0] == self.slots

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        if self.at_newton():
            return self.refine(x, y, weight)
        return self.enclose(x, y, weight)

    # -- the ball ----------------------------------------------------------------------------------

    cdef Status enclose(self, const void *x, double y, double weight) noexcept nogil:
        cdef Ball *ball = self.ball
        cdef Point z
        cdef double step = 1.0, f = self.project(x), k_xx = self.self_kernel(x)
        cdef Status status
        z.wz = y * f
        z.square = k_xx + 1.0 / self.C
        z.xi2 = 1.0 / (self.C * weight)
        z.zz = k_xx + z.xi2
        z.off = z.square - z.zz
        z.R = 0.0
        status = check_point(&z)
        if status > CHANGED:
            return status
        if self.newton and k_xx > LARGEST_NORM:
            return NOT_FINITE
        if self.n_held[0] == 0:
            ball.R, ball.xi2, ball.q = sqrt(fmax(z.off, 0.0)), z.xi2, z.square
        else:
            if self.forgets:
                self.forget(self.error(y, f, weight))
            step = move_towards(ball, &z, self.lower)
            if step == 0.0:
                return UNCHANGED
        # |w|^2 of w = (1 - step) w + step y phi(x)
        ball.ww = fmax(
            (1 - step) * (1 - step) * ball.ww + 2 * step * (1 - step) * z.wz
            + step * step * k_xx, 0.0)
        self.append(x, y, step)
        if self.newton:
            self.weight[self.n_held[0] - 1] = weight
        else:
            self.norm[self.n_held[0] - 1], self.own[self.n_held[0] - 1] = k_xx, z.xi2
            if self.n_held[0] == self.slots:
                self.drop_one()
        if self.lower:
            ball.R = dual_radius(ball)
        if self.at_newton():
            self.start()
        return CHANGED

    cdef void append(self, const void *x, double y, double step) noexcept nogil:
        cdef int64_t i, m = self.n_held[0]
        for i in range(m):
            self.share[i] *= 1.0 - step
        memcpy(self.vectors + m * self.row_bytes, x, self.row_bytes)
        self.share[m], self.sign[m] = step, y
        self.n_held[0] = m + 1

    cdef double distance_square(self, int64_t i, int64_t j, double k_ij) noexcept nogil:
        """|z_i - z_j|^2 without the own axes"""
        return fmax(self.norm[i] + self.norm[j] - 2.0 * self.sign[i] * self.sign[j] * k_ij, 0.0)

    cdef void drop_one(self) noexcept nogil:
        """Remove the older vector of the smallest share, which goes to the nearest vector."""
        cdef Ball *ball = self.ball
        cdef int64_t k, i = 0, j = 0, last = self.n_held[0] - 1
        cdef double f_i, f_j, d2, a, apart = INFINITY
        for k in range(1, last):
            if clearly_less(self.share[k], self.share[i]):
                i = k
        f_i = self.project(self.vectors + i * self.row_bytes, self.row)
        for k in range(last + 1):
            d2 = self.distance_square(i, k, self.row[k]) + self.own[i] + self.own[k]
            if k != i and clearly_less(d2, apart):
                apart, j = d2, k
        d2 = self.distance_square(i, j, self.row[j])
        f_j = self.project(self.vectors + j * self.row_bytes)
        a = self.share[i]
        # c = c + a (z_j - z_i)
        ball.ww = fmax(
            ball.ww + 2.0 * a * (self.sign[j] * f_j - self.sign[i] * f_i) + a * a * d2, 0.0)
        ball.xi2 = fmax(
            ball.xi2 + a * a * (self.own[j] - self.own[i])
            + 2.0 * a * self.share[j] * self.own[j], 0.0)
        ball.q = fmax(ball.q + a * (self.norm[j] - self.norm[i]), 0.0)
        if not self.lower:
            ball.R += a * sqrt(apart)
        self.share[j] += a
        if i != last:
            memcpy(self.vectors + i * self.row_bytes, self.vectors + last * self.row_bytes,
                   self.row_bytes)
            self.share[i], self.sign[i] = self.share[last], self.sign[last]
            self.norm[i], self.own[i] = self.norm[last], self.own[last]
        self.n_held[0] = last

    # -- after the ball ----------------------------------------------------------------------------

    cdef Status refine(self, const void *x, double y, double weight) noexcept nogil:
        """Learn a sample with the vectors that there are."""
        cdef double f
        if not self.self_kernel(x) <= LARGEST_NORM:
            return NOT_FINITE
        if too_large(1.0 / (self.C * weight)):
            return BAD_WEIGHT
        if self.is_first_of_its_sign(y):
            self.replace_newest(x, y, weight)
            return CHANGED
        self.k_rows(x, self.vectors, self.slots, self.row)
        f = self.f_of_row()
        if self.forgets:
            self.forget(self.error(y, f, weight))
        return self.newton_step(f, y, weight)

    cdef bint is_first_of_its_sign(self, double y) noexcept nogil:
        """Whether all vectors are of the other sign."""
        cdef int64_t j
        for j in range(self.slots):
            if self.sign[j] == y:
                return False
        return True

    cdef void replace_newest(self, const void *x, double y, double weight) noexcept nogil:
        cdef int64_t last = self.slots - 1
        memcpy(self.vectors + last * self.row_bytes, x, self.row_bytes)
        self.sign[last], self.weight[last] = y, weight
        self.start()

    cdef void start(self) noexcept nogil:
        """A = K, and a step for each vector."""
        cdef int64_t j
        for j in range(self.slots):
            self.fill_column(j, self.L + column(j, self.slots))
            self.share[j] = 0.0
        factorise(self.L, self.slots)
        for j in range(self.slots):
            self.k_rows(self.vectors + j * self.row_bytes, self.vectors, self.slots, self.row)
            self.newton_step(self.f_of_row(), self.sign[j], self.weight[j])

    cdef void fill_column(self, int64_t j, double *col) noexcept nogil:
        """Column j of K, from its diagonal on"""
        cdef char *z = self.vectors + j * self.row_bytes
        self.k_rows(z, z, self.slots - j, col)
        col[0] = col[0] * (1.0 + RIDGE) if col[0] > LEAST_NORM else 1.0

    cdef double error(self, double y, double f, double weight) noexcept nogil:
        """1 where f is wrong; less of what weighs less than a sample held, and with balanced
        classes less of the larger one, by its weight"""
        cdef double most = weight
        cdef int64_t j
        if not y * f <= 0.0:
            return 0.0
        if self.balanced:
            return fmin(self.class_weight(y) / self.class_weight(-y), 1.0)
        for j in range(self.n_held[0]):
            most = fmax(most, self.weight[j])
        return weight / most

    cdef void forget(self, double error) noexcept nogil:
        """Age what is held before a sample about which it was wrong or not; a ball does not."""
        cdef double part = weight_left(self.forgetting, self.half_life, THRESHOLD, error)
        if part < 1.0 and self.at_newton():
            self.age(part)

    cdef void age(self, double part) noexcept nogil:
        """A = part A + (1 - part) K"""
        cdef int64_t j, k
        cdef double *col
        multiply_out(self.L, self.slots)
        for j in range(self.slots):
            col = self.L + column(j, self.slots)
            self.fill_column(j, self.gain)
            for k in range(self.slots - j):
                col[k] = part * col[k] + (1.0 - part) * self.gain[k]
            col[0] *= 1.0 + FACTOR_EXISTS
        factorise(self.L, self.slots)

    cdef double f_of_row(self) noexcept nogil:
        """f of the sample of `row`"""
        cdef int64_t j
        cdef double f = 0.0
        for j in range(self.slots):
            f += self.share[j] * self.sign[j] * self.row[j]
        return f

    cdef Status newton_step(self, double f, double y, double weight) noexcept nogil:
        """Learn the sample of `row`."""
        cdef int64_t j
        cdef double penalty = self.C * weight, scale, largest = 0.0
        if not y * f < 1.0:
            return UNCHANGED
        for j in range(self.slots):
            largest = fmax(largest, fabs(self.row[j]))
        if penalty * largest > LARGEST_PENALTY:
            penalty = LARGEST_PENALTY / largest
        scale = sqrt(penalty)
        for j in range(self.slots):
            self.gain[j] = scale * self.row[j]
        add_product(self.L, self.gain, self.slots)
        solve(self.L, self.row, self.slots)
        for j in range(self.slots):
            self.share[j] += penalty * (1.0 - y * f) * y * self.sign[j] * self.row[j]
        return CHANGED

    # -- decisions and snapshots -------------------------------------------------------------------

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        value[0] = self.project(x)
        if self.refuses_to_decide(x) or not isfinite(value[0]):
            return NOT_FINITE
        return UNCHANGED

    cdef int64_t held(self, const char **vectors) noexcept nogil:
        vectors[0] = self.vectors
        return self.n_held[0]

    cdef bint sums_in_dtype(self) noexcept nogil:
        return not self.at_newton()

    cdef bint refuses_to_decide(self, const void *x) noexcept nogil:
        return too_large(self.self_kernel(x))

    cdef int64_t decide_block(
        self, const void *x, const void *squares, int64_t n, double *values
    ) noexcept nogil:
        cdef double[ROWS_BLOCK * ROWS_WIDEST] turned
        cdef double[ROWS_BLOCK * CHUNK] k
        cdef double[CHUNK] coef
        cdef int64_t c, i, begin = 0
        if not self.turn(x, n, turned):
            return 0
        memset(values, 0, ROWS_BLOCK * sizeof(double))
        while begin < self.n_held[0]:
            n = min(<int64_t> CHUNK, self.n_held[0] - begin)
            self.k_block(turned, self.vectors, begin, n, k)
            for i in range(n):
                coef[i] = self.share[begin + i] * self.sign[begin + i]
            rows_block_weigh(coef, k, n, values)
            begin += n
        for c in range(ROWS_BLOCK):
            if not isfinite(values[c]):
                return c
        return ROWS_BLOCK

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = KernelCore.fault(self)
        cdef int64_t i
        if found != NULL:
            return found
        if self.n_held[0] > self.slots - (not self.newton):
            return b"more vectors are stored than there is room for"
        for i in range(self.n_held[0]):
            if fabs(self.sign[i]) != 1.0:
                return b"a vector's label is neither -1 nor +1"
            if not self.fits(i):
                return b"a vector's weight or squared length is out of range"
        return self.fault_of_factor() if self.at_newton() else self.fault_of_shares()

    cdef bint fits(self, int64_t i) noexcept nogil:
        """Whether vector i is of a size that can be learned."""
        cdef double k_ii = self.self_kernel(self.vectors + i * self.row_bytes)
        if self.newton:
            return self.weight[i] > 0.0 and k_ii <= LARGEST_NORM
        return self.own[i] >= 0.0 and not (
            out_of_range(k_ii) or out_of_range(self.norm[i]) or out_of_range(self.own[i]))

    cdef const char *fault_of_shares(self) noexcept nogil:
        cdef int64_t i
        cdef double total = 0.0
        if self.newton:
            for i in range(self.slots * (self.slots + 1) // 2):
                if self.L[i] != 0.0:
                    return b"there are Newton steps before the vectors are complete"
        for i in range(self.n_held[0]):
            if self.share[i] < 0.0:
                return b"a share is negative"
            total += self.share[i]
        if self.n_held[0] and not fabs(total - 1.0) < SHARES_WITHIN:
            return b"the shares do not sum to one"
        return NULL

    cdef const char *fault_of_factor(self) noexcept nogil:
        """A is at least K and its ridge, so no number of L's diagonal is next to nothing, and at
        most C sum_t k(z, z) k(x_t, x_t) more."""
        cdef int64_t j
        cdef const char *z
        cdef double most = 0.0, largest = 1.0, n = self.n_learned() + 1.0, k_jj
        for j in range(self.slots):
            z = self.vectors + j * self.row_bytes
            self.k_rows(z, z, 1, &k_jj)     # as in `fill_column`: in float32 it may be zero
            most += fabs(self.share[j]) * sqrt(k_jj)
            largest = fmax(largest, k_jj)
            if not self.L[column(j, self.slots)] > sqrt(
                    0.1 * FACTOR_EXISTS * (k_jj if k_jj > LEAST_NORM else 1.0)):
                return b"the factor's diagonal is too small"
        if not isfinite(most * LARGEST_NORM):
            return b"a decision value may not be finite"
        # balanced classes weigh a sample up to n times
        largest *= fmax(fmin(self.C * LARGEST_WEIGHT * n, LARGEST_PENALTY), 1.0)
        largest *= 1.0 if self.kernel.kind == RBF else LARGEST_NORM
        for j in range(self.slots * (self.slots + 1) // 2):
            if not self.L[j] * self.L[j] <= largest * n:
                return b"the factor is not that of any samples"
        return NULL
