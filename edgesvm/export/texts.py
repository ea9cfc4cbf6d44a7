"""Files that are the same for every model: of ``floor`` and ``translated``, and byte.h."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

# Class -> as `translated` has it, of a core whose C is written by hand
WRITTEN: dict[str, dict[str, Any]] = {
    "ByteSVM": {
        "header": "byte_svm.h",
        "numbers": {"balanced": "int", "several": "int"},
        "at": ["n_per_class", "model", "coded", "mean_weight"],
        "len": [],
        "has": ["mean_weight"],
        "scratch": ["coded"],
    }
}


def byte_h() -> str:
    """The host's own source of ByteSVM."""
    return (files("edgesvm.learners.byte") / "byte.h").read_text(encoding="utf-8")


def read(folder: str, name: str) -> str:
    """The text of one of them."""
    return (files("edgesvm.export") / folder / name).read_text(encoding="utf-8")


@cache
def translated(goal: str) -> dict[str, dict[str, Any]]:
    """Of what is translated to "learn" or to "decide": class -> its header and what it needs."""
    return json.loads(read(f"translated/{goal}", "attributes.json")) | WRITTEN
