"""Every data set as a two-class problem, in two halves: a choice (a default, a share, a step) is
made on `CHOSEN_ON` and shown on `SHOWN_ON`.

Two classes are taken as they are. Of more, the largest is held against the rest; where it has less
than a quarter of the rows, every second class against the others. At most 20,000 rows to learn and
10,000 to test, scaled by the training rows' mean and deviation. A set without a test part is split
by the seed, 70 to 30. a8a, w8a, letter_libsvm, waveform40 and gas_drift_minmax10 are left out,
since a9a, w3a, letter, waveform and gas_drift_8batches are the same data; so are reuters_csr (8,315
features) and chest_accel (a raw signal).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.common.data import Split, Task, generated, missing, read, standardised
from edgesvm.data import Checkerboard, Gauss, TwoNorm

MOST_ROWS, MOST_TESTED, SHARE_LEARNED = 20_000, 10_000, 0.7
FILES = [
    "a9a",
    "banana",
    "bearing_cwru",
    "covertype_10k",
    "elec2",
    "gas_drift_8batches",
    "ijcnn1",
    "kdd99_10pct",
    "letter",
    "mnist_0189",
    "occupancy",
    "optdigits",
    "pendigits",
    "pima",
    "robot_wall24",
    "satimage",
    "shuttle",
    "usps",
    "w3a",
    "waveform",
    "wisdm_windows",
]


def two_classes(y: np.ndarray) -> np.ndarray:
    labels, counts = np.unique(y, return_counts=True)
    if len(labels) == 2:
        return y == labels[1]
    if counts.max() >= len(y) / 4:
        return y == labels[counts.argmax()]
    return np.isin(y, labels[::2])


def load(name: str, rng: np.random.Generator) -> Split:
    X, y, X_test, y_test = rows_of(name, rng)
    X, X_test = standardised(X.astype(np.float64), X_test.astype(np.float64))
    return X, y, X_test, y_test


def rows_of(name: str, rng: np.random.Generator, *, in_time: bool = False) -> Split:
    """Rows as the source has them, float32: at random, or `in_time` one after the other with the
    last ones to test.
    """
    file = read(name)
    if "X" in file:
        order = np.arange(len(file["X"])) if in_time else rng.permutation(len(file["X"]))
        X, y = file["X"][order], two_classes(file["y"])[order]
        n = min(int(SHARE_LEARNED * len(X)), MOST_ROWS) if in_time else int(SHARE_LEARNED * len(X))
        X, y, X_test, y_test = X[:n], y[:n], X[n:], y[n:]
    else:
        order = rng.permutation(len(file["X_train"]))
        X, y = file["X_train"][order], two_classes(file["y_train"])[order]
        X_test, y_test = file["X_test"], two_classes(file["y_test"])
        aside = rng.permutation(len(X_test))
        X_test, y_test = X_test[aside], y_test[aside]
    X, X_test = (
        part.reshape(len(part), -1).astype(np.float32)
        for part in (X[:MOST_ROWS], X_test[:MOST_TESTED])
    )
    return X, y[:MOST_ROWS], X_test, y_test[:MOST_TESTED]


EVERY = [Task(name, partial(load, name), redraws=True) for name in FILES] + [
    Task("gauss", generated(Gauss, MOST_ROWS), redraws=True),
    Task("noisy checkerboard", generated(Checkerboard, MOST_ROWS, flip=0.15), redraws=True),
    Task("two-norm", generated(TwoNorm, MOST_ROWS), redraws=True),
]
CHOSEN_ON, SHOWN_ON = EVERY[::2], EVERY[1::2]


def absent() -> list[str]:
    """Files that are not there, and why."""
    return [why for name in FILES if (why := missing(name))]
