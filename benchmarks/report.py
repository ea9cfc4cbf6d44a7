"""What every benchmark prints about itself: versions, machine, command; and tables as text,
markdown and JSON.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import edgesvm

HERE = Path(__file__).resolve().parent
OUT = HERE / "out"
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def use_one_thread() -> None:
    """Start again with BLAS held to one thread: it reads these only when NumPy is first
    imported.
    """
    if any(os.environ.get(name) != "1" for name in ONE_THREAD):
        os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
        os.execv(sys.executable, [sys.executable, *sys.argv])


def environment() -> dict[str, str]:
    """Versions, machine and command, by name."""
    facts = {
        "edgesvm": edgesvm.__version__,
        "NumPy": np.__version__,
        "Python": platform.python_version(),
        "machine": f"{cpu_name()}, {os.cpu_count()} cores, {sys.platform} {platform.machine()}",
        "threads": "1",
        "command": " ".join(
            [
                "python",
                *(os.path.relpath(a, HERE.parent) if a == sys.argv[0] else a for a in sys.argv),
            ]
        ),
    }
    if "sklearn" in sys.modules:
        facts["scikit-learn"] = sys.modules["sklearn"].__version__
    return facts


def cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown processor"


def progress(text: str) -> None:
    """One live line on stderr, so that stdout stays a report."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def markdown(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table, its columns padded so that it reads as plain text too; all but the first to the
    right.
    """
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[k]) for row in cells) for k in range(len(header))]
    lines = [
        "| "
        + " | ".join(
            c.rjust(w) if k else c.ljust(w)
            for k, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        + " |"
        for row in cells
    ]
    rule = "|" + "|".join("-" * (w + 1) + (":" if k else "-") for k, w in enumerate(widths)) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def publish(name: str, title: str, text: str, figures: Any) -> None:
    """Print the report; leave it in benchmarks/out as markdown and its figures as JSON."""
    facts = environment()
    about = "; ".join(f"{key} {value}" for key, value in facts.items() if key != "command")
    report = f"## {title}\n\n`{facts['command']}`\n\n{about}\n\n{text.strip()}\n"
    progress("")
    print(report, flush=True)
    OUT.mkdir(exist_ok=True)
    (OUT / f"{name}.md").write_text(report)
    (OUT / f"{name}.json").write_text(
        json.dumps({"environment": facts, "figures": figures}, indent=1) + "\n"
    )


def race(
    rounds: int, *, clock: Callable[[], float] = perf_counter, **contestants: Callable[[], object]
) -> dict[str, float]:
    """Median seconds of each, all run once in every round, so that a busy moment strikes all
    alike; of the processor with ``clock=process_time``, where others wait for it too.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for run in contestants.values():
        run()
    for k in range(rounds):
        progress(f"round {k + 1}/{rounds}: {', '.join(contestants)}")
        for name, run in contestants.items():
            begin = clock()
            run()
            seconds[name].append(clock() - begin)
    return {name: median(times) for name, times in seconds.items()}
