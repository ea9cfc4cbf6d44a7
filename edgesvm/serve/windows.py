"""Raw samples become rows: windows of them, or each against the clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from edgesvm.core.status import Status
from edgesvm.errors import SampleRefused
from edgesvm.preprocessing.chain import Chain
from edgesvm.preprocessing.in_order import InOrder
from edgesvm.serve.job import Row, Stage


class Windows(Stage):
    """Windows of raw samples. One that samples are missing from is dropped; with `strict`, a label
    for which the learner has no room is an error, and not left out.

    Every sample and every window is accounted for: ``taken = pushed + late_samples +
    refused_samples`` and ``windows_begun = windows + windows_dropped + windows_open``.
    """

    steady = False

    def __init__(self, chain: Chain, *, strict: bool = False) -> None:
        self._chain, self._strict = chain, strict
        self.samples = InOrder(self._window, self._gap)
        chain.gap()  # a window that was saved half full does not go on: what came since is unknown
        self.windows = self.labels_refused = self._begun = self._run_from = 0
        self._dropped_before = chain.windows_.n_dropped_

    def row(self, x: np.ndarray, label: Any, weight: float, sequence: int) -> Row | None:
        window = self.samples.push(sequence, x, label if weight > 0 else None)
        if window is None:
            return None
        self.windows += 1
        return *window, 1.0

    def _window(self, x: np.ndarray, label: Any) -> tuple[np.ndarray, Any] | None:
        try:
            return self._chain.window(x, label)
        except SampleRefused as refused:
            if refused.status != Status.UNKNOWN_LABEL or self._strict:
                raise
            self.labels_refused += 1
            return self._chain.window(x)

    def _gap(self) -> None:
        self._begun = self.windows_begun
        self._run_from = self.samples.pushed
        self._chain.gap()

    def begin_again(self) -> None:
        self.samples.begin_again()

    @property
    def _run(self) -> int:
        """Samples since the last gap."""
        return self.samples.pushed - self._run_from

    @property
    def windows_begun(self) -> int:
        return self._begun + -(-self._run // self._chain.windows_.hop)

    @property
    def windows_open(self) -> int:
        """Those that the next sample is in too."""
        windows = self._chain.windows_
        ended = max((self._run - windows.window) // windows.hop + 1, 0)
        return -(-self._run // windows.hop) - ended

    @property
    def windows_dropped(self) -> int:
        return self._chain.windows_.n_dropped_ - self._dropped_before

    def counters(self) -> dict[str, int]:
        seen = self.samples
        return {
            "pushed": seen.pushed,
            "late_samples": seen.late,
            "refused_samples": seen.refused,
            "labels_refused": self.labels_refused,
            "gaps": seen.gaps,
            "windows": self.windows,
            "windows_begun": self.windows_begun,
            "windows_dropped": self.windows_dropped,
            "windows_open": self.windows_open,
        }

    def broken(self, taken: int) -> list[str]:
        c = self.counters()
        samples = c["pushed"] + c["late_samples"] + c["refused_samples"]
        begun = c["windows"] + c["windows_dropped"] + c["windows_open"]
        broken = [f"samples taken {taken} = {samples} in {c}"] if taken != samples else []
        if c["windows_begun"] != begun:
            broken.append(f"windows begun {c['windows_begun']} = {begun} in {c}")
        return broken


class Timed(Windows):
    """Samples against the clock, before `ClockFeatures`: the time, in seconds since Monday 0:00, is
    put behind each, if the samples do not have it."""

    steady = True

    def __init__(self, chain: Chain, time_of_week: Callable[[], float] | None) -> None:
        super().__init__(chain)
        self._time_of_week = time_of_week
        self._timed = np.zeros(chain.n_features_in_, chain.learner_.dtype)

    def row(self, x: np.ndarray, label: Any, weight: float, sequence: int) -> Row | None:
        if self._time_of_week is not None:
            self._timed[:-1], self._timed[-1] = x, self._time_of_week()
            x = self._timed
        return super().row(x, None, weight, sequence)
