"""A scaler in front of a learner, in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from reference.core import ReferenceCore


class ScalerCoreRef(ReferenceCore):
    """Base of the scalers: a subclass adds `with_sample` and `scale`. Statistics are a tuple of
    arrays of shape (n_features,), the plan's arrays named in `statistics`."""

    statistics: tuple[str, ...]

    def __init__(self, *common, inner):
        super().__init__(*common)
        self.inner = inner
        self.regresses = inner.regresses

    @property
    def n_scaled(self):
        """Samples that the statistics are of."""
        return int(self.views["n_per_class"].sum())

    @property
    def n_with_next(self):
        """The same once the next sample is learned."""
        return self.n_scaled + 1

    def with_sample(self, x, n):
        """The statistics with x, the n-th sample."""
        raise NotImplementedError

    def scale(self, x, statistics, n):
        """x scaled by the statistics of n samples, float64."""
        raise NotImplementedError

    def filled(self, x):
        """x, with numbers in place of NaN where that is asked for."""
        return x

    def step(self, x, y, weight):
        x = self.filled(x)
        if not np.isfinite(x @ x):
            return Status.NOT_FINITE
        n = self.n_with_next
        new = self.with_sample(x.astype(np.float64), n)
        if not all(np.isfinite(values).all() for values in new):
            return Status.NOT_FINITE
        status = self.inner.weighed_step(self.scale(x, new, n).astype(self.dtype), y, weight)
        if status <= Status.CHANGED:
            for name, values in zip(self.statistics, new, strict=True):
                self.views[name][:] = values
        return status

    def mapped(self, x):
        """What the inner learner gets of x."""
        statistics = tuple(self.views[name] for name in self.statistics)
        return self.scale(x, statistics, self.n_scaled).astype(self.dtype)

    def decide(self, x):
        x = self.filled(x)
        return self.inner.decide(self.mapped(x)) if np.isfinite(x @ x) else np.nan

    def forecast(self, x):
        x = self.filled(x)
        return self.inner.forecast(self.mapped(x)) if np.isfinite(x @ x) else ((np.nan,) * 3,) * 2
