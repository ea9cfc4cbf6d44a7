"""The long checks, one after the other.

    make conformance                             # all of them
    make conformance CONFORMANCE_ARGS="arm fuzz" # the steps whose name contains one of these words
    make conformance CONFORMANCE_ARGS="--size 10 simulation"  # ten times as many seeds

A step is run when what it checks has changed, or before a release. The output of each is in
build/conformance. Exit code 1 if a step failed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "conformance"
PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider -n 2"

BROKER_TESTS = (
    "tests/serve/test_broker.py tests/serve/test_output.py tests/serve/test_outputs_page.py"
    " tests/examples/test_home_assistant.py tests/examples/test_node_red.py"
)
# What indexes no array of a compiled module.
LEFT_TO_OTHERS = "--ignore=tests/export --ignore=tests/cli --ignore=tests/examples"


def steps(size: float) -> dict[str, str]:
    """Commands of the shell, by name, in their order; `size` scales those that draw."""
    rig = f"cd tests && {sys.executable} -m rig"
    return {
        "tests": "make test PYTEST_ARGS=--ignore=tests/export",
        "bounds": f"make test-bounds PYTEST_ARGS='{LEFT_TO_OTHERS}'",
        "long": f"{PYTEST} -m long --share {min(1, 0.1 * size)} tests --ignore=tests/export",
        "simulation": f"{rig} --seeds {int(500 * size)}",
        "broker": f"EDGESVM_BROKER=required EDGESVM_NODE_RED=required {PYTEST} {BROKER_TESTS}",
        "browser": "make browser",
        "boards": f"EDGESVM_BOARDS=required {PYTEST} --share {min(1, 0.25 * size)} tests/export"
        " tests/core/test_lanes_targets.py",
        "damaged snapshots in C": f"EDGESVM_FILES={int(2000 * size)} "
        f"{PYTEST} -m long tests/export/test_restore.py",
        "sanitize": "make sanitize PYTEST_ARGS='-n 2'",
        "threads": "make sanitize-threads PYTEST_ARGS='-n 2'",
        "fuzz": f"make fuzz FUZZ_SECONDS={int(20 * size)}",
        "Pythons": "make matrix",
        "instructions": "make bench-check",
        "arm": 'make arm ARM_ARGS="--needed"',
    }


def run(name: str, command: str) -> bool:
    """Run a step and say what came of it."""
    log = KEPT / f"{re.sub(r'[^a-z0-9]+', '-', name)}.log"
    began = time.monotonic()
    with log.open("w") as file:
        done = subprocess.run(command, shell=True, cwd=ROOT, stdout=file, stderr=file, check=False)
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    outcome = "FAILED" if done.returncode else "passed"
    print(f"  {outcome} after {minutes(began)}: {lines[-1][:100] if lines else ''}", flush=True)
    return done.returncode == 0


def minutes(since: float) -> str:
    return f"{(time.monotonic() - since) / 60:.1f} min"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make conformance", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("words", nargs="*", help="only the steps whose name contains one of these")
    parser.add_argument("--size", type=float, default=1.0, help="of what is drawn (default 1)")
    args = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    every, began = steps(args.size), time.monotonic()
    wanted = [n for n in every if not args.words or any(word in n for word in args.words)]
    failed = []
    for k, name in enumerate(wanted, start=1):
        print(f"[{k}/{len(wanted)}] {name}: {every[name]}", flush=True)
        failed += [] if run(name, every[name]) else [name]
    print(f"{len(wanted)} steps, {minutes(began)}; failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
