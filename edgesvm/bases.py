"""Base classes from packages that are no dependency: a class gets them when such a package is
imported, before edgesvm or after it. Who does not import it pays nothing.

Python fixes the bases of a class when it makes the class, but `__bases__` may be assigned later. A
finder, first in `sys.meta_path`, notices the import; the other finders do the work.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=type)

WAITING: dict[str, list[tuple[type, tuple[str, ...]]]] = {}


def joined(module: str, *names: str) -> Callable[[Kind], Kind]:
    """Class decorator: add classes of `module` behind the class's own bases, as soon as `module`
    is imported. The class must have a base that is written in Python."""

    def decorate(kind: Kind) -> Kind:
        if module in sys.modules:
            join(kind, importlib.import_module(module), names)  # another thread may be importing it
        else:
            WAITING.setdefault(module, []).append((kind, names))
        return kind

    return decorate


def join(kind: type, module: ModuleType, names: tuple[str, ...]) -> None:
    kind.__bases__ += tuple(getattr(module, name) for name in names)
    each: Any
    for each in family(kind):
        super(each, each).__init_subclass__()  # the new bases were not there when it was made


def family(kind: type) -> Iterator[type]:
    """The class and all below it."""
    yield kind
    below: type
    for below in kind.__subclasses__():
        yield from family(below)


class Watcher:
    """A finder of modules that only notices when one in `WAITING` has been imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in WAITING:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        specs = (finder.find_spec(name, path, target) for finder in others)
        spec: Any = next((spec for spec in specs if spec is not None), None)
        if spec is not None:
            run = spec.loader.exec_module

            def run_and_join(module: ModuleType) -> None:
                run(module)
                for kind, names in WAITING.pop(name, ()):
                    join(kind, module, names)

            spec.loader.exec_module = run_and_join
        return spec


sys.meta_path.insert(0, Watcher())
