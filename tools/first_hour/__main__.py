"""Play the situations of a new user's first hour and print what the user sees:
`python -m tools.first_hour [MODULE ...]`.

A module of this folder has one function a situation; it returns or prints what is shown.
"""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path


def situations(name: str) -> list[tuple[str, object]]:
    """The public functions that a module defines and that take nothing, in order."""
    module = import_module(f"tools.first_hour.{name}")
    own = [one for one in vars(module).values() if inspect.isfunction(one)]
    return [
        (inspect.getdoc(one) or one.__name__, one)
        for one in own
        if one.__module__ == module.__name__
        and not one.__name__.startswith("_")
        and not inspect.signature(one).parameters
    ]


def main(names: list[str]) -> None:
    here = Path(__file__).parent
    skipped = ("__main__", "played")
    found = sorted(path.stem for path in here.glob("*.py") if path.stem not in skipped)
    for name in names or found:
        for title, play in situations(name):
            print(f"== {name}: {title}", flush=True)
            shown = play()  # type: ignore[operator]
            print("" if shown is None else shown, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
