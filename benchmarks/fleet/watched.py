"""What Dask's processes write and keep. Workers import this module, so that what one call counts
the next one reads; functions of a study itself would come to them as copies.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

SENT = [0, 0]  # bytes, messages
SEARCHES: list[float] = []  # seconds of each


def count_writes() -> None:
    """From now on, count the bytes that this process writes to TCP connections of Dask."""
    from distributed.comm.tcp import TCP

    write = TCP.write

    async def counted(self: Any, *arguments: Any, **kwargs: Any) -> Any:
        n = await write(self, *arguments, **kwargs)
        SENT[0] += n
        SENT[1] += 1
        return n

    TCP.write = counted


def written() -> int:
    return SENT[0]


def messages() -> int:
    return SENT[1]


def sent_by_all(client: Any, what: Callable[[], int]) -> int:
    """By client, scheduler and workers."""
    return what() + sum(client.run(what).values())


def count_tasks() -> list[int]:
    """From now on, count the tasks submitted."""
    from edgesvm.fleet.cluster import Cluster

    n, submit = [0], Cluster.submit

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        n[0] += 1
        return submit(self, *args, **kwargs)

    Cluster.submit = counted
    return n


def note_searches() -> None:
    """From now on, note each pass over all rows that searches for violators."""
    from edgesvm.fleet.fitting import _Data

    offer = _Data.offer

    def noted(self: Any, working: Any, solver: Any = None) -> None:
        begin = perf_counter()
        offer(self, working, solver)
        if solver is not None:
            SEARCHES.append(perf_counter() - begin)

    _Data.offer = noted


class Memory:
    """The largest anonymous memory of a process (files that are mapped left out) since `start`."""

    def __init__(self) -> None:
        self.peak = self.begin = 0
        self._stop = threading.Event()

    def start(self) -> None:
        self.begin = self.peak = anonymous()
        self._stop.clear()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(0.02):
            self.peak = max(self.peak, anonymous())

    def grown(self) -> int:
        self._stop.set()
        self._thread.join()
        return self.peak - self.begin


MEMORY = Memory()


def watch_memory() -> None:
    MEMORY.start()


def memory_grown() -> int:
    return MEMORY.grown()


def anonymous() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    return 0
