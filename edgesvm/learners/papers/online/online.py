"""The online learners that the papers compare with: perceptrons, passive-aggressive, Pegasos,
LASVM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from edgesvm.budget import Table, up_to
from edgesvm.contract.counter import Counter
from edgesvm.contract.params import among, between, flag, param, positive, size, whole, within
from edgesvm.contract.registry import registered
from edgesvm.learner import MAX_CAPACITY, Learner, exclusive
from edgesvm.learners.kernel_learner import KERNEL, KernelMethod
from edgesvm.learners.papers.online._online import (
    VARIANTS,
    WHEN_FULL,
    ForgetronCore,
    KernelPerceptronCore,
    LASVMCore,
    PassiveAggressiveCore,
    PegasosCore,
    PerceptronCore,
)
from edgesvm.learners.papers.online.constants import LEAST_TAU, MOST

__all__ = ["LASVM", "Forgetron", "KernelPerceptron", "PassiveAggressive", "Pegasos", "Perceptron"]

BLOCK = 1000  # steps of `finish` between two checks for Ctrl-C


@dataclass(kw_only=True, eq=False, repr=False)
class LinearLearner(Learner):
    """Base of the linear online learners. See `Perceptron` for their parameters."""

    _absent: ClassVar[Mapping[str, Any]] = {"class_weight": None}

    fit_intercept: bool = param(True, flag)
    dtype: str = "float32"
    class_weight: str | None = None

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        return 0, 0

    def _width(self, n_features: int) -> int:
        return n_features + bool(self.fit_intercept)

    def _arrays(self, n_features: int) -> Table:
        return [("ww", "f8", ()), ("w", self.dtype, (self._width(n_features),))]

    @property
    def coef_(self) -> np.ndarray:
        """Weights, ndarray of shape (1, n_features), a copy; positive for ``classes_[1]``."""
        core = self.core
        return core.labels.sign * core.views["w"][None, : core.n_features]

    @property
    def intercept_(self) -> np.ndarray:
        """Weight of the constant feature, ndarray of shape (1,)."""
        core = self.core
        if not self.fit_intercept:
            return np.zeros(1)
        return core.labels.sign * core.views["w"][core.n_features :]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class Perceptron(LinearLearner):
    """Rosenblatt's perceptron: each sample on the wrong side of the plane is added to its weights.

    Parameters
    ----------
    fit_intercept : bool, default True
        Add a constant feature 1.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and weights.
    class_weight : {None, "balanced"}, default None
        "balanced" multiplies a sample's weight by n / (2 n_k), where n samples and n_k of its class
        have been learned so far, the sample included.

    Notes
    -----
    Rosenblatt 1958: w = w + y x if y w.x <= 0, so ``n_updates_`` counts the mistakes. A weight s
    adds s y x. Bytes: see ``plan``; 48 + (D + 1) s, s = 4 or 8. Time: O(D) per sample.

    A step has the size of its sample: `Standardized` in front limits one value far out.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import Perceptron
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]], dtype=np.float32)
    >>> model = Perceptron().partial_fit(X, ["cold", "hot", "cold", "hot"])
    >>> model.predict_one(X[2])
    'cold'
    """

    _compiled = PerceptronCore


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressive(LinearLearner):
    """Each sample moves the weights as little as it takes to classify it with margin 1.

    Parameters
    ----------
    variant : {"PA-I", "PA-II", "PA"}, default "PA-I"
        "PA" satisfies each sample in full, mislabelled ones too. "PA-I" limits the step to C,
        "PA-II" shortens it according to C.
    C : float, default 0.01
        Aggressiveness; > 0. Without effect on "PA".
    fit_intercept, dtype, class_weight
        As in `Perceptron`.

    Notes
    -----
    Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006, "Online Passive-Aggressive Algorithms",
    Figure 1: w = w + tau y x with the loss l = max(0, 1 - y w.x) and

        PA: tau = l / |x|^2,   PA-I: min(C, l / |x|^2),   PA-II: l / (|x|^2 + 1 / (2 C)).

    A weight s makes C of the sample C s; "PA" has no C, and takes every weight above zero alike.
    Bytes: see ``plan``; 48 + (D + 1) s, s = 4 or 8. Time: O(D) per sample.
    """

    _compiled = PassiveAggressiveCore
    _param_order = ("variant", "C", "fit_intercept", "dtype")

    variant: str = param("PA-I", among(*VARIANTS))
    C: float = param(0.01, positive)

    @classmethod
    def of_paper(cls, **params: Any) -> PassiveAggressive:
        """The learner as printed: without an intercept."""
        return cls(**{"fit_intercept": False} | params)


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class Pegasos(LinearLearner):
    """Linear SVM by steps along the subgradient of its primal problem, of length 1 / (lambda t).

    Parameters
    ----------
    lambda_ : float, default 0.01, 1e-30 to 1e30
        Factor of |w|^2 / 2 beside the mean hinge loss. An SVM's C on n samples is 1 / (n
        lambda).
    batch_size : int, default 1
        Samples per step: the paper's k. Samples of the stream that do not fill a batch have not
        moved the weights yet.
    project : bool, default False
        After each step, scale w to at most 1 / sqrt(lambda), the length within which the solution
        lies.
    fit_intercept, dtype, class_weight
        As in `Perceptron`.

    Notes
    -----
    Shalev-Shwartz, Singer & Srebro 2007, "Pegasos: Primal Estimated sub-GrAdient SOlver for SVM",
    Figure 1, where the projection is part of the step; in the paper of 2011 with Cotter it is
    optional. There the k samples are drawn at random; here they are the next k of the stream. After
    batch t, of which A are the samples with y w.x < 1:

        w = (1 - 1/t) w + 1/(lambda t k) sum over A of y x.

    A weight s multiplies the sample's loss. Samples longer than 1e19 lambda (1e150 lambda in
    float64) are refused, since w could overflow. Bytes: see ``plan``; 64 + 2 (D + 1) s, s = 4 or 8.
    Time: O(D) per sample.
    """

    _compiled = PegasosCore
    _param_order = ("lambda_", "batch_size", "project", "fit_intercept", "dtype")

    lambda_: float = param(0.01, between(1e-30, 1e30))
    batch_size: int = param(1, within(1, MAX_CAPACITY))
    project: bool = param(False, flag)

    @classmethod
    def of_paper(cls, **params: Any) -> Pegasos:
        """The learner of the paper of 2007: with the projection, without an intercept."""
        return cls(**{"project": True, "fit_intercept": False} | params)

    n_steps_ = Counter("Steps taken: full batches.")

    def _arrays(self, n_features: int) -> Table:
        return [
            ("n_steps", "i8", ()),
            ("n_waiting", "i8", (), (0, int(self.batch_size) - 1)),
            *super()._arrays(n_features),
            ("gradient", self.dtype, (self._width(n_features),)),
        ]


@dataclass(kw_only=True, eq=False, repr=False)
class ExpansionLearner(KernelMethod):
    """Base of the online learners with a kernel: at most ``max_vectors`` samples, each with a
    coefficient."""

    _capacity = "max_vectors"

    max_vectors: int = size(100, within(1, MAX_CAPACITY))

    @property
    def _slots(self) -> int:
        return int(self.max_vectors)

    def _arrays(self, n_features: int) -> Table:
        return [
            ("n_held", "i8", (), (0, self._slots)),
            ("coef", "f8", (self._slots,), up_to(MOST * MOST**0.5)),
            ("vectors", self.dtype, (self._slots, n_features)),
        ]

    @property
    def support_vectors_(self) -> np.ndarray:
        """Stored samples, ndarray of shape (n_held, n_features), a copy."""
        views = self.core.views
        return views["vectors"][: int(views["n_held"])].copy()

    @property
    def dual_coef_(self) -> np.ndarray:
        """Their coefficients in the decision value, ndarray of shape (1, n_held), float64."""
        core = self.core
        return core.labels.sign * core.views["coef"][None, : int(core.views["n_held"])]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class KernelPerceptron(ExpansionLearner):
    """Perceptron with a kernel: each sample on the wrong side is stored, at most ``max_vectors``.

    Parameters
    ----------
    max_vectors : int, default 100
        Number of samples stored.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelMethod`.
    when_full : {"ignore", "oldest", "random"}, default "ignore"
        What happens to a sample on the wrong side when `max_vectors` are stored. "ignore": it
        is not learned, which is the most accurate unless the stream changes. "oldest": it replaces
        the first that was stored. "random": it replaces one drawn at random.
    seed : int, default 0
        Of the random numbers; 0 to 2^32 - 1.
    dtype : {"float32", "float64"}, default "float32"
        Type of the samples; coefficients are float64.

    Notes
    -----
    Aizerman, Braverman & Rozonoer 1964: a sample with y f(x) <= 0 adds y k(x, .) to f. With
    "random" it is the randomized budget perceptron (Cesa-Bianchi & Gentile 2006, "Tracking the Best
    Hyperplane with a Simple Budget Perceptron"). `Forgetron` also removes the oldest, after it has
    shrunk all coefficients. There is no intercept. A weight s multiplies the sample's coefficient.
    Bytes: see ``plan``; 88 + M (D s + 8), M = max_vectors, s = 4 or 8.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, KernelPerceptron
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=np.float32)
    >>> model = KernelPerceptron(max_vectors=10, kernel=RBF(2.0))
    >>> for _ in range(2):
    ...     _ = model.partial_fit(X, [0, 0, 1, 1])
    >>> model.predict(X)
    array([0, 0, 1, 1])
    """

    _least_in_parts = (2, 4)
    _compiled = KernelPerceptronCore
    _param_order = ("max_vectors", *KERNEL, "when_full", "seed", "dtype")

    when_full: str = param("ignore", among(*WHEN_FULL))
    seed: int = param(0, within(0, (1 << 32) - 1))

    n_ignored_ = Counter("Samples on the wrong side not learned for want of room.")

    def _arrays(self, n_features: int) -> Table:
        return [
            ("n_ignored", "i8", ()),
            ("oldest", "i8", (), (0, self._slots - 1)),
            ("rng", "u8", (4,)),
            *super()._arrays(n_features),
        ]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class Forgetron(ExpansionLearner):
    """Kernel perceptron on a budget that shrinks all coefficients before it removes the oldest.

    Parameters
    ----------
    max_vectors : int, default 100
        Number of samples stored: the paper's budget B.
    kernel, gamma, degree, coef0, dtype
        As in `KernelPerceptron`.

    Notes
    -----
    Dekel, Shalev-Shwartz & Singer 2008, "The Forgetron: A Kernel-Based Perceptron on a Budget", the
    self-tuned form. A sample with y f(x) <= 0 adds y k(x, .) to f. When that makes one vector too
    many, of which r is the oldest with coefficient sigma y_r, all coefficients are multiplied by
    the largest phi <= 1 with

        (phi sigma)^2 + 2 phi sigma (1 - phi y_r f(x_r)) + Q <= 15/32 M,

    and r is removed; Q is the sum of the first two terms over all removals so far, M the number of
    mistakes, ``n_updates_``. The paper's bound on M assumes k(x, x) <= 1. There is no intercept. A
    weight s multiplies the sample's coefficient, which the paper does not have. Bytes: see
    ``plan``; 64 + M (D s + 8), M = max_vectors, s = 4 or 8.
    """

    _least_in_parts = (2, 5)
    _compiled = ForgetronCore
    _param_order = ("max_vectors", *KERNEL, "dtype")

    def _arrays(self, n_features: int) -> Table:
        return [
            ("Q", "f8", ()),
            ("oldest", "i8", (), (0, self._slots - 1)),
            *super()._arrays(n_features),
        ]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class LASVM(ExpansionLearner):
    """Kernel SVM online: two steps of SMO for each sample, one with it and one without.

    Parameters
    ----------
    max_vectors : int, default 100
        Number of samples stored; see Notes for what makes room.
    C : float, default 1.0
        Penalty of a margin violation; 1e-100 to 1e100.
    tau : float, default 1e-3
        A pair whose gradients differ by less is not moved; at least 1e-8.
    dtype : {"float32", "float64"}, default "float32"
        Type of the samples; all else is float64.
    kernel, gamma, degree, coef0
        As in `KernelPerceptron`.
    class_weight
        As in `Perceptron`.

    Notes
    -----
    Bordes, Ertekin, Weston & Bottou 2005, "Fast Kernel Classifiers with Online and Active
    Learning", section 3. Each sample is stored and paired with the stored one of the most opposed
    gradient, and the pair takes a step (PROCESS); then the pair of the largest violation takes a
    step, and samples without a coefficient whose gradient is beyond the extremes are removed
    (REPROCESS). `finish` repeats the latter until no pair violates by more than `tau`. The paper's
    seeds, a few samples of each class, are the first of the stream. The intercept follows the
    gradients after every sample, also when REPROCESS finds no pair.

    The paper has no limit on the vectors. Here, when REPROCESS has left more than `max_vectors`,
    the oldest is removed. Before, its coefficient is moved to the others by steps of the same kind:
    to the one with the most to gain that has room, and so on. So the coefficients still sum to
    zero, within their bounds.

    A weight s makes C of the sample C s, which must be between 1e-100 and 1e100. Bytes: see
    ``plan``; 72 + (M + 1) (D s + 40), M = max_vectors, s = 4 or 8. Time: 5 M kernel values per
    sample.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import LASVM, RBF
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=np.float32)
    >>> model = LASVM(max_vectors=10, kernel=RBF(2.0), C=10.0).partial_fit(X, [0, 0, 1, 1])
    >>> model.finish()
    True
    >>> model.predict(X)
    array([0, 0, 1, 1])
    """

    _least_in_parts = (4, 5)
    _compiled = LASVMCore
    _param_order = ("max_vectors", *KERNEL, "C", "tau", "dtype")

    _absent: ClassVar[Mapping[str, Any]] = {"class_weight": None}

    C: float = param(1.0, positive)
    tau: float = param(1e-3, between(LEAST_TAU, np.inf))
    class_weight: str | None = None

    n_given_up_ = Counter("Samples removed for want of room.")

    @property
    def _slots(self) -> int:
        return int(self.max_vectors) + 1

    def _arrays(self, n_features: int) -> Table:
        slots, bounds = (self._slots,), up_to(MOST * MOST)
        return [
            ("intercept", "f8", (), bounds),
            ("gap", "f8", (), bounds),
            ("n_given_up", "i8", ()),
            *super()._arrays(n_features),
            ("bound", "f8", slots, up_to(MOST)),
            ("gradient", "f8", slots, bounds),
            *((name, "f8", slots) for name in ("row", "other_row")),
        ]

    @exclusive
    def finish(self, max_iter: int = 1_000_000) -> bool:
        """Repeat REPROCESS until no pair of stored samples violates by more than `tau`: the model
        is then the SVM of the stored samples.

        Parameters
        ----------
        max_iter : int, default 1,000,000
            Most steps to take.

        Returns
        -------
        bool
            Whether it ended before `max_iter`.

        Raises
        ------
        NotFittedError
            No sample was learned.
        """
        left = whole("max_iter", max_iter, 1, 1 << 62)
        if not self.is_fitted:
            self._raise_not_fitted()
        core = self.core
        while left > 0:
            n = min(BLOCK, left)
            if core.finish(n) < n:
                return True
            left -= n
        return False

    @property
    def intercept_(self) -> np.ndarray:
        """The intercept b, ndarray of shape (1,), float64."""
        core = self.core
        return core.labels.sign * np.array([float(core.views["intercept"])])

    @property
    def gap_(self) -> float:
        """The paper's delta: by how much the worst pair of stored samples violates."""
        return float(self.core.views["gap"])
