"""Every data set as a stream of raw rows: in the order of time where the source has one, else at
random. Labels stop after the rows to learn.
"""

from __future__ import annotations

import numpy as np

from benchmarks.common.data import Split, Task
from benchmarks.common.every import FILES, rows_of

IN_TIME = ("elec2", "gas_drift_8batches", "occupancy", "robot_wall24")


def stream(task: Task, seed: int, n: int) -> Split:
    """At most n rows to learn, up to where labels stop, and n to test, from there on."""
    if task.name in FILES:
        rng = np.random.default_rng(seed)
        X, y, X_test, y_test = rows_of(task.name, rng, in_time=task.name in IN_TIME)
        if task.name not in IN_TIME:
            order = rng.permutation(len(X))
            X, y = X[order], y[order]
    else:
        X, y, X_test, y_test = task.split(seed)
    return X[-n:], y[-n:], X_test[:n], y_test[:n]


def running(X: np.ndarray, X_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows scaled by the mean and deviation of those so far, each its own included; those to test
    by the last ones.
    """
    X = X.astype(np.float64)
    shift = X[0]  # so that little is lost in the squares
    count = np.arange(1, len(X) + 1)[:, None]
    mean = np.cumsum(X - shift, axis=0) / count
    deviation = np.sqrt(np.maximum(np.cumsum((X - shift) ** 2, axis=0) / count - mean**2, 0.0))
    deviation[deviation == 0.0] = 1.0
    scaled = (X - shift - mean) / deviation
    return scaled, (X_test - shift - mean[-1]) / deviation[-1]
