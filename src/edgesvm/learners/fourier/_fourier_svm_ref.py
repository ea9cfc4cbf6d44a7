"""FourierSVM in plain NumPy: the directions as a matrix, the features as one vector."""

from __future__ import annotations

import numpy as np

from edgesvm.contract.core_ref import ReferenceCore
from edgesvm.core.status import Status
from edgesvm.learners.fourier._fourier_svm import BLOCK
from edgesvm.learners.fourier.constants import LEAST_WEIGHT, RECENT
from edgesvm.learners.lapses import mean_decides, note_lapses

LOW = np.uint64(0xFFFFFFFF)


class FourierSVMCoreRef(ReferenceCore):
    """The arena's arrays by name: G, lapses, w, w_mean; angle is not used."""

    def __init__(self, *common, key, scales, rate, is_hinge):
        super().__init__(*common)
        self.rate, self.is_hinge = rate, is_hinge
        n = len(self.views["angle"])
        turns = np.asarray(scales, self.dtype)[np.arange(n) % 4]
        self.directions = drawn(key, n, self.n_features), turns
        self.order = np.concatenate(
            [
                np.r_[first : min(first + BLOCK, n), n + first : n + min(first + BLOCK, n)]
                for first in range(0, n, BLOCK)
            ]
        )

    def features(self, x):
        """Cosines and sines block by block, x, 1."""
        v, scale = self.directions
        turns = np.zeros(len(v), self.dtype)
        for d in range(len(x)):
            turns += v[:, d].astype(self.dtype) * x[d]
        turns *= scale
        angle = np.rint((turns - np.rint(turns)) * 65536)
        angle = (angle + 32768) % 65536 - 32768
        waves = np.concatenate([np.cos(angle * (np.pi / 32768)), np.sin(angle * (np.pi / 32768))])
        return np.concatenate([waves[self.order], x, [1]]).astype(self.dtype)

    def step(self, x, y, weight):
        v = self.views
        xx = x @ x
        if not np.isfinite(xx):
            return Status.NOT_FINITE
        if not LEAST_WEIGHT <= weight <= 1 / LEAST_WEIGHT:
            return Status.BAD_WEIGHT
        f = self.features(x)
        t = int(v["n_per_class"].sum()) + 1
        last = v["w"] @ f
        wrong = [self.is_wrong(scores, y) for scores in (last, v["w_mean"] @ f)]
        note_lapses(v["lapses"], wrong, t, RECENT)
        side = np.where(np.arange(len(last)) == y, 1.0, -1.0) if self.is_multiclass else y
        g = weight * self.slope(side * last)
        v["G"] += g**2 * ((len(f) - len(x) - 1) // 2 + xx + 1) / len(f)
        step = np.zeros(len(g))
        np.divide(self.rate * g * side, np.sqrt(v["G"]), out=step, where=g > 0)
        v["w"] += (step[:, None] * f).astype(self.dtype)
        v["w_mean"] += self.dtype.type(2 / (t + 1)) * (v["w"] - v["w_mean"])
        return Status.CHANGED

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
        weights = v["w_mean"] if mean_decides(v["lapses"]) else v["w"]
        scores = (weights @ self.features(x)).astype(float)
        return self.unseen_last(scores) if self.is_multiclass else scores[0]


def drawn(key, n, n_features):
    """Numbers of n directions, ndarray of shape (n, n_features), from -510 to 510."""
    p, d = np.ogrid[:n, :n_features]
    h = (p.astype(np.uint64) * 0x9E3779B1 + key + d.astype(np.uint64) * 0x85EBCA6B) & LOW
    h = (h ^ (h >> 16)) * 0x7FEB352D & LOW
    h = (h ^ (h >> 15)) * 0x846CA68B & LOW
    h ^= h >> 16
    return sum((h >> shift & 255) for shift in (0, 8, 16, 24)).astype(np.int64) - 510
