"""The learners by name, as snapshots and the command line find them. A learner puts itself in."""

from __future__ import annotations

from typing import Any, TypeVar

from edgesvm.errors import CorruptModelError

LEARNERS: dict[str, type[Any]] = {}

Kind = TypeVar("Kind", bound=type)


def registered(kind: Kind) -> Kind:
    """Class decorator: snapshots of this learner can be saved and loaded.

    Raises
    ------
    ValueError
        Another learner has the name.
    """
    if kind.__name__ in LEARNERS:
        raise ValueError(f"there is a learner of the name {kind.__name__!r} already")
    LEARNERS[kind.__name__] = kind
    return kind


def registered_name(kind: type) -> str:
    """The name that a snapshot gives to a learner of this class; TypeError where it has none."""
    if LEARNERS.get(kind.__name__) is not kind:
        raise TypeError(
            f"a {kind.__qualname__} cannot be saved: decorate the class with"
            " edgesvm.contract.registry.registered, so that `load` finds it"
        )
    return kind.__name__


def kind_of(name: str) -> type[Any]:
    """The class that a snapshot names; CorruptModelError where there is none."""
    if name not in LEARNERS:
        raise CorruptModelError(f"the snapshot is of {name!r}, which this release does not have")
    return LEARNERS[name]
