"""Count doors in this process, which `counter.start` put below valgrind; a line of JSON each."""

from __future__ import annotations

import argparse
import gc
import json
from pathlib import Path

from benchmarks.ledger.counter import Counter
from benchmarks.ledger.doors import doors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--only", nargs="*", default=[])
    args = parser.parse_args()
    count = Counter(args.folder, keep=args.keep)
    print(json.dumps({"vectors": count.vectors}), flush=True)
    gc.disable()
    for door in doors():
        if not args.only or any(word in door.name for word in args.only):
            counts = count.per_sample(door.name, door.calls, door.n)
            line = {"subject": door.subject, "features": door.n_features, "door": door.door}
            print(json.dumps(line | counts._asdict()), flush=True)


if __name__ == "__main__":
    main()
