"""The learners by class name, for snapshots and the command line, and what else has snapshots. Each
class registers itself. What snapshots and pickles of the last release name is found here too."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
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
# The modules of the classes in release 0.1.0, by folder: its pickles name them.
FORMER = {
    "calibration": "calibrated",
    "drift": "adwin page_hinkley",
    "learners": "multiclass",
    "learners.auto": "auto",
    "learners.batch": "batch_svm batch_svr reservoir_svm",
    "learners.byte": "byte_svm",
    "learners.fourier": "fourier_svm",
    "learners.gradient": "adagrad_svm",
    "learners.novelty": "gaussian_novelty kernel_novelty",
    "learners.papers.enclosing": "ball_vector_machine core_vector_machine gram one_class",
    "learners.papers.incremental": "incremental_svm windowed_svm",
    "learners.papers.online": (
        "forgetron kernel_perceptron lasvm passive_aggressive pegasos perceptron"
    ),
    "learners.papers.randomized": "rand_svm",
    "learners.regression": "adagrad_svr fourier_rls fourier_svr",
    "learners.stream": "kernel_stream_svm stream_svm",
    "learners.twin": (
        "incremental_decremental_svm incremental_decremental_svr shared_twin_svm simple_svm"
        " twin_dictionary_svm twin_vector_machine"
    ),
    "preprocessing": "chain clock_features fourier_features robust_standardized standardized"
    " window_features",
    "series": "forecaster virtual_sensor",
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
        raise _gone("snapshot", name)
    raise CorruptModelError(
        f"the snapshot is of the learner {name!r}, which this release does not know"
    )


def _gone(what: str, name: str) -> CorruptModelError:
    return CorruptModelError(
        f"the {what} is of {name}, which edgesvm no longer has: use {GONE[name]}"
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


def _of_pickle(name: str) -> Any:
    if name in MODULE_OF:
        return getattr(import_module(MODULE_OF[name]), name)
    if name in GONE:
        raise _gone("pickle", name)
    raise AttributeError(name)


def _former_modules() -> set[str]:
    """Those of `FORMER` that have no class of ours now, and the folders that are gone with them."""
    today = {*MODULE_OF.values()}
    former = {f"edgesvm.{at}.{file}" for at, files in FORMER.items() for file in files.split()}
    gone = {
        f"edgesvm.{at}"
        for at in FORMER
        if not any(module.startswith(f"edgesvm.{at}.") for module in today)
    }
    return (former - today) | gone


# One module stands for all of them: a pickle takes a class from it by name.
_former = ModuleType("edgesvm.former")
_former.__getattr__ = _of_pickle  # type: ignore[method-assign]
sys.modules.update(dict.fromkeys(_former_modules(), _former))
