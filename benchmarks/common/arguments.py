"""The command line that all studies share."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from benchmarks.common.progress import say
from benchmarks.common.report import OUT, RESULTS, commit

ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def arguments(
    doc: str | None,
    *,
    orders: int | None = None,
    rounds: int | None = None,
    seed: int | None = None,
) -> argparse.ArgumentParser:
    """A parser with --quick, --out, and --orders, --rounds and --seed where a default is given."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a few seconds, on generated data")
    parser.add_argument(
        "--out",
        type=Path,
        help="folder of the report (default benchmarks/results; with --quick, and where the"
        " sources differ from the commit, benchmarks/out)",
    )
    counts = {"orders": (orders, "random orders"), "rounds": (rounds, "timed rounds")}
    counts["seed"] = (seed, "seed of the random numbers")
    for name, (default, what) in counts.items():
        if default is not None:
            parser.add_argument(
                f"--{name}", type=int, default=default, help=f"{what} (default {default})"
            )
    return parser


def parsed(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The arguments, in a process whose BLAS runs one thread.

    `args.cells` is the folder where a long study keeps what it has finished; that of a quick run
    is its own, or a full run would take its cells for its own.
    """
    args = parser.parse_args()
    use_one_thread()
    args.out = args.out or default_out(args.quick)
    args.cells = args.out / "quick" if args.quick else OUT
    args.cells.mkdir(parents=True, exist_ok=True)
    return args


def default_out(quick: bool) -> Path:
    """Where a report goes: what nobody can measure again is no result."""
    if quick:
        return OUT
    if commit().endswith("-dirty"):
        say(f"the sources differ from the commit: the report goes to {OUT}")
        return OUT
    return RESULTS


def use_one_thread() -> None:
    """Restart with BLAS held to one thread: it reads these variables when NumPy is imported."""
    if any(os.environ.get(name) != "1" for name in ONE_THREAD):
        os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
