"""The 19 sets on which the default learner was chosen, all their classes, as streams of raw rows:
at random, class after class, or in the order of their source.
"""

from __future__ import annotations

import numpy as np

from benchmarks.common.data import Split, missing, read
from edgesvm.data import Waveform

# Whose rows have an order of their own, in time or by whom they were recorded from.
IN_ORDER = ("ijcnn1", "elec2", "occupancy", "robot_wall24", "wisdm_windows", "covertype_10k")
IN_ORDER += ("shuttle", "gas_drift_minmax10")
SETS = ("banana", "a9a", "w3a", "waveform", "letter", "usps", "pendigits", "optdigits", "satimage")
SETS += ("mnist_0189", "bearing_cwru", *IN_ORDER)
GENERATED = "waveform, generated"
MOST_LEARNED, MOST_TESTED = 6000, 3000
ORDERS = ("random", "class after class", "source")


def there() -> list[str]:
    return [name for name in SETS if not missing(name)]


def stream(name: str, order: str, seed: int, most: int = MOST_LEARNED) -> Split:
    """Rows to learn, in order, and rows to test once labels stop."""
    X, y, X_test, y_test = whole(name, at_random=order != "source")
    if order == "source":
        return X[:most], y[:most], X_test[:MOST_TESTED], y_test[:MOST_TESTED]
    rng = np.random.default_rng(seed)
    some, tested = rng.permutation(len(X))[:most], rng.permutation(len(X_test))[:MOST_TESTED]
    X, y, X_test, y_test = X[some], y[some], X_test[tested], y_test[tested]
    if order == "class after class":
        place = rng.permutation(np.unique(y).size)[np.unique(y, return_inverse=True)[1]]
        after = np.argsort(place, kind="stable")
        X, y = X[after], y[after]
    return X, y, X_test, y_test


def whole(name: str, *, at_random: bool) -> Split:
    """Every row, float32, split as the source has it, or 70 to 30."""
    if name == GENERATED:
        X, y = Waveform(0).read(600)
        return X[:300], y[:300], X[300:], y[300:]
    file = read(name)
    if "X" in file:
        X, y = rows(file["X"]), integers(file["y"])
        order = np.random.default_rng(7).permutation(len(X)) if at_random else np.arange(len(X))
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
