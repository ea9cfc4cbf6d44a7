"""What a sample costs in instructions and lines of memory, at every door of every learner: counted
by valgrind, so that no other work on the machine changes a figure.

    python -m benchmarks.instructions                   # compare with the ledger; what moved
    python -m benchmarks.instructions --only Stream     # doors whose name has one of these words
    python -m benchmarks.instructions --write           # make the ledger anew, or the doors chosen
    python -m benchmarks.instructions --keep dumps      # and then: callgrind_annotate dumps/dump.1

The ledger is `benchmarks/ledger/ledger.json`. A figure has moved if it differs by more than 2 %.
Exit code: 0 if nothing moved, 1 if something did or a door is new or gone, 2 if nothing could be
compared. (`edgesvm export --report` and `benchmarks/export/instructions.py` are about something
else: instructions on boards.)
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import edgesvm
from benchmarks.common.progress import progress, say
from benchmarks.common.report import commit
from benchmarks.ledger.compare import Entries, absent, moves, other_kind
from benchmarks.ledger.counter import missing, start

LEDGER = Path(__file__).resolve().parent / "ledger" / "ledger.json"
WORKER = "benchmarks.ledger.worker"


def counted(only: list[str], keep: Path | None) -> tuple[dict[str, str], Entries]:
    """The kind of build, and the doors by name."""
    entries: Entries = {}
    options = ["--only", *only] if only else []
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
        options.append("--keep")
    with nullcontext(str(keep)) if keep else TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        child = start(["-m", WORKER, str(place), *options], place)
        assert child.stdout is not None
        facts = json.loads(next(child.stdout, "{}"))
        for line in child.stdout:
            entry = json.loads(line)
            name = f"{entry['subject']}, D = {entry['features']}, {entry['door']}"
            entries[name] = entry
            progress(f"{len(entries)} counted: {name}")
            if len(entries) % 25 == 0:
                say(f"{len(entries)} counted, the last was {name}")
        if child.wait():
            raise RuntimeError(f"counting failed after {list(entries)[-1:]}, see above")
    return measured_with() | facts, entries


def measured_with() -> dict[str, str]:
    """Commit and versions that figures depend on."""
    valgrind = subprocess.run(["valgrind", "--version"], check=True, capture_output=True, text=True)
    return {
        "commit": commit(),
        "compiler": built_by(),
        "valgrind": valgrind.stdout.strip().removeprefix("valgrind-"),
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "machine": platform.machine(),
    }


def built_by() -> str:
    """The compiler that made the installed package, as its compiled modules say."""
    found = {
        match.decode()
        for path in Path(edgesvm.__file__).parent.rglob("*.so")
        for match in re.findall(rb"GCC: \([^)]*\) [\d.]+|clang version [\d.]+", path.read_bytes())
    }
    return ", ".join(sorted(found)) or "unknown"


def write(facts: dict[str, str], entries: Entries, only: list[str]) -> None:
    """The ledger, or the doors that were counted into it."""
    if only and LEDGER.exists():
        held = read()
        if differing := other_kind(held["measured"], facts):
            raise SystemExit("a part of the ledger was counted otherwise: " + "; ".join(differing))
        entries = held["entries"] | entries
    lines = ",\n".join(f" {json.dumps(k)}: {json.dumps(rounded(v))}" for k, v in entries.items())
    head = json.dumps(facts, indent=1)
    LEDGER.write_text(f'{{"measured": {head},\n"entries": {{\n{lines}\n}}}}\n')
    say(f"{len(entries)} doors in {LEDGER.name}, at {facts['commit']}")


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
    for what, doors in (("new", new), ("gone", gone)):
        for door in doors:
            print(f"{door}: {what}")
    print(
        f"{len(entries)} doors counted; since {held['measured']['commit']} "
        f"{len({m.door for m in found})} moved, {len(new)} new, {len(gone)} gone"
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
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="doors to count")
    parser.add_argument("--write", action="store_true", help="make the ledger anew")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep callgrind's dumps there")
    args = parser.parse_args()
    if why := missing():
        print(f"instructions: SKIPPED, {why}")
        return 2
    facts, entries = counted(args.only, args.keep)
    progress("")
    if not entries:
        print(f"no door's name has one of: {' '.join(args.only)}")
        return 2
    if args.write:
        write(facts, entries, args.only)
        return 0
    return check(facts, entries, args.only)


if __name__ == "__main__":
    sys.exit(main())
