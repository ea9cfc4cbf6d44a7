"""Compiles what the tests need in C, outside the product.

Raises `Unavailable` if a tool is missing, which a fixture turns into a skip.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path


class Unavailable(OSError):
    """A tool that this machine does not have; the text says which."""


def found(*names: str | None) -> str:
    """Path of the first of these programs that is here."""
    for name in names:
        if name and (path := shutil.which(name)):
            return path
    raise Unavailable(f"no {' or '.join(filter(None, names))} on the path")


def compiler() -> str:
    """Path of a C compiler."""
    return found(os.environ.get("CC"), "cc", "gcc", "clang")


def emulator() -> list[str]:
    """What runs the compiler's programs, if the kernel does not: `make arm` sets it."""
    return shlex.split(os.environ.get("EDGESVM_EMULATOR", ""))


def compile_c(source: Path, output: Path, *flags: str, by: str = "") -> Path:
    """Compile one C file; a compiler error fails the test, with its text."""
    run = subprocess.run(
        [by or compiler(), "-O2", "-Wall", *flags, str(source), "-o", str(output), "-lm"],
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise AssertionError(f"{source.name} does not compile:\n{run.stderr}")
    return output
