"""KernelNovelty: the public class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from edgesvm.contract.params import one_of, positive, whole
from edgesvm.contract.registry import registered
from edgesvm.core.packed_factor import packed_length
from edgesvm.learner import MAX_CAPACITY
from edgesvm.learners.novelty._kernel_novelty import KernelNoveltyCore
from edgesvm.learners.novelty.constants import CODES_PER_UNIT
from edgesvm.learners.novelty.novelty_learner import NoveltyLearner

__all__ = ["KernelNovelty"]

WIDTH = 3.0  # gamma, times 1 / n_features
# Far above the rounding of the matrix.
LEAST_NOISE, MOST_NOISE = {"compact": 1e-4, "exact": 1e-9}, 1e6


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class KernelNovelty(NoveltyLearner):
    """What is normal as the span of some centres in feature space: any shape, not one cloud. No
    labels.

    Show it samples of a machine that runs well. Each sample is scored before it is learned, and the
    scores set the threshold. It scales its features itself.

    Parameters
    ----------
    max_vectors : int, default 64
        Number of centres.
    gamma : float, optional
        Width of the kernel exp(-gamma |x - z|^2) of scaled samples; > 0. Default: 3 / n_features.
    noise : float, default 0.01
        How much of a sample's squared length counts as noise; at least 1e-4, or 1e-9 with
        ``storage="exact"``, and at most 1e6.
    alarm_rate : float, default 1e-3
        Alarms a sample, in the long run; 1e-9 to 0.05. The threshold follows the alarms, so the
        rate holds on whatever comes, faults included.
    learn : {"normal", "all", "until N"}, default "normal"
        "normal": nothing is learned during an alarm, so a fault does not become normal at once.
        "all": everything is learned. "until 5000": the first 5000 samples are learned whatever they
        score, and nothing after them; the threshold still follows. N is from 20 to 2^30.
    warm_up : int, default 100
        Samples at the start that are learned whatever they score; with "until N" it is N.
    dtype : {"float32", "float64"}, default "float32"
        Type of the samples.
    storage : {"compact", "exact"}, default "compact"
        "compact": centres in 16 bits, in steps of 1/1365 of a deviation, and the matrix in float32.
        "exact": centres in `dtype`, the matrix in float64; in the same bytes, fewer centres.
    stuck : {"skip", "learn"}, default "skip"
        What becomes of the samples of a sensor that repeats its value; see `GaussianNovelty`.
    alarm : "K/N", default "1/1"
        An alarm begins where K of the last N scores are above the threshold; N at most 64.

    Attributes
    ----------
    centres_ : ndarray of shape (n_centres, n_features)
    counts_ : ndarray of shape (n_centres,), float64
    offset_ : float
    mean_, scale_ : ndarray of shape (n_features,), float64
    n_alarms_, n_strange_, n_stuck_, n_lost_, n_seen_, n_updates_, n_features_in_
    stuck_features_ : list of int
    alarm_on_, is_lost_, is_frozen_, has_former_ : bool
    alarm_share_ : float

    Notes
    -----
    ``score_one`` is -log(e), e = k' (K + noise I)^-1 k, k the kernel of the sample with the
    centres and K that of the centres: e is the share of the sample's squared length that lies in
    their span, and 1 - e the squared distance to it, as in kernel principal components (Hoffmann
    2007) with all of them; the variance of a Gaussian process (Kemmler, Rodner, Wacker & Denzler
    2013).

    A centre is the mean of the samples it counts. Where there is no room for one more, the two
    whose merging moves samples least (Ward 1963) become one. The threshold, and what becomes of
    alarms that do not end, is as in `GaussianNovelty`.

    ``shares_one``: feature j counts by score(x) - score(x'), x' the scaled sample with feature j of
    the centres, their mean by weights counts_i exp(-gamma |x - c_i|^2), distances without feature
    j: what the other features lead one to expect. It may be less strange than x by nothing: 0.
    Time: n_features scores.

    Bytes: see ``plan``; 112 + D s, D = n_features, s = 4 or 8, with stuck="skip" D (s + 4) + 4; two
    models of 72 + 8 N + 16 D + M (2 D + 24) + 2 M (M + 1), M = max_vectors; scratch, 24 M + 4 D;
    and padding. Exact, the models have M (D s + 24) + 4 M (M + 1), the scratch 32 M + 16 + D s.
    Time: a score is M (D + M / 2) steps, a sample learned some five times that.

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

    max_vectors: int = 64
    gamma: float | None = None
    noise: float = 0.01
    storage: str = "compact"

    def _check_params(self) -> None:
        super()._check_params()
        whole("max_vectors", self.max_vectors, 2, MAX_CAPACITY)
        if self.gamma is not None:
            positive("gamma", self.gamma)
        one_of("storage", self.storage, "compact", "exact")
        least = LEAST_NOISE[self.storage]
        if not least <= positive("noise", self.noise) <= MOST_NOISE:
            raise ValueError(
                f"noise={self.noise!r}: give a number from {least} (storage={self.storage!r}) to"
                f" {MOST_NOISE}"
            )

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return 2, MAX_CAPACITY

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        m = whole("max_vectors", self.max_vectors, 2, MAX_CAPACITY)
        stored = "i2" if self._is_compact else self.dtype
        own = [
            ("n_held", "i8", ()),
            ("centres", stored, (m, n_features)),
            ("counts", "f8", (m,)),
            ("cost", "f8", (m,)),
            ("partner", "i8", (m,)),
            ("factor", "f4" if self._is_compact else "f8", (packed_length(m),)),
        ]
        return self._scales(
            n_features,
            own,
            [
                *([("coded", stored, (n_features,))] if self._is_compact else []),
                ("merged", stored, (n_features,)),
                ("scratch", "f8", (3 * m if self._is_compact else 4 * m + 2,)),
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
