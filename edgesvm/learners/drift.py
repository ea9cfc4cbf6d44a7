"""Drift: when a learner's errors become more, in fixed memory, and what is done then."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.budget import SHARE, MemoryPlan
from edgesvm.contract.params import checked, not_negative, param, positive, within
from edgesvm.core.arena import Arena
from edgesvm.learner import Learner
from edgesvm.learners._drift import PageHinkleyCore
from edgesvm.learners.kernel_learner import OF_ERRORS

__all__ = ["DriftWatch", "PageHinkley"]

MOST_KEPT = 10
ARRAYS = [
    ("n_added", "i8", ()),
    ("n_drifts", "i8", ()),
    ("before", "f8", (), SHARE),
    ("now", "f8", (), SHARE),
    ("state", "f8", (6,), OF_ERRORS),
]


@dataclass(kw_only=True, eq=False)
class PageHinkley:
    """Finds where a learner's errors become more, by the test of Page and Hinkley.

    Add the error of each sample; `add` says whether errors are found to be more than before, and
    then starts over. The memory is taken when the detector is made; `pickle` and `copy` carry it
    on, bit for bit. It is no part of a learner's snapshot.

    Parameters
    ----------
    delta : float, default 0.1
        Tolerated rise of the error, >= 0, in standard deviations of the errors.
    threshold : float, default 50.0
        Sum of what is beyond it at which a drift is found, > 0, in standard deviations.
    min_samples : int, default 30
        Errors before the first drift can be found.

    Notes
    -----
    With the errors x_1 to x_t since the start, their mean and their standard deviation s_t,

        m_t = m_(t-1) + x_t - mean_t - delta s_t
        PH_t = m_t - min(m_0, ..., m_t) = max(0, PH_(t-1) + x_t - mean_t - delta s_t)
        drift if PH_t > threshold s_t

    (Page 1954; Mouss, Mouss, Mouss & Sefouhi 2004, who have delta and threshold as they are: there
    the false alarms depend on the rate of error.) s_t is at least 0.1. The change began where PH
    was last 0, so `before_` is the mean up to there and `now_` that from there on. Errors that
    become fewer are no drift.

    Bytes: 80. Time: some 60 ns a sample, 10 in `add_many`.

    Examples
    --------
    >>> from edgesvm import PageHinkley
    >>> detector = PageHinkley()
    >>> right, wrong = [0.0] * 9 + [1.0], [0.0, 1.0]  # one in ten wrong, then every second
    >>> found = detector.add_many(100 * right + 200 * wrong)
    >>> found.nonzero()[0].tolist(), detector.n_drifts_, detector.nbytes
    ([1041], 1, 80)
    >>> f"{detector.before_:.2f} before, {detector.now_:.2f} now"
    '0.10 before, 0.51 now'
    """

    delta: float = param(0.1, not_negative)
    threshold: float = param(50.0, positive)
    min_samples: int = param(30, within(1, 1 << 30))

    def __post_init__(self) -> None:
        plan, params = MemoryPlan.of(ARRAYS), checked(self)
        self._core = PageHinkleyCore(plan, Arena(plan.total), **params)

    @property
    def nbytes(self) -> int:
        """Size of the arena in bytes."""
        return int(self._core.arena.nbytes)

    @property
    def arena(self) -> Arena:
        """The memory; ``bytes(detector.arena)`` is the whole state."""
        return self._core.arena

    def add(self, error: float) -> bool:
        """Add the error of one sample, from 0 to 1: 1 if the prediction was wrong. Returns whether
        errors are now found to be more. ValueError for NaN and others: nothing has changed."""
        return bool(self._core.add(error))

    def add_many(self, errors: ArrayLike) -> np.ndarray:
        """Add errors in order; ndarray of shape (n,), bool, of what `add` would have returned.
        ValueError names the row; none of them was added."""
        given = np.ascontiguousarray(errors, np.float64)
        if given.ndim != 1:
            raise ValueError(f"errors of shape {given.shape}: give one number a sample")
        out = np.empty(len(given), bool)
        self._core.add_many(given, out)
        return out

    def reset(self) -> PageHinkley:
        """Forget the errors, as for a new learner; the counts and the last drift stay."""
        self._core.forget()
        return self

    @property
    def n_added_(self) -> int:
        """Errors so far."""
        return int(self._core.views["n_added"])

    @property
    def n_drifts_(self) -> int:
        """Drifts found."""
        return int(self._core.views["n_drifts"])

    @property
    def before_(self) -> float:
        """Mean error before the last drift; 0.0 while there was none."""
        return float(self._core.views["before"])

    @property
    def now_(self) -> float:
        """Mean error from the last drift on until it was found; 0.0 while there was none."""
        return float(self._core.views["now"])

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name != "_core"}
        return {**state, "_saved": bytes(self.arena)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.pop("_saved")
        self.__dict__.update(state)
        self.__post_init__()
        self.arena.memory[:] = np.frombuffer(saved, np.uint8)
        self._core.check()


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

    Parameters
    ----------
    learner : Learner
    detector : PageHinkley
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
        detector: PageHinkley,
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
        """Take the answer for a sample that is about to be learned; raises `SampleRefused`."""
        self._answer = self.learner.predict_one(x)

    def score(self, label: Any) -> bool:
        """Add the error of the answer, if there is one. Returns whether the learner was reset."""
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
