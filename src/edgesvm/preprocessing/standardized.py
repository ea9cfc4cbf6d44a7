"""Standardized: a running standardizer in front of a learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from edgesvm.budget import MemoryPlan
from edgesvm.contract.engine import of_engine
from edgesvm.contract.registry import registered
from edgesvm.learner import Learner, Place
from edgesvm.learners.wrapper import Wrapper
from edgesvm.preprocessing._standardized import StandardizedCore

__all__ = ["Standardized"]


@registered
@dataclass(kw_only=True, eq=False, repr=False)
class Standardized(Wrapper):
    """Scale each feature to mean 0 and standard deviation 1, with running statistics, and learn the
    scaled sample.

    Raw sensor features differ in scale (lux in thousands, humidity in thousandths); a ball or a
    kernel sees only the largest. The statistics are in the arena, and so part of the budget and of
    the snapshot.

    Parameters
    ----------
    learner : Learner, default StreamSVM()
        Only its parameters are used; it is not changed.

    Attributes
    ----------
    mean_, scale_ : ndarray of shape (n_features,), float64
    learner_ : Learner
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    A sample is scaled once, by the statistics up to and including itself. Samples learned early
    were therefore scaled by less accurate statistics. ``fit`` is one pass, even if the learner's
    own makes several. Bytes: n_features (16 + s) in addition to the learner's, s = 4 or 8.

    Examples
    --------
    >>> from edgesvm import Standardized, StreamSVM
    >>> Standardized.within("2KiB", n_features=5, learner=StreamSVM()).learner
    StreamSVM(lookahead=8)
    """

    _compiled = StandardizedCore

    learner: Learner | None = None

    def _wraps(self, inner: Learner) -> bool:
        return not isinstance(inner, Standardized)

    @property
    def _n_classes(self) -> int:
        return self._inner._n_classes

    def _part(self, n_features: int) -> MemoryPlan | None:
        return self._inner._part(n_features)

    def _check_params(self) -> None:
        self._inner._check_params()

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        own = [
            ("mean", "f8", (n_features,)),
            ("spread", "f8", (n_features,)),
            ("scaled", self.dtype, (n_features,)),
        ]
        return [*own, *self._inner._arrays(n_features)]

    def _zero(self, core: Any) -> None:
        self._inner._zero(core.inner)  # zeroes the same arena

    def _check(self, core: Any) -> None:
        super()._check(core)
        self._inner._check(core.inner)

    def _build(self, engine: str, place: Place) -> Any:
        inner = self._inner._build(engine, place)  # on the same arena; its arrays have other names
        return of_engine(self._compiled, engine)(*place, inner=inner)

    @property
    def learner_(self) -> Any:
        """The inner learner, on the same memory: for its counters and extra methods, such as
        ``learner_.n_given_up_`` or ``learner_.update()``. It sees scaled samples only."""
        return self._inner_at_work(self._allocated.inner)

    @property
    def mean_(self) -> np.ndarray:
        """Mean of each feature, ndarray of shape (n_features,), float64; a copy."""
        return self._allocated.views["mean"].copy()

    @property
    def scale_(self) -> np.ndarray:
        """Standard deviation of each feature, ndarray of shape (n_features,), float64."""
        views = self._allocated.views
        return np.sqrt(views["spread"] / max(int(views["n_per_class"].sum()), 1))
