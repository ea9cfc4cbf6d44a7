"""The two engines of a learner: its compiled core, and the NumPy twin of it."""

from __future__ import annotations

import importlib
from typing import Any


def of_engine(compiled: type[Any], engine: str) -> type[Any]:
    """`compiled` itself for "compiled"; for "reference" its twin, imported now: class ``XRef`` of
    module ``_x_ref`` is that of ``X`` in ``_x``."""
    if engine == "compiled":
        return compiled
    twins = importlib.import_module(f"{compiled.__module__}_ref")
    twin: type[Any] = getattr(twins, f"{compiled.__name__}Ref")
    return twin
