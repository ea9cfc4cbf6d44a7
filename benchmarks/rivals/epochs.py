"""Passes of `fit` over rows at hand: 1, 2, 5 and 20, of few rows and of many. Where the default of
`epochs` comes from.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn import datasets

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import Split
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.rivals.streams import THREE_WAVES, of_developers
from edgesvm import (
    AdaGradSVM,
    ByteSVM,
    Calibrated,
    FourierSVM,
    KernelStreamSVM,
    OneVsRest,
    PassiveAggressive,
    Perceptron,
    Standardized,
    StreamSVM,
)
from edgesvm.learner import Learner

EPOCHS = (1, 2, 5, 20)
ROWS = (100, 300, 1000, 3000)
MOST_TESTED = 1000
LEAST_PROBABILITY = 1e-6
LEARNERS: dict[str, Callable[[int], Learner]] = {
    "ByteSVM": lambda k: ByteSVM(),
    "ByteSVM, 16 KiB": lambda k: ByteSVM(n_bytes=16384),
    "FourierSVM": lambda k: Standardized(learner=FourierSVM(n_classes=k)),
    "AdaGradSVM": lambda k: Standardized(learner=AdaGradSVM(n_classes=k)),
    "StreamSVM": lambda k: one_each(StreamSVM(), k),
    "Perceptron": lambda k: one_each(Perceptron(), k),
    "PassiveAggressive": lambda k: one_each(PassiveAggressive(), k),
    "KernelStreamSVM": lambda k: one_each(KernelStreamSVM(max_vectors=50), k),
    "Calibrated FourierSVM": lambda k: Calibrated(
        learner=Standardized(learner=FourierSVM(n_classes=k))
    ),
}
SLOW, MOST_OF_SLOW = ("KernelStreamSVM",), 300
THEIRS = ("iris", "wine", "breast_cancer", "digits")


def one_each(part: Learner, n_classes: int) -> Learner:
    return Standardized(learner=OneVsRest(learner=part, n_classes=n_classes))


def theirs(name: str, rng: np.random.Generator) -> Split:
    """One of scikit-learn's own sets, 70 to 30 at random."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    learned, tested = np.split(rng.permutation(len(X)), [int(0.7 * len(X))])
    X = X.astype(np.float32)
    return X[learned], y[learned], X[tested], y[tested]


def log_loss(learner: Learner, X: np.ndarray, y: np.ndarray) -> float:
    """Mean of -log of the probability of the label; of a label never seen, of 1e-6."""
    if not hasattr(learner, "predict_proba"):
        return float("nan")
    known = learner.classes_.tolist()
    given = learner.predict_proba(X)  # type: ignore[attr-defined]
    of_label = [
        row[known.index(v)] if v in known else 0.0 for row, v in zip(given, y.tolist(), strict=True)
    ]
    return float(-np.log(np.maximum(of_label, LEAST_PROBABILITY)).mean())


def measured(
    make: Callable[[int], Learner], split: Split, n: int
) -> dict[int, tuple[float, float]]:
    """Accuracy and log loss by the number of passes over the first n rows."""
    X, y, X_test, y_test = split
    k = max(2, len(np.unique(y)))
    found = {}
    for epochs in EPOCHS:
        learner = make(k).fit(X[:n], y[:n], epochs=epochs)
        right = float(learner.score(X_test, y_test))
        found[epochs] = 100 * right, log_loss(learner, X_test, y_test)
    return found


def splits_of(quick: bool, seed: int) -> dict[str, Split]:
    rng = np.random.default_rng(seed)
    tasks = [THREE_WAVES] if quick else of_developers()
    found = {task.name.removesuffix(", all classes"): task.split(seed) for task in tasks}
    if not quick:
        found |= {name: theirs(name, rng) for name in THEIRS}
    mixed = {}
    for name, (X, y, X_test, y_test) in found.items():
        order, tested = rng.permutation(len(X)), rng.permutation(len(X_test))[:MOST_TESTED]
        mixed[name] = X[order], y[order], X_test[tested], y_test[tested]
    return mixed


def main() -> None:
    args = parsed(arguments(__doc__, seed=0))
    splits = splits_of(args.quick, args.seed)
    sizes = ROWS[:1] if args.quick else ROWS
    figures: dict[str, dict[str, dict[int, tuple[float, float]]]] = {}
    means, losses, each = [], [], []
    for learner, make in LEARNERS.items():
        for n in sizes:
            if learner in SLOW and n > MOST_OF_SLOW:
                continue
            enough = [name for name, split in splits.items() if len(split[0]) >= n or n == sizes[0]]
            found = {name: measured(make, splits[name], n) for name in enough}
            figures[f"{learner}, {n} rows"] = found
            mean = {e: np.mean([found[name][e] for name in enough], axis=0) for e in EPOCHS}
            row = [learner, n, len(enough)]
            means.append([*row, *(f"{mean[e][0]:.1f}" for e in EPOCHS)])
            if not np.isnan(mean[1][1]):
                losses.append([*row, *(f"{mean[e][1]:.3f}" for e in EPOCHS)])
            if learner == "ByteSVM":
                for name in enough:
                    each.append([name, n, *(f"{found[name][e][0]:.1f}" for e in EPOCHS)])
            progress(f"{learner}, {n} rows")
    passes = [f"{e} pass" if e == 1 else f"{e} passes" for e in EPOCHS]
    columns = ["learner", "rows", "sets", *passes]
    tables = [
        Table("Accuracy, %: means over the sets that have so many rows", columns, means),
        Table("Log loss of the probabilities: means", columns, losses),
        Table("ByteSVM on each set, accuracy in %", ["set", "rows", *passes], sorted(each)),
    ]
    about = (
        f"`fit(X, y, epochs=...)` of the first rows of the developers' sets and of scikit-learn's,"
        f" all classes, in random orders; at most {MOST_TESTED:,} rows tested. The linear learners"
        " and KernelStreamSVM learn one class each (`OneVsRest`)."
    )
    publish(Report("rivals/epochs", "Passes of fit", tables, [about], figures), args.out)


if __name__ == "__main__":
    main()
