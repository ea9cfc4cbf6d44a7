"""Table 1 of Rai, Daumé III & Venkatasubramanian 2008 on real data: their figures and ours side by
side.

One pass over each of several random orders; C chosen on held-out fifths of the training rows; the
learner's defaults otherwise: a constant feature, and sample with constant scaled to unit norm.
MNIST is divided by 255, w3a as it is, IJCNN and Waveform standardised by the training rows. Rows:
one ball, eight balls, and lookahead 8 to 64, for the enclosing ball ("upper", the paper's) and for
its dual ("lower"); and, as the peer a user would take instead, scikit-learn's averaged SGD in one
pass over the very same unit-norm rows.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import normalize

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import QUICK, TABLE_1, Task, published
from benchmarks.common.progress import progress
from benchmarks.common.protocol import COLUMNS, Outcome, cells, measure
from benchmarks.common.report import Report, Table, publish
from benchmarks.common.scores import float_bytes, yes
from edgesvm import StreamSVM

PAPER = published(__file__)["accuracy"]
GRID_C = [0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]
GRID_ALPHA = [1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 1e-2]
KEPT: dict[str, dict[str, int]] = {
    "one ball": {},
    "8 balls": {"n_balls": 8},
    **{f"lookahead {n}": {"lookahead": n} for n in (8, 16, 32, 64)},
}
PEER = "averaged SGD (scikit-learn)"


def stream_svm(bound: str, kept: dict[str, int]) -> Any:
    return lambda C: StreamSVM(C=C, bound=bound, **kept)


def sgd(alpha: float) -> SGDClassifier:
    return SGDClassifier(
        loss="hinge", alpha=alpha, average=True, random_state=0, shuffle=False, fit_intercept=False
    )


def unit_norm(X: np.ndarray) -> np.ndarray:
    """What StreamSVM makes of its rows: (x, 1) of unit norm."""
    return normalize(np.hstack([X, np.ones((len(X), 1), X.dtype)]))


def sgd_bytes(model: SGDClassifier) -> tuple[int, int]:
    """Updates are not counted by it; bytes of the weights, their average and the standard copy it
    keeps.
    """
    return 0, float_bytes(vars(model).values())


def run_task(task: Task, n_orders: int, n_splits: int) -> dict[str, Outcome]:
    splits = [task.split(seed) for seed in range(n_orders)]
    outcomes = {}
    for bound in ("upper", "lower"):
        for name, kept in KEPT.items():
            progress(f"{task.name}: {bound}, {name}")
            outcomes[f"{bound}, {name}"] = measure(
                stream_svm(bound, kept),
                GRID_C,
                task,
                splits,
                n_splits=n_splits,
                describe=lambda s: (s.n_updates_, s.nbytes),
            )
    progress(f"{task.name}: {PEER}")
    unit = [(unit_norm(X), y, unit_norm(X_test), y_test) for X, y, X_test, y_test in splits]
    outcomes[PEER] = measure(sgd, GRID_ALPHA, task, unit, n_splits=n_splits, describe=sgd_bytes)
    return outcomes


def majority(task: Task) -> float:
    """Percent right by always saying the larger class."""
    y_test = task.split(0)[3]
    return 100 * max(y_test.mean(), 1 - y_test.mean())


def table(task: Task, outcomes: dict[str, Outcome]) -> Table:
    paper = f"{PAPER[task.name]:.2f}" if task.name in PAPER else "-"
    rows: list[list[str]] = [
        ["paper (K = 6 to 8)", paper, *[""] * 6],
        ["the larger class", f"{majority(task):.2f}", "50.00", *[""] * 5],
    ]
    for name, o in outcomes.items():
        values = sorted({f"{value:g}" for value in o.chosen}, key=float)
        chosen = values[0] if len(values) == 1 else f"{values[0]} to {values[-1]}"
        rows.append([*cells(name, o), chosen])
    return Table(task.name, [*COLUMNS, "C or alpha"], rows)


def summary(results: dict[str, dict[str, Outcome]]) -> Table:
    rows = []
    for name, outcomes in results.items():
        best = {
            bound: max(
                (k for k in outcomes if k.startswith(bound)), key=lambda k: outcomes[k].accuracy
            )
            for bound in ("upper", "lower")
        }
        reached = max(outcomes[b].accuracy for b in best.values())
        rows.append(
            [
                name,
                f"{PAPER[name]:.2f}" if name in PAPER else "-",
                *(f"{outcomes[b].accuracy:.2f} ({b.split(', ')[1]})" for b in best.values()),
                f"{outcomes[PEER].accuracy:.2f}",
                yes(reached >= PAPER[name]) if name in PAPER else "-",
            ]
        )
    columns = ["data", "paper", "best upper", "best lower", "averaged SGD", "reaches the paper"]
    return Table("Summary", columns, rows, "The best rows are picked from the tables below.")


def run(tasks: list[Task], n_orders: int, n_splits: int) -> tuple[dict, list[str]]:
    """Outcomes by the task's name; what was left out, and why."""
    results, skipped = {}, []
    for task in tasks:
        try:
            results[task.name] = run_task(task, n_orders, n_splits)
        except FileNotFoundError as error:
            skipped.append(f"{task.name}: there is no {error.filename} (set EDGESVM_DATA)")
    return results, skipped


def main() -> None:
    parser = arguments(__doc__, orders=10)
    parser.add_argument("--splits", type=int, default=5, help="held-out, for C (default 5)")
    names = list(PAPER)
    parser.add_argument("--sets", nargs="+", metavar="NAME", choices=names, default=names)
    args = parsed(parser)
    tasks = [task for task in TABLE_1 if task.name in args.sets]
    if args.quick:
        tasks, args.orders, args.splits = [QUICK], 2, 1
    results, skipped = run(tasks, args.orders, args.splits)
    if args.quick:
        skipped = [f"{name}: a quick run uses generated data" for name in PAPER]
    about = [
        f"Mean and deviation over {args.orders} random orders; the parameter chosen on "
        f"{args.splits} held-out fifths of the training rows.",
        "Does not show: other scalings, other penalties per class, several passes. SGD's bytes are "
        "its weight arrays; its updates are not counted. Times are of one call on the whole array.",
    ]
    by_name = {task.name: task for task in tasks}
    tables = [summary(results), *(table(by_name[name], o) for name, o in results.items())]
    figures = {
        name: {k: asdict(o) for k, o in outcomes.items()} for name, outcomes in results.items()
    }
    title = "Table 1: StreamSVM on real data"
    publish(Report("stream/table", title, tables, about, figures, skipped), args.out)


if __name__ == "__main__":
    main()
