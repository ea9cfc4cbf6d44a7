"""Runs every bench_*.py and table*.py of this folder, one after the other, with a progress line
each.

Their reports go to stdout and to benchmarks/out; with --results they become benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from time import perf_counter

HERE = Path(__file__).resolve().parent
OUT = HERE / "out"
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
    """Run one; its report to stdout and to out/. Whether it went well."""
    report = OUT / f"{script.stem}.md"
    report.unlink(missing_ok=True)
    command = [sys.executable, str(script), *(["--quick"] if quick else [])]
    done = subprocess.run(command, cwd=HERE.parent, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, flush=True)
    if done.returncode == 0 and not report.exists():  # skipped, or writes no report of its own
        text = f"```\n{done.stdout.strip()}\n```"
        report.write_text(f"## {script.stem}\n\n`python benchmarks/{script.name}`\n\n{text}\n")
    return done.returncode == 0


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
        reports = [
            (OUT / f"{script.stem}.md").read_text()
            for script in scripts([])
            if (OUT / f"{script.stem}.md").exists()
        ]
        (HERE / "RESULTS.md").write_text("\n".join([FOREWORD, *reports]))
        print(f"wrote {HERE / 'RESULTS.md'}", file=sys.stderr)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
