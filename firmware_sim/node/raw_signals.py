"""A raw signal: what a sensor measures, sample by sample, thousands of times a second.

A host takes features of windows of them (`edgesvm.WindowFeatures`). As in `signals`, the rows
depend only on the seed, not on the sizes read.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from firmware_sim.node.signals import Arrays, Signal, Stretches, wandering

# Of its full height, what a fault has when it begins.
_FIRST_SHARE = 0.1


class Onset(Stretches):
    """State 0 until the sample `onset`, then state 1, whose severity grows from 0 to 1 within
    `growth` samples and stays there."""

    def __init__(self, onset: float, growth: float) -> None:
        self._onset, self._growth = onset, growth
        self._n_taken = 0

    def take(self, n: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        since = np.arange(self._n_taken, self._n_taken + n) - self._onset
        self._n_taken += n
        severity = np.clip(since / self._growth, 0.0, 1.0)
        return (since >= 0).astype(np.int32), severity.astype(np.float32)


# The bearing 6205, as in the data of Case Western Reserve University, the outer race at rest; by
# the formulas of any textbook of machine vibration, what happens how often per turn of the shaft.
_N_BALLS, _BALL, _PITCH = 9, 7.94, 39.04
CAGE = (1 - _BALL / _PITCH) / 2  # turns of the cage (FTF / f)
OUTER_RACE = _N_BALLS * CAGE  # balls that pass a point of the outer race (BPFO / f)
INNER_RACE = _N_BALLS * (1 - CAGE)  # of the inner race (BPFI / f)
# Times that a point of a ball meets a race, either of them (2 BSF / f).
BALL_FACES = _PITCH / _BALL * (1 - _BALL / _PITCH * (_BALL / _PITCH))


def _check(name: str, value: float, low: float, high: float) -> None:
    if not low < value < high:
        raise ValueError(f"{name} must be above {max(low, 0.0):g} and below {high:g}, got {value}")


DEFECTS = ("outer-race", "inner-race", "ball", "imbalance", "looseness")


class RawRotatingMachine(Signal):
    r"""Acceleration of a bearing housing in g, two axes: normal (0), or with a fault (1).

    The shaft's speed drifts slowly with the load. Imbalance turns with it, ``cos`` on the
    horizontal axis, ``sin`` on the vertical one: 0.1 g, and 0.4 g more with the fault "imbalance".
    "looseness" adds all half orders up to the fourth. A bearing defect is struck at its frequency,
    with 1 % of slip, and the housing rings, up to 1.5 g: of an inner race most when it is under the
    load, once a turn, and of a ball when the cage brings it there. Noise is 0.1 g.

    A fault has 10 % of that height when it begins. It comes and goes, with a severity of its own
    each time; or it begins at `onset_s` and grows.

    Parameters
    ----------
    seed : int
    rate : float
        Samples per second, at least 500.
    onset_s : float, optional
        When the fault begins, seconds. Before it there is none.
    growth_s : float
        How long it grows then, seconds.
    defect : {"outer-race", "inner-race", "ball", "imbalance", "looseness"}
    """

    feature_names = ("horizontal", "vertical")
    class_names = ("normal", "fault")
    _block = 1024
    _LOWEST_RATE = 500.0
    _STRETCH_S = 20.0  # mean time in one state
    _RINGS_PERIODS = 16  # then a ring has decayed to e^-8
    _SLIP = 0.01
    _SPEED_HZ = 28.0  # mean turns per second
    _DRIFT = 0.02  # how far they drift from it, as a share

    def __init__(
        self,
        seed: int = 0,
        *,
        rate: float = 2000.0,
        onset_s: float | None = None,
        growth_s: float = 300.0,
        defect: str = "outer-race",
    ) -> None:
        if not self._LOWEST_RATE <= rate <= 1e6:
            raise ValueError(
                f"rate must be {self._LOWEST_RATE:g} to 1e6 samples per second, got {rate:g}"
            )
        self.mean_stretch = self._STRETCH_S * rate
        super().__init__(seed)
        self.rate = float(rate)
        self.period_us = max(1, round(1e6 / rate))
        if defect not in DEFECTS:
            raise ValueError(f"defect must be one of {', '.join(DEFECTS)}, got {defect!r}")
        strikes, swing = {
            "outer-race": (OUTER_RACE, 0.0),
            "inner-race": (INNER_RACE, 1.0),
            "ball": (BALL_FACES, CAGE),
        }.get(defect, (0.0, 0.0))
        resonance = min(0.35 * rate, 3000.0)
        _check("growth_s", growth_s, 0, 1e9)
        if onset_s is not None:
            _check("onset_s", onset_s, -1e-9, 1e9)
            self._stretches = Onset(onset_s * rate, growth_s * rate)
        self._defect, self._strikes_per_turn, self._swing = defect, strikes, swing
        self._resonance_hz = resonance
        self._phases = self._rng.uniform(0, 2 * np.pi, 16)
        self._turns = 0.0  # of the shaft since the start
        self._next_strike = float(self._rng.random()) / strikes if strikes else np.inf  # turns
        n_rings = math.ceil(self._RINGS_PERIODS * rate / resonance)
        self._rings = np.arange(n_rings)
        self._tail = np.zeros(n_rings)  # of rings that go on in the next block

    def _make(self, n: int) -> Arrays:
        rng = self._rng
        state, severity = self._stretches.take(n)
        height = np.where(state > 0, _FIRST_SHARE + (1 - _FIRST_SHARE) * severity, 0.0)
        load = wandering(self._clock(n) / self.rate, self._phases, 613.7, 97.3, 31.7)
        speed = self._SPEED_HZ * (1 + self._DRIFT * load)
        turns = self._turns + np.cumsum(speed / self.rate)
        a = rng.standard_normal((2, n)) * (0.1 * np.exp(0.15 * load))
        self._add_imbalance(a, turns, speed, height if self._defect == "imbalance" else 0.0)
        if self._defect == "looseness":
            self._add_looseness(a, turns, height)
        if self._strikes_per_turn:
            ring = self._ring(turns, height)
            a += np.array([[0.5], [1.0]]) * ring
        self._turns = float(turns[-1])
        return a.T.astype(np.float32), state

    def _add_imbalance(self, a, turns, speed, height) -> None:
        u = (0.1 + 0.4 * height) * (speed / 28.0) ** 2
        theta = 2 * np.pi * turns
        a[0] += u * np.cos(theta) + 0.02 * np.cos(2 * theta + self._phases[3])
        a[1] += u * np.sin(theta) + 0.03 * np.cos(2 * theta + self._phases[4])

    def _add_looseness(self, a, turns, height) -> None:
        for half in range(1, 9):
            wave = np.cos(np.pi * half * turns + self._phases[4 + half])
            a += np.array([[0.5], [1.0]]) * (0.3 * height * wave / (1 + half / 2))

    def _ring(self, turns, height) -> NDArray[np.float64]:
        """What the strikes of this block, and the rings of the last one, add."""
        n, n_rings = len(turns), len(self._rings)
        struck = self._struck_until(turns[-1])
        before = [self._turns, *turns]
        at = np.interp(struck, before, np.arange(-1, n))  # between two samples
        first = np.maximum(np.ceil(at).astype(int), 0)
        places = first[:, None] + self._rings
        seconds = (places - at[:, None]) / self.rate
        push = 1.5 * height[first] * (1 + 0.1 * self._rng.standard_normal(len(struck)))
        if self._swing:
            push *= (1 + np.cos(2 * np.pi * self._swing * struck)) / 2
        decayed = np.exp(-seconds * self._resonance_hz / 2)
        waves = push[:, None] * decayed * np.sin(2 * np.pi * self._resonance_hz * seconds)
        ring = np.zeros(n + n_rings)
        ring[:n_rings] = self._tail
        np.add.at(ring, places, waves)
        self._tail = ring[n:]
        return ring[:n]

    def _struck_until(self, turns: float) -> NDArray[np.float64]:
        """The shaft's turns at each strike up to now."""
        struck = []
        while self._next_strike <= turns:
            struck.append(self._next_strike)
            slip = 1 + self._SLIP * self._rng.standard_normal()
            self._next_strike += slip / self._strikes_per_turn
        return np.array(struck)
