"""What learners around another learner share: its parameters as ``learner__C``, its capacity."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from edgesvm.learner import Learner
from edgesvm.learners.stream.stream_svm import StreamSVM

Self = TypeVar("Self", bound="Wrapper")


class Wrapper(Learner):
    """Base of the learners whose parameter ``learner`` is another one, of which only the parameters
    are used."""

    _capacity = ""  # the wrapped learner's

    learner: Learner | None

    @property
    def _inner(self) -> Learner:
        inner = StreamSVM() if self.learner is None else self.learner
        if not isinstance(inner, Learner) or not self._wraps(inner):
            raise ValueError(f"learner={self.learner!r}: give {self._wrapped}, such as StreamSVM()")
        return inner

    _wrapped = "a learner"

    def _wraps(self, inner: Learner) -> bool:
        """Whether this one may be within."""
        raise NotImplementedError

    @property
    def dtype(self) -> str:  # type: ignore[override]
        return self._inner.dtype

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Constructor arguments; with ``deep`` the learner's too, as ``learner__C``."""
        params = super().get_params(deep=False)
        if deep and self.learner is not None:
            params |= {
                f"learner__{name}": value for name, value in self.learner.get_params().items()
            }
        return params

    def set_params(self: Self, **params: Any) -> Self:
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

    def _of_capacity(self: Self, capacity: int) -> Self:
        params = self.get_params(deep=False)
        return type(self)(**{**params, "learner": self._inner._of_capacity(capacity)})

    def _capacity_range(self) -> tuple[int, int]:
        return self._inner._capacity_range()

    @property
    def _most_samples(self) -> int | None:
        return self._inner._most_samples

    def decision_one(self, x: ArrayLike, out: np.ndarray | None = None) -> Any:
        """Decision values of one sample, as a row of ``decision_function``.

        Parameters
        ----------
        x : ndarray of shape (n_features,)
        out : ndarray of shape (n_labels,), float64, optional
            Of more than two labels, where to put the values, so that no memory is taken.

        Returns
        -------
        float, or of more than two labels ndarray of shape (n_labels,), float64
        """
        return self._fitted.decision_one(x, out)
