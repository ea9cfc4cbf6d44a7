"""Exact counts of allocator calls: of Python's hooks here, of the C library's in a child process.

Each case is compared with a control, a Python function of as many arguments that does nothing: the
difference is the case's own. `setup` is Python source that defines `cases`, a dict from a name to
`(function, columns)`, each column a list of prepared arguments.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import native

SAMPLES = 1_000_000
WARM_UP = 1_000
CONTROLS: dict[int, Callable] = {1: lambda a: None, 2: lambda a, b: None, 3: lambda a, b, c: None}


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


class Counter:
    """A counter in C: that of alloc_hooks.c, or, in a process that was started with it preloaded,
    that of alloc_preload.c.
    """

    def __init__(self, name: str, library: Path | None = None) -> None:
        held = ctypes.PyDLL(None if library is None else str(library))
        functions = (getattr(held, f"{name}_{of}") for of in ("start", "stop", "taken", "freed"))
        self.start, self.stop, self._taken, self._freed = functions
        self.start.restype = self.stop.restype = None
        self._taken.restype = self._freed.restype = ctypes.c_ulonglong

    def counts(self) -> tuple[int, int]:
        """Calls between `start` and `stop`, (allocated, freed)."""
        return self._taken(), self._freed()


def drive(function: Callable, columns: Sequence, n: int) -> None:
    """Call `function` n times with the cycled columns, in a loop that runs in C and makes a
    constant number of calls itself: a Python loop with a counter allocates an int per turn.
    """
    first, *others = columns
    deque(map(function, itertools.islice(first, n), *others), maxlen=0)


def count(function: Callable, columns: Sequence[list], counter: Counter, n: int) -> tuple[int, int]:
    """Allocator calls between call WARM_UP and call WARM_UP + n, (allocated, freed)."""
    assert all(len(column) <= WARM_UP for column in columns)
    # Looked up first: a first lookup may evict another name from Python's cache, and free it.
    start, stop = counter.start, counter.stop
    cycles = [itertools.cycle(column) for column in columns]
    # Collect before the warm-up: a collection empties Python's free lists, that of floats too.
    gc.collect()
    gc.disable()
    try:
        # A cycle copies its list in its first round; the warm-up gets past that.
        drive(function, cycles, WARM_UP)
        start()
        try:
            drive(function, cycles, n)
        finally:
            stop()
    finally:
        gc.enable()
    return counter.counts()


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
    return built("alloc_preload", folder)


def built(name: str, folder: Path) -> Path:
    """Compile a library of this folder into another."""
    source = Path(__file__).with_name(f"{name}.c")
    flags = ("-shared", "-fPIC", "-fno-builtin")
    return native.compile_c(source, folder / f"{name}.so", *flags)


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


@functools.cache
def hooks() -> Counter:
    """The counter in CPython's allocator hooks."""
    with tempfile.TemporaryDirectory() as folder:
        return Counter("alloc_hooks", built("alloc_hooks", Path(folder)))


def hook_calls(setup: str, n: int = SAMPLES) -> dict[str, Calls]:
    """CPython's allocator calls of each case, in this process."""
    return count_cases(setup, hooks(), n)


if __name__ == "__main__":
    request = json.load(sys.stdin)
    sys.path[:0] = request["path"]
    json.dump(count_cases(request["setup"], Counter("alloc_preload"), request["n"]), sys.stdout)
