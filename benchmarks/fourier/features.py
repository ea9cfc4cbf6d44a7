"""Random Fourier features before linear learners, and FourierSVM, on every data set; independent
against orthogonal directions where there are at least 16 features.

Nothing is chosen here but the parameter of PassiveAggressive and Pegasos, given below. One pass
over several orders, all by the same splits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from statistics import median
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.clock import timed
from benchmarks.common.data import QUICK, Split, Task
from benchmarks.common.every import CHOSEN_ON, EVERY, SHOWN_ON, absent
from benchmarks.common.progress import say
from benchmarks.common.report import Report, Table, publish
from edgesvm import (
    AdaGradSVM,
    FourierFeatures,
    FourierSVM,
    PassiveAggressive,
    Pegasos,
    Perceptron,
    StreamSVM,
)

MANY_FEATURES = 16
LINEAR: dict[str, Callable[[], Any]] = {
    "AdaGradSVM": AdaGradSVM,
    "AdaGradSVM, logistic": partial(AdaGradSVM, loss="logistic"),
    "StreamSVM": StreamSVM,
    "PassiveAggressive, C = 0.01": partial(PassiveAggressive, C=0.01),
    "Pegasos, lambda = 0.001": partial(Pegasos, lambda_=0.001),
    "Perceptron": Perceptron,
}


def behind(make: Callable[[], Any], **params: Any) -> FourierFeatures:
    return FourierFeatures(learner=make(), **params)


CONTESTANTS = {
    **LINEAR,
    "FourierSVM": FourierSVM,
    **{f"features, {name}": partial(behind, make) for name, make in LINEAR.items()},
}
DRAWN = {
    f"{name}, {n}, {drawn}": partial(make, n_directions=n, directions=drawn)
    for name, make in (
        ("FourierSVM", FourierSVM),
        ("features, StreamSVM", partial(behind, StreamSVM)),
    )
    for n in (128, 512)
    for drawn in ("independent", "orthogonal")
}


def contestants(task: Task) -> dict[str, Callable[[], Any]]:
    return CONTESTANTS | (DRAWN if has_many(task) else {})


@cache
def width(task: Task) -> int:
    return task.split(0)[0].shape[1]


def has_many(task: Task) -> bool:
    return width(task) >= MANY_FEATURES


def result(make: Callable[[], Any], split: Split) -> dict[str, float]:
    """One pass over one split."""
    X, y, X_test, y_test = split
    X, X_test = X.astype(np.float32), X_test.astype(np.float32)
    learner = make()
    seconds = timed(lambda: learner.partial_fit(X, y, classes=[False, True]))
    return {
        "accuracy": 100 * learner.score(X_test, y_test),
        "bytes": learner.nbytes,
        "us": 1e6 * seconds / len(X),
    }


def fill(cells: Cells, tasks: Sequence[Task], n_orders: int) -> None:
    """Every set, order and learner that is not there yet."""
    for task in tasks:
        for order in range(n_orders):
            split = task.split(order)
            for name, make in contestants(task).items():
                if (task.name, order, name) not in cells:
                    cells[task.name, order, name] = result(make, split)
        say(f"{task.name}: done")


def tables(cells: Cells, tasks: Sequence[Task], n_orders: int) -> list[Table]:
    def mean(name: str, part: Sequence[Task], what: str) -> float:
        return float(np.mean([cells[t.name, k, name][what] for t in part for k in range(n_orders)]))

    def row(name: str, *parts: Sequence[Task]) -> list[str]:
        return [
            name,
            *(f"{mean(name, part, 'accuracy'):.2f}" for part in parts),
            f"{mean(name, parts[-1], 'bytes'):,.0f}",
            f"{median(mean(name, [t], 'us') for t in parts[-1]):.2f}",
        ]

    halves = [[t for t in tasks if t in half] or tasks for half in (CHOSEN_ON, SHOWN_ON)]
    many = [t for t in tasks if has_many(t)]
    each_set = [
        [t.name, *(f"{mean(name, [t], 'accuracy'):.2f}" for name in CONTESTANTS)] for t in tasks
    ]
    by_width = [
        [
            t.name,
            str(width(t)),
            *(f"{mean(name, [t], what):.2f}" for name in DRAWN for what in ("accuracy", "us")),
        ]
        for t in many
    ]
    costs = ["bytes, mean", "µs a sample, median"]
    return [
        Table(
            "Means over the sets",
            ["learner", "chosen on %", "shown on %", "all %", *costs],
            [row(name, *halves, tasks) for name in CONTESTANTS],
        ),
        Table(
            f"Sets of at least {MANY_FEATURES} features, by how many directions are drawn and how",
            ["learner", "%", *costs],
            [row(name, many) for name in DRAWN] if many else [],
        ),
        Table("Accuracy on each set, %", ["set", *CONTESTANTS], each_set),
        Table(
            "The same sets, accuracy and µs a sample",
            ["set", "features", *(f"{name}, {what}" for name in DRAWN for what in ("%", "µs"))],
            by_width,
        ),
    ]


def main() -> None:
    args = parsed(arguments(__doc__, orders=3))
    skipped = absent()
    tasks = [t for t in EVERY if not any(line.find(f"{t.name}.npz") >= 0 for line in skipped)]
    if args.quick:
        tasks, args.orders, skipped = [QUICK], 1, ["every set: a quick run uses generated data"]
    cells = Cells(args.cells / "fourier_features.jsonl", build_id())
    fill(cells, tasks, args.orders)
    about = [
        f"Means over {args.orders} orders (of a set without a test part, as many splits), float32, "
        "128 directions unless said otherwise, on standardised rows.",
        "Does not show: other widths of the kernel, sets of more than two classes, streams in the "
        "order of time. Times are of one call on the whole array, on a machine with other work.",
    ]
    figures = [{"set": k[0], "order": k[1], "learner": k[2], **cells[k]} for k in cells]
    title = "Random Fourier features before linear learners"
    report = Report(
        "fourier/features", title, tables(cells, tasks, args.orders), about, figures, skipped
    )
    publish(report, args.out)


if __name__ == "__main__":
    main()
