"""Run the studies one after the other, each in a process of its own:
`python -m benchmarks.run [--quick] [words]`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from benchmarks.common.progress import say
from benchmarks.common.report import ROOT

STUDIES = (
    "stream/table",
    "incremental/table",
    "enclosing/table",
    "randomized/table",
    "twin/table",
    "rivals/table",
    "rivals/marks",
    "rivals/speed",
    "regression/table",
    "novelty/table",
    "drift/forgetting",
    "link/whole",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="studies whose name contains one of these words")
    parser.add_argument("--quick", action="store_true", help="a few seconds each")
    parser.add_argument("--out", type=Path, help="folder of the reports")
    args = parser.parse_args()
    chosen = [s for s in STUDIES if not args.only or any(word in s for word in args.only)]
    options = ["--quick"] if args.quick else []
    options += ["--out", str(args.out.resolve())] if args.out else []
    failed = []
    for k, study in enumerate(chosen, start=1):
        say(f"[{k}/{len(chosen)}] {study}")
        command = [sys.executable, "-m", f"benchmarks.{study.replace('/', '.')}", *options]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            failed.append(study)
            say(f"{study} FAILED")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
