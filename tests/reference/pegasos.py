"""Pegasos in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from reference.linear import LinearCoreRef


class PegasosCoreRef(LinearCoreRef):
    """The step of Shalev-Shwartz, Singer & Srebro 2007, Figure 1, for the next k of a stream."""

    def __init__(self, *common, fit_intercept, lambda_, batch_size, project):
        super().__init__(*common, fit_intercept=fit_intercept)
        self.lambda_, self.batch_size, self.project = lambda_, batch_size, project

    def step(self, x, y, weight):
        if not np.isfinite(x @ x):
            return Status.NOT_FINITE
        v, z = self.views, self.features(x)
        most = weight * np.sqrt(np.float64(z @ z)) * max(1 / self.lambda_, self.batch_size)
        if not most * most <= self.most_ww:
            return Status.NOT_FINITE if weight == 1 else Status.BAD_WEIGHT
        violates = y * (z @ v["w"]) < 1
        if violates:
            v["gradient"] += self.dtype.type(weight * y) * z
        v["n_waiting"] += 1
        if v["n_waiting"] < self.batch_size:
            return Status.CHANGED if violates else Status.UNCHANGED
        self.descend()
        return Status.CHANGED

    def descend(self):
        v, real = self.views, self.dtype.type
        v["n_steps"] += 1
        t, w = int(v["n_steps"]), v["w"]
        w[:] = real(1 - 1 / t) * w + real(1 / (self.lambda_ * t * self.batch_size)) * v["gradient"]
        if self.project and w @ w > 1 / self.lambda_:
            w *= real(1 / np.sqrt(self.lambda_ * np.float64(w @ w)))
        v["ww"][...] = w @ w
        v["gradient"][:] = 0
        v["n_waiting"][...] = 0
