"""Instructions a sample on boards

Counted in emulators: rows 4,352 to 4,608 of a random order, 16 features, 2 classes, in blocks. A
line of text has 8 features. Cortex-M and AVR (an export's C, `-Os`): rows 4,096 to 4,136, one
by one; an AVR has room for `ByteSVM` of 1 KiB alone.

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
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.common.arguments import default_out
from benchmarks.common.report import Report, Table, publish
from benchmarks.ledger.compare import Entries, moves
from benchmarks.ledger.emulated import PROCESSORS, counts_on, missing
from benchmarks.ledger.entry_points import Call, EntryPoint, clouds, read
from edgesvm import ByteSVM, FourierSVM, GaussianNovelty, StreamSVM
from tools.board_costs import UNO, WIDE_BOARDS, run
from tools.board_costs import missing as absent

D, TAUGHT, N, FEW = 16, 4096, 256, 40
LEDGER = Path(__file__).with_name("boards.json")
SMALL = {"Cortex-M0": "M0", "Cortex-M3": "M3", "AVR": "uno"}
MIPS = {"Zero 2": 838, "3 B+": 1046, "4 B": 1752, "5": 3196}  # of 7-Zip, one thread


def learners() -> dict[str, Any]:
    """Those of the table, by name."""
    sizes = ("1", "2", "16", "64")
    return {
        **{f"ByteSVM, {n} KiB": ByteSVM.within(f"{n}KiB", n_features=D) for n in sizes},
        "StreamSVM": StreamSVM(),
        "FourierSVM": FourierSVM(),
        "GaussianNovelty": GaussianNovelty(),
    }


def columns(learner: Any) -> tuple[np.ndarray, ...]:
    X, y = clouds(TAUGHT + 2 * N, 2, D)
    return (X, y) if learner.takes_labels else (X,)


def entry_points() -> Iterator[EntryPoint]:
    """Those counted on machines with Python."""
    for name, learner in learners().items():
        yield from of_learner(name, learner, *columns(learner))
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
    } | on_microcontrollers()


def on_microcontrollers() -> Entries:
    """Of each learner as it is exported."""
    found: Entries = {}
    for (name, learner), (kind, board) in product(learners().items(), SMALL.items()):
        if board == "uno" and name != "ByteSVM, 1 KiB":
            continue
        taught = learner.like_new().partial_fit(*(column[:TAUGHT] for column in columns(learner)))
        rows = [column[TAUGHT : TAUGHT + FEW] for column in columns(learner)]
        slots = rows[1] if learner.takes_labels else np.ones(FEW)
        samples = rows[0], slots.astype(np.int8), np.ones(FEW)
        with TemporaryDirectory() as folder:
            there = run(taught, WIDE_BOARDS.get(board, UNO), Path(folder), samples, stack=8192)
        for method, n in (("learn", there.learn), ("decide", there.decide)):
            found[f"{kind}: {name}, {method}"] = {"instructions": n, "ll_lines": 0.0}
    return found


def check(entries: Entries) -> int:
    """Print what moved since the ledger; the exit code."""
    found = moves(json.loads(LEDGER.read_text()), entries)
    print(*found, f"{len(entries)} entry points counted on boards, {len(found)} moved", sep="\n")
    return int(bool(found))


def table(entries: Entries) -> Table:
    """Instructions of each processor, and microseconds of each board."""
    rows = []
    for name in (key.removeprefix("aarch64: ") for key in entries if key.startswith("aarch64")):
        found = [entries.get(f"{one}: {name}") for one in (*PROCESSORS, *SMALL)]
        counts = [f"{entry['instructions']:,.0f}" if entry else "" for entry in found]
        on_pis = entries[f"aarch64: {name}"]["instructions"]
        times = [f"{float(f'{on_pis / mips:.2g}'):,g}" for mips in MIPS.values()]
        rows.append([name, *counts, *times])
    return Table("", ["", *PROCESSORS, *SMALL, *(f"µs, {board}" for board in MIPS)], rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the ledger instead")
    args = parser.parse_args()
    if why := missing() or absent(UNO, *WIDE_BOARDS.values()):
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
