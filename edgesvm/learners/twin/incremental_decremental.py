"""Base of the learners that are exact after each sample learned or unlearned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from edgesvm.budget import MemoryBudgetError, format_bytes
from edgesvm.contract.counter import Counter
from edgesvm.contract.params import one_of, whole
from edgesvm.learner import exclusive
from edgesvm.learners.twin.adiabatic_learner import MAX_TWINS, AdiabaticLearner, penalty

Self = TypeVar("Self", bound="IncrementalDecrementalLearner")


@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalDecrementalLearner(AdiabaticLearner):
    """Base of `IncrementalDecrementalSVM` and `IncrementalDecrementalSVR`."""

    shuffles: ClassVar[bool] = False  # exact, or of the last samples
    _capacity = "max_vectors"
    _least_needed = ""  # the value of `when_full` by which the sample goes that is needed least

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
        one_of("when_full", self.when_full, self._least_needed, "oldest", "ignore")
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
        return self._set("C", penalty(C))

    def _set(self: Self, name: str, value: float) -> Self:
        """Change a parameter of the core by its method."""
        if self._state is None:
            setattr(self, name, value)
            return self
        core = self._state.core
        if not getattr(core, f"set_{name}")(value):
            raise self._margin_full()
        setattr(self, name, value)
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

    def _without_each(self, value: Callable[[np.ndarray], float]) -> np.ndarray:
        """For each stored sample x, value(x) without it. The memory is restored byte for byte."""
        core = self._fitted
        memory = core.arena.memory
        before = memory.copy()
        vectors = self._held("vectors").copy()
        values = np.empty(len(vectors))
        try:
            for i, x in enumerate(vectors):
                self.unlearn(i)
                values[i] = value(x)
                memory[:] = before
        finally:
            memory[:] = before
        return values
