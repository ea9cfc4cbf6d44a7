"""IncrementalDecrementalSVR: the public class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from edgesvm.contract.registry import registered
from edgesvm.learner import exclusive
from edgesvm.learners.kernel_learner import KERNEL
from edgesvm.learners.regressor import Regressor
from edgesvm.learners.twin._incremental_decremental_svr import IncrementalDecrementalSVRCore
from edgesvm.learners.twin.adiabatic_learner import divisor
from edgesvm.learners.twin.incremental_decremental import IncrementalDecrementalLearner

__all__ = ["IncrementalDecrementalSVR"]

Self = TypeVar("Self", bound="IncrementalDecrementalSVR")


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalDecrementalSVR(Regressor, IncrementalDecrementalLearner):
    """Kernel support vector regression that is exact after each sample learned or unlearned and
    each change of C or epsilon.

    Parameters
    ----------
    max_vectors : int, default 100
        Number of samples stored, support vectors or not.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelLearner`.
    C : float, default 1.0
        Penalty of an error beyond epsilon per unit of weight; > 0. `set_C` changes it later without
        relearning.
    epsilon : float, default 0.1
        Errors up to it cost nothing; > 0, in units of the target. `set_epsilon` changes it later
        without relearning.
    when_full : {"oldest", "nearest", "ignore"}, default "oldest"
        What happens to a sample when `max_vectors` are stored. "oldest": it replaces the first
        learned, a sliding window. "nearest": it replaces the sample whose target is nearest to its
        prediction. If they are less than epsilon apart that was not a support vector, and the
        solution does not change. Outliers then stay. "ignore": the new sample is not learned.
    max_margin : int, optional
        As for `TwinVectorMachine`.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and vectors; everything else is float64.

    Attributes
    ----------
    vectors_ : ndarray of shape (n, n_features)
    targets_, sample_weights_ : ndarray of shape (n,)
    dual_coef_ : ndarray of shape (1, n)
    intercept_ : ndarray of shape (1,)
    margin_ : ndarray of shape (n,), bool
    n_unlearned_, n_forgotten_, n_ignored_, n_overflowed_ : int
    n_path_events_, n_exchanges_, n_refactored_, n_refreshed_, n_from_scratch_ : int
    n_seen_, n_updates_, n_features_in_

    Notes
    -----
    Ma, Theiler & Perkins 2003 and Martin 2002, on the solver described in `TwinVectorMachine`. The
    predictions are those of a batch SVR on the same samples. Scale targets and features: epsilon
    should not be below a millionth of the largest target. Bytes: see ``plan``.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, IncrementalDecrementalSVR
    >>> X = np.linspace(0, 6, 61, dtype=np.float32)[:, None]
    >>> model = IncrementalDecrementalSVR(kernel=RBF(0.5), C=100.0, epsilon=0.01)
    >>> model.partial_fit(X, np.sin(X[:, 0])).unlearn(60)
    >>> model.predict(X[[10, 30]]).round(2)
    array([0.84, 0.14])
    """

    _compiled = IncrementalDecrementalSVRCore
    _param_order = ("max_vectors", *KERNEL, "C", "epsilon", "when_full", "max_margin", "dtype")
    _least_needed = "nearest"

    epsilon: float = 0.1

    def _check_params(self) -> None:
        super()._check_params()
        divisor("epsilon", self.epsilon)

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        return [
            *(("nu", "f8", ()), ("nu_to", "f8", ())),
            *super()._arrays(n_features),
            ("targets", "f8", (self._slots,)),
        ]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return super()._core_params(n_features) | {"epsilon": float(self.epsilon)}

    @exclusive
    def set_epsilon(self: Self, epsilon: float) -> Self:
        """Change epsilon, following the path of solutions from the old value to the new one.

        Raises
        ------
        ValueError
            epsilon is not a finite number > 0.
        MemoryBudgetError
            As for `unlearn`.
        """
        return self._set("epsilon", divisor("epsilon", epsilon))

    @exclusive
    def leave_one_out_predictions(self) -> np.ndarray:
        """For each stored sample, what would be predicted if it were unlearned; ndarray of shape
        (n,), float64.

        Each is unlearned in turn; afterwards the memory is restored byte for byte. Allocates a copy
        of the arena for the duration.
        """
        return self._without_each(self._fitted.predict_one)

    # -- what was learned --------------------------------------------------------------------------

    @property
    def vectors_(self) -> np.ndarray:
        """Stored samples, in the order learned, ndarray of shape (n, n_features), a copy."""
        return self._held("vectors").copy()

    @property
    def targets_(self) -> np.ndarray:
        """Their targets, ndarray of shape (n,), float64, a copy."""
        return self._held("targets").copy()

    @property
    def sample_weights_(self) -> np.ndarray:
        """Their weights, ndarray of shape (n,), float64, a copy."""
        return self._held("s_plus").copy()

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients of the prediction, ndarray of shape (1, n), float64; they sum to 0."""
        core = self._fitted
        return (self._held("coef") / core.views["nu"])[None, :]

    @property
    def intercept_(self) -> np.ndarray:
        """The intercept b, ndarray of shape (1,), float64."""
        core = self._fitted
        return np.array([float(core.views["b"] / core.views["nu"])])
