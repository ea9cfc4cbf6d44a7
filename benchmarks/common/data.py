"""Real data, from the folder EDGESVM_DATA (default: ../shared/data beside the repository), and what
the papers published.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.report import ROOT
from edgesvm.data import Waveform
from edgesvm.data.datasets import Dataset

Split = tuple[
    np.ndarray, np.ndarray, np.ndarray, np.ndarray
]  # X_train, y_train, X_test, y_test; y is bool


def folder() -> Path:
    return Path(os.environ.get("EDGESVM_DATA", ROOT.parent / "shared" / "data"))


def read(name: str) -> dict[str, np.ndarray]:
    """Arrays of one file; FileNotFoundError where it is absent."""
    with np.load(folder() / f"{name}.npz") as file:
        return {key: file[key] for key in file.files}


def all_rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    """X and y of one file, those to learn before those to test."""
    file = read(name)
    if "X" in file:
        return file["X"], file["y"]
    X, y = (np.concatenate([file[f"{k}_train"], file[f"{k}_test"]]) for k in "Xy")
    return X, y


def missing(name: str) -> str | None:
    """Why a file cannot be read, or None where it can."""
    if (folder() / f"{name}.npz").is_file():
        return None
    return f"there is no {name}.npz in {folder()} (set EDGESVM_DATA)"


def left_out(files: Iterable[str], quick: bool) -> list[str]:
    """Files that this run does not use, and why."""
    if quick:
        return [f"{name}: a quick run uses generated data" for name in files]
    return [f"{name}: {why}" for name in files if (why := missing(name))]


def published(study_file: str) -> dict[str, Any]:
    """The paper's figures: paper.json beside the study."""
    return json.loads(Path(study_file).with_name("paper.json").read_text())


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


def split_at_random(
    name: str, train: slice, test: slice, positive: Callable[[np.ndarray], np.ndarray]
) -> Callable[[np.random.Generator], Split]:
    """Parts of a random order of a file that has no test part."""

    def load(rng: np.random.Generator) -> Split:
        file = read(name)
        order = rng.permutation(len(file["X"]))
        X, y = file["X"][order].astype(np.float64), positive(file["y"][order])
        X_train, X_test = standardised(X[train], X[test])
        return X_train, y[train], X_test, y[test]

    return load


def generated(
    source: type[Dataset], n_train: int, n_test: int = 5_000, flip: float = 0.0
) -> Callable[[np.random.Generator], Split]:
    """Rows of a generator; labels are switched in the training rows only."""

    def load(rng: np.random.Generator) -> Split:
        seed, seed_test = (int(seed) for seed in rng.integers(2**32, size=2))
        noise = {"flip": flip} if flip else {}
        X, y = source(seed, **noise).read(n_train)
        X_test, y_test = source(seed_test).read(n_test)
        X, X_test = standardised(X.astype(np.float64), X_test.astype(np.float64))
        return X, y > 0, X_test, y_test > 0

    return load


def above_zero(y: np.ndarray) -> np.ndarray:
    return y > 0


FIRST_4000, REST = slice(None, 4000), slice(4000, None)
TABLE_1 = [
    mnist(0, 1),
    mnist(8, 9),
    Task("IJCNN", load_ijcnn),
    Task("w3a", load_w3a),
    Task(
        "Waveform",
        split_at_random("waveform", FIRST_4000, REST, lambda y: y == 0),
        redraws=True,
    ),
]
QUICK = Task("Waveform, generated", generated(Waveform, 1000, 1000), redraws=True)


def two_classes(y: np.ndarray) -> np.ndarray:
    labels, counts = np.unique(y, return_counts=True)
    if len(labels) == 2:
        return y == labels[1]
    if counts.max() >= len(y) / 4:
        return y == labels[counts.argmax()]
    return np.isin(y, labels[::2])


def two_classes_of(name: str, rng: np.random.Generator) -> Split:
    """At most 20,000 rows to learn and 10,000 to test, at random, of two classes, scaled by the
    rows to learn. A set without a test part is split 70 to 30.
    """
    file = read(name)
    if "X" in file:
        order = rng.permutation(len(file["X"]))
        X, y, n = file["X"][order], two_classes(file["y"])[order], int(0.7 * len(order))
        X, y, X_test, y_test = X[:n], y[:n], X[n:], y[n:]
    else:
        order = rng.permutation(len(file["X_train"]))
        X, y = file["X_train"][order], two_classes(file["y_train"])[order]
        X_test, y_test = file["X_test"], two_classes(file["y_test"])
    X, X_test = (part.reshape(len(part), -1) for part in (X[:20_000], X_test[:10_000]))
    X, X_test = standardised(X.astype(np.float64), X_test.astype(np.float64))
    return X, y[:20_000], X_test, y_test[:10_000]
