"""KernelStreamSVM at equal bytes on every data set: what happens when it is full, and what a user
would take instead.

RBF kernel, gamma = 1 / features, one pass. Each learner has one setting for all data sets and both
budgets, the best mean on the sets that choices are made on (order 0); the other sets show it.
Nystroem draws its vectors from the first rows, ten for each vector; that it holds them until then
is not counted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain
from time import process_time
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.clock import since, timed
from benchmarks.common.data import QUICK, Task
from benchmarks.common.every import CHOSEN_ON, SHOWN_ON, absent
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.common.rivals import NystroemSGD, vectors_within
from edgesvm import RBF, IncrementalSVM, KernelStreamSVM, ReservoirSVM, TwinVectorMachine
from edgesvm.budget import parse_bytes
from edgesvm.errors import MemoryBudgetError

BUDGETS = ("16KiB", "56KiB")
Make = Callable[[str, int, Any], Any]


def ours(kind: Any, **params: Any) -> Make:
    """A learner of ours, with the capacity that fits."""
    return lambda budget, n_features, C: kind.within(
        budget, n_features, kernel=RBF(1 / n_features), C=C, **params
    )


def nystroem(budget: str, n_features: int, alpha: float) -> NystroemSGD:
    size = vectors_within(parse_bytes(budget), n_features, 4)
    return NystroemSGD(size, alpha=alpha, gamma=1 / n_features, warm=10 * size, chunk=1000)


# name: how it is made, its values of C or alpha
LEARNERS: dict[str, tuple[Make, list[float]]] = {
    "newton": (ours(KernelStreamSVM), [100.0]),
    "share, lower": (ours(KernelStreamSVM, when_full="share"), [1.0, 100.0]),
    "share, upper": (ours(KernelStreamSVM, when_full="share", bound="upper"), [1.0]),
    "ReservoirSVM": (ours(ReservoirSVM), [1.0, 10.0]),
    "TwinVectorMachine": (ours(TwinVectorMachine), [100.0]),
    "IncrementalSVM": (ours(IncrementalSVM), [1.0, 10.0]),
    "Nystroem + averaged SGD": (nystroem, [1e-5, 1e-4]),
}


def one_pass(make: Make, budget: str, value: float, data: Any) -> dict[str, Any]:
    """Accuracy in percent, capacity's bytes, and microseconds of the processor a row."""
    X, y, X_test, y_test = data
    try:
        learner = make(budget, X.shape[1], value)
    except MemoryBudgetError:
        return {"accuracy": None, "bytes": None, "us": None}
    seconds = timed(partial(learner.partial_fit, X, y, classes=[False, True]), process_time)
    begin = process_time()
    hits = learner.predict(X_test) == y_test
    return {
        "accuracy": 100 * float(hits.mean()),
        "bytes": int(learner.nbytes),
        "us": 1e6 * seconds / len(X),
        "predict_us": 1e6 * (since(begin)) / len(X_test),
    }


def measure(cells: Cells, task: Task, order: int, values: dict[str, list[float]]) -> None:
    """Fill in what is missing of one order."""
    keys = [(b, task.name, order, n, v) for b in BUDGETS for n, vs in values.items() for v in vs]
    if all(key in cells for key in keys):
        return
    data = task.split(order)
    for key in keys:
        if key not in cells:
            budget, _, _, name, value = key
            progress(f"{budget}, {task.name}, order {order}: {name}, {value:g}")
            cells[key] = one_pass(LEARNERS[name][0], budget, value, data)


def mean(values: list[float | None]) -> float:
    """Of what there is."""
    there = [v for v in values if v is not None]
    return float(np.mean(there)) if there else float("nan")


def best_values(cells: Cells, tasks: list[Task]) -> dict[str, float]:
    def score(name: str, value: float) -> float:
        return mean([cells[b, t.name, 0, name, value]["accuracy"] for b in BUDGETS for t in tasks])

    return {name: max(values, key=partial(score, name)) for name, (_, values) in LEARNERS.items()}


def every(groups: dict[str, list[Task]]) -> list[Task]:
    return list(chain.from_iterable(groups.values()))


class Figures:
    """The cells at the values chosen."""

    def __init__(self, cells: Cells, chosen: dict[str, float], orders: int) -> None:
        self.cells, self.chosen, self.orders = cells, chosen, orders

    def of(self, budget: str, task: Task, name: str, what: str) -> list[float | None]:
        return [
            self.cells[budget, task.name, order, name, self.chosen[name]].get(what)
            for order in range(self.orders)
        ]

    def accuracy(self, budget: str, task: Task, name: str) -> float:
        return mean(self.of(budget, task, name, "accuracy"))

    def cell(self, budget: str, task: Task, name: str) -> str:
        there = [v for v in self.of(budget, task, name, "accuracy") if v is not None]
        if not there:
            return "does not fit"
        return f"{np.mean(there):.2f}" + (f" ± {np.std(there, ddof=1):.2f}" if there[1:] else "")

    def table(self, budget: str, groups: dict[str, list[Task]]) -> Table:
        names = list(LEARNERS)
        rows: list[list[str]] = []
        for half, tasks in groups.items():
            rows += [
                [f"{t.name} ({half})", *(self.cell(budget, t, n) for n in names)] for t in tasks
            ]
        for half, tasks in {**groups, "all": every(groups)}.items():
            rows.append(self.means(f"mean, {half}", budget, tasks, names))
        note = "Means are over the data sets that every learner has room for: mean (all sets)."
        return Table(f"{budget}", ["data", *names], rows, note)

    def costs(self, budget: str, groups: dict[str, list[Task]], names: list[str]) -> Table:
        rows = []
        for name in names:
            us, n_bytes = (
                [v for t in every(groups) for v in self.of(budget, t, name, what) if v is not None]
                for what in ("us", "bytes")
            )
            rows.append([name, f"{np.median(us):.1f}", f"{max(us):.1f}", f"{max(n_bytes):,}"])
        columns = ["learner", "µs a row, median", "µs a row, most", "bytes, most"]
        return Table(f"{budget}: time and bytes", columns, rows)

    def means(self, title: str, budget: str, tasks: list[Task], names: list[str]) -> list[str]:
        shared = [t for t in tasks if all(np.isfinite(self.accuracy(budget, t, n)) for n in names)]
        row = []
        for name in names:
            everywhere = [self.accuracy(budget, t, name) for t in tasks]
            both = f"{np.mean([self.accuracy(budget, t, name) for t in shared]):.2f}"
            row.append(
                f"{both} ({np.mean(everywhere):.2f})" if np.isfinite(everywhere).all() else both
            )
        return [f"{title} of {len(shared)} ({len(tasks)})", *row]


def main() -> None:
    args = parsed(arguments(__doc__, orders=3))
    groups = {"chosen on": CHOSEN_ON, "shown": SHOWN_ON}
    path = args.cells / "stream_kernel_every.cells.jsonl"
    skipped = absent()
    if args.quick:
        groups, args.orders, skipped = {"chosen on": [QUICK], "shown": []}, 2, []
        path.unlink(missing_ok=True)
    gone = {line.split()[3].removesuffix(".npz") for line in skipped}
    groups = {half: [t for t in ts if t.name not in gone] for half, ts in groups.items()}
    cells = Cells(path, build_id())
    for task in groups["chosen on"]:
        measure(cells, task, 0, {name: values for name, (_, values) in LEARNERS.items()})
    chosen = best_values(cells, groups["chosen on"])
    for order in range(args.orders):
        for task in every(groups):
            measure(cells, task, order, {name: [value] for name, value in chosen.items()})
    figures = Figures(cells, chosen, args.orders)
    tables = [
        table
        for budget in BUDGETS
        for table in (
            figures.table(budget, groups),
            figures.costs(budget, groups, list(LEARNERS)),
        )
    ]
    settings = Table(
        "Settings",
        ["learner", "C or alpha", "tried"],
        [
            [name, f"{chosen[name]:g}", ", ".join(f"{v:g}" for v in values)]
            for name, (_, values) in LEARNERS.items()
        ],
    )
    about = [
        f"Accuracy in percent: mean and deviation over {args.orders} orders. Microseconds of the"
        " processor, learning.",
        'newton: `KernelStreamSVM()`. share: `when_full="share"`, the ball goes on; upper is the'
        " paper's.",
    ]
    raw = {"chosen": chosen, "cells": [[*key, cells[key]] for key in cells]}
    title = "KernelStreamSVM at equal bytes on every data set"
    publish(
        Report("stream/kernel_every", title, [*tables, settings], about, raw, skipped), args.out
    )


if __name__ == "__main__":
    main()
