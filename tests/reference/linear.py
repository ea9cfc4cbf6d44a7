"""Base class of the linear online learners in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from edgesvm.learners.papers.online.constants import MOST_WW
from reference.core import ReferenceCore


class LinearCoreRef(ReferenceCore):
    """The arena's arrays by name: w, whose last is the constant feature's weight, and ww = w.w."""

    def __init__(self, *common, fit_intercept):
        super().__init__(*common)
        self.intercept = fit_intercept
        self.most_ww = MOST_WW[self.dtype.name]

    def features(self, x):
        """The sample with the constant appended."""
        return np.append(x, self.dtype.type(1)) if self.intercept else x

    def move(self, step, z, weight):
        """w += step z, unless w would become too long."""
        w = self.views["w"]
        norm = np.sqrt(self.views["ww"]) + abs(step) * np.sqrt(np.float64(z @ z))
        if not norm * norm <= self.most_ww:
            return Status.NOT_FINITE if weight == 1 else Status.BAD_WEIGHT
        w += self.dtype.type(step) * z
        self.views["ww"][...] = w @ w
        return Status.CHANGED

    def decide(self, x):
        return float(self.features(x) @ self.views["w"]) if np.isfinite(x @ x) else np.nan
