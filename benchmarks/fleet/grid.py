"""Which values `edgesvm tune` tries: a wide grid for each learner, and what is left of it once the
values that gain nothing are taken out.

On each data set every setting predicts 600 rows, each before it learns it; the best one's
accuracy on the next 1,500 rows is what counts. The grid is thinned on six of the sets, value
by value, the one whose loss costs least first, and shown on six others. The default stays.
Thinned on those others, it keeps other values; `edgesvm tune` tries the union.
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import Task
from benchmarks.common.every import CHOSEN_ON, SHOWN_ON, absent
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from edgesvm import RBF
from edgesvm.evaluation import Prequential
from edgesvm.learners import (
    LASVM,
    AdaGradSVM,
    FourierSVM,
    KernelStreamSVM,
    PassiveAggressive,
    Pegasos,
    StreamSVM,
    TwinVectorMachine,
)

ROWS, NEXT, MEMORY = 600, 1_500, "4KiB"
WIDE = {"mnist_0189", "usps", "w3a", "gas_drift_8batches", "bearing_cwru", "a9a", "wisdm_windows"}
MOST_LOST = 0.05  # points of accuracy that a value taken out may cost
WIDTHS = (0.1, 0.3, 3.0, 10.0)  # gamma, times 1 / n_features
C = (0.1, 1.0, 10.0, 100.0, 1000.0)
Grid = dict[str, tuple[Any, ...]]  # the default of each comes first

GRIDS: dict[str, tuple[Any, Grid]] = {
    "fourier": (
        FourierSVM,
        {
            "gamma": (None, *WIDTHS),
            "learning_rate": (0.1, 0.03, 0.3),
            "loss": ("hinge", "logistic"),
        },
    ),
    "adagrad": (
        AdaGradSVM,
        {"learning_rate": (0.5, 0.03, 0.1, 0.2, 1.0, 3.0), "loss": ("hinge", "logistic")},
    ),
    "stream": (StreamSVM, {"C": (1.0, 0.1, 10.0, 100.0, 1000.0), "bound": ("lower", "upper")}),
    "kernel-stream": (
        KernelStreamSVM,
        {"C": (100.0, 0.1, 1.0, 10.0, 1000.0), "gamma": (1.0, *WIDTHS)},
    ),
    "twin": (
        TwinVectorMachine,
        {
            "C": (100.0, 1.0, 10.0, 1000.0),
            "gamma": (1.0, *WIDTHS),
            "eta": (0.2, 1.0),
        },
    ),
    "lasvm": (
        LASVM,
        {"C": (1.0, 0.1, 10.0, 100.0, 1000.0), "gamma": (1.0, *WIDTHS)},
    ),
    "passive-aggressive": (
        PassiveAggressive,
        {"C": (1.0, 0.001, 0.01, 0.1, 10.0), "variant": ("PA-I", "PA-II")},
    ),
    "pegasos": (Pegasos, {"lambda_": (0.01, 1e-5, 1e-4, 1e-3, 0.1)}),
}


def learner_of(kind: Any, chosen: dict[str, Any], n_features: int) -> Any:
    params = dict(chosen)
    if params.get("gamma") is not None:
        gamma = params.pop("gamma") / n_features
        params |= {"gamma": gamma} if kind is FourierSVM else {"kernel": RBF(gamma)}
    return kind(**params).fitted_into(MEMORY, n_features)


def tried(learner: Any, data: Any) -> tuple[float, float]:
    """Accuracy on the first rows, each before it is learned, and on the next."""
    X, y, X_next, y_next = data
    score = Prequential()
    learner.allocate(X.shape[1])
    for x, label in zip(X, y, strict=True):
        if learner.is_fitted:
            score.add(label, learner.predict_one(x))
        learner.learn_one(x, label)
    return 100 * (score.accuracy or 0.0), 100 * learner.score(X_next, y_next)


def measured(kind: Any, grid: Grid, tasks: list[Task], n: int) -> np.ndarray:
    """First and next accuracy: (sets, a place for each parameter's values, 2)."""
    shape = tuple(len(values) for values in grid.values())
    found = np.empty((len(tasks), *shape, 2))
    for s, task in enumerate(tasks):
        progress(f"{kind.__name__}: {task.name}")
        X, y, X_test, y_test = task.split(0)
        data = X[:n], y[:n], X_test[:NEXT], y_test[:NEXT]
        for at in itertools.product(*map(range, shape)):
            values = [values[k] for k, values in zip(at, grid.values(), strict=True)]
            chosen = dict(zip(grid, values, strict=True))
            found[(s, *at)] = tried(learner_of(kind, chosen, X.shape[1]), data)
    return found


def best(found: np.ndarray, kept: list[list[int]]) -> float:
    """Mean next accuracy of the setting that is first by the first accuracy, on each set."""
    part = found[np.ix_(range(len(found)), *kept, range(2))].reshape(len(found), -1, 2)
    return float(np.mean([one[one[:, 0].argmax(), 1] for one in part]))


def thinned(found: np.ndarray) -> list[list[int]]:
    """The values that are kept, by their places."""
    kept = [list(range(n)) for n in found.shape[1:-1]]
    whole = best(found, kept)
    while True:
        fewer = []
        for p, places in enumerate(kept):
            for place in set(places) - {0}:  # the default stays
                others = [[k for k in of if (q, k) != (p, place)] for q, of in enumerate(kept)]
                fewer.append((best(found, others), others))
        if not fewer:
            return kept
        score, others = max(fewer, key=lambda one: one[0])
        if score < whole - MOST_LOST:
            return kept
        kept = others


def said(value: Any) -> str:
    return str(value) if isinstance(value, str) or value is None else f"{value:g}"


def main() -> None:
    args = parsed(arguments(__doc__))
    warnings.simplefilter("ignore")
    n = 200 if args.quick else ROWS
    skipped = absent()
    away = WIDE | {line.split(":")[0] for line in skipped}
    here = [[t for t in half if t.name not in away][:6] for half in (CHOSEN_ON, SHOWN_ON)]
    if args.quick:
        here = [[half[-1]] for half in here]
    rows, values_kept = [], []
    for name, (kind, grid) in GRIDS.items():
        if args.quick and name not in {"adagrad", "pegasos"}:
            continue
        found = [measured(kind, grid, half, n) for half in here]
        kept, again = (thinned(of) for of in found)
        every = [list(range(len(values))) for values in grid.values()]
        first = [[0] for _ in grid]
        sizes = [int(np.prod([len(of) for of in which])) for which in (every, kept)]
        cells = [f"{best(of, which):.1f}" for of in found for which in (first, every, kept)]
        rows.append([name, *sizes, *cells])
        for (param, values), *both in zip(grid.items(), kept, again, strict=True):
            left = [", ".join(said(values[k]) for k in sorted(places)) for places in both]
            values_kept.append([f"{name}: {param}", ", ".join(map(said, values)), *left])
    columns = ["learner", "settings", "kept"]
    columns += [
        f"{what}, {half}"
        for half in ("chosen on", "shown on")
        for what in ("default", "all", "kept")
    ]
    note = f"In {MEMORY}, features scaled beforehand; gamma is times 1 / number of features."
    tables = [
        Table("Accuracy on the next rows, %", columns, rows, note),
        Table(
            "The values",
            ["", "tried, the default first", "kept by these", "kept by the others"],
            values_kept,
        ),
    ]
    title = "The values that edgesvm tune tries"
    publish(Report("fleet/grid", title, tables, [__doc__ or ""], rows, skipped), args.out)


if __name__ == "__main__":
    main()
