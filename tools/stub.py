"""Write the stub of a package whose names are imported on first use, which type checkers cannot
follow: `python tools/stub.py edgesvm/learners OUT`."""

import ast
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def stub(package):
    """The package's own imports, then the names of the catalogue, or of its `_NAMES`."""
    catalogue = runpy.run_path(str(ROOT / "edgesvm" / "catalogue.py"))
    *_, below = package.split("/")
    names = catalogue["MODULE_OF"] if below == "edgesvm" else catalogue["names_in"](below)
    body = ast.parse((ROOT / package / "__init__.py").read_text(encoding="utf-8")).body
    for node in body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_NAMES":
            names = catalogue["names_of"](package.replace("/", "."), ast.literal_eval(node.value))
    imports = [node for node in body if isinstance(node, ast.ImportFrom)]
    eager = {alias.name: node.module for node in imports for alias in node.names}
    lines = [f"from {module} import {name} as {name}" for name, module in (eager | names).items()]
    own = {"learners": ["LEARNERS: dict[str, type[Any]]"], "edgesvm": ["__version__: str"]}
    return "\n".join(["from typing import Any", *lines, *own.get(below, []), ""])


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(stub(sys.argv[1]), encoding="utf-8")
