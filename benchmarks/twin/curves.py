"""Figure 3 of Wang & Vucetic 2009: accuracy against the rows seen, B = 20, 100 and 500 twins, for
each of their sets; and IDSVM, which holds every row, on the first 2,000.

Rows, kernel and penalty are those of Table 3 (`twin.table`), and so are the random orders. A curve
begins at B rows, where the twins are the rows themselves: the paper's "Random". It is measured at
1, 2 and 5 times each power of ten, and at the end. Of its curves the paper prints the last values
only, in Table 3.

Each curve is kept as it is done; the same command goes on after an interruption.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.clock import since
from benchmarks.common.data import Split, published
from benchmarks.common.report import Report, Table, figures_of, publish
from benchmarks.common.scores import mean_deviation
from benchmarks.twin.data import QUICK, TWIN_TASKS, TwinTask
from benchmarks.twin.fits import Setting, run
from edgesvm import IncrementalDecrementalSVM

BUDGETS = (20, 100, 500)
MOST_HELD = 2_000  # rows of IDSVM
PAPER = published(__file__)
SETS = [task.name for task in TWIN_TASKS]
IDSVM = "IDSVM"
# line: colour, style
STYLES = {
    "B = 20": ("#86b6ef", "--"),
    "B = 100": ("#1f5fbf", "-"),
    "B = 500": ("#0b2f6b", "-"),
    IDSVM: ("#d9731a", ":"),
}
ABOUT = (
    "Accuracy in per cent on the rows of Table 3 to test on, mean and deviation over {orders} "
    "random orders. The paper's IDSVM was stopped after 3,000 s; ours learns {held:,} rows at "
    "most. Does not show: LIBSVM, other kernels."
)


class Curve(Setting):
    """Twins of one budget on one set."""

    def __init__(self, task: TwinTask, budget: int) -> None:
        super().__init__(task, "rbf", budget)
        self.title, self.first, self.most = f"B = {budget}", budget, None

    def paper(self) -> float:
        """The last value, from Table 3."""
        return float(PAPER["rbf"][str(self.budget)][SETS.index(self.task.name)])

    def paper_rows(self) -> int | None:
        """Where the paper stopped; None: at the end."""
        return None


class Exact(Curve):
    """IDSVM on as many rows as it has room for."""

    def __init__(self, task: TwinTask, held: int) -> None:
        Setting.__init__(self, task, "rbf", held, IDSVM)
        self.title, self.first, self.most = IDSVM, BUDGETS[0], held

    def learner(self) -> IncrementalDecrementalSVM:
        kernel = self.task.kernel(self.kernel)
        return IncrementalDecrementalSVM(max_vectors=self.budget, kernel=kernel, C=self.C)

    def paper(self) -> float:
        return float(PAPER["others"]["rbf"][IDSVM][SETS.index(self.task.name)])

    def paper_rows(self) -> int | None:
        return PAPER["others"]["rbf"]["IDSVM rows"][SETS.index(self.task.name)]


def curves_of(task: TwinTask, held: int) -> list[Curve]:
    return [*(Curve(task, budget) for budget in BUDGETS), Exact(task, held)]


def stops(first: int, last: int) -> list[int]:
    """`first`, then 1, 2 and 5 times each power of ten, and `last`."""
    between = {m * 10**k for k in range(8) for m in (1, 2, 5)}
    return sorted({min(first, last), last} | {n for n in between if first < n < last})


def follow(curve: Curve, split: Split) -> dict[str, Any]:
    """Learn the rows; rows, accuracy and seconds so far at each stop."""
    X, y, X_test, y_test = split
    learner = curve.learner()
    begin, seconds, points = 0, 0.0, []
    for end in stops(curve.first, min(len(X), curve.most or len(X))):
        start = process_time()
        learner.partial_fit(X[begin:end], y[begin:end], classes=[False, True])
        seconds += since(start)
        begin = end
        points.append((end, 100 * float((learner.predict(X_test) == y_test).mean()), seconds))
    return {
        "points": points,
        "accuracy": points[-1][1],
        "seconds": seconds,
        "bytes": learner.nbytes,
    }


class Found:
    """What was measured of a curve, by the rows seen."""

    def __init__(self, curve: Curve, cells: Cells, orders: int) -> None:
        self.curve, self.orders = curve, orders
        done = [cells[key] for key in map(curve.key, range(orders)) if key in cells]
        self.scores: dict[int, list[float]] = {}
        for result in done:
            for rows, accuracy, _ in result["points"]:
                self.scores.setdefault(int(rows), []).append(accuracy)

    def means(self) -> list[tuple[int, float]]:
        return [(rows, float(np.mean(scores))) for rows, scores in self.scores.items()]

    def at(self, rows: int) -> str:
        """A cell of the table."""
        return mean_deviation(self.scores[rows], self.orders) if rows in self.scores else ""

    @property
    def last(self) -> int:
        return max(self.scores)

    @property
    def gain(self) -> float:
        """Points from the first to the last."""
        return float(np.mean(self.scores[self.last]) - np.mean(self.scores[min(self.scores)]))


Sets = dict[str, list[Found]]


def ends(found: Sets) -> Table:
    """The last point of each curve beside the paper's."""
    header = ["data", "rows"]
    for title in STYLES:
        header += [f"{title} paper", "ours"]
    rows = []
    for name, lines in found.items():
        row = [name, f"{lines[0].last:,}"]
        for line in lines:
            paper = f"{line.curve.paper():.1f}" if name in SETS else "-"
            stopped = line.curve.paper_rows() if name in SETS else None
            row.append(paper + (f" at {stopped:,}" if stopped else ""))
            row.append(
                line.at(line.last) + ("" if line.last == lines[0].last else f" at {line.last:,}")
            )
        rows.append(row)
    return Table("The ends of the curves", header, rows, grown(found))


def grown(found: Sets) -> str:
    """Whether accuracy grew from the first point to the last, as the paper says of every curve."""
    said = []
    for k, title in enumerate(STYLES):
        down = [f"{n} {lines[k].gain:+.2f}" for n, lines in found.items() if lines[k].gain < 0]
        said.append(f"- {title}: {', '.join(down) or 'none'}")
    return "Curves that end below their first point (the paper: none):\n\n" + "\n".join(said)


def points(found: Sets) -> Table:
    """Every point."""
    rows = [
        [name, f"{n:,}", *(line.at(n) for line in lines)]
        for name, lines in found.items()
        for n in sorted({n for line in lines for n in line.scores})
    ]
    return Table("The curves", ["data", "rows seen", *STYLES], rows)


def draw(found: Sets, path: Path) -> None:
    """A panel a set; the paper's last values as crosses."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    across = min(3, len(found))
    down = -(-len(found) // across)
    size = (3.1 * across, 2.2 * down + 0.7)
    fig, grid = plt.subplots(down, across, figsize=size, squeeze=False)
    for axis, (name, lines) in zip(grid.flat, found.items(), strict=False):
        for line in lines:
            title = line.curve.title
            colour, style = STYLES[title]
            rows, means = zip(*line.means(), strict=True)
            axis.plot(rows, means, style, color=colour, label=title, linewidth=1.4)
            if name in SETS:
                at = line.curve.paper_rows() or lines[0].last
                mark = {"marker": "x", "markersize": 6, "color": colour}
                axis.plot([at], [line.curve.paper()], linestyle="", clip_on=False, **mark)
        axis.set_xscale("log")
        axis.set_title(name, fontsize=9, loc="left")
        axis.tick_params(labelsize=8)
        axis.grid(color="#e4e4e4", linewidth=0.6)
        axis.spines[["top", "right"]].set_visible(False)
    for axis in list(grid.flat)[len(found) :]:
        axis.set_visible(False)
    for axis in grid[-1]:
        axis.set_xlabel("rows seen", fontsize=9)
    for axis in grid[:, 0]:
        axis.set_ylabel("accuracy, %", fontsize=9)
    handles, labels = grid[0][0].get_legend_handles_labels()
    handles += plt.plot([], [], "x", color="#555555", markersize=6)
    labels += ["the paper's end"]
    fig.legend(handles, labels, loc="upper center", ncols=len(labels), fontsize=8.5, frameon=False)
    fig.tight_layout(rect=(0, 0, 1, 1 - 0.3 / fig.get_figheight()))
    fig.savefig(path, dpi=150)
    plt.close(fig)


def drawn(found: Sets, out: Path) -> list[tuple[str, str]]:
    """Caption and path, or nothing where matplotlib is not there."""
    if not found or find_spec("matplotlib") is None:
        return []
    path = figures_of(out) / "twin_curves.png"
    draw(found, path)
    caption = "Accuracy against the rows seen; crosses: where the paper's curves end"
    return [(caption, os.path.relpath(path, out))]


def main() -> None:
    parser = arguments(__doc__, orders=5)
    parser.add_argument("--sets", nargs="+", metavar="NAME", choices=SETS, default=SETS)
    parser.add_argument("--done", action="store_true", help="run nothing: report finished curves")
    args = parsed(parser)
    tasks = [task for task in TWIN_TASKS if task.name in args.sets]
    held, skipped = MOST_HELD, []
    if args.quick:
        tasks, args.orders, held = [QUICK], 2, 200
        skipped = ["the paper's sets: a quick run uses a generated board of 2,000 rows"]
    cells = Cells(args.cells / "twin_curves.jsonl", build_id())
    curves = [curve for task in tasks for curve in curves_of(task, held)]
    if not args.done:
        skipped += run(curves, cells, args.orders, jobs=1, measure=follow)
    by_set = {task.name: [c for c in curves if c.task is task] for task in tasks}
    found = {name: [Found(c, cells, args.orders) for c in of] for name, of in by_set.items()}
    found = {name: lines for name, lines in found.items() if all(line.scores for line in lines)}
    report = Report(
        "twin/curves",
        "Figure 3: accuracy of twin vector machines against the rows seen",
        [ends(found), points(found)],
        [ABOUT.format(orders=args.orders, held=held)],
        {name: {line.curve.title: line.scores for line in of} for name, of in found.items()},
        skipped,
        drawn(found, args.out),
    )
    publish(report, args.out)


if __name__ == "__main__":
    main()
