"""Standardized: a learner behind a running standardizer."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgesvm.learner import Learner
from edgesvm.learners.stream.stream_svm import StreamSVM
from edgesvm.preprocessing._standardized import StandardizedCore
from edgesvm.preprocessing._standardized_ref import StandardizedCoreRef

__all__ = ["Standardized"]


class Standardized(Learner):
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

    _capacity = ""  # the wrapped learner's

    def __init__(self, *, learner: Learner | None = None) -> None:
        self.learner = learner

    @property
    def _inner(self) -> Learner:
        inner = StreamSVM() if self.learner is None else self.learner
        if not isinstance(inner, Learner) or isinstance(inner, Standardized):
            raise ValueError(f"learner={self.learner!r}: give a learner, such as StreamSVM()")
        return inner

    @property
    def dtype(self) -> str:  # type: ignore[override]
        return self._inner.dtype

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Constructor arguments; with ``deep`` the learner's too, as ``learner__C``."""
        params: dict[str, Any] = {"learner": self.learner}
        if deep and self.learner is not None:
            params |= {
                f"learner__{name}": value for name, value in self.learner.get_params().items()
            }
        return params

    def set_params(self, **params: Any) -> Standardized:
        """Change constructor arguments, ``learner__C`` for the learner's; what was learned is
        dropped."""
        nested = {name: params.pop(name) for name in list(params) if name.startswith("learner__")}
        super().set_params(**params)
        if nested and self.learner is None:
            raise ValueError(f"{', '.join(nested)}: give learner=StreamSVM(...) first, it is None")
        if nested:
            self._inner.set_params(
                **{name.removeprefix("learner__"): value for name, value in nested.items()}
            )
        return self

    def _of_capacity(self, capacity: int) -> Standardized:
        return Standardized(learner=self._inner._of_capacity(capacity))

    def _capacity_range(self) -> tuple[int, int]:
        return self._inner._capacity_range()

    def _check_params(self) -> None:
        self._inner._check_params()

    def _arrays(self, n_features: int) -> list[tuple[str, str, tuple[int, ...]]]:
        own = [
            ("mean", "f8", (n_features,)),
            ("spread", "f8", (n_features,)),
            ("scaled", self.dtype, (n_features,)),
        ]
        return [*own, *self._inner._arrays(n_features)]

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
        learner = (StreamSVM() if params["learner"] is None else params["learner"])._like_new()
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
