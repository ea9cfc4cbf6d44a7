"""A regressor of a stream, compiled: what is learned of the target y.

The weights answer f(x) in deviations s from the mean m of the targets, which are running ones, so
the prediction is m + s f(x), limited to the range of the targets. A step moves the weights by the
slope of the loss at the innovation

    e = r - rho r_before,     r = (y - m) / s - f(x),

rho being the correlation of residuals that follow each other (Cochrane & Orcutt 1949). The sample
that follows the last one learned has a second answer, c.(f, (y_before - m) / s, f_before): the
coefficients c are found by recursive least squares that forget, from (1, 0, 0).

Each answer has an interval: a side reaches q times the mean absolute residual, and after each
target q += step (missed - share), so that in the long run the share of the targets beyond it is the
one asked for, whatever the targets do (Gibbs & Candes 2021).

A target counts as at most some deviations away, as a value does in `Standardized`.

Bytes: 240.
"""

from libc.math cimport copysign, fabs, fmax, fmin, isfinite, sqrt
from libc.stdint cimport int64_t

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.status cimport (
    BAD_TARGET, BAD_WEIGHT, CHANGED, NOT_FINITE, UNCHANGED, Status)

cdef double LARGEST_SPREAD, MOST_COEFFICIENT    # of an arena that was read
from edgesvm.learners.regression.constants import LARGEST_SPREAD, MOST_COEFFICIENT

cdef extern from "lanes.h" nogil:
    bint moments_take(
        double *x, double *mean, double *spread, double n, double share, double bound,
        double most) noexcept

cdef double CLIP, FORGETTING, NOISE, MOST_VARIANCE, MOST_RHO, FIRST_HALF, MOST_HALF, STEP
cdef double MOST_SLOPE, LARGEST_TARGET, LARGEST_ERROR, NEAR, FAR, WIDENING
cdef int64_t SETTLED, MEMORY, SCORED_FROM
from edgesvm.core.constants import FAR, LARGEST_TARGET, NEAR, WIDENING
from edgesvm.learners.regression.constants import (
    CLIP, FIRST_HALF, FORGETTING, LARGEST_ERROR, MEMORY, MOST_HALF, MOST_RHO, MOST_SLOPE,
    MOST_VARIANCE, NOISE, NOT_ISSUED, SCORED_FROM, SETTLED, STEP)


cdef class RegressorCore(LearnerCore):
    """The step. The public class has checked the parameters.

    Parameters
    ----------
    loss : Loss
    parameter : float, of the loss
    miss : float, share of the targets beyond each side of an interval
    delay : int, samples that a target comes late
    """

    def __init__(self, *common, loss, parameter, miss, delay):
        super().__init__(*common)
        self.regresses = True
        self.loss, self.parameter, self.miss, self.delay = loss, parameter, miss, delay
        self.innovates = loss != PINBALL
        self.target = <Target *> self.array("target")
        self.far_out = <int64_t *> self.array("far_targets")
        self.coef = <double *> self.array("stack")
        self.covariance = <double *> self.array("covariance")
        self.interval = <Interval *> self.array("interval")
        self.scored = <Scored *> self.array("scored")

    cdef bint overflows(self, const void *x, double weight) noexcept nogil:
        return False

    cdef Status value(self, const void *x, bint keep, double *f) noexcept nogil:
        f[0] = 0.0
        return UNCHANGED

    cdef void move(self, const void *x, double g) noexcept nogil:
        pass

    cdef void wipe(self) noexcept nogil:
        pass

    # -- learning ----------------------------------------------------------------------------------

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef int64_t n = self.n_learned()
        cdef double f, s, plain, ahead, counted = y, g
        if not fabs(y) <= LARGEST_TARGET:
            return BAD_TARGET
        if self.overflows(x, weight):
            return NOT_FINITE if weight == 1.0 else BAD_WEIGHT
        if self.finite_value(x, True, &f) != UNCHANGED:
            self.wipe()
            return NOT_FINITE
        if n == 0:
            self.begin()
        s = self.deviation(n)
        plain = self.within(self.target.mean + s * f)
        ahead = self.within(self.stacked(plain))
        if n > 1:   # the first prediction was of nothing
            self.learn_stack(plain, y)
        self.far_out[0] += self.take(&counted, n + 1)
        self.score(y, counted, plain, ahead)
        s = self.deviation(n + 1)
        g = self.slope(self.innovation((counted - self.target.mean) / s - f))
        self.target.last, self.target.last_value = counted, plain
        if g != 0.0:
            self.move(x, weight * g)
        self.wipe()
        return CHANGED

    cdef void begin(self) noexcept nogil:
        """Numbers that do not begin as zero"""
        cdef int k
        for k in range(2):
            self.interval[k].below = self.interval[k].above = FIRST_HALF
        self.coef[0] = 1.0
        self.unite()

    cdef double slope(self, double e) noexcept nogil:
        """Minus the derivative of the loss by the prediction"""
        if self.loss == HUBER:
            return fmax(-self.parameter, fmin(self.parameter, e))
        if self.loss == SQUARED:
            return fmax(-MOST_SLOPE, fmin(MOST_SLOPE, e))
        if self.loss == EPSILON:
            return copysign(1.0, e) if fabs(e) > self.parameter else 0.0
        if e == 0.0:    # as at the first target, when there is no deviation yet
            return 0.0
        return self.parameter if e > 0.0 else self.parameter - 1.0

    # -- the target --------------------------------------------------------------------------------

    cdef double deviation(self, int64_t n) noexcept nogil:
        """Of n targets; 1 if they have not varied, or by less than a number can say"""
        cdef double variance = self.target.spread / max(n, 1)
        return sqrt(variance) if variance > 0.0 else 1.0

    cdef double within(self, double value) noexcept nogil:
        """A prediction, limited to the range of the targets"""
        if self.n_learned() < SETTLED:
            return value
        return fmin(fmax(value, self.target.least), self.target.most)

    cdef bint take(self, double *y, double n) noexcept nogil:
        """Take the n-th target in, at most as far out as counts, which y becomes; whether it is
        further out"""
        cdef double bound = CLIP * fmin(NEAR + n * WIDENING, FAR)
        cdef bint is_far = moments_take(
            y, &self.target.mean, &self.target.spread, n, 1.0 / n, bound,
            bound * bound / (n - 1.0))
        self.target.least = y[0] if n == 1.0 else fmin(self.target.least, y[0])
        self.target.most = y[0] if n == 1.0 else fmax(self.target.most, y[0])
        return is_far

    cdef double innovation(self, double r) noexcept nogil:
        """What the residual before did not say of this one"""
        cdef double before = self.target.residual, rho = 0.0
        if not self.innovates:
            return r
        self.target.squares = FORGETTING * self.target.squares + before * before
        self.target.products = FORGETTING * self.target.products + before * r
        self.target.residual = r
        if self.n_learned() >= SETTLED and self.target.squares > 0.0:
            rho = fmin(fmax(self.target.products / self.target.squares, 0.0), MOST_RHO)
        return r - rho * before

    # -- the stack ---------------------------------------------------------------------------------

    cdef bint is_followed(self) noexcept nogil:
        """Whether the target of a sample is known when the next one is predicted"""
        return self.delay == 0 and self.loss != PINBALL

    cdef void unite(self) noexcept nogil:
        """The covariance, as it is at first"""
        cdef int c
        for c in range(STACK * STACK):
            self.covariance[c] = c % (STACK + 1) == 0

    cdef double stack_features(self, double plain, double *z) noexcept nogil:
        """The deviation of the targets, which they are in"""
        cdef double s = self.deviation(max(self.n_learned(), 1))
        z[0] = (plain - self.target.mean) / s
        z[1] = (self.target.last - self.target.mean) / s
        z[2] = (self.target.last_value - self.target.mean) / s
        return s

    cdef double stacked(self, double plain) noexcept nogil:
        """The answer to the sample that follows the last one; `plain` is that to any"""
        cdef double[STACK] z
        cdef double s, sum = 0.0
        cdef int c
        if self.n_learned() < SETTLED or not self.is_followed():
            return plain
        s = self.stack_features(plain, z)
        for c in range(STACK):
            sum += self.coef[c] * z[c]
        return self.target.mean + s * sum

    cdef void learn_stack(self, double plain, double y) noexcept nogil:
        """Recursive least squares towards y in deviations"""
        cdef double[STACK] z
        cdef double[STACK] gain
        cdef double all = NOISE * FORGETTING, error
        cdef int c, d
        error = (y - self.target.mean) / self.stack_features(plain, z)
        for c in range(STACK):
            gain[c] = 0.0
            for d in range(STACK):
                gain[c] += self.covariance[c * STACK + d] * z[d]
            all += gain[c] * z[c]
            error -= self.coef[c] * z[c]
        if not all >= NOISE * FORGETTING or not isfinite(all):  # lost to rounding
            self.unite()
            return
        error = fmax(-1.0, fmin(1.0, error))
        for c in range(STACK):
            self.coef[c] += gain[c] / all * error
            for d in range(c + 1):
                self.covariance[c * STACK + d] -= gain[c] * gain[d] / all
                self.covariance[c * STACK + d] /= FORGETTING
                self.covariance[d * STACK + c] = self.covariance[c * STACK + d]
        self.limit_variances()

    cdef void limit_variances(self) noexcept nogil:
        cdef double shrink
        cdef int c, d
        for c in range(STACK):
            if not self.covariance[c * (STACK + 1)] >= 0.0:     # lost to rounding
                self.unite()
                return
            if self.covariance[c * STACK + c] > MOST_VARIANCE:
                shrink = sqrt(MOST_VARIANCE / self.covariance[c * STACK + c])
                for d in range(STACK):
                    self.covariance[c * STACK + d] *= shrink
                    self.covariance[d * STACK + c] *= shrink

    # -- the interval ------------------------------------------------------------------------------

    cdef void score(self, double y, double counted, double plain, double ahead) noexcept nogil:
        cdef bint covered = self.track(PLAIN, y, counted, plain)
        if self.is_followed():
            covered = self.track(STACKED, y, counted, ahead)
        if self.n_learned() >= SCORED_FROM:
            self.scored.n += 1
            self.scored.covered += covered

    cdef bint track(self, int which, double y, double counted, double said) noexcept nogil:
        """Move the sides by whether the target was beyond them; whether it was within both"""
        cdef Interval *of = &self.interval[which]
        cdef double step = STEP / (1.0 + <double> self.delay / MEMORY)
        cdef double n = self.n_learned(), memory = MEMORY + 10 * self.delay
        cdef double[3] issued
        cdef bint above, below
        issued[0] = said
        self.ends(which, said, issued + 1)
        if self.is_late:
            issued = self.issued
        below, above = y < issued[1], y > issued[2]
        if n >= SCORED_FROM:
            of.above = fmin(fmax(of.above + step * (above - self.miss), 0.0), MOST_HALF)
            of.below = fmin(fmax(of.below + step * (below - self.miss), 0.0), MOST_HALF)
        of.size += (fabs(counted - issued[0]) - of.size) / fmin(n + 1.0, memory)
        return not (above or below)

    cdef void ends(self, int which, double value, double *out) noexcept nogil:
        cdef Interval *of = &self.interval[which]
        out[0] = value - of.below * of.size
        out[1] = value + of.above * of.size

    # -- answers -----------------------------------------------------------------------------------

    cdef Status finite_value(self, const void *x, bint keep, double *f) noexcept nogil:
        cdef Status status = self.value(x, keep, f)
        return status if isfinite(f[0]) else NOT_FINITE

    cdef Status decide(self, const void *x, double *value) noexcept nogil:
        cdef double f
        cdef Status status = self.finite_value(x, False, &f)
        value[0] = self.within(self.target.mean + self.deviation(max(self.n_learned(), 1)) * f)
        return status

    cdef Status probabilities(self, const void *x, double *out) noexcept nogil:
        cdef double value
        cdef Status status = self.decide(x, &value)
        self.ends(PLAIN, value, out)
        return status

    cdef Status forecast(self, const void *x, double *out) noexcept nogil:
        cdef double plain
        cdef Status status = self.decide(x, &plain)
        out[0] = self.within(self.stacked(plain))
        self.ends(STACKED if self.is_followed() else PLAIN, out[0], out + 1)
        return status

    def was_issued(self, said):
        """What `forecast_one` said of the sample that is learned next, whose target comes late;
        None: it is not late"""
        cdef double value, low, high
        self.is_late = False
        if said is None:
            return
        try:
            value, low, high = said
        except (TypeError, ValueError) as error:
            raise ValueError(NOT_ISSUED.format(self.owner, said)) from error
        if not (isfinite(value) and isfinite(low) and isfinite(high)):
            raise ValueError(NOT_ISSUED.format(self.owner, said))
        self.issued[0], self.issued[1], self.issued[2] = value, low, high
        self.is_late = True

    # -- arenas that were read ---------------------------------------------------------------------

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = LearnerCore.fault(self)
        cdef int64_t n = self.n_learned()
        cdef int k
        if found != NULL:
            return found
        for k in range(STACK):
            if not fabs(self.coef[k]) <= MOST_COEFFICIENT:
                return b"a coefficient of the stack is too large"
        if self.target.spread > LARGEST_SPREAD:
            return b"the spread of the targets is too large"
        if self.target.spread < 0.0 or self.target.squares < 0.0:
            return b"a sum of squares is negative"
        if self.target.least > self.target.most:
            return b"the range of the targets is empty"
        if not (fabs(self.target.mean) <= LARGEST_TARGET
                and fabs(self.target.last) <= LARGEST_TARGET
                and fabs(self.target.least) <= LARGEST_TARGET
                and fabs(self.target.most) <= LARGEST_TARGET):
            return b"a target is too large"
        if self.scored.n > n or self.scored.covered > self.scored.n or self.far_out[0] > n:
            return b"the snapshot's counters are inconsistent"
        if not fabs(self.target.residual) <= LARGEST_ERROR:
            return b"a residual is too large"
        for k in range(2):
            if not (0.0 <= self.interval[k].size <= LARGEST_ERROR
                    and 0.0 <= self.interval[k].below <= MOST_HALF
                    and 0.0 <= self.interval[k].above <= MOST_HALF):
                return b"an interval is out of range"
        for k in range(STACK):
            if not 0.0 <= self.covariance[k * (STACK + 1)] <= 2.0 * MOST_VARIANCE:
                return b"a variance is out of range"
        return NULL
