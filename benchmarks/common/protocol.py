"""How accuracy is measured: one pass over a random order, the penalty chosen on held-out training
rows only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from benchmarks.common.clock import timed
from benchmarks.common.data import Split, Task

HELD_OUT = 0.2
Make = Callable[[Any], Any]  # a learner for one value of the parameter that is chosen


@dataclass(frozen=True)
class Outcome:
    """One setting on one task, over all orders."""

    accuracy: float  # percent, mean
    accuracy_deviation: float
    balanced: float  # percent: mean of the two classes' accuracies
    balanced_deviation: float
    updates: float
    n_bytes: int
    ms: float  # a pass, median
    us: float  # a sample, median
    chosen: list[Any]  # parameter values, one if the training rows are the same in all orders


def held_out(rng: np.random.Generator, X: np.ndarray, y: np.ndarray) -> Split:
    """A fifth of the rows aside, the others in a random order."""
    order = rng.permutation(len(X))
    n_aside = int(HELD_OUT * len(X))
    aside, kept = order[:n_aside], order[n_aside:]
    return X[kept], y[kept], X[aside], y[aside]


def accuracy_of(hits: np.ndarray, y: np.ndarray) -> float:
    return 100 * hits.mean()


def balanced_of(hits: np.ndarray, y: np.ndarray) -> float:
    """Mean of the two classes' accuracies; of those there are, if one is absent."""
    return 100 * np.mean([hits[part].mean() for part in (y, ~y) if part.any()])


def choose(
    make: Make,
    grid: Sequence[Any],
    X: np.ndarray,
    y: np.ndarray,
    n_splits: int,
    *,
    by: Callable[[np.ndarray, np.ndarray], float] = accuracy_of,
) -> Any:
    """The value of the best mean score on `n_splits` held-out fifths; the first of equals."""
    if len(grid) == 1:
        return grid[0]
    rng = np.random.default_rng(2008)
    scores = np.zeros(len(grid))
    for _ in range(n_splits):
        X_kept, y_kept, X_aside, y_aside = held_out(rng, X, y)
        for k, value in enumerate(grid):
            hits = one_pass(make(value), X_kept, y_kept).predict(X_aside) == y_aside
            scores[k] += by(hits, y_aside)
    return grid[int(scores.argmax())]


def one_pass(learner: Any, X: np.ndarray, y: np.ndarray) -> Any:
    return learner.partial_fit(X, y, classes=[False, True])


def measure(
    make: Make,
    grid: Sequence[Any],
    task: Task,
    splits: Sequence[Split],
    *,
    n_splits: int,
    describe: Callable[[Any], tuple[int, int]],
    by: Callable[[np.ndarray, np.ndarray], float] = accuracy_of,
) -> Outcome:
    """`describe(learner)` gives (updates, bytes); `by` is the score that the value is chosen by."""
    accuracy, balanced, updates, seconds, chosen = [], [], [], [], []
    for X, y, X_test, y_test in splits:
        if task.redraws or not chosen:
            chosen.append(choose(make, grid, X, y, n_splits, by=by))
        learner = make(chosen[-1])
        seconds.append(timed(partial(one_pass, learner, X, y)))
        hits = learner.predict(X_test) == y_test
        accuracy.append(accuracy_of(hits, y_test))
        balanced.append(balanced_of(hits, y_test))
        n_updates, n_bytes = describe(learner)
        updates.append(n_updates)
    return Outcome(
        float(np.mean(accuracy)),
        float(np.std(accuracy, ddof=1)) if len(splits) > 1 else 0.0,
        float(np.mean(balanced)),
        float(np.std(balanced, ddof=1)) if len(splits) > 1 else 0.0,
        float(np.mean(updates)),
        int(n_bytes),
        1e3 * median(seconds),
        1e6 * median(seconds) / len(splits[0][0]),
        chosen,
    )
