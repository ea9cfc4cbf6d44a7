"""Probabilities from scores, and a rare class found: log loss and reliability before and after the
sigmoid, and recall at 2 % faults by each way to move a decision.

Each sample is predicted, then learned. Before: 1 / (1 + exp(-f)) of the learner's own score f.
After: `Calibrated`, asked before it learns the sample.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import QUICK, Task
from benchmarks.common.every import EVERY, absent
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, figures_of, publish
from edgesvm import (
    Calibrated,
    FourierSVM,
    KernelStreamSVM,
    Learner,
    StreamSVM,
    TwinVectorMachine,
)
from edgesvm.evaluation import Forecasts, as_shares

MOST_ROWS = 5_000
RARE = 0.02
SHARE = 0.9
# name: the learner, with class_weight as given; twins have none
LEARNERS: dict[str, Callable[[str | None], Learner | None]] = {
    "StreamSVM": lambda weight: StreamSVM(class_weight=weight),
    "FourierSVM, hinge": lambda weight: FourierSVM(class_weight=weight),
    "FourierSVM, logistic": lambda weight: FourierSVM(loss="logistic", class_weight=weight),
    "KernelStreamSVM": lambda weight: KernelStreamSVM(class_weight=weight),
    "TwinVectorMachine": lambda weight: None if weight else TwinVectorMachine(max_twins=50),
}
# name: class_weight, and the parameters of Calibrated; None: the learner by itself
WAYS: dict[str, tuple[str | None, dict[str, Any] | None]] = {
    "the learner": (None, None),
    "class_weight": ("balanced", None),
    "probabilities": (None, {}),
    "cost 20": (None, {"cost": {True: 20.0}}),
    "cost 49": (None, {"cost": {True: 49.0}}),
    "min_recall 0.9": (None, {"min_recall": {True: SHARE}}),
    "class_weight, min_recall 0.9": ("balanced", {"min_recall": {True: SHARE}}),
}


def first_rows(task: Task, most: int) -> tuple[np.ndarray, np.ndarray]:
    X, y, _, _ = task.split(0)
    return X[:most], np.asarray(y[:most], bool)


def thinned(task: Task, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The larger class, and of the smaller as many rows as make 2 %; True is the rare one."""
    X, y, _, _ = task.split(0)
    y = np.asarray(y, bool)
    rare = np.flatnonzero(y == (y.mean() < 0.5))
    usual = np.flatnonzero(y != (y.mean() < 0.5))[: int((1 - RARE) * most)]
    rows = np.concatenate([usual, rare[: round(len(usual) * RARE / (1 - RARE))]])
    rows = np.random.default_rng(0).permutation(rows)
    return X[rows], np.isin(rows, rare)


def forecasts(inner: Learner, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Log loss, reliability and accuracy, before and after."""
    learner = Calibrated(learner=inner).allocate(X.shape[1], classes=[False, True])
    scored = before, after = Forecasts(), Forecasts()
    right = np.zeros(2)
    for x, label in zip(X, y.tolist(), strict=True):
        if learner.is_fitted:
            f = learner.learner_.decision_one(x)
            p = learner.predict_proba_one(x)
            before.add(label, [False, True], as_shares(f))
            after.add(label, [False, True], p)
            right += [(f > 0) == label, (p[1] > 0.5) == label]
        learner.learn_one(x, label)
    names = ("before", "after")
    return {
        "shares": after.log_loss_of_shares,
        **{name: one.summary() for name, one in zip(names, scored, strict=True)},
        "accuracy": dict(zip(names, (right / after.n).tolist(), strict=True)),
    }


def found(learner: Learner, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Recall and precision of the rare class, and the share of the others that is called rare, in
    the second half of the rows."""
    learner.allocate(X.shape[1], classes=[False, True])
    called = np.zeros(len(y), bool)
    for i, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
        called[i] = learner.is_fitted and learner.predict_one(x)
        learner.learn_one(x, label)
    called, y = called[len(y) // 2 :], y[len(y) // 2 :]
    return {
        "recall": float(called[y].mean()) if y.any() else float("nan"),
        "precision": float(y[called].mean()) if called.any() else 0.0,
        "false alarms": float(called[~y].mean()),
    }


def mean(values: Iterable[float]) -> float:
    return float(np.nanmean(list(values)))


def table_of_forecasts(cells: dict[str, dict[str, Any]]) -> Table:
    rows = []
    for name in LEARNERS:
        of = [cell[name] for cell in cells.values()]
        worst = max(c["after"]["log_loss"] - c["shares"] for c in of)
        row = [mean(c["shares"] for c in of)]
        row += [mean(c[when]["log_loss"] for c in of) for when in ("before", "after")]
        error = [mean(c[w]["calibration_error"] for c in of) for w in ("before", "after")]
        right = [mean(c["accuracy"][w] for c in of) for w in ("before", "after")]
        rows.append(
            [
                name,
                *(f"{v:.4f}" for v in row),
                f"{worst:+.4f}",
                *(f"{100 * v:.1f}" for v in (*error, *right)),
            ]
        )
    return Table(
        f"Mean of {len(cells)} data sets",
        [
            *("learner", "log loss of the shares", "before", "after", "worst set, beside shares"),
            *("calibration error before, %", "after, %", "right by the score, %", "by p, %"),
        ],
        rows,
    )


def table_by_set(cells: dict[str, dict[str, Any]]) -> Table:
    rows = [
        [task, *(f"{c['before']['log_loss']:.3f} / {c['after']['log_loss']:.3f}" for c in of)]
        for task, cell in cells.items()
        for of in [[cell[name] for name in LEARNERS]]
    ]
    return Table("Log loss before / after", ["data", *LEARNERS], rows)


def table_of_rare(cells: dict[str, dict[str, Any]]) -> Table:
    rows = []
    for name in LEARNERS:
        for way in WAYS:
            of = [cell[name][way] for cell in cells.values() if way in cell[name]]
            if of:
                figures = [mean(c[what] for c in of) for what in of[0]]
                recalls = [c["recall"] for c in of if np.isfinite(c["recall"])]
                rows.append([name, way, *(f"{100 * v:.1f}" for v in (*figures, min(recalls)))])
    return Table(
        f"At 2 % faults, second half of the rows, mean of {len(cells)} data sets, in percent",
        ["learner", "way", "recall", "precision", "false alarms", "lowest recall of a set"],
        rows,
        "cost 49 is what makes the classes weigh the same: 98 % to 2 %.",
    )


def drawn(cells: dict[str, dict[str, Any]], path: Path) -> None:
    """Reliability before and after, all data sets together, a panel for each learner."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(
        1, len(LEARNERS), figsize=(2.6 * len(LEARNERS), 3.1), sharey=True, constrained_layout=True
    )
    for axes, name in zip(panels, LEARNERS, strict=True):
        axes.plot([0, 1], [0, 1], color="gray", linewidth=0.8)
        for when, color in (("before", "tab:orange"), ("after", "tab:blue")):
            bins = sum(np.array(cell[name][when]["reliability"]) for cell in cells.values())
            n, total, true = bins[bins[:, 0] > 0].T
            axes.plot(total / n, true / n, "o-", color=color, label=when, markersize=3.5)
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("probability")
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("share that came true")
    panels[0].legend(fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    args = parsed(arguments(__doc__))
    skipped = [] if args.quick else absent()
    gone = {line.split()[3].removesuffix(".npz") for line in skipped}
    tasks = [QUICK] if args.quick else [t for t in EVERY if t.name not in gone]
    most = 1_000 if args.quick else MOST_ROWS
    all_rows: dict[str, dict[str, Any]] = {task.name: {} for task in tasks}
    rare: dict[str, dict[str, Any]] = {task.name: {} for task in tasks}
    for task in tasks:
        X, y = first_rows(task, most)
        for name, make in LEARNERS.items():
            progress(f"{task.name}: {name}")
            inner = make(None)
            assert inner is not None
            all_rows[task.name][name] = forecasts(inner, X, y)
        X, y = thinned(task, most)
        for name, make in LEARNERS.items():
            progress(f"{task.name}, thinned: {name}")
            rare[task.name][name] = {}
            for way, (weight, params) in WAYS.items():
                if (inner := make(weight)) is not None:
                    learner = inner if params is None else Calibrated(learner=inner, **params)
                    rare[task.name][name][way] = found(learner, X, y)
    picture = figures_of(args.out) / "calibration_reliability.png"
    about = [
        f"The first {most:,} rows of each data set in one order, features scaled beforehand. For"
        " 2 % faults the larger class is kept and the smaller thinned.",
        "Calibration error: mean difference, over ten bins, of the probability said and the share"
        " that came true.",
    ]
    tables = [table_of_forecasts(all_rows), table_of_rare(rare), table_by_set(all_rows)]
    publish(
        Report(
            "calibration/platt",
            "Probabilities from scores, and a rare class found",
            tables,
            about,
            {"all rows": all_rows, "2 % faults": rare},
            skipped,
            [("Reliability before and after", os.path.relpath(picture, args.out))],
        ),
        args.out,
    )
    drawn(all_rows, picture)


if __name__ == "__main__":
    main()
