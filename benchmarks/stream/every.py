"""StreamSVM, its bounds and its average, on every data set, beside averaged SGD and LIBLINEAR.

Each learner's one parameter is the value of the best mean accuracy on the sets of CHOSEN_ON, the
same for all sets; the means over SHOWN_ON are the comparison. One pass over several orders, all by
the same splits; LIBLINEAR makes as many passes as it needs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.clock import timed
from benchmarks.common.data import QUICK, Split, Task
from benchmarks.common.every import CHOSEN_ON, EVERY, SHOWN_ON, absent
from benchmarks.common.progress import say
from benchmarks.common.protocol import Make
from benchmarks.common.report import Report, Table, publish
from benchmarks.common.scores import float_bytes
from benchmarks.stream.table import unit_norm
from edgesvm import StreamSVM

GRID_C = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
GRID_ALPHA = (1e-6, 1e-5, 1e-4, 1e-3)
GRID_LIBLINEAR = (0.1, 1.0)
MOST_PASSES = 1000  # and LIBLINEAR's own tolerance for this solver, 0.01


@dataclass(frozen=True)
class Contestant:
    make: Make
    grid: Sequence[float]
    own_rows: bool = False  # learns rows scaled by us to unit norm, as StreamSVM scales its own


def stream_svm(C: float, **params: Any) -> StreamSVM:
    return StreamSVM(C=C, **params)


class Liblinear:
    """scikit-learn's LinearSVC on all rows at once."""

    def __init__(self, C: float, *, fit_intercept: bool = True) -> None:
        self.model = LinearSVC(C=C, fit_intercept=fit_intercept, max_iter=MOST_PASSES, tol=0.01)

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: list[bool]) -> Liblinear:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.model.fit(X, y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model.predict(X)


def sgd(alpha: float) -> SGDClassifier:
    return SGDClassifier(alpha=alpha, average=True, random_state=0, shuffle=False)


CONTESTANTS = {
    "upper": Contestant(partial(stream_svm, bound="upper", average=False), GRID_C),
    "lower": Contestant(partial(stream_svm, average=False), GRID_C),
    "averaged": Contestant(stream_svm, GRID_C),
    "averaged, balanced": Contestant(partial(stream_svm, class_weight="balanced"), GRID_C),
    "averaged, 8 balls": Contestant(partial(stream_svm, n_balls=8), (0.3, 1.0, 3.0)),
    "averaged SGD, rows as StreamSVM's": Contestant(
        lambda alpha: SGDClassifier(
            alpha=alpha, average=True, random_state=0, shuffle=False, fit_intercept=False
        ),
        GRID_ALPHA,
        own_rows=True,
    ),
    "averaged SGD": Contestant(sgd, GRID_ALPHA),
    "LIBLINEAR, rows as StreamSVM's": Contestant(
        partial(Liblinear, fit_intercept=False), (1.0,), own_rows=True
    ),
    "LIBLINEAR": Contestant(Liblinear, GRID_LIBLINEAR),
}


def n_bytes(learner: Any) -> int:
    """Of a learner's arena, of its arrays, or nothing where all rows are held."""
    if isinstance(learner, Liblinear):
        return 0
    return learner.nbytes if isinstance(learner, StreamSVM) else float_bytes(vars(learner).values())


def passed(learner: Any, X: np.ndarray, y: np.ndarray) -> None:
    learner.partial_fit(X, y, classes=[False, True])


def result(contestant: Contestant, value: float, split: Split) -> dict[str, float]:
    """One pass over one split."""
    X, y, X_test, y_test = split
    if contestant.own_rows:
        X, X_test = unit_norm(X), unit_norm(X_test)
    learner = contestant.make(value)
    seconds = timed(partial(passed, learner, X, y))
    hits = learner.predict(X_test) == y_test
    return {
        "accuracy": 100 * hits.mean(),
        "balanced": 50 * (hits[y_test].mean() + hits[~y_test].mean()),
        "bytes": n_bytes(learner),
        "us": 1e6 * seconds / len(X),
    }


def fill(cells: Cells, tasks: Sequence[Task], n_orders: int) -> None:
    """Every set, order, learner and value that is not there yet."""
    for task in tasks:
        for order in range(n_orders):
            todo = [
                (name, value)
                for name, contestant in CONTESTANTS.items()
                for value in contestant.grid
                if (task.name, order, name, value) not in cells
            ]
            split = task.split(order) if todo else None
            for name, value in todo:
                cells[task.name, order, name, value] = result(CONTESTANTS[name], value, split)
        say(f"{task.name}: done")


Mean = Callable[[str, float, Sequence[Task], str], float]


def mean_over(cells: Cells, n_orders: int) -> Mean:
    def mean(name: str, value: float, tasks: Sequence[Task], what: str) -> float:
        return float(
            np.mean([cells[t.name, k, name, value][what] for t in tasks for k in range(n_orders)])
        )

    return mean


def chosen(mean: Mean, tasks: Sequence[Task]) -> dict[str, float]:
    return {
        name: max(c.grid, key=lambda value: mean(name, value, tasks, "accuracy"))
        for name, c in CONTESTANTS.items()
    }


def tables(cells: Cells, tasks: Sequence[Task], n_orders: int) -> list[Table]:
    mean = mean_over(cells, n_orders)
    halves = {
        "chosen on": [t for t in tasks if t in CHOSEN_ON] or tasks,
        "shown on": [t for t in tasks if t in SHOWN_ON] or tasks,
        "all": list(tasks),
    }
    values = chosen(mean, halves["chosen on"])
    summary = [
        [
            name,
            f"{value:g}",
            *(f"{mean(name, value, part, 'accuracy'):.2f}" for part in halves.values()),
            f"{mean(name, value, halves['shown on'], 'balanced'):.2f}",
            f"{mean(name, value, tasks, 'bytes'):,.0f}" if "LIBLINEAR" not in name else "all rows",
            f"{median(mean(name, value, [t], 'us') for t in tasks):.2f}",
        ]
        for name, value in values.items()
    ]
    each_set = [
        [
            task.name,
            "chosen on" if task in CHOSEN_ON else "shown on",
            *(f"{mean(name, value, [task], 'accuracy'):.2f}" for name, value in values.items()),
        ]
        for task in tasks
    ]
    balanced = [
        [
            task.name,
            *(f"{mean(name, value, [task], 'balanced'):.2f}" for name, value in values.items()),
        ]
        for task in tasks
    ]
    by_value = [
        [name, *(_mean_at(mean, name, value, halves["chosen on"]) for value in GRID_C)]
        for name, contestant in CONTESTANTS.items()
        if contestant.grid is not GRID_ALPHA
    ]
    columns = ["learner", "C or alpha", "chosen on %", "shown on %", "all %"]
    columns += ["shown on, balanced %", "bytes, mean", "µs a sample, median"]
    return [
        Table("Means over the sets", columns, summary),
        Table("Accuracy on each set, %", ["set", "half", *CONTESTANTS], each_set),
        Table("Balanced accuracy on each set, %", ["set", *CONTESTANTS], balanced),
        Table(
            "Mean accuracy on the sets chosen on, by C",
            ["learner", *(f"{value:g}" for value in GRID_C)],
            by_value,
        ),
    ]


def _mean_at(mean: Mean, name: str, value: float, tasks: Sequence[Task]) -> str:
    if value not in CONTESTANTS[name].grid:
        return ""
    return f"{mean(name, value, tasks, 'accuracy'):.2f}"


def main() -> None:
    args = parsed(arguments(__doc__, orders=3))
    skipped = absent()
    tasks = [t for t in EVERY if not any(line.find(f"{t.name}.npz") >= 0 for line in skipped)]
    if args.quick:
        tasks, args.orders, skipped = [QUICK], 1, ["every set: a quick run uses generated data"]
    cells = Cells(args.cells / "stream_every.jsonl", build_id())
    fill(cells, tasks, args.orders)
    about = [
        f"Means over {args.orders} orders (of a set without a test part, as many splits). "
        "LIBLINEAR is scikit-learn's LinearSVC (primal, tolerance 0.01), on the standardised rows, "
        "and on the rows (x, 1) of unit norm that StreamSVM makes of them.",
        "Does not show: a parameter chosen for each set, kernels, sets of more than two classes. "
        "Times are of one call on the whole array, on a machine with other work.",
    ]
    figures = [
        {"set": key[0], "order": key[1], "learner": key[2], "value": key[3], **cells[key]}
        for key in cells
    ]
    title = "StreamSVM on every data set"
    publish(
        Report("stream/every", title, tables(cells, tasks, args.orders), about, figures, skipped),
        args.out,
    )


if __name__ == "__main__":
    main()
