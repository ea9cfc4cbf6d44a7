"""Tables 2, 3 and 4 of Wang & Vucetic 2009, the systems beside the twins: Forgetron and Random (an
SVM of 100 random rows) with B = 100, LIBSVM and IDSVM; the paper's figures and ours side by side.

Rows, kernels, penalties and random orders are those of `twin.table`. As in the paper, the Forgetron
has its own width of the RBF kernel, chosen on a held-out fifth of the training rows, and IDSVM is
stopped when its time is up (the paper: 3,000 s), or where 10,000 rows are held; where it stopped
stands beside its accuracy. LIBSVM is scikit-learn's SVC.

Each cell is a process of its own and is kept as it is done; the same command goes on after an
interruption. A cell that was out of time is run again only where --limit is larger than it was.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.data import missing, published
from benchmarks.common.progress import say
from benchmarks.common.report import Report, Table, publish
from benchmarks.common.scores import mean_deviation
from benchmarks.twin.data import TWIN_TASKS
from benchmarks.twin.rival_fits import BUDGET, MOST_HELD, QUICK_NAME, SYSTEMS, Rival, apart

LIMIT_S = 600
PAPER = published(__file__)
SETS = [task.name for task in TWIN_TASKS]
KERNELS = {"rbf": "rbf", "polynomial": "poly", "linear": "linear"}
TITLES = {
    "rbf": "Table 3: RBF kernel",
    "polynomial": "Table 4: polynomial kernel",
    "linear": "Table 4: linear kernel",
}
ABOUT = (
    "Accuracy in per cent, mean and deviation over {orders} random orders (brackets: how many); "
    "seconds of the processor, to learn. B = {budget} for Forgetron, Random and TVM. > N s: out of "
    "time after N seconds of the processor. IDSVM was stopped at {held:,} rows, or after {limits} "
    "s; the rows that it had learned stand beside its figures, as in the paper. Does not show: "
    "other penalties and scalings."
)


class Results:
    """Cells, and the cells of the tables."""

    def __init__(self, cells: Cells, orders: int) -> None:
        self.cells, self.orders = cells, orders

    def of(self, name: str, kernel: str, system: str) -> list[dict[str, Any]]:
        rivals = (Rival(name, KERNELS[kernel], system, seed) for seed in range(self.orders))
        return [self.cells[rival.key] for rival in rivals if rival.key in self.cells]

    def shown(self, name: str, kernel: str, system: str, what: str) -> str:
        found = self.of(name, kernel, system)
        done = [result for result in found if "limit" not in result]
        if not done:
            return f"> {found[0]['limit']} s" if found else "not run"
        values = [result[what] for result in done]
        rows = round(np.mean([result["rows"] for result in done]))
        stopped = system == "IDSVM" and any(r["rows"] < r["all_rows"] for r in done)
        at = f" at {rows:,}" if stopped else ""
        if what == "vectors":
            return f"{np.mean(values):,.0f}{at}"
        if what == "seconds":
            return f"{np.median(values):.2f}{at}"
        return mean_deviation(values, self.orders) + at


def columns_of(kernel: str) -> list[str]:
    return [name for name in SYSTEMS if name in PAPER["others"][kernel] or name == "TVM"]


def theirs(name: str, kernel: str, system: str) -> str:
    """The paper's accuracy."""
    if name not in SETS:
        return "-"
    k = SETS.index(name)
    if system == "TVM":
        column = PAPER["rbf"][str(BUDGET)] if kernel == "rbf" else PAPER[kernel]
        return f"{column[k]:.1f}"
    stopped = PAPER["others"][kernel]["IDSVM rows"][k] if system == "IDSVM" else None
    return f"{PAPER['others'][kernel][system][k]:.1f}" + (f" at {stopped:,}" if stopped else "")


def accuracies(kernel: str, names: list[str], results: Results) -> Table:
    systems = columns_of(kernel)
    header = ["data", *(h for system in systems for h in (f"{system} paper", "ours"))]
    rows = [
        [
            name,
            *(
                cell
                for system in systems
                for cell in (
                    theirs(name, kernel, system),
                    results.shown(name, kernel, system, "accuracy"),
                )
            ),
        ]
        for name in names
    ]
    return Table(TITLES[kernel], header, rows, averages(kernel, systems, names, results))


def averages(kernel: str, systems: list[str], names: list[str], results: Results) -> str:
    """Over the sets where ours was done, theirs and ours."""
    said = []
    for system in systems:
        ours = {
            name: np.mean([r["accuracy"] for r in found])
            for name in names
            if name in SETS
            and (found := [r for r in results.of(name, kernel, system) if "limit" not in r])
        }
        if ours:
            paper = np.mean([float(theirs(n, kernel, system).split(" ")[0]) for n in ours])
            mean = np.mean(list(ours.values()))
            said.append(f"{system} {paper:.1f} and {mean:.1f} ({len(ours)} sets)")
    return f"Average, the paper's and ours: {'; '.join(said)}." if said else ""


def costs(names: list[str], results: Results) -> Table:
    """The paper's Table 2."""
    systems = list(PAPER["seconds"])
    header = ["data"]
    header += [h for s in systems for h in (f"{s} paper s", "ours")]
    header += [h for s in systems for h in (f"{s} paper vectors", "ours")]
    rows = []
    for name in names:
        row = [name]
        for what in ("seconds", "vectors"):
            for system in systems:
                paper = PAPER[what][system][SETS.index(name)] if name in SETS else None
                long = "> 3,000" if name in SETS else "-"
                row.append(long if paper is None else f"{paper:,}")
                row.append(results.shown(name, "rbf", system, what))
        rows.append(row)
    return Table("Table 2: training time and vectors, RBF kernel", header, rows)


def wanted(names: list[str], kernels: list[str], systems: list[str], orders: int) -> list[Rival]:
    return [
        Rival(name, KERNELS[kernel], system, seed)
        for seed in range(orders)
        for name in names
        for kernel in kernels
        for system in columns_of(kernel)
        if system in systems
    ]


def run(rivals: list[Rival], cells: Cells, limit: int) -> None:
    """Fill in what is missing, or had less time."""
    missing = [r for r in rivals if r.key not in cells or is_short(r, cells, limit)]
    for n, rival in enumerate(missing, start=1):
        result = apart(rival, limit)
        if result is None:
            continue
        cells[rival.key] = {**result, "given": limit}
        told = f"{result['accuracy']:.2f} %" if "accuracy" in result else "out of time"
        say(f"{n}/{len(missing)}: {' '.join(map(str, rival.key))}: {told}")


def is_short(rival: Rival, cells: Cells, limit: int) -> bool:
    """Whether it was stopped by a smaller limit."""
    cell = cells[rival.key]
    out_of_time = "limit" in cell or cell["rows"] < min(cell["all_rows"], MOST_HELD)
    return out_of_time and rival.system != "Random" and cell["given"] < limit


def main() -> None:
    parser = arguments(__doc__, orders=5)
    parser.add_argument("--sets", nargs="+", metavar="NAME", choices=SETS, default=SETS)
    kernels = list(KERNELS)
    parser.add_argument("--kernels", nargs="+", choices=kernels, default=kernels)
    systems = list(SYSTEMS)
    parser.add_argument(
        "--systems", nargs="+", choices=systems, default=systems, help="fill in only these"
    )
    parser.add_argument("--limit", type=int, default=LIMIT_S, help="seconds of a fit (600)")
    parser.add_argument("--done", action="store_true", help="run nothing: report finished cells")
    parser.add_argument("--any-build", action="store_true", help="cells of other builds too")
    args = parsed(parser)
    skipped = [
        f"{task.name}: {why}"
        for task in TWIN_TASKS
        if task.name in args.sets and task.file and (why := missing(task.file))
    ]
    absent = [line.split(":")[0] for line in skipped]
    names = [name for name in args.sets if name not in absent]
    if args.quick:
        names, args.kernels, args.orders = [QUICK_NAME], ["rbf"], 1
        skipped = ["the paper's sets: a quick run uses a generated board of 2,000 rows"]
    build = build_id()
    cells = Cells(args.cells / "twin_rivals.jsonl", build, any_build=args.any_build)
    if not args.done:
        run(wanted(names, args.kernels, args.systems, args.orders), cells, args.limit)
    results = Results(cells, args.orders)
    tables = [costs(names, results)] if "rbf" in args.kernels else []
    tables += [accuracies(kernel, names, results) for kernel in args.kernels]
    limits = sorted({cells[key]["given"] for key in cells if key[2] == "IDSVM"})
    about = ABOUT.format(
        orders=args.orders,
        budget=BUDGET,
        held=MOST_HELD,
        limits=" or ".join(map(str, limits or [args.limit])),
    )
    if set(cells.builds) - {build}:
        shares = ", ".join(f"{n} of {name}" for name, n in cells.builds.items())
        about += f" Cells by build: {shares}."
    title = "Tables 2 to 4: the systems beside the twin vector machines"
    figures = [{"cell": key, "result": cells[key]} for key in cells]
    publish(Report("twin/rivals", title, tables, [about], figures, skipped), args.out)


if __name__ == "__main__":
    main()
