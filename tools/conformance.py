"""The long checks, one after the other. What passed is not run again until what it reads changes.

    make conformance                             # hours; goes on where it stopped
    make conformance CONFORMANCE_ARGS=--list     # what is left, and how long it took last time
    make conformance CONFORMANCE_ARGS="arm fuzz" # the steps whose name contains one of these words

Outcomes are kept in docs/release-checks.md, which goes from machine to machine with the sources,
the output of each step in build/conformance. Exit code 1 if a step failed.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from mutants.areas import AREAS, area_of
from mutants.by_hand import mutants_by_hand

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "conformance"
TABLE = ROOT / "docs" / "release-checks.md"
BUILT = "edgesvm", "firmware_sim", "examples", "meson.build", "pyproject.toml"
SOURCES = (*BUILT, "tests", "tools", "Makefile")
RUN_STUDIES = "tests", "tests, bounds checked", "long, others"
# What each step reads whose tests are named: by its command, or here, beside the Makefile.
SHARED = (*BUILT, "tests", ":(exclude)tests/**test_*.py")
RIG = ("tests/rig",)
ON_ARM = "tools/arm", "tests/core", "tests/persist", "tests/learners", "tests/test_readme.py"
READ = {
    "every fault, unpaced": RIG,
    "every fault, 115,200 baud": RIG,
    "simulated power cuts and faults": RIG,
    "browser": ("tests/page",),
    "mcu": ("tests/export", "tests/examples"),
    "sanitize-threads": ("tests/conformance/test_threads.py",),
    "fuzz": ("tests/fuzz",),
    "bench-check": ("benchmarks/*.py",),
    "arm, arm64": ON_ARM,
    "arm, armhf": ON_ARM,
}
EVERY_S = 60.0  # between two lines about a step
PYTHON = sys.executable
LONG = f"{PYTHON} -m pytest -q -m long -p no:cacheprovider -n auto --maxprocesses 4"
ARM = "arm64", "armhf"
# Suites with many long tests: a step each. The rest is one step.
SUITES = (
    *("allocations", "inputs", "labels", "memory", "peak_memory", "raw", "refusals", "scratch"),
    *("sklearn", "snapshots", "sparse", "stream", "targets", "threads", "twin", "weights"),
)
APART = (*(f"tests/conformance/test_{suite}.py" for suite in SUITES), "tests/learners")

INTRODUCTION = """\
# Release checks

The last outcome of each step of `make conformance`, which reads and writes this page. A step that
passed is not run again on the same sources, named by their hash: of a step that runs some tests
these, what they share and both packages; of mutants their area and its tests; of any other
everything, the studies too where it runs them. Steps that are missing here have not been run.

| step | result | minutes | date | commit | sources | last line |
|---|---|--:|---|---|---|---|
"""


class Outcome(NamedTuple):
    """A row of the table."""

    step: str
    result: str  # passed or FAILED
    minutes: str
    date: str
    commit: str
    sources: str
    said: str

    @property
    def passed(self) -> bool:
        return self.result == "passed"


def steps(samples: str) -> dict[str, str]:
    """Commands of the shell, by name, in their order."""
    rest = " ".join(f"--ignore={path}" for path in (*APART, "tests/export"))
    rig = f"cd tests && {PYTHON} -m rig"
    mutants = f"cd tools && {PYTHON} -m mutants --per-area 3"  # only those by hand decide
    return {
        "tests": "make test",
        "tests, bounds checked": "make test-bounds",
        "every fault, unpaced": f"{rig} --needed --samples {samples}",
        "every fault, 115,200 baud": f"{rig} --needed --samples 10k --baud 115200",
        "simulated power cuts and faults": f"{rig} simulate --seeds 10000",
        **{f"long, {path}": f"{LONG} {path}" for path in APART},
        "long, others": f"{LONG} tests {rest}",
        "broker": "EDGESVM_BROKER=required EDGESVM_NODE_RED=required "
        f"{PYTHON} -m pytest -q tests/outputs/test_broker.py tests/cli/test_out.py "
        "tests/examples/test_home_assistant.py tests/examples/test_node_red.py",
        "browser": "make browser",
        "mcu": "make mcu",
        "damaged snapshots in C": f"{PYTHON} tests/export/attack.py --files 100k "
        "--log build/attack.jsonl",
        "sanitize": "make sanitize",
        "sanitize-threads": "make sanitize-threads",
        "fuzz": "make fuzz",
        "bench-check": "make bench-check",
        **{f"arm, {name}": f'make arm ARM_ARGS="--needed --only {name}"' for name in ARM},
        **{f"mutants, {area.name}": f"{mutants} --area {area.name}" for area in AREAS},
    }


def read_by(name: str, command: str) -> list[tuple[str, ...]]:
    """Paths, as git takes them, of what the outcome of a step depends on."""
    for area in AREAS:
        if name == f"mutants, {area.name}":
            tests = [word for run in area.runs() for word in run if word.startswith("tests/")]
            return [("tools/mutants", ":(exclude)*/by_hand.py", *area.files, *tests)]
    if name in READ:
        return [SHARED, ("Makefile", *READ[name])]
    if named := tuple(word for word in command.split() if word.startswith("tests/")):
        return [SHARED, named]
    return [(*SOURCES, "benchmarks/*.py") if name in RUN_STUDIES else SOURCES]


def by_hand(name: str) -> list[str]:
    """The mutants written by hand that a step tries."""
    return [str(m) for m in mutants_by_hand() if name == f"mutants, {area_of(m.file).name}"]


def sources(name: str, command: str) -> str:
    """What the outcome of a step belongs to: its command and the sources, committed or not."""
    digest = hashlib.sha256("".join([command.replace(PYTHON, ""), *by_hand(name)]).encode())
    for paths in read_by(name, command):
        for told in (["ls-files", "-s"], ["diff", "HEAD"]):
            log = ["git", *told, "--", *paths]
            digest.update(subprocess.run(log, cwd=ROOT, capture_output=True, check=True).stdout)
    return digest.hexdigest()[:12]


def commit() -> str:
    log = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(log, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def outcomes() -> dict[str, Outcome]:
    """The last outcome of each step, as the table has it."""
    text = TABLE.read_text() if TABLE.exists() else ""
    _, *rows = [line for line in text.splitlines() if line.startswith("| ")] or [""]  # the head
    read = (Outcome(*row.removeprefix("| ").removesuffix(" |").split(" | ")) for row in rows)
    return {one.step: one for one in read}


def keep(outcome: Outcome, names: list[str]) -> None:
    """Put it into the table, whose rows are in the order of these steps."""
    known = outcomes() | {outcome.step: outcome}
    rows = (f"| {' | '.join(known[name])} |\n" for name in names if name in known)
    TABLE.write_text(INTRODUCTION + "".join(rows))


def length(seconds: float) -> str:
    minutes = seconds / 60
    return f"{minutes / 60:.1f} h" if minutes >= 60 else f"{minutes:.1f} min"


def run(name: str, command: str) -> Outcome:
    """Run a step; what came of it. Its output is in a file, for some steps take hours."""
    log = KEPT / f"{re.sub(r'[^a-z0-9]+', '-', name.lower())}.log"
    began, here = time.monotonic(), sources(name, command)
    with (
        log.open("w") as file,
        subprocess.Popen(
            command, shell=True, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT
        ) as process,
    ):
        while process.poll() is None:
            try:
                process.wait(EVERY_S)
            except subprocess.TimeoutExpired:
                print(f"  {name}, {length(time.monotonic() - began)}; {log}", flush=True)
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    lines = [line for line in lines if line and not line.startswith(("make", "{"))]  # for people
    return Outcome(
        name,
        "passed" if process.returncode == 0 else "FAILED",
        f"{(time.monotonic() - began) / 60:.1f}",
        time.strftime("%Y-%m-%d"),
        commit(),
        here,
        lines[-1][:100].replace("|", "/").strip("= ") if lines else "",
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make conformance", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("words", nargs="*", help="only the steps whose name contains one of these")
    parser.add_argument("--list", action="store_true", help="run nothing: say what is left")
    parser.add_argument("--again", action="store_true", help="also what has passed")
    parser.add_argument("--samples", default="1M", help="of the unpaced run (default 1M)")
    args = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    known, every = outcomes(), steps(args.samples)
    wanted = [n for n in every if not args.words or any(word in n for word in args.words)]
    done = {n for n in wanted if n in known and known[n].passed}
    done = {n for n in done if known[n].sources == sources(n, every[n])}
    left = [n for n in wanted if args.again or n not in done]
    minutes = [float(known[name].minutes) for name in left if name in known]
    print(
        f"{len(left)} of {len(wanted)} steps are left; {len(minutes)} of them took "
        f"{length(60 * sum(minutes))} the last time"
    )
    failed = []
    for k, name in enumerate(left, start=1):
        if args.list:
            before = f", {length(60 * float(known[name].minutes))}" if name in known else ""
            print(f"  {name}{before}: {every[name]}")
            continue
        print(f"[{k}/{len(left)}] {name} ...", flush=True)
        outcome = run(name, every[name])
        keep(outcome, list(every))
        failed += [] if outcome.passed else [name]
        print(f"  {outcome.result}: {outcome.said}", flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}; output in {KEPT}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
