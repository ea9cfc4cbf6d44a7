"""The learners by class name, for snapshots and the command line. Each learner registers itself."""

from __future__ import annotations

from typing import Any, TypeVar

from edgesvm.errors import CorruptModelError

LEARNERS: dict[str, type[Any]] = {}
OTHERS: dict[str, type[Any]] = {}  # what has snapshots and is no learner

Kind = TypeVar("Kind", bound=type)


def registered(kind: Kind) -> Kind:
    """Class decorator: lets snapshots of this learner be saved and loaded.

    Raises
    ------
    ValueError
        Another learner has this name.
    """
    if kind.__name__ in LEARNERS:
        raise ValueError(f"a learner named {kind.__name__!r} is already registered")
    LEARNERS[kind.__name__] = kind
    return kind


def also_loaded(kind: Kind) -> Kind:
    """Class decorator: as `registered`, for what is no learner."""
    OTHERS[kind.__name__] = kind
    return kind


def registered_name(kind: type) -> str:
    """The name of this class in snapshots; TypeError if it is not registered."""
    if LEARNERS.get(kind.__name__) is not kind:
        raise TypeError(
            f"cannot save a {kind.__qualname__}: decorate the class with"
            " edgesvm.contract.registry.registered, so that `load` finds it"
        )
    return kind.__name__


def loaded_as(name: str) -> type[Any]:
    """The class that `load` makes of a snapshot of this name: a learner or a chain."""
    return OTHERS[name] if name in OTHERS else kind_of(name)


def kind_of(name: str) -> type[Any]:
    """The class that a snapshot names; CorruptModelError if there is none."""
    if name not in LEARNERS:
        raise CorruptModelError(
            f"the snapshot is of the learner {name!r}, which this release does not know"
        )
    return LEARNERS[name]
