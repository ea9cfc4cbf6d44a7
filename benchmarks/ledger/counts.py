"""Entry points counted in processes below valgrind, and what the figures depend on."""

from __future__ import annotations

import importlib.util
import json
import pkgutil
import platform
import re
import subprocess
from collections.abc import Iterator
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import edgesvm
from benchmarks.common.progress import progress, say
from benchmarks.common.report import commit
from benchmarks.ledger.compare import Entries
from benchmarks.ledger.counter import start
from benchmarks.ledger.entry_points import chosen

WORKER = "benchmarks.ledger.worker"


def counted(
    module: str, only: list[str], keep: Path | None = None
) -> tuple[dict[str, str], Entries]:
    """What the figures depend on, and those of the module's `entry_points` by name: of all, or of
    those whose name has one of the words. Dumps are kept in the folder, if one is given.
    """
    names = [entry_point.name for entry_point in chosen(import_module(module).entry_points(), only)]
    facts, entries = measured_with(), {}
    for line in _lines(module, only, keep):
        if "vectors" in line:
            facts |= line
            continue
        name = line.pop("name")
        entries[name] = line
        progress(f"{len(entries)}/{len(names)} counted: {name}")
    say(f"{len(entries)}/{len(names)} counted")
    if len(entries) < len(names):
        raise RuntimeError(f"counting {names[len(entries)]} failed, see above")
    return facts, entries


def _lines(module: str, only: list[str], keep: Path | None) -> Iterator[Any]:
    """What the process says."""
    options = ["--of", module, *(["--keep"] if keep else []), *(["--only", *only] if only else [])]
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
    with nullcontext(str(keep)) if keep else TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        with start(["-m", WORKER, str(place), *options], place) as child:
            assert child.stdout is not None
            yield from map(json.loads, child.stdout)


def measured_with() -> dict[str, str]:
    """Commit and versions that figures depend on."""
    valgrind = subprocess.run(["valgrind", "--version"], check=True, capture_output=True, text=True)
    return {
        "commit": commit("edgesvm"),
        "compiler": built_by(),
        "valgrind": valgrind.stdout.strip().removeprefix("valgrind-"),
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "machine": platform.machine(),
    }


def compiled_files() -> list[Path]:
    """The compiled modules, which are in the build folder if edgesvm is installed in place."""
    modules = pkgutil.walk_packages(edgesvm.__path__, "edgesvm.")
    specs = (importlib.util.find_spec(module.name) for module in modules)
    return [Path(spec.origin) for spec in specs if spec and str(spec.origin).endswith(".so")]


def built_by() -> str:
    """The compiler that made the installed package, as its compiled modules say."""
    found = {
        match.decode()
        for path in compiled_files()
        for match in re.findall(rb"GCC: \([^)]*\) [\d.]+|clang version [\d.]+", path.read_bytes())
    }
    return ", ".join(sorted(found)) or "unknown"
