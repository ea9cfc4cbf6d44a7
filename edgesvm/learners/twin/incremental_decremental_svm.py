"""IncrementalDecrementalSVM: the public class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from edgesvm.budget import MemoryBudgetError, format_bytes
from edgesvm.contract.counter import Counter
from edgesvm.contract.params import one_of, whole
from edgesvm.contract.registry import registered
from edgesvm.learner import exclusive
from edgesvm.learners.kernel_learner import KERNEL
from edgesvm.learners.twin._incremental_decremental_svm import IncrementalDecrementalSVMCore
from edgesvm.learners.twin.adiabatic_learner import (
    MAX_TWINS,
    AdiabaticLearner,
    SampleVectors,
    penalty,
)

__all__ = ["IncrementalDecrementalSVM"]

Self = TypeVar("Self", bound="IncrementalDecrementalSVM")


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalDecrementalSVM(SampleVectors, AdiabaticLearner):
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

    _capacity = "max_vectors"
    _compiled = IncrementalDecrementalSVMCore
    _param_order = ("max_vectors", *KERNEL, "C", "when_full", "max_margin", "dtype")

    max_vectors: int = 100
    when_full: str = "oldest"

    n_unlearned_ = Counter("Samples removed by `unlearn`.")
    n_forgotten_ = Counter("Samples removed to make room.")
    n_ignored_ = Counter("New samples not learned for want of room.")

    @property
    def _slots(self) -> int:
        return int(self.max_vectors) + 1

    def _check_params(self) -> None:
        whole("max_vectors", self.max_vectors, 1, MAX_TWINS)
        penalty(self.C)
        one_of("when_full", self.when_full, "farthest", "oldest", "ignore")
        self._check_shared()

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        counters = ("n_unlearned", "n_forgotten", "n_ignored")
        return [*((name, "i8", ()) for name in counters), *self._solver_arrays(n_features)]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        kernel = self.kernel_for(n_features)
        return {"C": float(self.C), "when_full": self.when_full, "kernel": kernel}

    @exclusive
    def unlearn(self, index: int) -> None:
        """Unlearn one sample: the model becomes what it would be without it.

        Parameters
        ----------
        index : int
            Index into `vectors_`; later ones move down by one.

        Raises
        ------
        IndexError
        MemoryBudgetError
            The margin set would need more room than `max_margin` gives; nothing
            changes.
        """
        core = self._fitted
        n = int(core.views["n"])
        if not isinstance(index, (int, np.integer)) or not 0 <= index < n:
            raise IndexError(f"index={index!r}: give a whole number from 0 to {n - 1}")
        if not core.unlearn(int(index)):
            raise self._margin_full()

    @exclusive
    def set_C(self: Self, C: float) -> Self:
        """Change C, following the path of solutions from the old value to the new one.

        Raises
        ------
        ValueError
            C is not a finite number > 0.
        MemoryBudgetError
            As for `unlearn`.
        """
        C = penalty(C)
        if self._state is None:
            self.C = C
            return self
        core = self._state.core
        if not core.set_C(C):
            raise self._margin_full()
        self.C = C
        self._hold(core)
        return self

    def _margin_full(self) -> MemoryBudgetError:
        """The error for a margin set that would overflow its room."""
        core, params = self._held_state
        roomy = type(self)(**{**params, "max_margin": None}).plan(core.n_features).total
        own = type(self)(**params).plan(core.n_features).total
        return MemoryBudgetError(
            f"not enough room for the margin set in {format_bytes(own)}: give a larger max_margin;"
            f" max_margin=None has room for all samples, in {format_bytes(roomy)}",
            roomy,
            own,
        )

    @exclusive
    def leave_one_out_decisions(self) -> np.ndarray:
        """For each stored sample, its decision value if it were unlearned; ndarray of shape (n,),
        float64.

        Each is unlearned in turn; afterwards the memory is restored byte for byte. Allocates a copy
        of the arena for the duration.
        """
        core = self._fitted
        memory = core.arena.memory
        before = memory.copy()
        vectors = self.vectors_
        decisions = np.empty(len(vectors))
        try:
            for i, x in enumerate(vectors):
                self.unlearn(i)
                decisions[i] = core.decision_one(x)
                memory[:] = before
        finally:
            memory[:] = before
        return decisions
