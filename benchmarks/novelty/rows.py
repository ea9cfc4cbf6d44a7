"""Data sets in which one class is normal: its rows in a random order or in that of the source, 70 %
to learn, and all others strange. At most 20,000 rows of a set.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.common.data import read

MOST_NORMAL, MOST_STRANGE, SHARE_LEARNED = 12_000, 8_000, 0.7
CLIP = 8.0
# The normal class; None: the largest.
NORMAL: dict[str, int | str | None] = {
    "bearing_cwru": "Normal_1",
    "shuttle": None,
    "pendigits": 0,
    "robot_wall24": None,
    "wisdm_windows": None,
    "optdigits": 1,
    "satimage": None,
    "letter": 22,
    "kdd99_10pct": 0,
    "gas_drift_8batches": None,
}
CHOSEN_ON, SHOWN_ON = list(NORMAL)[::2], list(NORMAL)[1::2]
IN_ORDER = ["bearing_cwru", "robot_wall24", "wisdm_windows", "kdd99_10pct", "gas_drift_8batches"]
QUICK = ["ring", "clouds"]


class Rows(NamedTuple):
    learned: np.ndarray
    normal: np.ndarray  # to test, as the next
    strange: np.ndarray


def rows_of(name: str, seed: int | None) -> Rows:
    """float32 rows, unscaled; without a seed the normal ones are in the order of the source."""
    rng = np.random.default_rng(0 if seed is None else seed)
    X, y, normal = generated(name, rng) if name in QUICK else from_file(name)
    inside, outside = (
        X[rng.permutation(np.flatnonzero(part))] for part in (y == normal, y != normal)
    )
    if seed is None:
        inside = X[y == normal]
    inside, outside = inside[:MOST_NORMAL], outside[:MOST_STRANGE]
    n = int(SHARE_LEARNED * len(inside))
    return Rows(*(part.astype(np.float32) for part in (inside[:n], inside[n:], outside)))


def faults_of(name: str, seed: int) -> dict[str, Rows]:
    """`rows_of` that set, with each strange class by its name."""
    file, rows = read(name), rows_of(name, seed)
    names = dict(enumerate(map(str, file["class_names"])))
    return {
        names[k]: rows._replace(strange=file["X"][file["y"] == k].astype(np.float32))
        for k in names
        if names[k] != NORMAL[name]
    }


def from_file(name: str) -> tuple[np.ndarray, np.ndarray, int]:
    file = read(name)
    parts = ["X", "y"] if "X" in file else ["X_train", "X_test", "y_train", "y_test"]
    if len(parts) == 2:
        X, y = file["X"], file["y"]
    else:
        X, y = (np.concatenate([file[f"{k}_train"], file[f"{k}_test"]]) for k in "Xy")
    normal = NORMAL[name]
    if normal is None:
        labels, counts = np.unique(y, return_counts=True)
        normal = labels[counts.argmax()]
    elif isinstance(normal, str):
        normal = list(file["class_names"]).index(normal)
    return X.reshape(len(X), -1), y, int(normal)


def generated(name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    y = rng.integers(0, 2, 1_500)
    if name == "ring":
        turn = rng.uniform(0, 2 * np.pi, len(y))
        X = np.stack([np.cos(turn), np.sin(turn)], axis=1) * (1 - 0.6 * y[:, None])
        return X + 0.05 * rng.standard_normal(X.shape), y, 0
    return rng.standard_normal((len(y), 4)) + 2.5 * y[:, None], y, 0


class Scaled:
    """Rows by the running mean and deviation, clipped at 8; later rows by the last of them."""

    def __init__(self, X: np.ndarray) -> None:
        self.n, self.mean, self.spread = 0, np.zeros(X.shape[1]), np.zeros(X.shape[1])
        self.learned = np.array(list(self.followed(X.astype(np.float64))))

    def followed(self, X: np.ndarray) -> Iterator[np.ndarray]:
        for x in X:
            self.n += 1
            delta = x - self.mean
            self.mean += delta / self.n
            self.spread += delta * (x - self.mean)
            yield self(x)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        deviation = np.sqrt(self.spread / self.n)
        far = np.divide(
            X - self.mean, deviation, out=CLIP * np.sign(X - self.mean), where=deviation > 0
        )
        return far.clip(-CLIP, CLIP)
