"""The engines of a learner. A device has one, the compiled core. The tests add another: the same
core in plain NumPy (``tests/reference``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ENGINES: dict[str, Callable[[type[Any]], type[Any]]] = {"compiled": lambda core: core}


def of_engine(compiled: type[Any], engine: str) -> type[Any]:
    """The core that stands for the compiled one in this engine."""
    return ENGINES[engine](compiled)
