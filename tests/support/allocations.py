"""Exact counts of allocator calls: of Python's hooks here, of the C library's in a child process.

Each case is compared with a control, a Python function of as many arguments that does nothing: the
difference is the case's own. `setup` is Python source that defines `cases`, a dict from a name to
`(function, columns)`, each column a list of prepared arguments.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from firmware_sim.limits import _alloc_hooks  # type: ignore[attr-defined]  # compiled, no stub
from firmware_sim.limits.allocations import CONTROLS, Counter, count

SAMPLES = 1_000_000


class Calls(NamedTuple):
    """Allocator calls of one measured run and of its control."""

    taken: int
    freed: int
    control_taken: int
    control_freed: int

    @property
    def excess(self) -> tuple[int, int]:
        """Calls beyond the control's, (allocated, freed)."""
        return self.taken - self.control_taken, self.freed - self.control_freed

    @property
    def total(self) -> int:
        return self.taken + self.freed

    @property
    def control(self) -> int:
        return self.control_taken + self.control_freed


class PreloadCounter:
    """Access to alloc_preload.c in a process that was started with it preloaded."""

    def __init__(self) -> None:
        library = ctypes.CDLL(None)
        self._start, self._stop = library.alloc_preload_start, library.alloc_preload_stop
        self._taken, self._freed = library.alloc_preload_taken, library.alloc_preload_freed
        self._taken.restype = self._freed.restype = ctypes.c_ulonglong

    def start(self) -> None:
        self._start()

    def stop(self) -> tuple[int, int]:
        self._stop()
        return self._taken(), self._freed()


def count_cases(setup: str, counter: Counter, n: int) -> dict[str, Calls]:
    """Calls of each case and of a control with as many arguments."""
    namespace: dict = {}
    exec(compile(setup, "<setup>", "exec"), namespace)
    measured = {}
    for name, (function, columns) in namespace["cases"].items():
        control = count(CONTROLS[len(columns)], columns, counter, n)
        measured[name] = Calls(*count(function, columns, counter, n), *control)
    return measured


def build_preload(folder: Path) -> Path:
    """Compile, into `folder`, the library that counts the C library's allocator calls."""
    if not sys.platform.startswith("linux"):
        raise OSError(f"LD_PRELOAD counting needs Linux, this is {sys.platform}")
    if os.environ.get("LD_PRELOAD"):
        raise OSError(f"another library is preloaded: {os.environ['LD_PRELOAD']}")
    names = (os.environ.get("CC"), "cc", "gcc", "clang")
    compiler = next((path for name in names if name and (path := shutil.which(name))), None)
    if compiler is None:
        raise OSError("no C compiler (cc, gcc or clang) on the path")
    library = folder / "alloc_preload.so"
    source = Path(__file__).with_name("alloc_preload.c")
    flags = ("-O2", "-Wall", "-shared", "-fPIC", "-fno-builtin")
    subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
    return library


def preload_calls(
    setup: str, library: Path, n: int = SAMPLES, *, through_malloc: bool, path: Sequence[Path] = ()
) -> dict[str, Calls]:
    """The C library's allocator calls of each case, in a child process.

    `through_malloc` sets PYTHONMALLOC=malloc, so that Python's own calls are counted too; without
    it pymalloc serves small ones, and only its requests to the system are counted.
    """
    environment = {**os.environ, "LD_PRELOAD": str(library), "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONMALLOC", None)
    if through_malloc:
        environment["PYTHONMALLOC"] = "malloc"
    request = json.dumps({"setup": setup, "n": n, "path": [str(p) for p in path]})
    child = subprocess.run(
        [sys.executable, __file__],
        input=request,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if child.returncode:
        raise AssertionError(f"the counting child failed:\n{child.stderr}")
    return {name: Calls(*calls) for name, calls in json.loads(child.stdout).items()}


def hook_calls(setup: str, n: int = SAMPLES) -> dict[str, Calls]:
    """CPython's allocator calls of each case, in this process."""
    return count_cases(setup, _alloc_hooks, n)


if __name__ == "__main__":
    request = json.load(sys.stdin)
    sys.path[:0] = request["path"]
    json.dump(count_cases(request["setup"], PreloadCounter(), request["n"]), sys.stdout)
