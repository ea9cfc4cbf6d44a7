"""Standardizers before rare rows far out of range: mean and deviation (`Standardized`), quartiles
by P-square, and median and median distance (`RobustStandardized`), clipped or not, in front of
three learners.

Seven of 15,000 rows to learn, at least three, are multiplied by 10^u, u uniform in 3 to 6. The test
rows have no spikes. Everything is chosen on one half of the data sets and shown on the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.cells import Cells, build_id
from benchmarks.common.clock import race
from benchmarks.common.data import Split, Task, generated
from benchmarks.common.every import CHOSEN_ON, SHOWN_ON, absent
from benchmarks.common.progress import progress
from benchmarks.common.report import Report, Table, publish
from benchmarks.preprocessing.quartiles import by_deviation, by_quartiles, quartiles, scaled
from edgesvm import BatchSVM, Learner, RobustStandardized, Standardized, StreamSVM
from edgesvm import TwinVectorMachine as Twins
from edgesvm.data import Gauss, TwoNorm

SHARE, LEAST, EXPONENTS = 7 / 15_000, 3, (3.0, 6.0)
ROWS, TESTED = 3_000, 3_000
LEARNERS: dict[str, Callable[[], Learner]] = {
    "stream": lambda: StreamSVM(bound="lower", average=False),
    "twin": lambda: Twins(max_twins=30),
    "batch": lambda: BatchSVM(max_samples=800, when_full="oldest"),
}
DEVIATION, ROBUST = "deviation", "robust, clip 5"
QUARTILES, CLIPPED = "quartiles, clip 5", "deviation, clip 5"
SCALERS: dict[str, Callable[[Learner], Learner]] = {
    DEVIATION: lambda inner: Standardized(learner=inner),
    "robust": lambda inner: RobustStandardized(learner=inner, clip=None),
    "robust, clip 3": lambda inner: RobustStandardized(learner=inner, clip=3.0),
    ROBUST: lambda inner: RobustStandardized(learner=inner, clip=5.0),
    "robust, clip 8": lambda inner: RobustStandardized(learner=inner, clip=8.0),
}
AHEAD = {CLIPPED: by_deviation, QUARTILES: by_quartiles}  # scaled in NumPy, clipped at 5
SHOWN = (DEVIATION, QUARTILES, ROBUST)
CONDITIONS = ("clean", "spikes")
QUICK = [
    Task("gauss", generated(Gauss, 600, 300), redraws=True),
    Task("two-norm", generated(TwoNorm, 600, 300), redraws=True),
]
REPORTED = ("letter", "elec2", "noisy checkerboard", "gauss")


def spiked(X: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = X.copy()
    n = max(LEAST, round(SHARE * len(X)))
    rows = rng.choice(len(X), n, replace=False)
    X[rows] *= (10 ** rng.uniform(*EXPONENTS, n)[:, None]).astype(X.dtype)
    return X


def rows_of(task: Task, seed: int, condition: str, n: int = ROWS) -> Split:
    X, y, X_test, y_test = task.split(seed)
    X, y = X[:n], y[:n]
    return spiked(X, seed) if condition == "spikes" else X, y, X_test[:TESTED], y_test[:TESTED]


def accuracy(learner: Learner, split: Split) -> float:
    """Per cent, after one pass; NaN where a row was refused as too large."""
    X, y, X_test, y_test = split
    try:
        learner.partial_fit(X, y, classes=[False, True])
        return 100 * float((learner.predict(X_test) == y_test).mean())
    except ValueError:
        return math.nan


# -- accuracy --------------------------------------------------------------------------------------


def measured(
    cells: Cells, tasks: list[Task], names: tuple[str, ...], orders: int, n: int
) -> Iterator[tuple]:
    """The keys of all cells, each measured once."""
    for task in tasks:
        for seed in range(orders):
            for condition in CONDITIONS:
                keys = {
                    (task.name, seed, condition, name, inner, n): (name, inner)
                    for name in names
                    for inner in LEARNERS
                }
                if not all(key in cells for key in keys):
                    progress(f"{task.name}, order {seed}, {condition}")
                    run(cells, keys, rows_of(task, seed, condition, n))
                yield from keys


def run(cells: Cells, keys: dict[tuple, tuple[str, str]], split: Split) -> None:
    X, y, X_test, y_test = split
    exact = X.astype(np.float64)
    ahead = {
        name: scaled(exact, X_test, AHEAD[name](exact), 5.0)
        for name in {name for name, _ in keys.values()} & AHEAD.keys()
    }
    for key, (name, inner) in keys.items():
        if key in cells:
            continue
        if name in AHEAD:
            Z, Z_test = ahead[name]
            value = accuracy(LEARNERS[inner](), (Z, y, Z_test, y_test))
        else:
            value = accuracy(SCALERS[name](LEARNERS[inner]()), split)
        cells[key] = {"accuracy": None if math.isnan(value) else value}


def mean_of(cells: Cells, keys: list[tuple], *wanted: object) -> float:
    """Mean accuracy of the keys that have all of these; a refused stream counts as 0."""
    values = [cells[key]["accuracy"] or 0.0 for key in keys if set(wanted) <= set(key)]
    return float(np.mean(values))


def means(title: str, cells: Cells, keys: list[tuple], names: tuple[str, ...]) -> Table:
    columns = ["scaler", *(f"{inner}, {c}" for c in CONDITIONS for inner in LEARNERS)]
    rows = [
        [name, *(f"{mean_of(cells, keys, name, i, c):.1f}" for c in CONDITIONS for i in LEARNERS)]
        for name in names
    ]
    note = "Mean of the sets, per cent right on test rows without spikes."
    return Table(title, columns, rows, note)


def each_set(title: str, cells: Cells, keys: list[tuple]) -> Table:
    """Deviation → robust, set by set, and where the robust one is behind without spikes."""
    columns = ["set", *(f"{inner}, {c}" for c in CONDITIONS for inner in LEARNERS)]
    rows: list[list[str]] = []
    behind = []
    for task in dict.fromkeys(key[0] for key in keys):
        row = [task]
        for condition in CONDITIONS:
            for inner in LEARNERS:
                of = [key for key in keys if key[0] == task]
                old = mean_of(cells, of, DEVIATION, inner, condition)
                new = mean_of(cells, of, ROBUST, inner, condition)
                row.append(f"{old:.1f} → {new:.1f}")
                if condition == "clean" and new < old - 1:
                    behind.append(f"{task} ({inner}) {new - old:+.1f}")
        rows.append(row)
    note = "Behind the deviation by more than 1 without spikes: " + (", ".join(behind) or "nowhere")
    return Table(title, columns, rows, note + ".")


# -- the statistics --------------------------------------------------------------------------------


def robust_scale(X: np.ndarray) -> np.ndarray:
    learner = RobustStandardized(learner=StreamSVM(dtype="float64"))
    scale: np.ndarray = learner.partial_fit(X, np.arange(len(X)) % 2 == 0).scale_
    return scale


def quartile_distance(X: np.ndarray, fence: float | None) -> np.ndarray:
    *_, (low, _, high) = quartiles(X, fence)
    return high - low


def exact_distance(X: np.ndarray) -> np.ndarray:
    low, high = np.quantile(X, [0.25, 0.75], axis=0)
    return high - low


def exact_scale(X: np.ndarray) -> np.ndarray:
    return 1.4826 * np.median(np.abs(X - np.median(X, axis=0)), axis=0)


ESTIMATES: dict[str, tuple[Callable[..., np.ndarray], Callable[..., np.ndarray], int]] = {
    "P-square": (lambda X: quartile_distance(X, None), exact_distance, 64),
    "P-square, fenced": (lambda X: quartile_distance(X, 3.0), exact_distance, 64),
    "median distance": (robust_scale, exact_scale, 24),
}


def factors(tasks: list[Task], n: int) -> list[dict[str, Any]]:
    """How far each estimate of the scale is off, as a factor, over the features that vary."""
    found = []
    for name, (estimate, exact, n_bytes) in ESTIMATES.items():
        for condition in CONDITIONS:
            off: list[float] = []
            for task in tasks:
                progress(f"{name}, {condition}, {task.name}")
                X = rows_of(task, 0, condition, n)[0].astype(np.float64)
                right, got = exact(X), estimate(X)
                used = right > 0
                off += np.exp(np.abs(np.log(np.maximum(got[used], 1e-12) / right[used]))).tolist()
            median, tenth, most = np.quantile(off, [0.5, 0.9, 1.0])
            found.append(
                {"estimate": name, "condition": condition, "bytes": n_bytes, "features": len(off)}
                | {"median": median, "90 %": tenth, "worst": most}
            )
    return found


def estimates_table(found: list[dict[str, Any]]) -> Table:
    columns = ["estimate", "bytes a feature", "rows", "median factor", "90 %", "worst"]
    rows = [
        [f["estimate"], f"{f['bytes']}", f["condition"]]
        + [f"{f[key]:.4g}" for key in ("median", "90 %", "worst")]
        for f in found
    ]
    note = (
        "Factor between the estimate and the exact value of the same rows, at least 1, over the "
        "features where the exact value is not 0. P-square's is of the quartile distance, the "
        "other of 1.4826 times the median distance from the median."
    )
    return Table("How far the estimated scale is off", columns, rows, note)


# -- as reported, and the cost ---------------------------------------------------------------------


def as_reported(tasks: list[Task], n: int) -> Table:
    rows = []
    for task in tasks:
        splits = {condition: rows_of(task, 0, condition, n) for condition in CONDITIONS}
        for inner, make in LEARNERS.items():
            progress(f"as reported: {task.name}, {inner}")
            found = [
                accuracy(SCALERS[name](make()), splits[condition])
                for name in (DEVIATION, ROBUST)
                for condition in CONDITIONS
            ]
            rows.append([f"{task.name}, {inner}", *(f"{value:.1f}" for value in found)])
    columns = [
        "set, learner",
        *(f"{name}: {c}" for name in (DEVIATION, ROBUST) for c in CONDITIONS),
    ]
    title = f"{max(LEAST, round(SHARE * n))} of {n:,} rows"
    return Table(title, columns, rows, "One order.")


def cost(rounds: int, n: int, width: int) -> list[list[str]]:
    X = np.random.default_rng(0).standard_normal((n, width)).astype(np.float32)
    y = X[:, 0] > 0
    inner = LEARNERS["stream"]
    models = {"none": inner()}
    models |= {name: SCALERS[name](inner()) for name in (DEVIATION, ROBUST)}
    runs = {name: partial(model.fit, X, y) for name, model in models.items()}
    seconds = race(rounds, clock=process_time, **runs)
    return [
        [f"{name}, {width} features", f"{model.nbytes:,}", f"{1e6 * seconds[name] / n:.3f}"]
        for name, model in models.items()
    ]


def main() -> None:
    args = parsed(arguments(__doc__, orders=3, rounds=5))
    cells = Cells(args.cells / "preprocessing_spikes.jsonl", build_id())
    there = [] if args.quick else [task for task in CHOSEN_ON + SHOWN_ON if not missing_set(task)]
    chosen = QUICK[:1] if args.quick else [task for task in CHOSEN_ON if task in there]
    shown = QUICK[1:] if args.quick else [task for task in SHOWN_ON if task in there]
    orders, n = (1, 300) if args.quick else (args.orders, ROWS)
    timed_rows = 2_000 if args.quick else 20_000
    names = (*SCALERS, *AHEAD)
    chosen_keys = list(measured(cells, chosen, names, orders, n))
    shown_keys = list(measured(cells, shown, SHOWN, orders, n))
    found = factors(chosen + shown, n)
    reported = QUICK if args.quick else [task for task in there if task.name in REPORTED]
    tables = [
        means(f"Chosen on: {len(chosen)} sets, {orders} orders", cells, chosen_keys, names),
        means(f"Shown on: {len(shown)} sets, {orders} orders", cells, shown_keys, SHOWN),
        each_set(f"{DEVIATION} → {ROBUST}, sets chosen on", cells, chosen_keys),
        each_set(f"{DEVIATION} → {ROBUST}, sets shown on", cells, shown_keys),
        estimates_table(found),
        as_reported(reported, 600 if args.quick else 15_000),
        Table(
            "Bytes and time before StreamSVM(bound='lower')",
            ["scaler", "bytes", "µs a row"],
            [row for width in (8, 64) for row in cost(args.rounds, timed_rows, width)],
            "Seconds of the processor, median of the rounds.",
        ),
    ]
    about = [
        f"{n:,} rows to learn in one pass, at most {TESTED:,} to test. Spikes: 7 of 15,000 rows, "
        "at least 3, times 10^u, u uniform in 3 to 6; the test rows have none. Learners: "
        "StreamSVM(bound='lower', average=False), TwinVectorMachine(max_twins=30), "
        "BatchSVM(max_samples=800, when_full='oldest'), all else default.",
        "`deviation` is `Standardized`; `robust` is `RobustStandardized`; `quartiles` is P-square "
        "with fences, and the deviation where the quartiles are equal.",
    ]
    figures = {
        "cells": [[*key, cells[key]["accuracy"]] for key in chosen_keys + shown_keys],
        "estimates": found,
    }
    title = "Standardizers before a few spikes"
    publish(
        Report("preprocessing/spikes", title, tables, about, figures, absent()),
        args.out,
    )


def missing_set(task: Task) -> bool:
    return any(line.startswith(f"there is no {task.name}.npz") for line in absent())


if __name__ == "__main__":
    main()
