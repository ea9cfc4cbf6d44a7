"""A learner behind a running standardizer, in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.contract.core_ref import ReferenceCore
from edgesvm.core.status import Status


class StandardizedCoreRef(ReferenceCore):
    def __init__(self, *common, inner):
        super().__init__(*common)
        self.inner = inner

    def step(self, x, y, weight):
        if not np.isfinite(x @ x):
            return Status.NOT_FINITE
        v = self.views
        n = int(v["n_per_class"].sum()) + 1
        delta = x - v["mean"]
        v["mean"] += delta / n
        v["spread"] += delta * (x - v["mean"])
        return self.inner.step(self.scale(x, n), y, weight)

    def scale(self, x, n):
        deviation = np.sqrt(self.views["spread"] / n)
        centred = x - self.views["mean"]
        return np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > 0).astype(self.dtype)

    def decide(self, x):
        if not np.isfinite(x @ x):
            return np.nan
        return self.inner.decide(self.scale(x, int(self.views["n_per_class"].sum())))
