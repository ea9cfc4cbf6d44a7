"""VirtualSensor: one channel from the others, and the novelty of what they do not explain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.budget import Line, MemoryPlan, check_numbers, parse_bytes
from edgesvm.contract.guard import Guard
from edgesvm.contract.inputs import as_floats
from edgesvm.contract.params import whole
from edgesvm.contract.registry import also_loaded, registered_name
from edgesvm.core.arena import Arena
from edgesvm.core.status import Status
from edgesvm.errors import refusal
from edgesvm.learner import Learner
from edgesvm.learners.ahead import ERRORS, Ahead
from edgesvm.learners.fourier.regression import FourierRLS
from edgesvm.learners.kinds import tracked_in
from edgesvm.learners.novelty.novelty import GaussianNovelty, NoveltyLearner
from edgesvm.persist.format import Snapshot
from edgesvm.persist.saved import Composed
from edgesvm.preprocessing.standardized import Standardized

__all__ = ["VirtualSensor"]

LARGEST = 1e6  # of a residual, in mean absolute ones
Parts = Mapping[str, tuple[Any, int]]
NO_LABELS: tuple[tuple[Any, ...], bool] = (), False


@also_loaded
@dataclass(kw_only=True, eq=False)
class VirtualSensor(Composed):
    """Predict one channel from the others, and tell when it is not what they lead one to expect.

    A fault that moves one channel within its usual range is no strange value by itself; what the
    other channels say of it is. The residual, in units of the usual one, goes to a learner of what
    is normal. Both learners are in one block of memory: one plan, one snapshot. A copy of the
    regressor beside it (`Ahead`) tells how far off it is when the channel is no longer learned.

    Parameters
    ----------
    target : int, default -1
        Number of the channel that is predicted; negative counts from the last.
    regressor : Learner, default Standardized(learner=FourierRLS(changes=False), missing="mean")
        Only its parameters are used.
    learner : NoveltyLearner, default GaussianNovelty()
        Of one feature, the residual. Only its parameters are used.

    Examples
    --------
    >>> import numpy as np
    >>> from edgesvm import VirtualSensor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, (4000, 3)).astype(np.float32)
    >>> X[:, 2] = 20 + 5 * X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(4000)
    >>> sensor = VirtualSensor().fitted_into("8KiB", n_inputs=3).allocate(n_inputs=3)
    >>> for x in X[:-1]:
    ...     sensor.learn(x)
    >>> x = X[-1]
    >>> x[2] += 2.0  # well within its range
    >>> int(sensor.learner_.predict_one(sensor.residual(x)))
    -1
    """

    target: int = -1
    regressor: Learner | None = None
    learner: NoveltyLearner | None = None

    n_classes_allocated = 2
    regresses = True  # it has no labels

    def __post_init__(self) -> None:
        self._arena: Arena | None = None
        self._guard = Guard(type(self).__name__)

    # -- memory ------------------------------------------------------------------------------------

    def _parts(self, n_inputs: int) -> dict[str, tuple[Learner, int]]:
        """Unused learners by the name of their parameter, and how many features each gets."""
        whole("n_inputs", n_inputs, 2, 1 << 24)
        whole("target", self.target, -n_inputs, n_inputs - 1)
        regressor: Any = self.regressor
        if regressor is None:
            regressor = Standardized(learner=FourierRLS(changes=False), missing="mean")
        learner: Any = GaussianNovelty() if self.learner is None else self.learner
        if not isinstance(regressor, Learner) or not regressor.forecasts:
            raise ValueError(f"regressor={regressor!r}: give one of a stream, such as FourierRLS()")
        if not isinstance(learner, NoveltyLearner):
            raise ValueError(f"learner={learner!r}: give one without labels, as GaussianNovelty()")
        return {
            "regressor": (regressor.like_new(), n_inputs - 1),
            "learner": (learner.like_new(), 1),
            "copy": (regressor.like_new(), n_inputs - 1),
        }

    def plan(self, n_inputs: int) -> MemoryPlan:
        """The arrays needed, and their total in bytes. Nothing is allocated."""
        plans = {name: part.plan(width) for name, (part, width) in self._parts(n_inputs).items()}
        arenas: list[Line] = [(name, "u1", (plan.total,)) for name, plan in plans.items()]
        return MemoryPlan.of([*arenas, ERRORS, ("learned_at", "i8", ())], plans)

    def fitted_into(self, budget: int | str, n_inputs: int) -> VirtualSensor:
        """The same with the largest regressor that fits into `budget` bytes, all else included;
        MemoryBudgetError if none fits."""
        n_bytes = parse_bytes(budget)
        part, width = self._parts(n_inputs)["regressor"]
        room = (n_bytes - self.plan(n_inputs).total) // 16 * 8 + part.plan(width).total
        told, others = f"of {n_inputs} inputs", "learner and the regressor's copy"
        fitted = self._part_fitted_into(
            n_bytes, part, width, told=told, before=n_bytes - room, others=others
        )
        return type(self)(**{**self._given, "regressor": fitted})

    def allocate(self, n_inputs: int, buffer: Any = None) -> VirtualSensor:
        """Allocate the planned bytes, and forget what was learned. Nothing is allocated later."""
        plan = self.plan(n_inputs)
        plan.check_buffer(buffer, f"{self!r} of {n_inputs} inputs")
        arena = Arena(plan.total, buffer)
        views, parts = plan.cut(arena.memory), self._parts(n_inputs)
        for name, (part, width) in parts.items():
            part.allocate(width, buffer=views[name])
        self._adopt(plan, arena, n_inputs, parts)
        return self

    def _adopt(self, plan: MemoryPlan, arena: Arena, n_inputs: int, parts: Parts) -> None:
        self.n_features_in_, self._arena = n_inputs, arena
        self.regressor_, self.learner_, copy = (part for part, _ in parts.values())
        views = plan.cut(arena.memory)
        check_numbers(plan.arrays, views)
        self.drift_ = Ahead(self.regressor_, copy, views["errors"])
        self._learned_at = views["learned_at"]

    # -- save and load -----------------------------------------------------------------------------

    @property
    def n_updates_(self) -> int:
        """Samples that changed the learner."""
        return int(self.learner_.n_updates_)

    def _described(self) -> dict[str, Any]:
        """The parameters, with the learners as they are at work."""
        at_work = {"regressor": self.regressor_, "learner": self.learner_}
        return self._given | {
            name: part._described(part._held_state.params) for name, part in at_work.items()
        }

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
        self._adopt(plan, arena, n_features, parts)

    # -- samples -----------------------------------------------------------------------------------

    def _apart(self, x: ArrayLike) -> tuple[np.ndarray, float]:
        """The other channels, and the target."""
        if self._arena is None:
            self.allocate(np.size(x))
        dtype = self.regressor_.core.dtype
        row = as_floats(x, dtype, 1, self.n_features_in_, type(self).__name__)
        return np.delete(row, self.target), float(row[self.target])

    def expected(self, x: ArrayLike) -> tuple[float, float, float]:
        """The target as the other channels lead one to expect it, and the ends of its interval: the
        wider the longer the channel was not learned, and infinite where nothing is known.
        Raises NotFittedError, and SampleRefused where a channel is infinite, or the target NaN."""
        others, _ = self._apart(x)
        value = self.regressor_.predict_one(others)
        return (value, *self.drift_.interval(self.ahead_, value))

    @property
    def ahead_(self) -> int:
        """How many samples the next one is after the last whose channel was learned."""
        return max(self.n_seen_ - int(self._learned_at), 1)

    def residual(self, x: ArrayLike) -> np.ndarray:
        """What the other channels do not explain, in mean absolute residuals: the row of
        ``learner_``, ndarray of shape (1,). 0 before the first sample. Raises as `expected`."""
        others, y = self._apart(x)
        regressor = self.regressor_
        if not np.isfinite(y):
            dtype = regressor.dtype
            raise refusal(Status.NOT_FINITE, f"{type(self).__name__}: the sample", dtype, ())
        if not regressor.is_fitted:
            return np.zeros(1, self.learner_.core.dtype)
        size = float(tracked_in(regressor.core).views["interval"][0, 0])
        error = y - regressor.predict_one(others)
        most = LARGEST * size
        within = min(max(error, -most), most)
        return np.array([within / size if size > 0 else 0.0], self.learner_.core.dtype)

    def learn(self, x: ArrayLike) -> None:
        """Learn one sample: its residual, then the channel from the others; may refuse it."""
        residual = self.residual(x)
        self.learn_channel(x)
        self.learner_.learn_one(residual)

    def learn_channel(self, x: ArrayLike) -> None:
        """Learn the channel from the others, and nothing of the residual."""
        others, y = self._apart(x)
        self.regressor_.learn_one(others, y)
        self.drift_.learned(others, y)
        self._learned_at[...] = self.n_seen_

    @property
    def n_seen_(self) -> int:
        """Samples learned or watched."""
        return int(self.learner_.n_seen_)
