"""AdaGradSVR in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.learners.regression.constants import LARGEST_SQUARE, MOST_SLOPE
from reference.regressor import RegressorCoreRef


class AdaGradSVRCoreRef(RegressorCoreRef):
    """The arena's arrays by name: those of the regressor, w, squares."""

    def __init__(self, *common, rate, **params):
        super().__init__(*common, **params)
        self.rate = self.dtype.type(rate)

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
