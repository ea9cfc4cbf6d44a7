"""The regressors of a stream in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.core.constants import FAR, LARGEST_TARGET, NEAR, WIDENING
from edgesvm.core.status import Status
from edgesvm.learners.fourier.constants import (
    CLIP,
    FIRST_AMPLITUDES,
    FIRST_HALF,
    FORGETTING,
    LARGEST_SQUARE,
    MEMORY,
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
from reference.core import ReferenceCore
from reference.fourier import Amplitudes, Directions

MEAN, SPREAD, LEAST, MOST, LAST, LAST_VALUE, RESIDUAL, SQUARES, PRODUCTS = range(9)
SIZE, BELOW, ABOVE = range(3)
PLAIN, STACKED = range(2)


class RegressorCoreRef(ReferenceCore):
    """The arena's arrays by name: target, far_targets, stack, covariance, interval, scored; with
    `changes` before, change, doubt. A subclass adds `overflows`, `value` and `move`."""

    regresses = True
    innovates = True
    issued = None

    def __init__(self, *common, loss, coverage, label_delay, epsilon=0.1, quantile=0.5):
        super().__init__(*common)
        self.loss, self.epsilon, self.quantile = loss, epsilon, quantile
        self.miss, self.delay = (1 - coverage) / 2, label_delay
        self.follows = label_delay == 0 and loss != "pinball"
        self.changes = "change" in self.views

    @property
    def n(self):
        return int(self.views["n_per_class"][0])

    def was_issued(self, said):
        self.issued = None
        if said is not None:
            if not (isinstance(said, tuple) and len(said) == 3 and np.isfinite(said).all()):
                raise ValueError(NOT_ISSUED.format(self.owner, said))
            self.issued = said

    def step(self, x, y, weight):
        target = self.views["target"]
        if not abs(y) <= LARGEST_TARGET:
            return Status.BAD_TARGET
        f = self.value(x)
        if self.overflows(x, weight) or not np.isfinite(f):
            return Status.NOT_FINITE if weight == 1 else Status.BAD_WEIGHT
        if self.n == 0:
            self.begin()
        plain = self.within(target[MEAN] + self.deviation(self.n) * f)
        ahead = self.within(self.stacked(x, plain))
        if self.n > 1:
            self.learn_stack(x, plain, y)
        counted = self.take(y, self.n + 1)
        self.score(y, counted, plain, ahead)
        e = self.innovation((counted - target[MEAN]) / self.deviation(self.n + 1) - f)
        if self.changes:
            target[-1], self.views["before"][:] = target[LAST], x
        target[[LAST, LAST_VALUE]] = counted, plain
        if (g := weight * self.slope(e)) != 0:
            self.move(x, g)
        return Status.CHANGED

    def pass_over(self, x, y):
        """All but the weights learn."""
        return self.step(x, y, 0.0)

    def begin(self):
        """Numbers that do not begin as zero."""
        self.views["interval"][:, 1:] = FIRST_HALF
        self.views["stack"][:] = (1, 0, 0, 0, 1) if self.changes else (1, 0, 0)
        self.views["covariance"][:] = np.eye(len(self.views["stack"]))
        if self.changes:
            self.views["doubt"][:] = 1

    def slope(self, e):
        """Minus the derivative of the loss by the prediction."""
        if self.loss == "epsilon":
            return np.sign(e) * (abs(e) > self.epsilon)
        if self.loss == "pinball":
            return self.quantile - (e < 0) if e != 0 else 0.0
        most = 1.0 if self.loss == "huber" else MOST_SLOPE
        return min(max(e, -most), most)

    # -- the target --------------------------------------------------------------------------------

    def deviation(self, n):
        variance = self.views["target"][SPREAD] / max(n, 1)
        return np.sqrt(variance) if variance > 0 else 1.0

    def within(self, value):
        if self.n < SETTLED:
            return value
        return min(max(value, self.views["target"][LEAST]), self.views["target"][MOST])

    def take(self, y, n):
        """Take the n-th target into the moments as it counts, at most `bound` deviations away."""
        target = self.views["target"]
        bound, delta = CLIP * min(NEAR + n * WIDENING, FAR), y - target[MEAN]
        furthest = bound * np.sqrt(target[SPREAD] / max(n - 1, 1))
        is_far = furthest > 0 and abs(delta) > furthest
        self.views["far_targets"][...] += is_far
        half = np.sqrt(target[SPREAD] / 2)
        if n == 3 and abs(abs(delta) - half) * 6 * bound < half:
            target[[MEAN, SPREAD]] = y, 0.0
        else:
            if is_far:
                delta = np.copysign(furthest, delta)
                y = target[MEAN] + delta
            target[MEAN] += delta / n
            target[SPREAD] += delta * (y - target[MEAN])
        target[LEAST] = y if n == 1 else min(target[LEAST], y)
        target[MOST] = y if n == 1 else max(target[MOST], y)
        return y

    def innovation(self, r):
        """What the residual before did not say of this one."""
        if not self.innovates or self.loss == "pinball":
            return r
        target = self.views["target"]
        before = target[RESIDUAL]
        target[SQUARES] = FORGETTING * target[SQUARES] + before**2
        target[PRODUCTS] = FORGETTING * target[PRODUCTS] + before * r
        target[RESIDUAL] = r
        if self.n < SETTLED or target[SQUARES] == 0:
            return r
        return r - np.clip(target[PRODUCTS] / target[SQUARES], 0, MOST_RHO) * before

    # -- the stack ---------------------------------------------------------------------------------

    def in_deviations(self, values):
        target = self.views["target"]
        return (np.array(values) - target[MEAN]) / self.deviation(max(self.n, 1))

    def stack_features(self, x, plain):
        v, target = self.views, self.views["target"]
        z = self.in_deviations([plain, target[LAST], target[LAST_VALUE], target[-1]])
        return np.append(z, v["change"] @ (x.astype("f8") - v["before"])) if self.changes else z[:3]

    def stacked(self, x, plain):
        if self.n < SETTLED or not self.follows:
            return plain
        said = self.views["stack"] @ self.stack_features(x, plain)
        return self.views["target"][MEAN] + self.deviation(self.n) * said

    def learn_stack(self, x, plain, y):
        """Recursive least squares with forgetting."""
        coef, P = self.views["stack"], self.views["covariance"]
        z = self.stack_features(x, plain)
        gain = P @ z
        whole = NOISE * FORGETTING + gain @ z
        error = self.in_deviations(y) - coef @ z
        if self.changes:
            self.learn_changes(x, np.clip(error + (coef[4] - 1) * z[4], -1, 1))
        coef += gain / whole * np.clip(error, -1, 1)
        P[:] = (P - np.outer(gain, gain) / whole) / FORGETTING
        if not (P.diagonal() >= 0).all():
            P[:] = np.eye(len(z))
        for c in range(len(z)):
            if P[c, c] > MOST_VARIANCE:
                shrink = np.sqrt(MOST_VARIANCE / P[c, c])
                P[c] *= shrink
                P[:, c] *= shrink

    def learn_changes(self, x, error):
        """The same, of a diagonal covariance."""
        z, P = x.astype("f8") - self.views["before"], self.views["doubt"].astype("f8")
        whole = NOISE * FORGETTING + P @ z**2
        self.views["change"] += P * z * (error / whole)
        self.views["doubt"][:] = np.minimum((P - (P * z) ** 2 / whole) / FORGETTING, MOST_VARIANCE)

    # -- the interval ------------------------------------------------------------------------------

    def score(self, y, counted, plain, ahead):
        covered = self.track(PLAIN, y, counted, plain)
        if self.follows:
            covered = self.track(STACKED, y, counted, ahead)
        if self.n >= SCORED_FROM:
            self.views["scored"] += 1, covered

    def track(self, which, y, counted, said):
        """Move the sides by whether the target was beyond them; whether it was within both."""
        interval = self.views["interval"][which]
        value, low, high = self.issued or (said, *self.ends(which, said))
        beyond = np.array([y < low, y > high])
        if self.n >= SCORED_FROM:
            step = STEP / (1 + self.delay / MEMORY)
            interval[1:] = np.clip(interval[1:] + step * (beyond - self.miss), 0, MOST_HALF)
        memory = min(self.n + 1, MEMORY + 10 * self.delay)
        interval[SIZE] += (abs(counted - value) - interval[SIZE]) / memory
        return not beyond.any()

    def ends(self, which, value):
        size, below, above = self.views["interval"][which]
        return value - below * size, value + above * size

    # -- answers -----------------------------------------------------------------------------------

    def decide(self, x):
        f = self.value(x)
        value = self.views["target"][MEAN] + self.deviation(max(self.n, 1)) * f
        return self.within(value) if np.isfinite(f) else np.nan

    def forecast(self, x):
        plain = self.decide(x)
        ahead = self.within(self.stacked(x, plain))
        which = STACKED if self.follows else PLAIN
        return (plain, *self.ends(PLAIN, plain)), (ahead, *self.ends(which, ahead))


class AdaGradSVRCoreRef(RegressorCoreRef):
    """The arena's arrays by name: those of the regressor, w, squares."""

    def __init__(self, *common, learning_rate, **params):
        super().__init__(*common, **params)
        self.rate = self.dtype.type(learning_rate / np.sqrt(len(self.views["w"])))

    def features(self, x):
        """x, 1; a learner that builds on this one has more, ahead of x."""
        return np.append(x, self.dtype.type(1))

    def overflows(self, x, weight):
        return not (weight * MOST_SLOPE) ** 2 * (float(x @ x) + 1) <= LARGEST_SQUARE

    def value(self, x):
        return float(self.views["w"] @ self.features(x)) if np.isfinite(x @ x) else np.nan

    def move(self, x, g):
        v, f = self.views, self.features(x)
        self.learn_amplitudes(g, f)
        slope = self.dtype.type(g) * f
        v["squares"] += slope**2
        root = np.sqrt(v["squares"])
        v["w"] += np.divide(self.rate * slope, root, out=np.zeros_like(root), where=root > 0)

    def learn_amplitudes(self, g, f):
        """Of features that have some; g is the slope of the loss."""


class FourierSVRCoreRef(Amplitudes, AdaGradSVRCoreRef):
    """The arena's arrays by name: those of AdaGradSVR; tilt, tilt_squares; angle and mixed are not
    used."""

    def __init__(self, *common, key, scales, **params):
        super().__init__(*common, **params)
        self.draw(key, scales)

    def learn_amplitudes(self, g, f):
        self.tilt_along(g * self.views["w"].astype(np.float64) * f)


class FourierRLSCoreRef(RegressorCoreRef):
    """The arena's arrays by name: those of the regressor, w, upper, variance; features, scratch,
    angle and mixed are not used."""

    innovates = False

    def __init__(self, *common, key, scales, forgetting, **params):
        super().__init__(*common, **params)
        self.forgetting, self.noise = forgetting, RLS_NOISE
        n = len(self.views["angle"])
        self.directions = Directions(self, key, scales, n)
        amplitudes = np.tile(np.array(FIRST_AMPLITUDES)[np.arange(n) % 4], 2)
        waves = amplitudes[self.directions.order] ** 2 / n
        self.first = np.append(waves, np.ones(self.n_features + 1))

    def begin(self):
        super().begin()
        self.views["variance"][:] = self.first

    def features(self, x):
        """Cosines and sines block by block, x, 1."""
        return np.concatenate([self.directions.waves(x), x, [self.dtype.type(1)]])

    def overflows(self, x, weight):
        square = float(x @ x) + 1
        return not max((weight * MOST_SLOPE) ** 2 * square, square) <= LARGEST_SQUARE

    def value(self, x):
        return float(self.views["w"] @ self.features(x)) if np.isfinite(x @ x) else np.nan

    def move(self, x, g):
        """P <- (P - P f f'P / a) / forgetting by P = U D U', column by column (Bierman 1976)."""
        v, f = self.views, self.features(x).astype(np.float64)
        U, D = self.factors()
        gain, before = np.zeros(len(f)), self.noise
        for c in range(len(f)):
            h = f[c] + U[:c, c] @ f[:c]
            b = D[c] * h
            after = before + h * b
            D[c] = min(D[c] * before / (after * self.forgetting), self.first[c])
            column = U[:c, c].copy()
            U[:c, c] -= h / before * gain[:c]
            gain[:c] += b * column
            gain[c], before = b, after
        v["upper"][:], v["variance"][:] = U.T[np.tril_indices(len(f), -1)], D
        v["w"] += (g / before * gain).astype(self.dtype)

    def factors(self):
        n = len(self.first)
        U = np.zeros((n, n))
        U.T[np.tril_indices(n, -1)] = self.views["upper"]
        return U, self.views["variance"].astype(np.float64)
