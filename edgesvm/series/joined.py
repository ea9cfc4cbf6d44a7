"""Several learners, and arrays beside them, in one block of memory: one plan, one snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from edgesvm.budget import MemoryPlan, format_bytes, parse_bytes
from edgesvm.contract.guard import Guard
from edgesvm.contract.registry import registered_name
from edgesvm.core.arena import Arena
from edgesvm.errors import MemoryBudgetError
from edgesvm.learner import Learner
from edgesvm.persist.format import Snapshot
from edgesvm.persist.saved import Composed

Arrays = list[tuple[str, str, tuple[int, ...]]]
Self = TypeVar("Self", bound="Joined")
NO_LABELS: tuple[tuple[Any, ...], bool] = (), False


class Joined(Composed):
    """Base of a dataclass whose learners work side by side.

    A subclass adds `_parts` and `_own_arrays`. Before ``allocate`` it only has its parameters;
    afterwards `arena`, its own arrays in `_views`, and the learners by name in `learners_`.
    """

    _grows: str  # the part that `fitted_into` makes as large as fits

    def __post_init__(self) -> None:
        self.learners_: dict[str, Any] = {}
        self._arena: Arena | None = None
        self._views: Mapping[str, np.ndarray] = {}
        self._guard = Guard(type(self).__name__)

    # -- what a subclass adds ----------------------------------------------------------------------

    def _parts(self, n_inputs: int) -> dict[str, tuple[Learner, int]]:
        """Unused learners by the name of their parameter, and how many features each gets; raises
        ValueError for a parameter out of range."""
        raise NotImplementedError

    def _own_arrays(self, n_inputs: int) -> Arrays:
        """The arrays beside the learners."""
        raise NotImplementedError

    # -- memory ------------------------------------------------------------------------------------

    def plan(self, n_inputs: int) -> MemoryPlan:
        """The arrays needed, and their total in bytes. Nothing is allocated."""
        plans = {name: part.plan(width) for name, (part, width) in self._parts(n_inputs).items()}
        inside: Arrays = [(name, "u1", (plan.total,)) for name, plan in plans.items()]
        return MemoryPlan.of([*self._own_arrays(n_inputs), *inside], plans)

    def fitted_into(self: Self, budget: int | str, n_inputs: int) -> Self:
        """The same with the largest regressor that fits into `budget` bytes, all else included.

        Raises
        ------
        MemoryBudgetError
            Not even the smallest fits.
        """
        n_bytes = parse_bytes(budget)
        part, width = self._parts(n_inputs)[self._grows]
        beside = self.plan(n_inputs).total - part.plan(width).total
        try:
            fitted = part.fitted_into(max(n_bytes - beside, 0), width)
        except MemoryBudgetError as error:
            required = beside + error.required
            raise MemoryBudgetError(
                f"{type(self).__name__} of {n_inputs} inputs needs {format_bytes(required)}, of"
                f" which the regressor has {format_bytes(error.required)}; the budget is"
                f" {format_bytes(n_bytes)}",
                required,
                n_bytes,
            ) from error
        return type(self)(**{**self._given, self._grows: fitted})

    def allocate(self: Self, n_inputs: int, buffer: Any = None) -> Self:
        """Allocate the planned bytes, and forget what was learned. Nothing is allocated later.

        Raises
        ------
        MemoryBudgetError
            The buffer is too small; ``.required`` is the number of bytes needed.
        """
        plan = self.plan(n_inputs)
        plan.check_buffer(buffer, f"{self!r} of {n_inputs} inputs")
        arena = Arena(plan.total, buffer)
        views = plan.cut(arena.memory)
        parts = self._parts(n_inputs)
        for name, (part, width) in parts.items():
            part.allocate(width, buffer=views[name])
        self._adopt(n_inputs, arena, views, parts)
        return self

    def _adopt(
        self,
        n_inputs: int,
        arena: Arena,
        views: Mapping[str, np.ndarray],
        parts: dict[str, tuple[Learner, int]],
    ) -> None:
        self.n_features_in_ = n_inputs
        self._arena, self._views = arena, views
        self.learners_ = {name: part for name, (part, _) in parts.items()}

    # -- save and load -----------------------------------------------------------------------------

    n_classes_allocated = 2
    regresses = True  # it has no labels

    @property
    def n_updates_(self) -> int:
        """Samples that changed the learner."""
        return int(self.learner_.n_updates_)

    @property
    def learner_(self) -> Any:
        """The learner, in this memory."""
        return self.learners_["learner"]

    def _described(self) -> dict[str, Any]:
        """The parameters, with the learners as they are at work."""
        at_work = {
            name: part._described(part._held_state.params) for name, part in self.learners_.items()
        }
        return self._given | at_work

    def snapshot(self) -> Snapshot:
        name, memory = registered_name(type(self)), self.arena.memory.data
        return Snapshot(name, self._described(), self.n_features_in_, (), False, memory)

    def _load(
        self, plan: MemoryPlan, arena: Any, n_features: int, labels: tuple[Any, ...], closed: bool
    ) -> None:
        parts = self._parts(n_features)
        for name, (part, width) in parts.items():
            known = NO_LABELS if part.takes_labels else ((-1, 1), True)
            inside = plan.inside[name]
            place = arena.part(plan.offsets[name], inside.total)
            part._load(inside, place, width, *known)
        self._adopt(n_features, arena, plan.cut(arena.memory), parts)
        self._check()

    def _check(self) -> None:
        """Raise CorruptModelError if no stream of samples can have left the own arrays."""
        raise NotImplementedError
