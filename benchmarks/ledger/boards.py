"""Instructions a sample on boards

Counted in emulators: rows 4,352 to 4,608 of a random order, 16 features, 2 classes, in blocks. A
line of text has 8 features.

Microseconds are an estimate: instructions on aarch64, by the millions a second of one thread of
7-Zip (https://github.com/ThomasKaiser/sbc-bench/blob/master/Results.md): 838 on a Zero 2, 1046 on a
3 B+, 1752 on a 4 B, 3196 on a 5; 0.7 to 1.3 a cycle. They may be out by a factor of two.
"""

from __future__ import annotations

import argparse
import json
import pickle
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.arguments import default_out
from benchmarks.common.report import Report, Table, publish
from benchmarks.ledger.compare import Entries, moves
from benchmarks.ledger.emulated import PROCESSORS, counts_on, missing
from benchmarks.ledger.entry_points import Call, EntryPoint, clouds, read
from edgesvm import ByteSVM, FourierSVM, GaussianNovelty, StreamSVM

D, TAUGHT, N = 16, 4096, 256
LEDGER = Path(__file__).with_name("boards.json")
MIPS = {"Zero 2": 838, "3 B+": 1046, "4 B": 1752, "5": 3196}  # of 7-Zip, one thread


def entry_points() -> Iterator[EntryPoint]:
    """Those of the table."""
    X, y = clouds(TAUGHT + 2 * N, 2, D)
    for size in ("2", "16", "64"):
        learner = ByteSVM.within(f"{size}KiB", n_features=D)
        yield from of_learner(f"ByteSVM, {size} KiB", learner, X, y)
    yield next(of_learner("StreamSVM", StreamSVM(), X, y))
    yield next(of_learner("FourierSVM", FourierSVM(), X, y))
    yield next(of_learner("GaussianNovelty", GaussianNovelty(), X))
    yield read("text")


def of_learner(name: str, learner: Any, *columns: np.ndarray) -> Iterator[EntryPoint]:
    """Learning and deciding, once it was taught."""
    kept = pickle.dumps(learner.partial_fit(*(column[:TAUGHT] for column in columns)))

    def call(method: str, columns: tuple[np.ndarray, ...], n: int) -> Call:
        rows = (column[TAUGHT : TAUGHT + n] for column in columns)
        return partial(getattr(pickle.loads(kept), method), *rows)

    yield EntryPoint(f"{name}, learn", partial(call, "partial_fit", columns), N)
    yield EntryPoint(f"{name}, decide", partial(call, "predict", columns[:1]), N)


def counted() -> Entries:
    """Of each entry point on each processor."""
    with ThreadPoolExecutor() as pool:  # an emulator takes one core
        found = pool.map(partial(counts_on, module=__spec__.name), PROCESSORS)
    return {
        f"{processor}: {name}": {"instructions": n, "ll_lines": 0.0}
        for processor, counts in zip(PROCESSORS, found, strict=True)
        for name, n in counts.items()
    }


def check(entries: Entries) -> int:
    """Print what moved since the ledger; the exit code."""
    found = moves(json.loads(LEDGER.read_text()), entries)
    print(*found, f"{len(entries)} entry points counted on boards, {len(found)} moved", sep="\n")
    return int(bool(found))


def table(entries: Entries) -> Table:
    """Instructions of each processor, and microseconds of each board."""
    rows = []
    for name in (key.removeprefix("aarch64: ") for key in entries if key.startswith("aarch64")):
        counts = [entries[f"{processor}: {name}"]["instructions"] for processor in PROCESSORS]
        on_boards = counts[PROCESSORS.index("aarch64")]
        times = [f"{float(f'{on_boards / mips:.2g}'):,g}" for mips in MIPS.values()]
        rows.append([name, *(f"{n:,.0f}" for n in counts), *times])
    return Table("", ["", *PROCESSORS, *(f"µs, {board}" for board in MIPS)], rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the ledger instead")
    args = parser.parse_args()
    if why := missing():
        print(f"boards: SKIPPED, {why}")
        return 0
    entries = counted()
    if args.check:
        return check(entries)
    out = default_out(quick=False)
    LEDGER.write_text(json.dumps(entries, indent=1) + "\n")
    title, *about = (__doc__ or "").strip().split("\n\n")
    publish(Report("ledger/boards", title, [table(entries)], about, entries), out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
