"""`edgesvm run` as a process of its own, pinned to one processor, on one, two and four ports.

Each port is a pseudo-terminal with a node behind it, which sends 8 float32 features and a label in
frames of 50 bytes: at 115200 baud, some 230 samples a second, or as fast as they are read. Each has
a learner of its own and gets its answers; the learners share 16 KiB, so each default one is smaller
the more ports there are. The nodes run on the other processors. Processor time is
that of the process, user and system together, without its start: at 115200 baud over some seconds
in the middle, at full speed the difference of a long run and a short one. Lost are samples that are
missing or dropped, in all runs.

`--before FOLDER` measures an earlier build too, in turns with this one: see `link/whole`.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.progress import progress
from benchmarks.common.report import ROOT, Report, Table, publish
from benchmarks.link.node import node

PORTS = (1, 2, 4)
LEARNERS = {"StreamSVM": ("--learner", "stream"), "default": ()}
BAUD = 115_200
SAMPLES_A_SECOND = BAUD / 10 / 50
SETTLED = 2.0  # seconds until the process has started and all ports are open
LOST = ("missing", "ring_dropped", "duplicate", "too_old", "bad_crc", "bad_cobs", "bad_len")


@contextlib.contextmanager
def running(
    folder: Path | None, learner: str, n_ports: int, n: int, baud: float
) -> Iterator[subprocess.Popen[bytes]]:
    """`edgesvm run` on ports whose nodes send n samples each, on the last processor."""
    path = [] if folder is None else [str(folder.resolve())]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    processors = sorted(os.sched_getaffinity(0))
    with contextlib.ExitStack() as nodes:
        os.sched_setaffinity(0, processors[:-1] or processors)  # the nodes inherit it
        nodes.callback(os.sched_setaffinity, 0, processors)
        names = [nodes.enter_context(node("binary", n, baud)) for _ in range(n_ports)]
        command = [sys.executable, "-m", "edgesvm", "run", *names, *LEARNERS[learner]]
        command += ["--samples", str(n), "--json", "--quiet"]
        process = subprocess.Popen(
            command,
            env=environment,
            cwd=folder or ROOT,
            stdout=subprocess.PIPE,
        )
        os.sched_setaffinity(process.pid, processors[-1:])
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def told(process: subprocess.Popen[bytes]) -> tuple[float, int]:
    """Processor seconds of the process, once it has ended, and samples lost."""
    assert process.stdout is not None
    summary = json.loads(process.stdout.read())
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    ports = summary["ports"].values() if "ports" in summary else [summary]
    return seconds, sum(port["counters"].get(name, 0) for port in ports for name in LOST)


def on_processor(process: subprocess.Popen[bytes]) -> float:
    """Seconds that its first thread, which serves the ports, has had so far."""
    return int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[0]) / 1e9


def at_baud(folder: Path | None, learner: str, n_ports: int, seconds: float) -> dict[str, Any]:
    n = int((SETTLED + seconds + 1) * SAMPLES_A_SECOND)
    with running(folder, learner, n_ports, n, BAUD) as process:
        time.sleep(SETTLED)
        wall, cpu = time.perf_counter(), on_processor(process)
        time.sleep(seconds)
        share = (on_processor(process) - cpu) / (time.perf_counter() - wall)
        return {"share": share, "lost": told(process)[1]}


def at_full_speed(folder: Path | None, learner: str, n_ports: int, n: int) -> dict[str, Any]:
    found = []
    for many in (n // 10, n):
        with running(folder, learner, n_ports, many, 0.0) as process:
            found.append(told(process))
    (few_s, few_lost), (all_s, all_lost) = found
    us = 1e6 * (all_s - few_s) / (n - n // 10) / n_ports
    return {"us": us, "lost": few_lost + all_lost}


def row(case: str, n_ports: int, found: dict[str, list[dict[str, Any]]]) -> list[str]:
    cells = [case, str(n_ports)]
    for build in ("before", "now"):
        paced = [one["paced"]["share"] for one in found[build]]
        fast = [one["fast"]["us"] for one in found[build]]
        cells += (
            [f"{100 * median(paced):.2f}", f"{100 * median(paced) / n_ports:.2f}"]
            if paced
            else ["", ""]
        )
        cells += [f"{min(fast):.2f}", f"{median(fast):.2f}"] if fast else ["", ""]
    lost = [one[how]["lost"] for one in found["before"] + found["now"] for how in ("paced", "fast")]
    return [*cells, str(sum(lost))]


COLUMNS = ["learner", "ports", "before: % at 115200", "a port", "µs a sample, least", "median"]
COLUMNS += ["now: % at 115200", "a port", "µs a sample, least", "median", "lost"]


def main() -> None:
    parser = arguments(__doc__, rounds=3)
    parser.add_argument("--samples", type=int, default=200_000, help="at full speed (200,000)")
    parser.add_argument("--seconds", type=float, default=10.0, help="at 115200 baud (10)")
    parser.add_argument("--before", type=Path, help="folder of an earlier build")
    args = parsed(parser)
    if args.quick:
        args.samples, args.seconds, args.rounds = 1_000, 0.2, 1
    builds = {"now": None} if args.before is None else {"before": args.before, "now": None}
    rows, figures = [], {}
    for learner in list(LEARNERS)[: 1 if args.quick else None]:
        for n_ports in PORTS[: 2 if args.quick else None]:
            found: dict[str, list[dict[str, Any]]] = {"before": [], "now": []}
            for k in range(args.rounds):
                for build, folder in builds.items():
                    progress(f"{learner}, {n_ports} ports, {build}, round {k + 1}")
                    paced = at_baud(folder, learner, n_ports, args.seconds)
                    fast = at_full_speed(folder, learner, n_ports, args.samples)
                    found[build].append({"paced": paced, "fast": fast})
            rows.append(row(learner, n_ports, found))
            figures[f"{learner}, {n_ports}"] = found
    tables = [Table("", COLUMNS, rows)]
    publish(Report("link/ports", "Several ports", tables, [__doc__ or ""], figures), args.out)


if __name__ == "__main__":
    main()
