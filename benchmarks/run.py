"""Runs every bench_*.py and table*.py of this folder, one after the other, with a progress line
each.

Their reports go to stdout and to benchmarks/out; with --results they become benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from time import perf_counter

HERE = Path(__file__).resolve().parent
OUT = HERE / "out"
MODES = {"bench_decoder": [[], ["--damage"]]}  # argument lists, where one run does not show all
FOREWORD = """\
# Measured

Written by `python benchmarks/run.py --results`; each section says its command, versions and
machine. The machine had other work to do: believe the ratios within a run, not the times.
"""


def scripts(only: list[str]) -> list[Path]:
    """Benchmarks by name: bench_*.py, then table*.py."""
    found = sorted(HERE.glob("bench_*.py")) + sorted(HERE.glob("table*.py"))
    return [path for path in found if not only or any(word in path.stem for word in only)]


def run(script: Path, quick: bool) -> bool:
    """Run one, in all its modes; its report to stdout and to out/. Whether it went well."""
    report = OUT / f"{script.stem}.md"
    report.unlink(missing_ok=True)
    sections = []
    for mode in MODES.get(script.stem, [[]]):
        arguments = [*mode, *(["--quick"] if quick else [])]
        command = [sys.executable, str(script), *arguments]
        done = subprocess.run(
            command, cwd=HERE.parent, stdout=subprocess.PIPE, text=True, check=False
        )
        print(done.stdout, flush=True)
        if done.returncode:
            return False
        shown = " ".join(["python", f"benchmarks/{script.name}", *arguments])
        sections.append(f"`{shown}`\n\n```\n{done.stdout.strip()}\n```\n")
    if not report.exists():  # it was skipped, or writes no report of its own
        report.write_text("\n".join([f"## {script.stem}\n", *sections]))
    return True


def write_results(path: Path) -> None:
    """All reports in out/; of a benchmark that has none there, the section that stands already."""
    sections = sections_of(path.read_text()) if path.exists() else {}
    for script in scripts([]):
        report = OUT / f"{script.stem}.md"
        if report.exists():
            sections[script.stem] = report.read_text()
    present = [script.stem for script in scripts([]) if script.stem in sections]
    path.write_text("\n".join([FOREWORD, *(sections[stem] for stem in present)]))
    print(f"wrote {path}", file=sys.stderr)


def sections_of(results: str) -> dict[str, str]:
    """Sections of a RESULTS.md by the benchmark whose command they name."""
    found = {}
    for section in re.split(r"\n(?=## )", results)[1:]:
        command = re.search(r"`python benchmarks/(\w+)\.py", section)
        if command:
            found[command[1]] = section
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("only", nargs="*", help="run those whose name contains one of these words")
    parser.add_argument(
        "--quick", action="store_true", help="small and fast: shows that all of them run"
    )
    parser.add_argument(
        "--results", action="store_true", help="write RESULTS.md from all reports in out/"
    )
    args = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    chosen, failed = scripts(args.only), []
    for k, script in enumerate(chosen, start=1):
        print(f"[{k}/{len(chosen)}] {script.stem} ...", file=sys.stderr, flush=True)
        begin = perf_counter()
        if not run(script, args.quick):
            failed.append(script.stem)
        outcome = "FAILED" if script.stem in failed else "done"
        print(
            f"[{k}/{len(chosen)}] {script.stem} {outcome}, {perf_counter() - begin:.0f} s",
            file=sys.stderr,
            flush=True,
        )
    if args.results and not failed:
        write_results(HERE / "RESULTS.md")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
