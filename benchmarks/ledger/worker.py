"""Count entry points in this process, below valgrind (`counter.start`); a line of JSON each."""

from __future__ import annotations

import argparse
import gc
import json
from importlib import import_module
from pathlib import Path

from benchmarks.ledger.counter import Counter
from benchmarks.ledger.emulated import Plugin
from benchmarks.ledger.entry_points import chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--of", required=True, help="module that has the entry points")
    parser.add_argument("--emulated", action="store_true", help="below QEMU, not valgrind")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--only", nargs="*", default=[])
    args = parser.parse_args()
    count = (Plugin if args.emulated else Counter)(args.folder, keep=args.keep)
    print(json.dumps({"vectors": count.vectors}), flush=True)
    gc.disable()
    for entry_point in chosen(import_module(args.of).entry_points(), args.only):
        counts = count.per_sample(entry_point.name, entry_point.calls, entry_point.n)
        print(json.dumps({"name": entry_point.name, **counts._asdict()}), flush=True)


if __name__ == "__main__":
    main()
