"""The learners by class name, for snapshots and the command line, and what else has snapshots. Each
class registers itself."""

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
        Another class has this name.
    """
    return _entered(kind, LEARNERS)


def also_loaded(kind: Kind) -> Kind:
    """Class decorator: as `registered`, for what is no learner."""
    return _entered(kind, OTHERS)


def _entered(kind: Kind, kinds: dict[str, type[Any]]) -> Kind:
    if kind.__name__ in LEARNERS or kind.__name__ in OTHERS:
        raise ValueError(f"a class named {kind.__name__!r} is already registered")
    kinds[kind.__name__] = kind
    return kind


def registered_name(kind: type) -> str:
    """The name of this class in snapshots; TypeError if it is not registered."""
    if (LEARNERS | OTHERS).get(kind.__name__) is not kind:
        raise TypeError(
            f"cannot save a {kind.__qualname__}: decorate the class with"
            " edgesvm.contract.registry.registered, so that `load` finds it"
        )
    return kind.__name__


def kind_of(name: str) -> type[Any]:
    """The class that a snapshot names; CorruptModelError if there is none."""
    kinds = LEARNERS | OTHERS
    if name not in kinds:
        raise CorruptModelError(
            f"the snapshot is of the learner {name!r}, which this release does not know"
        )
    return kinds[name]
