"""A learner and the detector of its drift: each found drift is kept for a report, and answered."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from edgesvm.drift.detector import Detector
from edgesvm.learner import Learner

MOST_KEPT = 10


class Drift(NamedTuple):
    """Number of errors added when it was found, from 1; mean error before it, and since."""

    sample: int
    before: float
    now: float

    def __str__(self) -> str:
        before, now = (f"{100 * share:.0f} %" for share in (self.before, self.now))
        return f"drift at sample {self.sample:,}: error {before} before, {now} now"


class DriftWatch:
    """Tells a detector whether a learner is wrong about each sample just before it learns it.

    It asks the learner for that, a decision a sample: with late labels the prediction that was sent
    is older, maybe from before a reset, and says nothing about the model as it is.

    Parameters
    ----------
    learner : Learner
    detector : Detector
    reset : bool
        Whether the learner starts over at a drift: all that was learned is forgotten, by stages
        around it too, and the memory and the labels stay.
    report : callable
        Called with each `Drift`, after the reset.

    Attributes
    ----------
    last : deque of Drift
        The last 10.
    n_resets : int

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import PageHinkley, StreamSVM
    >>> learner = StreamSVM().allocate(n_features=2, classes=["fault", "fine"])
    >>> watch = DriftWatch(learner, PageHinkley(), reset=True, report=print)
    >>> X = np.random.default_rng(0).standard_normal((4000, 2)).astype(np.float32)
    >>> for i, x in enumerate(X):
    ...     label = "fine" if (x[0] > 0) == (i < 2000) else "fault"
    ...     if learner.is_fitted:
    ...         watch.ask(x)
    ...     changed = learner.learn_one(x, label)
    ...     was_reset = watch.score(label)
    drift at sample 2,006: error 2 % before, 100 % now
    >>> watch.n_resets, learner.n_seen_
    (1, 1993)
    """

    def __init__(
        self,
        learner: Learner,
        detector: Detector,
        *,
        reset: bool = False,
        report: Callable[[Drift], None] = lambda drift: None,
    ) -> None:
        self.learner, self.detector = learner, detector
        self.last: deque[Drift] = deque(maxlen=MOST_KEPT)
        self.n_resets = 0
        self._resets, self._report = reset, report
        self._answer: Any = None

    def ask(self, x: np.ndarray) -> None:
        """Take the answer for a sample that is about to be learned.

        Raises
        ------
        SampleRefused
            The learner refuses the sample.
        """
        self._answer = self.learner.predict_one(x)

    def score(self, label: Any) -> bool:
        """Add the error of the answer, now that the sample was learned. Returns whether the learner
        was reset; without an answer nothing is added.
        """
        if self._answer is None:
            return False
        is_wrong = bool(self._answer != label)
        self._answer = None
        if not self.detector.add(is_wrong):
            return False
        drift = Drift(self.detector.n_added_, self.detector.before_, self.detector.now_)
        self.last.append(drift)
        if self._resets:
            self.learner.reset(keep_labels=True)
            self.detector.reset()
            self.n_resets += 1
        self._report(drift)
        return self._resets

    def summary(self) -> dict[str, Any]:
        """All results, for a JSON line."""
        return {
            "detector": repr(self.detector),
            "bytes": self.detector.nbytes,
            "drifts": self.detector.n_drifts_,
            "resets": self.n_resets,
            "last": [drift._asdict() for drift in self.last],
        }
