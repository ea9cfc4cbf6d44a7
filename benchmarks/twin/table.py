"""Tables 3, 4 and 5 of Wang & Vucetic 2009: their figures and ours side by side.

Table 3: the RBF kernel, B = 20 to 500 twins. Table 4: polynomial and linear kernels, B = 100.
Table 5: what each of the heuristics is worth, RBF, B = 100. One pass over each of several random
orders (the paper: 5), the paper's settings: delta = K/2 (0.37 for the boards), degree 3 (7 for the
boards), C times the sum of weights held at 100 B (B for Adult), attributes scaled to mean 0 and
deviation 1 by the training rows. Nothing is chosen.

Each cell is kept as it is done; the same command goes on after an interruption.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.data import Split, missing, published
from benchmarks.common.progress import say
from benchmarks.common.report import Report, Table, publish
from benchmarks.common.scores import mean_deviation
from benchmarks.twin.data import ADULT_OTHERWISE, QUICK, TWIN_TASKS, TwinTask
from edgesvm import TwinVectorMachine

BUDGETS = (20, 50, 100, 200, 500)
SETS = [task.name for task in TWIN_TASKS]
TASKS = {task.name: task for task in [*TWIN_TASKS, *ADULT_OTHERWISE]}
PAPER = published(__file__)
HEURISTICS: dict[str, dict[str, Any]] = {
    "default": {},
    "[-1 1]": {"m2": 1.0},
    "[-2 2]": {"m1": 2.0},
    "no rejection": {"rejection": False},
    "global": {"merge_side": "global"},
    "feature space": {"merge": "feature"},
}
KERNELS = {"polynomial": "poly", "linear": "linear"}
TITLES = {
    3: "Table 3: RBF kernel",
    4: "Table 4: polynomial and linear kernels, B = 100",
    5: "Table 5: the heuristics, RBF kernel, B = 100",
}
ABOUT = (
    "Accuracy in per cent, mean and deviation over {orders} random orders (fewer where the "
    "brackets say how many), with the paper's settings; nothing is chosen. Seconds are of the "
    "processor, of one `partial_fit` over the whole array. The KT residual is the worst of all "
    "orders, computed from its definition after the last row. The learner has "
    "`max_margin=B + 2`, room for every kernel row of the margin set; by default it has less and "
    "learns the same model, more slowly where the margin set is large."
)
LARGER = 10.0  # a second Table 3, with ten times the paper's penalty


class Setting:
    """One row and column of a table: a set, a kernel, a budget, and what differs from the
    defaults.
    """

    def __init__(
        self,
        task: TwinTask,
        kernel: str,
        budget: int,
        heuristic: str = "default",
        factor: float = 1.0,
    ) -> None:
        self.task, self.kernel, self.budget, self.heuristic = task, kernel, budget, heuristic
        self.factor = factor  # of the paper's penalty
        self.C = factor * task.C

    def key(self, seed: int) -> tuple:
        return (self.task.name, self.kernel, self.budget, self.heuristic, self.C, seed)

    def learner(self) -> TwinVectorMachine:
        return TwinVectorMachine(
            max_twins=self.budget,
            kernel=self.task.kernel(self.kernel),
            C=self.C,
            max_margin=self.budget + 2,  # as by default, in more bytes and less time
            **HEURISTICS[self.heuristic],
        )


def measure(setting: Setting, split: Split) -> dict[str, Any]:
    X, y, X_test, y_test = split
    learner = setting.learner()
    begin = process_time()  # the machine has other work to do
    learner.partial_fit(X, y, classes=[False, True])
    seconds = process_time() - begin
    hits = learner.predict(X_test) == y_test
    residual = float(learner.kt_residual())
    return {
        "accuracy": 100 * float(hits.mean()),
        "balanced": 50 * float(hits[y_test].mean() + hits[~y_test].mean()),
        "seconds": seconds,
        "bytes": learner.nbytes,
        "updates": learner.n_updates_,
        "kt_residual": residual,
        # Last, as it forgets what was learned.
        "bytes_default": learner.set_params(max_margin=None).plan(X.shape[1]).total,
    }


def wanted(args: argparse.Namespace) -> list[Setting]:
    if args.quick:
        return [Setting(QUICK, kernel, 20) for kernel in ("rbf", "poly")]
    settings = {}
    for task in TWIN_TASKS:
        if task.name not in args.sets:
            continue
        chosen = []
        if 3 in args.table:
            chosen += [Setting(task, "rbf", budget) for budget in args.budgets]
            chosen += [Setting(task, "rbf", b, factor=LARGER) for b in args.budgets if b <= 200]
        if 4 in args.table:
            chosen += [Setting(task, kernel, 100) for kernel in ("poly", "linear")]
        if 5 in args.table:
            chosen += [Setting(task, "rbf", 100, name) for name in HEURISTICS]
        if 3 in args.table and task.name == "Adult":
            chosen += [Setting(task, "rbf", b) for task in ADULT_OTHERWISE for b in args.budgets]
        settings.update({setting.key(0): setting for setting in chosen})
    return list(settings.values())


def run(settings: list[Setting], cells: Cells, args: argparse.Namespace) -> list[str]:
    """Fill in what is missing, set by set and order by order; what was left out, and why."""
    absent = without_data(settings)
    settings = [s for s in settings if s.task.name not in absent]
    n_left = sum(s.key(seed) not in cells for s in settings for seed in range(args.orders))
    begin = perf_counter()
    for n_done, (key, result) in enumerate(measured(settings, cells, args), start=1):
        cells[key] = result
        minutes = (perf_counter() - begin) / 60
        say(
            f"{n_done}/{n_left}, {minutes:.1f} min: {' '.join(map(str, key))}: "
            f"{result['accuracy']:.2f} %, {result['seconds']:.2f} s"
        )
    return [f"{name}: {why}" for name, why in absent.items()]


def without_data(settings: list[Setting]) -> dict[str, str]:
    """Why a set cannot be had, by its name."""
    absent = {}
    for task in {s.task.name: s.task for s in settings}.values():
        why = missing(task.file) if task.file else None
        if why is not None:
            absent[task.name] = why
    return absent


def measured(
    settings: list[Setting], cells: Cells, args: argparse.Namespace
) -> Iterator[tuple[tuple, dict[str, Any]]]:
    batches = [
        ([s for s in settings if s.task is task and s.key(seed) not in cells], seed)
        for seed in range(args.orders)
        for task in {s.task.name: s.task for s in settings}.values()
    ]
    batches = [batch for batch in batches if batch[0]]
    if args.jobs == 1:
        for batch in batches:
            yield from measure_batch(*batch)
        return
    jobs = [([(*s.key(seed)[:4], s.factor) for s in group], seed) for group, seed in batches]
    with ProcessPoolExecutor(args.jobs) as pool:
        for results in pool.map(in_a_worker, *zip(*jobs, strict=True)):
            yield from results


def measure_batch(group: list[Setting], seed: int) -> Iterator[tuple[tuple, dict[str, Any]]]:
    """All that is wanted of one order of one set, which is loaded once."""
    split = group[0].task.split(seed)
    for setting in group:
        yield setting.key(seed), measure(setting, split)


def in_a_worker(keys: list[tuple], seed: int) -> list[tuple[tuple, dict[str, Any]]]:
    return list(measure_batch([Setting(TASKS[key[0]], *key[1:]) for key in keys], seed))


class Column:
    """The paper's column and ours, over the sets that were run."""

    def __init__(
        self, title: str, paper: list[float], settings: list[Setting], cells: Cells, n: int
    ) -> None:
        self.title, self.n_orders = title, n
        self.paper = dict(zip(SETS, paper, strict=True))
        self.paper.update({task.name: self.paper["Adult"] for task in ADULT_OTHERWISE})
        self.results: dict[str, list[dict[str, Any]]] = {}
        for setting in settings:
            done = [cells[k] for k in map(setting.key, range(n)) if k in cells]
            if done:
                self.results[setting.task.name] = done

    def mean(self, name: str, what: str = "accuracy") -> float:
        return float(np.mean([result[what] for result in self.results[name]]))

    def gap(self, name: str) -> float:
        """Ours less theirs, in points."""
        return self.mean(name) - self.paper[name]

    def ours(self, name: str) -> str:
        if name not in self.results:
            return "-"
        scores = [result["accuracy"] for result in self.results[name]]
        if len(scores) == 1:
            return f"{scores[0]:.2f} (1)"
        return mean_deviation(scores, self.n_orders)

    def averages(self) -> tuple[float, float]:
        """Theirs and ours over the paper's sets that were run."""
        names = [name for name in SETS if name in self.results]
        return (
            float(np.mean([self.paper[name] for name in names])),
            float(np.mean([self.mean(name) for name in names])),
        )

    def seconds(self, name: str) -> float:
        return median(result["seconds"] for result in self.results[name])


def accuracies(title: str, columns: list[Column]) -> Table:
    """Theirs and ours for each set, the averages last, and where we are worse."""
    columns = [column for column in columns if column.results]
    names = [name for name in TASKS if any(name in c.results for c in columns)]
    header = ["data"] + [h for c in columns for h in (f"{c.title} paper", "ours")]
    rows = [
        [name, *(cell for c in columns for cell in (f"{c.paper[name]:.1f}", c.ours(name)))]
        for name in names
    ]
    averages = [f"{value:.2f}" for c in columns for value in c.averages()]
    return Table(title, header, [*rows, ["average", *averages]], worse(columns))


def worse(columns: list[Column]) -> str:
    lines = []
    for column in columns:
        gaps = {name: column.gap(name) for name in SETS if name in column.results}
        below = sorted((name for name in gaps if gaps[name] < 0), key=lambda name: gaps[name])
        said = ", ".join(f"{name} {gaps[name]:.2f}" for name in below) or "nowhere"
        theirs, ours = column.averages()
        lines.append(
            f"- {column.title}: worse than the paper: {said}; average {ours - theirs:+.2f}"
        )
    return "\n".join(lines)


def costs(title: str, columns: list[Column]) -> Table:
    """Seconds a pass, rows that moved the model, bytes, and the worst KT residual."""
    rows = []
    for name in TASKS:
        done = [c for c in columns if name in c.results]
        for column in done:
            worst = max(result["kt_residual"] for result in column.results[name])
            rows.append(
                [
                    name,
                    column.title,
                    f"{column.seconds(name):.2f}",
                    f"{column.mean(name, 'updates'):,.0f}",
                    f"{column.results[name][0]['bytes_default']:,}",
                    f"{column.results[name][0]['bytes']:,}",
                    f"{column.mean(name, 'balanced'):.1f}",
                    f"{worst:.0e}",
                ]
            )
    header = ["data", "column", "CPU s a pass", "updates", "bytes by default", "bytes here"]
    header += ["balanced %", "KT residual"]
    return Table(f"{title}: costs", header, rows)


def report(settings: list[Setting], cells: Cells, args: argparse.Namespace) -> Report:
    def column(title: str, paper: list[float], **like: Any) -> Column:
        like = {"factor": 1.0, **like}
        chosen = [s for s in settings if all(getattr(s, k) == v for k, v in like.items())]
        return Column(title, paper, chosen, cells, args.orders)

    usual = {"kernel": "rbf", "heuristic": "default"}
    by_budget = {b: PAPER["rbf"][str(b)] for b in args.budgets}
    columns = {
        3: [column(f"B={b}", paper, budget=b, **usual) for b, paper in by_budget.items()],
        4: [column(name, PAPER[name], kernel=kernel) for name, kernel in KERNELS.items()],
        5: [
            column(name, PAPER["heuristics"][name], kernel="rbf", budget=100, heuristic=name)
            for name in HEURISTICS
        ],
    }
    larger = [
        column(f"B={b}", paper, budget=b, factor=LARGER, **usual) for b, paper in by_budget.items()
    ]
    tables = []
    for number in args.table:
        tables.append(accuracies(TITLES[number], columns[number]))
        if number == 3 and any(c.results for c in larger):
            tables.append(accuracies("Table 3 with ten times the paper's penalty", larger))
        tables.append(costs(TITLES[number], columns[number]))
    figures: dict[str, Any] = {
        str(n): {c.title: {"paper": c.paper, "ours": c.results} for c in columns[n]}
        for n in args.table
    }
    figures["3, larger penalty"] = {c.title: c.results for c in larger}
    about = [ABOUT.format(orders=args.orders)]
    if len(cells.builds) > 1:
        counts = ", ".join(f"{n:,} of {build}" for build, n in cells.builds.items())
        about.append(f"Cells of several builds of the learner: {counts}.")
    title = "Tables 3 to 5: twin vector machines on real data"
    return Report("twin/table", title, tables, about, figures)


def main() -> None:
    parser = arguments(__doc__, orders=5)
    numbers = list(TITLES)
    parser.add_argument("--table", type=int, nargs="+", choices=numbers, default=numbers)
    budgets = list(BUDGETS)
    parser.add_argument("--budgets", type=int, nargs="+", choices=budgets, default=budgets)
    parser.add_argument("--sets", nargs="+", metavar="NAME", choices=SETS, default=SETS)
    parser.add_argument("--jobs", type=int, default=1, help="processes; one gives the times (1)")
    parser.add_argument("--done", action="store_true", help="run nothing: report finished cells")
    parser.add_argument("--any-build", action="store_true", help="cells of other builds too")
    args = parsed(parser)
    if args.quick:
        args.orders, args.table, args.budgets, args.jobs = 2, [3, 4], [20], 1
    build = build_id("learners/twin", "core")
    cells = Cells(args.cells / "twin_table.jsonl", build, any_build=args.any_build)
    settings = wanted(args)
    skipped = [] if args.done else run(settings, cells, args)
    found = report(settings, cells, args)
    if args.quick:
        skipped = ["the paper's sets: a quick run uses a generated board of 2,000 rows"]
    publish(replace(found, skipped=skipped), args.out)


if __name__ == "__main__":
    main()
