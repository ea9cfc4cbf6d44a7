"""Learners of what is normal, without labels, and the rate of alarms that they are asked for."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.budget import (
    NOT_NEGATIVE,
    SCRATCH,
    SHARE,
    SIGNED,
    WORK,
    Line,
    Table,
    up_to,
)
from edgesvm.contract.counter import Counter
from edgesvm.contract.inputs import Matrix
from edgesvm.contract.params import among, between, optional, param, positive, within
from edgesvm.contract.registry import registered
from edgesvm.core.packed_factor import packed_length
from edgesvm.learner import MAX_CAPACITY, Learner, fits
from edgesvm.learners.kinds import NORMAL, STRANGE, Unlabelled
from edgesvm.learners.novelty import earlier
from edgesvm.learners.novelty._novelty import GaussianNoveltyCore, KernelNoveltyCore

__all__ = [
    "NORMAL",
    "STRANGE",
    "GaussianNovelty",
    "KernelNovelty",
    "NoveltyLearner",
    "alarm_rate_of",
]

Self = TypeVar("Self", bound="NoveltyLearner")
Arrays = Sequence[Line]

ABOVE = 0.1  # share of the scores in the tail, and of those that are strange
LEAST_RATE, MOST_RATE = 1e-9, 0.05  # of alarms
LEAST_UNTIL, MOST_WARM_UP = 20, 1 << 30
UNTIL = re.compile(r"until ([0-9]{1,10})")
K_OF_N = re.compile(r"([0-9]{1,2})/([0-9]{1,2})")
MOST_RECENT = 64
MOST_SHIFT = 1e3  # deviations; the steps of 2^63 samples add up to 420
FARTHEST = 1e100  # largest score: its square is a number
ALARM = {  # what the core keeps of alarms, in its order, and the bounds
    "integral": (-MOST_SHIFT, 1e15),
    **dict.fromkeys(("share", "on"), SHARE),
    **dict.fromkeys(("strange", "age"), NOT_NEGATIVE),
    "highest": up_to(FARTHEST),
    "lost": SHARE,
    **dict.fromkeys(("calm", "n_lost", "n_stuck"), NOT_NEGATIVE),
}
TAIL = (  # of the scores: mean, variance, level, excess, number above, shift
    *(up_to(FARTHEST), (0.0, 4.0 * FARTHEST**2), up_to(MOST_SHIFT)),
    *((-0.5, FARTHEST), NOT_NEGATIVE, (-MOST_SHIFT, 1e15)),
)
WIDTH = 3.0  # gamma of the kernel, times 1 / n_features
# Far above the rounding of the matrix.
LEAST_NOISE, MOST_NOISE = {"compact": 1e-4, "exact": 1e-9}, 1e6
CODES_PER_UNIT = 1365  # of centres in 16 bits, as in core/codes.pxd


def k_of_n(name: str, text: Any) -> tuple[int, int]:
    """K and N of "K/N": an alarm begins where K of the last N scores are above the threshold."""
    if text == earlier.SETTLED:
        return 1, 1
    found = K_OF_N.fullmatch(text) if isinstance(text, str) else None
    k, n = (int(number) for number in found.groups()) if found else (0, 0)
    if not 1 <= k <= n <= MOST_RECENT:
        raise ValueError(f"{name}={text!r}: give K/N, 1 <= K <= N <= {MOST_RECENT}, such as 3/5")
    return k, n


def until(name: str, text: Any) -> int:
    """Samples to learn before nothing is learned any more; 0: there is no such number."""
    if text in ("normal", "all"):
        return 0
    found = UNTIL.fullmatch(text) if isinstance(text, str) else None
    if found is None or not LEAST_UNTIL <= int(found[1]) <= MOST_WARM_UP:
        raise ValueError(
            f"{name}={text!r}: give 'normal', 'all' or 'until N', N from {LEAST_UNTIL} to"
            f" {MOST_WARM_UP:,}"
        )
    return int(found[1])


@dataclass(kw_only=True, eq=False, repr=False)
class NoveltyLearner(Unlabelled):
    """Base of the learners without labels; see `GaussianNovelty` for the parameters and how to use
    one. To scikit-learn they are outlier detectors."""

    _absent: ClassVar[Mapping[str, Any]] = {"stuck": "learn", "alarm": earlier.SETTLED}
    _since: ClassVar[Mapping[str, Any]] = {"alarm": "1/1"}  # see `persist.store.upgraded`
    _read_earlier: ClassVar[Any] = staticmethod(earlier.read)

    shuffles: ClassVar[bool] = False  # rows in time order

    n_alarms_ = Counter("Alarms that began.")
    n_strange_ = Counter("Samples, learned or not, that were above the threshold.")

    alarm_rate: float = param(1e-3, between(LEAST_RATE, MOST_RATE))
    learn: str = param("normal", until)
    warm_up: int = param(100, within(1, MOST_WARM_UP))
    dtype: str = "float32"
    stuck: str = param("skip", among("skip", "learn"))
    alarm: str = param("1/1", k_of_n)

    def _until(self) -> int:
        return until("learn", self.learn)

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
            ("recent", "f8", (k_of_n("alarm", self.alarm)[1],), up_to(FARTHEST)),
            ("tail", "f8", (6,), TAIL),
            ("mean", "f8", (n_features,)),
            ("spread", "f8", (n_features,), NOT_NEGATIVE),
            *model,
        ]
        return [
            ("n_strange", "i8", ()),
            ("n_alarms", "i8", ()),
            ("alarm", "f8", (len(ALARM),), tuple(ALARM.values())),
            *(sensors if self.stuck == "skip" else []),
            *whole_model,
            *((f"former_{name}", *rest) for name, *rest in whole_model),
            ("scaled", self.dtype, (n_features,), SCRATCH),
            *scratch,
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        if self.alarm == earlier.SETTLED:
            raise ValueError(f"alarm={self.alarm!r} is of snapshots of earlier builds: give 'K/N'")
        k, n = k_of_n("alarm", self.alarm)
        terms = [math.comb(n, i) * ABOVE**i * (1 - ABOVE) ** (n - i) for i in range(k, n + 1)]
        return {
            "rate": float(self.alarm_rate),
            "warm_up": self._until() or int(self.warm_up),
            "learns_all": self.learn == "all",
            "k": k,
            "n": n,
            "gate": math.log(ABOVE / sum(terms)),
            "until": self._until(),
        }

    # -- learning, without labels ------------------------------------------------------------------

    def watch_one(self, x: ArrayLike) -> None:
        """Count one sample as `learn_one` does, and learn nothing of it."""
        self._learn_as("only_looks_on", x)

    def learn_normal(self, x: ArrayLike) -> None:
        """Learn one sample as normal, whatever it scores: of an alarm that was none. The threshold
        stays. ValueError with learn="until N"."""
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
        """End the warm-up now; `warm_up` becomes the number of samples learned. NotFittedError
        before the first, ValueError with learn="until N"."""
        if self._until():
            raise ValueError(f"learn={self.learn!r} says when the warm-up ends")
        with self._guard:
            core, params = self._fitted, self._held_state.params
            core.warm_up = self.warm_up = params["warm_up"] = self.n_updates_

    @fits
    def fit(self: Self, X: Matrix, y: Any = None) -> Self:  # type: ignore[override]
        """Forget what was learned, then learn the rows, at least one, in one pass. The threshold is
        the one of all rows, and follows the alarms of the last ones no longer."""
        rows, _, _ = self._guard.call(self._rows_to_fit, X, None, None)
        self._forget(rows.shape[1])
        self.partial_fit(rows)
        with self._guard:  # of rows in any order: the last alarms say nothing of the next
            self.core.views["alarm"][list(ALARM).index("integral")] = 0.0
        return self

    # -- scores ------------------------------------------------------------------------------------

    def shares_one(self, x: ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
        """Which features make one sample strange: ndarray of shape (n_features,), float64, not
        negative, with sum 1; with `out` no memory is allocated.

        The share of feature j is by how much x were less strange if x_j were what the other
        features lead one to expect, over the sum of all; see the class. If that helps nowhere, the
        shares are equal.
        """
        return self._fitted.shares_one(x, out)

    @property
    def is_frozen_(self) -> bool:
        """Whether learn="until N" has learned its N samples; False with the other choices."""
        return 0 < self._until() <= self.n_updates_

    @property
    def offset_(self) -> float:
        """Minus the threshold of ``score_one``: ``decision_function`` is ``score_samples -
        offset_``."""
        return -float(self._fitted.threshold)

    @property
    def alarm_on_(self) -> bool:
        """Whether an alarm is on after the last sample; it is for at most 10."""
        return self.is_fitted and self._of_alarm("on") > 0

    @property
    def alarm_share_(self) -> float:
        """Share of samples in an alarm among about the last 350."""
        return self._of_alarm("share")

    @property
    def stuck_features_(self) -> list[int]:
        """Numbers of the features that repeat their value although they used to change."""
        return list(self.core.stuck) if self.is_fitted else []

    @property
    def n_stuck_(self) -> int:
        """Samples that were neither learned nor judged, because a feature was stuck."""
        return int(self._of_alarm("n_stuck"))

    @property
    def n_apart_(self) -> int:
        """Samples held apart: of what is strange, until it ends."""
        return int(self.core.views["former_n_kept"]) if self.is_fitted else 0

    @property
    def is_lost_(self) -> bool:
        """Whether those are 250 at least, and what is like them raises no alarm."""
        return self._of_alarm("lost") > 0

    @property
    def n_lost_(self) -> int:
        """Times that the learner got lost."""
        return int(self._of_alarm("n_lost"))

    def _of_alarm(self, name: str) -> float:
        return float(self.core.views["alarm"][list(ALARM).index(name)])

    @property
    def mean_(self) -> np.ndarray:
        """Mean of each feature, ndarray of shape (n_features,), float64; a copy."""
        return self.core.views["mean"].copy()

    @property
    def scale_(self) -> np.ndarray:
        """Standard deviation of each feature, ndarray of shape (n_features,), float64."""
        views = self.core.views
        return np.sqrt(views["spread"] / max(int(views["n_kept"]), 1))


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class GaussianNovelty(NoveltyLearner):
    """What is normal as one Gaussian: running mean and covariance, Mahalanobis distance. No labels.

    Each sample is scored before it is learned, and the scores set the threshold. It scales its
    features itself.

    Parameters
    ----------
    covariance : {"full", "diagonal"}, default "full"
        "diagonal" leaves out which features go together: 36 D + 2 D s bytes instead of some 8 D^2.
    alarm_rate : float, default 1e-3
        Alarms a sample, in the long run; 1e-9 to 0.05. The threshold follows the alarms, so the
        rate holds on whatever comes, faults included.
    learn : {"normal", "all", "until N"}, default "normal"
        "normal": what is strange is held apart, so that a fault is not learned; see Notes. "all":
        everything is learned. "until 5000": the first 5000 samples are learned whatever they
        score, and nothing after them; the threshold still follows. N is from 20 to 2^30.
    warm_up : int, default 100
        Samples at the start that are learned whatever they score; with "until N" it is N.
    dtype : {"float32", "float64"}, default "float32"
        Type of the samples.
    stuck : {"skip", "learn"}, default "skip"
        What becomes of the samples of a sensor that repeats its value; see Notes.
    alarm : "K/N", default "1/1"
        An alarm begins where K of the last N scores are above the threshold; N at most 64.

    Notes
    -----
    ``score_one`` is d / sqrt(n_features), d the Mahalanobis distance of the scaled sample: some 1
    for normal samples. What is z > 8 deviations away counts as 8 + log(z / 8). The covariance is
    that of the scaled samples, cut at 8, and one more with the identity.

    ``shares_one``: feature j counts by (A^-1 z)_j^2 / (A^-1)_jj, A the covariance and z the scaled
    sample (reconstruction-based contributions: Alcala & Qin 2009); with a diagonal by z_j^2. Time:
    O(n_features^3), or O(n_features) with a diagonal.

    The threshold is a level that a tenth of the scores is above, and an exponential tail from
    there. Each alarm lifts it and each sample without lowers it (adaptive conformal inference:
    Gibbs & Candes 2021): T samples have at most ``alarm_rate`` T alarms and a number that does not
    grow with T. An alarm, ``alarm_on_``, lasts while the scores are above, for at most 10 samples:
    then what is strange must grow by a mean excess, or end, before another begins.

    A score that one in ten exceeds is strange, at any ``alarm_rate``. A strange sample is not
    learned; others are, the n-th at 1 / n. From when the strange ones less half of the others come
    to 4, until 5 in a row are not, samples are held apart, in a model of their own: ``n_apart_``.
    While they are held the threshold sinks, by a tenth of a mean excess each, down to what is
    strange. After 250 the learner ``is_lost_``: what is like them raises no alarm, and what is
    strange beside both models does. Once they are more than all that was learned, what comes is
    learned too. ``learn_normal`` says sooner that a sample is normal.

    A feature that used to change with nearly every sample and then repeats its value 50 times is
    stuck until it changes, as is a sample as a whole. What comes meanwhile is not learned, but
    counted in ``n_stuck_``.

    Bytes: see ``plan``; 112 + D s, D = n_features, s = 4 or 8, with stuck="skip" D (s + 4) + 4; two
    models of 64 + 8 N + 16 D and with the full covariance 4 D (D + 1); its scratch, 24 D + 16; and
    padding. Time: O(D) per sample, with the full covariance O(D^2).

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import GaussianNovelty
    >>> X = np.random.default_rng(0).standard_normal((2000, 3)).astype(np.float32)
    >>> X[:, 2] = X[:, 0] + X[:, 1]
    >>> model = GaussianNovelty().partial_fit(X)
    >>> fine, odd = np.float32([1.0, 1.0, 2.0]), np.float32([1.0, 1.0, -2.0])
    >>> model.predict_one(fine), model.predict_one(odd)
    (1, -1)
    """

    _compiled = GaussianNoveltyCore
    _param_order = ("covariance", "alarm_rate", "learn", "warm_up", "dtype", "stuck", "alarm")

    covariance: str = param("full", among("full", "diagonal"))

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return 0, 0

    def _arrays(self, n_features: int) -> Table:
        if self.covariance == "diagonal":
            return self._scales(n_features)
        own = [("factor", "f8", (packed_length(n_features),))]
        return self._scales(n_features, own, [("scratch", "f8", (3 * n_features + 2,), SCRATCH)])


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class KernelNovelty(NoveltyLearner):
    """What is normal as the span of some centres in feature space: any shape, not one cloud. No
    labels.

    Parameters
    ----------
    max_vectors : int, default 64
        Number of centres.
    gamma : float, optional
        Width of the kernel exp(-gamma |x - z|^2) of scaled samples; > 0. Default: 3 / n_features.
    noise : float, default 0.01
        How much of a sample's squared length counts as noise; at least 1e-4, or 1e-9 with
        ``storage="exact"``, and at most 1e6.
    storage : {"compact", "exact"}, default "compact"
        "compact": centres in 16 bits, in steps of 1/1365 of a deviation, and the matrix in float32.
        "exact": centres in `dtype`, the matrix in float64; in the same bytes, fewer centres.
    alarm_rate, learn, warm_up, dtype, stuck, alarm
        As in `GaussianNovelty`.

    Notes
    -----
    ``score_one`` is -log(e), e = k' (K + noise I)^-1 k, k the kernel of the sample with the centres
    and K that of the centres: e is the share of the sample's squared length that lies in their span
    (kernel principal components: Hoffmann 2007).

    A centre is the mean of the samples it counts. Where there is no room for one more, the two
    whose merging moves samples least (Ward 1963) become one. The threshold, and what is held
    apart, are as in `GaussianNovelty`.

    ``shares_one``: feature j counts by score(x) - score(x'), x' the scaled sample with feature j of
    the centres near its other features. Time: n_features scores.

    Bytes: see ``plan``; beside the scaler's as in `GaussianNovelty`, two models of 72 + 8 N + 16 D
    + M (2 D + 24) + 2 M (M + 1), M = max_vectors; scratch, 24 M + 4 D. Exact, the models have M (D
    s + 24) + 4 M (M + 1), the scratch 32 M + 16 + D s. Time: a score is M (D + M / 2) steps, a
    sample learned some five times that.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import KernelNovelty
    >>> turn = np.random.default_rng(0).uniform(0, 2 * np.pi, 3000)
    >>> X = np.stack([np.cos(turn), np.sin(turn)], axis=1).astype(np.float32)
    >>> model = KernelNovelty.within("4KiB", n_features=2).partial_fit(X)
    >>> model.predict_one(X[0]), model.predict_one(np.float32([0.0, 0.0]))
    (1, -1)
    """

    _compiled = KernelNoveltyCore
    _capacity = "max_vectors"
    _param_order = (
        *("max_vectors", "gamma", "noise", "alarm_rate", "learn", "warm_up", "dtype"),
        *("storage", "stuck", "alarm"),
    )
    _absent: ClassVar[Mapping[str, Any]] = {**NoveltyLearner._absent, "storage": "exact"}

    max_vectors: int = param(64, within(2, MAX_CAPACITY))
    gamma: float | None = param(None, optional(positive))
    noise: float = param(0.01, positive)
    storage: str = param("compact", among("compact", "exact"))

    def _check_params(self) -> None:
        super()._check_params()
        between(LEAST_NOISE[self.storage], MOST_NOISE)("noise", self.noise)

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return 2, MAX_CAPACITY

    def _arrays(self, n_features: int) -> Table:
        m = int(self.max_vectors)
        stored = "i2" if self._is_compact else self.dtype
        own = [
            ("n_held", "i8", ()),
            ("centres", stored, (m, n_features)),
            ("counts", "f8", (m,)),
            ("cost", "f8", (m,), NOT_NEGATIVE),
            ("partner", "i8", (m,), SIGNED),
            ("factor", "f4" if self._is_compact else "f8", (packed_length(m),)),
        ]
        return self._scales(
            n_features,
            own,
            [
                *([("coded", stored, (n_features,), SCRATCH)] if self._is_compact else []),
                ("merged", stored, (n_features,), WORK),
                ("scratch", "f8", (3 * m if self._is_compact else 4 * m + 2,), SCRATCH),
            ],
        )

    @property
    def _is_compact(self) -> bool:
        return self.storage == "compact"

    def _core_params(self, n_features: int) -> dict[str, Any]:
        gamma = WIDTH / n_features if self.gamma is None else float(self.gamma)
        return {
            **super()._core_params(n_features),
            "gamma": gamma,
            "noise": float(self.noise),
            "compact": self._is_compact,
        }

    @property
    def centres_(self) -> np.ndarray:
        """Centres, of scaled samples, ndarray of shape (n_centres, n_features); a copy."""
        views = self.core.views
        held = views["centres"][: int(views["n_held"])]
        return (held / CODES_PER_UNIT).astype(self.dtype) if self._is_compact else held.copy()

    @property
    def counts_(self) -> np.ndarray:
        """Samples that each centre is the mean of, ndarray of shape (n_centres,), float64."""
        views = self.core.views
        return views["counts"][: int(views["n_held"])].copy()


# -- the rate of alarms ---------------------------------------------------------------------------

BEYOND = 0.025  # of the alarms by chance, on either side
Z_95 = 1.959964
MANY = 500  # alarms, from which the Poisson distribution is a normal one
SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}


def alarm_rate_of(text: str, rate: float | None = None) -> float:
    """The share of samples that may alarm, from 1e-9 to 0.05, of a text: alarms in a stretch of
    time, as "1/day" or "2.5/hour" (second, minute, hour, day or week), which needs `rate`, samples
    a second; or a share, as "0.001". Raises ValueError.

    Examples
    --------
    >>> from edgesvm import alarm_rate_of
    >>> alarm_rate_of("36/hour", rate=10.0), alarm_rate_of("0.002")
    (0.001, 0.002)
    """
    alarms, seconds = read_rate(text)
    if seconds is None:
        return _in_range(alarms, repr(text))
    if rate is None:
        raise ValueError(f"{text!r} needs the samples a second: give rate=")
    samples = positive("rate", rate)
    return _in_range(alarms / seconds / samples, f"{text!r} at {samples:g} samples a second")


def read_rate(text: str) -> tuple[float, int | None]:
    """Alarms, and in how many seconds; None for a share. Raises ValueError if the text is none."""
    count, slash, unit = text.partition("/")
    seconds = SECONDS.get(unit.strip())
    try:
        alarms = positive("alarms", float(count))
    except ValueError:
        alarms = None
    if alarms is None or (slash and seconds is None):
        raise ValueError(
            f"{text!r} is no alarm rate: give alarms in a time, as 1/day (second, minute, hour,"
            " day or week), or a share of the samples, as 0.001"
        )
    return alarms, seconds


def by_chance(expected: float) -> tuple[int, int]:
    """Least and most alarms of a stream with `expected` in the mean: 95 % of the Poisson law."""
    if expected > MANY:
        half = Z_95 * math.sqrt(expected)
        return math.ceil(expected - half), math.floor(expected + half)
    n, below, least = 0, 0.0, None
    chance = math.exp(-expected)
    while below + chance < 1 - BEYOND:
        below += chance
        if least is None and below > BEYOND:
            least = n
        n += 1
        chance *= expected / n
    return n if least is None else least, n


def _in_range(share: float, what: str) -> float:
    if not LEAST_RATE <= share <= MOST_RATE:
        raise ValueError(
            f"{what} is {share:.3g} of the samples: it may be from {LEAST_RATE} to {MOST_RATE}"
        )
    return share
