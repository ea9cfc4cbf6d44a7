"""Perceptron in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from reference.linear import LinearCoreRef


class PerceptronCoreRef(LinearCoreRef):
    """The step of Rosenblatt 1958."""

    def step(self, x, y, weight):
        if not np.isfinite(x @ x):
            return Status.NOT_FINITE
        z = self.features(x)
        if y * (z @ self.views["w"]) > 0:
            return Status.UNCHANGED
        return self.move(weight * y, z, weight)
