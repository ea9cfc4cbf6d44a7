"""Every learner, and what a user would take instead, on every data set from 1 to 64 KiB: right
while labels come (predict, then learn), and once they stop (the model stands still). Learners of
many classes also on the developers' 19 sets, with all classes.

Every learner has its defaults, and is as large as fits. Raw rows are scaled by what was seen so
far. `--learners` and `--sets` take a part of it; finished cells are kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.data import QUICK, Task, missing
from benchmarks.common.every import EVERY, FILES, absent
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, figures_of, publish, stem_of
from benchmarks.rivals import contestants
from benchmarks.rivals.contestants import OF_MANY, Found, OutOfTime, allocated
from benchmarks.rivals.streams import (
    IN_TIME,
    MOST_DRAWN,
    MOST_TESTED,
    THREE_WAVES,
    of_developers,
    stream,
)
from edgesvm.cli.learner_options import KINDS
from edgesvm.errors import MemoryBudgetError

BUDGETS = {f"{k} KiB": k << 10 for k in (1, 2, 4, 8, 16, 64)}
NYSTROEM = "Nyström + SGD"
UNBOUND = "no limit"  # of bytes
LIMIT_S = 120.0
MAIN = {"byte": "#1a7f37", "fourier": "#c1440e", "auto": "#1f5fa8"}  # colour in the picture
Run = Callable[[Any, Any, Any, float], Found]


class Both:
    """Cells of our learners, which count for one build, and of the others, by the same keys."""

    def __init__(self, ours: Cells, others: Cells) -> None:
        self.ours, self.others = ours, others

    def of(self, key: tuple) -> Cells:
        return self.ours if key[-1] in KINDS else self.others

    def __contains__(self, key: tuple) -> bool:
        return key in self.of(key)

    def __getitem__(self, key: tuple) -> dict[str, Any]:
        return self.of(key)[key]

    def __setitem__(self, key: tuple, result: dict[str, Any]) -> None:
        self.of(key)[key] = result

    def __iter__(self) -> Iterator[tuple]:
        return chain(self.ours, self.others)


def others() -> dict[str, Run]:
    """Those that take no budget."""
    runs: dict[str, Run] = {"SGD, averaged": contestants.sgd, "SVC, refitted": contestants.svc}
    try:
        made = contestants.of_river()
    except ImportError:
        return runs
    return runs | {f"river {name}": partial(contestants.river, make) for name, make in made.items()}


def outcome(run: Callable[[], Found], y: np.ndarray, y_test: np.ndarray) -> dict[str, Any]:
    try:
        found = run()
    except (MemoryBudgetError, MemoryError):
        return {"why": "does not fit"}
    except OutOfTime:
        return {"why": f"> {LIMIT_S:g} s"}
    return {
        "before": 100 * float((found.before == y[1:]).mean()),
        "after": 100 * float((found.after == y_test).mean()),
        "bytes": int(found.n_bytes),
        "us": 1e6 * found.seconds / len(y),
    }


def baselines(y: np.ndarray, y_test: np.ndarray) -> dict[str, dict[str, Any]]:
    labels, counts = np.unique(y, return_counts=True)
    return {
        "larger class": {
            "before": 100 * float(counts.max() / len(y)),
            "after": 100 * float((y_test == labels[counts.argmax()]).mean()),
        },
        "label before": {
            "before": 100 * float((y[1:] == y[:-1]).mean()),
            "after": 100 * float((y_test == y[-1]).mean()),
        },
    }


def measure(cells: Both, task: Task, order: int, rows: int, names: list[str]) -> None:
    """Fill in what is missing of one order."""
    wanted = [(b, n) for n in names for b in (BUDGETS if has_budget(n) else [UNBOUND])]
    if all((task.name, order, rows, b, n) in cells for b, n in wanted):
        return
    X, y, X_test, y_test = stream(task, order, rows)
    for name, found in baselines(y, y_test).items():
        if (task.name, order, rows, UNBOUND, name) not in cells:
            cells[task.name, order, rows, UNBOUND, name] = found
    of_others = others()
    same: dict[str, dict[str, Any]] = {}  # what another budget has no more room for
    for budget, name in wanted:
        key = (task.name, order, rows, budget, name)
        if key in cells:
            continue
        progress(f"{task.name}, order {order}: {name}, {budget}")
        if name in KINDS:
            cells[key] = of_ours(name, BUDGETS[budget], (X, y, X_test, y_test), same)
        elif name == NYSTROEM:
            run = partial(contestants.nystroem, BUDGETS[budget], X, y, X_test, LIMIT_S)
            cells[key] = outcome(run, y, y_test)
        else:
            run = partial(of_others[name], X, y, X_test, LIMIT_S)
            cells[key] = outcome(run, y, y_test)


def of_ours(name: str, budget: int, data: Any, same: dict[str, Any]) -> dict[str, Any]:
    X, y, X_test, y_test = data
    labels = np.unique(y)
    classes = [False, True] if y.dtype == bool else None  # of many none is said in advance
    try:
        learner = allocated(name, budget, X.shape[1], n_classes=len(labels), classes=classes)
    except MemoryBudgetError:
        return {"why": "does not fit"}
    described = repr(learner)
    if described not in same:
        run = partial(contestants.ours, learner, X, y, X_test, LIMIT_S)
        same[described] = outcome(run, y, y_test)
    return same[described]


def has_budget(name: str) -> bool:
    return name in KINDS or name == NYSTROEM


# -- tables ----------------------------------------------------------------------------------------


class Figures:
    """Means over the orders of what was measured."""

    def __init__(self, cells: Both, tasks: list[Task], orders: int, rows: int) -> None:
        self.cells, self.tasks, self.orders, self.rows = cells, tasks, orders, rows

    def of(self, task: Task, budget: str, name: str, what: str) -> float:
        """NaN where it does not fit, or was out of time."""
        place = budget if has_budget(name) else UNBOUND
        found = [
            self.cells[task.name, order, self.rows, place, name].get(what, np.nan)
            for order in range(self.orders)
        ]
        return float(np.mean(found))

    def why(self, task: Task, budget: str, name: str) -> str:
        place = budget if has_budget(name) else UNBOUND
        return self.cells[task.name, 0, self.rows, place, name].get("why", "")

    def cell(self, task: Task, budget: str, name: str) -> str:
        before, after = (self.of(task, budget, name, what) for what in ("before", "after"))
        return self.why(task, budget, name) or f"{before:.1f} / {after:.1f}"

    def all(self, budget: str, names: list[str], what: str) -> np.ndarray:
        """(tasks, names)"""
        return np.array([[self.of(t, budget, n, what) for n in names] for t in self.tasks])

    def each_set(self, budget: str, names: list[str]) -> Table:
        rows = [[t.name, *(self.cell(t, budget, n) for n in names)] for t in self.tasks]
        title = f"{budget}: % right while labels come / once they stop"
        return Table(title, ["data", *names], rows)

    def summary(self, budget: str, names: list[str]) -> Table:
        """Medians, means, ranks, and how far behind the best of them at worst."""
        columns = ["learner", "median", "mean", "rank", "behind the best, most"]
        columns = [columns[0], *(f"{c}, {w}" for w in ("before", "after") for c in columns[1:])]
        columns += ["bytes, median", "µs a sample, median"]
        rows: list[list[str]] = [[name] for name in names]
        for what in ("before", "after"):
            scores = self.all(budget, names, what)
            filled = np.where(np.isnan(scores), -1.0, scores)  # one that fails is last
            ranks = (filled[:, :, None] < filled[:, None, :]).sum(axis=2).mean(axis=0) + 1
            behind = np.nanmax(scores, axis=1, keepdims=True) - scores
            for k in range(len(names)):
                rows[k] += [shown(np.nanmedian, scores[:, k]), shown(np.nanmean, scores[:, k])]
                rows[k] += [f"{ranks[k]:.1f}", shown(np.nanmax, behind[:, k])]
        for k, name in enumerate(names):
            rows[k] += [
                shown(np.nanmedian, self.all(budget, [name], "bytes"), ",.0f"),
                shown(np.nanmedian, self.all(budget, [name], "us")),
            ]
        n_missing = np.isnan(self.all(budget, names, "after")).sum(axis=0)
        missing = "; ".join(f"{n} {k}" for n, k in zip(names, n_missing, strict=True) if k)
        note = f"Sets without a figure: {missing or 'none'}. Medians and means are of the others."
        return Table(f"{budget}: all {len(self.tasks)} sets", columns, rows, note)

    def means(self, names: list[str], title: str) -> Table:
        """Two rows for each learner: all sets that it fits, and those that all of them fit."""
        body: list[list[str]] = []
        right = np.array(
            [[self.all(b, names, what) for b in BUDGETS] for what in ("before", "after")]
        )  # (2, budgets, tasks, names)
        everywhere = ~np.isnan(right).any(axis=(0, 3))  # (budgets, tasks)
        for which in ("that it fits", "that all fit"):
            for k, name in enumerate(names):
                shares = right[..., k]
                if which == "that all fit":
                    shares = np.where(everywhere, shares, np.nan)
                counts = (~np.isnan(shares[1])).sum(axis=1)
                means = [
                    f"{shown(np.nanmean, shares[0, j])} / {shown(np.nanmean, shares[1, j])} ({n})"
                    for j, n in enumerate(counts)
                ]
                body.append([which, name, *means])
        note = "In brackets: the number of sets that the mean is of."
        return Table(title, ["sets", "learner", *BUDGETS], body, note)


def picture(figures: Figures, names: list[str], path: Path) -> None:
    """Accuracy once labels stop against bytes, medians over the sets on which FourierSVM and Auto
    have a figure at every budget: a line for a learner of ours, a point for one without a budget.
    """
    from matplotlib import pyplot as plt

    wanted = [[figures.all(b, [n], "after")[:, 0] for b in BUDGETS] for n in MAIN if n in names]
    there = ~np.isnan(np.reshape(wanted, (-1, len(figures.tasks)))).any(axis=0)
    figure, axes = plt.subplots(figsize=(10, 6), layout="constrained")
    ends: dict[tuple[float, float], list[str]] = {}
    for name in names:
        points = []
        for budget in BUDGETS if has_budget(name) else list(BUDGETS)[:1]:
            right, n_bytes = (figures.all(budget, [name], w)[there, 0] for w in ("after", "bytes"))
            if len(right) and not np.isnan(right).any():
                points.append((float(np.median(n_bytes)), float(np.median(right))))
        if not points:
            continue
        look = "#8aa6c1" if name in KINDS else "#777777"
        axes.plot(
            *zip(*points, strict=True),
            marker="o" if name in KINDS else "s",
            color=MAIN.get(name, look),
            lw=2.2 if name in MAIN else 1.0,
            ms=4,
        )
        near = [at for at in ends if abs(at[1] - points[-1][1]) < 0.6 and at[0] / 2 < points[-1][0]]
        near = [at for at in near if points[-1][0] < 2 * at[0]]
        ends.setdefault(near[0] if near else points[-1], []).append(name)
    for at, ending in ends.items():
        text = ", ".join(ending)
        axes.annotate(text, at, textcoords="offset points", xytext=(6, -3), fontsize=7)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("bytes")
    axes.set_ylabel(f"% right once labels stop, median of {there.sum()} sets")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def shown(f: Callable[[np.ndarray], float], values: np.ndarray, form: str = ".1f") -> str:
    """What `f` makes of the values there are."""
    return "-" if np.isnan(values).all() else format(f(values), form)


def main(study: str = "rivals/table", only: list[str] | None = None) -> None:
    parser = arguments(__doc__, orders=3)
    parser.add_argument("--rows", type=int, default=5000, help="most rows to learn (default 5000)")
    parser.add_argument("--learners", nargs="+", help="only these")
    parser.add_argument("--sets", nargs="+", help="only these")
    args = parsed(parser)
    tasks = [task for task in EVERY if task.name not in FILES or not missing(task.name)]
    many, names = of_developers(), [*KINDS, NYSTROEM, *others()]
    if args.quick:
        tasks, many, args.rows = [QUICK], [THREE_WAVES], 200
    if args.sets:
        tasks = [task for task in tasks if task.name in args.sets]
        many = [task for task in many if task.name.split(",")[0] in args.sets]
    wanted = args.learners or only or names
    names = [name for name in names if name in wanted]
    names_of_many = [name for name in OF_MANY if name in names]
    kept = [args.cells / f"rivals_table.{whose}.jsonl" for whose in ("ours", "others")]
    if args.quick:
        for path in kept:
            path.unlink(missing_ok=True)
    build = build_id()
    cells = Both(Cells(kept[0], build), Cells(kept[1], build=""))
    for order in range(args.orders):
        for task in many:
            measure(cells, task, order, MOST_DRAWN, names_of_many)
        for task in tasks:
            measure(cells, task, order, args.rows, names)
    figures = Figures(cells, tasks, args.orders, args.rows)
    of_many = Figures(cells, many, args.orders, MOST_DRAWN)
    listed, few = (["larger class", "label before", *these] for these in (names, names_of_many))
    right = "% right while labels come / once they stop"
    tables = [
        of_many.means(few, f"Means of the developers' {len(many)} sets, all classes: {right}")
    ]
    tables += [figures.summary(budget, listed) for budget in BUDGETS]
    tables += [of_many.each_set(budget, few) for budget in BUDGETS]
    tables += [figures.each_set(budget, listed) for budget in BUDGETS]
    about = [
        f"At most {args.rows:,} rows to learn, and as many to test; mean of {args.orders} orders."
        f" In the order of time: {', '.join(IN_TIME)}; the others at random. Two classes each"
        " (`benchmarks/common/every.py`).",
        f"The developers' sets: all classes, at most {MOST_DRAWN:,} rows to learn, always the same,"
        f" in random orders, and {MOST_TESTED:,} to test; defaults were chosen on them"
        " (`benchmarks/rivals/streams.py`).",
        "Seconds are of the processor, predicting and learning a row at a time; a cell that takes"
        f" more than {LIMIT_S:g} s is left out. Bytes of river are those of its objects, of SVC"
        " those of the rows it keeps, of SGD and Nyström those of their arrays.",
    ]
    drawn = figures_of(args.out) / f"{stem_of(study)}.png"
    picture(figures, names, drawn)
    pictures = [("accuracy against bytes", os.path.relpath(drawn, args.out))]
    raw = [[*key, cells[key]] for key in cells]
    title = "Every learner from 1 to 64 KiB, and what a user would take instead"
    if only:
        title = f"From 1 to 64 KiB: {' and '.join(KINDS[name] for name in only)}"
    publish(Report(study, title, tables, about, raw, absent(), pictures), args.out)


if __name__ == "__main__":
    main()
