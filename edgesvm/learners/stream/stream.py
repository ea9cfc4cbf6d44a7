"""StreamSVM and KernelStreamSVM: the smallest ball around a stream, in one pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from edgesvm.budget import NOT_NEGATIVE, SHARE, Table
from edgesvm.contract.params import among, flag, param, positive, size, within
from edgesvm.contract.registry import registered
from edgesvm.learner import MAX_CAPACITY, Learner
from edgesvm.learners.kernel_learner import KERNEL, ForgettingLearner
from edgesvm.learners.stream._stream import KernelStreamSVMCore, StreamSVMCore
from edgesvm.learners.stream.constants import MAX_STORED_SQUARE

__all__ = ["KernelStreamSVM", "StreamSVM"]

BALL: Table = [
    ("R", "f8", (), (0.0, MAX_STORED_SQUARE**0.5)),
    *((name, "f8", (), (0.0, MAX_STORED_SQUARE)) for name in ("xi2", "ww", "q")),
]

MAX_BALLS = 1024  # with more, learning would not keep up: a sample outside costs O(M^2)

# Section 2 of the paper; it assumes samples of unit norm, which `normalize` makes of any others.
PRINTED: dict[str, Any] = {
    "C": 1.0,
    "bound": "upper",
    "slack": "paper",
    "join": "reach",
    "average": False,
    "fit_intercept": False,
}


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class StreamSVM(Learner):
    """Linear SVM learned in one pass by the smallest ball around the stream, in O(D) bytes.

    Parameters
    ----------
    C : float, default 1.0
        Penalty of the l2-SVM's squared slack; > 0.
    bound : {"lower", "upper"}, default "lower"
        "upper" is the paper's ball: it encloses every sample seen; the radius of one ball is at
        most 3/2 of the smallest. "lower" uses the dual value, which is at most the smallest radius
        and never falls. It needs one more number and is far more accurate on small margins, but its
        ball does not enclose the samples seen.
    average : bool, default True
        Decide by the mean of the weights after each sample, where sample t counts t times, or by
        the last weights, whichever was wrong less often lately. The mean is better in a stream
        without order; in one that changes with time it lags, since half of it is of the first 70 %
        of the samples. Every fourth of about the last 1,000 samples counts, asked before it was
        learned. It needs D + 3 more numbers. False: the last weights decide.
    n_balls : int, default 1
        Number of balls. A sample outside all of them becomes a new ball, and the cheapest pair is
        merged. Cannot be combined with `lookahead`.
    join : {"closest", "reach"}, default "closest"
        Which two of several balls to merge with ``bound="upper"``. "closest": those with the
        smallest joint ball. "reach": those whose joint ball reaches least far from the centre,
        which keeps the radius small and is less accurate.
    lookahead : int, default 0
        Number of outside samples to store besides the ball. When there are that many, ball and
        samples are replaced by the smallest ball around them. The paper's experiments use 6 to 8.
    slack : {"exact", "paper"}, default "exact"
        "paper" starts xi^2 at 1 and adds step^2, as printed; "exact" starts at 1/C and adds
        step^2/C, which is geometrically correct. Both are equal at C = 1.
    class_weight : {None, "balanced"}, default None
        "balanced" multiplies a sample's weight by n / (2 n_k), where n samples and n_k of its class
        have been learned so far, the sample included. A ball takes weights up slowly: classes that
        overlap come out balanced only with C=0.01 or several balls; try
        ``ByteSVM(class_weight="balanced")`` first.
    normalize : bool, default True
        Scale each sample, constant feature included, to unit norm, as the paper assumes. That does
        not change the sign of a decision. Zero rows stay zero. Without it one value far out turns
        the plane for good, unless `Standardized` is in front.
    fit_intercept : bool, default True
        Add a constant feature 1.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and weights.

    Notes
    -----
    Rai, Daumé III & Venkatasubramanian, "Single Pass SVM using Minimum Enclosing Ball of Streaming
    Data", 2008.

    Bytes: see ``plan``; 96 + 2 (D + 1) s for one ball, s = 4 or 8; 72 + (D + 1) s without
    ``average``. Time: O(D) per sample.

    The average is of what decisions would otherwise use: the centre of the ball around everything
    stored. ``coef_``, ``intercept_`` and decision values are those that decide; ``radius_`` is the
    last ball's. `merge` takes the mean of both averages, by the number of samples learned.

    With ``bound="upper"`` one ball absorbs about log N samples, too few for small margins in many
    dimensions. Every sample seen lies in the ball of radius ``radius_``: of one ball that was not
    merged at most 3/2 of the smallest (Zarrabi-Zadeh & Chan 2006).

    A weight s makes the sample's penalty C s: its own axis counts 1/(C s) in the centre and 1/C in
    distances (the centre-constrained ball of Tsang et al. 2007). The ball encloses samples of
    weights of at least 1 in this sense.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import StreamSVM
    >>> X = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.2]], dtype=np.float32)
    >>> model = StreamSVM(C=10.0).partial_fit(X, ["cold", "cold", "hot", "hot"])
    >>> model.predict_one(X[0])
    'cold'
    """

    _capacity = "lookahead"

    _compiled = StreamSVMCore
    _absent: ClassVar = {"join": "closest", "average": False, "class_weight": None}

    C: float = param(1.0, positive)
    bound: str = param("lower", among("upper", "lower"))
    n_balls: int = size(1, within(1, MAX_BALLS))
    join: str = param("closest", among("closest", "reach"))
    lookahead: int = param(0, within(0, MAX_BALLS))
    slack: str = param("exact", among("exact", "paper"))
    average: bool = param(True, flag)
    class_weight: str | None = None
    normalize: bool = param(True, flag)
    fit_intercept: bool = param(True, flag)
    dtype: str = "float32"

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        # More has not been seen to help; set it explicitly if you want it.
        most = 64 if self.bound == "upper" else 8
        return (0, most) if self.n_balls == 1 else (0, 0)

    def _check_params(self) -> None:
        super()._check_params()
        if self.n_balls > 1 and self.lookahead > 0:
            raise ValueError(
                f"n_balls={self.n_balls} and lookahead={self.lookahead}: give one of the two"
            )

    def _arrays(self, n_features: int) -> Table:
        width = n_features + bool(self.fit_intercept)
        arrays: Table = [*BALL]
        arrays.append(("w", self.dtype, (width,)))
        if self.average:
            arrays += [("n_averaged", "i8", ()), ("average", self.dtype, (width,))]
            arrays.append(("error_rates", "f8", (2,), SHARE))
        slots = 1 + int(self.lookahead or self.n_balls)
        if slots > 2 or self.lookahead:
            arrays += [
                ("n_held", "i8", ()),
                ("gram", "f8", (slots, slots)),
                *((name, "f8", (slots,), NOT_NEGATIVE) for name in ("square", "radius", "share")),
                ("pull", "f8", (slots,)),
                ("centres", self.dtype, (slots, width)),
            ]
        return arrays

    @classmethod
    def of_paper(cls, **params: Any) -> StreamSVM:
        """The learner as printed: one enclosing ball, decisions by its last centre, xi^2 from 1, no
        constant feature, C = 1, balls joined by "reach". `params` are other constructor arguments.
        """
        return cls(**PRINTED | params)

    def merge(self, other: StreamSVM) -> StreamSVM:
        """Merge another fitted learner's ball into this one, as if its stream had been seen here:
        closed form, O(D). ValueError for one that differs in features, dtype, parameters or labels.
        """
        first, second = sorted((self, other), key=id)  # both ways round, or two would wait
        with first._guard, second._guard:
            return self._merge(other)

    def _merge(self, other: StreamSVM) -> StreamSVM:
        theirs = other._fitted
        if not theirs.views["n_per_class"].any():
            other._raise_not_fitted()
        if other.get_params() != self.get_params():
            raise ValueError(
                f"only learners with equal parameters can be merged: {self!r} and {other!r}"
            )
        if self._state is None:
            self.allocate(theirs.n_features)
        mine = self.core
        if mine.n_features != theirs.n_features:
            raise ValueError(
                f"the other learner has {theirs.n_features} features, this one {mine.n_features}"
            )
        slots = [self._guard.call(mine.labels.find, y) for y in theirs.labels.in_slots]
        if not mine.labels.in_slots:
            slots = list(range(len(slots)))
        elif len(slots) == 2 and slots[0] == slots[1]:  # both new to a learner that knows one label
            slots = [-1, -1]
        if -1 in slots:
            raise ValueError(
                f"the other learner has the labels {theirs.labels.in_slots},"
                f" this one {mine.labels.in_slots}"
            )
        mine.absorb(theirs, slots[0] == 1)
        for slot, label in zip(slots, theirs.labels.in_slots, strict=True):
            mine.labels.adopt(slot, label)
        return self

    @property
    def coef_(self) -> np.ndarray:
        """Weights, ndarray of shape (1, n_features), a copy; positive for ``classes_[1]``."""
        return self._plane[None, : self.core.n_features]

    @property
    def intercept_(self) -> np.ndarray:
        """Weight of the constant feature, ndarray of shape (1,)."""
        return self._plane[self.core.n_features :] if self.fit_intercept else np.zeros(1)

    @property
    def _plane(self) -> np.ndarray:
        """What decisions use, the constant feature's weight last."""
        core = self.core
        plane: np.ndarray = core.labels.sign * core.deciding()
        return plane.astype(self.dtype)

    @property
    def answers_(self) -> str:
        """Which weights decide: "mean", or "last" if these were wrong less often lately."""
        if not self.average:
            return "last"
        last, mean = self._fitted.views["error_rates"]
        return "mean" if mean <= last else "last"

    @property
    def radius_(self) -> float:
        """Radius of the ball around all that is stored; 0.0 before the first sample."""
        return float(self.core.views["R"])


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class KernelStreamSVM(ForgettingLearner):
    """StreamSVM with a kernel: one pass, at most ``max_vectors`` vectors.

    Parameters
    ----------
    max_vectors : int, default 100
        Number of vectors stored.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelLearner`.
    C : float, default 100.0
        Penalty of the l2-SVM's squared slack; > 0.
    bound : {"upper", "lower"}, default "lower"
        As for `StreamSVM`.
    when_full : {"newton", "share"}, default "newton"
        What follows when the last place is taken. "newton": the ball ends and the vectors stay;
        each later sample inside the margin is a Newton step of the same l2-SVM over their span.
        "share": the ball goes on; for a new vector the older one of the smallest share is removed,
        and its share goes to the vector nearest to it.
    forgetting : "drift", float or None, default "drift"
        When the samples learned lose weight, once the last place is taken. "drift": where errors
        become more, which the test of `edgesvm.PageHinkley` says, and for a while after it; without
        a drift the model is as with None. A number >= 1: by half every so many samples. None:
        never. Nothing is forgotten with when_full="share".
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and vectors, and with "share" of the sums inside a kernel value.
    class_weight : {None, "balanced"}, default None
        "balanced" multiplies a sample's weight by n / (2 n_k), where n samples and n_k of its class
        have been learned so far, the sample included; what "drift" counts of an error of the larger
        class is less by n_small / n_large. Without it an error counts by the sample's weight beside
        the largest of a sample stored.

    Notes
    -----
    Rai, Daumé III & Venkatasubramanian 2008, "All of the above calculations can be kernelized";
    what happens at ``max_vectors`` is not in the paper. `of_paper` with room for every update is
    the paper's algorithm.

    `radius_` with "share" and "upper": when a vector is removed, R grows by the centre's
    displacement, so the ball still encloses all that it enclosed. With "share" and "lower", it is
    at most the radius of the smallest ball around all samples. With "newton", it remains that of
    the ball when the last place was taken: with "lower" still at most the radius of the smallest
    ball, with "upper" a ball around the samples until then and no others.

    With "newton", meant for bound="lower", samples of a label that comes only after the last place
    was taken are learned with one vector of that label, which replaces the newest.

    Forgetting: a drift (Page-Hinkley's PH above 50 deviations, within 2,000 samples of another one
    above 15) multiplies the weight of all samples by 2^-6; w samples after it they halve every
    max(w / 4, 100) samples, up to w = 8,000. The matrix K + C sum_t k_t k_t' of the Newton steps
    keeps this part of what is not K. The coefficients stay, so no answer changes; what comes next
    moves them farther. Time then: O(max_vectors^3).

    Bytes: see ``plan``; with "newton" 152 + max_vectors (n_features s + 40) + 4 max_vectors
    (max_vectors + 1), 72 fewer with forgetting=None, with "share" 80 + (max_vectors + 1)
    (n_features s + 40), s = 4 or 8.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, KernelStreamSVM
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=np.float32)
    >>> model = KernelStreamSVM(max_vectors=10, kernel=RBF(2.0))
    >>> _ = model.partial_fit(X, [0, 0, 1, 1])
    >>> model.predict(X)
    array([0, 0, 1, 1])
    """

    _capacity = "max_vectors"
    _least_in_parts = (2, 2)
    _compiled = KernelStreamSVMCore
    _param_order = ("max_vectors", *KERNEL, "C", "bound", "dtype", "when_full", "forgetting")
    _absent: ClassVar[Mapping[str, Any]] = {
        "when_full": "share",
        "class_weight": None,
        "forgetting": None,
    }

    C: float = param(100.0, positive)
    max_vectors: int = size(100, within(1, MAX_CAPACITY))
    bound: str = param("lower", among("upper", "lower"))
    when_full: str = param("newton", among("newton", "share"))
    class_weight: str | None = None

    @classmethod
    def of_paper(cls, **params: Any) -> KernelStreamSVM:
        """The learner as printed, while there is room: one ball around all samples, and C = 1."""
        as_printed: dict[str, Any] = {"bound": "upper", "when_full": "share", "C": 1.0}
        return cls(**as_printed | params)

    def _arrays(self, n_features: int) -> Table:
        slots = int(self.max_vectors)
        if self.when_full == "newton":
            per_vector = ("share", "sign", "weight", "row", "gain")
            forgetting = self._forgetting_arrays()
            factor = [("L", "f8", (slots * (slots + 1) // 2,))]
        else:
            slots += 1  # one for the new sample
            per_vector, forgetting, factor = ("share", "sign", "norm", "own", "row"), [], []
        return [
            *BALL,
            *forgetting,
            ("n_held", "i8", ()),
            *((name, "f8", (slots,)) for name in per_vector),
            *factor,
            ("vectors", self.dtype, (slots, n_features)),
        ]

    @property
    def support_vectors_(self) -> np.ndarray:
        """Stored vectors, ndarray of shape (n_held, n_features), a copy."""
        views = self.core.views
        return views["vectors"][: int(views["n_held"])].copy()

    @property
    def dual_coef_(self) -> np.ndarray:
        """Their coefficients in the decision value, ndarray of shape (1, n_held), float64."""
        core = self.core
        held = slice(0, int(core.views["n_held"]))
        return core.labels.sign * (core.views["share"][held] * core.views["sign"][held])[None, :]

    @property
    def radius_(self) -> float:
        """Radius of the ball in feature space; 0.0 before the second sample. See the notes for what
        it bounds."""
        return float(self.core.views["R"])
