"""AdaGradSVM in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from edgesvm.learners.gradient.constants import RECENT
from reference.core import ReferenceCore, mean_decides, note_errors


class AdaGradSVMCoreRef(ReferenceCore):
    """The arena's arrays by name: G, error_rates, w, w_mean."""

    def __init__(self, *common, rate, is_hinge):
        super().__init__(*common)
        self.rate, self.is_hinge = rate, is_hinge

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
