"""AdaGradSVM, FourierSVM and their random directions in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from edgesvm.learners.fourier._fourier import BLOCK, WIDTHS
from edgesvm.learners.fourier.constants import FADED, FIRST_TILT, MOST_PULL, RECENT, TILT_RATE
from reference.core import ReferenceCore, mean_decides, note_errors

LOW = np.uint64(0xFFFFFFFF)


class Directions:
    """n directions for the samples of a core, drawn by `key`; direction p is in turns once
    multiplied by number p % 4 of `scales`."""

    def __init__(self, core, key, scales, n):
        self.dtype, self.key, self.n = core.dtype, key, n
        self.n_mixed = len(core.views["mixed"]) if "mixed" in core.views else 0
        if not self.n_mixed:
            self.numbers = drawn(key, n, core.n_features)
        self.in_turns = np.asarray(scales, self.dtype)[np.arange(n) % 4]
        self.order = np.concatenate(
            [
                np.r_[first : min(first + BLOCK, n), n + first : n + min(first + BLOCK, n)]
                for first in range(0, n, BLOCK)
            ]
        )

    def along(self, x):
        """x times each direction, ndarray of shape (n,)."""
        if self.n_mixed:
            blocks = range(0, self.n, self.n_mixed)
            mixed = [mix(x, self.key, self.n_mixed, p // self.n_mixed) for p in blocks]
            return np.concatenate(mixed)[: self.n]
        sums = np.zeros(self.n, self.dtype)
        for d in range(len(x)):
            sums += self.numbers[:, d].astype(self.dtype) * x[d]
        return sums

    def waves(self, x):
        """Cosines and sines of x along the directions, block by block; ndarray of shape (2 n,)."""
        turns = self.along(x) * self.in_turns
        angle = np.rint((turns - np.rint(turns)) * 65536)
        angle = (angle + 32768) % 65536 - 32768
        waves = np.concatenate([np.cos(angle * (np.pi / 32768)), np.sin(angle * (np.pi / 32768))])
        return waves[self.order].astype(self.dtype)


def hashes(key, p, d):
    """h(p, d), 32 bits of each pair."""
    p, d = np.asarray(p, np.uint64), np.asarray(d, np.uint64)
    h = (p * 0x9E3779B1 + key + d * 0x85EBCA6B) & LOW
    h = (h ^ (h >> 16)) * 0x7FEB352D & LOW
    h = (h ^ (h >> 15)) * 0x846CA68B & LOW
    return h ^ (h >> 16)


def drawn(key, n, n_features):
    """Numbers of n directions, ndarray of shape (n, n_features), from -510 to 510."""
    h = hashes(key, *np.ogrid[:n, :n_features])
    return sum((h >> shift & 255) for shift in (0, 8, 16, 24)).astype(np.int64) - 510


def mix(x, key, n, block):
    """H D3 H D2 H D1 x of a block, ndarray of shape (n,): each D of random signs, H Hadamard."""
    v = np.zeros(n, x.dtype)
    v[: len(x)] = x
    i = np.arange(n)
    for r in range(3 * block, 3 * block + 3):
        v[hashes(key, r, i // 32) >> (i % 32).astype(np.uint64) & 1 > 0] *= -1
        h = 1
        while h < n:
            a, b = v.reshape(-1, 2, h).transpose(1, 0, 2)
            v = np.stack([a + b, a - b], axis=1).reshape(n)
            h *= 2
    return v


class AdaGradSVMCoreRef(ReferenceCore):
    """The arena's arrays by name: G, error_rates, w, w_mean."""

    def __init__(self, *common, loss, learning_rate):
        super().__init__(*common)
        self.rate, self.is_hinge = learning_rate, loss == "hinge"

    def features(self, x):
        """x, 1; a learner that builds on this one has more, ahead of x."""
        return np.append(x, self.dtype.type(1))

    def step(self, x, y, weight):
        v = self.views
        xx = x @ x
        if not np.isfinite(xx):
            return Status.NOT_FINITE
        square = self.sum_of_squares(float(xx))
        if not np.isfinite(v["G"] + weight * weight * square).all():
            return Status.NOT_FINITE if weight == 1 else Status.BAD_WEIGHT
        f = self.features(x)
        t = int(v["n_per_class"].sum()) + 1
        last = v["w"] @ f
        wrong = [self.is_wrong(scores, y) for scores in (last, v["w_mean"] @ f)]
        note_errors(v["error_rates"], wrong, t, RECENT)
        side = np.where(np.arange(len(last)) == y, 1.0, -1.0) if self.is_multiclass else y
        g = weight * self.slope(side * last)
        v["G"] += g**2 * square / len(f)
        self.learn_amplitudes(g * side, f)
        step = np.zeros(len(g))
        np.divide(self.rate * g * side, np.sqrt(v["G"]), out=step, where=g > 0)
        v["w"] += (step[:, None] * f).astype(self.dtype)
        v["w_mean"] += self.dtype.type(2 / (t + 1)) * (v["w"] - v["w_mean"])
        return Status.CHANGED

    def sum_of_squares(self, xx):
        """Of all features, xx being that of x."""
        return xx + 1

    def learn_amplitudes(self, pull, f):
        """Of features that have some; `pull` is the loss' slope towards each vector's side."""

    def is_wrong(self, scores, y):
        if not self.is_multiclass:
            return y * scores[0] <= 0
        seen = self.views["n_per_class"] > 0
        return int(np.where(seen, scores, -np.inf).argmax()) != y if seen.any() else y != 0

    def slope(self, margin):
        if self.is_hinge:
            return (margin < 1).astype(float)
        e = np.exp(-np.abs(margin))
        return np.where(margin > 0, e / (1 + e), 1 / (1 + e))

    def decide(self, x):
        if not np.isfinite(x @ x):
            return np.nan
        v = self.views
        weights = v["w_mean"] if mean_decides(v["error_rates"]) else v["w"]
        scores = (weights @ self.features(x)).astype(float)
        return self.unseen_last(scores) if self.is_multiclass else scores[0]


class Amplitudes:
    """Features along random directions, and the amplitudes of their widths."""

    def draw(self, key, scales):
        n = len(self.views["angle"])
        self.directions = Directions(self, key, scales, n)
        of_waves = np.tile(np.arange(n) % WIDTHS, 2)[self.directions.order]
        self.group = np.append(of_waves, np.full(self.n_features + 1, WIDTHS))

    @property
    def is_weighed(self):
        return "tilt" in self.views

    @property
    def amplitudes(self):
        a = np.exp(FIRST_TILT + self.views["tilt"]) if self.is_weighed else np.ones(WIDTHS + 1)
        return a / np.sqrt((a**2).mean())

    def features(self, x):
        """Cosines and sines block by block, x, 1, each times the amplitude of its group."""
        f = np.concatenate([self.directions.waves(x), super().features(x)])
        return self.amplitudes[self.group].astype(self.dtype) * f

    def tilt_along(self, parts):
        """Move the amplitudes by what each feature had in the slope of the loss."""
        if not self.is_weighed:
            return
        v = self.views
        c = np.bincount(self.group, parts, WIDTHS + 1)
        if not np.isfinite(c @ c):
            return
        v["tilt_squares"][...] = min(v["tilt_squares"] + c @ c, MOST_PULL)
        v["tilt"] += TILT_RATE * c / np.sqrt(1 + v["tilt_squares"])
        v["tilt"] -= (FIRST_TILT + v["tilt"]).max()
        np.maximum(v["tilt"], -FADED - np.array(FIRST_TILT), out=v["tilt"])


class FourierSVMCoreRef(Amplitudes, AdaGradSVMCoreRef):
    """The arena's arrays by name: those of AdaGradSVM; tilt, tilt_squares; angle and mixed are
    not used."""

    def __init__(self, *common, key, scales, **params):
        super().__init__(*common, **params)
        self.draw(key, scales)

    def sum_of_squares(self, xx):
        squares = self.amplitudes**2
        of_waves = squares[self.group[: 2 * self.directions.n]].sum() / 2  # cos^2 + sin^2 = 1
        return of_waves + squares[WIDTHS] * (xx + 1)

    def learn_amplitudes(self, pull, f):
        self.tilt_along(pull @ self.views["w"].astype(float) * f)
