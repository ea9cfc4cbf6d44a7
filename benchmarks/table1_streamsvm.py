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

import argparse
from dataclasses import asdict
from typing import Any

import numpy as np
from data import TABLE_1, Task, folder
from protocol import Outcome, measure
from report import markdown, progress, publish, use_one_thread
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import normalize

from edgesvm import StreamSVM

PAPER = {"MNIST 0v1": 99.71, "MNIST 8v9": 94.7, "IJCNN": 87.81, "w3a": 89.06, "Waveform": 78.4}
GRID_C = [0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]
GRID_ALPHA = [1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 1e-2]
KEPT: dict[str, dict[str, int]] = {
    "one ball": {},
    "8 balls": {"n_balls": 8},
    **{f"lookahead {n}": {"lookahead": n} for n in (8, 16, 32, 64)},
}
PEER = "averaged SGD (scikit-learn)"
HEADER = [
    "learner",
    "accuracy %",
    "balanced %",
    "updates",
    "bytes",
    "ms a pass",
    "µs a sample",
    "C or alpha",
]


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
    arrays = [
        value
        for value in vars(model).values()
        if isinstance(value, np.ndarray) and value.dtype.kind == "f"
    ]
    owners = {id(a if a.base is None else a.base): a.nbytes for a in arrays}
    return 0, sum(owners.values())


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


def table(task: Task, outcomes: dict[str, Outcome]) -> str:
    rows: list[list[object]] = [
        ["paper (K = 6 to 8)", f"{PAPER[task.name]:.2f}", *[""] * 6],
        ["the larger class", f"{majority(task):.2f}", "50.00", *[""] * 5],
    ]
    for name, o in outcomes.items():
        values = sorted({f"{value:g}" for value in o.chosen}, key=float)
        rows.append(
            [
                name,
                f"{o.accuracy:.2f} ± {o.accuracy_deviation:.2f}",
                f"{o.balanced:.2f} ± {o.balanced_deviation:.2f}",
                f"{o.updates:.0f}" if name != PEER else "",
                f"{o.n_bytes:,}",
                f"{o.ms:.2f}",
                f"{o.us:.3f}",
                values[0] if len(values) == 1 else f"{values[0]} to {values[-1]}",
            ]
        )
    return markdown(HEADER, rows)


def summary(results: dict[str, dict[str, Outcome]]) -> str:
    rows = []
    for name, outcomes in results.items():
        ours = {
            bound: {k: o for k, o in outcomes.items() if k.startswith(bound)}
            for bound in ("upper", "lower")
        }
        best = {bound: max(group, key=lambda k: group[k].accuracy) for bound, group in ours.items()}
        rows.append(
            [
                name,
                f"{PAPER[name]:.2f}",
                *(f"{outcomes[b].accuracy:.2f} ({b.split(', ')[1]})" for b in best.values()),
                f"{outcomes[PEER].accuracy:.2f}",
                "yes" if max(outcomes[b].accuracy for b in best.values()) >= PAPER[name] else "NO",
            ]
        )
    return markdown(
        ["data", "paper", "best upper", "best lower", "averaged SGD", "reaches the paper"], rows
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--orders", type=int, default=10, help="random orders (default 10)")
    parser.add_argument("--splits", type=int, default=5, help="held-out splits for C (default 5)")
    parser.add_argument(
        "--sets",
        nargs="+",
        metavar="NAME",
        choices=list(PAPER),
        default=list(PAPER),
        help="which rows",
    )
    parser.add_argument(
        "--quick", action="store_true", help="two orders, one split, the two smallest sets"
    )
    args = parser.parse_args()
    use_one_thread()
    if args.quick:
        args.orders, args.splits, args.sets = 2, 1, ["MNIST 8v9", "Waveform"]
    if not folder().is_dir():
        print(f"table1_streamsvm: skipped, there is no data folder {folder()} (set EDGESVM_DATA)")
        return
    results = {}
    for task in TABLE_1:
        if task.name in args.sets:
            try:
                results[task.name] = run_task(task, args.orders, args.splits)
            except FileNotFoundError as error:
                print(f"{task.name}: skipped, no {error.filename}")
    tasks = {task.name: task for task in TABLE_1}
    text = [
        f"Mean and deviation over {args.orders} random orders; the parameter chosen on "
        f"{args.splits} held-out fifths of the training rows. "
        "Always saying the larger class gives 90.5 % on IJCNN and 97.1 % on w3a: "
        "the paper's figures there are below that, so read the balanced accuracy beside it. "
        "The paper does not say how it chose C.",
        summary(results),
        "(The best rows are picked by what is printed below, that is after the fact.)",
        *(f"### {name}\n\n{table(tasks[name], outcomes)}" for name, outcomes in results.items()),
        "Does not show: other scalings, other penalties per class, several passes. SGD's bytes are "
        "its weight arrays; its updates are not counted. Times are of one call on the whole array.",
    ]
    figures = {
        name: {k: asdict(o) for k, o in outcomes.items()} for name, outcomes in results.items()
    }
    publish(
        "table1_streamsvm",
        "Table 1: StreamSVM on real data",
        "\n\n".join(text),
        {"paper": PAPER, "ours": figures},
    )


if __name__ == "__main__":
    main()
