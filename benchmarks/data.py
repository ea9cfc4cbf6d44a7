"""The real data sets of the tables, from the folder EDGESVM_DATA (default: ../shared/data beside
the repository).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

Split = tuple[
    np.ndarray, np.ndarray, np.ndarray, np.ndarray
]  # X_train, y_train, X_test, y_test; y is bool


def folder() -> Path:
    return Path(
        os.environ.get("EDGESVM_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
    )


def read(name: str) -> dict[str, np.ndarray]:
    """Arrays of one file; FileNotFoundError where it is absent."""
    with np.load(folder() / f"{name}.npz") as file:
        return {key: file[key] for key in file.files}


@dataclass(frozen=True)
class Task:
    """A two-class problem; `split(seed)` gives float32 rows in a random order."""

    name: str
    load: Callable[[np.random.Generator], Split]
    redraws: bool = False  # the test rows too are drawn by the seed

    def split(self, seed: int) -> Split:
        rng = np.random.default_rng(seed)
        X, y, X_test, y_test = self.load(rng)
        order = rng.permutation(len(X))
        return X[order], y[order], X_test, y_test


def standardised(X: np.ndarray, X_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By the training rows' mean and deviation."""
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    deviation[deviation == 0] = 1.0
    return ((X - mean) / deviation).astype(np.float32), ((X_test - mean) / deviation).astype(
        np.float32
    )


def mnist(negative: int, positive: int) -> Task:
    def load(rng: np.random.Generator) -> Split:
        file = read("mnist_0189")
        parts = []
        for part in ("train", "test"):
            labels = file[f"y_{part}"]
            keep = (labels == negative) | (labels == positive)
            parts += [
                file[f"X_{part}"][keep].reshape(keep.sum(), -1).astype(np.float32)
                / np.float32(255),
                labels[keep] == positive,
            ]
        return parts[0], parts[1], parts[2], parts[3]

    return Task(f"MNIST {negative}v{positive}", load)


def load_ijcnn(rng: np.random.Generator) -> Split:
    file = read("ijcnn1")
    X, X_test = standardised(
        file["X_train"][:35_000].astype(np.float64), file["X_test"].astype(np.float64)
    )
    return X, file["y_train"][:35_000] > 0, X_test, file["y_test"] > 0


def load_w3a(rng: np.random.Generator) -> Split:
    """Trained on the file's larger, "test", part, as the paper's row counts (44,837 and 4,912) have
    it.
    """
    file = read("w3a")
    return (
        file["X_test"].astype(np.float32),
        file["y_test"] > 0,
        file["X_train"].astype(np.float32),
        file["y_train"] > 0,
    )


def load_waveform(rng: np.random.Generator) -> Split:
    file = read("waveform")
    order = rng.permutation(len(file["X"]))
    X, y = file["X"][order].astype(np.float64), file["y"][order] == 0
    X_train, X_test = standardised(X[:4000], X[4000:])
    return X_train, y[:4000], X_test, y[4000:]


def load_banana(rng: np.random.Generator) -> Split:
    file = read("banana")
    order = rng.permutation(len(file["X"]))
    X, y = file["X"][order].astype(np.float64), file["y"][order] > 0
    X_train, X_test = standardised(X[:4000], X[4000:])
    return X_train, y[:4000], X_test, y[4000:]


TABLE_1 = [
    mnist(0, 1),
    mnist(8, 9),
    Task("IJCNN", load_ijcnn),
    Task("w3a", load_w3a),
    Task("Waveform", load_waveform, redraws=True),
]
BANANA = Task("banana", load_banana, redraws=True)
