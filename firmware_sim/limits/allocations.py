"""Exact counts of allocator calls over a million calls of a function.

The loop is `deque(map(f, xs, ys), maxlen=0)` over cycled lists: it runs in C and makes a constant
number of calls itself. (A Python `for` loop with a counter allocates an int per turn beyond 256.)
Each case is compared with a control, a Python function of as many arguments that does nothing: the
difference is the case's own.

`setup` is Python source that defines `cases`, a dict from a name to `(function, columns)`, each
column a list of prepared arguments. Being source, it can run here, under the hooks, and in a child
process under LD_PRELOAD.
"""

from __future__ import annotations

import ctypes
import gc
import itertools
import json
import os
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from edgesvm.learner import Learner
from firmware_sim.limits import _alloc_hooks  # type: ignore[attr-defined]  # compiled, no stub

WARM_UP = 1_000
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


class Counter(Protocol):
    def start(self) -> None: ...
    def stop(self) -> tuple[int, int]: ...


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


def drive(function: Callable, columns: Sequence, n: int) -> None:
    """Call `function` n times with the cycled columns, in a loop that runs in C."""
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
            calls = stop()
    finally:
        gc.enable()
    return calls


CONTROLS: dict[int, Callable] = {1: lambda a: None, 2: lambda a, b: None, 3: lambda a, b, c: None}


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
    """Compile, into `folder`, the library that counts the C library's allocator calls.

    Raises
    ------
    OSError
        Not on Linux, no C compiler, or another library that must be preloaded (a sanitizer).
    """
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
        [sys.executable, "-m", "firmware_sim.limits.allocations"],
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


def learner_calls(learner: Learner, n_features: int, n: int) -> tuple[int, int]:
    """CPython's allocator calls over `n` calls of ``learn_one`` after the first 1,000, and those of
    its control."""
    rng = np.random.default_rng(0)
    y = [int(label) for label in rng.integers(0, 2, WARM_UP)]
    X = rng.standard_normal((WARM_UP, n_features)).astype(learner.dtype)
    learner.allocate(n_features)
    calls = count(learner.learn_one, [list(X), y], _alloc_hooks, n)
    control = count(CONTROLS[2], [list(X), y], _alloc_hooks, n)
    return sum(calls), sum(control)


if __name__ == "__main__":
    request = json.load(sys.stdin)
    sys.path[:0] = request["path"]
    json.dump(count_cases(request["setup"], PreloadCounter(), request["n"]), sys.stdout)
