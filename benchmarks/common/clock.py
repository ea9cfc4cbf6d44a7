"""Times that can be compared."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time

from benchmarks.common.progress import progress

LEAST = 1e-7


def race(
    rounds: int, *, clock: Callable[[], float] = perf_counter, **contestants: Callable[[], object]
) -> dict[str, float]:
    """Median seconds of each, all run once in every round, so that a busy moment strikes all
    alike. ``clock=process_time`` counts seconds of the processor.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for run in contestants.values():
        run()
    for k in range(rounds):
        progress(f"round {k + 1}/{rounds}: {', '.join(contestants)}")
        for name, run in contestants.items():
            seconds[name].append(timed(run, clock))
    return {name: median(times) for name, times in seconds.items()}


def timed(run: Callable[[], object], clock: Callable[[], float] = perf_counter) -> float:
    """Seconds of one call."""
    begin = clock()
    run()
    return since(begin, clock)


def since(begin: float, clock: Callable[[], float] = process_time) -> float:
    """Seconds from `begin`, never zero, since studies divide by them: in some sandboxes the
    processor's clock stands still for 10 ms.
    """
    return max(clock() - begin, LEAST)
