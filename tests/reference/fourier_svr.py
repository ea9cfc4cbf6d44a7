"""FourierSVR in plain NumPy: AdaGradSVR on FourierSVM's features."""

from __future__ import annotations

import numpy as np

from reference.adagrad_svr import AdaGradSVRCoreRef
from reference.fourier_svm import Amplitudes


class FourierSVRCoreRef(Amplitudes, AdaGradSVRCoreRef):
    """The arena's arrays by name: those of AdaGradSVR; tilt, tilt_squares; angle and mixed are not
    used."""

    def __init__(self, *common, key, scales, **params):
        super().__init__(*common, **params)
        self.draw(key, scales)

    def learn_amplitudes(self, g, f):
        self.tilt_along(g * self.views["w"].astype(np.float64) * f)
