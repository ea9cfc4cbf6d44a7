"""Models of parts of the rows, merged, against one model of all: what merging costs.

The rows are dealt out to 2, 8 and 64 learners, at random ("i.i.d.") or sorted by their first
feature, so that no learner knows what the others see.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import load_ijcnn, missing
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from edgesvm import RBF, BatchSVM, StreamSVM, TwinVectorMachine
from edgesvm.data import Checkerboard
from edgesvm.fleet import MergeError, merged
from edgesvm.learners import AdaGradSVM, BallVectorMachine, FourierSVM

ROWS = 20_000


def learners(gamma: float) -> dict[str, Any]:
    kernel = RBF(gamma)
    return {
        "TwinVectorMachine(max_twins=30)": TwinVectorMachine(max_twins=30, kernel=kernel),
        "TwinVectorMachine(max_twins=100)": TwinVectorMachine(max_twins=100, kernel=kernel),
        "BatchSVM(max_samples=400)": BatchSVM(max_samples=400, kernel=kernel, when_full="oldest"),
        "BallVectorMachine(max_core=200)": BallVectorMachine(max_core=200, kernel=kernel),
        "FourierSVM": FourierSVM(),
        "AdaGradSVM": AdaGradSVM(),
        "StreamSVM": StreamSVM(),
    }


def percent(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    return round(100 * model.score(X, y), 1)


def of_merged(own: list[Any], X: np.ndarray, y: np.ndarray) -> float | None:
    """None if they cannot be merged in the same memory."""
    try:
        return percent(merged(own), X, y)
    except MergeError:
        return None


def checkerboard(n: int) -> Any:
    X, y = Checkerboard(seed=1).read(n + 5_000)
    y = np.where(np.random.default_rng(1).random(len(y)) < 0.05, 1 - np.sign(y), np.sign(y))
    y = y > 0
    return X[:n], y[:n], X[n:], y[n:]


def ijcnn(n: int) -> Any:
    split = load_ijcnn(np.random.default_rng(0))
    X, y, X_test, y_test = split
    at = np.random.default_rng(0).permutation(len(X))[:n]
    return X[at], y[at], X_test[:5_000], y_test[:5_000]


def rows(learner: Any, name: str, data: Any, parts: tuple[int, ...]) -> list[list[Any]]:
    """Of the merged models, and of the mean of those that they were merged of."""
    X, y, X_test, y_test = data
    one = learner.like_new().partial_fit(X, y)
    together: list[Any] = [name, percent(one, X_test, y_test)]
    apart: list[Any] = ["the mean of its parts", None]
    for order in (np.random.default_rng(0).permutation(len(X)), np.argsort(X[:, 0], kind="stable")):
        for n in parts:
            pieces = [np.random.default_rng(n).permutation(p) for p in np.array_split(order, n)]
            own = [learner.like_new().partial_fit(X[at], y[at]) for at in pieces]
            together.append(of_merged(own, X_test, y_test))
            apart.append(round(float(np.mean([percent(m, X_test, y_test) for m in own])), 1))
    return [together, apart]


def main() -> None:
    args = parsed(arguments(__doc__))
    warnings.simplefilter("ignore")  # that a core set is full
    n = 600 if args.quick else ROWS
    parts = (2, 4) if args.quick else (2, 8, 64)
    sets = {"N-Checkerboard": (checkerboard(n), 1.0)}
    skipped = []
    if not args.quick:
        if why := missing("ijcnn1"):
            skipped.append(why)
        else:
            sets["ijcnn1"] = (ijcnn(n), 1.0)
    orders = [f"{n_parts}, {how}" for how in ("i.i.d.", "sorted") for n_parts in parts]
    tables = []
    for name, (data, gamma) in sets.items():
        found = []
        for kind, learner in learners(gamma).items():
            progress(f"{name}: {kind}")
            found += rows(learner, kind, data, parts)
        larger = round(100 * max(data[3].mean(), 1 - data[3].mean()), 1)
        note = f"The larger class is {larger} % of the test rows."
        columns = ["learner", "one", *orders]
        tables.append(Table(f"{name}, {n:,} rows: accuracy, %", columns, found, note))
    about = [
        "Accuracy on test rows of one learner of all rows, and of n that were merged, in the memory"
        " of one; below it the mean of the n models themselves. Empty: refused, since their vectors"
        " do not fit in the memory of one."
    ]
    title = "Merged models against one of all rows"
    publish(Report("fleet/parts", title, tables, about, tables[0].rows, skipped), args.out)


if __name__ == "__main__":
    main()
