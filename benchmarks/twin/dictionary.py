"""Twins that settle and become a dictionary (`TwinDictionarySVM`), beside twins that keep moving.

Every data set as a two-class problem, three random orders, one pass, 20 and 100 twins, RBF kernel
of gamma = 1 / D, everything else by default. When the twins settle and the variance r were chosen
on one half of the sets; the other half shows what that is worth. Then the sets and settings of
Table 3 of Wang & Vucetic 2009.

Rivals: scikit-learn's Nystroem map and averaged SGD in the bytes of the dictionary, its vectors
drawn from the first 2,000 rows (alpha = 1e-5; not counted: those rows); SVC (C = 1 and 100, the
better on the test rows) of the first 4,000 rows, in one order, to see what a set has in it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from sklearn.svm import SVC

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.clock import since
from benchmarks.common.data import Split, Task, generated, missing, published
from benchmarks.common.every import CHOSEN_ON, FILES, SHOWN_ON, absent
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.common.rivals import NystroemSGD, vectors_within
from benchmarks.common.scores import mean_deviation
from benchmarks.twin.data import TWIN_TASKS
from edgesvm import RBF, TwinDictionarySVM, TwinVectorMachine
from edgesvm.data import Checkerboard

BUDGETS = (20, 100)
PAPER = published(__file__)
ROWS_HELD, ROWS_OF_SVC = 2_000, 4_000
SMALL = {"m1": 0.5, "m2": 1.5}
DICTIONARY = "dictionary"
SHOWN = ("twins", f"twins, {SMALL['m1']} and {SMALL['m2']}", DICTIONARY, "Nystroem, SGD")
CHOICES: dict[str, dict[str, Any]] = {
    "settle_after=500": {"settle_after": 500},
    "settle_after=1000": {"settle_after": 1000},
    DICTIONARY: {},
    "settle_after=4000": {"settle_after": 4000},
    "r=1": {"r": 1.0},
    "r=0.01": {"r": 0.01},
}


def nystroem(budget: int, gamma: float, n_features: int) -> NystroemSGD:
    """Of as many vectors as fit into the bytes of the dictionary."""
    n_bytes = TwinDictionarySVM(max_twins=budget).plan(n_features).total
    size = vectors_within(n_bytes, n_features, 4)
    return NystroemSGD(size, alpha=1e-5, gamma=gamma, warm=ROWS_HELD)


def learners(budget: int, split: Split) -> dict[str, Callable[[], Any]]:
    """Each learner of the table by its name, for this set."""
    n_features = split[0].shape[1]
    common: dict[str, Any] = {"max_twins": budget, "kernel": RBF(1 / n_features)}
    found: dict[str, Callable[[], Any]] = {
        SHOWN[0]: lambda: TwinVectorMachine(**common),
        SHOWN[1]: lambda: TwinVectorMachine(**common, **SMALL),
        SHOWN[3]: lambda: nystroem(budget, 1 / n_features, n_features),
    }
    for name, params in CHOICES.items():
        found[name] = lambda params=params: TwinDictionarySVM(**common, **params)
    return found


def measure(learner: Any, split: Split) -> dict[str, Any]:
    X, y, X_test, y_test = split
    begin = process_time()  # the machine has other work to do
    learner.partial_fit(X, y, classes=[False, True])
    seconds = since(begin)
    hits = learner.predict(X_test) == y_test
    return {
        "accuracy": 100 * float(hits.mean()),
        "balanced": 50 * float(hits[y_test].mean() + hits[~y_test].mean()),
        "us": 1e6 * seconds / len(X),
        "bytes": learner.nbytes,
    }


def best_svc(split: Split) -> dict[str, Any]:
    X, y, X_test, y_test = split
    rows = slice(ROWS_OF_SVC)
    return max(
        (
            {"accuracy": 100 * SVC(C=C, gamma=1 / X.shape[1]).fit(X[rows], y[rows]).score(*test)}
            for C in (1.0, 100.0)
            for test in [(X_test, y_test)]
        ),
        key=lambda cell: cell["accuracy"],
    )


def fill(tasks: list[Task], chosen: list[Task], args: argparse.Namespace, cells: Cells) -> None:
    """Every set with every learner; the choices only where they may be made."""
    for seed in range(args.orders):
        for task in tasks:
            wanted = [(name, b) for b in args.budgets for name in SHOWN]
            if task in chosen:
                wanted += [(name, b) for b in args.budgets for name in CHOICES]
            keys = {(task.name, *key, seed) for key in wanted}
            if seed == 0:
                keys.add((task.name, "SVC", 0, 0))
            keys = {key for key in keys if key not in cells}
            if not keys:
                continue
            split = task.split(seed)
            for key in sorted(keys):
                progress(" ".join(map(str, key)))
                _, name, budget, _ = key
                cells[key] = (
                    best_svc(split)
                    if name == "SVC"
                    else measure(learners(budget, split)[name](), split)
                )


def fill_paper(args: argparse.Namespace, cells: Cells) -> list[str]:
    """The paper's sets with its kernels and penalties; what is missing, and why."""
    without = {t.name: why for t in TWIN_TASKS if t.file and (why := missing(t.file))}
    for seed in range(args.orders):
        for task in TWIN_TASKS:
            keys = [("paper", task.name, budget, seed) for budget in args.budgets]
            if task.name in without or all(key in cells for key in keys):
                continue
            split = task.split(seed)
            for key in keys:
                progress(" ".join(map(str, key)))
                kernel = task.kernel("rbf")
                learner = TwinDictionarySVM(max_twins=key[2], kernel=kernel, C=task.C)
                cells[key] = measure(learner, split)
    return [f"{name}: {why}" for name, why in without.items()]


def column(cells: Cells, args: argparse.Namespace, *key: Any, what: str) -> list[float]:
    """One figure in every order."""
    return [cells[k][what] for s in range(args.orders) if (k := (*key, s)) in cells]


def halves(tasks: list[Task], cells: Cells, args: argparse.Namespace, title: str) -> list[Table]:
    tables = []
    for budget in args.budgets:
        rows: list[list[Any]] = []
        means: dict[str, list[float]] = {name: [] for name in (*SHOWN, "SVC")}
        for task in tasks:
            row: list[Any] = [task.name]
            for name in SHOWN:
                scores = column(cells, args, task.name, name, budget, what="accuracy")
                us = column(cells, args, task.name, name, budget, what="us")
                means[name] += [float(np.mean(scores))] if scores else []
                row += [mean_deviation(scores, args.orders), f"{np.median(us):.1f}"]
            svc = cells[task.name, "SVC", 0, 0]["accuracy"]
            means["SVC"].append(svc)
            n_bytes = column(cells, args, task.name, DICTIONARY, budget, what="bytes")
            rows.append([*row, f"{n_bytes[0]:,}", f"{svc:.2f}"])
        average: list[Any] = ["mean"]
        for name in SHOWN:
            average += [f"{np.mean(means[name]):.2f}", ""]
        rows.append([*average, "", f"{np.mean(means['SVC']):.2f}"])
        header = ["data", *(h for name in SHOWN for h in (name, "µs")), "bytes", "SVC, 4,000"]
        tables.append(Table(f"{title}: {budget} twins", header, rows))
    return tables


def choices(tasks: list[Task], cells: Cells, args: argparse.Namespace) -> Table:
    rows = []
    for name in CHOICES:
        said = "settle_after=2000, r=0.1 (the default)" if name == DICTIONARY else name
        row = [said]
        for budget in args.budgets:
            found = [column(cells, args, t.name, name, budget, what="accuracy") for t in tasks]
            row.append(f"{np.mean([np.mean(scores) for scores in found if scores]):.2f}")
        rows.append(row)
    header = ["dictionary", *(f"{budget} twins" for budget in args.budgets)]
    return Table("The choice, on the first half: mean of the sets", header, rows)


def paper_table(cells: Cells, args: argparse.Namespace) -> Table:
    header = ["data", *(h for b in args.budgets for h in (f"B={b} paper", "dictionary"))]
    rows, means = [], np.zeros((0, 2 * len(args.budgets)))
    for at, task in enumerate(TWIN_TASKS):
        row: list[Any] = [task.name]
        values: list[float] = []
        for budget in args.budgets:
            scores = column(cells, args, "paper", task.name, budget, what="accuracy")
            theirs = PAPER["rbf"][str(budget)][at]
            row += [f"{theirs:.1f}", mean_deviation(scores, args.orders) if scores else "-"]
            values += [theirs, float(np.mean(scores)) if scores else np.nan]
        rows.append(row)
        means = np.vstack([means, values])
    rows.append(["average", *(f"{mean:.2f}" for mean in np.nanmean(means, axis=0))])
    note = "The paper's LIBSVM on all rows: 92.8 on average."
    return Table("Table 3 of the paper: RBF kernel, its settings", header, rows, note)


def main() -> None:
    parser = arguments(__doc__, orders=3)
    parser.add_argument("--budgets", type=int, nargs="+", choices=BUDGETS, default=list(BUDGETS))
    parser.add_argument("--done", action="store_true", help="run nothing: report finished cells")
    parser.add_argument("--any-build", action="store_true", help="cells of other builds too")
    args = parsed(parser)
    chosen, shown = CHOSEN_ON, SHOWN_ON
    skipped = absent()
    if args.quick:
        args.orders, args.budgets = 1, [20]
        board = Task("checkerboard", generated(Checkerboard, 2500, 1000), redraws=True)
        chosen = shown = [board]
        skipped = ["every data set: a quick run uses a generated board"]
    else:
        chosen, shown = (
            [t for t in half if t.name not in FILES or not missing(t.name)]
            for half in (chosen, shown)
        )
    build = build_id()
    cells = Cells(args.cells / "twin_dictionary.jsonl", build, any_build=args.any_build)
    if not args.done:
        if not args.quick:
            skipped += fill_paper(args, cells)
        fill([*shown, *chosen], chosen, args, cells)
    chosen, shown = (
        [t for t in half if (t.name, "SVC", 0, 0) in cells] for half in (chosen, shown)
    )
    tables = [
        *halves(shown, cells, args, "Shown on"),
        *halves(chosen, cells, args, "Chosen on"),
        choices(chosen, cells, args),
    ]
    if not args.quick:
        tables.insert(0, paper_table(cells, args))
    about = [
        f"Accuracy in per cent on the test rows, mean and deviation over {args.orders} random "
        "orders (fewer where brackets say how many); µs: processor time of a row learned, whole "
        "stream, without reading. `twins` is `TwinVectorMachine`, with m1 = 1 and m2 = 2 or as "
        "named; it has 16 bytes less than the dictionary."
    ]
    title = "Twins as a dictionary, on every data set"
    publish(Report("twin/dictionary", title, tables, about, skipped=skipped), args.out)


if __name__ == "__main__":
    main()
