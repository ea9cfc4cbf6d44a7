"""RandSVM on Dask workers: the same bytes as in one place, and what is sent in a pass.

Workers are processes of their own on this machine. Bytes are those written to all TCP connections
of client, scheduler and workers, heartbeats included.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import timed
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.fleet.watched import (
    SEARCHES,
    count_writes,
    messages,
    note_searches,
    sent_by_all,
    written,
)
from edgesvm import RBF, BatchSVM, RandSVM, fleet

N_FEATURES = 4


def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A noisy board of 4 by 4 squares, and features that say nothing."""
    rng = np.random.default_rng([seed, n])
    X = rng.uniform(0, 4, (n, N_FEATURES)).astype(np.float32)
    y = np.floor(X[:, :2]).sum(axis=1) % 2 == 0
    return X, y ^ (rng.random(n) < 0.05)


def learner(room: int) -> RandSVM:
    solver = BatchSVM(max_samples=room, C=10.0, kernel=RBF(1.0))
    return RandSVM(solver=solver, max_passes=3)


def files(folder: Path, X: np.ndarray, y: np.ndarray, n_parts: int) -> list[str]:
    paths = []
    for k, at in enumerate(np.array_split(np.arange(len(X)), n_parts)):
        paths.append(str(folder / f"{len(X)}_{n_parts}_{k}.npz"))
        np.savez(paths[-1], X=X[at], y=y[at])
    return paths


def main() -> None:
    args = parsed(arguments(__doc__))
    n, room = (2_000, 200) if args.quick else (20_000, 1_000)
    sizes = (2_000, 4_000) if args.quick else (20_000, 80_000, 320_000)
    worker_counts, part_counts = ((2,), (1, 3)) if args.quick else ((1, 2, 5), (1, 7, 64))
    skipped: list[str] = []
    equal: list[list[Any]] = []
    sent: list[list[Any]] = []
    X, y = rows(n, 1)
    here = learner(room)
    here.fit(X, y)
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        skipped = ["distributed is not installed: the workers were left out"]
        worker_counts = ()
        equal = sent = [["in one place", n, None, None, None]]
    with tempfile.TemporaryDirectory() as name:
        for n_workers in worker_counts:
            with (
                LocalCluster(
                    n_workers=n_workers, threads_per_worker=1, dashboard_address=None
                ) as cluster,
                Client(cluster) as client,
            ):
                if n_workers == 2:
                    count_writes()
                    note_searches()
                    client.run(count_writes)
                    sent = [traffic(Path(name), client, size, room) for size in sizes]
                for n_parts in part_counts:
                    paths = files(Path(name), X, y, n_parts)
                    progress(f"{n_workers} workers, {n_parts} partitions")
                    there = learner(room)
                    time = timed(partial(fleet.fit, there, paths, client=client))
                    same = bytes(there.arena) == bytes(here.arena)
                    killed = survived(learner(room), paths, client) == bytes(here.arena)
                    equal.append([n_workers, n_parts, _said(same), _said(killed), f"{time:.1f} s"])
    about = [
        f"{n:,} rows of {N_FEATURES} features in npz files; RandSVM of at most {room:,} rows, three"
        f" passes, RBF kernel; the model takes {here.nbytes:,} bytes. A worker is killed (SIGKILL)"
        " 50 ms into the second pass, in a fit of its own. Two cores: times say little of more."
    ]
    tables = [
        Table(
            "Bytes of the model, against a fit in one place",
            ["workers", "partitions", "equal", "with a worker killed", "time"],
            equal,
        ),
        Table(
            "Bytes sent, 2 workers, 16 partitions",
            [
                *("rows", "bytes of files", "searches", "sent in the fit", "sent a search"),
                *("messages a search", "time"),
            ],
            sent,
            "Searches: the passes that look for violators, up to three and one more if the best"
            " solution is solved again. The survey and the first draw are shared out among them.",
        ),
    ]
    title = "RandSVM on Dask workers"
    publish(Report("fleet/passes", title, tables, about, [equal, sent], skipped), args.out)


def survived(model: RandSVM, paths: list[str], client: Any) -> bytes:
    """The bytes of a fit in the middle of whose second pass a worker is killed."""
    pid = next(iter(client.run(os.getpid).values()))
    timers: list[threading.Timer] = []

    def kill(n_passes: int, *_: Any) -> None:
        if not timers:
            timers.append(threading.Timer(0.05, os.kill, (pid, signal.SIGKILL)))
            timers[0].start()

    fleet.fit(model, paths, client=client, progress=kill)
    timers[0].join()
    return bytes(model.arena)


def traffic(folder: Path, client: Any, n: int, room: int) -> list[Any]:
    X, y = rows(n, 1)
    paths = files(folder, X, y, 16)
    progress(f"bytes sent, {n:,} rows")
    model = learner(room)
    SEARCHES.clear()
    before, n_before = sent_by_all(client, written), sent_by_all(client, messages)
    time = timed(partial(fleet.fit, model, paths, client=client))
    total = sent_by_all(client, written) - before
    count = sent_by_all(client, messages) - n_before
    of_files = sum(os.path.getsize(path) for path in paths)
    searches = len(SEARCHES)
    return [
        n,
        f"{of_files:,}",
        searches,
        f"{total:,}",
        f"{total // searches:,}",
        f"{count // searches:,}",
        f"{time:.1f} s",
    ]


def _said(same: bool) -> str:
    return "yes" if same else "NO"


if __name__ == "__main__":
    main()
