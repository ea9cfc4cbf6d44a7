"""Exact counts of Python's allocator calls over many calls of a function.

The loop is `deque(map(f, xs, ys), maxlen=0)` over cycled lists: it runs in C and makes a constant
number of calls itself. (A Python `for` loop with a counter allocates an int per turn beyond 256.)
"""

from __future__ import annotations

import gc
import itertools
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from edgesvm.learner import Learner
from firmware_sim.limits import _alloc_hooks  # type: ignore[attr-defined]  # compiled, no stub

WARM_UP = 1_000


class Counter(Protocol):
    def start(self) -> None: ...
    def stop(self) -> tuple[int, int]: ...


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
