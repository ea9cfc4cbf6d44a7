"""FourierSVM in plain NumPy: AdaGradSVM on the features as one vector."""

from __future__ import annotations

import numpy as np

from edgesvm.learners.fourier._directions import WIDTHS
from edgesvm.learners.fourier.constants import FADED, FIRST_TILT, LARGEST_SQUARE, TILT_RATE
from edgesvm.learners.fourier.directions import Directions
from reference.adagrad_svm import AdaGradSVMCoreRef


class Amplitudes:
    """Features along random directions, and the amplitudes of their widths."""

    def draw(self, key, scales):
        n = len(self.views["angle"])
        self.directions = Directions(self, key, scales, n)
        of_waves = np.tile(np.arange(n) % WIDTHS, 2)[self.directions.order]
        self.group = np.append(of_waves, np.full(self.n_features + 1, WIDTHS))

    @property
    def is_weighed(self):
        return "tilt" in self.views

    @property
    def amplitudes(self):
        a = np.exp(FIRST_TILT + self.views["tilt"]) if self.is_weighed else np.ones(WIDTHS + 1)
        return a / np.sqrt((a**2).mean())

    def features(self, x):
        """Cosines and sines block by block, x, 1, each times the amplitude of its group."""
        f = np.concatenate([self.directions.waves(x), super().features(x)])
        return self.amplitudes[self.group].astype(self.dtype) * f

    def tilt_along(self, parts):
        """Move the amplitudes by what each feature had in the slope of the loss."""
        if not self.is_weighed:
            return
        v = self.views
        c = np.bincount(self.group, parts, WIDTHS + 1)
        if not np.isfinite(c @ c):
            return
        v["tilt_squares"][...] = min(v["tilt_squares"] + c @ c, LARGEST_SQUARE)
        v["tilt"] += TILT_RATE * c / np.sqrt(1 + v["tilt_squares"])
        v["tilt"] -= (FIRST_TILT + v["tilt"]).max()
        np.maximum(v["tilt"], -FADED - np.array(FIRST_TILT), out=v["tilt"])


class FourierSVMCoreRef(Amplitudes, AdaGradSVMCoreRef):
    """The arena's arrays by name: those of AdaGradSVM; tilt, tilt_squares; angle and mixed are
    not used."""

    def __init__(self, *common, key, scales, rate, is_hinge):
        super().__init__(*common, rate=rate, is_hinge=is_hinge)
        self.draw(key, scales)

    def sum_of_squares(self, xx):
        squares = self.amplitudes**2
        of_waves = squares[self.group[: 2 * self.directions.n]].sum() / 2  # cos^2 + sin^2 = 1
        return of_waves + squares[WIDTHS] * (xx + 1)

    def take_over(self, smaller):
        """Go on as `smaller`; the weights of further directions are zero."""
        own, old = self.views, {name: view.copy() for name, view in smaller.views.items()}
        for name, view in own.items():
            if name not in {"w", "w_mean", "angle"}:
                view[...] = old[name]
        own["angle"][:] = 0
        wave, before = self.directions.order, smaller.directions.order
        n, n_before = self.directions.n, smaller.directions.n
        kept = np.r_[:n_before, n : n + n_before]  # cosines and sines of the first directions
        for name in ("w", "w_mean"):
            by_wave = np.zeros((len(own[name]), 2 * n), self.dtype)
            unordered = np.empty((len(own[name]), 2 * n_before), self.dtype)
            unordered[:, before] = old[name][:, : 2 * n_before]
            by_wave[:, kept] = unordered
            own[name][:, : 2 * n] = by_wave[:, wave]
            own[name][:, 2 * n :] = old[name][:, 2 * n_before :]

    def learn_amplitudes(self, pull, f):
        self.tilt_along(pull @ self.views["w"].astype(float) * f)
