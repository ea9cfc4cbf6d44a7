"""The learners by class name, for snapshots and the command line, and what else has snapshots. Each
class registers itself."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from edgesvm.catalogue import MODULE_OF
from edgesvm.errors import CorruptModelError

if TYPE_CHECKING:
    LEARNERS: dict[str, type[Any]]

_LEARNERS: dict[str, type[Any]] = {}
OTHERS: dict[str, type[Any]] = {}  # what has snapshots and is no learner

# What is no longer there, and what to use.
GONE = {
    "Adwin": "PageHinkley",
    "Auto": "ByteSVM",
    "Forecaster": "VirtualSensor",
    "FourierFeatures": "FourierSVM",
    "GramMachine": "CoreVectorMachine or BallVectorMachine",
    "RobustStandardized": "Standardized",
    "TwinDictionarySVM": "SharedTwinSVM",
}

Kind = TypeVar("Kind", bound=type)


def registered(kind: Kind) -> Kind:
    """Class decorator: lets snapshots of this learner be saved and loaded.

    Raises
    ------
    ValueError
        Another class has this name.
    """
    return _entered(kind, _LEARNERS)


def also_loaded(kind: Kind) -> Kind:
    """Class decorator: as `registered`, for what is no learner."""
    return _entered(kind, OTHERS)


def _entered(kind: Kind, kinds: dict[str, type[Any]]) -> Kind:
    ours = MODULE_OF.get(kind.__name__, kind.__module__) == kind.__module__
    if not ours or kind.__name__ in _LEARNERS or kind.__name__ in OTHERS:
        raise ValueError(f"a class named {kind.__name__!r} is already registered")
    kinds[kind.__name__] = kind
    return kind


def registered_name(kind: type) -> str:
    """The name of this class in snapshots; TypeError if it is not registered."""
    if (_LEARNERS | OTHERS).get(kind.__name__) is not kind:
        raise TypeError(
            f"cannot save a {kind.__qualname__}: decorate the class with"
            " edgesvm.contract.registry.registered, so that `load` finds it"
        )
    return kind.__name__


def kind_of(name: str) -> type[Any]:
    """The class that a snapshot names; CorruptModelError if there is none."""
    if name in MODULE_OF:
        import_module(MODULE_OF[name])
    kinds = _LEARNERS | OTHERS
    if name in kinds:
        return kinds[name]
    if name in GONE:
        raise CorruptModelError(
            f"the snapshot is of {name}, which edgesvm no longer has: use {GONE[name]}"
        )
    raise CorruptModelError(
        f"the snapshot is of the learner {name!r}, which this release does not know"
    )


def is_a(thing: object, name: str) -> TypeGuard[Any]:
    """Whether this is an object of our class of this name, or of one below it. Imports nothing: of
    a class that nobody has imported there are no objects."""
    module = sys.modules.get(MODULE_OF[name])
    return module is not None and isinstance(thing, getattr(module, name, ()))


def __getattr__(name: str) -> Any:
    """``LEARNERS``: all learners by name, each of our own imported by now."""
    if name != "LEARNERS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for module in MODULE_OF.values():
        import_module(module)
    return _LEARNERS
