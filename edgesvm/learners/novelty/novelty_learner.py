"""Learners of what is normal: methods without labels, and the parameters that all of them have."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.contract.inputs import Matrix
from edgesvm.contract.params import one_of, positive, whole
from edgesvm.learner import Learner, fits
from edgesvm.learners.novelty import earlier
from edgesvm.learners.novelty.constants import ALARM, LEAST_RATE, LEAST_UNTIL, MOST_RATE
from edgesvm.learners.unlabelled import NORMAL, STRANGE, Unlabelled

__all__ = ["NORMAL", "STRANGE", "NoveltyLearner"]

Self = TypeVar("Self", bound="NoveltyLearner")
Arrays = Sequence[tuple[str, str, tuple[int, ...]]]

MOST_WARM_UP = 1 << 30
UNTIL = re.compile(r"until ([0-9]{1,10})")
K_OF_N = re.compile(r"([0-9]{1,2})/([0-9]{1,2})")
MOST_RECENT = 64


def k_of_n(text: Any) -> tuple[int, int]:
    """K and N of "K/N": an alarm begins where K of the last N scores are above the threshold."""
    found = K_OF_N.fullmatch(text) if isinstance(text, str) else None
    k, n = (int(number) for number in found.groups()) if found else (0, 0)
    if not 1 <= k <= n <= MOST_RECENT:
        raise ValueError(f"alarm={text!r}: give K/N, 1 <= K <= N <= {MOST_RECENT}, such as 3/5")
    return k, n


@dataclass(kw_only=True, eq=False, repr=False)
class NoveltyLearner(Unlabelled):
    """Base of the learners without labels; see `GaussianNovelty` for how to use one. To
    scikit-learn they are outlier detectors.

    Parameters
    ----------
    alarm_rate : float, default 1e-3
    learn : {"normal", "all", "until N"}, default "normal"
    warm_up : int, default 100
    dtype : {"float32", "float64"}, default "float32"
    stuck : {"skip", "learn"}, default "skip"
    alarm : "K/N", default "1/1"
    """

    _absent: ClassVar[Mapping[str, Any]] = {"stuck": "learn", "alarm": earlier.SETTLED}
    _since: ClassVar[Mapping[str, Any]] = {"alarm": "1/1"}  # see `persist.earlier`
    _read_earlier: ClassVar[Any] = staticmethod(earlier.read)

    shuffles: ClassVar[bool] = False  # rows in time order

    alarm_rate: float = 1e-3
    learn: str = "normal"
    warm_up: int = 100
    dtype: str = "float32"
    stuck: str = "skip"
    alarm: str = "1/1"

    def _check_params(self) -> None:
        if not LEAST_RATE <= positive("alarm_rate", self.alarm_rate) <= MOST_RATE:
            raise ValueError(
                f"alarm_rate={self.alarm_rate!r}: give a rate from {LEAST_RATE} to {MOST_RATE}"
            )
        whole("warm_up", self.warm_up, 1, MOST_WARM_UP)
        one_of("stuck", self.stuck, "skip", "learn")
        self._until()
        self._k_of_n()

    def _until(self) -> int:
        """Samples to learn before nothing is learned any more; 0: there is no such number."""
        if self.learn in ("normal", "all"):
            return 0
        found = UNTIL.fullmatch(self.learn) if isinstance(self.learn, str) else None
        if found is None or not LEAST_UNTIL <= int(found[1]) <= MOST_WARM_UP:
            raise ValueError(
                f"learn={self.learn!r}: give 'normal', 'all' or 'until N', N from {LEAST_UNTIL} to"
                f" {MOST_WARM_UP:,}"
            )
        return int(found[1])

    def _k_of_n(self) -> tuple[int, int]:
        return (1, 1) if self.alarm == earlier.SETTLED else k_of_n(self.alarm)

    def _scales(self, n_features: int, model: Arrays = (), scratch: Arrays = ()) -> list[Any]:
        """The arrays of a learner whose model and scratch these are besides."""
        if self.alarm == earlier.SETTLED:
            known = earlier.arrays(self.dtype, n_features, self.stuck == "skip")
            return [*known, *model, *scratch]
        sensors = [
            ("values", self.dtype, (n_features,)),
            ("repeats", "i2", (n_features + 1,)),
            ("lively", "i2", (n_features + 1,)),
        ]
        whole_model = [
            ("n_kept", "i8", ()),
            ("n_scored", "i8", ()),
            ("recent", "f8", (self._k_of_n()[1],)),
            ("tail", "f8", (6,)),
            ("mean", "f8", (n_features,)),
            ("spread", "f8", (n_features,)),
            *model,
        ]
        return [
            ("n_strange", "i8", ()),
            ("n_alarms", "i8", ()),
            ("alarm", "f8", (len(ALARM),)),
            *(sensors if self.stuck == "skip" else []),
            *whole_model,
            *((f"former_{name}", dtype, shape) for name, dtype, shape in whole_model),
            ("scaled", self.dtype, (n_features,)),
            *scratch,
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        if self.alarm == earlier.SETTLED:
            raise ValueError(f"alarm={self.alarm!r} is of snapshots of earlier builds: give 'K/N'")
        k, n = self._k_of_n()
        return {
            "rate": float(self.alarm_rate),
            "warm_up": self._until() or int(self.warm_up),
            "learns_all": self.learn == "all",
            "k": k,
            "n": n,
            "until": self._until(),
        }

    # -- learning, without labels ------------------------------------------------------------------

    def learn_one(self, x: ArrayLike) -> bool:  # type: ignore[override]
        """Learn one sample, after its score has moved the threshold. Returns whether the model
        changed: with learn="normal" what is above the threshold, or in an alarm, is counted and not
        learned, with learn="until N" what comes after N samples, and what a stuck sensor sends
        never.

        Parameters
        ----------
        x : ndarray of shape (n_features,)
            With the learner's dtype no allocator call is made. Anything else is converted.

        Raises
        ------
        ValueError
            A feature is NaN, infinite or too large, or the length is wrong. The sample is not
            learned; the model does not change.
        """
        return Learner.learn_one(self, x, NORMAL)  # `super()` would allocate

    def watch_one(self, x: ArrayLike) -> None:
        """Count one sample as `learn_one` does, and learn nothing of it, as if `learn` were "until
        N" and N over.

        Raises
        ------
        As `learn_one`.
        """
        self._learn_as("only_looks_on", x)

    def learn_normal(self, x: ArrayLike) -> None:
        """Learn one sample as normal, whatever it scores: of an alarm that was none. The threshold
        stays, or the many scores of one alarm would lift it above others.

        Raises
        ------
        ValueError
            As `learn_one`; or with learn="until N", which learns the first N samples only.
        """
        if self._until():
            raise ValueError(f"learn={self.learn!r} learns nothing after that")
        self._learn_as("takes_as_normal", x)

    def _learn_as(self, how: str, x: ArrayLike) -> None:
        """Learn one sample with this flag of the core."""
        with self._guard:
            core = self._fitted
            setattr(core, how, True)
            try:
                Learner.learn_one(self, x, NORMAL)
            finally:
                setattr(core, how, False)

    def end_warm_up(self) -> None:
        """End the warm-up now: from the next sample on, what alarms is an alarm and, with
        learn="normal", is not learned. `warm_up` becomes the number of samples learned.

        Raises
        ------
        NotFittedError
            Nothing has been learned.
        ValueError
            With learn="until N" the warm-up ends after N samples.
        """
        if self._until():
            raise ValueError(f"learn={self.learn!r} says when the warm-up ends")
        with self._guard:
            core, params = self._fitted, self._held_state.params
            core.warm_up = self.warm_up = params["warm_up"] = self.n_updates_

    @fits
    def fit(self: Self, X: Matrix, y: Any = None) -> Self:  # type: ignore[override]
        """Forget what was learned, then learn the rows in one pass. The threshold is the one of all
        rows, and follows the alarms of the last ones no longer.

        Raises
        ------
        ValueError
            There is no row: nothing is forgotten. Otherwise as in ``partial_fit``.
        """
        rows, _, _ = self._guard.call(self._rows_to_fit, X, None, None)
        self._forget(rows.shape[1])
        self.partial_fit(rows)
        with self._guard:  # of rows in any order: the last alarms say nothing of the next
            self.core.views["alarm"][ALARM.index("integral")] = 0.0
        return self

    # -- scores ------------------------------------------------------------------------------------

    def shares_one(self, x: ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
        """Which features make one sample strange.

        The share of feature j is by how much x were less strange if x_j were what the other
        features lead one to expect, over the sum of all; see the class for what that is. If that
        helps nowhere, the shares are equal.

        Parameters
        ----------
        x : ndarray of shape (n_features,)
        out : ndarray of shape (n_features,), float64, optional
            Where to put the shares, so that no memory is allocated.

        Returns
        -------
        ndarray of shape (n_features,), float64, not negative, with sum 1

        Raises
        ------
        As `predict_one`.
        """
        return self._fitted.shares_one(x, out)

    @property
    def is_frozen_(self) -> bool:
        """Whether learn="until N" has learned its N samples; False with the other choices."""
        return 0 < self._until() <= self.n_updates_

    @property
    def offset_(self) -> float:
        """Rows with ``score_samples`` below it are alarms: minus the threshold of ``score_one``;
        ``decision_function`` is ``score_samples - offset_``."""
        return -float(self._fitted.threshold)

    @property
    def n_alarms_(self) -> int:
        """Alarms that began."""
        return int(self.core.views["n_alarms"])

    @property
    def n_strange_(self) -> int:
        """Samples, learned or not, that were above the threshold."""
        return int(self.core.views["n_strange"])

    @property
    def n_strange_lately_(self) -> int:
        """How many of the last N scores of `alarm` are above the threshold."""
        return int((self.core.views["recent"] > -self.offset_).sum())

    @property
    def alarm_on_(self) -> bool:
        """Whether an alarm is on after the last sample."""
        return self.is_fitted and self._of_alarm("on") > 0

    @property
    def alarm_share_(self) -> float:
        """Share of samples in an alarm among about the last 350."""
        return self._of_alarm("share")

    @property
    def stuck_features_(self) -> list[int]:
        """Features that repeat their value although they used to change: numbers of those for which
        the last sample was not learned. All, if all together do."""
        return list(self.core.stuck) if self.is_fitted else []

    @property
    def n_stuck_(self) -> int:
        """Samples that were neither learned nor judged, because a feature was stuck."""
        return int(self._of_alarm("n_stuck"))

    @property
    def is_lost_(self) -> bool:
        """Whether that share came above a half, and what is normal is being learned anew."""
        return self._of_alarm("lost") > 0

    @property
    def n_lost_(self) -> int:
        """Times that the learner got lost."""
        return int(self._of_alarm("n_lost"))

    @property
    def has_former_(self) -> bool:
        """Whether there is a model from before it was lost, which comes back if it fits again."""
        return self.is_fitted and int(self.core.views["former_n_kept"]) > 0

    def _of_alarm(self, name: str) -> float:
        return float(self.core.views["alarm"][ALARM.index(name)])

    @property
    def mean_(self) -> np.ndarray:
        """Mean of each feature, ndarray of shape (n_features,), float64; a copy."""
        return self.core.views["mean"].copy()

    @property
    def scale_(self) -> np.ndarray:
        """Standard deviation of each feature, ndarray of shape (n_features,), float64."""
        views = self.core.views
        return np.sqrt(views["spread"] / max(int(views["n_kept"]), 1))
