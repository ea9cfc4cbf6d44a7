"""The ledger as a table, with the time that each entry point takes here beside its counts.

Instructions and lines of 64 bytes are of one sample, as counted under valgrind (`python -m
benchmarks.instructions`): lines that a first cache of 32 KiB does not hold, and those that a last
one of 1 MiB does not. Nanoseconds are medians, of runs over 2 n samples less runs over n; the ratio
is to `w.dot(x)` of as many float32 features, called from Python in the same round. A processor runs
one to four instructions in a cycle, so the two columns need not agree.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import timed
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.instructions import read
from benchmarks.ledger.entry_points import EntryPoint, chosen, entry_points, over

QUICK = ["StreamSVM, D = 8", "frame decoder"]
DOTS = 512
COLUMNS = ["what", "D", "method", "instructions", "lines, 32 KiB", "lines, 1 MiB", "ns"]
COLUMNS += ["times w.dot(x)"]


def dots(width: int) -> Callable[[], object]:
    """DOTS products of NumPy, each called from Python."""
    X, w = np.ones((DOTS, width), np.float32), np.ones(width, np.float32)
    return over(w.dot, list(X))


def measure(entry_point: EntryPoint, rounds: int) -> dict[str, float]:
    dot = dots(entry_point.n_features)
    ns, ratios = [], []
    for _ in range(rounds + 1):
        short, long = (timed(entry_point.calls(k)) for k in (entry_point.n, 2 * entry_point.n))
        ns.append(1e9 * (long - short) / entry_point.n)
        ratios.append(ns[-1] / (1e9 * timed(dot) / DOTS))
    return {"ns": median(ns[1:]), "ratio": median(ratios[1:])}  # the first warms up


def row(entry: dict[str, Any], time: dict[str, float]) -> list[str]:
    return [
        entry["subject"],
        str(entry["features"]),
        entry["method"],
        f"{entry['instructions']:,.0f}",
        f"{entry['d1_lines']:,.1f}",
        f"{entry['ll_lines']:,.1f}",
        f"{time['ns']:,.0f}",
        f"{time['ratio']:.2f}",
    ]


def main() -> None:
    args = parsed(arguments(__doc__, rounds=9))
    rounds = 2 if args.quick else args.rounds
    ledger = read()
    entries, figures, rows = ledger["entries"], {}, []
    for entry_point in chosen(entry_points(), QUICK if args.quick else []):
        progress(entry_point.name)
        if entry_point.name in entries:
            entry, time = entries[entry_point.name], measure(entry_point, rounds)
            figures[entry_point.name] = entry | time
            rows.append(row(entry, time))
    facts = ledger["measured"]
    note = (
        f"Counted at {facts['commit']}, compiled by {facts['compiler']}, Python {facts['Python']}, "
        f"NumPy {facts['NumPy']}, valgrind {facts['valgrind']} ({facts['vectors']} vectors, as it "
        f"knows no AVX-512)."
    )
    tables = [Table("", COLUMNS, rows, note)]
    about = [(__doc__ or "").strip()]
    publish(Report("ledger/times", "What a sample costs", tables, about, figures), args.out)


if __name__ == "__main__":
    main()
