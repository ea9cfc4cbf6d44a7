"""Every data set as a stream of raw rows: in the order of time where the source has one, else at
random. Labels stop after the rows to learn. And the developers' 19 sets, all their classes, as they
drew them while they chose the defaults.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.common.data import Split, Task, missing, read
from benchmarks.common.every import FILES, rows_of
from edgesvm.data import Waveform

DEVELOPERS = (
    *("ijcnn1", "banana", "a9a", "w3a", "covertype_10k", "waveform", "elec2", "occupancy"),
    *("letter", "usps", "pendigits", "optdigits", "satimage", "shuttle", "mnist_0189"),
    *("bearing_cwru", "robot_wall24", "wisdm_windows", "gas_drift_minmax10"),
)
MOST_DRAWN, MOST_TESTED = 6000, 3000
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


def drawn(name: str, _: np.random.Generator) -> Split:
    """Rows of one of the developers' sets, and those to test: the same in every order, by the
    developers' seeds.
    """
    X, y, X_test, y_test = whole(name)
    rng = np.random.default_rng(5)
    if len(X) > MOST_DRAWN:
        some = rng.permutation(len(X))[:MOST_DRAWN]
        X, y = X[some], y[some]
    if len(X_test) > MOST_TESTED:
        some = rng.permutation(len(X_test))[:MOST_TESTED]
        X_test, y_test = X_test[some], y_test[some]
    return X, y, X_test, y_test


def whole(name: str) -> Split:
    """Every row of a file, float32, split as the source has it, or 70 to 30 at random."""
    file = read(name)
    if "X" in file:
        X, y = rows(file["X"]), integers(file["y"])
        order = np.random.default_rng(7).permutation(len(X))
        learned, tested = np.split(order, [int(0.7 * len(X))])
        return X[learned], y[learned], X[tested], y[tested]
    y, y_test = integers(file["y_train"]), integers(file["y_test"])
    return rows(file["X_train"]), y, rows(file["X_test"]), y_test


def rows(X: np.ndarray) -> np.ndarray:
    """One float32 row a sample."""
    return X.reshape(len(X), -1).astype(np.float32)


def integers(y: np.ndarray) -> np.ndarray:
    """Labels that some sources write as 1.0."""
    return y.astype(np.int64)


def waves(rng: np.random.Generator) -> Split:
    """Three classes, for a quick run."""
    X, y = Waveform(0).read(600)
    return X[:300], y[:300], X[300:], y[300:]


def of_developers() -> list[Task]:
    """Those of their sets that are there."""
    there = [name for name in DEVELOPERS if not missing(name)]
    return [Task(f"{name}, all classes", partial(drawn, name)) for name in there]


THREE_WAVES = Task("Waveform, generated, all classes", waves)


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
