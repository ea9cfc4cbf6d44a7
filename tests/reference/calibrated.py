"""Calibrated in plain NumPy; see _calibrated.pyx."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from edgesvm.learners import constants as c
from reference.core import ReferenceCore


class CalibratedCoreRef(ReferenceCore):
    def __init__(self, *common, inner, by_label, missed, outside):
        super().__init__(*common)
        self.inner, self.by_label = inner, by_label
        self.missed, self.outside = missed, outside

    @property
    def seen(self):
        return self.views["n_per_class"] > 0

    # -- learning ----------------------------------------------------------------------------------

    def step(self, x, y, weight):
        slot = y if self.is_multiclass else int(y > 0)
        scores = np.atleast_1d(self.inner.decide(x)) if self.seen.any() else None
        if scores is not None and not np.isfinite(scores).all():
            return Status.NOT_FINITE
        status = self.inner.weighed_step(x, y, weight)
        if status > Status.CHANGED:
            return status
        if scores is not None:
            self.note(scores, slot, min(weight, c.MOST_WEIGHT))
        if not self.seen[slot]:
            self.begin(slot)
        return status

    def note(self, scores, slot, weight):
        v, n = self.views, int(self.views["n_per_class"].sum())
        if "set_limit" in v and self.seen.sum() > 1:
            self.score_set(self.shares(scores), slot)
        size = np.abs(scores[self.seen] if self.is_multiclass else scores).mean()
        v["score_size"][...] += (size - v["score_size"]) / min(n, c.SIZED_BY)
        if self.seen.sum() < 2:
            return
        g = np.clip(self.relative(scores), -c.MOST_RELATIVE, c.MOST_RELATIVE)
        for k in np.flatnonzero(self.seen) if self.is_multiclass else [0]:
            self.fit(k, g[k], slot == k if self.is_multiclass else slot == 1, weight)
        if self.seen[slot] and self.by_label(self.labels.in_slots[slot])[1]:
            self.track(self.margin(self.calibrated(scores), slot), int(v["n_per_class"][slot]))

    def score_set(self, p, slot):
        """Move the limit by whether the set holds the class of the sample."""
        limit, held = self.views["set_limit"], (p > 0) & (p >= 1 - self.views["set_limit"])
        held[p.argmax()] = True
        step = max(c.SET_STEP, 1 / (self.views["n_sets"][0] + 1))
        limit[...] = np.clip(limit + step * (not held[slot]) - step * self.outside, 0, 1)
        self.views["n_sets"] += 1, held[slot], held.sum()

    def begin(self, slot):
        """Set up the sigmoids that a first sample of class `slot` begins."""
        n = self.views["n_per_class"].sum()
        if n == 0:
            return
        first = np.log(n)
        if self.is_multiclass:
            others = np.flatnonzero(self.seen & (self.seen.sum() == 1))
            offsets = {slot: -first, **dict.fromkeys(others, first)}
        else:
            offsets = {0: -first if slot == 1 else first}
        for k, offset in offsets.items():
            self.views["slope"][k], self.views["offset"][k] = c.FIRST_SLOPE, offset

    def fit(self, k, g, hit, weight):
        v, u = self.views, np.array([g, 1.0])
        p = sigmoid(v["slope"][k] * g + v["offset"][k])
        A = v["information"][k]
        A *= 1 - 1 / c.RECENT
        A += weight * p * (1 - p) * np.array([g * g, g, 1.0])
        matrix = np.array([[A[0], A[1]], [A[1], A[2]]]) + c.PRIOR * np.eye(2)
        da, db = np.linalg.solve(matrix, weight * (hit - p) * u)
        v["slope"][k] = max(v["slope"][k] + da, 0.0)
        v["offset"][k] += db

    def margin(self, values, slot):
        if not self.is_multiclass:
            return values[0] if slot == 1 else -values[0]
        others = self.seen.copy()
        others[slot] = False
        return values[slot] - max(values[others].max(), -c.FARTHEST)

    def track(self, margin, n):
        quantile, k = self.views["quantile"], min(n, c.QUANTILE_RECENT)
        q, d = quantile
        if d == 0:
            quantile[:] = min(margin, 0.0), 1.0
            return
        moved = q + c.QUANTILE_GAIN * d / k * (self.missed - (margin <= q))
        quantile[:] = np.clip(moved, -2 * c.FARTHEST, 2 * c.FARTHEST), d + (abs(margin - q) - d) / k

    # -- deciding ----------------------------------------------------------------------------------

    def calibrated(self, scores):
        """Log-odds, in a multiclass learner the logarithms of shares."""
        if self.seen.sum() < 2:
            if self.is_multiclass:
                return np.zeros(len(scores))
            odds = np.log(self.views["n_per_class"].sum() + 1)
            return np.array([odds if self.seen[1] else -odds])
        z = self.views["slope"] * self.relative(scores) + self.views["offset"]
        z = np.clip(z, -c.FARTHEST, c.FARTHEST)
        return -np.logaddexp(0, -z) if self.is_multiclass else z

    def relative(self, scores):
        size = self.views["score_size"]
        return np.clip(scores / size, -1e100, 1e100) if size > 0 else np.zeros(len(scores))

    def decide(self, x):
        scores = np.atleast_1d(self.inner.decide(x))
        if not np.isfinite(scores).all():
            return np.nan
        lifts = np.zeros(len(self.seen))
        for slot, label in enumerate(self.labels.in_slots):
            price, is_kept = self.by_label(label)
            lifts[slot] = -self.views["quantile"][0] if is_kept else price
        values = self.calibrated(scores)
        if self.is_multiclass:
            return self.unseen_last(values + lifts)
        return values[0] + lifts[1] - lifts[0]

    def shares(self, scores):
        """Probabilities by slot."""
        values = self.calibrated(scores)
        if self.is_multiclass:
            p = np.where(self.seen, np.exp(values), 0.0)
        else:
            p = sigmoid(np.array([-values[0], values[0]]))
            p[len(self.labels.in_slots) :] = 0.0
        return p / p.sum()


def sigmoid(z):
    return np.exp(-np.logaddexp(0, -z))
