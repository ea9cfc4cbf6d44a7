"""Entry points counted in processes below valgrind, and what the figures depend on."""

from __future__ import annotations

import importlib.util
import json
import pkgutil
import platform
import re
import shutil
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
from benchmarks.common.report import ROOT
from benchmarks.ledger.compare import Entries
from benchmarks.ledger.counter import start
from benchmarks.ledger.entry_points import chosen

WORKER = "benchmarks.ledger.worker"
AT_ONCE = 64  # entry points in a process, since valgrind keeps what it has translated


def counted(
    module: str, only: list[str], keep: Path | None = None
) -> tuple[dict[str, str], Entries]:
    """What the figures depend on, and those of the module's `entry_points` by name: of all, or of
    those whose name has one of the words. Dumps are kept in the folder, if one is given.
    """
    names = [entry_point.name for entry_point in chosen(import_module(module).entry_points(), only)]
    facts, entries = measured_with(), {}
    for first in range(0, len(names), AT_ONCE):
        end = min(first + AT_ONCE, len(names))
        options = [str(first), str(end), "--of", module]
        for line in _lines(options, only, keep / f"{first}" if keep else None):
            if "vectors" in line:
                facts |= line
                continue
            name = line.pop("name")
            entries[name] = line
            progress(f"{len(entries)}/{len(names)} counted: {name}")
        say(f"{len(entries)}/{len(names)} counted")
        if len(entries) < end:
            raise RuntimeError(f"counting {names[len(entries)]} failed, see above")
    return facts, entries


def _lines(options: list[str], only: list[str], keep: Path | None) -> Iterator[Any]:
    """What one process says."""
    options = [*options, *(["--keep"] if keep else []), *(["--only", *only] if only else [])]
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
        "commit": commit_of_sources(),
        "compiler": built_by(),
        "valgrind": valgrind.stdout.strip().removeprefix("valgrind-"),
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "machine": platform.machine(),
    }


def commit_of_sources() -> str:
    """The last that changed what is counted, with a mark where it was changed since."""
    git = shutil.which("git")
    if git is None:
        return "unknown"
    log, status = (
        subprocess.run(
            [git, "-C", str(ROOT), *command], check=False, capture_output=True, text=True
        )
        for command in (
            ["log", "-1", "--format=%h", "--", "edgesvm"],
            ["status", "--porcelain", "--", "edgesvm"],
        )
    )
    return (log.stdout.strip() or "unknown") + ("-dirty" if status.stdout else "")


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
