"""Table 1 of Krishnan, Bhattacharyya & Hariharan 2007: their figures and ours side by side.

twonorm, ringnorm and the checkerboard at 10^5 and 10^6 rows (RBF), and a9a (linear); 10,000 test
rows, a9a's own. epsilon = 0.2 and delta = 0.9, a sample of c = 2 times k rows. gamma and C are
chosen on 4,000 rows: of what is within half a point of the best on 4,000 others, the fewest support
vectors. The rows lie in a file and are read a chunk at a time. LIBSVM (scikit-learn's SVC, the same
gamma, C, tolerance and cache) gets ten minutes of the processor.

Each cell is a process of its own, whose peak memory is measured (VmHWM, less that of the imports),
and is kept in benchmarks/out/randomized/ as it ends; what is there is not run again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import left_out, missing, published
from benchmarks.common.report import Report, Table, publish
from benchmarks.randomized.fits import RUN, cell, parameters
from benchmarks.randomized.rows import QUICK, SIZES, n_rows, rows_of

PAPER = published(__file__)["sets"]
LINEAR = ("CCAT", "C11")  # benchmarks/randomized/linear.py
NAMES = [*(name for name in PAPER if name not in LINEAR), "a9a"]
COLUMNS = [
    "data",
    "rows",
    "paper's RandSVM %",
    "RandSVM %",
    "first sample %",
    "last sample %",
    "s",
    "peak MiB",
    "plan MiB",
    "k",
    "SVs",
    "passes",
    "violators",
    "stop",
    "LIBSVM %",
    "s",
    "peak MiB",
    "SVs",
]


def in_paper(name: str) -> str:
    """Accuracy and seconds of the paper's RandSVM."""
    if name not in PAPER:
        return ""
    theirs = PAPER[name]["RandSVM"]
    return f"{theirs['accuracy']:.2f} ({theirs['seconds']:,} s)"


def row(name: str, n_rows: int, results: dict[tuple[str, str], dict[str, Any]]) -> list[str]:
    ours, svc = results.get(("rand", name)), results.get(("svc", name))
    cells = [name, f"{n_rows:,}", in_paper(name)]
    if ours is None:
        cells += ["not run"] * 11
    else:
        cells += [
            f"{ours['accuracy']:.2f}",
            f"{ours['rounds'][0]['accuracy']:.2f}",
            f"{ours['rounds'][-1]['accuracy']:.2f}",
            f"{ours['s']:.0f}",
            f"{ours['peak_mib']:.0f}",
            f"{ours['plan_mib']:.0f}",
            f"{ours['k']:,}",
            f"{ours['support']:,}",
            str(ours["passes"]),
            f"{ours['violators']:,}",
            ours["stop"],
        ]
    if svc is None:
        cells += ["not run"] * 4
    elif "limit" in svc:
        cells += [f"> {svc['limit']} s"] * 4
    else:
        cells += [
            f"{svc['accuracy']:.2f}",
            f"{svc['s']:.0f}",
            f"{svc['peak_mib']:.0f}",
            f"{svc['support']:,}",
        ]
    return cells


def against_paper(results: dict[tuple[str, str], dict[str, Any]]) -> str:
    """Which rows are more than a point below the paper's."""
    below = [
        name
        for (how, name), r in results.items()
        if how == "rand"
        and name in PAPER
        and r["accuracy"] < PAPER[name]["RandSVM"]["accuracy"] - 1
    ]
    return f"More than a point below the paper's RandSVM: {', '.join(below) or 'none'}."


def peaks(results: dict[tuple[str, str], dict[str, Any]]) -> str:
    """That memory is the plan's, whatever the number of rows."""
    ours = [r for (how, _), r in results.items() if how == "rand"]
    beside = max((r["peak_mib"] - r["plan_mib"] for r in ours), default=0.0)
    return f"No peak is more than {beside:.1f} MiB above its plan."


def report(
    folder: Path, results: dict[tuple[str, str], dict[str, Any]], skipped: list[str]
) -> Report:
    names = [name for name in [*NAMES, QUICK] if any(name == n for _, n in results)]
    chosen = "; ".join(
        f"{name} gamma {r['gamma']:g}, C {r['C']:g}"
        for (how, name), r in results.items()
        if how == "rand"
    )
    about = [
        f"Parameters: {chosen}.",
        "First sample: reservoir sampling alone. Last sample: the paper's algorithm, which returns "
        "its last solution; RandSVM returns that of the least primal objective. Seconds are of the "
        "processor, with reading the file; peaks are of the process, less its imports.",
        "LIBSVM is not run on more than 10^5 rows: the paper's took a day and more. Does not show: "
        "other c, other epsilon, several seeds.",
    ]
    note = " ".join([against_paper(results), peaks(results)]) if names else ""
    rows = [row(name, n_rows(folder, name), results) for name in names]
    figures = {f"{how} {name}": r for (how, name), r in results.items()}
    table = Table("", COLUMNS, rows, note)
    return Report("randomized/table", "Table 1: RandSVM", [table], about, figures, skipped)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sets", nargs="+", metavar="NAME", choices=NAMES, default=NAMES)
    parser.add_argument("--how", nargs="+", choices=list(RUN), default=list(RUN))
    args = parsed(parser)
    folder = args.cells / "randomized"
    folder.mkdir(exist_ok=True)
    skipped = left_out(["a9a"] if "a9a" in args.sets else [], args.quick)
    if args.quick:
        args.sets = [QUICK]
    results: dict[tuple[str, str], dict[str, Any]] = {}
    for name in args.sets:
        if name == "a9a" and missing(name):
            continue
        rows_of(folder, name)
        parameters(folder, name)
        for how in args.how:
            if how == "svc" and n_rows(folder, name) > SIZES["1"]:
                continue
            result = cell(folder, how, name)
            if result is not None:
                results[how, name] = result
    publish(report(folder, results, skipped), args.out)


if __name__ == "__main__":
    main()
