"""What a sample costs in instructions and lines of memory, at every entry point of every learner:
counted by valgrind, so that no other work on the machine changes a figure.

    python -m benchmarks.instructions                   # compare with the ledger; what moved
    python -m benchmarks.instructions --only Stream     # those whose name has one of these words
    python -m benchmarks.instructions --write           # make the ledger anew, or those chosen
    python -m benchmarks.instructions --keep dumps      # then: callgrind_annotate dumps/dump.2

The ledger is `benchmarks/ledger/ledger.json`. A figure has moved if it differs by more than 2 %
(and by more than the heap's whims: `may_move` in `ledger/compare.py`).
Exit code: 0 if nothing moved, 1 if something did or an entry point is new or gone, 2 if nothing
could be compared. (`edgesvm export --report` and `benchmarks/export/instructions.py` are about
something else: instructions on boards.)
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.common.progress import progress, say
from benchmarks.ledger.compare import Entries, absent, moves, other_kind
from benchmarks.ledger.counter import missing
from benchmarks.ledger.counts import counted
from benchmarks.ledger.entry_points import entry_points

LEDGER = Path(__file__).resolve().parent / "ledger" / "ledger.json"
ENTRY_POINTS = "benchmarks.ledger.entry_points"


def write(facts: dict[str, str], entries: Entries, only: list[str]) -> None:
    """The ledger, or the entry points that were counted into it."""
    if only and LEDGER.exists():
        held = read()
        if differing := other_kind(held["measured"], facts):
            raise SystemExit("the rest of the ledger is of another kind: " + "; ".join(differing))
        both = held["entries"] | entries
        entries = {
            entry_point.name: both[entry_point.name]
            for entry_point in entry_points()
            if entry_point.name in both
        }
    lines = ",\n".join(f" {json.dumps(k)}: {json.dumps(rounded(v))}" for k, v in entries.items())
    head = json.dumps(facts, indent=1)
    LEDGER.write_text(f'{{"measured": {head},\n"entries": {{\n{lines}\n}}}}\n')
    say(f"{len(entries)} entry points in {LEDGER.name}, at {facts['commit']}")


def rounded(entry: dict[str, Any]) -> dict[str, Any]:
    return {k: round(v, 2) if isinstance(v, float) else v for k, v in entry.items()}


def read() -> dict[str, Any]:
    return json.loads(LEDGER.read_text())


def check(facts: dict[str, str], entries: Entries, only: list[str]) -> int:
    """Print what moved since the ledger; the exit code."""
    held = read()
    before = {k: v for k, v in held["entries"].items() if not only or any(w in k for w in only)}
    differing = other_kind(held["measured"], facts)
    found = moves(before, entries)
    new, gone = absent(entries, before), absent(before, entries)
    for move in found:
        print(move)
    for what, names in (("new", new), ("gone", gone)):
        for name in names:
            print(f"{name}: {what}")
    print(
        f"{len(entries)} entry points counted; since {held['measured']['commit']} "
        f"{len({m.entry_point for m in found})} moved, {len(new)} new, {len(gone)} gone"
    )
    if differing:
        print(
            "The ledger is of another kind of build, so what moved says little:",
            *differing,
            f"Build {held['measured']['commit']} here, run "
            "`python -m benchmarks.instructions --write`, and compare again.",
            sep="\n  ",
        )
        return 2
    if found or new or gone:
        print("If that is meant: `python -m benchmarks.instructions --write`, and commit it.")
        return 1
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="WORD", help="entry points to count"
    )
    parser.add_argument("--write", action="store_true", help="make the ledger anew")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep callgrind's dumps there")
    args = parser.parse_args()
    if why := missing():
        print(f"instructions: SKIPPED, {why}")
        return 2
    facts, entries = counted(ENTRY_POINTS, args.only, args.keep)
    progress("")
    if not entries:
        print(f"no entry point's name has one of: {' '.join(args.only)}")
        return 2
    if args.write or not LEDGER.exists():
        write(facts, entries, args.only)
        return 0
    return check(facts, entries, args.only)


if __name__ == "__main__":
    sys.exit(main())
