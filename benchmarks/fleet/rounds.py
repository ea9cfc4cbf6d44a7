"""Federated averaging in rounds against one learner of all rows.

The rows are dealt out to 2, 8 and 64 learners, at random ("i.i.d.") or sorted by their first
feature. All start with the statistics of all rows; in each round every learner goes on from the
merged model, over all its rows. It is what `fleet.fit(..., rounds=)` does on workers.
"""

from __future__ import annotations

import copy
from functools import reduce
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import missing
from benchmarks.common.every import load
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.fleet.parts import checkerboard, percent
from edgesvm import Standardized
from edgesvm.fleet import merged, start
from edgesvm.learners import AdaGradSVM, FourierSVM

FILES = ("ijcnn1", "elec2")
ROWS, SHOWN = 10_000, (1, 3, 10)
LEARNERS = {"FourierSVM": FourierSVM(), "AdaGradSVM": AdaGradSVM()}


def parts_of(X: np.ndarray, n: int, is_sorted: bool) -> list[np.ndarray]:
    rng = np.random.default_rng(n)
    order = np.argsort(X[:, 0], kind="stable") if is_sorted else rng.permutation(len(X))
    return [rng.permutation(part) for part in np.array_split(order, n)]


def in_rounds(learner: Any, data: Any, parts: list[np.ndarray]) -> list[float]:
    """Accuracy after the rounds that are shown."""
    X, y, X_test, y_test = data
    model: Any = start([learner.like_new().partial_fit(X[at], y[at]) for at in parts])
    found = []
    for k in range(SHOWN[-1]):
        own = [copy.deepcopy(model).partial_fit(X[at], y[at]) for at in parts]
        model = merged(own, since=model)
        if k + 1 in SHOWN:
            found.append(percent(model, X_test, y_test))
    return found


def alone(learner: Any, data: Any) -> list[float]:
    """Accuracy of one learner of all rows, after as many passes."""
    X, y, X_test, y_test = data
    model, found = learner.like_new(), []
    at = np.random.default_rng(0).permutation(len(X))
    for k in range(SHOWN[-1]):
        model.partial_fit(X[at], y[at])
        if k + 1 in SHOWN:
            found.append(percent(model, X_test, y_test))
    return found


def main() -> None:
    args = parsed(arguments(__doc__))
    n = 600 if args.quick else ROWS
    n_parts = (2, 4) if args.quick else (2, 8, 64)
    sets: dict[str, Any] = {"N-Checkerboard": checkerboard(n)}
    skipped = []
    for name in () if args.quick else FILES:
        if why := missing(name):
            skipped.append(why)
            continue
        X, y, *test = load(name, np.random.default_rng(0))
        sets[name] = X[:n], y[:n], *test
    tables = []
    for name, data in sets.items():
        rows = []
        for kind, inner in LEARNERS.items():
            progress(f"{name}: {kind}")
            learner = Standardized(learner=inner)
            rows.append([f"{kind}, one of all rows", *alone(learner, data)])
            for how in ("i.i.d.", "sorted"):
                for k in n_parts:
                    parts = parts_of(data[0], k, how == "sorted")
                    rows.append([f"{kind}, {k} parts, {how}", *in_rounds(learner, data, parts)])
        larger = round(100 * max(data[3].mean(), 1 - data[3].mean()), 1)
        columns = ["", *(f"{k} round" + "s" * (k > 1) for k in SHOWN)]
        note = f"The larger class is {larger} % of the test rows."
        tables.append(Table(f"{name}, {len(data[0]):,} rows: accuracy, %", columns, rows, note))
    about = [
        "Behind Standardized, whose statistics are those of all rows. A round is a pass of every"
        " part over its own rows; one learner of all rows makes as many passes."
    ]
    title = "Federated averaging in rounds"
    figures = reduce(lambda found, table: [*found, table.rows], tables, [])
    publish(Report("fleet/rounds", title, tables, about, figures, skipped), args.out)


if __name__ == "__main__":
    main()
