"""Base of the stages: a learner behind a map of its samples, in one arena."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from edgesvm.budget import MemoryPlan
from edgesvm.contract.engine import of_engine
from edgesvm.learner import Learner, Place
from edgesvm.learners.wrapper import Wrapper

Arrays = list[tuple[str, str, tuple[int, ...]]]


@dataclass(kw_only=True, eq=False, repr=False)
class Stage(Wrapper):
    """Base of learners that map a sample and have another learner learn what comes out.

    A subclass adds `_own_arrays`, and `_width` if there are more features behind it.
    """

    learner: Learner | None = None

    def _own_arrays(self, n_features: int) -> Arrays:
        """The arrays of the stage, the mapped sample last."""
        raise NotImplementedError

    def _width(self, n_features: int) -> int:
        """Number of features that the inner learner gets."""
        return n_features

    @property
    def _n_classes(self) -> int:
        return self._inner._n_classes

    def _part(self, n_features: int) -> MemoryPlan | None:
        return self._inner._part(self._width(n_features))

    def _check_params(self) -> None:
        self._inner._check_params()

    def _arrays(self, n_features: int) -> Arrays:
        return [*self._own_arrays(n_features), *self._inner._arrays(self._width(n_features))]

    def _zero(self, core: Any) -> None:
        self._inner._zero(core.inner)  # zeroes the same arena

    def _check(self, core: Any) -> None:
        super()._check(core)
        self._inner._check(core.inner)

    def _build(self, engine: str, place: Place) -> Any:
        # on the same arena; its arrays have other names
        behind = place._replace(n_features=self._width(place.n_features))
        inner = self._inner._build(engine, behind)
        params = self._core_params(place.n_features)
        return of_engine(self._compiled, engine)(*place, inner=inner, **params)

    @property
    def learner_(self) -> Any:
        """The inner learner, on the same memory: for its counters and extra methods, such as
        ``learner_.n_given_up_`` or ``learner_.update()``. It sees mapped samples only."""
        return self._inner_at_work(self._allocated.inner)
