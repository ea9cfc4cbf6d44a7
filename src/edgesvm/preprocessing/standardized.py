"""Standardized: a learner behind a running standardizer."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgesvm.budget import MemoryPlan
from edgesvm.learner import Learner
from edgesvm.learners.wrapper import Wrapper
from edgesvm.preprocessing._standardized import StandardizedCore
from edgesvm.preprocessing._standardized_ref import StandardizedCoreRef

__all__ = ["Standardized"]


class Standardized(Wrapper):
    """Scale each feature to mean 0 and deviation 1 as the stream goes, and learn that.

    Raw sensor features differ in scale (lux by the thousand, humidity by the thousandth); a ball or
    a kernel sees only the largest. Mean and deviation are part of the arena, so of the budget and
    the snapshot.

    Parameters
    ----------
    learner : Learner, default StreamSVM()
        Only its parameters are used; it stays as it is.

    Attributes
    ----------
    mean_, scale_ : ndarray of shape (n_features,), float64
    learner_ : Learner
    n_seen_, n_updates_, classes_, n_features_in_

    Notes
    -----
    A sample is scaled by the statistics up to and including itself, and never again: what the
    learner took in early was scaled by less certain ones. ``fit`` is one pass, whatever the
    learner's own is. Bytes: n_features (16 + s) beside the learner's, s = 4 or 8.

    Examples
    --------
    >>> from edgesvm import Standardized, StreamSVM
    >>> Standardized.within("2KiB", n_features=5, learner=StreamSVM(bound="lower")).learner
    StreamSVM(bound='lower', lookahead=8)
    """

    def __init__(self, *, learner: Learner | None = None) -> None:
        self.learner = learner

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
        self._inner._zero(core.inner)  # on the same arena

    def _check(self, core: Any) -> None:
        super()._check(core)
        self._inner._check(core.inner)

    def _core(self, *common: Any) -> Any:
        inner = self._inner._like_new()
        inner._engine = self._engine  # type: ignore[misc]
        core = StandardizedCore if self._engine == "compiled" else StandardizedCoreRef
        return core(*common, inner=inner._core(*common))

    @property
    def learner_(self) -> Learner:
        """The learner at work in this one's memory, for what it tells or does beside learning and
        deciding, such as ``learner_.n_given_up_`` or ``learner_.update()``. It knows scaled samples
        alone."""
        core, params = self._allocated, self._state[1]
        learner = type(self)(**params)._inner._like_new()
        learner._engine = self._engine  # type: ignore[misc]
        learner._state = (core.inner, learner.get_params(deep=False))
        return learner

    @property
    def mean_(self) -> np.ndarray:
        """Mean of each feature, ndarray of shape (n_features,), float64, a copy."""
        return self._allocated.views["mean"].copy()

    @property
    def scale_(self) -> np.ndarray:
        """Standard deviation of each feature, ndarray of shape (n_features,), float64."""
        views = self._allocated.views
        return np.sqrt(views["spread"] / max(int(views["n_per_class"].sum()), 1))
