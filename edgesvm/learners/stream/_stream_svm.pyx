"""StreamSVM, compiled: one pass, one ball, or a few (Rai, Daumé III & Venkatasubramanian 2008).

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

With average=True, decisions use the mean of w after samples i = 1 to n, with weight i (as
Lacoste-Julien, Schmidt & Bach 2012). Between two updates w stands still, so all that is stored is
the mean u over the first s samples:

    v = (1 - b) u + b w,     b = (s+1 + .. + n) / (1 + .. + n) = (n - s) (n + s + 1) / (n (n + 1))

and u = v, s = n just before w changes. Every `NOTED`-th sample is also asked of the last w and of
the mean, before it is learned. Whichever was wrong less often lately (`lapses`) decides: the mean
in a stream without order, the last w in one that drifts.

With n_balls=K or lookahead=L a few balls are stored as well (_balls.pyx), and (w, R) is the ball
around them. Bytes: 64 + D s, s the dtype's size; 24 + D s more for the mean; with M = K+1 or L+1
slots, 8 + M D s + 8 M^2 + 32 M more. Time: O(D) for a sample inside, O(M D + M^2) and a few dozen
steps of O(M) for one outside.
"""

cimport cython
from libc.math cimport fabs, fmax, fmin, isfinite, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.lapses cimport LAST, MEAN, are_shares, mean_decides, note_lapse
from edgesvm.core.linalg cimport BLOCK, approach, axpby, dot, dot_rows, dot_square
from edgesvm.core.linalg cimport dot_square_rows, item_bytes, real
from edgesvm.core.status cimport CHANGED, NOT_FINITE, UNCHANGED, Status
from edgesvm.learners.stream._ball cimport MAX_SQUARE, MAX_STORED_SQUARE, SHARES_WITHIN, Ball, Point
from edgesvm.learners.stream._ball cimport ball_out_of_range, check_point, dual_radius
from edgesvm.learners.stream._ball cimport move_towards, out_of_range, too_large
from edgesvm.learners.stream._balls cimport Balls, centre_square, cheapest_pair, forget
from edgesvm.learners.stream._balls cimport join_pair, solve

import numpy as np

cpdef enum:
    NOTED = 4       # every so many samples are asked of the mean too
    RECENT = 250    # of those, lapses are counted over so many


@cython.final
cdef class StreamSVMCore(LearnerCore):
    """State and step. The public class has checked the parameters."""
    cdef readonly double C
    cdef readonly bint lower, paper_slack, normalize, intercept, flush, by_reach
    cdef readonly int64_t width      # n_features and the constant feature
    cdef Ball *ball
    cdef char *w            # (width,)
    cdef Balls balls        # capacity 0: one ball only
    cdef char *centres      # (capacity, width)
    cdef char *average      # (width,): mean of w over the first n_averaged samples; else NULL
    cdef int64_t *n_averaged
    cdef double *lapses     # (2,), LAST and MEAN; else NULL

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
        self.lapses = <double *> self.array("lapses") if average else NULL
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
            self.note_lapses(x, w, &z)
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
        """Compute z's norms and its product with `w`, reading x once; check that it can be
        learned."""
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
        """Whether z changes nothing: lower, it is inside (w, R); upper, inside one of the stored
        balls."""
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
        """Make (w, R) the ball around all stored balls; if they are full, make room for the
        next."""
        cdef bint full = self.balls.m[0] == self.balls.capacity
        if full and not self.flush and not self.lower:
            if self.by_reach:
                solve(&self.balls, False)
            self.merge_cheapest(centres)
        self.ball.R = solve(&self.balls, self.lower)
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

    cdef void note_lapses(self, const real *x, const real *w, const Point *z) noexcept nogil:
        """Ask z, whose sign is that of its label, of w and of the mean."""
        cdef double last = self.product_of(z.wx, w, z)
        cdef double mean = self.product(x, <const real *> self.average, z)
        cdef double n = min(self.n_learned() / NOTED + 1, RECENT)
        mean += self.pending() * (last - mean)
        note_lapse(self.lapses, LAST, last <= 0.0, n)
        note_lapse(self.lapses, MEAN, mean <= 0.0, n)

    cdef double share_of_last(self) noexcept nogil:
        """The share of w in the weights that decide; the rest is the mean's"""
        if self.average != NULL and not mean_decides(self.lapses):
            return 1.0
        return self.pending()

    # -- another learner's ball --------------------------------------------------------------------

    def absorb(self, StreamSVMCore other, bint flipped):
        """Merge another fitted learner's ball, of the same width and dtype; swap its two labels if
        `flipped`."""
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
            ("average", sign * other.mean_of_w()), ("lapses", other.views["lapses"])
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
        value[0] = z.wz
        if status <= CHANGED:
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
        if fmin(fmin(self.ball.R, self.ball.xi2), fmin(self.ball.ww, self.ball.q)) < 0.0:
            return b"a squared length or radius is negative"
        if ball_out_of_range(self.ball) or self.row_out_of_range(self.w):
            return b"a squared length is too large"
        if self.average != NULL:
            if self.n_averaged[0] > self.n_learned():
                return b"the average is of more samples than were learned"
            if not are_shares(self.lapses, 2):
                return b"a share of lapses is not between 0 and 1"
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
        for i in range(n):
            if fmin(fmin(self.balls.square[i], self.balls.radius[i]), self.balls.share[i]) < 0.0:
                return b"a square, a radius or a share is negative"
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
        """A bound of |c_i| without its own axes; rounded, in float32 too, it is less than twice as
        long."""
        return sqrt(self.balls.square[i]) + (0.0 if self.lower else self.balls.radius[i])

    cdef double row_square(self, const char *row) noexcept nogil:
        if self.is_float32:
            return dot(<const float *> row, <const float *> row, self.width)
        return dot(<const double *> row, <const double *> row, self.width)

    cdef bint row_out_of_range(self, const char *row) noexcept nogil:
        return out_of_range(self.row_square(row))


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
