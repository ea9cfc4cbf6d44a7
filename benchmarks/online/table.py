"""The systems that the papers compare with, over every data set: one pass in a random order, each
with its defaults, beside StreamSVM and LIBLINEAR.

Rows are standardized by the training rows; the kernel is RBF with gamma 1 / features. LIBLINEAR
makes all its passes, and holds all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.clock import since
from benchmarks.common.data import QUICK, Task
from benchmarks.common.every import CHOSEN_ON, EVERY, absent
from benchmarks.common.progress import progress, say
from benchmarks.common.report import Report, Table, publish
from benchmarks.common.rivals import Liblinear
from edgesvm import (
    LASVM,
    Forgetron,
    KernelPerceptron,
    KernelStreamSVM,
    PassiveAggressive,
    Pegasos,
    Perceptron,
    StreamSVM,
)

SYSTEMS: dict[str, Callable[[], Any]] = {
    "Perceptron": Perceptron,
    "PA-I": PassiveAggressive,
    "Pegasos k=1": Pegasos,
    "Pegasos k=20": lambda: Pegasos(batch_size=20),
    "StreamSVM": StreamSVM,
    "StreamSVM last": lambda: StreamSVM(average=False),
    "LIBLINEAR": Liblinear,
    "KernelPerceptron": KernelPerceptron,
    "Forgetron": Forgetron,
    "LASVM": LASVM,
    "LASVM finished": LASVM,
    "KernelStreamSVM": KernelStreamSVM,
}


def balanced(predicted: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean([(predicted[y == label] == label).mean() for label in np.unique(y)]))


def outcomes(task: Task, orders: int) -> dict[str, dict[str, Any]]:
    """Of each system: accuracy and balanced accuracy in per cent, and seconds to learn, of each
    order; and bytes."""
    found: dict[str, dict[str, Any]] = {
        name: {"accuracy": [], "balanced": [], "seconds": []} for name in SYSTEMS
    }
    for seed in range(orders):
        X, y, X_test, y_test = task.split(seed)
        for name, of_system in found.items():
            progress(f"{task.name}, order {seed}: {name}")
            model = SYSTEMS[name]()
            begin = process_time()
            model.partial_fit(X, y, classes=[False, True])
            if name == "LASVM finished":
                model.finish()
            of_system["seconds"].append(since(begin))
            predicted = model.predict(X_test)
            of_system["accuracy"].append(100 * float((predicted == y_test).mean()))
            of_system["balanced"].append(100 * balanced(predicted, y_test))
            of_system["bytes"] = model.nbytes
    return found


def row(found: dict[str, dict[str, Any]]) -> list[str]:
    return [f"{np.mean(o['accuracy']):.1f} ({np.mean(o['balanced']):.1f})" for o in found.values()]


def means(figures: dict[str, dict[str, Any]], tasks: list[Task]) -> list[str]:
    return [
        f"{np.mean([figures[t.name][name]['accuracy'] for t in tasks]):.2f}"
        f" ({np.mean([figures[t.name][name]['balanced'] for t in tasks]):.2f})"
        for name in SYSTEMS
    ]


def main() -> None:
    args = parsed(arguments(__doc__, orders=5))
    tasks = [task for task in EVERY if all(not why.startswith(task.name + ".") for why in absent())]
    if args.quick:
        tasks, args.orders = [QUICK], 1
    figures = {}
    for task in tasks:
        say(task.name)
        figures[task.name] = outcomes(task, args.orders)
    rows = [[task.name, *row(figures[task.name])] for task in tasks]
    chosen = [task for task in tasks if task in CHOSEN_ON]
    shown = [task for task in tasks if task not in CHOSEN_ON]
    for name, half in (("mean, sets chosen on", chosen), ("mean, the others", shown)):
        if half:
            rows.append([name, *means(figures, half)])
    of_systems = [
        [
            name,
            f"{sum(np.mean(figures[t.name][name]['seconds']) for t in tasks):.1f}",
            f"{min(figures[t.name][name]['bytes'] for t in tasks):,}",
            f"{max(figures[t.name][name]['bytes'] for t in tasks):,}",
        ]
        for name in SYSTEMS
    ]
    tables = [
        Table("Accuracy, per cent (balanced accuracy)", ["data", *SYSTEMS], rows),
        Table("Cost", ["system", "s, all sets", "bytes, least", "bytes, most"], of_systems),
    ]
    about = [
        f"Mean of {args.orders} random orders. Defaults of the systems were chosen on every second "
        "of the sets; bytes of LIBLINEAR are those of its rows and weights. StreamSVM decides by "
        "the mean of its centres, StreamSVM last by the last one."
    ]
    title = "The compared systems over every data set"
    publish(Report("online/table", title, tables, about, figures, absent()), args.out)


if __name__ == "__main__":
    main()
