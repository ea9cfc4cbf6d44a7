"""FourierSVM in plain NumPy: AdaGradSVM on the features as one vector."""

from __future__ import annotations

import numpy as np

from edgesvm.learners.fourier._directions_ref import Directions
from edgesvm.learners.gradient._adagrad_svm_ref import AdaGradSVMCoreRef


class FourierSVMCoreRef(AdaGradSVMCoreRef):
    """The arena's arrays by name: those of AdaGradSVM; angle and mixed are not used."""

    def __init__(self, *common, key, scales, rate, is_hinge):
        super().__init__(*common, rate=rate, is_hinge=is_hinge)
        self.square_ahead = len(self.views["angle"])
        self.directions = Directions(self, key, scales, self.square_ahead)

    def features(self, x):
        """Cosines and sines block by block, x, 1."""
        return np.concatenate([self.directions.waves(x), super().features(x)])
