"""Results of a long table, a line of JSON a cell as it is done, so that an interrupted run goes on
where it was. A cell counts only for the build that made it.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import edgesvm


def compiled_modules() -> dict[str, Path]:
    """The compiled modules of edgesvm by name, where Python imports them from: beside the sources,
    or, in an editable install, in the folder of the build.
    """
    found = {}
    for module in walk_packages(edgesvm.__path__, "edgesvm."):
        spec = find_spec(module.name)
        if spec and spec.origin and spec.origin.endswith(tuple(EXTENSION_SUFFIXES)):
            found[module.name] = Path(spec.origin)
    return found


def build_id() -> str:
    """Of the compiled modules; a change in Python alone leaves it."""
    digest = hashlib.sha256()
    for name, path in sorted(compiled_modules().items()):
        digest.update(name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


class Cells:
    """Cells by their key, a tuple of strings and numbers.

    Parameters
    ----------
    path : Path
        Appended to; a line that was torn by the interruption is passed over.
    build : str
        Lines of other builds are passed over too,
    any_build : bool
        unless they are wanted; `builds` tells how many came from which.
    """

    def __init__(self, path: Path, build: str, *, any_build: bool = False) -> None:
        self._path, self.build = path, build
        self._known: dict[tuple, dict[str, Any]] = {}
        self._builds: dict[tuple, str] = {}
        for line in path.read_text().splitlines() if path.exists() else []:
            try:
                cell = json.loads(line)
            except json.JSONDecodeError:
                continue
            if any_build or cell["build"] == build:
                self._known[tuple(cell["key"])] = cell["result"]
                self._builds[tuple(cell["key"])] = cell["build"]

    def __contains__(self, key: tuple) -> bool:
        return key in self._known

    def __getitem__(self, key: tuple) -> dict[str, Any]:
        return self._known[key]

    def __setitem__(self, key: tuple, result: dict[str, Any]) -> None:
        self._known[key], self._builds[key] = result, self.build
        with self._path.open("a") as file:
            file.write(json.dumps({"build": self.build, "key": key, "result": result}) + "\n")

    def __iter__(self) -> Iterator[tuple]:
        return iter(self._known)

    @property
    def builds(self) -> Counter[str]:
        """Cells by the build that made them."""
        return Counter(self._builds.values())
