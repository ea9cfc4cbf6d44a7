"""IncrementalDecrementalSVM: the public class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgesvm.contract.registry import registered
from edgesvm.learner import exclusive
from edgesvm.learners.kernel_learner import KERNEL
from edgesvm.learners.twin._incremental_decremental_svm import IncrementalDecrementalSVMCore
from edgesvm.learners.twin.adiabatic_learner import SampleVectors
from edgesvm.learners.twin.incremental_decremental import IncrementalDecrementalLearner

__all__ = ["IncrementalDecrementalSVM"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalDecrementalSVM(SampleVectors, IncrementalDecrementalLearner):
    """Kernel SVM that is exact after each sample learned or unlearned and each change of C.

    Parameters
    ----------
    max_vectors : int, default 100
        Number of samples stored, support vectors or not.
    kernel, gamma, degree, coef0
        The kernel, an object or a name; see `edgesvm.learners.KernelLearner`.
    C : float, default 1.0
        Penalty of a margin violation per unit of weight; > 0. `set_C` changes it later without
        relearning.
    when_full : {"oldest", "farthest", "ignore"}, default "oldest"
        What happens to a sample when `max_vectors` are stored. "oldest": it replaces the first
        learned, a sliding window. "farthest": it replaces the sample with the largest y f(x). If y
        f(x) > 1 that was not a support vector, and the solution does not change. Meant for
        separable data: with noisy labels it keeps the mislabelled samples. "ignore": the new sample
        is not learned.
    max_margin : int, optional
        As for `TwinVectorMachine`.
    dtype : {"float32", "float64"}, default "float32"
        Type of samples and vectors; everything else is float64.

    Attributes
    ----------
    vectors_ : ndarray of shape (n, n_features)
    labels_, sample_weights_ : ndarray of shape (n,)
    dual_coef_ : ndarray of shape (1, n)
    intercept_ : ndarray of shape (1,)
    margin_ : ndarray of shape (n,), bool
    n_unlearned_, n_forgotten_, n_ignored_, n_overflowed_ : int
    n_path_events_, n_exchanges_, n_refactored_, n_refreshed_, n_from_scratch_ : int
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    Cauwenberghs & Poggio 2000, on the solver described in `TwinVectorMachine`. The decision values
    are those of a batch SVM on the same samples. Bytes: see ``plan``; with
    M = max_vectors + 1 and max_margin=None, 152 + M (D s + 93) + 4 M (M + 1), s
    = 4 or 8.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import RBF, IncrementalDecrementalSVM
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0], [5, 5]], dtype=np.float32)
    >>> model = IncrementalDecrementalSVM(kernel=RBF(2.0), C=10.0).partial_fit(X, [0, 0, 1, 1, 1])
    >>> model.unlearn(4)
    >>> model.predict(X[:4])
    array([0, 0, 1, 1])
    """

    _compiled = IncrementalDecrementalSVMCore
    _param_order = ("max_vectors", *KERNEL, "C", "when_full", "max_margin", "dtype")
    _least_needed = "farthest"

    @exclusive
    def leave_one_out_decisions(self) -> np.ndarray:
        """For each stored sample, its decision value if it were unlearned; ndarray of shape (n,),
        float64.

        Each is unlearned in turn; afterwards the memory is restored byte for byte. Allocates a copy
        of the arena for the duration.
        """
        return self._without_each(self._fitted.decision_one)
