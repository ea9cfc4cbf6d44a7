"""What every entry point cost at another commit and what it costs now, in instructions a sample.

Both are ledgers as committed: `python -m benchmarks.instructions --write` made them. Those that
moved by 2 % or less are left out.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.report import Report, Table, publish
from benchmarks.instructions import read
from benchmarks.ledger.compare import Move, moves

LEDGER = "benchmarks/ledger/ledger.json"
FIRST = "ed956e6"  # has the first ledger that is whole


def committed(commit: str) -> dict[str, dict]:
    root = Path(__file__).parents[2]
    command = ["git", "-C", str(root), "show", f"{commit}:{LEDGER}"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def row(move: Move) -> list[str]:
    return [
        move.entry_point,
        f"{move.before:,.0f}",
        f"{move.now:,.0f}",
        f"{move.now / move.before:.2f}",
    ]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--commit", default=FIRST, help="whose ledger is before (%(default)s)")
    args = parsed(parser)
    now = read()
    try:
        before = committed(args.commit)
    except (OSError, subprocess.CalledProcessError):
        why = f"the ledger of {args.commit}: there is no such commit here"
        publish(Report("ledger/moved", "What moved", [], skipped=[why]), args.out)
        return
    found = [m for m in moves(before["entries"], now["entries"]) if m.what == "instructions"]
    found.sort(key=lambda move: move.now / move.before)
    fewer = sum(move.now < move.before for move in found)
    about = [
        (__doc__ or "").strip(),
        f"Before: sources at {before['measured']['commit']}; now: at {now['measured']['commit']}."
        f" Of {len(now['entries'])} entry points {fewer} take fewer and {len(found) - fewer} more.",
    ]
    table = Table("", ["entry point", "before", "now", "ratio"], [row(move) for move in found])
    figures = {move.entry_point: [move.before, move.now] for move in found}
    publish(Report("ledger/moved", "What moved", [table], about, figures), args.out)


if __name__ == "__main__":
    main()
