"""LASVM: the public class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from edgesvm.contract.counter import Counter
from edgesvm.contract.params import positive, whole
from edgesvm.contract.registry import registered
from edgesvm.learner import exclusive
from edgesvm.learners.kernel_learner import KERNEL
from edgesvm.learners.papers.online._lasvm import LASVMCore
from edgesvm.learners.papers.online.constants import LEAST_TAU, LEAST_WEIGHT, MOST
from edgesvm.learners.papers.online.expansion_learner import Arrays, ExpansionLearner

__all__ = ["LASVM"]

BLOCK = 1000  # steps of `finish` between two checks for Ctrl-C


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class LASVM(ExpansionLearner):
    """Kernel SVM online: two steps of SMO for each sample, one with it and one without.

    Parameters
    ----------
    max_vectors : int, default 100
        Number of samples stored. When there is no room for another, the oldest is removed; see
        Notes.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelMethod`.
    C : float, default 1.0
        Penalty of a margin violation; 1e-100 to 1e100.
    tau : float, default 1e-3
        A pair whose gradients differ by less is not moved; at least 1e-8.
    dtype : {"float32", "float64"}, default "float32"
        Type of the samples; all else is float64.
    class_weight : {None, "balanced"}, default None
        "balanced" multiplies a sample's weight by n / (2 n_k), where n samples and n_k of its class
        have been learned so far, the sample included.

    Attributes
    ----------
    support_vectors_ : ndarray of shape (n_held, n_features)
    dual_coef_ : ndarray of shape (1, n_held)
    intercept_ : ndarray of shape (1,)
    gap_ : float
    n_given_up_ : int
    n_seen_, n_updates_, classes_, n_features_in_

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

    _compiled = LASVMCore
    _param_order = ("max_vectors", *KERNEL, "C", "tau", "dtype")

    _absent: ClassVar[Mapping[str, Any]] = {"class_weight": None}

    C: float = 1.0
    tau: float = 1e-3
    class_weight: str | None = None

    n_given_up_ = Counter("Samples removed for want of room.")

    @property
    def _slots(self) -> int:
        return int(self.max_vectors) + 1

    def _check_params(self) -> None:
        super()._check_params()
        if not LEAST_WEIGHT <= positive("C", self.C) <= MOST:
            raise ValueError(f"C={self.C!r}: give a number from 1e-100 to 1e100")
        if not positive("tau", self.tau) >= LEAST_TAU:
            raise ValueError(f"tau={self.tau!r}: give a number of at least {LEAST_TAU}")

    def _arrays(self, n_features: int) -> Arrays:
        per_slot = "bound", "gradient", "row", "other_row"
        return [
            ("intercept", "f8", ()),
            ("gap", "f8", ()),
            ("n_given_up", "i8", ()),
            *super()._arrays(n_features),
            *((name, "f8", (self._slots,)) for name in per_slot),
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return super()._core_params(n_features) | {"C": float(self.C), "tau": float(self.tau)}

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
