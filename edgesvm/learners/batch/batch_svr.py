"""BatchSVR: the public class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from edgesvm.contract.params import not_negative, one_of
from edgesvm.contract.registry import registered
from edgesvm.learners.batch.store_svm import StoreSVM
from edgesvm.learners.kernel_learner import KERNEL
from edgesvm.learners.regressor import Regressor

__all__ = ["BatchSVR"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class BatchSVR(Regressor, StoreSVM):
    """Support vector regression of all stored samples, solved to a tolerance by SMO.

    Parameters
    ----------
    C : float, default 1.0
        Penalty of an error beyond epsilon, multiplied by the sample's weight; > 0.
    epsilon : float, default 0.1
        Errors up to it cost nothing; >= 0, in units of the target.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelLearner`.
    tol : float, default 1e-3
        The gap, in units of the target, at which the solver stops; > 0.
    max_samples, when_full, cache, shrinking, max_iter, dtype
        As for `BatchSVM`.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,), int64
    support_vectors_ : ndarray of shape (n_support, n_features)
    dual_coef_ : ndarray of shape (1, n_support)
    alpha_ : ndarray of shape (n_held,)
    intercept_ : ndarray of shape (1,)
    objective_, gap_ : float
    n_iter_, n_held_ : int
    converged_ : bool
    n_seen_, n_updates_, n_features_in_

    Notes
    -----
    Stores and solves as `BatchSVM` does, on demand. Targets are taken as they are: scale them, or
    choose C, epsilon and tol for them. A coefficient between -C and C is LIBSVM's pair of one
    sample, of which never more than one differs from zero; a sample takes 8 bytes more than in
    `BatchSVM`, and a row of the cache is as long.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, BatchSVR
    >>> X = np.linspace(0, 6, 61, dtype=np.float32)[:, None]
    >>> model = BatchSVR(max_samples=61, kernel=RBF(0.5), C=100.0, epsilon=0.01)
    >>> model.fit(X, np.sin(X[:, 0])).predict(X[[10, 30]]).round(1)
    array([0.8, 0.1])
    >>> model.converged_
    True
    """

    _param_order = (
        *("C", "epsilon", *KERNEL, "tol", "max_samples", "when_full"),
        *("cache", "shrinking", "max_iter", "dtype"),
    )

    epsilon: float = 0.1
    when_full: str = "refuse"

    def _check_params(self) -> None:
        super()._check_params()
        not_negative("epsilon", self.epsilon)
        one_of("when_full", self.when_full, "refuse", "oldest")

    @property
    def _policy(self) -> str:
        return self.when_full

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        return [("targets", "f8", (int(self.max_samples),)), *super()._arrays(n_features)]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return super()._core_params(n_features) | {"epsilon": float(self.epsilon)}
