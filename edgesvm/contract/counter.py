"""A counter in a learner's arena, as a public attribute."""

from __future__ import annotations

from typing import Any, overload


class Counter:
    """Reads the arena's counter ``x`` as attribute ``x_``."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name.removesuffix("_")

    @overload
    def __get__(self, learner: None, owner: type) -> Counter: ...
    @overload
    def __get__(self, learner: Any, owner: type) -> int: ...
    def __get__(self, learner: Any, owner: type) -> Counter | int:
        return self if learner is None else int(learner.core.views[self.name])
