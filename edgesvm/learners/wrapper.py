"""Bases of learners that wrap another learner: its parameters as ``learner__C``, its capacity."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np

from edgesvm.budget import MemoryPlan
from edgesvm.contract.engine import of_engine
from edgesvm.contract.labels import MOST_CLASSES
from edgesvm.contract.registry import kind_of
from edgesvm.learner import Learner, Place
from edgesvm.learners.kinds import Forecasting
from edgesvm.persist.format import Wrapped

Self = TypeVar("Self", bound="Wrapper")
OfShell = TypeVar("OfShell", bound="Shell")


class OfInner:
    """An attribute of a wrapper that is the wrapped learner's."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, wrapper: Any, owner: type) -> Any:
        return self if wrapper is None else getattr(wrapper.inner, self._name)


class Wrapper(Learner):
    """Base of learners with a parameter that is another learner, of which only the parameters are
    used."""

    _parameter: ClassVar[str] = "learner"  # the name of that parameter
    _expected: ClassVar[str] = "a learner, such as StreamSVM()"
    _capacity = ""  # the wrapped learner's
    _n_met: int = 2  # classes that `fit` or `allocate` met, for a learner that takes any number
    _of_classes: ClassVar[bool] = True  # what it adds has no meaning around a regressor
    _passes_on: ClassVar[bool] = True  # samples; False: the wrapped learner only solves

    # -- the wrapped learner -----------------------------------------------------------------------

    @property
    def _given(self) -> Learner | None:
        """The parameter as it was given."""
        given: Learner | None = getattr(self, self._parameter)
        return given

    @property
    def inner(self) -> Any:
        """The learner whose parameters are used."""
        inner = self._default() if self._given is None else self._given
        if isinstance(inner, Learner):
            inner = inner.wrapped(self._n_met)
        if not isinstance(inner, Learner) or not self._wraps(inner):
            raise ValueError(f"{self._parameter}={self._given!r}: give {self._expected}")
        if inner.regresses and self._of_classes:
            raise ValueError(
                f"{self._parameter}={self._given!r}: it predicts a number, and"
                f" {type(self).__name__} needs classes"
            )
        if not inner.takes_labels:
            raise ValueError(
                f"{self._parameter}={self._given!r}: it learns without labels, and scales its"
                " samples itself; use it alone"
            )
        return inner

    @staticmethod
    def _default() -> Learner:
        """The learner used if None is given."""
        return kind_of("StreamSVM")()

    def _described(self, params: dict[str, Any]) -> Wrapped:
        """A snapshot names the default too, since a later release may have another."""
        named = self._default() if params[self._parameter] is None else params[self._parameter]
        if self._n_met > 2:
            named = named.wrapped(self._n_met)
        return super()._described({**params, self._parameter: named})

    @classmethod
    def _of_params(cls: type[Self], claimed: Mapping[str, Any]) -> Self:
        named = claimed.get(cls._parameter)
        first = cls._first_default() if named is None else named
        return super()._of_params({**claimed, cls._parameter: first})

    @staticmethod
    def _first_default() -> Learner:
        """What an old snapshot means that names no learner."""
        return kind_of("StreamSVM")(bound="upper", average=False)

    def _wraps(self, inner: Learner) -> bool:
        """Whether this learner can be wrapped."""
        raise NotImplementedError

    def _inner_at_work(self, core: Any) -> Any:
        """The wrapped learner on its core, in this learner's memory."""
        as_built = type(self)(**self._held_state.params)
        return as_built.inner._at_work(core, self._engine)

    def like_new(self: Self) -> Self:
        other = super().like_new()
        other._n_met = self._n_met
        return other

    # -- taken from the wrapped learner ------------------------------------------------------------

    dtype = OfInner()
    regresses = OfInner()
    forecasts = OfInner()
    shuffles = OfInner()
    most_epochs = OfInner()
    class_weight = OfInner()
    _most_samples = OfInner()

    def _check_params(self) -> None:
        super()._check_params()
        self.inner._check_params()

    def with_capacity(self: Self, capacity: int) -> Self:
        params = self.get_params(deep=False)
        return type(self)(**{**params, self._parameter: self.inner.with_capacity(capacity)})

    def _capacity_range(self, n_features: int) -> tuple[int, int]:
        least, most = self.inner._capacity_range(n_features)
        return least, most

    # -- parameters, with the wrapped learner's ----------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Constructor arguments; with ``deep`` also the wrapped learner's, as ``learner__C``."""
        params = super().get_params(deep=False)
        if deep and isinstance(self._given, Learner):
            nested = self._given.get_params()
            params |= {f"{self._parameter}__{name}": value for name, value in nested.items()}
        return params

    def set_params(self: Self, **params: Any) -> Self:
        """Change constructor arguments, ``learner__C`` for the inner learner's; drops the model."""
        self._check_names(params)
        own, nested = self._apart(params)
        with self._guard:
            super().set_params(**own)
            self._n_met = 2
            if nested:
                getattr(self, self._parameter).set_params(**nested)
        return self

    def _check_names(self, params: Mapping[str, Any]) -> None:
        own, nested = self._apart(params)
        super()._check_names(own)
        if not nested:
            return
        inner = own.get(self._parameter, self._given)
        if not isinstance(inner, Learner):
            names = ", ".join(f"{self._parameter}__{name}" for name in nested)
            example = f"{self._parameter}={type(self._default()).__name__}()"
            raise ValueError(
                f"{names}: set {self._parameter} first, for example {example}; it is {inner!r}"
            )
        inner._check_names(nested)

    def _apart(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Own parameters, and the wrapped learner's under its own names."""
        prefix = f"{self._parameter}__"
        own = {name: v for name, v in params.items() if not name.startswith(prefix)}
        nested = {name.removeprefix(prefix): v for name, v in params.items() if name not in own}
        return own, nested


@dataclass(kw_only=True, eq=False, repr=False)
class Shell(Forecasting, Wrapper):
    """Base of wrappers whose arrays lie in front of the wrapped learner's: one plan, one set of
    counters, one core around the other."""

    learner: Learner | None = field(default=None, kw_only=False)

    @staticmethod
    def _default() -> Learner:
        return kind_of("ByteSVM")()

    n_classes_planned = OfInner()
    _caution = OfInner()

    @property
    def _given_or_default(self) -> Learner:
        return self._default() if self._given is None else self._given

    def with_capacity(self: OfShell, capacity: int) -> OfShell:
        params = self.get_params(deep=False)
        given = self._given_or_default.with_capacity(capacity)
        return type(self)(**{**params, self._parameter: given})

    # -- more than two classes without being told --------------------------------------------------

    @property
    def _most_met(self) -> int:
        """Largest number of classes that the plan can be changed for."""
        given = self._given_or_default
        if isinstance(given, Shell):
            return given._most_met
        return MOST_CLASSES if given.wrapped() is not given else 0

    def _most_to_come(self, n_features: int) -> int:
        return 0 if self.regresses else max(self._most_met, self._most_classes(n_features))

    def _take_up(self, y: np.ndarray, n_features: int) -> None:
        if self._state is None or not self._state.core.labels.closed:
            with self._planned_for(len(set(y.tolist())) if self._most_met else 0):
                self.plan(n_features)

    @contextlib.contextmanager
    def _planned_for(self, n_classes: int) -> Iterator[None]:
        before = self._n_met
        if self._most_met:
            self._n_met = min(max(n_classes, 2), self._most_met)
        try:
            yield
        except BaseException:
            self._n_met = before
            raise

    def allocate(
        self: OfShell, n_features: int, classes: Sequence[Any] | None = None, buffer: Any = None
    ) -> OfShell:
        """As `Learner.allocate`; a learner that takes classes as they come gets room for those
        named here, else for two."""
        if classes is None:
            return super().allocate(n_features, classes, buffer)
        with self._planned_for(len(classes)):
            return super().allocate(n_features, classes, buffer)

    def wrapped(self: OfShell, n_classes: int = 2) -> OfShell:
        if n_classes == 2 or not self._most_met:
            return self
        given = self._given_or_default.wrapped(n_classes)
        return type(self)(**{**self.get_params(deep=False), self._parameter: given})

    def _built_with(self) -> dict[str, Any]:
        params = super()._built_with()
        return params | {self._parameter: self.inner} if self._n_met > 2 else params

    def _part(self, n_features: int) -> MemoryPlan | None:
        return self.inner._part(n_features)

    def _used(self, core: Any) -> list[slice]:
        used: list[slice] = self.inner._used(core.inner)  # of the same arena
        return used

    def _check(self, core: Any) -> None:
        self.inner._check(core.inner)  # the counters are its
        super()._check(core)

    def _build(self, engine: str, place: Place) -> Any:
        inner = self.inner._build(engine, place)  # on the same arena; its arrays have other names
        params = self._core_params(place.n_features)
        return of_engine(self._compiled, engine)(*place, inner=inner, **params)

    def _inner_readers(self, core: Any) -> dict[str, Any]:
        return {"inner": self.inner._reader(core.inner)}

    @property
    def learner_(self) -> Any:
        """The inner learner, on the same memory, for its counters and extra methods. It sees
        samples as they are passed on to it: scaled ones behind a scaler."""
        return self._inner_at_work(self.core.inner)


def found_within(learner: Any, name: str) -> Any:
    """An attribute of the learner, or of the first learner within that has it; else None."""
    inner = learner if getattr(learner, "is_fitted", True) else None
    while inner is not None:
        try:
            return getattr(inner, name)
        except AttributeError:
            inner = inner.learner_ if isinstance(inner, Shell) else None
    return None


def innermost(learner: Learner) -> Learner:
    """The one that learns: behind all stages, or in each part of a multiclass learner."""
    while isinstance(learner, Wrapper) and learner._passes_on:
        learner = learner.inner
    return learner
