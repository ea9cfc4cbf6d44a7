"""Ball and core vector machines on Dask workers: against a fit in one place, and what is sent.

Workers are processes of their own on this machine. Bytes are those written to all TCP connections
of client, scheduler and workers, heartbeats included. Rows outside at the end are counted in NumPy,
in float64, from the definition of the ball.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import timed
from benchmarks.common.data import load_ijcnn, missing
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.fleet.passes import count_writes, files, written
from edgesvm import RBF, BallVectorMachine, CoreVectorMachine, fleet
from edgesvm.data import Checkerboard
from edgesvm.fleet import enclosing

KINDS = (BallVectorMachine, CoreVectorMachine)
C, KERNEL = 10.0, RBF(1.0)
ROUNDING = 1e-5  # of a squared distance, with kernel rows in float32


def checkerboard(n: int) -> tuple[np.ndarray, ...]:
    """Rows with 5 % of the labels flipped, and rows to test with none."""
    X, y = Checkerboard(seed=1, flip=0.05).read(n)
    X_test, y_test = Checkerboard(seed=2).read(5_000)
    return X.astype(np.float32), y > 0, X_test.astype(np.float32), y_test > 0


def ijcnn(n: int) -> tuple[np.ndarray, ...]:
    X, y, X_test, y_test = load_ijcnn(np.random.default_rng(0))
    at = np.random.default_rng(0).permutation(len(X))[:n]
    return X[at], y[at], X_test[:5_000], y_test[:5_000]


def n_outside(model: Any, X: np.ndarray, y: np.ndarray) -> int:
    """Rows whose squared distance from the centre, eq. 3, is larger than the ball's."""
    count = 0
    slack = np.zeros(len(X))
    slack[model.support_] = model.slack_
    for at in np.array_split(np.arange(len(X)), 1 + len(X) // 2_000):
        K = model.kernel(np.float64(X[at]), np.float64(model.support_vectors_))
        f = K @ model.dual_coef_[0] + model.intercept_[0]
        f = np.where(y[at], f, -f) + slack[at]
        square = 2.0 + 1.0 / model.C + model.margin_ - 2.0 * f
        count += int((square > model.radius_**2 + ROUNDING).sum())
    return count


class Passes:
    """Counts them; calls `also` in each."""

    def __init__(self, also: Callable[[int], None] | None = None) -> None:
        self.n, self._also = 0, also

    def __call__(self, n_passes: int, n_core: int, epsilon: float) -> None:
        self.n = max(self.n, n_passes + 1)
        if self._also is not None:
            self._also(n_passes)


def compared(name: str, data: Any, max_core: int, folder: Path, client: Any) -> list[list[Any]]:
    """A fit in one place, and one on the workers."""
    X, y, X_test, y_test = data
    paths = files(folder, X, y, 8)
    found = []
    for kind in KINDS:
        progress(f"{name}: {kind.__name__}, max_core={max_core:,}")
        here, there = (kind(C=C, kernel=KERNEL, max_core=max_core) for _ in range(2))
        local, remote = Passes(), Passes()
        times = (
            timed(partial(here.fit, X, y, progress=local)),
            timed(partial(fleet.fit, there, paths, client=client, progress=remote)),
        )
        for where, model, seen, time in zip(
            ("one place", "workers"), (here, there), (local, remote), times, strict=True
        ):
            accuracy = f"{100 * model.score(X_test, y_test):.1f} %"
            outside = n_outside(model, X, y)
            enclosed = _said(model.enclosed_)
            found.append(
                [
                    *(name, kind.__name__, f"{max_core:,}", where, accuracy),
                    *(f"{model.n_core_:,}", seen.n, enclosed, outside, f"{time:.1f} s"),
                ]
            )
    return found


def sent(learner: Any, X: np.ndarray, y: np.ndarray, folder: Path, client: Any) -> list[Any]:
    """Core vectors, passes, bytes in all, bytes a pass, time."""
    paths = files(folder, X, y, 16)
    marks: list[tuple[int, int]] = []

    def total() -> int:
        return int(written() + sum(client.run(written).values()))

    def mark(n_passes: int) -> None:
        if not marks or marks[-1][0] != n_passes:
            marks.append((n_passes, total()))

    seen, before = Passes(mark), total()
    time = timed(partial(fleet.fit, learner, paths, client=client, progress=seen))
    after = total()
    (first, at_first), (last, at_last) = marks[0], marks[-1]
    a_pass = (at_last - at_first) // (last - first) if last > first else None
    return [
        *(f"{learner.n_core_:,}", seen.n, f"{after - before:,}"),
        *("" if a_pass is None else f"{a_pass:,}", f"{time:.1f} s"),
    ]


def equal_bytes(
    n: int, worker_counts: tuple[int, ...], part_counts: tuple[int, ...], folder: Path
) -> list[list[Any]]:
    X, y, _, _ = checkerboard(n)
    expected: dict[Any, bytes] = {}
    found = []
    for n_workers in worker_counts:
        with _cluster(n_workers) as cluster, _client(cluster) as client:
            for n_parts in part_counts:
                progress(f"{n_workers} workers, {n_parts} partitions")
                paths = files(folder, X, y, n_parts)
                cells = []
                for kind in KINDS:
                    model = kind(C=C, kernel=KERNEL, max_core=n)
                    fleet.fit(model, paths, client=client)
                    cells.append(
                        bytes(model.arena) == expected.setdefault(kind, bytes(model.arena))
                    )
                killed = survived(CoreVectorMachine(C=C, kernel=KERNEL, max_core=n), paths, client)
                cells.append(killed == expected[CoreVectorMachine])
                found.append([n_workers, n_parts, *map(_said, cells)])
    return found


def survived(model: Any, paths: list[str], client: Any) -> bytes:
    """The bytes of a fit in whose second pass a worker is killed."""
    pid = next(iter(client.run(os.getpid).values()))
    timers: list[threading.Timer] = []

    def kill(n_passes: int) -> None:
        if n_passes and not timers:
            timers.append(threading.Timer(0.02, os.kill, (pid, signal.SIGKILL)))
            timers[0].start()

    fleet.fit(model, paths, client=client, progress=Passes(kill))
    timers[0].join()
    return bytes(model.arena)


def _cluster(n_workers: int) -> Any:
    from distributed import LocalCluster

    return LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None)


def _client(cluster: Any) -> Any:
    from distributed import Client

    return Client(cluster)


def _said(yes: bool) -> str:
    return "yes" if yes else "NO"


def main() -> None:
    args = parsed(arguments(__doc__))
    n = 600 if args.quick else 5_000
    sizes = (1_000, 2_000) if args.quick else (20_000, 80_000, 320_000)
    answers = (64, 1024) if args.quick else (64, 256, 1024, 4096)
    worker_counts, part_counts = ((1,), (1, 3)) if args.quick else ((1, 2, 5), (1, 7, 64))
    skipped: list[str] = []
    accuracy: list[list[Any]] = []
    by_answer: list[list[Any]] = []
    by_size: list[list[Any]] = []
    equal: list[list[Any]] = []
    chosen = enclosing.CANDIDATES
    try:
        import distributed  # noqa: F401
    except ImportError:
        skipped = ["distributed is not installed: the workers were left out"]
    else:
        sets = {"N-Checkerboard": checkerboard(n)}
        if not args.quick:
            if why := missing("ijcnn1"):
                skipped.append(why)
            else:
                sets["ijcnn1"] = ijcnn(10_000)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with _cluster(2) as cluster, _client(cluster) as client:
                for of, data in sets.items():
                    for room in (len(data[0]), len(data[0]) // 10):
                        accuracy += compared(of, data, room, folder, client)
                count_writes()
                client.run(count_writes)
                X, y, _, _ = checkerboard(n)
                for k in answers:
                    progress(f"{k} rows in an answer")
                    enclosing.CANDIDATES = k
                    for kind in KINDS:
                        learner = kind(C=C, kernel=KERNEL, max_core=n)
                        cells = sent(learner, X, y, folder, client)
                        by_answer.append([kind.__name__, k, *cells])
                enclosing.CANDIDATES = chosen
                for size in sizes:
                    progress(f"bytes sent, {size:,} rows")
                    X, y = Checkerboard(seed=3).read(size)
                    learner = CoreVectorMachine(
                        C=1.0, kernel=KERNEL, max_core=2_000, epsilon=1e-3, margin_tol=None
                    )
                    X, y = X.astype(np.float32), y > 0
                    cells = sent(learner, X, y, folder, client)
                    by_size.append([size, f"{X.nbytes:,}", *cells, n_outside(learner, X, y)])
            equal = equal_bytes(n, worker_counts, part_counts, folder)
    if not accuracy:
        accuracy = by_answer = by_size = equal = [["in one place", *[None] * 9]]
    bytes_of = ["core vectors", "passes", "bytes in all", "bytes a pass", "time"]
    tables = [
        Table(
            "A fit in one place, and one on 2 workers in 8 partitions",
            [
                *("data", "machine", "max_core", "where", "accuracy", "core vectors", "passes"),
                *("enclosed", "rows outside", "time"),
            ],
            accuracy,
            "Rows outside are counted in NumPy. Passes: those over all rows, the one in which it"
            " ended included. A fit in one place moves the ball while it reads them.",
        ),
        Table(
            f"Rows in the answer of a pass; N-Checkerboard, {n:,} rows, 2 workers, 16 partitions",
            ["machine", "rows in an answer", *bytes_of],
            by_answer,
            f"{chosen} is what `fit` uses. A pass: from the first rows drawn to the last pass, by"
            " the number of passes.",
        ),
        Table(
            "Bytes sent: the board without flipped labels, CoreVectorMachine by the paper's"
            " tolerance of 1e-3, 2 workers, 16 partitions",
            ["rows", "bytes of rows", *bytes_of, "rows outside"],
            by_size,
        ),
        Table(
            f"Bytes of the model; N-Checkerboard, {n:,} rows",
            [
                *("workers", "partitions", "BallVectorMachine equal", "CoreVectorMachine equal"),
                "equal with a worker killed",
            ],
            equal,
            "Against the first of them. The worker is killed (SIGKILL) 20 ms after the first pass.",
        ),
    ]
    about = [f"C = {C:g}, RBF kernel of width 1, rows in npz files. Two cores, other work beside."]
    title = "Ball and core vector machines on Dask workers"
    publish(
        Report("fleet/ball", title, tables, about, [accuracy, by_answer, by_size, equal], skipped),
        args.out,
    )


if __name__ == "__main__":
    main()
