"""Count doors in this process, which `counter.start` put below valgrind; a line of JSON each."""

from __future__ import annotations

import argparse
import gc
import json
from importlib import import_module
from itertools import islice
from pathlib import Path

from benchmarks.ledger.counter import Counter
from benchmarks.ledger.doors import chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("first", type=int, help="of the doors chosen")
    parser.add_argument("end", type=int)
    parser.add_argument("--of", required=True, help="module that has the doors")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--only", nargs="*", default=[])
    args = parser.parse_args()
    count = Counter(args.folder, keep=args.keep)
    print(json.dumps({"vectors": count.vectors}), flush=True)
    gc.disable()
    doors = chosen(import_module(args.of).doors(), args.only)
    for door in islice(doors, args.first, args.end):
        counts = count.per_sample(door.name, door.calls, door.n)
        line = {"subject": door.subject, "features": door.n_features, "door": door.door}
        print(json.dumps({"name": door.name, **line, **counts._asdict()}), flush=True)


if __name__ == "__main__":
    main()
