"""Files that are the same for every model: of the folders ``floor`` and ``translated``."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


def read(folder: str, name: str) -> str:
    """The text of one of them."""
    return (files("edgesvm.export") / folder / name).read_text(encoding="utf-8")


@cache
def translated() -> dict[str, dict[str, Any]]:
    """Class -> its header, the numbers and the arrays that this asks for."""
    return json.loads(read("translated", "attributes.json"))
