"""All compiled modules lie in one file, ``_compiled``, which makes the wheel smaller and the start
faster than a file for each. They keep their names: a finder says where they are.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from typing import Any

from edgesvm._compiled_names import NAMES


def _file() -> str:
    spec = PathFinder.find_spec("_compiled", [os.path.dirname(__file__)])
    if spec is None or spec.origin is None:
        raise ImportError("edgesvm is not built for this Python: its file _compiled is missing")
    return spec.origin


class Finder:
    """Finds the compiled modules; each is initialised by a function of its own name in the file."""

    def __init__(self) -> None:
        self.file = _file()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in NAMES:
            return None
        loader = ExtensionFileLoader(name, self.file)
        return spec_from_file_location(name, self.file, loader=loader)


sys.meta_path.insert(0, Finder())
