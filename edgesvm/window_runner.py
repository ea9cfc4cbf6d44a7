"""The main job with raw samples: a prediction for each window of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgesvm.core.status import Status
from edgesvm.errors import SampleRefused
from edgesvm.link import Link
from edgesvm.link.frames import REJECTED
from edgesvm.preprocessing.chain import Chain
from edgesvm.preprocessing.in_order import InOrder
from edgesvm.runner import FATES, Runner

COUNTS = (
    *("pushed", "late_samples", "refused_samples", "labels_refused", "gaps"),
    *("windows", "windows_begun", "windows_dropped", "windows_open"),
)


class WindowRunner(Runner):
    """Passes raw samples from a link to a chain, and back a prediction for each window, with the
    number of its last sample.

    A window that samples are missing from is dropped. Every sample and every window is accounted
    for: ``taken = pushed + late_samples + refused_samples``, ``windows = learned + unlabelled +
    refused_value + unknown_label + over_rate`` and ``windows_begun = windows +
    windows_dropped + windows_open``.

    Parameters
    ----------
    link : Link
        Open, without late labels.
    chain : Chain
        Allocated; its labels are the integers of the link.
    **options : Any
        As for `Runner`; its rolling accuracy and its labels per second are of windows.

    Attributes
    ----------
    taken : int
        Raw samples taken from the link.
    pushed, late_samples, refused_samples, gaps : int
        As `pushed`, `late`, `refused` and `gaps` of `InOrder`.
    labels_refused : int
        Samples taken in without their label, for which the learner has no room.
    windows, windows_begun, windows_dropped, windows_open : int
        Windows completed; begun; dropped at a gap; and those that the next sample is in too.
    learned, unlabelled, refused_value, unknown_label, over_rate : int
        What became of the windows.
    score, forecasts :
        Of the windows that were learned.

    Raises
    ------
    ValueError
        The link has late labels.
    """

    def __init__(self, link: Link, chain: Chain, **options: Any) -> None:
        if link.late is not None:
            raise ValueError(
                f"{link.name}: labels come after their samples, but a window needs them with its"
                " samples; give --label none to predict only"
            )
        super().__init__(link, chain.learner_, **options)
        self._chain = chain
        self._samples = InOrder(self._window, self._gap)
        chain.gap()  # a window that was saved half full does not go on: what came since is unknown
        self.windows = self.labels_refused = 0
        self.remarks.facts.names = chain.windows_.names()
        self.remarks.facts.samples_a_window = chain.windows_.window
        self._epochs = link.epochs
        self._begun = self._run_from = 0
        self._dropped_before = chain.windows_.n_dropped_

    @property
    def model(self) -> Chain:
        return self._chain

    def handle_waiting(self, at_most: int | None = None) -> int:
        """As in `Runner`; a node that has restarted may reach the number that is due by chance."""
        if self.link.epochs != self._epochs:
            self._epochs = self.link.epochs
            self._samples.begin_again()
        return super().handle_waiting(at_most)

    def handle(self, x: np.ndarray, label: int | None, sequence: int, weight: float = 1.0) -> None:
        """Take in one raw sample; predict the window that it completes, learn it, and send the
        prediction.

        Parameters
        ----------
        x : ndarray of shape (n_channels,), of the chain's dtype
        label : int or None
            None if the sample has no label.
        sequence : int
            The sample's sequence number.
        weight : float, default 1.0
            With weight 0 the label does not count; all other weights count alike.
        """
        self.taken += 1
        try:
            window = self._samples.push(sequence, x, label if weight > 0 else None)
        except SampleRefused:
            if self.answers:
                self.link.send_prediction(sequence, 0, 0.0, REJECTED)
            return
        if window is not None:
            self.windows += 1
            row, of_window = window
            self._answer(row, of_window, sequence, 1.0)

    def _window(self, x: np.ndarray, label: int | None) -> tuple[np.ndarray, Any] | None:
        try:
            return self._chain.window(x, label)
        except SampleRefused as refused:
            if refused.status != Status.UNKNOWN_LABEL:
                raise
            self.labels_refused += 1
            return self._chain.window(x)

    def _gap(self) -> None:
        self._begun = self.windows_begun
        self._run_from = self.pushed
        self._chain.gap()

    @property
    def pushed(self) -> int:
        return self._samples.pushed

    @property
    def late_samples(self) -> int:
        return self._samples.late

    @property
    def refused_samples(self) -> int:
        return self._samples.refused

    @property
    def gaps(self) -> int:
        return self._samples.gaps

    @property
    def windows_begun(self) -> int:
        return self._begun + -(-self._run // self._chain.windows_.hop)

    @property
    def windows_open(self) -> int:
        windows = self._chain.windows_
        ended = max((self._run - windows.window) // windows.hop + 1, 0)
        return -(-self._run // windows.hop) - ended

    @property
    def windows_dropped(self) -> int:
        return self._chain.windows_.n_dropped_ - self._dropped_before

    @property
    def _run(self) -> int:
        """Samples since the last gap."""
        return self.pushed - self._run_from

    def counters(self) -> dict[str, Any]:
        """The counters of the samples, the windows and the link, in one dict."""
        return {**super().counters(), **{name: getattr(self, name) for name in COUNTS}}

    def check_identities(self) -> list[str]:
        """Counter identities that do not hold, including the link's; empty if all hold."""
        sums = {
            "taken": ("pushed", "late_samples", "refused_samples"),
            "windows": FATES,
            "windows_begun": ("windows", "windows_dropped", "windows_open"),
        }
        broken = list(self.link.check_identities())
        for total, parts in sums.items():
            accounted = sum(getattr(self, part) for part in parts)
            if getattr(self, total) != accounted:
                broken.append(f"{total} {getattr(self, total)} = {' + '.join(parts)} = {accounted}")
        return broken
