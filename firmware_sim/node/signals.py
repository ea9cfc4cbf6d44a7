"""Synthetic sensors: endless, seeded streams of feature windows and labels, or targets, from simple
physics.

Samples are not independent: states last for a while, as in a machine or a person, so neighbouring
rows usually share their label. The rows depend only on the seed, not on the sizes read: ``read(3)``
then ``read(5)`` gives the rows of ``read(8)``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edgesvm.data.rows import Rows, Stream

Arrays = tuple[NDArray[np.float32], NDArray]


class Stretches:
    """Stretches of geometric length, alternating between state 0 and one of the others, 0 first.

    ``weights`` are the probabilities of states 1, 2, ..., which go back to 0 by repair or rest.
    Each stretch also has a severity, uniform in [0, 1): how pronounced the state is.
    """

    def __init__(
        self, weights: Sequence[float], mean_length: float, rng: np.random.Generator
    ) -> None:
        if mean_length < 1:
            raise ValueError(f"mean_stretch must be at least 1 sample, got {mean_length}")
        self._weights = np.asarray(weights, dtype=float)
        self._stop = 1.0 / mean_length
        self._rng = rng
        self._state, self._severity, self._left = -1, 0.0, 0

    def _next_stretch(self) -> None:
        if self._state == 0:
            self._state = 1 + int(self._rng.choice(len(self._weights), p=self._weights))
        else:
            self._state = 0
        self._severity = float(self._rng.random())
        self._left = int(self._rng.geometric(self._stop))

    def take(self, n: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        state, severity = np.empty(n, np.int32), np.empty(n, np.float32)
        start = 0
        while start < n:
            if self._left == 0:
                self._next_stretch()
            end = min(n, start + self._left)
            state[start:end], severity[start:end] = self._state, self._severity
            self._left -= end - start
            start = end
        return state, severity


class Signal(Stream):
    """Base of the sensors: makes fixed blocks and returns as many rows as requested.

    Parameters
    ----------
    seed : int
        The same seed gives the same rows with the same NumPy version.

    Attributes
    ----------
    targets : bool
        Whether y is a number, float64, and not a class.
    """

    targets = False
    feature_names: tuple[str, ...] = ()
    class_names: tuple[str, ...] = ()
    mean_stretch = 50.0  # consecutive samples in one state
    _weights: tuple[float, ...] = (1.0,)
    # A block of waveforms (256 windows x 256 points x 4 B) fits in a second-level cache.
    _block = 256

    def __init__(self, seed: int = 0) -> None:
        self.n_features, self.n_classes = len(self.feature_names), len(self.class_names)
        self._rng = np.random.default_rng(seed)
        self._stretches = Stretches(self._weights, self.mean_stretch, self._rng)
        self._made = 0
        self._rest: Arrays = (
            np.empty((0, len(self.feature_names)), np.float32),
            np.empty(0, np.int32),
        )

    def read(self, n: int) -> Rows:
        """The next `n` samples: X (n, n_features), float32; y (n,), int32 or float64."""
        parts_X, parts_y = [self._rest[0]], [self._rest[1]]
        have = len(self._rest[1])
        while have < n:
            X, y = self._make(self._block)
            self._made += self._block
            parts_X.append(X)
            parts_y.append(y)
            have += self._block
        X, y = np.concatenate(parts_X), np.concatenate(parts_y)
        # A copy, so that one remaining row does not keep a whole block in memory.
        self._rest = X[n:].copy(), y[n:].copy()
        return Rows(X[:n], y[:n])

    def _make(self, n: int) -> Arrays:
        raise NotImplementedError

    def _clock(self, n: int) -> NDArray[np.float64]:
        """Index of each of the next n samples since the start."""
        return np.arange(self._made, self._made + n, dtype=float)


def wandering(
    t: NDArray[np.float64], phases: NDArray[np.float64], *periods: float
) -> NDArray[np.float64]:
    """Slowly, in about -1 to 1: three waves whose periods have no common measure."""
    waves = [
        np.sin(t * (2 * np.pi) / period + p) for period, p in zip(periods, phases, strict=False)
    ]
    return 0.5 * waves[0] + 0.3 * waves[1] + 0.2 * waves[2]


class RotatingMachine(Signal):
    r"""An accelerometer on a bearing housing: healthy, unbalanced, or with an outer-race defect.

    Each sample is one window of 256 points at 2,560 Hz (0.1 s) of radial acceleration in g, taken
    every 10 s. The shaft turns at f, which varies slowly with the load, and a tachometer measures
    its angle. Unbalance u adds ``u (f / 28)^2 sin(theta)``; an outer-race defect is struck 3.58
    times per turn, and each strike makes the housing ring; noise follows the load, and there are
    knocks in any state. A healthy shaft has some unbalance too, and each fault its own severity, so
    mild faults overlap with the healthy state.

    Features, with fixed offsets and scales so that they are of the order of 1: ln of the rms;
    ln of the kurtosis; crest factor; ln of the amplitudes in step with the shaft and at twice its
    speed; ln of the rms around the resonance, and of its envelope at the defect's rate; speed.

    A linear least-squares classifier reaches about 95 % on 4,000 windows, the best single feature
    about 89 %. Repeating the previous label would score 98 %, as on any stream whose states last:
    compare learners with each other, not with that.
    """

    class_names = ("healthy", "faulty")
    feature_names = ("rms", "kurtosis", "crest", "amp_1x", "amp_2x", "band", "envelope", "speed")
    offsets = np.array([-1.6, 0.0, 3.2, -1.8, -3.0, -2.2, -3.6, 28.0], np.float32)
    scales = np.array([0.25, 0.20, 0.60, 0.5, 0.5, 0.25, 0.6, 3.0], np.float32)
    period_us = 10_000_000
    _weights = (0.5, 0.5)

    _RATE_HZ = 2560.0
    _POINTS = 256
    _DEFECTS_PER_TURN = 3.58
    _RESONANCE_HZ = 900.0
    _DECAY_S = 0.002
    # Bins 64 to 127 of the window's spectrum, 640 to 1,280 Hz: the band of the resonance, and a
    # power of two.
    _BAND = slice(64, 128)

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self._phases = self._rng.uniform(0, 2 * np.pi, 4)
        self._turns = (np.arange(self._POINTS) / self._RATE_HZ).astype(np.float32)

    def _make(self, n: int) -> Arrays:
        rng = self._rng
        state, severity = self._stretches.take(n)
        load = wandering(self._clock(n), self._phases, 1731.0, 613.7, 97.3)
        speed = (28.0 + 3.5 * load + 0.1 * rng.standard_normal(n)).astype(np.float32)
        theta = speed[:, None] * (2 * np.pi * self._turns).astype(np.float32)
        sine, cosine = np.sin(theta), np.cos(theta)
        waves = (sine, cosine), (2 * sine * cosine, 1 - 2 * sine * sine)
        a = self._noise(n, load)
        self._add_unbalance(a, waves, state == 1, severity, speed)
        self._add_knocks(a, rng.random(n) < 0.03)
        self._add_strikes(a, theta, speed, np.flatnonzero(state == 2), severity)
        X = (self._features(a, waves, theta, speed) - self.offsets) / self.scales
        return X, (state > 0).astype(np.int32)

    def _noise(self, n: int, load: NDArray[np.float64]) -> NDArray[np.float32]:
        level = 0.13 * np.exp(0.15 * load + 0.08 * self._rng.standard_normal(n))
        a = self._rng.standard_normal((n, self._POINTS), dtype=np.float32)
        a *= level.astype(np.float32)[:, None]
        return a

    def _add_unbalance(self, a, waves, unbalanced, severity, speed) -> None:
        n = len(a)
        u = np.maximum(0.02, 0.10 + 0.02 * self._rng.standard_normal(n))
        u = u + np.where(unbalanced, 0.10 + 0.25 * severity, 0.0)
        second = 0.03 + 0.1 * u + 0.01 * self._rng.standard_normal(n)
        angle = self._rng.uniform(0, 2 * np.pi, n)
        for height, (sine, cosine) in zip((u * (speed / 28.0) ** 2, second), waves, strict=True):
            # h sin(k theta + angle), with the sines at hand
            a += (height * np.cos(angle)).astype(np.float32)[:, None] * sine
            a += (height * np.sin(angle)).astype(np.float32)[:, None] * cosine

    def _add_knocks(self, a, knocked) -> None:
        rows = np.flatnonzero(knocked)
        at = self._rng.integers(0, self._POINTS, len(rows))
        a[rows, at] += self._rng.uniform(0.5, 1.2, len(rows)).astype(np.float32)

    def _add_strikes(self, a, theta, speed, rows, severity) -> None:
        if len(rows) == 0:
            return
        slip = (1.0 + 0.01 * self._rng.standard_normal(len(rows))).astype(np.float32)[:, None]
        start = self._rng.uniform(0, 1, len(rows)).astype(np.float32)[:, None]
        strikes = theta[rows] * slip * np.float32(self._DEFECTS_PER_TURN / (2 * np.pi)) + start
        rate = speed[rows, None] * slip * np.float32(self._DEFECTS_PER_TURN)
        since = (strikes - np.floor(strikes)) / rate  # seconds since the last strike
        height = (0.29 + 0.5 * severity[rows]).astype(np.float32)[:, None]
        ring = np.exp(since * np.float32(-1.0 / self._DECAY_S))
        ring *= np.sin(since * np.float32(2 * np.pi * self._RESONANCE_HZ))
        a[rows] += height * ring

    def _features(self, a, waves, theta, speed) -> NDArray[np.float32]:
        square = a * a
        m2 = square.mean(axis=1)
        m4 = np.einsum("ij,ij->i", square, square) / self._POINTS
        # The band alone, moved down to zero frequency, is the complex envelope at a quarter of the
        # rate.
        envelope = np.abs(np.fft.ifft(np.fft.rfft(a, axis=1)[:, self._BAND], axis=1)) * (64 / 128)
        ripple = envelope - envelope.mean(axis=1, keepdims=True)
        step = self._POINTS // envelope.shape[1]
        strikes = np.float32(self._DEFECTS_PER_TURN) * theta[:, ::step]
        X = np.empty((len(a), self.n_features), np.float32)
        X[:, 0] = np.log(m2) / 2
        X[:, 1] = np.log(m4 / (3 * m2 * m2))
        X[:, 2] = np.sqrt(square.max(axis=1) / m2)
        X[:, 3] = np.log(self._amplitude(a, *waves[0]))
        X[:, 4] = np.log(self._amplitude(a, *waves[1]))
        X[:, 5] = np.log((envelope * envelope).mean(axis=1) / 2) / 2
        X[:, 6] = np.log(self._amplitude(ripple, np.sin(strikes), np.cos(strikes)))
        X[:, 7] = speed
        return X

    @staticmethod
    def _amplitude(a, sine, cosine) -> NDArray[np.float32]:
        """Amplitude of the component of each row of `a` in phase with `sine` and `cosine`."""
        s, c = np.einsum("ij,ij->i", a, sine), np.einsum("ij,ij->i", a, cosine)
        # A monitor's floor of 1 mg: avoids the logarithm of zero.
        return np.hypot(s, c) * np.float32(2 / a.shape[1]) + np.float32(1e-3)


class PumpFlow(Signal):
    """A circulating pump whose flow is to be known without a flow meter, from five cheap sensors.

    Each sample is one second. The speed s, in revolutions per second, jumps to another set point
    every ``mean_stretch`` samples; a valve of opening v wanders slowly, and so does the water's
    temperature. The flow, in litres per minute, is where the pump's pressure is the pipe's:

        q = s / 50 * sqrt(0.9 / (2e-5 + k + 6e-5 / v^2))

    k grows from 1e-4 as the filter clogs, by half in 20,000 samples, and the pressure sensor's zero
    walks, so a model that learns no more gets worse. The target is q with 1 % noise; the features
    are of the order of 1.
    """

    targets = True
    feature_names = ("speed", "current", "pressure", "temperature", "valve")
    offsets = np.array([35.0, 1.8, 0.42, 45.0, 0.6], np.float32)
    scales = np.array([9.0, 0.7, 0.2, 5.0, 0.2], np.float32)
    period_us = 1_000_000

    mean_stretch = 30.0

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self._phases = self._rng.uniform(0, 2 * np.pi, 4)
        self._zero = 0.0

    def _make(self, n: int) -> Arrays:
        rng, t, p = self._rng, self._clock(n), self._phases
        _, set_point = self._stretches.take(n)
        noise = rng.standard_normal((6, n))
        speed = 20.0 + 30.0 * set_point + 0.2 * noise[0]
        valve = 0.6 + 0.25 * np.sin(t / 211.0 + p[0]) + 0.1 * np.sin(t / 57.3 + p[1])
        warm = 45.0 + 6.0 * np.sin(t / 1307.0 + p[2]) + 3.0 * np.sin(t / 401.0 + p[3])
        clogged = 1e-4 * (1.0 + t / (20_000.0 + t))
        flow = speed / 50.0 * np.sqrt(0.9 / (2e-5 + clogged + 6e-5 / valve**2))
        pressure = 0.9 * (speed / 50.0) ** 2 - 2e-5 * flow**2
        # Motor current: losses, and the power that the water takes, which is thinner when warm.
        current = 0.6 + 4.0 * pressure * flow / 60.0 * (1.0 - 0.004 * (warm - 45.0)) + 0.01 * speed
        zero = self._zero + np.cumsum(5e-4 * rng.standard_normal(n))
        self._zero = float(zero[-1])
        X = np.empty((n, self.n_features), np.float32)
        X[:, 0] = speed + 0.3 * noise[1]
        X[:, 1] = current + 0.03 * noise[2]
        X[:, 2] = pressure + zero + 0.01 * noise[3]
        X[:, 3] = warm + 0.3 * noise[4]
        X[:, 4] = valve + 0.02 * rng.standard_normal(n)
        return (X - self.offsets) / self.scales, flow * (1.0 + 0.01 * noise[5])


SIGNALS: dict[str, type[Signal]] = {
    "rotating": RotatingMachine,
    "flow": PumpFlow,
}
