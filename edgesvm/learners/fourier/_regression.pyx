"""Regressors of a stream, compiled: what is learned of the target y, and three kinds of weights.
Steps, forecast and interval are as `FourierSVR` says.

The features of FourierSVR are those of `_fourier.pyx`; what the features of width k had in the
value times the slope, c_k = g w_k.f_k, moves the amplitudes.

FourierRLS keeps the covariance P of the weights as U D U', U with a unit diagonal; its columns lie
one behind the other (Bierman 1976):

    v = U'f,   P <- (P - P f f'P / a) / forgetting,   w += P f g / a,   a = noise + f'P f
"""

cimport cython
from libc.math cimport copysign, fabs, fmax, fmin, isfinite, sqrt
from libc.stdint cimport int16_t, int64_t
from libc.string cimport memcpy, memset

from edgesvm.contract.core cimport LearnerCore
from edgesvm.core.linalg cimport any_dot, entry, item_bytes, put
from edgesvm.core.status cimport (
    BAD_TARGET, BAD_WEIGHT, CHANGED, NOT_FINITE, UNCHANGED, Status)
from edgesvm.learners.fourier._fourier cimport (
    BLOCK,
    GROUPS,
    OF_X,
    WIDTHS,
    Directions,
    add_dots_of_widths,
    amplitudes_of,
    angles_from,
    directions_of,
    find_amplitudes,
    find_angles,
    find_features,
    forget_angles,
    learn_amplitudes,
)

cdef extern from "lanes.h" nogil:      # f32: whether the arrays are float32
    bint moments_take(
        double *x, double *mean, double *spread, double n, double share, double bound,
        double most) noexcept
    void step_diagonal(
        bint f32, void *w, void *squares, const void *f, double g, double rate, int64_t n
    ) noexcept
    void bierman_column(bint f32, void *u, void *b, double less, double more, int64_t n) noexcept

cdef double CLIP, FORGETTING, NOISE, MOST_VARIANCE, MOST_RHO, FIRST_HALF, MOST_HALF, STEP
cdef double MOST_SLOPE, LARGEST_TARGET, NEAR, FAR, WIDENING
cdef double LARGEST_SQUARE, LEAST_VARIANCE, MOST_COVARIANCE, RLS_NOISE
cdef int64_t SETTLED, MEMORY, SCORED_FROM
from edgesvm.core.constants import FAR, LARGEST_TARGET, NEAR, WIDENING
from edgesvm.learners.fourier.constants import (
    CLIP,
    FIRST_AMPLITUDES,
    FIRST_HALF,
    FORGETTING,
    LARGEST_SQUARE,
    LEAST_VARIANCE,
    MEMORY,
    MOST_COVARIANCE,
    MOST_HALF,
    MOST_RHO,
    MOST_SLOPE,
    MOST_VARIANCE,
    NOISE,
    NOT_ISSUED,
    RLS_NOISE,
    SCORED_FROM,
    SETTLED,
    STEP,
)

cdef enum:
    PLAIN       # the answer to any sample
    STACKED     # the answer to the sample that follows the last one learned
    MOST_STACK = 5  # features of the stack; 3 without changes

cdef enum Loss:
    HUBER
    EPSILON
    SQUARED
    PINBALL

cdef struct Target:
    double mean             # of the targets
    double spread           # sum of their squared deviations
    double least            # the range of the targets
    double most
    double last             # target of the last sample learned
    double last_value       # what was predicted for it, without the stack
    double residual         # its residual, in deviations
    double squares          # discounted sums, of squared residuals
    double products         # and of products of two that follow each other
    double before           # target of the sample before the last; with changes alone

cdef struct Interval:
    double size             # mean absolute residual of about the last samples
    double below            # the sides, in sizes
    double above

cdef struct Scored:
    int64_t n               # samples whose interval was scored
    int64_t covered         # and held the target

LOSSES = ("huber", "epsilon", "squared", "pinball")      # by number


cdef class RegressorCore(LearnerCore):
    """The step. A subclass overrides the four methods that follow."""
    cdef readonly int loss          # a Loss
    cdef readonly double parameter  # of the loss
    cdef readonly double miss       # share of the targets that may lie beyond each side
    cdef readonly bint innovates    # whether it learns what residuals before do not tell
    cdef readonly int64_t delay     # samples that a target comes late
    cdef readonly bint is_late      # whether `issued` was said of the sample at hand when it came
    cdef double[3] issued
    cdef Target *target
    cdef int64_t *far_out           # samples whose target was far out
    cdef readonly int n_stack
    cdef double *coef               # (n_stack,)
    cdef double *covariance         # (n_stack, n_stack)
    cdef char *before               # (n_features,): the last sample learned; NULL: without changes
    cdef char *change               # (n_features,): v, of the changes since
    cdef char *doubt                # (n_features,): variance of each v
    cdef Interval *interval         # (2,): of PLAIN and STACKED
    cdef Scored *scored

    def __init__(self, *common, loss, coverage, label_delay, epsilon=0.1, quantile=0.5):
        super().__init__(*common)
        self.regresses = True
        self.loss = LOSSES.index(loss)
        self.parameter = (1.0, epsilon, 0.0, quantile)[self.loss]
        self.miss, self.delay = (1.0 - coverage) / 2.0, label_delay
        self.innovates = self.loss != PINBALL
        self.target = <Target *> self.array("target")
        self.far_out = <int64_t *> self.array("far_targets")
        self.coef = <double *> self.array("stack")
        self.covariance = <double *> self.array("covariance")
        self.n_stack = len(self.views["stack"])
        self.before = self.array("before") if "before" in self.views else NULL
        self.change = self.array("change") if "change" in self.views else NULL
        self.doubt = self.array("doubt") if "doubt" in self.views else NULL
        self.interval = <Interval *> self.array("interval")
        self.scored = <Scored *> self.array("scored")

    cdef bint overflows(self, const void *x, double weight) noexcept nogil:
        """Whether x or the slopes of a sample of this weight overflow."""
        return False

    cdef Status value(self, const void *x, bint keep, double *f) noexcept nogil:
        """Of x in deviations from the mean; with `keep` it may leave scratch for `move`."""
        f[0] = 0.0
        return UNCHANGED

    cdef void move(self, const void *x, double g) noexcept nogil:
        """Move the weights by the slope g, in which the sample's weight is."""

    cdef void wipe(self) noexcept nogil:
        """Zero the scratch."""

    # -- learning ----------------------------------------------------------------------------------

    cdef Status step(self, const void *x, double y, double weight) noexcept nogil:
        cdef int64_t n = self.n_learned()
        cdef double f, s, plain, ahead, counted = y, g
        cdef double[MOST_STACK] z
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
        self.fill_stack(x, plain, z)
        ahead = self.within(self.stacked(plain, z))
        if n > 1:   # the first prediction was of nothing
            self.learn_stack(x, z, y)
        self.far_out[0] += self.take(&counted, n + 1)
        self.score(y, counted, plain, ahead)
        s = self.deviation(n + 1)
        g = weight * self.slope(self.innovation((counted - self.target.mean) / s - f))
        if self.change != NULL:
            self.target.before = self.target.last
            memcpy(self.before, x, self.n_features * item_bytes(self.is_float32))
        self.target.last, self.target.last_value = counted, plain
        if g != 0.0:
            self.move(x, g)
        self.wipe()
        return CHANGED

    cdef Status pass_over(self, const void *x, double y) noexcept nogil:
        """All but the weights learn: the target is known all the same."""
        return self.step(x, y, 0.0)

    cdef void begin(self) noexcept nogil:
        """Numbers that do not begin as zero"""
        cdef int64_t k
        for k in range(2):
            self.interval[k].below = self.interval[k].above = FIRST_HALF
        self.coef[0] = 1.0
        if self.change != NULL:
            self.coef[MOST_STACK - 1] = 1.0
            for k in range(self.n_features):
                put(self.is_float32, self.doubt, k, 1.0)
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
        """Take the n-th target in, as far out as counts, which y becomes; whether it is further"""
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
        for c in range(self.n_stack * self.n_stack):
            self.covariance[c] = c % (self.n_stack + 1) == 0

    cdef void fill_stack(self, const void *x, double plain, double *z) noexcept nogil:
        """The features of the stack, in deviations of the targets"""
        cdef double s = self.deviation(max(self.n_learned(), 1))
        cdef int64_t j
        z[0] = (plain - self.target.mean) / s
        z[1] = (self.target.last - self.target.mean) / s
        z[2] = (self.target.last_value - self.target.mean) / s
        if self.change != NULL:
            z[3] = (self.target.before - self.target.mean) / s
            z[4] = 0.0
            for j in range(self.n_features):    # v.(x - before)
                z[4] += entry(self.is_float32, self.change, j) * self.change_of(x, j)

    cdef double stacked(self, double plain, const double *z) noexcept nogil:
        """The answer to the sample that follows the last one; `plain` is that to any"""
        cdef double sum = 0.0
        cdef int c
        if self.n_learned() < SETTLED or not self.is_followed():
            return plain
        for c in range(self.n_stack):
            sum += self.coef[c] * z[c]
        return self.target.mean + self.deviation(self.n_learned()) * sum

    cdef void learn_stack(self, const void *x, const double *z, double y) noexcept nogil:
        """Recursive least squares towards y in deviations"""
        cdef double[MOST_STACK] gain
        cdef double all = NOISE * FORGETTING, error
        cdef double *P = self.covariance
        cdef int c, d, n = self.n_stack
        error = (y - self.target.mean) / self.deviation(self.n_learned())
        for c in range(n):
            gain[c] = 0.0
            for d in range(n):
                gain[c] += P[c * n + d] * z[d]
            all += gain[c] * z[c]
            error -= self.coef[c] * z[c]
        if not all >= NOISE * FORGETTING or not isfinite(all):  # lost to rounding
            self.unite()
            return
        if self.change != NULL:     # as if the stack took them in full
            self.learn_changes(x, error + (self.coef[4] - 1.0) * z[4])
        error = fmax(-1.0, fmin(1.0, error))
        for c in range(n):
            self.coef[c] += gain[c] / all * error
            for d in range(c + 1):
                P[c * n + d] -= gain[c] * gain[d] / all
                P[c * n + d] /= FORGETTING
                P[d * n + c] = P[c * n + d]
        self.limit_variances()

    cdef void limit_variances(self) noexcept nogil:
        cdef double shrink
        cdef double *P = self.covariance
        cdef int c, d, n = self.n_stack
        for c in range(n):
            if not P[c * (n + 1)] >= 0.0:     # lost to rounding
                self.unite()
                return
            if P[c * n + c] > MOST_VARIANCE:
                shrink = sqrt(MOST_VARIANCE / P[c * n + c])
                for d in range(n):
                    P[c * n + d] *= shrink
                    P[d * n + c] *= shrink

    # -- changes of the features -------------------------------------------------------------------

    cdef double change_of(self, const void *x, int64_t j) noexcept nogil:
        return entry(self.is_float32, x, j) - entry(self.is_float32, self.before, j)

    cdef void learn_changes(self, const void *x, double error) noexcept nogil:
        """Recursive least squares of v, whose covariance is taken to be diagonal"""
        cdef double all = NOISE * FORGETTING, z, variance, gain
        cdef int64_t j
        for j in range(self.n_features):
            z = self.change_of(x, j)
            all += entry(self.is_float32, self.doubt, j) * z * z
        error = fmax(-1.0, fmin(1.0, error)) / all
        for j in range(self.n_features):
            z, variance = self.change_of(x, j), entry(self.is_float32, self.doubt, j)
            gain = variance * z
            put(self.is_float32, self.change, j,
                entry(self.is_float32, self.change, j) + gain * error)
            put(self.is_float32, self.doubt, j,
                fmin((variance - gain * gain / all) / FORGETTING, MOST_VARIANCE))

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
        cdef double[MOST_STACK] z
        cdef double plain
        cdef Status status = self.decide(x, &plain)
        self.fill_stack(x, plain, z)
        out[0] = self.within(self.stacked(plain, z))
        self.ends(STACKED if self.is_followed() else PLAIN, out[0], out + 1)
        return status

    def was_issued(self, said):
        """What `forecast_one` said of the sample learned next; None: it is not late"""
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
        if found != NULL:
            return found
        if self.target.least > self.target.most:
            return b"the range of the targets is empty"
        if self.scored.n > n or self.scored.covered > self.scored.n or self.far_out[0] > n:
            return b"the snapshot's counters are inconsistent"
        return NULL


cdef class AdaGradSVRCore(RegressorCore):
    cdef readonly double rate
    cdef readonly int64_t width     # W
    cdef readonly int64_t n_ahead   # features ahead of x: W - n_features - 1
    cdef char *w            # (W,)
    cdef char *squares      # (W,)

    def __init__(self, *common, learning_rate, **params):
        super().__init__(*common, **params)
        self.width = len(self.views["w"])
        self.rate = learning_rate / sqrt(self.width)
        self.n_ahead = self.width - self.n_features - 1
        self.w = self.array("w")
        self.squares = self.array("squares")

    cdef int64_t bytes_of(self, int64_t n) noexcept nogil:
        return n * item_bytes(self.is_float32)

    cdef bint overflows(self, const void *x, double weight) noexcept nogil:
        cdef double most = weight * MOST_SLOPE
        cdef double square = most * most * (any_dot(self.is_float32, x, x, self.n_features) + 1.0)
        return not square <= LARGEST_SQUARE

    cdef Status value(self, const void *x, bint keep, double *f) noexcept nogil:
        """What x and 1 have in the value"""
        cdef const char *w = self.w + self.bytes_of(self.n_ahead)
        f[0] = any_dot(self.is_float32, w, x, self.n_features) + entry(
            self.is_float32, w, self.n_features)
        if not isfinite(any_dot(self.is_float32, x, x, self.n_features)):
            return NOT_FINITE
        return UNCHANGED

    cdef void move_along(self, int64_t at, const void *f, int64_t n, double g) noexcept nogil:
        """Move the weights of n features from `at` on"""
        cdef int64_t first = self.bytes_of(at)
        step_diagonal(
            self.is_float32, self.w + first, self.squares + first, f, g, self.rate, n)

    cdef void move(self, const void *x, double g) noexcept nogil:
        cdef double one = 1.0
        cdef float one_f = 1.0
        self.move_along(self.n_ahead, x, self.n_features, g)
        self.move_along(
            self.n_ahead + self.n_features,
            <const void *> &one_f if self.is_float32 else &one, 1, g)


@cython.final
cdef class FourierSVRCore(AdaGradSVRCore):
    cdef Directions directions

    def __init__(self, *common, key, scales, **params):
        super().__init__(*common, **params)
        self.directions = directions_of(self, key, scales, len(self.views["angle"]))

    cdef bint decides_alone(self) noexcept nogil:
        return self.directions.n_mixed > 0

    cdef Status value(self, const void *x, bint keep, double *f) noexcept nogil:
        """Of a sample that is learned it leaves the angles."""
        cdef double[2 * BLOCK] wave
        cdef double[GROUPS] amplitude
        cdef int16_t[BLOCK] place
        cdef const int16_t *angle
        cdef int64_t p = 0, n
        cdef Status status = AdaGradSVRCore.value(self, x, keep, f)
        find_amplitudes(&self.directions, amplitude)
        f[0] *= amplitude[OF_X]
        if keep:
            find_angles(&self.directions, x)
        while p < self.directions.n:
            n = min(BLOCK, self.directions.n - p)
            if keep:
                angle = self.directions.angle + p
            else:
                angle = angles_from(&self.directions, x, p, n, place)
            find_features(&self.directions, angle, n, amplitude, wave)
            f[0] += any_dot(self.is_float32, self.w + self.bytes_of(2 * p), wave, 2 * n)
            p += n
        if not keep and self.directions.n_mixed > 0:
            forget_angles(&self.directions)
        return status

    cdef void move(self, const void *x, double g) noexcept nogil:
        cdef double[2 * BLOCK] wave
        cdef double[GROUPS] amplitude
        cdef double[GROUPS] c
        cdef int64_t p = 0, n
        memset(c, 0, sizeof(c))
        find_amplitudes(&self.directions, amplitude)
        AdaGradSVRCore.value(self, x, True, &c[OF_X])
        c[OF_X] *= g * amplitude[OF_X]
        while p < self.directions.n:
            n = min(BLOCK, self.directions.n - p)
            find_features(&self.directions, self.directions.angle + p, n, amplitude, wave)
            if self.directions.tilt != NULL:
                add_dots_of_widths(
                    &self.directions, self.w + self.bytes_of(2 * p), wave, n, g, c)
            self.move_along(2 * p, wave, 2 * n, g)
            p += n
        AdaGradSVRCore.move(self, x, g * amplitude[OF_X])
        if self.directions.tilt != NULL:
            learn_amplitudes(&self.directions, c)

    cdef void wipe(self) noexcept nogil:
        forget_angles(&self.directions)

    @property
    def amplitudes(self):
        """a_k of the four widths and of x, ndarray of shape (5,)"""
        return amplitudes_of(&self.directions)


@cython.final
cdef class FourierRLSCore(RegressorCore):
    cdef Directions directions
    cdef readonly double forgetting
    cdef readonly double noise
    cdef readonly int64_t width     # W
    cdef double[WIDTHS] first       # amplitudes of the widths before the first sample
    cdef char *w            # (W,)
    cdef char *upper        # (W (W - 1) / 2,): U above its diagonal
    cdef char *variance     # (W,): D
    cdef char *features     # (W,): TMP
    cdef char *gain         # (W,): TMP

    def __init__(self, *common, key, scales, forgetting, **params):
        super().__init__(*common, **params)
        self.innovates = False
        self.forgetting, self.noise = forgetting, RLS_NOISE
        self.directions = directions_of(self, key, scales, len(self.views["angle"]))
        self.first = FIRST_AMPLITUDES
        self.width = len(self.views["w"])
        self.w, self.upper = self.array("w"), self.array("upper")
        self.variance = self.array("variance")
        self.features, self.gain = self.array("features"), self.array("scratch")

    cdef bint decides_alone(self) noexcept nogil:
        return True

    cdef bint overflows(self, const void *x, double weight) noexcept nogil:
        cdef double most = weight * MOST_SLOPE
        cdef double square = any_dot(self.is_float32, x, x, self.n_features) + 1.0
        return not (most * most * square <= LARGEST_SQUARE and square <= LARGEST_SQUARE)

    cdef void fill_features(self, const void *x) noexcept nogil:
        """Leaves them."""
        cdef int64_t p = 0, n, size = item_bytes(self.is_float32)
        cdef int16_t[BLOCK] place
        while p < self.directions.n:
            n = min(BLOCK, self.directions.n - p)
            find_features(
                &self.directions, angles_from(&self.directions, x, p, n, place), n, NULL,
                self.features + 2 * p * size)
            p += n
        memcpy(self.features + 2 * self.directions.n * size, x, self.n_features * size)
        put(self.is_float32, self.features, self.width - 1, 1.0)
        if self.directions.n_mixed:
            forget_angles(&self.directions)

    cdef Status value(self, const void *x, bint keep, double *f) noexcept nogil:
        self.fill_features(x)
        f[0] = any_dot(self.is_float32, self.w, self.features, self.width)
        if not keep:
            self.wipe()
        if not isfinite(any_dot(self.is_float32, x, x, self.n_features)):
            return NOT_FINITE
        return UNCHANGED

    cdef void begin(self) noexcept nogil:
        RegressorCore.begin(self)
        self.forget_covariance()

    cdef void forget_covariance(self) noexcept nogil:
        """The covariance, as it is before the first sample"""
        cdef int64_t c, size = item_bytes(self.is_float32)
        memset(self.upper, 0, self.width * (self.width - 1) // 2 * size)
        for c in range(self.width):
            put(self.is_float32, self.variance, c, self.first_variance(c))

    cdef double first_variance(self, int64_t c) noexcept nogil:
        """Of the weight of feature c, before the first sample"""
        cdef int64_t p = c // (2 * BLOCK) * BLOCK
        cdef double amplitude
        if c >= 2 * self.directions.n:
            return 1.0
        amplitude = self.first[(c - 2 * p) % min(BLOCK, self.directions.n - p) % WIDTHS]
        return amplitude * amplitude / self.directions.n

    cdef void move(self, const void *x, double g) noexcept nogil:
        cdef int64_t c, size = item_bytes(self.is_float32)
        cdef double all = self.noise, before, v, b, d
        cdef char *column = self.upper
        for c in range(self.width):
            d = entry(self.is_float32, self.variance, c)
            v = entry(self.is_float32, self.features, c)
            v += any_dot(self.is_float32, column, self.features, c)
            b = d * v
            before, all = all, all + v * b
            if not isfinite(all):
                self.forget_covariance()
                return
            d = fmin(d * (before / (all * self.forgetting)), self.first_variance(c))
            put(self.is_float32, self.variance, c, d)
            self.update_column(column, -v / before, b, c)
            put(self.is_float32, self.gain, c, b)
            column += c * size
        for c in range(self.width):
            put(self.is_float32, self.w, c, entry(self.is_float32, self.w, c)
                + g / all * entry(self.is_float32, self.gain, c))

    cdef void update_column(self, char *u, double less, double more, int64_t n) noexcept nogil:
        bierman_column(self.is_float32, u, self.gain, less, more, n)

    cdef void wipe(self) noexcept nogil:
        cdef int64_t size = self.width * item_bytes(self.is_float32)
        memset(self.features, 0, size)
        memset(self.gain, 0, size)

    cdef const char *fault(self) noexcept nogil:
        cdef const char *found = RegressorCore.fault(self)
        cdef int64_t c
        if found != NULL:
            return found
        for c in range(self.width):
            if not self.diagonal(c) <= MOST_COVARIANCE:
                return b"the covariance is too large"
        return NULL

    cdef double diagonal(self, int64_t i) noexcept nogil:
        """(U D U')_ii"""
        cdef double total = entry(self.is_float32, self.variance, i), u
        cdef int64_t c
        for c in range(i + 1, self.width):
            u = entry(self.is_float32, self.upper, c * (c - 1) // 2 + i)
            total += u * u * fmax(entry(self.is_float32, self.variance, c), LEAST_VARIANCE)
        return total
