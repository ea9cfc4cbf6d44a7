"""The two engines of a learner: the compiled core, and its reference in NumPy."""

from __future__ import annotations

import importlib
from typing import Any


def of_engine(compiled: type[Any], engine: str) -> type[Any]:
    """The core for an engine: `compiled` itself for "compiled"; for "reference" its reference.

    The reference of class ``X`` in module ``_x`` is class ``XRef`` in ``_x_ref``; it is imported
    only when requested.
    """
    if engine == "compiled":
        return compiled
    module = importlib.import_module(f"{compiled.__module__}_ref")
    reference: type[Any] = getattr(module, f"{compiled.__name__}Ref")
    return reference
