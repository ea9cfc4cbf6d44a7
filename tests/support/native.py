"""Compiles what the tests need in C and Cython, outside the product.

Raises `Unavailable` where a tool is missing, which a fixture turns into a skip.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

SUPPORT = Path(__file__).parent


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


def build_cython(name: str, directory: Path) -> ModuleType:
    """Translate, compile and import `tests/support/<name>.pyx`."""
    if importlib.util.find_spec("Cython") is None:
        raise Unavailable("Cython is not installed")
    c_file = directory / f"{name}.c"
    subprocess.run(
        [sys.executable, "-m", "cython", str(SUPPORT / f"{name}.pyx"), "-o", str(c_file)],
        check=True,
    )
    library = directory / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
    include = sysconfig.get_path("include")
    compile_c(c_file, library, "-shared", "-fPIC", "-Wno-unused-function", f"-I{include}")
    return import_path(name, library)


def import_path(name: str, path: Path) -> ModuleType:
    """Import a module, compiled or not, from its file."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
