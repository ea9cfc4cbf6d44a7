"""Random Fourier features in front of a learner, in plain NumPy."""

from __future__ import annotations

import numpy as np

from edgesvm.core.status import Status
from edgesvm.learners.fourier.directions import Directions
from reference.core import ReferenceCore


class FourierFeaturesCoreRef(ReferenceCore):
    """The arena's arrays by name: features, angle and mixed, which are not used."""

    def __init__(self, *common, inner, n_directions, key, scales):
        super().__init__(*common)
        self.inner = inner
        self.directions = Directions(self, key, scales, n_directions)

    def features(self, x):
        """Cosines and sines block by block, x."""
        return np.concatenate([self.directions.waves(x), x])

    def step(self, x, y, weight):
        if not np.isfinite(x @ x):
            return Status.NOT_FINITE
        return self.inner.weighed_step(self.features(x), y, weight)

    def decide(self, x):
        return self.inner.decide(self.features(x)) if np.isfinite(x @ x) else np.nan
