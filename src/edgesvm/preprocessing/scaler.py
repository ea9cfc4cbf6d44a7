"""Base of the scalers: a learner behind running statistics of its features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from edgesvm.budget import MemoryPlan
from edgesvm.contract.engine import of_engine
from edgesvm.learner import Learner, Place
from edgesvm.learners.wrapper import Wrapper


@dataclass(kw_only=True, eq=False, repr=False)
class Scaler(Wrapper):
    """Base of learners that scale each feature by running statistics and learn the scaled sample.

    A subclass adds `_statistics`, `center_` and `scale_`.
    """

    learner: Learner | None = None

    def _statistics(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        """The arrays of the statistics, (name, dtype, shape)."""
        raise NotImplementedError

    @property
    def center_(self) -> np.ndarray:
        """What is subtracted from each feature, ndarray of shape (n_features,), float64; a copy."""
        raise NotImplementedError

    @property
    def scale_(self) -> np.ndarray:
        """What each feature is divided by, ndarray of shape (n_features,), float64."""
        raise NotImplementedError

    def _wraps(self, inner: Learner) -> bool:
        return not isinstance(inner, Scaler)

    @property
    def _n_classes(self) -> int:
        return self._inner._n_classes

    def _part(self, n_features: int) -> MemoryPlan | None:
        return self._inner._part(n_features)

    def _check_params(self) -> None:
        self._inner._check_params()

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        scaled = ("scaled", self.dtype, (n_features,))
        return [*self._statistics(n_features), scaled, *self._inner._arrays(n_features)]

    def _zero(self, core: Any) -> None:
        self._inner._zero(core.inner)  # zeroes the same arena

    def _check(self, core: Any) -> None:
        super()._check(core)
        self._inner._check(core.inner)

    def _build(self, engine: str, place: Place) -> Any:
        inner = self._inner._build(engine, place)  # on the same arena; its arrays have other names
        params = self._core_params(place.n_features)
        return of_engine(self._compiled, engine)(*place, inner=inner, **params)

    @property
    def learner_(self) -> Any:
        """The inner learner, on the same memory: for its counters and extra methods, such as
        ``learner_.n_given_up_`` or ``learner_.update()``. It sees scaled samples only."""
        return self._inner_at_work(self._allocated.inner)

    @property
    def _n_learned(self) -> int:
        """Samples learned, at least 1."""
        return max(int(self._allocated.views["n_per_class"].sum()), 1)
