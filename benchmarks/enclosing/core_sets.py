"""The size of the core set: Algorithm 1 as Tsang, Kocsor & Kwok 2007 print it, one row at a time,
and in bulk, as `fit` does by default, beside the paper's support vectors (Table 4).

C = 1, half of beta, the paper's tolerance, as in the tables. Each cell is a process of its own and
is kept as it is done; the same command goes on after an interruption.
"""

from __future__ import annotations

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.report import Report, Table, publish
from benchmarks.enclosing.data import QUICK
from benchmarks.enclosing.figures import WIDTH
from benchmarks.enclosing.fits import Setting
from benchmarks.enclosing.results import Results, run
from benchmarks.enclosing.systems import EPSILONS
from benchmarks.enclosing.table import power, theirs

NAMES = ["satimage", "optdigits", "pendigits", "w3a", "letter", "ijcnn1", "web", "reuters"]
HOW = ("CVM literal", "CVM")


def settings(names: list[str], epsilons: list[float]) -> list[Setting]:
    return [
        Setting(name, how, epsilon, width=WIDTH)
        for epsilon in epsilons
        for name in names
        for how in HOW
    ]


def table(epsilon: float, names: list[str], results: Results) -> Table:
    header = ["data", "paper, SVs"]
    for how in ("literal", "bulk"):
        header += [f"{how}, SVs", "held", "%", "s"]
    rows = []
    for name in names:
        paper = theirs(name, "support", ("CVM", epsilon))
        row = [name, "-" if paper is None else f"{paper:,}"]
        for how in HOW:
            setting = Setting(name, how, epsilon, width=WIDTH)
            found, limit = results.get(setting), results.limit(setting)
            if found is None:
                row += [f"> {limit} s" if limit else "not run", "", "", ""]
                continue
            row += [f"{found['support']:,}", f"{found['core']:,}"]
            row += [f"{found['accuracy']:.2f}", f"{found['seconds']:.2f}"]
        rows.append(row)
    return Table(f"epsilon = {power(epsilon)}", header, rows)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sets", nargs="+", metavar="NAME", choices=NAMES, default=NAMES)
    parser.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--limit", type=int, default=120, help="seconds of a fit (default 120)")
    parser.add_argument("--done", action="store_true", help="run nothing: report finished cells")
    parser.add_argument("--any-build", action="store_true", help="cells of other builds too")
    args = parsed(parser)
    names, skipped = args.sets, []
    if args.quick:
        names, skipped = [QUICK], ["the paper's sets: a quick run uses generated data"]
    results = Results(args.cells, args.any_build)
    if not args.done:
        skipped += run(settings(names, args.epsilons), results, args.limit)
    about = [
        "SVs: rows with a coefficient in any pair of classes. held: vectors of all core sets, "
        "those without a coefficient too, summed over pairs. Seconds of the processor, of a fit. "
        "> N s: out of time.",
    ]
    title = "Core sets: one row at a time, as printed, and in bulk"
    tables = [table(epsilon, names, results) for epsilon in args.epsilons]
    report = Report("enclosing/core_sets", title, tables, about, results.as_list(), skipped)
    publish(report, args.out)


if __name__ == "__main__":
    main()
