"""StreamSVM, compiled: one pass, one ball, or a few (Rai, Daumé III & Venkatasubramanian 2008).

An example (x, y) is the point z = (y x, e/sqrt(C)), e an axis of its own; the l2-SVM's w is the
x-part of the centre of the smallest ball around all points. The ball is kept by w, xi2 = the
centre's squared length in the own axes, and its radius R. A new point's own axis is orthogonal to
all that went before, so

    d^2 = |w|^2 - 2 y w.x + |x|^2 + xi2 + 1/C

Outside (d > R), the centre moves the part gamma of the way towards it:

    w = (1 - gamma) w + gamma y x,     xi2 = (1 - gamma)^2 xi2 + gamma^2 / C

bound="upper" (the paper): gamma = (1 - R/d)/2, R = (R + d)/2; the ball encloses all it saw, R <=
3/2 R*. bound="lower": gamma = (1 - R^2/d^2)/2, the exact step on the dual V = q - |c|^2, where q is
the mean squared norm of the points in c; R = sqrt(V) <= R* never falls. Same bytes but one number;
it goes on learning when the other has grown too large to.

With n_balls=K or lookahead=L a few balls are kept beside (_balls.pyx) and (w, R) is the ball around
them. Bytes: 64 + D s, s the dtype's size; with M = K+1 or L+1 slots, 8 + M D s + 8 M^2 + 32 M more.
O(D) a sample that lies inside, O(M D + M^2) and a few dozen steps of O(M) for one that does not.
"""

cimport cython
from libc.math cimport fmax, isfinite, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.linalg cimport axpby, dot, dot_square, real
from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, Status
from edgesvm.learners.stream._ball cimport SHARES_WITHIN, Ball, Point, advance, dual_radius
from edgesvm.learners.stream._ball cimport judge, unheard_of, unheard_of_ball
from edgesvm.learners.stream._balls cimport Balls, centre_square, closest_pair, forget, join, solve

from edgesvm.errors import CorruptModelError


@cython.final
cdef class StreamSVMCore(LearnerCore):
    """State and step. The public class has checked the parameters."""
    cdef double C
    cdef bint lower, paper_slack, normalize, intercept, flush
    cdef int64_t width      # n_features and the constant feature
    cdef Ball *ball
    cdef char *w            # (width,)
    cdef Balls balls        # capacity 0: one ball only
    cdef char *centres      # (capacity, width)

    def __init__(self, *common, C, slack, bound, normalize, fit_intercept, lookahead):
        super().__init__(*common)
        self.C = C
        self.paper_slack = slack == "paper"
        self.lower = bound == "lower"
        self.normalize = normalize
        self.intercept = fit_intercept
        self.flush = lookahead > 0
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

    # -- one sample --------------------------------------------------------------------------------

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        if self.is_float32:
            return self.step_typed(<const float *> x, <float *> self.w, y, weight)
        return self.step_typed(<const double *> x, <double *> self.w, y, weight)

    cdef Status step_typed(self, const real *x, real *w, double y, double weight) noexcept nogil:
        cdef Point z
        cdef Status status
        cdef real *tested = w
        # An upper ball around several is solved anew with each sample, so only what stays put may
        # judge "inside".
        if self.balls.capacity and not self.lower:
            tested = <real *> self.centres
        status = self.measure(x, tested, y, weight, &z)
        if status > CHANGED:
            return status
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
        """z's norms and its product with `w`, x read once; whether it may be taken in."""
        cdef real xw, xx
        cdef double norm_square
        dot_square(x, w, self.n_features, &xw, &xx)
        if not isfinite(xx):
            return NOT_FINITE
        norm_square = xx
        z.scale = y
        if self.intercept:
            xw += w[self.n_features]
            norm_square += 1.0
        if self.normalize and norm_square > 0.0:  # a row of zeros stays as it is
            z.scale = y / sqrt(norm_square)
            norm_square = 1.0
        z.wz = z.scale * xw
        z.constant = z.scale if self.intercept else 0.0
        z.square = norm_square + 1.0 / self.C
        z.xi2 = 1.0 / weight if self.paper_slack else 1.0 / (self.C * weight)
        z.zz = norm_square + z.xi2
        z.off = 0.0 if self.paper_slack else z.square - z.zz
        z.R = 0.0
        return judge(z)

    cdef Status take(self, const real *x, real *w, const Point *z) noexcept nogil:
        """The one ball moves to take z in."""
        cdef double gamma = 1.0
        if self.n_learned() == 0:
            self.ball.R, self.ball.xi2, self.ball.q = z.R + sqrt(fmax(z.off, 0.0)), z.xi2, z.square
        else:
            gamma = advance(self.ball, z, self.lower)
            if gamma == 0.0:
                return UNCHANGED
        # w = (1 - gamma) w + gamma z
        axpby(<real> (gamma * z.scale), x, <real> (1.0 - gamma), w, self.n_features)
        if self.intercept:
            w[self.n_features] = <real> ((1.0 - gamma) * w[self.n_features] + gamma * z.constant)
        self.ball.ww = dot(w, w, self.width)
        if self.lower:
            self.ball.R = dual_radius(self.ball)
        return CHANGED

    # -- several balls -----------------------------------------------------------------------------

    cdef bint inside(self, const real *x, const real *centres, Point *z) noexcept nogil:
        """Whether z needs no change: lower, inside (w, R); upper, inside one of the balls held."""
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
        cdef double value = z.scale * dot(x, centre, self.n_features)
        if self.intercept:
            value += z.constant * centre[self.n_features]
        return value

    cdef void hold(self, const real *x, real *centres, const Point *z) noexcept nogil:
        """z becomes one more ball."""
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
        """(w, R) becomes the ball around all held, which are made fewer when there is no room for
        another."""
        cdef bint full = self.balls.m[0] == self.balls.capacity
        if full and not self.flush and not self.lower:
            self.merge_closest(centres)
        self.ball.R = solve(&self.balls, self.lower)
        self.set_centre(centres, w)
        if full and self.flush:
            self.collapse(centres, w)
        elif full and self.lower:
            self.merge_closest(centres)

    cdef void set_centre(self, const real *centres, real *w) noexcept nogil:
        """c = sum a_i c_i and its numbers"""
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
        """All balls held become the one around them."""
        cdef double cc = self.ball.ww + self.ball.xi2
        memcpy(centres, w, self.width * sizeof(real))
        self.balls.m[0] = 1
        self.balls.gram[0] = cc
        self.balls.square[0] = self.ball.q if self.lower else cc
        self.balls.radius[0] = 0.0 if self.lower else self.ball.R
        self.balls.share[0] = 1.0

    cdef void merge_closest(self, real *centres) noexcept nogil:
        """The two balls that cost least to join become one."""
        cdef int64_t i, j, last
        cdef double t
        closest_pair(&self.balls, self.lower, &i, &j)
        t = join(&self.balls, i, j, self.lower)
        axpby(
            <real> t, centres + j * self.width,
            <real> (1.0 - t), centres + i * self.width, self.width)
        last = self.balls.m[0] - 1
        if j != last:
            memcpy(centres + j * self.width, centres + last * self.width, self.width * sizeof(real))
        forget(&self.balls, j)

    # -- another learner's ball --------------------------------------------------------------------

    def absorb(self, StreamSVMCore other, bint flipped):
        """Take in another fitted learner's ball of the same width and dtype, its two labels
        swapped where `flipped`."""
        cdef double sign = -1.0 if flipped else 1.0
        if self.is_float32:
            self.absorb_typed(<float *> self.w, <const float *> other.w, other, sign)
        else:
            self.absorb_typed(<double *> self.w, <const double *> other.w, other, sign)
        self.common.n_seen += other.common.n_seen
        self.common.n_updates += other.common.n_updates
        self.n_per_class[0] += other.n_per_class[1 if flipped else 0]
        self.n_per_class[1] += other.n_per_class[0 if flipped else 1]

    cdef void absorb_typed(self, real *w, const real *v, StreamSVMCore other, double sign) noexcept:
        cdef Point z
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

    # -- decisions ---------------------------------------------------------------------------------

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        if self.is_float32:
            return self.decide_typed(<const float *> x, <const float *> self.w, value)
        return self.decide_typed(<const double *> x, <const double *> self.w, value)

    cdef Status decide_typed(self, const real *x, const real *w, double *value) noexcept nogil:
        """w.x, x normalised and with the constant feature as in learning"""
        cdef Point z
        cdef Status status = self.measure(x, w, 1.0, 1.0, &z)
        value[0] = z.wz
        return status

    def check(self):
        super().check()
        held = self.views["n_held"] if self.balls.capacity else 0
        if not 0 <= held < max(self.balls.capacity, 1):
            raise CorruptModelError(
                f"{held} balls are held where there is room for {self.balls.capacity}")
        if min(self.ball.R, self.ball.xi2, self.ball.ww, self.ball.q) < 0.0:
            raise CorruptModelError("a squared length or radius is negative")
        if self.balls.capacity:
            self.check_balls(held)
        if self.has_unheard_of(held):
            raise CorruptModelError("a squared length is too large to be added up")

    def check_balls(self, held):
        """Squares, radii and shares of those held, from a file"""
        share = self.views["share"][:held]
        if min(self.views[name].min() for name in ("square", "radius", "share")) < 0.0:
            raise CorruptModelError("a square, a radius or a share is negative")
        if held and not abs(share.sum() - 1.0) < SHARES_WITHIN:
            raise CorruptModelError("the shares do not sum to one")

    cdef bint has_unheard_of(self, int64_t held) noexcept nogil:
        """Whether a length from a file is one that no stream of samples leads to"""
        cdef int64_t i, j, n = self.balls.capacity
        cdef int64_t n_bytes = self.width * (sizeof(float) if self.is_float32 else sizeof(double))
        cdef bint found = unheard_of_ball(self.ball) or self.unheard_of_row(self.w)
        for i in range(held):
            found |= self.unheard_of_row(self.centres + i * n_bytes)
            found |= unheard_of(self.balls.square[i])
            found |= unheard_of(self.balls.radius[i] * self.balls.radius[i])
            for j in range(held):
                found |= unheard_of(self.balls.gram[i * n + j])
        return found

    cdef bint unheard_of_row(self, const char *row) noexcept nogil:
        if self.is_float32:
            return not isfinite(dot(<const float *> row, <const float *> row, self.width))
        return unheard_of(dot(<const double *> row, <const double *> row, self.width))
