"""`edgesvm run` at full speed while clients flood its page: how much of the process learns.

The node sends 8 float32 features and a label as fast as they are read. Each client asks for the
status, the figures, the page or the model, and at once again. The first thread of the process
reads, learns and answers, the others serve the page; they share one interpreter lock. "Learns" is
the first thread's share of the process's processor time while all clients are there: the speed that
is left of that without clients. On a busy machine it is too low, since those who serve are held to
a number of requests a second: "serves" is their processor time, per cent of a second. Lost are
samples that are missing or dropped.

`--before FOLDER` measures an earlier build too, in turns with this one: see `link/whole`.
"""

from __future__ import annotations

import collections
import contextlib
import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.progress import progress
from benchmarks.common.report import ROOT, Report, Table, publish
from benchmarks.link.node import node
from benchmarks.link.ports import LOST

CLIENTS = (0, 1, 8)
PATHS = "/status.json", "/metrics", "/", "/model.esvm"
SETTLED_S = 4.0  # until what clients may ask at once is used up
SAMPLES_A_SECOND = 100_000  # more than are learned


class Client(threading.Thread):
    """Asks for one path again and again, until the answers stop."""

    def __init__(self, port: int, path: str) -> None:
        super().__init__()
        self.port, self.path, self.ending = port, path, False
        self.answers: collections.Counter[int] = collections.Counter()

    def run(self) -> None:
        while not self.ending:
            line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            with contextlib.closing(line), contextlib.suppress(OSError):
                line.request("GET", self.path)
                answer = line.getresponse()
                answer.read()
                self.answers[answer.status] += 1


def seconds_of(process: subprocess.Popen[str]) -> tuple[float, float]:
    """Processor seconds of its first thread, and of all."""
    tasks = Path(f"/proc/{process.pid}/task")
    of = {
        task.name: int((task / "schedstat").read_text().split()[0]) / 1e9
        for task in tasks.iterdir()
    }
    return of[str(process.pid)], sum(of.values())


def measured(folder: Path | None, n_clients: int, seconds: float) -> dict[str, Any]:
    path = [] if folder is None else [str(folder.resolve())]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    command = [sys.executable, "-m", "edgesvm", "run", "--http", "0", "--json"]
    settled = min(seconds, SETTLED_S)
    n = int((settled + seconds) * SAMPLES_A_SECOND)
    with node("binary", n, 0.0) as name:
        process = subprocess.Popen(
            [*command, name],
            env=environment,
            cwd=folder or ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        url = next(found for line in process.stderr if (found := re.search(r"http://[^#]*", line)))
        reader = threading.Thread(target=process.stderr.read)
        reader.start()
        port = int(url[0].rstrip("/").rpartition(":")[2])
        clients = [Client(port, PATHS[k % len(PATHS)]) for k in range(n_clients)]
        for client in clients:
            client.start()
        time.sleep(settled)
        first, before = (
            seconds_of(process),
            sum((c.answers for c in clients), collections.Counter()),
        )
        time.sleep(seconds)
        last, after = seconds_of(process), sum((c.answers for c in clients), collections.Counter())
        for client in clients:
            client.ending = True
        process.terminate()
        assert process.stdout is not None
        counters = json.loads(process.stdout.read())["counters"]
        process.wait()
        for thread in (*clients, reader):
            thread.join()
    return {
        "learns": (last[0] - first[0]) / (last[1] - first[1]),
        "serves": (last[1] - last[0] - first[1] + first[0]) / seconds,
        "answers": {status: n / seconds for status, n in (after - before).items()},
        "lost": sum(counters.get(cause, 0) for cause in LOST),
    }


def main() -> None:
    parser = arguments(__doc__, rounds=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a round (2)")
    parser.add_argument("--before", type=Path, help="folder of an earlier build")
    args = parsed(parser)
    if args.quick:
        args.seconds, args.rounds = 0.3, 1
    builds = {"now": None} if args.before is None else {"before": args.before, "now": None}
    rows: list[list[str | float | None]] = []
    figures = {}
    for n_clients in CLIENTS:
        found: dict[str, list[dict[str, Any]]] = {build: [] for build in builds}
        for k in range(args.rounds):
            for build, folder in builds.items():
                progress(f"{n_clients} clients, {build}, round {k + 1}")
                found[build].append(measured(folder, n_clients, args.seconds))
        figures[str(n_clients)] = found
        for build, rounds in found.items():
            served, refused = (
                median(one["answers"].get(status, 0.0) for one in rounds) for status in (200, 429)
            )
            share, serving = (
                100 * median(one[who] for one in rounds) for who in ("learns", "serves")
            )
            cells = f"{share:.0f}", f"{serving:.1f}", f"{served:.0f}", f"{refused:.0f}"
            rows.append([build, str(n_clients), *cells, str(sum(one["lost"] for one in rounds))])
    columns = ["build", "clients", "learns, %", "serves, %", "answers a second", "429 a second"]
    columns.append("lost")
    tables = [Table("", columns, rows)]
    title = "Clients that flood the page"
    publish(Report("link/flood", title, tables, [__doc__ or ""], figures), args.out)


if __name__ == "__main__":
    main()
