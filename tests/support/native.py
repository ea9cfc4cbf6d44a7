"""Compiles what the tests need in C, outside the product.

Raises `Unavailable` if a tool is missing, which a fixture turns into a skip.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path
from types import ModuleType


class Unavailable(RuntimeError):
    """A tool that this machine does not have; the text says which."""


def compiler() -> str:
    """Path of a C compiler."""
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and (path := shutil.which(name)):
            return path
    raise Unavailable("no C compiler (cc, gcc or clang) on the path")


def compile_c(source: Path, output: Path, *flags: str) -> Path:
    """Compile one C file; a compiler error fails the test, with its text."""
    run = subprocess.run(
        [compiler(), "-O2", "-Wall", *flags, str(source), "-o", str(output)],
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise AssertionError(f"{source.name} does not compile:\n{run.stderr}")
    return output


def import_path(name: str, path: Path) -> ModuleType:
    """Import a module, compiled or not, from its file."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
